//! Calls from the plugin by ZCall: with a handle the host has filled in, or by name. The slots stand on the stack.
#![expect(
    unsafe_code,
    reason = "hands pointer slots over, made for the very signature that the callee was checked for"
)]

use alcedo_abi::describe::Cell;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::handles::{ObjectHandle, ZCallHandle};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::host::values::Place;
use crate::kinds::{Delegate, MulticastDelegate, SparseDelegate};
use crate::plumbing::FunctionCell;
use crate::signature::{Params, ReturnValue, Signature, fingerprint};
use crate::value::plain_slot;
use crate::{Class, This, Value, host};

/// A handle as a cell holds it.
///
/// # Errors
/// When the host has not filled the cell, as in a plugin's own tests.
pub(crate) fn handle_in(cell: &Cell, what: &str) -> Result<ZCallHandle, CallError> {
    match cell.get() {
        Cell::UNFILLED => Err(CallError::no_host(what)),
        bits => Ok(ZCallHandle(bits.cast_signed())),
    }
}

/// Calls through a handle; with an object, that is slot 0.
///
/// # Safety
/// `handle` was resolved with the fingerprint of `A` and `R`, and this is the game thread, or what they consist of lies in
/// slots or is text.
pub(crate) unsafe fn by_handle<A: Params, R: ReturnValue>(
    object: Option<ObjectHandle>,
    handle: ZCallHandle,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    let call = |slots: &mut [Slot]| {
        let first = usize::from(object.is_none());
        // SAFETY: the slots are those of `A` and `R`, which is the callee's signature by contract, and right for this call, as
        // `exchange` promises.
        unsafe { host::zcall(handle, what, &mut slots[first..]) }
    };
    // SAFETY: the caller promises the game thread, or values that know none, and that the callee gives an `R`.
    unsafe { exchange(object.unwrap_or_default(), args, call) }
}

/// Lends `call` the slots of a call, which are right until it returns: the object, the arguments and, if there is one, the result.
///
/// # Safety
/// This is the game thread, or what `A` and `R` consist of lies in slots or is text; `call` fills the last slot as a callee that
/// gives an `R`, or fails.
unsafe fn exchange<A: Params, R: ReturnValue>(
    object: ObjectHandle,
    args: &A,
    call: impl FnOnce(&mut [Slot]) -> Result<(), CallError>,
) -> Result<R, CallError> {
    let mut out = R::out();
    let filled = |slots: &mut [Slot]| {
        let end = slots.len() - usize::from(R::VALUE.is_none());
        let slots = &mut slots[..end];
        call(slots)?;
        Ok(slots.last().copied().unwrap_or(Slot::EMPTY))
    };
    // SAFETY: `out` stays where it is until the call is over, and the slots are used for it alone; the caller promises the thread,
    // and that both are filled then.
    unsafe {
        let out_slot = R::slot_out(&mut out);
        let result = args.with_slots(object, out_slot, filled)?;
        R::take_out(result, out)
    }
}

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
    let call = |slots: &mut [Slot]| {
        // SAFETY: the slots are those of the delegate's signature, as `Delegated` promises, and right for this call, as `exchange`
        // promises.
        unsafe { host::values::delegate_call(delegate, &mut slots[1..]) }
    };
    // SAFETY: a place of a delegate is the game thread's, and the delegate gives the result of its signature.
    unsafe { exchange(ObjectHandle::NONE, args, call) }
}

/// Calls a function of a frame-bound object through the handle in its cell.
///
/// # Errors
/// Whatever the callee fails with.
pub(crate) fn by_cell<C: Class, A: Params, R: ReturnValue>(
    this: &This<'_, C>,
    cell: &FunctionCell<C, A::Values, R>,
    what: &str,
    args: &A,
) -> Result<R, CallError> {
    let handle = handle_in(cell.cell(), what)?;
    // SAFETY: the host has filled the cell with the handle of a function that takes and gives just these, and looks by
    // itself whether the object has it; a frame-bound object is the game thread's.
    unsafe { by_handle(Some(this.object()), handle, what, args) }
}

/// Resolves and calls. A name of the `uf` protocol gets the object as slot 0.
pub(crate) fn by_name<A: Params, R: ReturnValue>(object: ObjectHandle, name: &str, args: A) -> Result<R, CallError> {
    let handle = host::zcall_resolve(name, fingerprint::<A, R>())?;
    let object = name.starts_with("uf").then_some(object);
    // SAFETY: it was resolved with this very fingerprint just now, which the host does on the game thread only, or for
    // what is staged without the host: numbers, handles and text.
    unsafe { by_handle(object, handle, name, &args) }
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
    if name.starts_with("uf") {
        return Err(CallError::other(format!(
            "`{name}` is called on an object: write `this.zcall` in one of its methods"
        )));
    }
    by_name(ObjectHandle::NONE, name, args)
}

/// Reads a property by its `up` name.
pub(crate) fn read_property<T: Value>(object: ObjectHandle, name: &str) -> Result<T, CallError> {
    let handle = resolve_property::<T>(name)?;
    let mut out = T::out();
    // SAFETY: the name was resolved with the fingerprint of `T` just now, and `out` stands on this stack until the host has filled
    // it and its slot with the `T` that the property holds.
    unsafe {
        let mut slots = [plain_slot(object), plain_slot(0_u8), T::slot_out(&mut out)];
        host::zcall(handle, name, &mut slots)?;
        T::take_out(slots[2], out)
    }
}

/// Writes a property by its `up` name.
pub(crate) fn write_property<T: Value>(object: ObjectHandle, name: &str, value: &T) -> Result<(), CallError> {
    let handle = resolve_property::<T>(name)?;
    // SAFETY: the host has just resolved the name with the fingerprint of `T`, which it does on the game thread only; what is staged
    // stands on this stack until the call is over.
    unsafe {
        let staged = value.stage();
        let mut slots = [plain_slot(object), plain_slot(1_u8), value.slot_in(&staged)];
        host::zcall(handle, name, &mut slots)
    }
}

fn resolve_property<T: Value>(name: &str) -> Result<ZCallHandle, CallError> {
    if !name.starts_with("up:") {
        return Err(CallError::other(format!("`{name}` names no property: write `up:/Script/Package.Class:property`")));
    }
    host::zcall_resolve(name, Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish())
}
