//! Setup of the other libraries that call across an ABI boundary. Each does the same work: it adds two `i32`. The benchmark makes
//! the calls.

pub mod peers;
