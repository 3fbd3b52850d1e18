//! Planted rows: what the system, the C library, C and C++ offer to leave something behind with.

use super::{Fate, Row, row};

/// In the order of the page.
pub(super) const FACILITIES: &[Row] = &[
    row("ctrlc", &["ctrlc"], "a handler for Ctrl-C, which has no end", Fate::Parked),
    row("io-uring", &["io-uring"], "a ring for the length of a call", Fate::Unmapped),
    row("io-uring-leaked", &["io-uring"], "a ring that nobody closes, all requests answered", Fate::Parked),
    row("io-uring-in-flight", &["io-uring"], "a ring that nobody closes, with a request in flight", Fate::Parked),
    row("gomp", &[], "a loop of OpenMP in C; libgomp comes with the plugin", Fate::Unmapped),
    row("cpp-threads", &[], "C++ with a thread that is joined", Fate::Parked),
    row("cpp-statics", &[], "C++ with statics that have destructors", Fate::Unmapped),
    row("cpp-exceptions", &[], "C++ that throws and catches", Fate::Unmapped),
    row("cpp-tls", &[], "C++ with a thread-local that has a destructor", Fate::Unmapped),
];
