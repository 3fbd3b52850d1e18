//! Class members for glue code. Each access first checks that the object is of the expected class or of a derived class. The member is then
//! resolved by name, once per class.

use std::marker::PhantomData;
use std::rc::{Rc, Weak};

use crate::boundary::{CallError, mismatch, not_found};
use crate::bridge::call_cache::{CallCache, is_plain};
use crate::bridge::calls::{Dispatch, wrong_class};
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::cells::RefCell;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::failing;
use crate::object::World;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::host_value::HostValue;
use crate::object::member::{FunctionKey, FunctionRef, PropertyKey, PropertyRef};
use crate::object::native_value::{NativeParams, NativeResult, ValueParams, signature_of};
use crate::object::value::Value;
use crate::runtime::Runtime;

/// Class that the glue expects, and the last object class that passed the check.
#[derive(Debug)]
struct Meant {
    path: &'static str,
    seen: RefCell<Weak<Class>>,
}

impl Meant {
    fn new(path: &'static str) -> Self {
        Self { path, seen: RefCell::default() }
    }

    /// Returns the class of the object. The flag is `true` if this class differs from the last checked class.
    fn of(&self, world: &World, object: ObjectHandle) -> Result<(Rc<Class>, bool), CallError> {
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        // Comparing addresses is sufficient: while the weak reference in `seen` exists, the allocator cannot reuse the memory of this
        // class.
        if std::ptr::eq(self.seen.borrow().as_ptr(), Rc::as_ptr(&class)) {
            return Ok((class, false));
        }
        is_meant(world, object, &class, self.path)?;
        Ok((class, true))
    }

    fn is_seen(&self, class: &Rc<Class>) {
        *self.seen.borrow_mut() = Rc::downgrade(class);
    }

    /// Checks that the object has the class, and the class the member `name`. After a successful check, caches the class.
    fn check(
        &self,
        runtime: &Runtime,
        object: ObjectHandle,
        name: &str,
        has: impl FnOnce(&Rc<Class>) -> bool,
    ) -> Result<(), CallError> {
        let (class, is_new) = self.of(&runtime.core().world, object)?;
        if !has(&class) {
            return Err(missing(&class, name));
        }
        if is_new {
            self.is_seen(&class);
        }
        Ok(())
    }
}

/// Checks that an object is of the class with this path, or of a derived class.
///
/// # Errors
/// Returns [`CallError::WrongClass`], or [`CallError::Unavailable`] if the object is dormant because no module declares its class.
pub(super) fn is_meant(world: &World, object: ObjectHandle, class: &Class, path: &str) -> Result<(), CallError> {
    if world.types.class_by_path(path).is_some_and(|meant| class.is_a(&meant)) {
        return Ok(());
    }
    if let Some(waits_for) = world.objects.waits_for(object) {
        return Err(CallError::Unavailable { what: format!("the class {waits_for} of object {object}") });
    }
    Err(wrong_class(String::new(), object, class, path))
}

/// Returns the error for a member that the glue has, and the class lacks.
#[cold]
pub(super) fn missing(class: &Class, name: &str) -> CallError {
    not_found(format!("{} has no member {name}: write the glue of the host again", class.path))
}

/// A property of a class.
#[derive(Debug)]
pub struct PropertyOf {
    meant: Meant,
    key: PropertyRef,
}

impl PropertyOf {
    /// Creates a reference to a property by class path and property name.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self { meant: Meant::new(class), key: PropertyRef::new(name) }
    }

    fn check(&self, runtime: &Runtime, object: ObjectHandle) -> Result<(), CallError> {
        self.meant.check(runtime, object, (&self.key).name(), |class| (&self.key).find(class).is_some())
    }

    /// Reads the property.
    ///
    /// # Errors
    /// Fails if the object is destroyed or dormant, or is not of the expected class. Fails if the class has no property with this name and
    /// type.
    pub fn get<T: HostValue>(&self, runtime: &Runtime, object: ObjectHandle) -> Result<T, Error> {
        // The property reference caches only classes that have passed `Self::check`.
        let raw = match runtime.core().world.get_cached(object, &self.key) {
            Some(raw) => raw,
            None => {
                self.check(runtime, object)?;
                runtime.world().get(object, &self.key)?
            }
        };
        // If the property contains an enum value without an entry, `failing` returns the error of the conversion.
        Ok(failing(|| Ok(T::from_raw(raw)))?)
    }

    /// Writes the property.
    ///
    /// # Errors
    /// Returns the errors of [`PropertyOf::get`], and an error while writes are not allowed.
    pub fn set<T: HostValue>(&self, runtime: &Runtime, object: ObjectHandle, value: T) -> Result<(), Error> {
        match runtime.core().world.set_cached(object, &self.key, value.into_raw()) {
            Ok(()) => Ok(()),
            Err(value) => {
                self.check(runtime, object)?;
                Ok(runtime.world().set(object, &self.key, value)?)
            }
        }
    }

    /// Reads the property as a [`Value`].
    ///
    /// # Errors
    /// Returns the errors of [`PropertyOf::get`].
    pub fn read(&self, runtime: &Runtime, object: ObjectHandle) -> Result<Value, Error> {
        self.check(runtime, object)?;
        runtime.objects().get(object, &self.key)
    }

    /// Writes the property as a [`Value`].
    ///
    /// # Errors
    /// Returns the errors of [`PropertyOf::set`].
    pub fn write(&self, runtime: &Runtime, object: ObjectHandle, value: &Value) -> Result<(), Error> {
        self.check(runtime, object)?;
        runtime.objects().set(object, &self.key, value)
    }
}

