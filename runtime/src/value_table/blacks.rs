//! Values that plugin code owns: made and given back.
#![expect(unsafe_code, reason = "the shells turn raw words of the border into references")]

use std::time::Instant;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::{BlackHandle, TypeNumber};
use alcedo_abi::host::HostRef;
use alcedo_abi::values::Site;

use crate::border::{CallError, into_module};
use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::host_table::{Word, text_of, word};
use crate::object::owned::OwnedValue;

pub(super) unsafe extern "C" fn black_new(
    host: HostRef,
    module: u64,
    ty: TypeNumber,
    from: *const u8,
    site: &Site,
    out: &mut BlackHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("making a black conjugate", |core| {
            let known = core.value_types.get(ty)?;
            let value = match from.is_null() {
                true => OwnedValue::zero(known),
                // SAFETY: `ValueTable::black_new` has a live value of the type at `from`.
                false => unsafe { OwnedValue::copy_of(known, from) },
            };
            keep(core, ModuleId(module), ty, value, site)
        })?;
        Ok(())
    })
}

/// Makes a value a black of the module's.
pub(super) fn keep(
    core: &Core,
    module: ModuleId,
    number: TypeNumber,
    value: OwnedValue,
    site: &Site,
) -> Result<BlackHandle, CallError> {
    let file = core.blacks.keeps_sites().then(|| {
        // SAFETY: the text of a site is lent for the call.
        unsafe { text_of(site.file) }
    });
    let site = file.as_deref().map(|file| (file, site.line));
    core.blacks.make(module, number, value, site, Instant::now())
}

pub(super) unsafe extern "C" fn black_drop(host: HostRef, black: BlackHandle) {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    give_back(host, black);
}

fn give_back(host: Word<'_>, black: BlackHandle) {
    let done = host.enter("dropping a black conjugate", |core| {
        core.blacks.dispose(black);
        Ok(())
    });
    if let Err(CallError::WrongThread { .. }) = done {
        host.drops().leave(black);
    }
}
