//! Creates and releases values that plugin code owns.

use std::time::Instant;

use alcedo_abi::handles::{BlackHandle, TypeNumber};

use super::arguments::{CallType, MadeAt, MaybeAddress};
use super::host_context::CallerContext;
use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::object::owned::OwnedValue;

pub(super) fn black_new<'c>(
    core: &Core,
    module: ModuleId,
    ty: CallType<'c>,
    from: MaybeAddress<'c>,
    site: MadeAt<'c>,
) -> Result<BlackHandle, CallError> {
    let known = ty.known()?;
    let value = match from.address() {
        None => OwnedValue::initial(known.ty),
        Some(from) => OwnedValue::copy_of(from.of(&known)),
    };
    keep(core, module, ty.number, value, &site)
}

/// Stores a value for the module, which then owns the value.
pub(super) fn keep(
    core: &Core,
    module: ModuleId,
    number: TypeNumber,
    value: OwnedValue,
    site: &MadeAt<'_>,
) -> Result<BlackHandle, CallError> {
    let file = core.owned_values.keeps_sites().then(|| site.file());
    let site = file.as_deref().map(|file| (file, site.line));
    core.owned_values.make(module, number, value, site, Instant::now())
}

pub(super) fn black_drop(host: CallerContext<'_>, black: BlackHandle) -> Result<(), CallError> {
    let done = host.enter(|core| {
        core.owned_values.dispose(black);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. }) = done {
        host.drops.leave(black);
    }
    Ok(())
}
