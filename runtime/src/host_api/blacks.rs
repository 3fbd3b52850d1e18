//! Values that plugin code owns: made and given back.
#![expect(unsafe_code, reason = "copies values from where a module has them")]

use std::time::Instant;

use alcedo_abi::handles::{BlackHandle, TypeNumber};
use alcedo_abi::values::Site;

use super::given::text_of;
use super::host_context::CallerContext;
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::object::owned::OwnedValue;
use crate::object::values::ptr::Ptr;

pub(super) unsafe fn black_new(
    core: &Core,
    module: ModuleId,
    ty: TypeNumber,
    from: *const u8,
    site: &Site,
) -> Result<BlackHandle, CallError> {
    let known = core.value_types.get(ty)?;
    let value = match from.is_null() {
        true => OwnedValue::zero(known),
        // SAFETY: the list has a live value of the type at `from`.
        false => OwnedValue::copy_of(unsafe { Ptr::new(from, &known) }),
    };
    // SAFETY: the text of a site is lent for the call.
    unsafe { keep(core, module, ty, value, site) }
}

/// Makes a value a black of the module's.
///
/// # Safety
/// The text of the site is lent for the call.
pub(super) unsafe fn keep(
    core: &Core,
    module: ModuleId,
    number: TypeNumber,
    value: OwnedValue,
    site: &Site,
) -> Result<BlackHandle, CallError> {
    let file = core.blacks.keeps_sites().then(|| {
        // SAFETY: promised by the caller.
        unsafe { text_of(site.file) }
    });
    let site = file.as_deref().map(|file| (file, site.line));
    core.blacks.make(module, number, value, site, Instant::now())
}

pub(super) fn black_drop(host: CallerContext<'_>, black: BlackHandle) -> Result<(), CallError> {
    let done = host.enter(|core| {
        core.blacks.dispose(black);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. }) = done {
        host.drops.leave(black);
    }
    Ok(())
}
