//! Host functions that plugin code uses. Each function adds the name of its action to errors, and refuses calls that borrowed slices of
//! host memory forbid. The calls are methods of [`Host`], generated from the list of the host's functions. Each method
//! checks its thread and its handles. Without a host, each function returns an error or a default.

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use alcedo_abi::host::mode;
use alcedo_rt::CallError;

mod attached;
pub(crate) mod lending;

pub(crate) use alcedo_rt::{borrowed_text, put_text};
pub(crate) use attached::{
    age_text, black_drop, black_in, black_lives, conjugate_clone, conjugate_state, direct_failure, ends, entry,
    game_time, host, job_cancel, job_lives, job_take, lives, name_text, object_class, object_name, site_of,
};

pub(crate) fn object_memory(object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    host("get")?.object_resolve(object, class)
}

pub(crate) fn part(object: ObjectHandle, class: ClassId) -> Result<PartPtr, CallError> {
    host("lend")?.object_part(object, class)
}

/// Checks that a property of `object` may be written now. In the normal mode, this check does not call the host. The check ignores borrowed
/// slices, because a slice is part of a container's buffer, not of a property. A separate check covers writes into containers.
///
/// In the marking mode of a collection, the host checks only writes of references. `names_objects` is true if the written value
/// may contain a reference.
#[inline]
pub(crate) fn may_write(object: ObjectHandle, names_objects: bool) -> Result<(), CallError> {
    match alcedo_rt::mode() {
        mode::NORMAL => Ok(()),
        mode::MARKING if !names_objects => Ok(()),
        _ => check_may_write(object),
    }
}

#[cold]
#[inline(never)]
fn check_may_write(object: ObjectHandle) -> Result<(), CallError> {
    host("a property write")?.may_write(object)
}

pub(crate) fn spawn(class: ClassId, outer: ObjectHandle) -> Result<ObjectHandle, CallError> {
    host("spawn")?.spawn(class, outer)
}

pub(crate) fn intern(text: &str) -> Result<Name, CallError> {
    host("UName::of")?.name_intern(text)
}

pub(crate) fn zcall_resolve(name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
    host(name)?.zcall_resolve(RStr::from_str(name), fingerprint)
}
