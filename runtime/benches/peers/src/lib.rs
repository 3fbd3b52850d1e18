//! Setup of the compared libraries. Each library adds two `i32` across an ABI boundary; the benchmark makes the calls.

pub mod peers;
