//! What plugin code calls the host for: each verb with the words that its errors have, and whether it is allowed while
//! a slice of host memory is lent. The calls themselves are methods of [`Host`], made from the list of the host's
//! functions. Each checks its thread and its handles itself; without a host each answers that there is none.

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use alcedo_abi::host::mode;
use alcedo_abi::task::JobId;
use alcedo_rt::CallError;

mod attached;
pub(crate) mod lending;

pub(crate) use alcedo_rt::{lent_text, put_text};
pub(crate) use attached::{
    age_in_words, black_drop, black_in, black_lives, conjugate_clone, conjugate_state, conjugate_type, ends, entry,
    host, job_take, lives, site_of,
};

use attached::Harmless;

/// The memory of a living object of `class`.
pub(crate) fn object_memory(object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    host("get")?.object_resolve(object, class)
}

/// Whether an object lives, also while memory is lent.
pub(crate) fn object_lives(object: ObjectHandle) -> bool {
    Harmless::host().is_some_and(|host| host.object_resolve(object, ClassId::NONE).is_ok())
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
    Harmless::host().and_then(|host| host.object_name(object).ok()).unwrap_or_default()
}

/// The path of the object's class; empty when it is gone.
pub(crate) fn object_class(object: ObjectHandle) -> String {
    Harmless::host().and_then(|host| host.object_class(object).ok()).unwrap_or_default()
}

/// The name of a text.
pub(crate) fn intern(text: &str) -> Result<Name, CallError> {
    host("UName::of")?.name_intern(text)
}

/// The text of a name; empty when there is no such name.
pub(crate) fn name_text(name: Name) -> String {
    Harmless::host().and_then(|host| host.name_text(name).ok()).unwrap_or_default()
}

/// Ends a job. Any thread; also while memory is lent, since a drop cannot be refused.
pub(crate) fn job_cancel(job: JobId) {
    if let Some(host) = Harmless::host() {
        host.job_cancel(job);
    }
}

/// Whether a job has not ended.
pub(crate) fn job_lives(job: JobId) -> bool {
    Harmless::host().is_some_and(|host| host.job_lives(job) != 0)
}

/// Why the last direct call has failed, which is given once; `None` where none has. A leaf is called also while memory is lent.
pub(crate) fn direct_failure() -> Option<CallError> {
    Harmless::host()?.direct_failure().err()
}

/// Nanoseconds of game time.
pub(crate) fn game_time() -> u64 {
    Harmless::host().map_or(0, Harmless::game_time)
}

/// The path of an object; empty when it is gone.
pub(crate) fn object_path(object: ObjectHandle) -> String {
    host("object_path").and_then(|host| host.object_path(object)).unwrap_or_default()
}

/// Changes the name or the outer of an object, or both.
pub(crate) fn object_rename(object: ObjectHandle, name: &str, outer: ObjectHandle) -> Result<(), CallError> {
    host("rename")?.object_rename(object, name, outer)
}

/// Asks for a collection.
pub(crate) fn collect_garbage() -> Result<(), CallError> {
    host("collect")?.collect()
}

/// Finds what a ZCall name stands for.
pub(crate) fn zcall_resolve(name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
    host(name)?.zcall_resolve(RStr::from_str(name), fingerprint)
}
