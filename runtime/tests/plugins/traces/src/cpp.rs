//! State in the C++ shared library that the C++ code in `kept.cpp` changes.
#![expect(unsafe_code, reason = "calls functions of C++")]

use std::ffi::{CStr, CString, c_char, c_int};

unsafe extern "C" {
    fn traces_cpp_leave(habit: *const c_char) -> c_int;
    fn traces_cpp_look(habit: *const c_char) -> *const c_char;
}

pub(crate) fn leave(habit: &str) -> bool {
    let habit = CString::new(habit).expect("no zero byte");
    // SAFETY: a C string; the function throws no exception.
    unsafe { traces_cpp_leave(habit.as_ptr()) == 1 }
}

pub(crate) fn check(habit: &str) -> String {
    let habit = CString::new(habit).expect("no zero byte");
    // SAFETY: the argument is a C string; the function throws no exception; the result is a string literal.
    unsafe { CStr::from_ptr(traces_cpp_look(habit.as_ptr())) }.to_string_lossy().into_owned()
}
