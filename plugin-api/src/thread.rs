//! Threads of a module. A module starts its threads with [`std::thread`], and the threads must stop on request.
//!
//! A module is unmapped only after its last thread has ended. A long-running thread must therefore check regularly for a stop request. A
//! thread that never checks keeps the module in the process. The host's report names this thread.

pub use alcedo_rt::{StopToken, stop_requested};
