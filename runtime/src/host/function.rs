//! Functions that are called by name with Rust types. Name and signature are resolved and checked once per generation.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::zcall::Slot;

use crate::boundary::{CallError, catch_panics, mismatch};
use crate::bridge::call_cache::CallCache;
pub(super) use crate::bridge::call_cache::result_slot;
use crate::bridge::core::Core;
use crate::bridge::delegates::{Types, types_of};
use crate::bridge::direct::MethodCall;
use crate::bridge::dynamic_call;
use crate::bridge::fast_paths::{FastPaths, HotTrampoline, StaticFastPath};
use crate::bridge::uf;
use crate::cells::RefCell;
use crate::epoch::Epoch;
use crate::error::Error;
use crate::handles::{ObjectHandle, ZCallHandle};
use crate::kinds::PropertyKind;
use crate::native::failing;
use crate::object::native_value::{NativeResult, ValueParams, signature_of};
use crate::object::type_text::SignatureText;
use crate::runtime::{Runtime, WeakRuntime};
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::{Callee, Slots};
use crate::zcall::table::KeptHandle;

/// Function that is called by name with Rust types; see [`Runtime::function`]. A call after a reload resolves the name again and runs the
/// new code. Does not keep the runtime alive. Game thread only.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::host::TypedFunction;
///
/// /// Looks its function up once and calls it in each frame.
/// struct Weather {
///     rain: TypedFunction<(f64,), f64>,
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// runtime.calls().register_leaf("host.rain", |(hour,): (f64,)| hour * 0.5)?;
/// let weather = Weather { rain: runtime.function("ex:/host.rain")? };
/// assert_eq!(weather.rain.call((3.0,))?, 1.5);
/// # Ok(())
/// # }
/// ```
pub struct TypedFunction<A, R> {
    runtime: WeakRuntime,
    name: String,
    signature: SignatureText,
    handle: RefCell<Option<KeptHandle>>,
    /// Handle of a table entry; `None` for a function that is called by name. The handle is valid for one generation, so an entry is
    /// resolved only once.
    entry: Cell<Option<ZCallHandle>>,
    /// Set if all arguments and the result fit in call slots. Calls then create no `Value`.
    in_slots: Cell<bool>,
    /// Types of the signature, and the type epoch at which these types were resolved.
    types: RefCell<Option<(u64, Types)>>,
    fast_paths: Rc<FastPaths>,
    /// Epoch for which the call caches below were filled.
    resolved_at: Cell<u64>,
    /// Call cache for a static function.
    fast_path: Cell<Option<StaticFastPath>>,
    /// Resolved method, if the name refers to a method.
    method: RefCell<Option<MethodCall>>,
    /// Call cache for methods, by class.
    methods: CallCache,
    of: PhantomData<fn(A) -> R>,
}

/// Function of a module. The module stays loaded while this value exists; see [`TypedFunction::hot`] and
/// [`ContextEntry::hot`](crate::tables::ContextEntry::hot).
///
/// # Examples
/// ```rust,no_run
/// use alcedo_runtime::Error;
/// use alcedo_runtime::host::TypedFunction;
///
/// /// Adds up the heights of a row of points, without a check for each call.
/// fn sum(height: &TypedFunction<(f64,), f64>, points: &[f64]) -> Result<f64, Error> {
///     height.hot(|height| points.iter().map(|point| height.call((*point,))).sum())?
/// }
/// ```
pub struct HotFunction<'a, A, R> {
    trampoline: &'a HotTrampoline<'a>,
    of: PhantomData<fn(A) -> R>,
}

impl<'a, A, R> HotFunction<'a, A, R> {
    #[inline]
    pub(crate) fn new(trampoline: &'a HotTrampoline<'a>) -> Self {
        Self { trampoline, of: PhantomData }
    }
}

impl<A, R> fmt::Debug for HotFunction<'_, A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function by its pointer")
    }
}

impl<A: ValueParams, R: NativeResult> HotFunction<'_, A, R> {
    /// Calls the function.
    ///
    /// # Errors
    /// Fails if the function panics or returns an error. Returns [`CallError::Borrowed`] while plugin code borrows a slice of host memory.
    #[inline]
    pub fn call(&self, arguments: A) -> Result<R, Error> {
        call_hot(self.trampoline, arguments)
    }
}

#[inline]
pub(crate) fn call_hot<A: ValueParams, R: NativeResult, E: From<CallError>>(
    trampoline: &HotTrampoline<'_>,
    arguments: A,
) -> Result<R, E> {
    let mut slots = arguments.into_slots();
    match trampoline.call(&slots.as_mut()[..A::COUNT]) {
        Some(Ok(bits)) => match R::from_slot(result_slot::<R>(bits)) {
            Some(result) => Ok(result),
            None => Err(other_result("a function by its pointer")),
        },
        Some(Err(error)) => Err((*error).into()),
        None => Err(slice_is_borrowed()),
    }
}

