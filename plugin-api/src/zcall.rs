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

use crate::signature::{Params, ReturnValue, fingerprint};
use crate::value::plain_slot;
use crate::{Value, host};

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
    let mut out = R::out();
    // SAFETY: `out` stays where it is until the call is over.
    let out_slot = unsafe { R::slot_out(&mut out) };
    let call = |slots: &mut [Slot]| {
        let first = usize::from(object.is_none());
        let end = slots.len() - usize::from(R::VALUE.is_none());
        let slots = &mut slots[first..end];
        // SAFETY: the slots are those of `A` and `R`, which is the callee's signature by contract; what they point
        // to stands on this stack until the call is over.
        unsafe { host::zcall(handle, what, slots) }?;
        Ok(slots.last().copied().unwrap_or(Slot::EMPTY))
    };
    // SAFETY: the game thread or values that know none, by contract; the slots are used for the call alone.
    let result = unsafe { args.with_slots(object.unwrap_or_default(), out_slot, call) }?;
    // SAFETY: the callee gives an `R`, by contract, and has just filled both.
    unsafe { R::take_out(result, out) }
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
/// In a module of the Master this is for the game thread, and knows all that the host knows. In a module of a Slim, a
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
    // SAFETY: `out` stays where it is until the call is over.
    let out_slot = unsafe { T::slot_out(&mut out) };
    let mut slots = [plain_slot(object), plain_slot(0_u8), out_slot];
    // SAFETY: the name was resolved with the fingerprint of `T`, and `out` stands on this stack.
    unsafe { host::zcall(handle, name, &mut slots) }?;
    // SAFETY: the property holds a `T`, and the host has just filled both.
    unsafe { T::take_out(slots[2], out) }
}

/// Writes a property by its `up` name.
pub(crate) fn write_property<T: Value>(object: ObjectHandle, name: &str, value: &T) -> Result<(), CallError> {
    let handle = resolve_property::<T>(name)?;
    // SAFETY: the host has just resolved the name, which it does on the game thread only.
    let staged = unsafe { value.stage() };
    // SAFETY: what was staged stands here until the call is over.
    let slot = unsafe { value.slot_in(&staged) };
    let mut slots = [plain_slot(object), plain_slot(1_u8), slot];
    // SAFETY: the name was resolved with the fingerprint of `T`, and `staged` stands on this stack.
    unsafe { host::zcall(handle, name, &mut slots) }
}

fn resolve_property<T: Value>(name: &str) -> Result<ZCallHandle, CallError> {
    if !name.starts_with("up:") {
        return Err(CallError::other(format!("`{name}` names no property: write `up:/Script/Package.Class:property`")));
    }
    host::zcall_resolve(name, Fingerprint::START.value(T::KIND, T::TYPE_PATH).finish())
}
