//! Files of `runtime/src/load/context`.

pub(crate) use crate::stand_ins::{context_error as error, handle, id};
