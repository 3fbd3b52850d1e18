//! Calls by name.

use super::answer::Refused;
use super::host_context::CallerContext;
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::bridge::module_protocols::Lent;
use crate::bridge::{conjugate_calls, module_protocols, nd};
use crate::handles::{ModuleId, ZCallHandle};
use crate::zcall::buffer::BufferMut;
use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::kinds::PropertyKind;
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

pub(super) fn conjugate_zcall(
    core: &Core,
    module: ModuleId,
    handle: ZCallHandle,
    mut buffer: BufferMut<'_>,
) -> Result<(), CallError> {
    conjugate_calls::call(core, module, handle, &mut buffer)
}

pub(super) fn zcall_result(core: &Core, handle: ZCallHandle) -> Result<PropertyKind, CallError> {
    conjugate_calls::result(core, handle)
}

pub(super) fn delegate_result(core: &Core, delegate: ConjugateHandle) -> Result<PropertyKind, CallError> {
    nd::result(core, delegate)
}

pub(super) fn protocol_add(
    host: CallerContext<'_>,
    module: ModuleId,
    protocol: Lent<'_, ProtocolDesc<'_>>,
) -> Result<(), CallError> {
    host.enter(|core| module_protocols::add_protocol(core, module, &protocol))
}

pub(super) fn resolver_add(
    host: CallerContext<'_>,
    module: ModuleId,
    resolver: Lent<'_, ResolverDesc<'_>>,
) -> Result<(), CallError> {
    host.enter(|core| module_protocols::add_resolver(core, module, &resolver))
}
