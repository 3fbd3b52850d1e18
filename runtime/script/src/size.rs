//! Memory limits of script values. One limit applies to each single value. A second limit applies to the total size of all values that a
//! run creates. Both limits are checked before an array grows, a string is built or a library function returns a value. The second limit is
//! also checked after each operation that may have allocated memory. A script therefore fails with an error before the process runs out of
//! memory.
//!
//! The machine stores its limits in a thread-local while it runs, because library functions have no access to the machine.

use std::cell::Cell;

use alcedo_base::boundary::CallError;
use alcedo_reflect::containers::Keyed;
use alcedo_reflect::held;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::value::Value;
use alcedo_reflect::values::ptr::Ptr;

/// Limit of one value while no machine runs. A machine also has this limit by default.
pub(crate) const DEFAULT: usize = 256 << 20;

/// Default limit of the total size of all values.
pub(crate) const DEFAULT_OF_ALL: usize = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Maximum size of one value in bytes.
    one: usize,
    /// Maximum total size of all values in bytes.
    all: usize,
    base: usize,
}

impl Limit {
    /// Returns the bytes allocated since the start of the run.
    #[inline]
    fn allocated(self) -> usize {
        usize::try_from(held::bytes().wrapping_sub(self.base) as isize).unwrap_or_default()
    }
}

thread_local! {
    static LIMIT: Cell<Limit> = const { Cell::new(Limit { one: DEFAULT, all: usize::MAX, base: 0 }) };
}

/// Guard of the limits. Dropping this value restores the previous limits.
pub(crate) struct Limited(Limit);

/// Sets the limits of one value and of all values. `base` is the number of bytes held at the start of the run.
#[inline]
pub(crate) fn limited(one: usize, all: usize, base: usize) -> Limited {
    Limited(LIMIT.replace(Limit { one, all, base }))
}

impl Drop for Limited {
    fn drop(&mut self) {
        LIMIT.set(self.0);
    }
}

/// Checks that a value may have a size of `bytes` bytes, of which `more` bytes are new.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
#[inline]
fn check(what: &str, bytes: u64, more: u64) -> Result<(), CallError> {
    let limit = LIMIT.get();
    if bytes > limit.one as u64 {
        return Err(too_large(what, bytes, limit.one, "Limits::value"));
    }
    match (limit.allocated() as u64).saturating_add(more) {
        all if all > limit.all as u64 => Err(all_too_large(all, limit.all)),
        _ => Ok(()),
    }
}

/// Returns true if the total allocation of the run is within its limit.
#[inline]
pub(crate) fn is_within_limit() -> bool {
    let limit = LIMIT.get();
    limit.allocated() <= limit.all
}

/// Returns the error for a run whose total allocation exceeds the limit.
#[cold]
pub(crate) fn limit_exceeded() -> CallError {
    let limit = LIMIT.get();
    all_too_large(limit.allocated() as u64, limit.all)
}

#[cold]
fn all_too_large(bytes: u64, limit: usize) -> CallError {
    too_large("all values that the script has created since it was called, together,", bytes, limit, "Limits::values")
}

#[cold]
fn too_large(what: &str, bytes: u64, limit: usize, setting: &str) -> CallError {
    CallError::TooLarge { what: what.to_owned(), bytes, limit: limit as u64, setting: setting.to_owned() }
}

/// Checks that a container may grow by `more` elements. Adds the cost of the growth.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
pub(crate) fn rows(before: u32, more: u32, size: usize) -> Result<(), CallError> {
    if more == 0 {
        return Ok(());
    }
    let bytes = |rows: u64| rows.saturating_mul(size.max(1) as u64);
    check("an array, set or map", bytes(u64::from(before) + u64::from(more)), bytes(u64::from(more)))?;
    crate::cost::add(crate::cost::of_rows(more.into(), size));
    Ok(())
}

/// Reads a value. Checks the size of the result first, because a [`Value`] takes much more memory than a small element. Adds the cost
/// of visiting all parts of the value.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
pub(crate) fn read(from: Ptr<'_>) -> Result<Value, CallError> {
    if from.ty().owns_memory() {
        if from.text_bytes().is_none() {
            copies(std::iter::once(from), 0)?;
        }
        crate::cost::add(crate::cost::of(from));
    }
    Ok(from.read())
}

/// Checks the size of temporary copies: each value as a [`Value`], and `more` additional bytes.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
pub(crate) fn copies<'a>(of: impl Iterator<Item = Ptr<'a>>, more: usize) -> Result<(), CallError> {
    let bytes = of.map(copied).fold(more as u64, u64::saturating_add);
    check("copies of all elements", bytes, bytes)
}

/// Returns an upper bound of the bytes that a value takes as a [`Value`].
fn copied(from: Ptr<'_>) -> u64 {
    let bytes = |values: u64| values.saturating_mul(size_of::<Value>() as u64);
    let inside = crate::cost::total(from, &|at: Ptr<'_>| match (at.count(), at.ty().row()) {
        (Some(count @ 1..), Some(row)) => {
            let one = values(row.key) + row.value.map_or(0, |(value, _)| values(value));
            bytes(u64::from(count).saturating_mul(one))
        }
        _ => at.text_bytes().unwrap_or_default() as u64,
    });
    bytes(values(from.ty())).saturating_add(inside)
}

/// Returns the number of [`Value`]s in a value of a type, without elements of containers. Each field of a struct counts as two, because of
/// its name.
fn values(ty: &PropertyType) -> u64 {
    match ty {
        PropertyType::Struct(of) => of.fields().iter().map(|field| 1 + values(&field.ty)).sum::<u64>() + 1,
        PropertyType::Optional(of) => 1 + values(of.ty()),
        _ => 1,
    }
}

/// Checks the growth of a set or map by one element. If the container already contains the key, the limit does not apply.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
pub(crate) fn one_more(found: Keyed<'_>, key: Ptr<'_>, size: usize) -> Result<(), CallError> {
    rows(found.len(), 1, size).or_else(|error| found.find(key).map(drop).ok_or(error))
}

/// Checks the size of the string into which a container or struct is formatted. The total includes the copies that the formatting makes.
/// Adds the cost of the string.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
pub(crate) fn printed((bytes, parts): (usize, usize)) -> Result<(), CallError> {
    let copies = bytes.saturating_mul(6).saturating_add(parts.saturating_mul(48));
    check("a text", bytes as u64, copies as u64)?;
    crate::cost::add(crate::cost::of_text(bytes));
    Ok(())
}

/// Checks the size of a string and adds its cost.
///
/// # Errors
/// Returns [`CallError::TooLarge`] if a limit is exceeded.
pub(crate) fn text(bytes: usize) -> Result<(), CallError> {
    check("a text", bytes as u64, bytes as u64)?;
    crate::cost::add(crate::cost::of_text(bytes));
    Ok(())
}
