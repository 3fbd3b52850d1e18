//! Contains files of `runtime/src/load`.

pub(crate) mod context {
    pub(crate) use crate::stand_ins::handle;
}

pub(crate) mod error {
    pub(crate) use crate::stand_ins::context_error as context;
}

pub(crate) use crate::stand_ins::{id as context_id, paths};
