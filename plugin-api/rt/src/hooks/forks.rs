//! What `pthread_atfork` takes: functions for both sides of a `fork`. The C library forgets those of a library that is unmapped, if
//! it was told which library they are of.

/// What is called around a `fork`.
pub type AtFork = Option<unsafe extern "C" fn()>;
