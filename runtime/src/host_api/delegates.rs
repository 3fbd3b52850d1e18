//! Binds, unbinds and calls delegates.

use alcedo_abi::handles::ObjectHandle;

use super::arguments::{LiveValue, ValueLocation};
use crate::boundary::CallError;
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::bridge::delegates;
use crate::bridge::slots;
use crate::object::value::Value;
use crate::zcall::buffer::BufferMut;

pub(super) fn delegate_bind(
    core: &Core,
    delegate: ValueLocation<'_>,
    object: ObjectHandle,
    function: String,
) -> Result<(), CallError> {
    let mut delegate = open(delegate)?;
    let added = delegates::binding(&core.world, delegate.ty(), object, &function)?;
    let now = delegate.ptr().read();
    write(core, &mut delegate, &delegates::with(now, added))
}

pub(super) fn delegate_unbind(
    core: &Core,
    delegate: ValueLocation<'_>,
    object: ObjectHandle,
    function: String,
) -> Result<u32, CallError> {
    let mut delegate = open(delegate)?;
    let now = delegate.ptr().read();
    let is_kept = |binding: &_| !delegates::is_meant(&core.world, binding, object, &function);
    let (left, removed) = delegates::keep(now, is_kept);
    write(core, &mut delegate, &left)?;
    Ok(removed)
}

/// Calls a delegate. The slots match the delegate signature with which the module was compiled.
pub(super) fn delegate_call(
    core: &Core,
    delegate: ValueLocation<'_>,
    mut buffer: BufferMut<'_>,
) -> Result<(), CallError> {
    let mut delegate = open(delegate)?;
    let now = without_dead(core, &mut delegate);
    let mark = delegate.ptr_mut().delegate_mark(|| core.world.broadcasts.fresh_mark());
    delegates::call(&core.world, delegate.ty(), mark, &now, &mut |function, object| {
        slots::call(&core.world, function, object, &mut buffer, 0)
    })
}

fn open(location: ValueLocation<'_>) -> Result<LiveValue<'_>, CallError> {
    let delegate = location.open()?;
    delegates::signature_of(delegate.ty())?;
    Ok(delegate)
}

/// Overwrites a delegate. Fails if the owner of the delegate cannot currently be written.
fn write(core: &Core, delegate: &mut LiveValue<'_>, value: &Value) -> Result<(), CallError> {
    delegate.may_write()?;
    conjugates::overwrite(core, delegate.ptr_mut(), value)
}

/// Removes bindings to destroyed objects from a multicast delegate, and returns the remaining delegate. If the owner of the delegate cannot
/// currently be written, changes only the returned delegate.
fn without_dead(core: &Core, delegate: &mut LiveValue<'_>) -> Value {
    let (left, removed) = delegates::without_dead(&core.world, delegate.ty(), delegate.ptr().read());
    if removed != 0 {
        let _may_not = write(core, delegate, &left);
    }
    left
}
