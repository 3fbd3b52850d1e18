//! Compiles the files of `runtime/src/unload` that the checks use.

pub(crate) use crate::stand_ins::blockers;

#[path = "../../../src/unload/report.rs"]
pub(crate) mod report;
#[path = "../../../src/unload/state.rs"]
pub(crate) mod state;
#[path = "../../../src/unload/ticket.rs"]
pub(crate) mod ticket;
#[path = "../../../src/unload/work.rs"]
pub(crate) mod work;
