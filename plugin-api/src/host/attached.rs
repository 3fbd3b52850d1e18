//! Calls to the attached host, and reads of host data that need no call.
#![expect(unsafe_code, reason = "calls functions of the host, and dereferences its addresses")]

use core::panic::Location;

use alcedo_abi::handles::{BlackHandle, ClassId, ConjugateHandle, Name, ObjectHandle};
use alcedo_abi::host::{BlackDirectory, BlackEntry, Directory, DirectoryEntry};
use alcedo_abi::task::{Job, JobId};
use alcedo_abi::value::TextView;
use alcedo_abi::values::{ConjugateState, Site};
use alcedo_rt::{CallError, Host};

use super::lending;

/// Returns the host. Fails while this thread holds a slice of host memory, because a call to the host may change this memory.
#[inline]
pub(crate) fn host(action: &str) -> Result<Host<'_>, CallError> {
    lending::allows_calls(action)?;
    // SAFETY: no slice is borrowed on this thread, as checked above.
    unsafe { Host::attached(action) }.ok_or_else(|| CallError::no_host(action))
}

/// Returns the host for the functions below, which are allowed while a slice of host memory is borrowed.
fn harmless() -> Option<Host<'static>> {
    // SAFETY: the functions up to `conjugate_state` look up numbers and copy data, or destroy one owned value of the module.
    // No slice of this value exists, since a slice borrows its value. These functions run no code outside this module.
    unsafe { Host::attached("a question") }
}

/// Returns true if an object is alive. Callable while memory is borrowed.
fn object_lives(object: ObjectHandle) -> bool {
    harmless().is_some_and(|host| host.object_resolve(object, ClassId::NONE).is_ok())
}

/// Returns the name of an object, or an empty string for a destroyed object.
pub(crate) fn object_name(object: ObjectHandle) -> String {
    harmless().and_then(|host| host.object_name(object).ok()).unwrap_or_default()
}

/// Returns the path of an object's class, or an empty string for a destroyed object.
pub(crate) fn object_class(object: ObjectHandle) -> String {
    harmless().and_then(|host| host.object_class(object).ok()).unwrap_or_default()
}

/// Returns the string of a name, or an empty string for an unknown name.
pub(crate) fn name_text(name: Name) -> String {
    harmless().and_then(|host| host.name_text(name).ok()).unwrap_or_default()
}

/// Cancels a job. Callable on any thread, and while memory is borrowed, because a drop cannot be refused.
pub(crate) fn job_cancel(job: JobId) {
    if let Some(host) = harmless() {
        host.job_cancel(job);
    }
}

pub(crate) fn job_lives(job: JobId) -> bool {
    harmless().is_some_and(|host| host.job_lives(job) != 0)
}

/// Returns the failure of the last direct call, or `None` if the call has not failed. Callable while memory is borrowed, because leaf
/// functions may be called at that time.
pub(crate) fn direct_failure() -> Option<CallError> {
    harmless()?.direct_failure().err()
}

/// Returns the game time in nanoseconds.
pub(crate) fn game_time() -> u64 {
    harmless().map_or(0, Host::game_time)
}

/// Destroys an owned value. Callable on any thread, and while memory is borrowed, because a drop cannot be refused.
pub(crate) fn black_drop(black: BlackHandle) {
    if let Some(host) = harmless() {
        host.black_drop(black);
    }
}

/// Returns the state of a conjugate, or `None` without a host.
pub(crate) fn conjugate_state(conjugate: ConjugateHandle) -> Option<ConjugateState> {
    harmless()?.conjugate_state(conjugate).ok()
}

/// Converts a source location into the type that the ABI uses. The result borrows the file name of `site`.
pub(crate) fn site_of(site: &Location<'_>) -> Site {
    Site { file: TextView::of(site.file()), line: site.line() }
}

/// Formats the age of an expired conjugate in the format of the host's error messages.
#[cold]
pub(crate) fn age_text(conjugate: ConjugateHandle) -> String {
    match conjugate_state(conjugate) {
        Some(ConjugateState { age, older, .. }) => {
            let over = if older == 0 { "" } else { "more than " };
            format!("{over}{:.1} s", age as f64 / 1e9)
        }
        None => "the lifetime of its host".to_owned(),
    }
}

