//! The root of all classes, and what can be done with any object.

use alcedo_abi::handles::ObjectHandle;

use crate::signature::{Params, ReturnValue};
use crate::{AnyArguments, AnyResult, CallError, Class, Kind, Lent, Obj, This, Value, any_call, host, zcall};

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

    /// A value that plugin code owns, for use in the running call. Of one that has ended, with its generation for instance,
    /// every use is the error `EXPIRED`.
    ///
    /// ```no_run
    /// # use alcedo_plugin_api::prelude::*;
    /// # struct Part { scores: UArray<f64> }
    /// # impl Part { fn show(&self, this: This<'_, Object>) {
    /// this.open(&self.scores).push(12.5);
    /// # } }
    /// ```
    #[must_use]
    pub fn open<'a, K: Kind>(&'a self, value: &'a K) -> Lent<'a, K> {
        Lent::of_owned(self, value.owned())
    }

    /// Its path, by which soft references name it; empty when the object is gone.
    #[must_use]
    pub fn path(&self) -> String {
        host::values::object_path(self.handle())
    }

    /// Gives the object another name, another outer, or both.
    ///
    /// # Errors
    /// When the outer has another object of that name, or lies inside of this one; `STALE`; `DURING_REBUILD`.
    pub fn rename(&self, name: &str, outer: Obj<Object>) -> Result<(), CallError> {
        host::values::object_rename(self.handle(), name, outer.handle())
    }

    /// Requests a collection of objects that nothing refers to. It is never done inside a call, which this one is: it
    /// comes at the next safe point.
    ///
    /// # Errors
    /// `UNAVAILABLE`, which says just that; `DURING_REBUILD` before the commit of what comes up.
    pub fn collect_garbage(&self) -> Result<(), CallError> {
        host::values::collect_garbage()
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

    /// Calls whatever `name` stands for: `ex:/function`, `uf:/path` (virtual) or `uf!:/path` (final) on this object,
    /// `nm:/module:type:method`. The name is looked up in each call; a generated method is faster.
    ///
    /// # Errors
    /// `NOT_FOUND` for a name that leads nowhere, `SIGNATURE` when it takes or gives something else, `DURING_REBUILD`
    /// before the commit for what is neither of this generation nor pure, and whatever the callee fails with.
    pub fn zcall<A: Params, R: ReturnValue>(&self, name: &str, args: A) -> Result<R, CallError> {
        zcall::by_name(self.handle(), name, args)
    }

    /// The same for who does not know the types of what it passes: plain values and objects as they are, everything else as
    /// an [`AnyConjugate`](crate::AnyConjugate), also as the result, which is this module's own then. Conjugates go in as
    /// copies. A property is read by `up:/…` with its object and `0_u8`, and written with `1_u8` and the value.
    ///
    /// # Errors
    /// `EXPIRED`, with kind and age, for a conjugate that leads nowhere any more; `BUFFER` when the arguments are others than
    /// the callee takes, `SIGNATURE` when it gives something else; `NOT_FOUND`, and whatever the callee fails with.
    pub fn zcall_any<A: AnyArguments, R: AnyResult>(&self, name: &str, args: A) -> Result<R, CallError> {
        any_call::by_name(self.handle(), name, &args)
    }

    /// Reads a property by path, as `up:/Script/Engine.Actor:seed`.
    ///
    /// # Errors
    /// `NOT_FOUND` for an unknown path, `SIGNATURE` when the property holds something else.
    pub fn read_property<T: Value>(&self, name: &str) -> Result<T, CallError> {
        zcall::read_property(self.handle(), name)
    }

    /// Writes a property by path.
    ///
    /// # Errors
    /// As [`Self::read_property`], and `DURING_REBUILD` before the commit, for objects that are not being built.
    pub fn write_property<T: Value>(&self, name: &str, value: &T) -> Result<(), CallError> {
        zcall::write_property(self.handle(), name, value)
    }
}
