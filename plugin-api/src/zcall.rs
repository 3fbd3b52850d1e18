//! Calls from the plugin by ZCall: with a handle the host has filled in, or by name. The slots stand on the stack.
#![expect(unsafe_code, reason = "declares the trait that says what signature a delegate has")]

use alcedo_abi::call::FailureKind;
use alcedo_abi::handles::{ObjectHandle, ZCallHandle};
use alcedo_rt::CallError;

use crate::delegate_signature::Signature;
use crate::direct::{KeptCode, Leaf, is_direct, of_bits};
use crate::host::values::{Callee, Place};
use crate::kinds::{Delegate, MulticastDelegate, SparseDelegate};
use crate::plumbing::{CalledAs, FunctionCell, ImportCell, Outs};
use crate::signature::{Params, ReturnValue};
use crate::{Value, host};

/// A delegate by its type.
///
/// # Safety
/// For the host it is a delegate of this signature.
pub(crate) unsafe trait Delegated: Value {
    /// What it takes and gives.
    type Signature: Signature;
}

macro_rules! delegates {
    ($($name:ident),*) => {$(
        // SAFETY: the path of the type is the text of the signature.
        unsafe impl<F: Signature> Delegated for $name<F> {
            type Signature = F;
        }
    )*};
}
delegates!(Delegate, MulticastDelegate, SparseDelegate);

/// Calls what is bound to a delegate.
pub(crate) fn delegate<D: Delegated>(
    delegate: &Place<'_, D>,
    args: &<D::Signature as Signature>::Args,
) -> Result<<D::Signature as Signature>::Result, CallError> {
    Callee::bound(delegate).call(None, "calling a delegate", args)
}

/// Calls a function of a frame-bound object through the handle in its cell, or one of its class that needs no object.
///
/// # Errors
/// Whatever the callee fails with.
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
        Some(given) => given,
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

/// What the host has filled the cell with. A cell without anything has a number that the host knows no function by.
fn handle_in<T, A, R>(cell: &FunctionCell<T, A, R>) -> ZCallHandle {
    ZCallHandle(cell.cell().get().cast_signed())
}

/// The same for a function of a C library: with what its out parameters hold then.
pub(crate) fn import_by_cell<T, A: Params, R: ReturnValue, O: Outs>(
    this: &impl CalledAs<T>,
    cell: &ImportCell<T, A::Values, R, O>,
    what: &str,
    args: &A,
) -> Result<(R, O), CallError> {
    Callee::in_import_cell(this, cell, what)?.call(this.called().object(), what, args)
}

/// Whether a name is one of functions that are called on an object. A word of somebody's own may begin with the same letters.
pub(crate) fn is_of_objects(name: &str) -> bool {
    name.starts_with("uf:") || name.starts_with("uf!:")
}

/// Resolves and calls. A name of the `uf` protocol gets the object as slot 0.
pub(crate) fn by_name<A: Params, R: ReturnValue>(object: ObjectHandle, name: &str, args: A) -> Result<R, CallError> {
    let callee = Callee::named(name)?;
    callee.call(is_of_objects(name).then_some(object), name, &args)
}

/// Calls whatever `name` stands for where there is no object to call it on: `ex:/function`, or `nm:/module:type:method`.
/// The name is looked up in each call; [`This::zcall`](crate::This) is the same on an object.
///
/// In a module of the Master this is for the game thread, and finds all that the host has. In a module of a Slim, a
/// pinned context or the Default it is for any thread, for numbers, `bool`, text, names and object handles, and finds
/// first what the modules of the same context offer, then those of other contexts that it depends on, then those of the
/// Default. It loads nothing, and modules whose mains have not returned are not found.
///
/// ```
/// # use alcedo_plugin_api::prelude::*;
/// fn title(of: String) -> Result<String, CallError> {
///     zcall("nm:/reports:Report:render", (of, 3_u32))
/// }
/// ```
///
/// # Errors
/// `NOT_FOUND` for a name that leads nowhere, `SIGNATURE` when it takes or gives something else, `UNAVAILABLE` once the
/// context that has the function unloads, and whatever the callee fails with.
pub fn zcall<A: Params, R: ReturnValue>(name: &str, args: A) -> Result<R, CallError> {
    if is_of_objects(name) {
        return Err(on_an_object(name));
    }
    by_name(ObjectHandle::NONE, name, args)
}

