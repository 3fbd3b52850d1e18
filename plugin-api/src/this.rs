//! The frame-bound value: the one thing through which plugin code touches an object. The shells make it when the
//! host calls, and it cannot leave the call: not into a field, not into a thread, not into a finalizer.
#![expect(unsafe_code, reason = "casts between a frame-bound value and its views, which have one layout")]

use core::marker::PhantomData;
use core::ops::Deref;

use alcedo_abi::handles::ObjectHandle;
use alcedo_rt::CallError;

use crate::class::{Class, Part};
use crate::part_cell::PartCell;
use crate::{Obj, host};

/// An object of class `C` for the duration of one call `'f` from the host. Game thread only, by type.
///
/// It dereferences to the view of its class, which has the accessors of its properties and the calls of its
/// functions, then those of every base up to [`crate::ObjectView`].
#[repr(C)]
pub struct This<'f, C> {
    object: ObjectHandle,
    // A raw pointer, which also keeps the value on its thread.
    memory: *mut u8,
    frame: PhantomData<&'f ()>,
    class: PhantomData<fn() -> C>,
}

impl<C> Clone for This<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for This<'_, C> {}

impl<C: Class> core::fmt::Debug for This<'_, C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {}", C::PATH, self.object)
    }
}

impl<'f, C: Class> This<'f, C> {
    /// # Safety
    /// `object` is a living object of class `C` or a subclass, `memory` is its memory, and the memory stays readable
    /// for `'f`, which ends with the call that the host is making on this thread.
    pub(crate) unsafe fn new(object: ObjectHandle, memory: *mut u8) -> Self {
        Self { object, memory, frame: PhantomData, class: PhantomData }
    }

    pub(crate) fn object(&self) -> ObjectHandle {
        self.object
    }

    pub(crate) fn memory(&self) -> *mut u8 {
        self.memory
    }

    /// The object as a handle that may be kept as long as one likes.
    #[must_use]
    pub fn as_obj(self) -> Obj<C> {
        Obj::from_handle(self.object)
    }

    /// The same object as one of its base class.
    #[must_use]
    pub fn as_base(self) -> This<'f, C::Base> {
        This { object: self.object, memory: self.memory, frame: PhantomData, class: PhantomData }
    }

    /// The same, seen through a reference.
    pub(crate) fn base_ref(&self) -> &This<'f, C::Base> {
        let this: *const Self = self;
        // SAFETY: `This` is `repr(C)` and its class is only a marker, so both have one layout; that the object is
        // of the base class too is promised by `Class`.
        unsafe { &*this.cast() }
    }
}

impl<C: Part> This<'_, C> {
    /// Lends `part`, the `&mut self` of the running method, back to its object while `code` runs, so that whatever
    /// `code` calls may borrow the plugin part anew. Needed when a call out may come back to this object.
    ///
    /// Fails the running call with a typed error when `part` is not the plugin part of this object. For `&self`
    /// there is nothing to lend: shared borrows do not exclude each other.
    pub fn lend<R>(self, part: &mut C, code: impl FnOnce(Self) -> R) -> R {
        let cell = host::part(self.object, C::id()).unwrap_or_else(|error| alcedo_rt::fail(error));
        if cell.0.is_null() {
            alcedo_rt::fail(CallError::other(format!(
                "{}: there is no plugin part of {} to lend",
                self.object,
                C::PATH
            )));
        }
        // SAFETY: the host gives back what this module's red constructor made for this object and class, and the
        // object, whose plugin part it is, lives for the frame.
        let cell = unsafe { &*cell.0.cast::<PartCell<C>>() };
        cell.lend(self.object, part, || code(self)).unwrap_or_else(|error| alcedo_rt::fail(error))
    }
}

impl<'f, C: Class> Deref for This<'f, C> {
    type Target = C::View<'f>;

    fn deref(&self) -> &C::View<'f> {
        let this: *const Self = self;
        // SAFETY: `Class` promises that the view is transparent over `This<'f, C>`.
        unsafe { &*this.cast() }
    }
}
