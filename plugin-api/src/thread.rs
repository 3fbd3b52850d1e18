//! Stop requests for threads of a module. A module starts its threads with [`std::thread`]. Each thread must stop when the host requests a
//! stop.
//!
//! A module is unmapped only after its last thread has ended. A long-running thread must therefore check regularly for a stop request. A
//! thread that never checks keeps the module in the process, and the host's report names this thread.

pub use alcedo_rt::{StopToken, stop_requested};
