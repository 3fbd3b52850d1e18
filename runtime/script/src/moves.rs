//! One value between a frame and the frame or parameter block of a call.
#![expect(unsafe_code, reason = "moves values between frames and parameter blocks")]

use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::cost;
use crate::exec::{How, Move};

impl Move {
    /// From the caller's frame to the parameters at `there`.
    ///
    /// # Safety
    /// The frame of the caller, whose code this is of, lies at `here`; parameters as this call has them lie at `there`.
    #[inline]
    pub(crate) unsafe fn over(&self, here: *const u8, there: *mut u8) {
        let from = self.from(here);
        // SAFETY: the loader has compared the types; the caller vouches for the rest.
        unsafe { self.one(from, there.wrapping_add(usize::from(self.there))) };
    }

    /// The same for a value that is copied by its bytes.
    ///
    /// # Safety
    /// As for [`Move::over`].
    #[inline(always)]
    pub(crate) unsafe fn over_plain(&self, here: *const u8, there: *mut u8) {
        let from = self.from(here);
        // SAFETY: as for `over`.
        unsafe { self.one_plain(from, there.wrapping_add(usize::from(self.there))) };
    }

    /// From the parameters at `there` back to the caller's frame.
    ///
    /// # Safety
    /// As for [`Move::over`].
    #[inline]
    pub(crate) unsafe fn back(&self, here: *mut u8, there: *const u8) {
        // SAFETY: as for `over`.
        unsafe {
            self.one(there.wrapping_add(usize::from(self.there)), here.wrapping_add(usize::from(self.here)));
        }
    }

    /// Where the value is.
    #[inline(always)]
    fn from(&self, here: *const u8) -> *const u8 {
        match &self.source {
            None => here.wrapping_add(usize::from(self.here)),
            Some(constant) => constant.value.at().cast_const(),
        }
    }

    #[inline]
    unsafe fn one(&self, from: *const u8, to: *mut u8) {
        if matches!(self.how, How::Typed) {
            // SAFETY: the callers have values of the type at both, apart from each other.
            unsafe {
                let from = Ptr::new(from, &self.property.ty);
                cost::add(cost::of(from));
                PtrMut::new(to, &self.property.ty).copy_from(from);
            }
            return;
        }
        // SAFETY: as before.
        unsafe { self.one_plain(from, to) };
    }

    /// The same of a value that is its bytes.
    #[inline(always)]
    unsafe fn one_plain(&self, from: *const u8, to: *mut u8) {
        // SAFETY: the callers have values of the type at both, apart from each other.
        unsafe {
            match self.how {
                How::Bytes1 => *to = *from,
                How::Bytes4 => *to.cast::<u32>() = *from.cast::<u32>(),
                How::Bytes8 => *to.cast::<u64>() = *from.cast::<u64>(),
                How::Bytes12 => to.copy_from(from, 12),
                How::Bytes => to.copy_from(from, self.property.ty.size()),
                // The loader lets none of these be moved so.
                How::Typed => {}
            }
        }
    }
}

/// Moves a value of so many bytes, which are few for most.
///
/// # Safety
/// Values of so many bytes that own nothing lie at both, where one of them may be written.
#[inline]
pub(crate) unsafe fn move_plain(to: *mut u8, from: *const u8, size: u16) {
    // SAFETY: the caller has such values at both.
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