pub(crate) fn conjugate_clone(conjugate: ConjugateHandle, site: &Location<'_>) -> Result<BlackHandle, CallError> {
    let host = host("cloning a conjugate")?;
    // SAFETY: `site_of` borrows `site`, which lives for the call.
    unsafe { host.conjugate_clone(conjugate, &site_of(site)) }
}

/// Passes a job to the host. If the call succeeds, the host owns the job.
///
/// # Safety
/// The functions of `job` match its data. The data of a posted job may be sent to another thread.
///
/// # Errors
/// Returns the reason if the host refuses the job. The caller retains the ownership of a refused job.
pub(crate) unsafe fn job_take(job: &Job<'_>) -> Result<JobId, CallError> {
    let host = host("a task, a timer or a posted closure")?;
    // SAFETY: the caller upholds the contract of this function.
    unsafe { host.job_take(job) }
}

macro_rules! directories {
    ($($(#[$attr:meta])* $name:ident: $ty:ty, $entry:ty;)*) => {$(
        $(#[$attr])*
        #[inline]
        fn $name(index: Option<u32>) -> Option<(&'static $ty, Option<$entry>)> {
            let context = alcedo_rt::context()?;
            // SAFETY: the host keeps the head of the directory at this address while the module is attached.
            // The host changes the head on the game thread only, while the module holds no reference to the head.
            // The directory has `len` entries, which only the game thread reads: an index is passed only on this thread.
            unsafe {
                let head = context.$name.as_ref()?;
                let index = index.filter(|index| *index < head.len);
                Some((head, index.map(|index| head.entries.add(index as usize).read())))
            }
        }
    )*};
}
directories! {
    /// Returns the directory of the host's objects and the entry at an index, or `None` for a module without objects.
    directory: Directory, DirectoryEntry;
    /// Returns the directory of owned values and the entry at an index, or `None` for a module that cannot own values.
    owned_values: BlackDirectory, BlackEntry;
}

/// Returns the number of objects destroyed so far. While the number is unchanged, addresses inside objects are valid.
#[inline]
pub(crate) fn ends() -> u64 {
    directory(None).map_or(0, |(directory, _entry)| directory.ends)
}

#[inline]
pub(crate) fn entry(object: ObjectHandle) -> Option<DirectoryEntry> {
    let (_directory, entry) = directory(Some(object.index()))?;
    let entry = entry?;
    (entry.serial == object.serial() && !object.is_none()).then_some(entry)
}

/// Returns true if an object is still alive. The object must have been alive when the caller read [`ends`].
#[inline]
pub(crate) fn lives(object: ObjectHandle, ends: u64) -> bool {
    match directory(None) {
        Some((directory, _entry)) if directory.ends == ends => true,
        Some(_) => entry(object).is_some(),
        None => object_lives(object),
    }
}

/// Returns the address of an owned value if the value is alive, and the number of owned values destroyed so far. The address is valid
/// until this number changes. Callable on the game thread only.
#[inline]
pub(crate) fn black_in(black: BlackHandle) -> Option<(Option<*mut u8>, u32)> {
    let (index, serial) = (black.0 as u32, (black.0 >> 32) as u32);
    let (directory, entry) = owned_values(Some(index))?;
    let entry = entry.filter(|there| there.serial == serial && serial != 0);
    Some((entry.map(|there| there.at), directory.ends))
}

/// Returns true if an owned value is still alive. The value must have been alive when the caller read `ends`. The caller must hold a value
/// that is bound to a frame, which proves that this is the game thread.
#[inline]
pub(crate) fn black_lives(black: BlackHandle, ends: u32) -> bool {
    match owned_values(None) {
        Some((directory, _entry)) if directory.ends == ends => true,
        Some(_) => black_in(black).is_some_and(|(at, _ends)| at.is_some()),
        None => conjugate_state(black.into()).is_some_and(|state| state.expired == 0),
    }
}
