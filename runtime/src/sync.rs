//! The primitives of protocols between threads that `runtime/tests/schedules` runs under schedules of its choice: leases, the gate of calls,
//! tickets and the watch of a Slim. The module of this name there has those of the crate `shuttle`.

pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic};
pub(crate) use std::{thread, thread_local};
