//! Threads of a module. A module starts its threads with [`std::thread`], and the threads must stop on request.
//!
//! A module is unmapped only after its last thread has ended, so a long-running thread checks regularly whether a stop was
//! requested. A thread that never checks keeps the module in the process, and the host's report names the thread.

pub use alcedo_rt::{StopToken, stop_requested};
