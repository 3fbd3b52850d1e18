//! Name of this process in the system log (`openlog`). The C library stores the address of the name, so the hook passes a permanent copy of
//! the name.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char};
use std::sync::Mutex;

use super::lock;
use crate::ledger::repair::Repair;

/// This repair needs no callbacks, because the hook stores a permanent copy of the name.
pub(super) const REPAIR: Repair = Repair { name: "the name for the system log", ..Repair::NONE };

/// Permanent copies of names, without duplicates. A program uses few names.
static NAMES: Mutex<BTreeSet<CString>> = Mutex::new(BTreeSet::new());

pub(super) fn keep(name: &CStr) -> *const c_char {
    let mut names = lock(&NAMES);
    if let Some(kept) = names.get(name) {
        // The buffer of a `CString` keeps its address when the `CString` moves.
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
    fn names_are_interned_once_and_never_move() {
        let first = keep(c"one");
        for n in 0..100 {
            keep(&std::ffi::CString::new(format!("name {n}")).expect("no zero byte"));
        }
        let elsewhere = std::ffi::CString::new("one").expect("no zero byte");
        assert_eq!(keep(&elsewhere), first);
        assert_ne!(keep(c"two"), first);
    }
}
