//! ZCalls from the plugin. A function is found through a handle that the host has stored in a cell, or by name. The slots of a call are on
//! the stack.
#![expect(unsafe_code, reason = "calls functions of the host with slots on this stack")]

use core::marker::PhantomData;

use alcedo_abi::describe::Cell;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::handles::{ObjectHandle, ZCallHandle};
use alcedo_abi::values::RawLocation;
use alcedo_abi::zcall::{Slot, ZCallBuffer};
use alcedo_rt::CallError;

use crate::cells::{FunctionCell, ImportCell};
use crate::direct::{Called, CalledAs, DirectCell, is_direct, of_bits};
use crate::out::OutParameters;
use crate::signature::{Params, ReturnValue, fingerprint};
use crate::value::plain_slot;
use crate::{ObjectView, Value, host};

pub use crate::direct::HotFunction;

/// Function with parameters `A` and result `R`. Each call runs on the thread that resolved the function. If all arguments and the
/// result are strings or fit in slots, the function can be resolved on any thread that the host permits, otherwise only on the game thread.
pub(crate) struct Callee<'a, A, R> {
    target: Target<'a>,
    of: PhantomData<fn(A) -> R>,
    // The raw pointer makes the type `!Send`.
    thread: PhantomData<*const ()>,
}

enum Target<'a> {
    Handle(ZCallHandle),
    Delegate(&'a RawLocation),
}

impl<A: Params, R: ReturnValue> Callee<'static, A, R> {
    /// Returns the function whose handle a cell contains. `_this`, an object of a frame, proves that this is the game thread. The host
    /// checks that the object has the function.
    ///
    /// # Errors
    /// Fails if no host has filled the cell, for example in a plugin's own tests.
    pub(crate) fn in_cell<T>(
        _this: &impl CalledAs<T>,
        cell: &FunctionCell<T, A::Values, R>,
        what: &str,
    ) -> Result<Self, CallError> {
        match cell.cell().get() {
            Cell::UNFILLED => Err(CallError::no_host(what)),
            bits => Ok(Self {
                target: Target::Handle(ZCallHandle(bits.cast_signed())),
                of: PhantomData,
                thread: PhantomData,
            }),
        }
    }

    /// Creates the callee for an entry of a function table, from the entry's handle. Each parameter and the result must fit in a slot.
    pub(crate) fn in_slots(handle: ZCallHandle) -> Self {
        const { assert!(is_direct::<A, R>()) }
        Self { target: Target::Handle(handle), of: PhantomData, thread: PhantomData }
    }

    /// Resolves a name. The signature must have the fingerprint of `A` and `R`. On threads except the game thread, the host resolves the
    /// name only if all parameters and the result are strings or fit in slots.
    pub(crate) fn named(name: &str) -> Result<Self, CallError> {
        let handle = host::zcall_resolve(name, fingerprint::<A, R>())?;
        Ok(Self { target: Target::Handle(handle), of: PhantomData, thread: PhantomData })
    }
}

impl<'a, A: Params, R: ReturnValue> Callee<'a, A, R> {
    /// Returns the functions that are bound to a delegate.
    ///
    /// # Safety
    /// `delegate` is live, and its functions have parameters `A` and result `R`.
    pub(crate) unsafe fn bound(delegate: &'a RawLocation) -> Self {
        Self { target: Target::Delegate(delegate), of: PhantomData, thread: PhantomData }
    }

    /// Returns the handle, or [`ZCallHandle::NONE`] if the target is a delegate.
    #[inline]
    pub(crate) fn handle(&self) -> ZCallHandle {
        match self.target {
            Target::Handle(handle) => handle,
            Target::Delegate(_) => ZCallHandle::NONE,
        }
    }

