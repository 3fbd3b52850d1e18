//! Cost of long operations, in rounds. One round corresponds to one loop iteration. Operations on containers and strings, the creation of
//! objects, and log lines add to a pending cost. After each of these operations, the machine subtracts the pending cost from the rounds
//! that the script may still run.

use std::cell::Cell;

use alcedo_reflect::values::ptr::{Ptr, PtrMut};

/// Cost of a log line in rounds.
pub(crate) const LINE: u64 = 10_000;

/// Cost of a new object in rounds.
pub(crate) const NEW_OBJECT: u64 = 1_000;

/// Number of bytes that one round processes in an operation on a string or a container element.
const TEXT: usize = 64;

thread_local! {
    static PENDING: Cell<u64> = const { Cell::new(0) };
}

#[inline]
pub(crate) fn add(rounds: u64) {
    if rounds != 0 {
        PENDING.set(PENDING.get().saturating_add(rounds));
    }
}

/// Returns and clears the pending cost, in rounds.
#[inline]
pub(crate) fn take() -> u64 {
    PENDING.replace(0)
}

/// Returns the cost of one pass over a string.
pub(crate) fn of_text(bytes: usize) -> u64 {
    (bytes / TEXT) as u64
}

/// Returns the cost of one pass over container elements.
pub(crate) fn of_rows(count: u64, size: usize) -> u64 {
    count.saturating_mul(1 + of_text(size))
}

/// Returns the cost of one pass over a value, including the containers and strings inside of it.
pub(crate) fn of(value: Ptr<'_>) -> u64 {
    if !value.ty().owns_memory() {
        return of_text(value.ty().size());
    }
    total(value, &|at: Ptr<'_>| match (at.count(), at.ty().row()) {
        (Some(count), Some(row)) => of_rows(count.into(), row.size),
        _ => of_text(at.text_bytes().unwrap_or_else(|| at.ty().size())),
    })
}

/// Copies a value, and adds the cost of this copy.
pub(crate) fn copy(to: PtrMut<'_>, from: Ptr<'_>) {
    add(of(from));
    to.copy_from(from);
}

/// Returns the sum of `of_one` over a value and all values inside of it whose type owns memory.
pub(crate) fn total(value: Ptr<'_>, of_one: &dyn Fn(Ptr<'_>) -> u64) -> u64 {
    let mut sum = of_one(value);
    value.visit_owning(&mut |inner: Ptr<'_>| sum = sum.saturating_add(total(inner, of_one)));
    sum
}