/// A function by name with these parameters and this result: the name is looked up and the signature compared once, and each call
/// goes by the handle that was found. It ends with the generation of what it leads to: then a call is an error, and what the name
/// stands for now is found by another [`find`](Self::find), but in a module of a Slim, a pinned context or the Default, for which a name
/// means for good what it was found to mean. It stays on the thread that found it; for who may find what, see [`zcall()`].
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
    code: KeptCode<A, R>,
    handle: ZCallHandle,
    name: Box<str>,
}

impl<A: Params, R: ReturnValue> ZFunction<A, R> {
    /// What `name` stands for.
    ///
    /// # Errors
    /// `NOT_FOUND` for a name that leads nowhere, `SIGNATURE` when it takes or gives something else.
    pub fn find(name: &str) -> Result<Self, CallError> {
        if is_of_objects(name) {
            return Err(on_an_object(name));
        }
        let callee = Callee::named(name)?;
        Ok(Self { handle: callee.handle(), callee, code: KeptCode::new(), name: name.into() })
    }

    /// The name that it was found by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls it.
    ///
    /// # Errors
    /// `DEAD_HANDLE` or `UNAVAILABLE` once the generation of what it leads to is over, and whatever the callee fails with.
    #[inline]
    pub fn call(&self, args: A) -> Result<R, CallError> {
        if !is_direct::<A, R>() {
            return self.callee.call(None, &self.name, &args);
        }
        of_bits(match self.code.call(self.handle, ObjectHandle::NONE, &args) {
            Some(given) => given,
            None => self.bits_by_slots(args),
        })
    }

    /// Calls it many times: `code` gets what calls it, which costs hardly more than a C function by its pointer. It is for a leaf of the
    /// host (`Calls::register_leaf`), whose code needs nothing and is there as long as the host.
    ///
    /// What a call looks at, [`hot`](Self::hot) looks at once. Until `code` has returned there is no safe point, so no reload; a slice that
    /// is lent in it does not keep a leaf from being called, and calls are not counted by who begins to observe them meanwhile.
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
    /// `UNAVAILABLE` when there is no pointer to it: it is no leaf of the host, a slice is lent, calls are observed, or this is before a
    /// commit. `WRONG_STACK` on the stack of a coroutine. [`call`](Self::call) needs none.
    pub fn hot<T>(&self, code: impl FnOnce(HotFunction<'_, A, R>) -> T) -> Result<T, CallError> {
        alcedo_rt::may_open_scope("lending a pointer to a function")?;
        match self.code.leaf(self.handle) {
            Some(leaf) => Ok(code(HotFunction(leaf))),
            None => Err(no_pointer(&self.name)),
        }
    }

    #[cold]
    #[inline(never)]
    fn bits_by_slots(&self, args: A) -> Result<u64, CallError> {
        self.callee.call(None, &self.name, &args).map(R::into_direct_bits)
    }
}

/// A leaf of the host by its pointer: [`ZFunction::hot`].
#[derive(Clone, Copy)]
pub struct HotFunction<'a, A, R>(Leaf<'a, A, R>);

impl<'a, A, R> HotFunction<'a, A, R> {
    pub(crate) fn of(leaf: Leaf<'a, A, R>) -> Self {
        Self(leaf)
    }
}

impl<A: Params, R: ReturnValue> HotFunction<'_, A, R> {
    /// Calls it.
    ///
    /// # Errors
    /// Whatever the leaf fails with: a panic.
    #[inline]
    pub fn call(&self, args: A) -> Result<R, CallError> {
        of_bits(self.0.call(&args))
    }
}

impl<A, R> core::fmt::Debug for HotFunction<'_, A, R> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a function by its pointer")
    }
}

#[cold]
pub(crate) fn no_pointer(name: &str) -> CallError {
    let message = format!("there is no pointer to `{name}` now: `call` does not need one");
    CallError::new(FailureKind::UNAVAILABLE, message)
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

/// Reads a property by its `up` name.
pub(crate) fn read_property<T: Value>(object: ObjectHandle, name: &str) -> Result<T, CallError> {
    checked_property(name)?;
    let held = host::values::property(object, name, None)?;
    held.ok_or_else(|| CallError::other(format!("`{name}`: nothing was read")))
}

/// Writes a property by its `up` name.
pub(crate) fn write_property<T: Value>(object: ObjectHandle, name: &str, value: &T) -> Result<(), CallError> {
    checked_property(name)?;
    host::values::property(object, name, Some(value)).map(drop)
}

pub(crate) fn checked_property(name: &str) -> Result<(), CallError> {
    if !name.starts_with("up:") {
        return Err(CallError::other(format!("`{name}` names no property: write `up:/Script/Package.Class:property`")));
    }
    Ok(())
}
