//! A member of a class, as glue names it: looked up by name once for each class that it is used with, after it was seen that the
//! class is the one that the glue means, or extends it.

use std::marker::PhantomData;
use std::rc::{Rc, Weak};

use crate::border::CallError;
use crate::bridge::calls::Dispatch;
use crate::bridge::core::Core;
use crate::bridge::direct::MethodCall;
use crate::bridge::method_ways::{MethodWays, is_plain};
use crate::cells::RefCell;
use crate::error::Error;
use crate::handles::ObjectHandle;
use crate::native::failing;
use crate::object::World;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::host_value::HostValue;
use crate::object::member::{FunctionKey, FunctionRef, PropertyRef};
use crate::object::native_value::{NativeParams, NativeResult, ValueParams, signature_of};
use crate::object::value::Value;
use crate::runtime::Runtime;

/// The class that glue means, and the one that was last found to be it.
#[derive(Debug)]
struct Meant {
    path: &'static str,
    seen: RefCell<Weak<Class>>,
}

impl Meant {
    fn new(path: &'static str) -> Self {
        Self { path, seen: RefCell::default() }
    }

    /// The class of the object; whether it is another one than the last time.
    fn of(&self, world: &World, object: ObjectHandle) -> Result<(Rc<Class>, bool), CallError> {
        let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        // The memory of a class is not reused while anything refers to it, even weakly.
        if std::ptr::eq(self.seen.borrow().as_ptr(), Rc::as_ptr(&class)) {
            return Ok((class, false));
        }
        is_meant(world, object, &class, self.path)?;
        Ok((class, true))
    }

    fn is_seen(&self, class: &Rc<Class>) {
        *self.seen.borrow_mut() = Rc::downgrade(class);
    }
}

/// Whether an object is of the class of that path, or of one that extends it.
///
/// # Errors
/// [`CallError::WrongClass`], or [`CallError::Unavailable`] while the object sleeps because no module declares its class.
pub(super) fn is_meant(world: &World, object: ObjectHandle, class: &Class, path: &str) -> Result<(), CallError> {
    if world.types.class_by_path(path).is_some_and(|meant| class.is_a(&meant)) {
        return Ok(());
    }
    if let Some(waits_for) = world.objects.waits_for(object) {
        return Err(CallError::Unavailable { what: format!("the class {waits_for} of object {object}") });
    }
    let (place, found, wanted) = (String::new(), class.path.to_string(), path.to_owned());
    Err(CallError::WrongClass { place, handle: object, found, wanted })
}

/// A property of a class.
#[derive(Debug)]
pub struct PropertyOf {
    meant: Meant,
    key: PropertyRef,
}

impl PropertyOf {
    /// The property of that name of the class at that path.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self { meant: Meant::new(class), key: PropertyRef::new(name) }
    }

    fn see(&self, runtime: &Runtime, object: ObjectHandle) -> Result<(), CallError> {
        let (class, is_new) = self.meant.of(&runtime.core().world, object)?;
        if is_new {
            self.meant.is_seen(&class);
        }
        Ok(())
    }

    /// Reads it.
    ///
    /// # Errors
    /// When the object is gone, sleeps or is of another class, or the property is not there or of another type.
    pub fn get<T: HostValue>(&self, runtime: &Runtime, object: ObjectHandle) -> Result<T, Error> {
        // The reference remembers a class only after it was seen here.
        let raw = match runtime.core().world.get_known(object, &self.key) {
            Some(raw) => raw,
            None => {
                self.see(runtime, object)?;
                runtime.world().get(object, &self.key)?
            }
        };
        // A number that no entry of an enum has is an error of this reading.
        Ok(failing(|| Ok(T::from_raw(raw)))?)
    }

    /// Writes it.
    ///
    /// # Errors
    /// As [`PropertyOf::get`], and while it may not be written.
    pub fn set<T: HostValue>(&self, runtime: &Runtime, object: ObjectHandle, value: T) -> Result<(), Error> {
        match runtime.core().world.set_known(object, &self.key, value.into_raw()) {
            Ok(()) => Ok(()),
            Err(value) => {
                self.see(runtime, object)?;
                Ok(runtime.world().set(object, &self.key, value)?)
            }
        }
    }

    /// Reads it, whatever its type.
    ///
    /// # Errors
    /// As [`PropertyOf::get`].
    pub fn read(&self, runtime: &Runtime, object: ObjectHandle) -> Result<Value, Error> {
        self.see(runtime, object)?;
        runtime.objects().get(object, &self.key)
    }

    /// Writes it, whatever its type.
    ///
    /// # Errors
    /// As [`PropertyOf::set`].
    pub fn write(&self, runtime: &Runtime, object: ObjectHandle, value: &Value) -> Result<(), Error> {
        self.see(runtime, object)?;
        runtime.objects().set(object, &self.key, value)
    }
}

