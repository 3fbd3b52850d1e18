//! Delegates: bound, taken apart and called.
#![expect(unsafe_code, reason = "the shells turn raw words of the border into references, and follow places of values")]

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::host::HostRef;
use alcedo_abi::value::TextView;
use alcedo_abi::values::Place;
use alcedo_abi::zcall::{ZCallBuffer, ZCallStatus};

use crate::border::{CallError, into_module};
use crate::bridge::calls;
use crate::bridge::core::Core;
use crate::bridge::delegates;
use crate::bridge::slots;
use crate::host_table::{text_of, word};
use crate::object::memory;
use crate::object::property::PropertyType;
use crate::object::thunk::ParamBlock;
use crate::object::transfer;
use crate::object::value::Value;
use crate::zcall::buffer::BufferMut;
use crate::zcall::table::status_of;

pub(super) unsafe extern "C" fn delegate_bind(
    host: HostRef,
    delegate: &Place,
    object: ObjectHandle,
    function: TextView,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let function = unsafe { text_of(function) };
    into_module(failure, || {
        host.enter("binding a delegate", |core| {
            let ty = delegate_type(core, delegate)?;
            let added = delegates::binding(&core.world, &ty, object, &function)?;
            // SAFETY: `ValueTable::delegate_bind` has a live value of the type at the place.
            let now = unsafe { transfer::read(delegate.at, &ty) };
            // SAFETY: as above.
            unsafe { write(core, delegate, &ty, &delegates::with(now, added)) }
        })
    })
}

pub(super) unsafe extern "C" fn delegate_unbind(
    host: HostRef,
    delegate: &Place,
    object: ObjectHandle,
    function: TextView,
    out: &mut u32,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let function = unsafe { text_of(function) };
    into_module(failure, || {
        *out = host.enter("unbinding a delegate", |core| {
            let ty = delegate_type(core, delegate)?;
            let is_out = |binding: &_| delegates::is_meant(&core.world, binding, object, &function);
            // SAFETY: `ValueTable::delegate_unbind` has a live value of the type at the place.
            let now = unsafe { transfer::read(delegate.at, &ty) };
            let (left, removed) = delegates::keep(now, |binding| !is_out(binding));
            // Before the write: a sparse one without bindings has no mark any more.
            // SAFETY: as above.
            let mark = unsafe { memory::delegate_mark(delegate.at, &ty, || None) };
            // SAFETY: as above.
            unsafe { write(core, delegate, &ty, &left) }?;
            core.delegates.taken_out(mark, is_out);
            Ok(removed)
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn delegate_call(
    host: HostRef,
    delegate: &Place,
    buffer: &mut ZCallBuffer,
    failure: &mut Failure,
) -> ZCallStatus {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: `ValueTable::delegate_call` lends the buffer, live and unshared, until this shell returns; its slots are those
    // of the delegate's signature, by which the module was compiled.
    let mut buffer = unsafe { BufferMut::from_raw(buffer) };
    let called = host.enter("calling a delegate", |core| {
        let ty = delegate_type(core, delegate)?;
        // SAFETY: `ValueTable::delegate_call` has a live value of the type at the place.
        let now = unsafe { transfer::read(delegate.at, &ty) };
        // SAFETY: as above.
        let now = unsafe { without_dead(core, delegate, &ty, now) };
        // SAFETY: as above.
        let mark = unsafe { memory::delegate_mark(delegate.at, &ty, || core.delegates.fresh_mark()) };
        core.delegates.call(&core.world, &ty, mark, &now, &mut |function, object| {
            let mut block = ParamBlock::new(function);
            slots::read_parameters(&buffer, 0, function, &block)?;
            calls::invoke(&core.world, function, object, &mut block)?;
            slots::write_result(&mut buffer, function, &block)
        })
    });
    match called {
        Ok(()) => ZCallStatus::SUCCESS,
        Err(error) => {
            *failure = error.to_failure();
            status_of(&error)
        }
    }
}

fn delegate_type(core: &Core, place: &Place) -> Result<PropertyType, CallError> {
    let ty = core.value_types.get(place.ty)?;
    delegates::signature_of(&ty)?;
    Ok(ty)
}

/// Overwrites a delegate, if its owner may be written now.
///
/// # Safety
/// There is a live value of the type at the place.
unsafe fn write(core: &Core, place: &Place, ty: &PropertyType, delegate: &Value) -> Result<(), CallError> {
    if !place.owner.is_none() {
        core.world.objects.may_write(place.owner)?;
    }
    // SAFETY: the caller promises it; nobody else reads or writes while this runs.
    let written = unsafe { transfer::write(place.at, ty, delegate) };
    written.map_err(|error| CallError::other(error.to_string()))
}

/// Takes bindings of objects that are gone out of several. Where the owner may not be written they are passed over only.
///
/// # Safety
/// There is a live value of the type at the place.
unsafe fn without_dead(core: &Core, place: &Place, ty: &PropertyType, delegate: Value) -> Value {
    if let PropertyType::Delegate(_) = ty {
        return delegate;
    }
    let (left, removed) = delegates::keep(delegate, |binding| core.world.objects.is_alive(binding.object));
    if removed != 0 {
        // SAFETY: promised by the caller.
        let _may_not = unsafe { write(core, place, ty, &left) };
    }
    left
}
