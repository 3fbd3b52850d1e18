//! Resolves and runs calls by name, and adds protocols and resolvers of modules.

use alcedo_abi::host_direct::{CLOSED, DirectCallee};

use super::answer::Refused;
use super::host_context::CallerContext;
use crate::boundary::{CallError, not_found};
pub(super) use crate::bridge::conjugate_calls::{call as conjugate_zcall, result as zcall_result};
use crate::bridge::core::Core;
use crate::bridge::host_direct::take_failure;
use crate::bridge::module_protocols::{self, BorrowedDesc};
pub(super) use crate::bridge::nd::result as delegate_result;
use crate::bridge::slots;
use crate::handles::{ClassId, ModuleId, ObjectHandle, ZCallHandle};
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::Slots;
use alcedo_abi::protocols::{ProtocolDesc, ResolverDesc};

pub(super) fn zcall_resolve(host: CallerContext<'_>, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
    match &host.calls {
        Some(calls) => calls.resolve(name, fingerprint),
        None => host.enter(|core| core.zcalls.resolve(&core.chain, name, fingerprint)),
    }
}

pub(super) fn zcall(host: CallerContext<'_>, handle: ZCallHandle, buffer: BufferMut<'_>) -> Result<(), Refused> {
    match &host.calls {
        Some(calls) => Ok(calls.call(handle, buffer)?),
        None => host.enter(|core| {
            let (status, done) = core.zcalls.dispatch(core.here(), handle, buffer);
            done.map_err(|error| Refused { status, error })
        }),
    }
}

pub(super) fn zcall_direct(
    host: CallerContext<'_>,
    handle: ZCallHandle,
    fingerprint: u64,
) -> Result<DirectCallee, CallError> {
    if let Some(calls) = &host.calls {
        return calls.direct(handle, fingerprint);
    }
    host.enter(|core| {
        let version = core.world.mode.direct_version();
        if version == CLOSED {
            return Ok(DirectCallee::NONE);
        }
        let found = core.zcalls.black_code(handle, fingerprint)?;
        Ok(found.map_or(DirectCallee::NONE, |direct| direct.callee(version)))
    })
}

pub(super) fn property_location(
    core: &Core,
    handle: ZCallHandle,
    fingerprint: u64,
    object: ObjectHandle,
) -> Result<(ClassId, u32), CallError> {
    let callee = core.zcalls.callee_of(handle, fingerprint)?;
    let path = callee.name().address();
    let property = (callee.slots() == Slots::Property && fingerprint != 0)
        .then(|| core.world.types.property_by_path(path))
        .flatten()
        .ok_or_else(|| not_found(format!("`{}` names no property", callee.name())))?;
    // After the class was declared again, the property with this name may have a different type.
    if property.ty.fingerprint() != fingerprint {
        return Err(CallError::Unavailable { what: format!("`{}`", callee.name()) });
    }
    let class = core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    slots::check_has(&class, object, &property)?;
    Ok((class.id, property.offset))
}

pub(super) fn direct_failure(_host: CallerContext<'_>) -> Result<(), CallError> {
    Err(take_failure())
}

pub(super) fn protocol_add(
    host: CallerContext<'_>,
    module: ModuleId,
    protocol: BorrowedDesc<'_, ProtocolDesc<'_>>,
) -> Result<(), CallError> {
    host.enter(|core| module_protocols::add_protocol(core, module, &protocol))
}

pub(super) fn resolver_add(
    host: CallerContext<'_>,
    module: ModuleId,
    resolver: BorrowedDesc<'_, ResolverDesc<'_>>,
) -> Result<(), CallError> {
    host.enter(|core| module_protocols::add_resolver(core, module, &resolver))
}