    /// Calls the function. Slot 0 contains the object, if any.
    pub(crate) fn call(&self, object: Option<ObjectHandle>, what: &str, args: &A) -> Result<R, CallError> {
        let mut out = Some(R::out());
        let out_slot = out.as_mut().map_or(Slot::EMPTY, R::slot_out);
        // SAFETY: this is the game thread, or all values of `A` and `R` are stored in slots or are strings: see `Callee`.
        // The slots are those of `A` and `R`, the types of the callee.
        // The staged values and `out` do not move before the end of the call, and the callee has filled the result.
        // The caller of `bound` promised a live delegate.
        unsafe {
            let call = |slots: &mut [Slot]| {
                let end = slots.len() - usize::from(R::VALUE.is_none());
                let slots = &mut slots[..end];
                let mut buffer = buffer_of(&mut slots[usize::from(object.is_none())..]);
                match self.target {
                    Target::Handle(handle) => host::host(what)?.zcall(handle, &mut buffer),
                    Target::Delegate(value) => host::host("calling a delegate")?.delegate_call(value, &mut buffer),
                }?;
                // `call` runs at most once, and takes the storage for the result.
                let awaited = out.take().ok_or_else(|| CallError::other("the storage of a result"))?;
                R::take_out(slots.last().copied().unwrap_or(Slot::EMPTY), awaited)
            };
            args.with_slots(object.unwrap_or_default(), out_slot, call)
        }
    }
}

/// Handle of a property of type `T`, resolved by its name.
pub(crate) struct PropertyHandle<T> {
    handle: ZCallHandle,
    of: PhantomData<fn(T) -> T>,
    // The raw pointer makes the type `!Send`.
    thread: PhantomData<*const ()>,
}

impl<T: Value> PropertyHandle<T> {
    pub(crate) const FINGERPRINT: u64 = Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish();

    /// Resolves an `up` name. The property must have the fingerprint of `T`. The host resolves the name only on the game thread.
    pub(crate) fn resolve(name: &str) -> Result<Self, CallError> {
        Ok(Self { handle: resolve_property(name, Self::FINGERPRINT)?, of: PhantomData, thread: PhantomData })
    }

    pub(crate) fn number(&self) -> ZCallHandle {
        self.handle
    }

    #[cold]
    pub(crate) fn read(&self, object: ObjectHandle, name: &str) -> Result<T, CallError> {
        let held = self.exchange(object, name, None)?;
        held.ok_or_else(|| CallError::other(format!("`{name}`: nothing was read")))
    }

    #[cold]
    pub(crate) fn write(&self, object: ObjectHandle, name: &str, value: &T) -> Result<(), CallError> {
        self.exchange(object, name, Some(value)).map(drop)
    }

    /// Reads the property of an object. If `write` contains a value, overwrites the property instead.
    fn exchange(&self, object: ObjectHandle, name: &str, write: Option<&T>) -> Result<Option<T>, CallError> {
        let mut out = write.is_none().then(T::out);
        // SAFETY: the host has resolved the handle with the fingerprint of `T`, on this thread.
        // The staged value and the data for a result stay on this stack until the end of the call, and the host has then filled the result.
        unsafe {
            let staged = write.map(|value| (value, value.stage()));
            let slot = match (&staged, &mut out) {
                (Some((value, staged)), _) => value.slot_in(staged),
                (None, Some(out)) => <T as Value>::slot_out(out),
                (None, None) => Slot::EMPTY,
            };
            let mut slots = [plain_slot(object), plain_slot(u8::from(write.is_some())), slot];
            host::host(name)?.zcall(self.handle, &mut buffer_of(&mut slots))?;
            out.map(|out| <T as Value>::take_out(slots[2], out)).transpose()
        }
    }
}

fn resolve_property(name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
    if !name.starts_with("up:") {
        return Err(CallError::other(format!("`{name}` names no property: write `up:/Script/Package.Class:property`")));
    }
    host::zcall_resolve(name, fingerprint)
}

/// Creates the buffer that passes `slots` to a call.
pub(crate) fn buffer_of(slots: &mut [Slot]) -> ZCallBuffer {
    ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() }
}

/// Calls a function through the handle in its cell: a method on a frame-bound object, or a static function of the object's class.
#[inline]
pub(crate) fn by_cell<const ON_OBJECT: bool, T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    if !is_direct::<A, R>() {
        return by_slots::<ON_OBJECT, _, _, _>(this, cell, what, args);
    }
    of_bits(match cell.direct().call(|| handle_in(cell), this.called(), args) {
        Some(bits) => bits,
        None => bits_by_slots::<ON_OBJECT, _, _, _>(this, cell, what, args),
    })
}

