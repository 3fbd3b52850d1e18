//! Handles of class members, for classes that are declared at run time. The declaration of a member returns a handle. Function bodies
//! capture clones of this handle instead of the member name. A handle resolves its name once per class.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use crate::boundary::CallError;
use crate::callback::Guarded;
use crate::handles::ObjectHandle;
use crate::kinds::function_flags;
use crate::native::failing::failing;
use crate::native::{NativeClass, NativeType, property};
use crate::object;
use crate::object::decl::{FunctionDecl, PropertyDecl};
use crate::object::member::{FunctionKey, FunctionRef, PropertyKey, PropertyRef};
use crate::object::native_value::{NativeParams, NativeResult, NativeValue, ValueParams};
use crate::object::natives::{World, core_of};
use crate::object::thunk::{Frame, Thunk, idle};
use crate::object::typed::FrameValue;
use crate::object::value::Value;

/// Handle of a property of a class that is declared at run time. `T` is the Rust type of the property. Valid for objects of the class and
/// of derived classes, in the runtime that was built with the declaration. A clone refers to the same property. Keeps no class alive. Game
/// thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::native::{NativeClass, Natives};
///
/// let mut lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
/// let gain = lamp.add_property::<f64>("gain", 0, "2.5");
/// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
/// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
/// gain.set(runtime.world(), lamp, gain.get(runtime.world(), lamp)? * 2.0)?;
/// assert_eq!(gain.get(runtime.world(), lamp)?, 5.0);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct PropertyHandle<T> {
    of: AnyPropertyHandle,
    values: PhantomData<fn(T) -> T>,
}

/// Handle like [`PropertyHandle`], for a property whose type has no Rust type in the host.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::kinds::PropertyKind;
/// use alcedo_runtime::native::{NativeClass, Natives};
/// use alcedo_runtime::{CallError, Runtime, Value};
///
/// let mut lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
/// let gain = lamp.add_any_property("gain", (PropertyKind::F64, ""), 0, "2.5");
/// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
/// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
/// assert_eq!(gain.read(runtime.world(), lamp)?, Value::F64(2.5));
/// assert_eq!(gain.get::<f64>(runtime.world(), lamp)?, 2.5);
/// // Reading the property as a different type is an error.
/// assert!(matches!(gain.get::<u32>(runtime.world(), lamp), Err(CallError::Signature { .. })));
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyPropertyHandle {
    class: Rc<str>,
    key: PropertyRef,
}

/// Handle of a function of a class that is declared at run time, with the Rust types of parameters and result. Valid for objects of the
/// class and of derived classes. Game thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::native::{NativeClass, Natives};
///
/// let mut lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
/// let dimmed = lamp.add_function("dimmed", &["gain"], 0, |_world, _lamp, (gain,): (f64,)| Ok(gain * 0.5));
/// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
/// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
/// assert_eq!(dimmed.call(runtime.world(), lamp, (3.0,))?, 1.5);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
pub struct FunctionHandle<A, R> {
    class: Rc<str>,
    key: FunctionRef,
    types: PhantomData<fn(A) -> R>,
}

impl<T: NativeValue> PropertyHandle<T> {
    /// Reads the property.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object is destroyed, and [`CallError::WrongClass`] if the object is not of the class that
    /// declares the property.
    #[inline]
    pub fn get(&self, world: &World, object: ObjectHandle) -> Result<T, CallError> {
        let raw = self.of.get(world, object)?;
        // `from_raw` unwinds with an error if an enum value has no entry.
        failing(|| Ok(T::from_raw(raw)))
    }

    /// Overwrites the property.
    ///
    /// # Errors
    /// Returns the errors of [`PropertyHandle::get`]. Returns [`CallError::WrongClass`] if the value is an object of a class that the
    /// property does not accept. Returns [`CallError::DuringRebuild`] if a reload in progress could not undo the write.
    #[inline]
    pub fn set(&self, world: &World, object: ObjectHandle, value: T) -> Result<(), CallError> {
        self.of.set(world, object, value.into_raw())
    }
}

