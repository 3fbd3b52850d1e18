//! How a generation and its images go, be it for an unload, a reload, a rollback or a shutdown: the steps in their order, the
//! ticket of the host, what is left to do of each module, and the report. Nothing here depends on loading.

pub(crate) mod blockers;
pub(crate) mod generation;
pub(crate) mod image;
pub(crate) mod job;
pub(crate) mod modules;
pub(crate) mod naps;
pub(crate) mod policy;
pub(crate) mod reaper;
pub(crate) mod report;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod subject;
pub(crate) mod ticket;
pub(crate) mod under_way;
pub(crate) mod unloads;
pub(crate) mod work;