#[cold]
#[inline(never)]
fn bits_by_slots<const ON_OBJECT: bool, T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<u64, CallError> {
    by_slots::<ON_OBJECT, _, _, _>(this, cell, what, args).map(R::into_direct_bits)
}

#[inline(never)]
fn by_slots<const ON_OBJECT: bool, T, A: Params, R: ReturnValue>(
    this: &impl CalledAs<T>,
    cell: &FunctionCell<T, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    let object = ON_OBJECT.then(|| this.called().object());
    Callee::in_cell(this, cell, what)?.call(object, what, args)
}

/// Returns the handle in the cell. If the cell is unfilled, the host finds no function for its number.
fn handle_in<T, A, R>(cell: &FunctionCell<T, A, R>) -> ZCallHandle {
    ZCallHandle(cell.cell().get().cast_signed())
}

/// Calls a function of a C library through its cell. Returns the result and the out parameters.
pub(crate) fn import_by_cell<T, A: Params, R: ReturnValue, O: OutParameters>(
    this: &impl CalledAs<T>,
    cell: &ImportCell<T, A::Values, R, O>,
    what: &str,
    args: &A,
) -> Result<(R, O), CallError> {
    /// Maximum number of slots: the object, eight parameters, a result, and eight out parameters.
    const MOST: usize = 18;
    let (mut out, mut out_parameters) = (R::out(), O::out());
    let out_slot = R::slot_out(&mut out);
    let handle = Callee::<A, R>::in_cell(this, &cell.0, what)?.handle();
    let object = this.called().object();
    // SAFETY: this is the game thread, as for `Callee::call`. The slots are first the slots of `A`, then of `O`, then of `R`.
    // `O` lists the out parameters in the description of the function, so the host fills the slots of `O` like a result.
    // The staged data, `out` and `out_parameters` do not move before the end of the call.
    unsafe {
        let call = |slots: &mut [Slot]| {
            // The last slot is the slot of the result, which must follow the slots of the out parameters.
            let (end, mut buffer) = (slots.len() - 1, [Slot::EMPTY; MOST]);
            buffer[..end].copy_from_slice(&slots[..end]);
            let last = end + O::put_slots(&mut out_parameters, &mut buffer[end..]);
            buffer[last] = slots[end];
            let count = last + usize::from(R::VALUE.is_some());
            host::host(what)?.zcall(handle, &mut buffer_of(&mut buffer[..count]))?;
            Ok::<_, CallError>((buffer, end, last))
        };
        let (buffer, end, last) = args.with_slots(object, out_slot, call)?;
        let result = R::take_out(buffer[last], out);
        let out_parameters = O::take(&buffer[end..], out_parameters);
        Ok((result?, out_parameters?))
    }
}

/// Returns true for the name of a function that is called on an object. The comparison includes the colon, because the prefix of another
/// protocol may begin with the letters `uf`.
pub(crate) fn is_of_objects(name: &str) -> bool {
    name.starts_with("uf:") || name.starts_with("uf!:")
}

/// Resolves and calls a function. For a name with the `uf` protocol, slot 0 contains the object.
pub(crate) fn by_name<A: Params, R: ReturnValue>(object: ObjectHandle, name: &str, args: A) -> Result<R, CallError> {
    let callee = Callee::named(name)?;
    callee.call(is_of_objects(name).then_some(object), name, &args)
}

