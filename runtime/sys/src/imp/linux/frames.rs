//! Unwind tables that code of images has given to the process's unwinder, as those do that make code at run time. The
//! unwinder walks all of them whenever anybody panics, so those of an image that goes are taken back before it does.
#![expect(unsafe_code, reason = "takes tables back by a function of the unwinder's")]

use std::ffi::c_void;
use std::sync::Mutex;

use super::c::peek;
use super::lock;

/// `__deregister_frame` of the unwinder that was given the table.
pub type Deregister = unsafe extern "C" fn(*const c_void);

struct Table {
    /// The address of the ledger of whoever gave it.
    owner: usize,
    begin: *const c_void,
    deregister: Deregister,
}

// SAFETY: the address is handed back and not followed; the unwinder has a lock of its own.
unsafe impl Send for Table {}

static TABLES: Mutex<Vec<Table>> = Mutex::new(Vec::new());

/// The unwinder has been given a table.
pub(super) fn registered(owner: usize, begin: *const c_void, deregister: Deregister) {
    lock(&TABLES).push(Table { owner, begin, deregister });
}

/// Whether a table is still with the unwinder: the module is about to take it back.
pub(super) fn deregistered(begin: *const c_void) -> bool {
    let mut tables = lock(&TABLES);
    let at = tables.iter().rposition(|table| table.begin == begin);
    at.map(|at| tables.swap_remove(at)).is_some()
}

/// Takes back what an image has left there; how many.
pub(super) fn take_back(owner: usize) -> u64 {
    let mut left = Vec::new();
    lock(&TABLES).retain(|table| {
        let stays = table.owner != owner;
        if !stays {
            left.push((table.begin, table.deregister));
        }
        stays
    });
    let mut count = 0;
    for (begin, deregister) in left {
        // The unwinder looks into a table that it lets go of, and the module may have unmapped it.
        if peek::word(begin.addr()).is_some() {
            // SAFETY: the table was given to this unwinder, was not taken back since, and is still there.
            unsafe { deregister(begin) };
            count += 1;
        } else {
            tracing::warn!(
                "an unwind table was unmapped by the module that gave it to the unwinder: the next panic may crash"
            );
        }
    }
    count
}
