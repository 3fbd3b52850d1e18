//! Cost of longer operations in rounds of loops: operations on containers and strings, in the machine and in the library, and log
//! lines. The machine subtracts the accumulated cost from its rounds after each operation.

use std::cell::Cell;

use alcedo_reflect::property::PropertyType;
use alcedo_reflect::values::ptr::Ptr;

/// Rounds per log line.
pub(crate) const LINE: u64 = 10_000;

/// Rounds per new object.
pub(crate) const NEW_OBJECT: u64 = 1_000;

/// Bytes of a string or container element per round.
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

/// Returns and clears the pending rounds.
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

/// Returns the cost of one pass over a container or string; zero for other values.
pub(crate) fn of(value: Ptr<'_>) -> u64 {
    let row = match value.ty() {
        PropertyType::Array(of) => of.ty().size(),
        _ => 0,
    };
    let count = value.count().map(|count| of_rows(count.into(), row));
    count.or_else(|| value.text_bytes().map(of_text)).unwrap_or_default()
}