impl AnyPropertyHandle {
    /// Reads the property as a Rust type with the memory layout of the property, such as [`ObjectHandle`] for an object reference.
    ///
    /// # Errors
    /// Returns the errors of [`PropertyHandle::get`], and [`CallError::Signature`] if the property has a different type.
    #[inline]
    pub fn get<T: FrameValue>(&self, world: &World, object: ObjectHandle) -> Result<T, CallError> {
        world.get(object, &self.key).map_err(|error| self.explained(world, object, error))
    }

    /// Overwrites the property from a Rust type with the memory layout of the property.
    ///
    /// # Errors
    /// Returns the errors of [`PropertyHandle::set`], and [`CallError::Signature`] if the property has a different type.
    #[inline]
    pub fn set<T: FrameValue>(&self, world: &World, object: ObjectHandle, value: T) -> Result<(), CallError> {
        world.set(object, &self.key, value).map_err(|error| self.explained(world, object, error))
    }

    /// Reads the property as a [`Value`].
    ///
    /// # Errors
    /// Returns the errors of [`PropertyHandle::get`].
    pub fn read(&self, world: &World, object: ObjectHandle) -> Result<Value, CallError> {
        world.read(object, &self.key).map_err(|error| self.explained(world, object, error))
    }

    /// Overwrites the property with a [`Value`].
    ///
    /// # Errors
    /// Returns the errors of [`PropertyHandle::set`], and [`CallError::Signature`] if the property has a different type.
    pub fn write(&self, world: &World, object: ObjectHandle, value: &Value) -> Result<(), CallError> {
        world.write(object, &self.key, value).map_err(|error| self.explained(world, object, error))
    }

    #[cold]
    fn explained(&self, world: &World, object: ObjectHandle, error: CallError) -> CallError {
        explained(world, object, &self.class, (&self.key).name(), error)
    }
}

impl<A: NativeParams, R: NativeResult> FunctionHandle<A, R> {
    /// Calls the most-derived body of the function.
    ///
    /// # Errors
    /// Returns [`CallError::Stale`] if the object is destroyed. Returns [`CallError::WrongClass`] if the object is not of the class that
    /// declares the function. If the function fails, returns the error of the function.
    pub fn call(&self, world: &World, object: ObjectHandle, arguments: A) -> Result<R, CallError> {
        let called = failing(|| core_of(world).call_typed(object, &self.key, None, arguments));
        called.map_err(|error| explained(world, object, &self.class, (&self.key).name(), error))
    }
}

/// Converts the error for a missing member to [`CallError::WrongClass`] if the object is not of the class `class`. Returns any other error
/// unchanged.
fn explained(world: &World, object: ObjectHandle, class: &str, member: &str, error: CallError) -> CallError {
    let is_foreign = matches!(error, CallError::NotFound { .. }) && !world.is_a(object, class);
    match world.class_of(object).filter(|_| is_foreign) {
        Some(found) => {
            let place = format!("{class}:{member}");
            CallError::WrongClass { place, handle: object, found, expected: class.to_owned() }
        }
        None => error,
    }
}

impl NativeClass {
    /// Adds a property with a Rust type, and returns a handle. Function bodies access the property through this handle. `flags` are bits of
    /// `property_flags`. `default` is parsed as a value of the property's kind. An empty string means zero.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let mut lamp = NativeClass::new("Engine", "Lamp", "/Script/Core.Object");
    /// let gain = lamp.add_property::<f64>("gain", 0, "2.5");
    /// let _louder = lamp.add_function("louder", &["by"], 0, move |world, lamp, (by,): (f64,)| {
    ///     let louder = gain.get(world, lamp)? * by;
    ///     gain.set(world, lamp, louder)?;
    ///     Ok(louder)
    /// });
    /// let runtime = Runtime::builder().natives(Natives::in_package("Engine").class(lamp)).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Engine.Lamp")?;
    /// let louder = runtime.objects().call(lamp, "louder", &[alcedo_runtime::Value::F64(2.0)])?;
    /// assert_eq!(louder, Some(alcedo_runtime::Value::F64(5.0)));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "function bodies access the property by this handle; `property` declares a property without a handle"]
    pub fn add_property<T: NativeValue>(&mut self, name: &str, flags: u64, default: &str) -> PropertyHandle<T> {
        let of = self.push_property(T::declared(name).with_flags(flags).with_default(default));
        PropertyHandle { of, values: PhantomData }
    }

