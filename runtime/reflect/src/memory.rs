//! Values in raw memory, for code that has an address and a type: shells over the pointers of [`ptr`](crate::values::ptr).
#![expect(unsafe_code, reason = "makes pointers of addresses that callers vouch for")]

mod marks;

use std::hash::Hasher;

use alcedo_base::handles::ObjectHandle;

use crate::property::PropertyType;
use crate::values::ptr::{Ptr, PtrMut};

pub use marks::delegate_mark;

/// Overwrites the value at `to` with that at `from`; what owns memory gets a copy of its own.
///
/// # Safety
/// Both hold a value of `ty`, aligned, that nobody else reads or writes meanwhile. They do not overlap unless they are
/// the same value.
pub unsafe fn copy(to: *mut u8, from: *const u8, ty: &PropertyType) {
    // SAFETY: the caller promises the value.
    let from = unsafe { Ptr::new(from, ty) };
    // SAFETY: the caller promises the value to write.
    unsafe { PtrMut::new(to, ty) }.copy_from(from);
}

/// Whether the two values are equal; see [`Ptr::equal`].
///
/// # Safety
/// Both hold a value of `ty`, aligned, that nobody writes meanwhile.
pub unsafe fn equal(one: *const u8, two: *const u8, ty: &PropertyType) -> bool {
    // SAFETY: the caller promises the first value.
    let one = unsafe { Ptr::new(one, ty) };
    // SAFETY: the caller promises the second value.
    one.equal(unsafe { Ptr::new(two, ty) })
}

/// Feeds the value at `at` to `hasher`: equal values feed the same.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile.
pub unsafe fn hash(at: *const u8, ty: &PropertyType, hasher: &mut dyn Hasher) {
    // SAFETY: the caller promises the value.
    unsafe { Ptr::new(at, ty) }.hash_into(hasher);
}

/// The hash by which containers find the value at `at`.
///
/// # Safety
/// As for [`hash`].
pub unsafe fn hashed(at: *const u8, ty: &PropertyType) -> u64 {
    // SAFETY: the caller promises the value.
    unsafe { Ptr::new(at, ty) }.hashed()
}

/// Frees what the value at `at` owns and leaves the one that zero bytes mean; see [`PtrMut::destroy`].
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub unsafe fn destroy(at: *mut u8, ty: &PropertyType) {
    // SAFETY: the caller promises the value.
    unsafe { PtrMut::new(at, ty) }.destroy();
}

/// Shows `visit` every reference in the value that keeps an object alive, none left out.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile, not even `visit`.
pub unsafe fn visit_objects(at: *const u8, ty: &PropertyType, visit: &mut dyn FnMut(ObjectHandle)) {
    // SAFETY: the caller promises the value.
    unsafe { Ptr::new(at, ty) }.visit_objects(visit);
}

/// Replaces every handle of an object in the value, weak ones too; see [`PtrMut::map_objects`].
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile, not even `map`.
pub unsafe fn map_objects(at: *mut u8, ty: &PropertyType, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
    // SAFETY: the caller promises the value.
    unsafe { PtrMut::new(at, ty) }.map_objects(map);
}

#[cfg(test)]
mod tests;
