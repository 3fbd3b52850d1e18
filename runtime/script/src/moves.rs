//! Copies of single values between a frame and the frame or parameter block of a call.
#![expect(unsafe_code, reason = "moves values between frames and parameter blocks")]

use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::cost;
use crate::exec::{CopyKind, Move};

impl Move {
    /// Copies a value from the caller's frame to the parameters at `params`.
    ///
    /// # Safety
    /// `caller` must point to the frame of the caller. The code of the caller must contain this move. `params` must point to the parameters
    /// of the call.
    #[inline]
    pub(crate) unsafe fn over(&self, caller: *const u8, params: *mut u8) {
        let from = self.from(caller);
        // SAFETY: the loader compared the types; the caller promised both addresses.
        unsafe { self.one(from, params.wrapping_add(usize::from(self.param_offset))) };
    }

    /// Variant of [`Move::over`] for bytewise copies.
    ///
    /// # Safety
    /// The requirements of [`Move::over`] apply.
    #[inline(always)]
    pub(crate) unsafe fn over_plain(&self, caller: *const u8, params: *mut u8) {
        let from = self.from(caller);
        // SAFETY: the caller promised the requirements of `over`.
        unsafe { self.one_plain(from, params.wrapping_add(usize::from(self.param_offset))) };
    }

    /// Copies a value from the parameters at `params` back to the caller's frame.
    ///
    /// # Safety
    /// The requirements of [`Move::over`] apply.
    #[inline]
    pub(crate) unsafe fn back(&self, caller: *mut u8, params: *const u8) {
        // SAFETY: the caller promised the requirements of `over`.
        unsafe {
            self.one(
                params.wrapping_add(usize::from(self.param_offset)),
                caller.wrapping_add(usize::from(self.caller_offset)),
            );
        }
    }

    /// Returns the address of the source value.
    #[inline(always)]
    fn from(&self, caller: *const u8) -> *const u8 {
        match &self.source {
            None => caller.wrapping_add(usize::from(self.caller_offset)),
            Some(constant) => constant.value.at().cast_const(),
        }
    }

    #[inline]
    unsafe fn one(&self, from: *const u8, to: *mut u8) {
        if matches!(self.copy_kind, CopyKind::Typed) {
            // SAFETY: the callers have disjoint values of the type at both addresses.
            unsafe {
                let from = Ptr::new(from, &self.property.ty);
                cost::add(cost::of(from));
                PtrMut::new(to, &self.property.ty).copy_from(from);
            }
            return;
        }
        // SAFETY: the callers have disjoint values of the type at both addresses.
        unsafe { self.one_plain(from, to) };
    }

    /// Copies the bytes of a value.
    #[inline(always)]
    unsafe fn one_plain(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the callers have disjoint values of the type at both addresses.
        unsafe {
            match self.copy_kind {
                CopyKind::Bytes1 => *to = *from,
                CopyKind::Bytes4 => *to.cast::<u32>() = *from.cast::<u32>(),
                CopyKind::Bytes8 => *to.cast::<u64>() = *from.cast::<u64>(),
                CopyKind::Bytes12 => to.copy_from(from, 12),
                CopyKind::Bytes => to.copy_from(from, self.property.ty.size()),
                // The loader never builds a typed move for this function.
                CopyKind::Typed => {}
            }
        }
    }
}

/// Copies a value of `size` bytes. Optimized for small sizes.
///
/// # Safety
/// Both pointers must point to values of `size` bytes that own no memory. `to` must be valid for writes.
#[inline]
pub(crate) unsafe fn move_plain(to: *mut u8, from: *const u8, size: u16) {
    // SAFETY: the caller promised values of this size.
    unsafe {
        match size {
            1 => *to = *from,
            4 => to.copy_from(from, 4),
            8 => to.copy_from(from, 8),
            12 => to.copy_from(from, 12),
            size => to.copy_from(from, usize::from(size)),
        }
    }
}
