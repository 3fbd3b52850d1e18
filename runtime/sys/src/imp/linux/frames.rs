//! Unwind tables that code of images has given to the process's unwinder, as those do that make code at run time. The
//! unwinder walks all of them whenever anybody panics, so those of an image that goes are taken back before it does.

use std::ffi::c_void;
use std::sync::Mutex;

use super::c::callbacks::{Deregister, Promised};
use super::c::peek;
use super::lock;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "an unwind table",
    put_right: |image, _, report| report.frames += take_back(image.owner()),
    ..Repair::NONE
};

struct Table {
    /// The address of the ledger of the image that gave it.
    owner: usize,
    taking_back: Promised<Deregister>,
}

static TABLES: Mutex<Vec<Table>> = Mutex::new(Vec::new());

/// The unwinder has been given a table.
pub(super) fn registered(owner: usize, taking_back: Promised<Deregister>) {
    lock(&TABLES).push(Table { owner, taking_back });
}

/// Whether a table is still with the unwinder: the module is about to take it back.
pub(super) fn deregistered(begin: *const c_void) -> bool {
    let mut tables = lock(&TABLES);
    let at = tables.iter().rposition(|table| table.taking_back.argument() == begin);
    at.map(|at| tables.swap_remove(at)).is_some()
}

/// Takes back what an image has left there; how many.
pub(super) fn take_back(owner: usize) -> u64 {
    let mut tables = lock(&TABLES);
    let left: Vec<_> = tables.extract_if(.., |table| table.owner == owner).collect();
    drop(tables);
    let mut count = 0;
    for Table { taking_back, .. } in left {
        // The unwinder looks into a table that it lets go of, and the module may have unmapped it.
        if peek::word(taking_back.argument().addr()).is_some() {
            taking_back.call();
            count += 1;
        } else {
            tracing::warn!(
                "an unwind table was unmapped by the module that gave it to the unwinder: the next panic may crash"
            );
        }
    }
    count
}
