//! Sets up the compared libraries. Each library adds two `i32` across an ABI boundary. The benchmark makes the calls.

pub mod peers;