#[cold]
fn slice_is_borrowed<E: From<CallError>>() -> E {
    let message = "a call by a pointer is refused while plugin code holds a slice of host memory".to_owned();
    CallError::Borrowed { message }.into()
}

#[cold]
#[expect(clippy::boxed_local, reason = "callers then contain no code that moves the error")]
fn failure(error: Box<CallError>) -> Error {
    (*error).into()
}

#[cold]
fn other_result<E: From<CallError>>(function: &str) -> E {
    CallError::Buffer { message: format!("{function} returned another result than its signature states") }.into()
}

/// Returns `true` if the Rust types have the value kinds that the signature declares. In this case, slots can contain the values. The kind
/// that a user-defined type declares may differ from the kind of its slots.
pub(super) fn are_as_declared<A: ValueParams, R: NativeResult>(signature: &SignatureText) -> bool {
    let result = signature.result.as_ref().map(|word| word.kind());
    signature.arguments.iter().map(|word| Some(word.kind())).eq(A::KINDS.iter().copied())
        && result == R::VALUE.map(|(kind, _)| kind)
}

impl<A, R> fmt::Debug for TypedFunction<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.name, self.signature)
    }
}

impl Runtime {
    /// Returns a function for calls with Rust types. For a function of an object, the first parameter is the object.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_pure("host.double", "f64 -> f64".parse()?, |_, values| match values {
    ///     [Value::F64(number)] => Ok(Some(Value::F64(number * 2.0))),
    ///     _ => Ok(None),
    /// })?;
    /// let double = runtime.function::<(f64,), f64>("ex:/host.double")?;
    /// assert_eq!(double.call((21.0,))?, 42.0);
    /// assert!(runtime.function::<(String,), f64>("ex:/host.double").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Calls::resolve`](crate::Calls::resolve), and [`CallError::Signature`] if the signatures differ.
    pub fn function<A: ValueParams, R: NativeResult>(&self, name: &str) -> Result<TypedFunction<A, R>, Error> {
        let function = self.unresolved(name)?;
        function.resolve(self)?;
        Ok(function)
    }

    /// Returns an entry from the function table of a Master module. The entry is valid for the current generation.
    pub(crate) fn entry<A: ValueParams, R: NativeResult>(&self, name: &str) -> Result<TypedFunction<A, R>, Error> {
        let function = self.unresolved(name)?;
        function.entry.set(Some(self.calls().resolve(name)?));
        function.resolve(self)?;
        Ok(function)
    }

    fn unresolved<A: ValueParams, R: NativeResult>(&self, name: &str) -> Result<TypedFunction<A, R>, Error> {
        Ok(TypedFunction {
            runtime: self.downgrade(),
            name: name.to_owned(),
            signature: signature_of::<A, R>()?,
            handle: RefCell::new(None),
            entry: Cell::new(None),
            in_slots: Cell::new(false),
            types: RefCell::new(None),
            fast_paths: Rc::clone(&self.core().fast_paths),
            resolved_at: Cell::new(Epoch::NEVER),
            fast_path: Cell::new(None),
            method: RefCell::new(None),
            methods: CallCache::default(),
            of: PhantomData,
        })
    }
}

impl<A: ValueParams, R: NativeResult> TypedFunction<A, R> {
    /// Returns the name of the function.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Fails if the name cannot be resolved or now has a different signature, or if the callee fails. Returns [`CallError::Unavailable`] if
    /// the runtime was dropped.
    // Without inlining, saving and restoring registers costs a third of a call.
    #[inline(always)]
    pub fn call(&self, arguments: A) -> Result<R, Error> {
        // Takes the slow path if a value does not fit in a slot, or if the call caches are outdated.
        if !(A::IN_SLOTS && R::IN_SLOT && self.resolved_at.get() == self.fast_paths.epoch().get()) {
            return self.call_slow(arguments);
        }
        let mut slots = arguments.into_slots();
        let slots = slots.as_mut();
        let called = if A::FIRST_IS_OBJECT {
            let object = ObjectHandle(slots[0].bits());
            self.fast_paths.call_on(&self.methods.by_class, object, &slots[1..A::COUNT], |height| self.clean_up(height))
        } else {
            // Uses no closure here, because the compiler would not inline the closure.
            match self.fast_path.get() {
                Some(fast_path) => self.fast_paths.call(&fast_path, &slots[..A::COUNT], |height| self.clean_up(height)),
                None => None,
            }
        };
        match called {
            Some(Ok(bits)) => R::from_slot(result_slot::<R>(bits)).ok_or_else(|| self.other_result()),
            Some(Err(error)) => Err(failure(error)),
            None => {
                let count = A::COUNT + usize::from(R::VALUE.is_some());
                self.call_slots(&mut slots[..count])
            }
        }
    }

