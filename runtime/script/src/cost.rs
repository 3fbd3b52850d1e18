//! What an operation costs that does more than a few steps, counted in rounds of loops: operations on containers and texts, of the
//! machine and of the library, and lines in the log. The machine takes what has come together from its rounds after each operation.

use std::cell::Cell;

use alcedo_reflect::property::PropertyType;
use alcedo_reflect::values::ptr::Ptr;

/// What a line in the log costs.
pub(crate) const LINE: u64 = 10_000;

/// What a new object costs.
pub(crate) const BIRTH: u64 = 1_000;

/// Bytes of a text, or of a row of a container, that cost one round.
const TEXT: usize = 64;

thread_local! {
    static DUE: Cell<u64> = const { Cell::new(0) };
}

/// So many rounds are due.
#[inline]
pub(crate) fn add(rounds: u64) {
    if rounds != 0 {
        DUE.set(DUE.get().saturating_add(rounds));
    }
}

/// The rounds that are due, which are none then.
#[inline]
pub(crate) fn take() -> u64 {
    DUE.replace(0)
}

/// What it costs to go over a text once.
pub(crate) fn of_text(bytes: usize) -> u64 {
    (bytes / TEXT) as u64
}

/// What it costs to go over so many rows once.
pub(crate) fn of_rows(count: u64, size: usize) -> u64 {
    count.saturating_mul(1 + of_text(size))
}

/// What it costs to go over a container or a text once; nothing for what is none.
pub(crate) fn of(value: Ptr<'_>) -> u64 {
    let row = match value.ty() {
        PropertyType::Array(of) => of.ty().size(),
        _ => 0,
    };
    let count = value.count().map(|count| of_rows(count.into(), row));
    count.or_else(|| value.text_bytes().map(of_text)).unwrap_or_default()
}
