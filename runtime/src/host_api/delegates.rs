//! Delegates: bound, taken apart and called.
#![expect(unsafe_code, reason = "follows places of values")]

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::values::ValuePlace;

use crate::border::CallError;
use crate::bridge::calls;
use crate::bridge::core::Core;
use crate::bridge::delegates;
use crate::bridge::slots;
use crate::object::property::PropertyType;
use crate::object::thunk::ParamBlock;
use crate::object::value::Value;
use crate::object::values::ptr::{Ptr, PtrMut};
use crate::zcall::buffer::BufferMut;

pub(super) unsafe fn delegate_bind(
    core: &Core,
    delegate: &ValuePlace,
    object: ObjectHandle,
    function: String,
) -> Result<(), CallError> {
    let ty = delegate_type(core, delegate)?;
    let added = delegates::binding(&core.world, &ty, object, &function)?;
    // SAFETY: the list has a live value of the type at the place.
    unsafe {
        let now = Ptr::new(delegate.at, &ty).read();
        write(core, delegate, &ty, &delegates::with(now, added))
    }
}

pub(super) unsafe fn delegate_unbind(
    core: &Core,
    delegate: &ValuePlace,
    object: ObjectHandle,
    function: String,
) -> Result<u32, CallError> {
    let ty = delegate_type(core, delegate)?;
    let is_out = |binding: &_| delegates::is_meant(&core.world, binding, object, &function);
    // SAFETY: the list has a live value of the type at the place.
    let (mark, removed) = unsafe {
        let now = Ptr::new(delegate.at, &ty).read();
        let (left, removed) = delegates::keep(now, |binding| !is_out(binding));
        // Before the write: a sparse one without bindings has no mark any more.
        let mark = PtrMut::new(delegate.at, &ty).delegate_mark(|| None);
        write(core, delegate, &ty, &left)?;
        (mark, removed)
    };
    core.delegates.taken_out(mark, is_out);
    Ok(removed)
}

/// The slots are those of the delegate's signature, by which the module was compiled.
pub(super) unsafe fn delegate_call(
    core: &Core,
    delegate: &ValuePlace,
    mut buffer: BufferMut<'_>,
) -> Result<(), CallError> {
    let ty = delegate_type(core, delegate)?;
    // SAFETY: the list has a live value of the type at the place.
    let (now, mark) = unsafe {
        let now = without_dead(core, delegate, &ty, Ptr::new(delegate.at, &ty).read());
        (now, PtrMut::new(delegate.at, &ty).delegate_mark(|| core.delegates.fresh_mark()))
    };
    core.delegates.call(&core.world, &ty, mark, &now, &mut |function, object| {
        let mut block = ParamBlock::new(function);
        slots::read_parameters(&buffer, 0, function, &block)?;
        calls::invoke(&core.world, function, object, &mut block)?;
        slots::write_result(&mut buffer, function, &block)
    })
}

fn delegate_type(core: &Core, place: &ValuePlace) -> Result<PropertyType, CallError> {
    let ty = core.value_types.get(place.ty)?;
    delegates::signature_of(&ty)?;
    Ok(ty)
}

/// Overwrites a delegate, if its owner may be written now.
///
/// # Safety
/// There is a live value of the type at the place.
unsafe fn write(core: &Core, place: &ValuePlace, ty: &PropertyType, delegate: &Value) -> Result<(), CallError> {
    if !place.owner.is_none() {
        core.world.objects.may_write(place.owner)?;
    }
    // SAFETY: the caller promises it; nobody else reads or writes while this runs.
    let written = unsafe { PtrMut::new(place.at, ty) }.write(delegate);
    written.map_err(|error| CallError::other(error.to_string()))
}

/// Takes bindings of objects that are gone out of several. Where the owner may not be written they are passed over only.
///
/// # Safety
/// There is a live value of the type at the place.
unsafe fn without_dead(core: &Core, place: &ValuePlace, ty: &PropertyType, delegate: Value) -> Value {
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
