//! Stop requests for threads of a module. A module starts its threads with [`std::thread`], and they must stop when the host requests it.
//!
//! A module is unmapped only after its last thread has ended. A long-running thread must therefore check regularly if it is requested to
//! stop. A thread that never checks keeps the module in the process, and the host's report names this thread.

pub use alcedo_rt::{StopToken, stop_requested};
