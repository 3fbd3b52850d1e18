//! Setup of the other libraries that call across an ABI boundary, each with the same work: two `i32` and their sum. The benchmark
//! makes the calls.

pub mod peers;