impl ObjectView<'_> {
    /// Calls the function to which `name` resolves. `uf:/path` (virtual) and `uf!:/path` (final) call the function on this object. A static
    /// function ignores the object. `ex:/function` and `nm:/module:type:method` need no object. Each call resolves the name; a generated
    /// method is faster.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` for an unknown name, or with `SIGNATURE` for different parameters or a different result. Before the commit,
    /// fails with `DURING_REBUILD` unless the function belongs to this generation or is pure. Also returns errors of the called function.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn greet(this: This<'_, Object>, guest: Obj<Object>) -> Result<String, CallError> {
    ///     this.zcall("uf:/Script/Game.Innkeeper:greet", (guest, 2_u32))
    /// }
    /// ```
    pub fn zcall<A: Params, R: ReturnValue>(&self, name: &str, args: A) -> Result<R, CallError> {
        by_name(self.handle(), name, args)
    }

    /// Reads a property by its `up` name, for example `up:/Script/Engine.Actor:seed`.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` for an unknown path, or with `SIGNATURE` if the type of the property differs from `T`.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn speed(this: This<'_, Object>) -> f64 {
    ///     match this.read_property("up:/Script/Game.Cart:speed") {
    ///         Ok(speed) => speed,
    ///         Err(error) if error.kind() == FailureKind::NOT_FOUND => 0.0,
    ///         Err(error) => panic!("{error}"),
    ///     }
    /// }
    /// ```
    pub fn read_property<T: Value>(&self, name: &str) -> Result<T, CallError> {
        read_property(self.handle(), name)
    }

    /// Writes a property by its `up` name.
    ///
    /// # Errors
    /// See [`Self::read_property`]. Also fails with `DURING_REBUILD` before the commit, except for objects that are being built.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// fn stop(this: This<'_, Object>) -> Result<(), CallError> {
    ///     this.write_property("up:/Script/Game.Cart:speed", &0.0_f64)
    /// }
    /// ```
    pub fn write_property<T: Value>(&self, name: &str, value: &T) -> Result<(), CallError> {
        write_property(self.handle(), name, value)
    }
}

/// Calls the function to which `name` resolves, for functions that need no object: `ex:/function` or `nm:/module:type:method`. Each
/// call resolves the name. [`This::zcall`](crate::This) calls functions on an object.
///
/// In a module of the Master, this function is callable on the game thread, and can call all functions of the host. In a module of a Slim,
/// a pinned context or the Default, this function is callable on any thread. Parameters and results are then limited to numbers, `bool`,
/// strings, names and object handles. The host looks up the name first in the modules of the caller's own context, then in the contexts on
/// which this context depends, then in the Default, and then among the functions that the host has registered for all threads. A call loads
/// no modules, and finds only functions of modules whose main function has returned.
///
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// fn title(of: String) -> Result<String, CallError> {
///     zcall("nm:/reports:Report:render", (of, 3_u32))
/// }
/// ```
///
/// # Errors
/// Fails with `NOT_FOUND` for an unknown name, or with `SIGNATURE` for different parameters or a different result. Fails with `UNAVAILABLE`
/// after the unload of the function's context has begun. Before the commit of a Master, fails with `DURING_REBUILD` unless the function
/// belongs to this generation or is pure. Also returns errors of the called function.
pub fn zcall<A: Params, R: ReturnValue>(name: &str, args: A) -> Result<R, CallError> {
    if is_of_objects(name) { Err(on_an_object(name)) } else { by_name(ObjectHandle::NONE, name, args) }
}

/// Function with parameters `A` and result `R`, found by name. [`find`](Self::find) resolves the name and compares the signature once. Each
/// call uses the resulting handle. The handle is valid until the generation of the function ends. Later calls fail, but a new call of
/// [`find`](Self::find) returns the current function. In a module of a Slim, a pinned context or the Default, a resolved name permanently
/// refers to one function. A `ZFunction` cannot leave the thread that resolved the name. [`zcall()`] describes which threads may resolve
/// names.
///
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// use alcedo_plugin_api::ZFunction;
///
/// fn sum(of: &[i32]) -> Result<i32, CallError> {
///     let add = ZFunction::<(i32, i32), i32>::find("ex:/host.add")?;
///     of.iter().try_fold(0, |sum, number| add.call((sum, *number)))
/// }
/// ```
pub struct ZFunction<A, R> {
    callee: Callee<'static, A, R>,
    code: DirectCell<A, R>,
    name: Box<str>,
}

impl<A: Params, R: ReturnValue> ZFunction<A, R> {
    /// Resolves `name`.
    ///
    /// # Errors
    /// Fails with `NOT_FOUND` for an unknown name, or with `SIGNATURE` for different parameters or a different result.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZFunction;
    ///
    /// // `find` accepts no name of a function that is called on an object.
    /// let error = ZFunction::<(f64,), f64>::find("uf:/Script/Game.Actor:heal").expect_err("an object is missing");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`uf:/Script/Game.Actor:heal` is called on an object: write `this.zcall` in one of its methods"
    /// );
    /// ```
    pub fn find(name: &str) -> Result<Self, CallError> {
        if is_of_objects(name) { Err(on_an_object(name)) } else { Self::resolve(name) }
    }

