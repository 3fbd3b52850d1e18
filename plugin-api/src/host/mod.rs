//! What plugin code asks of the host: each verb with the words that its errors have, and whether it is allowed while a slice of
//! host memory is lent. The calls themselves are methods of [`Host`], made from the list of the host's functions. Each checks its
//! thread and its handles itself; without a host each answers that there is none.
#![expect(unsafe_code, reason = "says that what is asked while a slice is lent does no harm")]

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use alcedo_abi::host::mode;
use alcedo_abi::task::{Job, JobId};
use alcedo_abi::value::TextRaw;
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::{CallError, Host};

use crate::Value;
use crate::kinds::lending;
use crate::kinds::ptr::PtrMut;

pub(crate) mod values;

pub(crate) use alcedo_rt::{lent_text, put_text};

/// The host, unless this module holds a slice of its memory on this thread: what a call may do to that memory nobody
/// knows beforehand.
#[inline]
pub(crate) fn host(action: &str) -> Result<Host<'_>, CallError> {
    lending::allows_calls(action)?;
    // SAFETY: no slice is lent on this thread, as was asked just now.
    unsafe { Host::attached(action) }.ok_or_else(|| CallError::no_host(action))
}

/// The host, also while a slice of its memory is lent.
///
/// # Safety
/// What it is asked for changes, moves and ends no value, and runs no code but that of this module.
unsafe fn harmless_host() -> Option<Host<'static>> {
    // SAFETY: promised by the caller.
    unsafe { Host::attached("a question") }
}

/// The memory of a living object of `class`.
pub(crate) fn object_memory(object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    host("get")?.object_resolve(object, class)
}

/// Whether an object lives, also while memory is lent.
pub(crate) fn object_lives(object: ObjectHandle) -> bool {
    // SAFETY: a handle is looked up.
    let host = unsafe { harmless_host() };
    host.is_some_and(|host| host.object_resolve(object, ClassId::NONE).is_ok())
}

/// The plugin part that this module made.
pub(crate) fn part(object: ObjectHandle, class: ClassId) -> Result<PartPtr, CallError> {
    host("lend")?.object_part(object, class)
}

/// Whether a property of `object` may be written now. In the normal mode the host is not asked. Nor is it of concern that
/// a slice is lent: a property lies in its object, what is lent in a container, and what writes into containers asks.
///
/// A collection that is marking wants to hear of references only: `names_objects` says whether what is written could be one.
#[inline]
pub(crate) fn may_write(object: ObjectHandle, names_objects: bool) -> Result<(), CallError> {
    match alcedo_rt::mode() {
        mode::NORMAL => Ok(()),
        mode::MARKING if !names_objects => Ok(()),
        _ => ask_may_write(object),
    }
}

#[cold]
#[inline(never)]
fn ask_may_write(object: ObjectHandle) -> Result<(), CallError> {
    host("a property write")?.may_write(object)
}

/// A new object.
pub(crate) fn spawn(class: ClassId, outer: ObjectHandle) -> Result<ObjectHandle, CallError> {
    host("spawn")?.spawn(class, outer)
}

/// Destroys an object.
pub(crate) fn destroy(object: ObjectHandle) -> Result<(), CallError> {
    host("destroy")?.destroy(object)
}

/// The object's name; empty when it is gone.
pub(crate) fn object_name(object: ObjectHandle) -> String {
    // SAFETY: a name is copied.
    let host = unsafe { harmless_host() };
    host.and_then(|host| host.object_name(object).ok()).unwrap_or_default()
}

/// The path of the object's class; empty when it is gone.
pub(crate) fn object_class(object: ObjectHandle) -> String {
    // SAFETY: a path is copied.
    let host = unsafe { harmless_host() };
    host.and_then(|host| host.object_class(object).ok()).unwrap_or_default()
}

/// The name of a text.
pub(crate) fn intern(text: &str) -> Result<Name, CallError> {
    host("UName::of")?.name_intern(text)
}

/// The text of a name; empty when there is no such name.
pub(crate) fn name_text(name: Name) -> String {
    // SAFETY: a name is copied.
    let host = unsafe { harmless_host() };
    host.and_then(|host| host.name_text(name).ok()).unwrap_or_default()
}

/// Overwrites a text in host memory.
pub(crate) fn assign_text<T: Value<Raw = TextRaw>>(target: PtrMut<'_, T>, text: &str) -> Result<(), CallError> {
    let host = host("a text")?;
    // SAFETY: `PtrMut` was promised a live text of the host that may be written.
    unsafe { host.text_assign(target.at(), text) }
}

/// Gives a job to the host, which owns it from then on.
///
/// # Safety
/// `job` is whole: its functions are those of its data; and of a posted one the data may change threads.
///
/// # Errors
/// Why the host does not take it; it is still the caller's then.
pub(crate) unsafe fn job_take(job: &Job<'_>) -> Result<JobId, CallError> {
    let host = host("a task, a timer or a posted closure")?;
    // SAFETY: what the job consists of is promised by the caller.
    unsafe { host.job_take(job) }
}

/// Ends a job. Any thread; also while memory is lent, since a drop cannot be refused.
pub(crate) fn job_cancel(job: JobId) {
    // SAFETY: what is dropped is the module's own, and asks for itself.
    if let Some(host) = unsafe { harmless_host() } {
        host.job_cancel(job);
    }
}

/// Whether a job has not ended.
pub(crate) fn job_lives(job: JobId) -> bool {
    // SAFETY: a number is looked up.
    let host = unsafe { harmless_host() };
    host.is_some_and(|host| host.job_lives(job) != 0)
}

/// Nanoseconds of game time.
pub(crate) fn game_time() -> u64 {
    // SAFETY: a number is copied.
    let host = unsafe { harmless_host() };
    host.map_or(0, Host::game_time)
}

/// Finds what a ZCall name stands for.
pub(crate) fn zcall_resolve(name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
    host(name)?.zcall_resolve(RStr::from_str(name), fingerprint)
}

/// Calls through a handle.
///
/// # Safety
/// The pointer slots among `slots` are what the signature of the callee says, and live for the call.
pub(crate) unsafe fn zcall(handle: ZCallHandle, what: &str, slots: &mut [Slot]) -> Result<(), CallError> {
    let host = host(what)?;
    let mut buffer = buffer_of(slots);
    // SAFETY: the buffer lends `slots`, whose pointers are right by contract.
    unsafe { host.zcall(handle, &mut buffer) }
}

/// Lends slots for a call.
fn buffer_of(slots: &mut [Slot]) -> ZCallBuffer {
    ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() }
}
