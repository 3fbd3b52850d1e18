//! The number by which a delegate is known while it is called. It lies in the delegate itself, so it goes along when what
//! holds the delegate grows, shrinks or swaps; a copy does not get it.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

use std::num::NonZeroU32;

use alcedo_abi::value::{ArrayRaw, SparseRaw};

use crate::property::PropertyType;

/// The mark of the delegate at `at`. One that has none gets what `fresh` says, if it can be bound to several; nothing for
/// a single one, which needs none, and for a sparse one without bindings, which has no place for it.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile.
pub unsafe fn delegate_mark(
    at: *mut u8,
    ty: &PropertyType,
    fresh: impl FnOnce() -> Option<NonZeroU32>,
) -> Option<NonZeroU32> {
    let list = match ty {
        PropertyType::MulticastDelegate(_) => at.cast::<ArrayRaw>(),
        // SAFETY: the caller promises the value.
        PropertyType::SparseDelegate(_) => unsafe { at.cast::<SparseRaw>().read() }.list,
        _ => return None,
    };
    if list.is_null() {
        return None;
    }
    // SAFETY: the list of delegates of the value.
    let known = unsafe { (*list).reserved };
    NonZeroU32::new(known).or_else(|| {
        let fresh = fresh()?;
        // SAFETY: as above; nobody else reads or writes it.
        unsafe { (*list).reserved = fresh.get() };
        Some(fresh)
    })
}