    /// Adds a property whose type has no Rust type in the host.
    #[must_use = "function bodies access the property by this handle; `property` declares a property without a handle"]
    pub fn add_any_property(
        &mut self,
        name: &str,
        (kind, type_path): NativeType,
        flags: u64,
        default: &str,
    ) -> AnyPropertyHandle {
        self.push_property(property(name, kind, type_path, flags, default))
    }

    /// Adds a function with a native body. Parameters and result have the Rust types of the body. `params` contains the parameter names.
    pub fn add_function<A: ValueParams, R: NativeResult>(
        &mut self,
        name: &str,
        params: &[&str],
        flags: u64,
        body: impl Fn(&World, ObjectHandle, A) -> Result<R, CallError> + 'static,
    ) -> FunctionHandle<A, R> {
        let body = Guarded::new(body);
        let thunk = move |context: object::hooks::HookContext<'_>, frame: &mut Frame<'_>| {
            let (arguments, _nothing_comes_back) = A::take(frame)?;
            frame.finish()?;
            failing(|| body(object::World::of(context), frame.object(), arguments))?.give(frame)
        };
        self.push_function(name, params, flags, Rc::new(thunk))
    }

    /// Adds an event that derived classes can override, and returns a handle. Function bodies call the event through this handle. The
    /// default body does nothing.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let mut lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
    /// let switched = lamp.add_event::<(bool,)>("switched", &["is_on"]);
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).build()?;
    /// let lamp = runtime.objects().spawn("/Script/Game.Lamp")?;
    /// // Plugins may override the event. Here the default body runs.
    /// switched.call(runtime.world(), lamp, (true,))?;
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn add_event<A: ValueParams>(&mut self, name: &str, params: &[&str]) -> FunctionHandle<A, ()> {
        self.push_function(name, params, function_flags::NATIVE_EVENT, idle())
    }

    fn push_property(&mut self, declared: PropertyDecl) -> AnyPropertyHandle {
        let class = self.path();
        let key = PropertyRef::of_class(&class, &declared.name);
        self.0.properties.push(declared);
        AnyPropertyHandle { class, key }
    }

    fn push_function<A: NativeParams, R: NativeResult>(
        &mut self,
        name: &str,
        params: &[&str],
        flags: u64,
        thunk: Thunk,
    ) -> FunctionHandle<A, R> {
        let class = self.path();
        let params = A::declared(params).into_iter().chain(R::declared()).collect();
        self.0.functions.push(FunctionDecl { flags, params, ..FunctionDecl::new(name, thunk) });
        FunctionHandle { key: FunctionRef::of_class(&class, name), class, types: PhantomData }
    }

    fn path(&self) -> Rc<str> {
        self.0.path().into()
    }
}

impl<T> Clone for PropertyHandle<T> {
    fn clone(&self) -> Self {
        Self { of: self.of.clone(), values: PhantomData }
    }
}

impl<A, R> Clone for FunctionHandle<A, R> {
    fn clone(&self) -> Self {
        Self { class: Rc::clone(&self.class), key: self.key.clone(), types: PhantomData }
    }
}

impl<T> fmt::Debug for PropertyHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of.fmt(f)
    }
}

impl fmt::Debug for AnyPropertyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.class, (&self.key).name())
    }
}

impl<A, R> fmt::Debug for FunctionHandle<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.class, (&self.key).name())
    }
}
