//! A reference to an object that may be kept: eight bytes that name it and never become another object.

use core::marker::PhantomData;

use alcedo_abi::handles::ObjectHandle;

use crate::{Class, Object, ObjectView};

/// An object of class `C`, or none. It may be kept in fields and sent to threads; to use the object, a call from
/// the host must be running: `this.get(obj)`.
#[repr(transparent)]
pub struct Obj<C> {
    handle: ObjectHandle,
    of: PhantomData<fn() -> C>,
}

impl<C> Obj<C> {
    /// No object.
    #[must_use]
    pub const fn none() -> Self {
        Self::from_handle(ObjectHandle::NONE)
    }

    pub(crate) const fn from_handle(handle: ObjectHandle) -> Self {
        Self { handle, of: PhantomData }
    }

    /// Whether it names no object at all. An object that is gone is not none: see [`Self::is_expired`].
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.handle.is_none()
    }

    /// The bare handle, for logs and maps.
    #[must_use]
    pub const fn handle(self) -> ObjectHandle {
        self.handle
    }
}

impl<C: Class> Obj<C> {
    /// Whether its object is gone; true for none. `this` is any object of the running call.
    #[must_use]
    pub fn is_expired(self, this: &ObjectView<'_>) -> bool {
        self.is_none() || this.get(self.as_object()).is_err()
    }

    /// The object as one of its base class, for a parameter or property of that type.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # #[uclass(package = "Game")]
    /// # #[derive(Default)]
    /// # pub struct Customer {}
    /// # #[uclass(package = "Game", base = Customer)]
    /// # #[derive(Default)]
    /// # pub struct Haggler {}
    /// # fn sell(to: Obj<Customer>) {}
    /// # fn show(this: This<'_, Haggler>) {
    /// sell(this.as_obj().as_base());
    /// # }
    /// ```
    #[must_use]
    pub const fn as_base(self) -> Obj<C::Base> {
        Obj::from_handle(self.handle)
    }

    /// The same object without its class.
    #[must_use]
    pub const fn as_object(self) -> Obj<Object> {
        Obj::from_handle(self.handle)
    }
}

impl<C> Clone for Obj<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Obj<C> {}

impl<C> Default for Obj<C> {
    fn default() -> Self {
        Self::none()
    }
}

impl<C> PartialEq for Obj<C> {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

impl<C> Eq for Obj<C> {}

impl<C> core::hash::Hash for Obj<C> {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.handle.hash(state);
    }
}

impl<C> core::fmt::Debug for Obj<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.handle.fmt(f)
    }
}
