//! Delegate property of an object, with the Rust types of its signature.

use std::fmt;
use std::marker::PhantomData;

use super::closures::{CALL, Listener};
use super::member::{is_meant, missing};
use crate::boundary::{CallError, mismatch};
use crate::bridge::core::Core;
use crate::bridge::delegates;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::{Class, Obj};
use crate::object::World;
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::object::property::PropertyType;
use crate::object::value::Binding;
use crate::runtime::Runtime;

/// A single, multicast or sparse delegate property of an object. Glue code returns this type. Each use checks the signature. Game thread
/// only.
///
/// # Examples
/// ```rust
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// use alcedo_runtime::native::{MulticastDelegate, uclass};
/// use alcedo_runtime::{Runtime, natives};
///
/// #[uclass(package = "Game")]
/// #[derive(Default)]
/// struct Bell {
///     #[uproperty]
///     on_rung: MulticastDelegate<fn(u32)>,
/// }
///
/// let runtime = Runtime::builder().natives(natives![Bell]).build()?;
/// let bell = runtime.objects().spawn_as::<Bell>()?;
/// let on_rung = runtime.objects().with(bell, |bell| bell.on_rung().detach())?;
/// let received = Rc::new(Cell::new(0));
/// let sum = Rc::clone(&received);
/// let listener = on_rung.listen(&runtime, move |_, (times,)| {
///     sum.set(sum.get() + times);
///     Ok(())
/// })?;
/// on_rung.call(&runtime, (3,))?;
/// drop(listener);
/// on_rung.call(&runtime, (5,))?;
/// assert_eq!(received.get(), 3);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct DelegateOf<A, R> {
    object: ObjectHandle,
    class: &'static str,
    name: &'static str,
    of: PhantomData<fn(A) -> R>,
}

alcedo_abi::copies! { impl[A, R] DelegateOf<A, R>; }

impl<A, R> fmt::Debug for DelegateOf<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{} of {}", self.class, self.name, self.object)
    }
}

impl<A: ValueParams, R: NativeResult> DelegateOf<A, R> {
    #[doc(hidden)]
    #[must_use]
    pub fn new(class: &'static str, name: &'static str, object: ObjectHandle) -> Self {
        Self { object, class, name, of: PhantomData }
    }

    /// Binds the delegate to a function of an object. A multicast delegate keeps its existing bindings. A duplicate binding is ignored.
    ///
    /// # Errors
    /// Fails if the object of the delegate or `target` is destroyed, or if the function does not exist or has a different signature.
    pub fn bind<D: Class>(&self, runtime: &Runtime, target: Obj<D>, function: &str) -> Result<(), Error> {
        self.check(runtime)?;
        runtime.links().bind(self.object, self.name, target.handle(), function)
    }

    /// Removes the bindings to a function of an object. Returns the number of removed bindings. With an empty function name, removes all
    /// bindings to the object.
    ///
    /// # Errors
    /// Fails if the object of the delegate is destroyed or cannot currently be written.
    pub fn unbind<D: Class>(&self, runtime: &Runtime, target: Obj<D>, function: &str) -> Result<u32, Error> {
        self.check(runtime)?;
        if target.is_none() {
            return Ok(0);
        }
        runtime.links().unbind(self.object, self.name, target.handle(), function)
    }

    /// Binds the delegate to a closure of the host until the returned [`Listener`] is dropped. A call of the delegate runs the closure on
    /// the game thread before the call returns. The binding survives reloads. While a struct of the signature has other fields than at the
    /// binding, a call of the closure fails with [`CallError::Signature`]. A saved world does not contain the binding.
    ///
    /// # Errors
    /// Returns the errors of [`DelegateOf::bind`] and of [`Listener::of`].
    #[track_caller]
    pub fn listen(
        &self,
        runtime: &Runtime,
        closure: impl Fn(&Runtime, A) -> Result<R, CallError> + 'static,
    ) -> Result<Listener, Error> {
        self.check(runtime)?;
        let listener = Listener::of(runtime, closure)?;
        runtime.links().bind(self.object, self.name, listener.object, CALL)?;
        Ok(listener)
    }

    /// Calls the bindings like [`Links::broadcast`](crate::Links::broadcast). Returns the result of a single delegate.
    ///
    /// # Errors
    /// Returns the errors of `broadcast`, and an error if the delegate has a different signature.
    pub fn call(&self, runtime: &Runtime, arguments: A) -> Result<R, Error> {
        self.check(runtime)?;
        Ok(self.call_in(runtime.core(), arguments)?)
    }

    /// Calls the bindings. The class of the object must declare the delegate with these types.
    pub(crate) fn call_in(&self, core: &Core, arguments: A) -> Result<R, CallError> {
        core.delegates.call_by_types(&core.world, (self.object, self.name), &self.ty(&core.world)?, arguments)
    }

    /// Binds the delegate to a function of an object. The class of the object must declare the delegate with these types.
    pub(crate) fn bind_in(&self, core: &Core, target: ObjectHandle, function: &str) -> Result<(), CallError> {
        delegates::bind(&core.world, (self.object, self.name), &self.ty(&core.world)?, target, function)
    }

    /// Removes the bindings to a function of an object. The class of the object must declare the delegate with these types.
    pub(crate) fn unbind_in(&self, core: &Core, target: ObjectHandle, function: &str) -> Result<u32, CallError> {
        delegates::unbind(&core.world, (self.object, self.name), &self.ty(&core.world)?, target, function)
    }

    /// Returns the bindings. The class of the object must declare the delegate with these types.
    pub(crate) fn bindings_in(&self, world: &World) -> Result<Vec<Binding>, CallError> {
        Ok(delegates::bindings(&world.read(self.object, self.name)?).to_vec())
    }

    fn ty(&self, world: &World) -> Result<PropertyType, CallError> {
        let class = world.objects.class(self.object).ok_or(CallError::Stale { handle: self.object })?;
        let found = class.find_property(self.name).ok_or_else(|| missing(&class, self.name))?;
        Ok(found.ty.clone())
    }

    /// Checks that the delegate has the signature of the Rust types.
    fn check(&self, runtime: &Runtime) -> Result<(), Error> {
        let world = &runtime.core().world;
        let class = world.objects.class(self.object).ok_or(CallError::Stale { handle: self.object })?;
        is_meant(world, self.object, &class, self.class)?;
        let ty = self.ty(world)?;
        let (found, expected) = (delegates::signature_of(&ty)?, signature_of::<A, R>()?);
        if found != expected.to_string() {
            let name = format!("{}:{}", self.class, self.name);
            return Err(mismatch(&name, &found, &expected).into());
        }
        Ok(())
    }
}
