//! A value on the plugin's stack in the form the host has it, for the length of one call to the host.
#![expect(unsafe_code, reason = "a value in host form, made of zero bytes")]

use core::mem::MaybeUninit;

use alcedo_abi::handles::ObjectHandle;

use crate::{Value, host};

/// Such a value. What it owns is freed by the host when it is dropped.
pub struct Temp<T: Value> {
    raw: MaybeUninit<T::Raw>,
}

impl<T: Value> Temp<T> {
    /// The value that zero bytes mean.
    pub(crate) fn zeroed() -> Self {
        Self { raw: MaybeUninit::zeroed() }
    }

    /// Where it lies until it is moved.
    pub(crate) fn at(&self) -> *const T::Raw {
        self.raw.as_ptr()
    }

    /// The same for writing.
    pub(crate) fn at_mut(&mut self) -> *mut T::Raw {
        self.raw.as_mut_ptr()
    }

    /// Gives the value to host memory, where nothing has to be freed first.
    ///
    /// # Safety
    /// `target` is a live value that owns nothing.
    pub(crate) unsafe fn move_to(self, target: *mut T::Raw) {
        let this = core::mem::ManuallyDrop::new(self);
        // SAFETY: ours is a live value and owned by nobody else from here on; values in host form may be moved.
        unsafe { core::ptr::copy_nonoverlapping(this.at(), target, 1) };
    }
}

impl<T: Value> Drop for Temp<T> {
    fn drop(&mut self) {
        if !T::OWNS_MEMORY {
            return;
        }
        // Without a host, or off the game thread, nothing was ever put into it.
        if let Ok(place) = host::values::place::<T>(ObjectHandle::NONE, self.at_mut()) {
            // SAFETY: zero bytes are a value, and only the host has written it since.
            let _nothing_to_free = unsafe { host::values::clear(&place) };
        }
    }
}