    /// Resolves `name`, which may also be the name of a function that is called on an object.
    pub(crate) fn resolve(name: &str) -> Result<Self, CallError> {
        Ok(Self { callee: Callee::named(name)?, code: DirectCell::new(), name: name.into() })
    }

    pub(crate) fn handle(&self) -> ZCallHandle {
        self.callee.handle()
    }

    /// Returns the name passed to [`find`](Self::find).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the function.
    ///
    /// # Errors
    /// Fails with `DEAD_HANDLE` or `UNAVAILABLE` after the generation of the function has ended. Before the commit, fails with
    /// `DURING_REBUILD` as [`zcall()`] does. Also returns errors of the function.
    ///
    /// # Examples
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    ///
    /// use alcedo_plugin_api::ZFunction;
    ///
    /// fn tax(rate: &ZFunction<(f64,), f64>, price: f64) -> f64 {
    ///     rate.call((price,)).unwrap_or_else(|error| {
    ///         eprintln!("{}: {error}", rate.name());
    ///         0.0
    ///     })
    /// }
    /// ```
    #[inline]
    pub fn call(&self, args: A) -> Result<R, CallError> {
        self.call_on(None, args)
    }

    /// Calls the function on an object, or without an object.
    #[inline]
    pub(crate) fn call_on(&self, object: Option<ObjectHandle>, args: A) -> Result<R, CallError> {
        if !is_direct::<A, R>() {
            return self.callee.call(object, &self.name, &args);
        }
        of_bits(match self.code.call(|| self.handle(), Called::by_name(object.unwrap_or_default()), &args) {
            Some(bits) => bits,
            None => self.bits_by_slots(object, args),
        })
    }

    /// Runs `code` with a function pointer for many calls. The cost of each call is close to the cost of a C function call. Available only
    /// for a leaf of the host (`Calls::register_leaf`), because its code has no preconditions, and exists as long as the host.
    ///
    /// [`hot`](Self::hot) performs the checks of a call once for all calls. Until `code` returns, no safe point and no reload occurs.
    /// Slices borrowed in `code` do not block calls of the leaf. If a host or tool turns on the observation of calls while `code` runs,
    /// these calls are not counted.
    ///
    /// ```
    /// # use alcedo_plugin_api::prelude::*;
    /// use alcedo_plugin_api::ZFunction;
    ///
    /// fn sum(of: &[i32]) -> Result<i32, CallError> {
    ///     let add = ZFunction::<(i32, i32), i32>::find("ex:/host.add_leaf")?;
    ///     add.hot(|add| of.iter().try_fold(0, |sum, number| add.call((sum, *number))))?
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails with `UNAVAILABLE` if no pointer is available: before the commit, while a slice is borrowed, while calls are observed, and for
    /// a function that is not a leaf of the host. Fails with `WRONG_STACK` on a coroutine's stack. [`call`](Self::call) needs no pointer.
    pub fn hot<T>(&self, code: impl FnOnce(HotFunction<'_, A, R>) -> T) -> Result<T, CallError> {
        self.code.hot(self.handle(), Some(Called::by_name(ObjectHandle::NONE)), &self.name, code)
    }

    #[cold]
    #[inline(never)]
    fn bits_by_slots(&self, object: Option<ObjectHandle>, args: A) -> Result<u64, CallError> {
        self.callee.call(object, &self.name, &args).map(R::into_direct_bits)
    }
}

impl<A, R> core::fmt::Debug for ZFunction<A, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "`{}`", self.name)
    }
}

#[cold]
fn on_an_object(name: &str) -> CallError {
    CallError::other(format!("`{name}` is called on an object: write `this.zcall` in one of its methods"))
}

pub(crate) fn read_property<T: Value>(object: ObjectHandle, name: &str) -> Result<T, CallError> {
    PropertyHandle::<T>::resolve(name)?.read(object, name)
}

pub(crate) fn write_property<T: Value>(object: ObjectHandle, name: &str, value: &T) -> Result<(), CallError> {
    PropertyHandle::<T>::resolve(name)?.write(object, name, value)
}
