//! Represents the folder `runtime/src/load` by stubs, under the module paths that the compiled files use.

pub(crate) mod context {
    pub(crate) use crate::stand_ins::handle;
}

pub(crate) mod error {
    pub(crate) use crate::stand_ins::context_error as context;
}

pub(crate) use crate::stand_ins::{id as context_id, paths};
