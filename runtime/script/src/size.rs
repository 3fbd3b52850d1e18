//! How large one value of a script may get: asked for before an array grows, a text is put together or a function of the library
//! gives a result, so that a script is told of it and the process does not run out of memory.
//!
//! The limit is that of the machine that runs on the thread: functions of the library know no machine.

use std::cell::Cell;

use alcedo_base::border::CallError;
use alcedo_reflect::containers::Keyed;
use alcedo_reflect::values::ptr::Ptr;

/// The limit where no machine runs, and the default of one.
pub(crate) const DEFAULT: usize = 256 << 20;

thread_local! {
    static LIMIT: Cell<usize> = const { Cell::new(DEFAULT) };
}

/// A value that would get larger than one may be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{what} would take {bytes} bytes, of {limit} that one value of a script may take: keep less in one, or raise `Limits::value`"
)]
pub(crate) struct TooLarge {
    what: String,
    bytes: u64,
    limit: usize,
}

impl From<TooLarge> for CallError {
    fn from(error: TooLarge) -> Self {
        Self::other(error.to_string())
    }
}

/// The limit before, which holds again when this is dropped.
pub(crate) struct Limited(usize);

/// Sets the limit.
#[inline]
pub(crate) fn limited(bytes: usize) -> Limited {
    Limited(LIMIT.replace(bytes))
}

impl Drop for Limited {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Whether a value may take so many bytes.
///
/// # Errors
/// [`TooLarge`], as the error of a call.
#[inline]
pub(crate) fn check(what: &str, bytes: u64) -> Result<(), CallError> {
    let limit = LIMIT.get();
    if bytes <= limit as u64 {
        return Ok(());
    }
    Err(TooLarge { what: what.to_owned(), bytes, limit }.into())
}

/// Whether a container may have so many rows of that size; the new ones are paid for.
///
/// # Errors
/// [`TooLarge`], as the error of a call.
pub(crate) fn rows(before: u32, more: u32, size: usize) -> Result<(), CallError> {
    if more == 0 {
        return Ok(());
    }
    let rows = u64::from(before) + u64::from(more);
    check("an array, set or map", rows.saturating_mul(size.max(1) as u64))?;
    crate::cost::add(u64::from(more));
    Ok(())
}

/// Whether a set or map may have one more row of that size, if a key is none that it has.
///
/// # Errors
/// [`TooLarge`], as the error of a call.
pub(crate) fn one_more(found: Keyed<'_>, key: Ptr<'_>, size: usize) -> Result<(), CallError> {
    rows(found.len(), 1, size).or_else(|error| found.find(key).map(drop).ok_or(error))
}

/// Whether a text may have so many bytes, which are paid for.
///
/// # Errors
/// [`TooLarge`], as the error of a call.
pub(crate) fn text(bytes: usize) -> Result<(), CallError> {
    check("a text", bytes as u64)?;
    crate::cost::add(crate::cost::of_text(bytes));
    Ok(())
}
