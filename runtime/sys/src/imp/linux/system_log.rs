//! The name under which this process writes to the system's log. The C library keeps the address that it was given, so it
//! is given one that stays.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char};
use std::sync::Mutex;

use super::lock;
use crate::ledger::repair::Repair;

/// Does nothing later: the hook keeps a copy of the name.
pub(super) const REPAIR: Repair = Repair { name: "the name for the system log", ..Repair::NONE };

/// Each name once, for ever: a program has few.
static NAMES: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());

/// A name that stays, with the same text.
pub(super) fn keep(name: &CStr) -> *const c_char {
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
