//! Threads of a module's own. They are started with [`std::thread`], as anywhere; what they need besides is a polite end.
//!
//! A module is unmapped only after its last thread has ended, so a thread that runs for long checks now and then
//! whether it should. One that never checks keeps the module in the process, and the host's report names it.

pub use alcedo_rt::{StopToken, stop_requested};