/// A function of a class, by the Rust types of its parameters and result.
#[derive(Debug)]
pub struct FunctionOf<A, R> {
    meant: Meant,
    key: FunctionRef,
    ways: MethodWays,
    of: PhantomData<fn(A) -> R>,
}

impl<A, R> FunctionOf<A, R> {
    /// The function of that name of the class at that path.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self { meant: Meant::new(class), key: FunctionRef::new(name), ways: MethodWays::default(), of: PhantomData }
    }
}

impl<A: ValueParams, R: NativeResult> FunctionOf<A, R> {
    /// Calls it; an override answers.
    ///
    /// # Errors
    /// When the object is gone, sleeps or is of another class, the function is not there or has another signature, and whatever its
    /// body fails with.
    #[inline]
    pub fn call(&self, runtime: &Runtime, object: ObjectHandle, arguments: A) -> Result<R, Error> {
        let core = runtime.core();
        if !(const { is_plain::<A, R>() } && self.ways.have(&core.ways, object)) {
            let done = self.call_with_outs(runtime, object, arguments);
            if const { is_plain::<A, R>() } && self.ways.are_worth_a_look(&core.ways, object) {
                self.look(core, object);
            }
            return done;
        }
        // A type may end the making of an argument, or the reading of what it does not take.
        Ok(failing(|| {
            let settle = |lent| core.red.settle(lent);
            let again = || self.function::<A>(runtime, object);
            self.ways.call_typed((&core.ways, &core.world), object, arguments, settle, again)
        })?)
    }

    /// Notes the short way for objects of the class of this one.
    #[cold]
    fn look(&self, core: &Core, object: ObjectHandle) {
        let Some(class) = core.world.objects.class(object) else { return };
        let is_meant = is_meant(&core.world, object, &class, self.meant.path).is_ok();
        let wanted = signature_of::<A, R>().map(|wanted| wanted.to_string());
        let is_right =
            |function: &Rc<Function>| is_meant && wanted.as_ref().is_ok_and(|wanted| function.words() == wanted);
        let found = (&self.key).find(&class).filter(is_right);
        let method = found.map(|function| MethodCall::new(&function, Dispatch::Virtual));
        self.ways.look(core, method.as_ref(), object);
    }
}

impl<A, R: NativeResult> FunctionOf<A, R> {
    /// The function of the object's class, after it was seen that it is the one that the glue means.
    fn function<B: NativeParams>(&self, runtime: &Runtime, object: ObjectHandle) -> Result<Rc<Function>, CallError> {
        let (class, is_new) = self.meant.of(&runtime.core().world, object)?;
        let missing = || CallError::NotFound {
            message: format!("{} has no function {}: write the glue of the host again", class.path, (&self.key).name()),
        };
        let function = (&self.key).find(&class).ok_or_else(missing)?;
        if is_new {
            let wanted = signature_of::<B, R>()?.to_string();
            if function.words() != wanted {
                let (name, found) = (function.path.to_string(), function.words().to_owned());
                return Err(CallError::Signature { name, found, wanted });
            }
            self.meant.is_seen(&class);
        }
        Ok(function)
    }

    /// Calls it with parameters that may come back.
    ///
    /// # Errors
    /// As [`FunctionOf::call`].
    pub fn call_with_outs<B: NativeParams>(
        &self,
        runtime: &Runtime,
        object: ObjectHandle,
        arguments: B,
    ) -> Result<R, Error> {
        // Before the call: what a call has done cannot be taken back.
        let _there = self.function::<B>(runtime, object)?;
        let world = &runtime.core().world;
        Ok(failing(|| world.call_typed(object, &self.key, None, arguments))?)
    }
}

/// A function of a class that is called with values.
#[derive(Debug)]
pub struct DynamicFunctionOf {
    meant: Meant,
    key: FunctionRef,
}

impl DynamicFunctionOf {
    /// The function of that name of the class at that path.
    pub fn new(class: &'static str, name: &str) -> Self {
        Self { meant: Meant::new(class), key: FunctionRef::new(name) }
    }

    /// Calls it.
    ///
    /// # Errors
    /// As [`FunctionOf::call`].
    pub fn call(&self, runtime: &Runtime, object: ObjectHandle, arguments: &[Value]) -> Result<Option<Value>, Error> {
        let (class, is_new) = self.meant.of(&runtime.core().world, object)?;
        if is_new {
            self.meant.is_seen(&class);
        }
        runtime.objects().call(object, &self.key, arguments)
    }
}
