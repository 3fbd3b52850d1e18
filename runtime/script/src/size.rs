//! How much memory values of scripts may take: one alone, and all together that a run of scripts makes. It is asked before an array
//! grows, a text is put together or a function of the library gives a result, and looked at after each operation that may have taken
//! some; so a script is told of it, and the process does not run out of memory.
//!
//! The limits are those of the machine that runs on the thread: functions of the library know no machine.

use std::cell::Cell;

use alcedo_base::border::CallError;
use alcedo_reflect::containers::Keyed;
use alcedo_reflect::held;
use alcedo_reflect::values::ptr::Ptr;

/// The limit of one value where no machine runs, and the default of one.
pub(crate) const DEFAULT: usize = 256 << 20;

/// The default limit of all values together.
pub(crate) const DEFAULT_OF_ALL: usize = 1 << 30;

/// What holds on the thread.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Bytes of one value.
    one: usize,
    /// Bytes of all values together, and how many were held when the run began.
    all: usize,
    base: usize,
}

impl Limit {
    /// Bytes that came to be held since the run began.
    #[inline]
    fn taken(self) -> usize {
        usize::try_from(held::bytes().wrapping_sub(self.base) as isize).unwrap_or_default()
    }
}

thread_local! {
    static LIMIT: Cell<Limit> = const { Cell::new(Limit { one: DEFAULT, all: usize::MAX, base: 0 }) };
}

/// The limits before, which hold again when this is dropped.
pub(crate) struct Limited(Limit);

/// Sets the limits: of one value, and of all that come to be held while there were `base` bytes when the run began.
#[inline]
pub(crate) fn limited(one: usize, all: usize, base: usize) -> Limited {
    Limited(LIMIT.replace(Limit { one, all, base }))
}

impl Drop for Limited {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Whether a value may take so many bytes, of which `more` are new.
///
/// # Errors
/// [`CallError::TooLarge`].
#[inline]
fn check(what: &str, bytes: u64, more: u64) -> Result<(), CallError> {
    let limit = LIMIT.get();
    if bytes > limit.one as u64 {
        return Err(too_large(what, bytes, limit.one, "Limits::value"));
    }
    match (limit.taken() as u64).saturating_add(more) {
        all if all > limit.all as u64 => Err(all_too_large(all, limit.all)),
        _ => Ok(()),
    }
}

/// Whether what values took since the run began is still within the limit.
#[inline]
pub(crate) fn is_kept() -> bool {
    let limit = LIMIT.get();
    limit.taken() <= limit.all
}

/// The error where it is not.
#[cold]
pub(crate) fn not_kept() -> CallError {
    let limit = LIMIT.get();
    all_too_large(limit.taken() as u64, limit.all)
}

#[cold]
fn all_too_large(bytes: u64, limit: usize) -> CallError {
    too_large("what the script has made since it was called, all together,", bytes, limit, "Limits::values")
}

#[cold]
fn too_large(what: &str, bytes: u64, limit: usize, setting: &str) -> CallError {
    CallError::TooLarge { what: what.to_owned(), bytes, limit: limit as u64, setting: setting.to_owned() }
}

/// Whether a container may have so many rows of that size; the new ones are paid for.
///
/// # Errors
/// [`CallError::TooLarge`].
pub(crate) fn rows(before: u32, more: u32, size: usize) -> Result<(), CallError> {
    if more == 0 {
        return Ok(());
    }
    let bytes = |rows: u64| rows.saturating_mul(size.max(1) as u64);
    check("an array, set or map", bytes(u64::from(before) + u64::from(more)), bytes(u64::from(more)))?;
    crate::cost::add(crate::cost::of_rows(more.into(), size));
    Ok(())
}

/// Whether so many values may be copied beside their container, as a sort does.
///
/// # Errors
/// [`CallError::TooLarge`].
pub(crate) fn copies(count: u32, size: usize) -> Result<(), CallError> {
    let bytes = u64::from(count) * size as u64;
    check("copies of all elements", bytes, bytes)
}

/// Whether a set or map may have one more row of that size, if a key is none that it has.
///
/// # Errors
/// [`CallError::TooLarge`].
pub(crate) fn one_more(found: Keyed<'_>, key: Ptr<'_>, size: usize) -> Result<(), CallError> {
    rows(found.len(), 1, size).or_else(|error| found.find(key).map(drop).ok_or(error))
}

/// Whether a text may have so many bytes, which are paid for.
///
/// # Errors
/// [`CallError::TooLarge`].
pub(crate) fn text(bytes: usize) -> Result<(), CallError> {
    check("a text", bytes as u64, bytes as u64)?;
    crate::cost::add(crate::cost::of_text(bytes));
    Ok(())
}