/// A function of a class, with the Rust types of its parameters and result.
#[derive(Debug)]
pub struct FunctionOf<A, R> {
    meant: Meant,
    key: FunctionRef,
    cache: CallCache,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> FunctionOf<A, R> {
    /// Creates a reference to a function by class path and function name.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self { meant: Meant::new(class), key: FunctionRef::new(name), cache: CallCache::default(), of: PhantomData }
    }
}

impl<A: ValueParams, R: NativeResult> FunctionOf<A, R> {
    /// Calls the function, or its override in the class of the object.
    ///
    /// # Errors
    /// Fails if the object is destroyed or dormant, or is not of the expected class. Fails if the class has no function with this name and
    /// signature, or if the function returns an error.
    #[inline]
    pub fn call(&self, runtime: &Runtime, object: ObjectHandle, arguments: A) -> Result<R, Error> {
        let core = runtime.core();
        if !(const { is_plain::<A, R>() } && self.cache.has_target(&core.fast_paths, object)) {
            let done = self.call_with_out_parameters(runtime, object, arguments);
            if const { is_plain::<A, R>() } && self.cache.may_resolve(&core.fast_paths, object) {
                self.resolve(core, object);
            }
            return done;
        }
        // The conversion of a user-defined type may fail for an argument or the result. `failing` returns this error.
        Ok(failing(|| {
            let clean_up = |height| core.red.clean_up(height);
            let again = || self.function::<A>(runtime, object);
            self.cache.call_typed((&core.fast_paths, &core.world), object, arguments, clean_up, again)
        })?)
    }

    /// Fills the call cache for the class of this object.
    #[cold]
    fn resolve(&self, core: &Core, object: ObjectHandle) {
        let Some(class) = core.world.objects.class(object) else { return };
        let is_meant = is_meant(&core.world, object, &class, self.meant.path).is_ok();
        let expected = signature_of::<A, R>().map(|expected| expected.to_string());
        let is_right = |function: &Rc<Function>| {
            is_meant && expected.as_ref().is_ok_and(|expected| function.signature_text() == expected)
        };
        let found = (&self.key).find(&class).filter(is_right);
        let method = found.map(|function| MethodCall::new(&function, Dispatch::Virtual));
        self.cache.resolve(core, method.as_ref(), object);
    }
}

impl<A, R: NativeResult> FunctionOf<A, R> {
    /// Checks the class of the object, and returns the function of that class.
    fn function<B: NativeParams>(&self, runtime: &Runtime, object: ObjectHandle) -> Result<Rc<Function>, CallError> {
        let (class, is_new) = self.meant.of(&runtime.core().world, object)?;
        let function = (&self.key).find(&class).ok_or_else(|| missing(&class, (&self.key).name()))?;
        if is_new {
            let expected = signature_of::<B, R>()?.to_string();
            if function.signature_text() != expected {
                return Err(mismatch(&function.path, &function.signature_text(), &expected));
            }
            self.meant.is_seen(&class);
        }
        Ok(function)
    }

    /// Calls a function that has `out` parameters.
    ///
    /// # Errors
    /// Returns the errors of [`FunctionOf::call`].
    pub fn call_with_out_parameters<B: NativeParams>(
        &self,
        runtime: &Runtime,
        object: ObjectHandle,
        arguments: B,
    ) -> Result<R, Error> {
        // Checks the signature before the call, because the effects of a call cannot be undone.
        let _there = self.function::<B>(runtime, object)?;
        let world = &runtime.core().world;
        Ok(failing(|| world.call_typed(object, &self.key, None, arguments))?)
    }
}

/// A function of a class that is called with [`Value`]s instead of Rust types.
#[derive(Debug)]
pub struct DynamicFunctionOf {
    meant: Meant,
    key: FunctionRef,
}

impl DynamicFunctionOf {
    /// Creates a reference to a function by class path and function name.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self { meant: Meant::new(class), key: FunctionRef::new(name) }
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Returns the errors of [`FunctionOf::call`].
    pub fn call(&self, runtime: &Runtime, object: ObjectHandle, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let has = |class: &Rc<Class>| (&self.key).find(class).is_some();
        self.meant.check(runtime, object, (&self.key).name(), has)?;
        runtime.objects().call(object, &self.key, arguments)
    }
}
