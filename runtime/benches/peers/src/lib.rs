//! What else there is to call across a border, each with the same work: two `i32` and their sum. The benchmark has the calls; here is
//! what has to be set up for them.

pub mod peers;
