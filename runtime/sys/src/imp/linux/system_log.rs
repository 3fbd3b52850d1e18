//! The name under which this process writes to the system's log. The C library keeps the address that it was given, so it
//! is given one that stays.
#![expect(unsafe_code, reason = "stands for a function of the C library")]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr;
use std::sync::Mutex;

use super::lock;

/// Each name once, for ever: a program has few.
static NAMES: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());

/// `openlog`.
///
/// # Safety
///
/// What the C function demands.
pub(super) unsafe fn open(ident: *const c_char, option: c_int, facility: c_int) {
    let kept = if ident.is_null() {
        ptr::null()
    } else {
        // SAFETY: our caller promises a C string.
        keep(unsafe { CStr::from_ptr(ident) })
    };
    // SAFETY: the name stays where it is for ever.
    unsafe { libc::openlog(kept, option, facility) };
}

fn keep(name: &CStr) -> *const c_char {
    let mut names = lock(&NAMES);
    if let Some(kept) = names.get(name) {
        // The text of a `CString` stays where it is, wherever the `CString` goes.
        return kept.as_ptr();
    }
    let name = name.to_owned();
    let kept = name.as_ptr();
    names.insert(name);
    kept
}

#[cfg(test)]
mod tests {
    use super::keep;

    #[test]
    fn a_name_is_kept_once_and_stays_where_it_is() {
        let first = keep(c"one");
        for n in 0..100 {
            keep(&std::ffi::CString::new(format!("name {n}")).expect("no zero byte"));
        }
        let elsewhere = std::ffi::CString::new("one").expect("no zero byte");
        assert_eq!(keep(&elsewhere), first);
        assert_ne!(keep(c"two"), first);
    }
}
