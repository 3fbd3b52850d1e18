//! Argument types of `pthread_atfork`: functions that run around a `fork`. The C library removes the functions of an unmapped
//! library if it knows the library of each function.

/// A function called around a `fork`.
pub type AtFork = Option<unsafe extern "C" fn()>;
