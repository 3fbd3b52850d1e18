//! Unloads a generation and its images. Contains the order of the steps, the ticket for the host, the jobs of the modules, and the report.
//! Independent of the code that loads modules.

pub(crate) mod background;
pub(crate) mod blockers;
pub(crate) mod image;
pub(crate) mod job;
pub(crate) mod modules;
pub(crate) mod policy;
pub(crate) mod report;
pub(crate) mod state;
pub(crate) mod steps;
pub(crate) mod ticket;
pub(crate) mod wait;
pub(crate) mod work;
