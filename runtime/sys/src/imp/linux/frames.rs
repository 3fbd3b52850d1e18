//! Unwind tables that images registered with the process's unwinder, as JIT compilers do. At every panic, the unwinder searches all
//! registered tables. The tables of an image are therefore deregistered before the image is unmapped.

use std::ffi::c_void;
use std::sync::Mutex;

use super::c::callbacks::{Deregister, Promised};
use super::c::peek;
use super::lock;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "an unwind table",
    redirect_references: |image, _, report| report.frames += take_back(image.owner()),
    ..Repair::NONE
};

/// Registered tables of all images, each with its owner. An entry contains the function that deregisters the table, and the table as the
/// argument of this function.
static TABLES: Mutex<Vec<(usize, Promised<Deregister>)>> = Mutex::new(Vec::new());

pub(super) fn registered(owner: usize, taking_back: Promised<Deregister>) {
    lock(&TABLES).push((owner, taking_back));
}

/// Removes the record of a table that the module is about to deregister. Returns `false` if the host has already deregistered the table.
pub(super) fn deregistered(begin: *const c_void) -> bool {
    let mut tables = lock(&TABLES);
    let at = tables.iter().rposition(|(_, table)| table.argument() == begin);
    at.map(|at| tables.swap_remove(at)).is_some()
}

/// Deregisters the tables that an image left registered. Returns the number of tables.
pub(super) fn take_back(owner: usize) -> u64 {
    let mut tables = lock(&TABLES);
    let left: Vec<_> = tables.extract_if(.., |(other, _)| *other == owner).collect();
    drop(tables);
    let mut count = 0;
    for (_, taking_back) in left {
        // Skips a table that is no longer mapped, because the unwinder reads a table when it deregisters the table.
        if peek::word(taking_back.argument().addr()).is_some() {
            taking_back.call();
            count += 1;
        } else {
            log!(WARN, "an unwind table was unmapped by the module that registered it: the next panic may crash");
        }
    }
    count
}
