//! Cost of long operations, in rounds. One round corresponds to one loop iteration. Operations on containers and strings, the creation of
//! objects, and log lines add to a pending cost. After each of these operations, the machine subtracts the pending cost from the rounds
//! that the script may still run.

use std::cell::Cell;

use alcedo_reflect::property::PropertyType;
use alcedo_reflect::values::ptr::Ptr;

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

/// Returns the cost of one pass over a container or string. Returns zero for other values.
pub(crate) fn of(value: Ptr<'_>) -> u64 {
    let row = match value.ty() {
        PropertyType::Array(of) => of.ty().size(),
        _ => 0,
    };
    let count = value.count().map(|count| of_rows(count.into(), row));
    count.or_else(|| value.text_bytes().map(of_text)).unwrap_or_default()
}