    /// Opens one red frame, and runs `code`, which can then make many calls. Each call is as cheap as a C call through a pointer. Supports
    /// static functions with at most eight parameters. All parameters and the result must be numbers, `bool`s or names.
    ///
    /// Until `code` returns, plugin code counts as running: no safe point, reload or unload occurs, and no memory of destroyed objects is
    /// freed. If `code` calls [`observe`](crate::Calls::observe), observation begins after `code` has returned.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// # use alcedo_runtime::{Runtime, Value};
    /// # let runtime = Runtime::builder().build()?;
    /// # runtime.calls().register_typed("host.add", |_, (left, right): (i32, i32)| left + right)?;
    /// let add = runtime.function::<(i32, i32), i32>("ex:/host.add")?;
    /// // A function of the host has no pointer for direct calls.
    /// assert!(add.hot(|add| add.call((1, 2))).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the function has no pointer for direct calls, if calls are observed, or if the host has a
    /// [`watchdog`](crate::Builder::watchdog). Returns the errors of [`TypedFunction::call`] if calls are not allowed.
    pub fn hot<T>(&self, code: impl FnOnce(HotFunction<'_, A, R>) -> T) -> Result<T, Error> {
        let runtime = self.runtime.expect(&self.name)?;
        self.callee(&runtime)?;
        runtime.core().world.slices.allow_change(&"a call by name")?;
        runtime.core().world.mode.may_act(&format!("calling {}", self.name))?;
        let mut code = Some(code);
        let within = |trampoline: &HotTrampoline<'_>| code.take().map(|code| code(HotFunction::new(trampoline)));
        let fast_path = self.fast_path.get().filter(|_| self.resolved_at.get() == self.fast_paths.epoch().get());
        let done = fast_path.and_then(|fast_path| {
            self.fast_paths.within(&fast_path, within, |height| runtime.core().red.clean_up(height))
        });
        done.flatten().ok_or_else(|| {
            let what = format!("a pointer to `{}`: `call` does not need one, and it", self.name);
            CallError::Unavailable { what }.into()
        })
    }

    /// Performs the operations that were deferred until the red frame of the call closes.
    #[cold]
    fn clean_up(&self, height: usize) {
        if let Some(runtime) = self.runtime.upgrade() {
            runtime.core().red.clean_up(height);
        }
    }

    /// Returns the current callee. If the cached callee is outdated, resolves the name again.
    fn callee(&self, runtime: &Runtime) -> Result<Rc<Callee>, Error> {
        let known = self.handle.borrow().as_ref().and_then(|kept| runtime.core().zcalls.fresh(kept));
        match known {
            Some(callee) => Ok(callee),
            // The epoch may have changed because of a different name. In this case, the resolution returns the same callee again.
            None => self.resolve(runtime),
        }
    }

    #[inline(never)]
    fn call_slow(&self, arguments: A) -> Result<R, Error> {
        let runtime = self.runtime.expect(&self.name)?;
        let core = runtime.core();
        let callee = self.callee(&runtime)?;
        if A::IN_SLOTS && R::IN_SLOT && self.in_slots.get() {
            let mut slots = arguments.into_slots();
            let count = A::COUNT + usize::from(R::VALUE.is_some());
            return self.dispatch(core, &callee, &mut slots.as_mut()[..count]);
        }
        let handle = self.handle.borrow().as_ref().map(KeptHandle::handle).unwrap_or_default();
        let (params, result) = self.types(&runtime)?;
        let arguments = arguments.into_values(&params)?;
        let returned = dynamic_call::call(core, handle, &arguments)?;
        // If an enum value has no entry, `failing` returns the error.
        Ok(failing(|| R::from_value(returned, result.as_ref()))?)
    }

    /// Slow path for calls whose values fit in slots. Used for host functions, and while the call cache is empty.
    #[inline(never)]
    fn call_slots(&self, slots: &mut [Slot]) -> Result<R, Error> {
        let runtime = self.runtime.expect(&self.name)?;
        if A::FIRST_IS_OBJECT {
            let (object, arguments) = (ObjectHandle(slots[0].bits()), &slots[1..A::COUNT]);
            let own = || self.methods.call_own(&self.fast_paths, &runtime.core().world, object, arguments).transpose();
            if let Some(bits) = catch_panics(|| own().map_err(|error| *error))? {
                return R::from_slot(result_slot::<R>(bits)).ok_or_else(|| self.other_result());
            }
        }
        let callee = self.callee(&runtime)?;
        self.dispatch(runtime.core(), &callee, slots)
    }

    fn dispatch(&self, core: &Core, callee: &Rc<Callee>, slots: &mut [Slot]) -> Result<R, Error> {
        core.world.slices.allow_change(&"a call by name")?;
        let _call = core.world.stack.enter(&format_args!("`{}`", self.name))?;
        if A::FIRST_IS_OBJECT {
            self.resolve_fast_path(core, ObjectHandle(slots[0].bits()));
        }
        core.zcalls.dispatch_fresh(core.here(), callee, BufferMut::over(slots))?;
        let none = Slot::EMPTY;
        R::from_slot(*slots.last().unwrap_or(&none)).ok_or_else(|| self.other_result())
    }

    /// Fills the call cache for the class of this object.
    fn resolve_fast_path(&self, core: &Core, object: ObjectHandle) {
        if self.resolved_at.get() != core.zcalls.epoch().get() || !self.methods.may_resolve(&self.fast_paths, object) {
            return;
        }
        let method = self.method.borrow().clone();
        self.methods.resolve(core, method.as_ref(), object);
    }

    #[cold]
    fn other_result(&self) -> Error {
        other_result(&format!("`{}`", self.name))
    }

    /// Resolves the name and checks the signature.
    fn resolve(&self, runtime: &Runtime) -> Result<Rc<Callee>, Error> {
        self.handle.replace(None);
        let handle = self.entry.get().map_or_else(|| runtime.calls().resolve(&self.name), Ok)?;
        let kept = runtime.core().zcalls.keep(handle).map_err(|error| self.over(error))?;
        let callee = runtime
            .core()
            .zcalls
            .callee(handle)
            .ok_or_else(|| CallError::Unavailable { what: format!("`{}`", self.name) })?;
        let found = callee.signature().text();
        if callee.slots() == Slots::Property {
            let found = format!("a property of type {found}");
            return Err(mismatch(&self.name, &found, &self.signature).into());
        }
        let is_found = |signature: &SignatureText| signature.to_string() == found;
        // The signature of a method does not contain the object, which is the first parameter here.
        let without_object = || {
            let (first, rest) = self.signature.arguments.split_first()?;
            let is_object = first.kind() == PropertyKind::OBJECT && self.name.starts_with("uf");
            is_object.then(|| SignatureText { arguments: rest.to_vec(), ..self.signature.clone() })
        };
        let accepts_object = !is_found(&self.signature);
        if accepts_object && !without_object().is_some_and(|signature| is_found(&signature)) {
            return Err(mismatch(&self.name, &found, &self.signature).into());
        }
        // The callee only checks the class of its receiver. Calls with further object arguments therefore pass `Value`s, whose classes are
        // checked.
        let has_other_objects = A::OTHERS_ARE_OBJECTS || (A::FIRST_IS_OBJECT && !accepts_object);
        let in_slots =
            are_as_declared::<A, R>(&self.signature) && !has_other_objects && callee.slots() == Slots::Function;
        self.in_slots.set(in_slots);
        self.handle.replace(Some(kept));
        let core = runtime.core();
        self.methods.forget();
        self.method.replace(uf::method_call(&callee).filter(|_| accepts_object));
        self.fast_path.set(uf::static_fast_path(core, &callee).filter(|_| !accepts_object));
        let has_fast_path = self.fast_path.get().is_some() || self.method.borrow().is_some();
        // Caches no resolution before the commit of a reload, because the name must be resolved again after the commit.
        let is_lasting = in_slots && has_fast_path && !core.world.mode.is_before_commit();
        self.resolved_at.set(if is_lasting { core.zcalls.epoch().count() } else { Epoch::NEVER });
        Ok(callee)
    }

    #[cold]
    fn over(&self, error: CallError) -> CallError {
        match error {
            CallError::DeadHandle { .. } if self.entry.get().is_some() => CallError::DeadHandle {
                message: format!(
                    "`{}` is of a generation that has ended: take its table again, by `Tables::of_module`",
                    self.name
                ),
            },
            error => error,
        }
    }

    /// Resolves the types of the signature.
    fn types(&self, runtime: &Runtime) -> Result<Types, CallError> {
        let world = &runtime.core().world;
        let epoch = world.types.epoch();
        if let Some((known, found)) = &*self.types.borrow()
            && *known == epoch
        {
            return Ok(found.clone());
        }
        let found = types_of(&self.signature, world)?;
        *self.types.borrow_mut() = Some((epoch, found.clone()));
        Ok(found)
    }
}
