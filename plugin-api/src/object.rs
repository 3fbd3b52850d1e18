//! The root of all classes, and what can be done with any object.

use alcedo_abi::handles::ObjectHandle;

use crate::{CallError, Class, Obj, This, host};

/// The base of every class.
#[derive(Debug)]
pub enum Object {}

/// What can be done with any object. All of it is for the game thread, inside one call from the host.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectView<'f>(This<'f, Object>);

impl<'f> ObjectView<'f> {
    /// Which object it is.
    #[must_use]
    pub fn handle(&self) -> ObjectHandle {
        self.0.object()
    }

    /// Its name, as `MagicCube_17`; empty when the object is gone.
    #[must_use]
    pub fn name(&self) -> String {
        host::object_name(self.handle())
    }

    /// The path of its class, which may be a subclass of the one it is known as.
    #[must_use]
    pub fn class_path(&self) -> String {
        host::object_class(self.handle())
    }

    /// Whether the object is a `T`.
    #[must_use]
    pub fn is_a<T: Class>(&self) -> bool {
        self.cast::<T>().is_ok()
    }

    /// The same object as a `T`.
    ///
    /// # Errors
    /// `WRONG_CLASS` when it is none; `STALE` when it is gone.
    pub fn cast<T: Class>(&self) -> Result<This<'f, T>, CallError> {
        self.get(Obj::from_handle(self.handle()))
    }

    /// Another object, for the rest of the running call.
    ///
    /// # Errors
    /// `STALE` when it is gone; `WRONG_CLASS` when the handle came from an unchecked place.
    #[inline]
    pub fn get<T: Class>(&self, obj: Obj<T>) -> Result<This<'f, T>, CallError> {
        self.0.other(obj)
    }

    /// Its path, by which soft references name it; empty when the object is gone.
    #[must_use]
    pub fn path(&self) -> String {
        host::object_path(self.handle())
    }

    /// Gives the object another name, another outer, or both.
    ///
    /// # Errors
    /// When the outer has another object of that name, or lies inside of this one; `STALE`; `DURING_REBUILD`.
    pub fn rename(&self, name: &str, outer: Obj<Object>) -> Result<(), CallError> {
        host::object_rename(self.handle(), name, outer.handle())
    }

    /// Requests a collection of objects that nothing refers to. It is never done inside a call, which this one is: it
    /// comes at the next safe point.
    ///
    /// # Errors
    /// `UNAVAILABLE`, which says just that; `DURING_REBUILD` before the commit of what comes up.
    pub fn collect_garbage(&self) -> Result<(), CallError> {
        host::collect_garbage()
    }

    /// A new object of class `T` inside `outer`, or inside the world's package for none.
    ///
    /// # Errors
    /// When its construction fails; the error says at which step. `DURING_REBUILD` before the commit of what comes up.
    pub fn spawn<T: Class>(&self, outer: Obj<Object>) -> Result<Obj<T>, CallError> {
        host::spawn(T::id(), outer.handle()).map(Obj::from_handle)
    }

    /// Destroys this object now. What is left of the call may still read it.
    ///
    /// # Errors
    /// `STALE` when it is gone already; `DURING_REBUILD` before the commit of what comes up.
    pub fn destroy(&self) -> Result<(), CallError> {
        host::destroy(self.handle())
    }
}

impl<C: Class> Obj<C> {
    /// Checks that the object is gone; true for none. `this` is any object of the running call.
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
        Obj::from_handle(self.handle())
    }

    /// Returns the object without its class.
    #[must_use]
    pub const fn as_object(self) -> Obj<Object> {
        Obj::from_handle(self.handle())
    }
}
