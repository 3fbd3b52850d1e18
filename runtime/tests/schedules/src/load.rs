//! Files of `runtime/src/load`.

pub(crate) mod context;

pub(crate) use crate::stand_ins::paths;
