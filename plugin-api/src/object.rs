//! The root of all classes, and operations on any object.

use alcedo_abi::handles::ObjectHandle;

use crate::{CallError, Class, Obj, This, host};

/// The base of every class.
#[derive(Debug)]
pub enum Object {}

/// Operations on any object, on the game thread, within one call from the host.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct ObjectView<'f>(This<'f, Object>);

impl<'f> ObjectView<'f> {
    /// Returns the handle of the object.
    #[must_use]
    pub fn handle(&self) -> ObjectHandle {
        self.0.object()
    }

    /// Returns the name of the object, as `MagicCube_17`; empty for a destroyed object.
    #[must_use]
    pub fn name(&self) -> String {
        host::object_name(self.handle())
    }

    /// Returns the path of the most-derived class of the object.
    #[must_use]
    pub fn class_path(&self) -> String {
        host::object_class(self.handle())
    }

    /// Returns true if the object is a `T`.
    #[must_use]
    pub fn is_a<T: Class>(&self) -> bool {
        self.cast::<T>().is_ok()
    }

    /// Casts the object to `T`.
    ///
    /// # Errors
    /// `WRONG_CLASS` if the object is not a `T`; `STALE` for a destroyed object.
    pub fn cast<T: Class>(&self) -> Result<This<'f, T>, CallError> {
        self.get(Obj::from_handle(self.handle()))
    }

    /// Returns another object, for the rest of the running call.
    ///
    /// # Errors
    /// `STALE` for a destroyed object; `WRONG_CLASS` if an unchecked handle refers to an object of another class.
    #[inline]
    pub fn get<T: Class>(&self, obj: Obj<T>) -> Result<This<'f, T>, CallError> {
        self.0.other(obj)
    }

    /// Returns the path of the object, as used by soft references; empty for a destroyed object.
    #[must_use]
    pub fn path(&self) -> String {
        host::object_path(self.handle())
    }

    /// Renames the object, moves it to another outer, or both.
    ///
    /// # Errors
    /// Fails if the outer has another object of that name or is inside this object; `STALE`; `DURING_REBUILD`.
    pub fn rename(&self, name: &str, outer: Obj<Object>) -> Result<(), CallError> {
        host::object_rename(self.handle(), name, outer.handle())
    }

    /// Requests a collection of unreferenced objects. The collection never runs inside a call, so it runs at the next safe point.
    ///
    /// # Errors
    /// `UNAVAILABLE`, which reports the postponement; `DURING_REBUILD` before the commit of a load or reload.
    pub fn collect_garbage(&self) -> Result<(), CallError> {
        host::collect_garbage()
    }

    /// Creates an object of class `T` inside `outer`, or inside the world's package if `outer` is none.
    ///
    /// # Errors
    /// The failed step of the construction; `DURING_REBUILD` before the commit of a load or reload.
    pub fn spawn<T: Class>(&self, outer: Obj<Object>) -> Result<Obj<T>, CallError> {
        host::spawn(T::id(), outer.handle()).map(Obj::from_handle)
    }

    /// Destroys this object immediately. The rest of the running call may still read it.
    ///
    /// # Errors
    /// `STALE` if the object is destroyed already; `DURING_REBUILD` before the commit of a load or reload.
    pub fn destroy(&self) -> Result<(), CallError> {
        host::destroy(self.handle())
    }
}

impl<C: Class> Obj<C> {
    /// Returns true if the object is destroyed or the handle is none. `this` is any object of the running call.
    #[must_use]
    pub fn is_expired(self, this: &ObjectView<'_>) -> bool {
        self.is_none() || this.get(self.as_object()).is_err()
    }

    /// Returns the object as one of its base class, for a parameter or property of that type.
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
