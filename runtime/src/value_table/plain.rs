//! What is done with a value of any type, and how a type gets its number.
#![expect(
    unsafe_code,
    reason = "the shells turn raw words of the border into references, and follow addresses of values"
)]

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::TypeNumber;
use alcedo_abi::host::HostRef;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::values::Place;

use crate::border::{CallError, into_module};
use crate::bridge::core::Core;
use crate::handles::ModuleId;
use crate::host_table::{give_text, text_of, word};
use crate::object::property::PropertyType;
use crate::object::value::Value;
use crate::object::{memory, text_memory, transfer};

/// The type of a place that is about to be written, if it may be.
pub(super) fn writable(core: &Core, place: &Place) -> Result<PropertyType, CallError> {
    let ty = core.value_types.get(place.ty)?;
    if !place.owner.is_none() {
        core.world.objects.may_write(place.owner)?;
    }
    Ok(ty)
}

/// That a place is of a kind that a verb is for.
pub(super) fn wrong_kind(ty: &PropertyType, verb: &str) -> CallError {
    CallError::Signature { name: verb.to_owned(), found: ty.to_string(), wanted: format!("what {verb} is for") }
}

pub(super) unsafe extern "C" fn type_resolve(
    host: HostRef,
    module: u64,
    text: TextView,
    out: &mut TypeNumber,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let text = unsafe { text_of(text) };
    into_module(failure, || {
        *out = host
            .enter("asking for a type", |core| core.value_types.number(&core.world.types, ModuleId(module), &text))?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn copy(host: HostRef, to: &Place, from: *const u8, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("overwriting a value", |core| {
            let ty = writable(core, to)?;
            // SAFETY: the place and the address are those of live values of the type, by the promise of the table.
            unsafe { memory::copy(to.at, from, &ty) };
            Ok(())
        })
    })
}

pub(super) unsafe extern "C" fn equal(
    host: HostRef,
    ty: TypeNumber,
    one: *const u8,
    two: *const u8,
    out: &mut u8,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("comparing values", |core| {
            let ty = core.value_types.get(ty)?;
            // SAFETY: the addresses are those of live values of the type, by the promise of the table.
            Ok(unsafe { memory::equal(one, two, &ty) }.into())
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn hash(
    host: HostRef,
    ty: TypeNumber,
    at: *const u8,
    out: &mut u64,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("hashing a value", |core| {
            let ty = core.value_types.get(ty)?;
            // SAFETY: the address is that of a live value of the type, by the promise of the table.
            Ok(unsafe { memory::hashed(at, &ty) })
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn print(
    host: HostRef,
    ty: TypeNumber,
    at: *const u8,
    sink: &TextSink,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        let text = host.enter("printing a value", |core| {
            let ty = core.value_types.get(ty)?;
            // SAFETY: the address is that of a live value of the type, by the promise of the table.
            Ok(unsafe { transfer::read(at, &ty) }.print(&core.world.names))
        })?;
        let _given = give_text(sink, Ok(&text));
        Ok(())
    })
}

pub(super) unsafe extern "C" fn parse(host: HostRef, place: &Place, text: TextView, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let text = unsafe { text_of(text) };
    into_module(failure, || {
        host.enter("reading a value from text", |core| {
            let ty = writable(core, place)?;
            let value = Value::parse(&text, &ty, &core.world.names);
            let value = value.map_err(|error| CallError::other(error.to_string()))?;
            core.world.check_objects(&ty, &value, || format!("a {ty} read from text"))?;
            // SAFETY: the place is that of a live value of the type, by the promise of the table.
            let written = unsafe { transfer::write(place.at, &ty, &value) };
            written.map_err(|error| CallError::other(error.to_string()))
        })
    })
}

pub(super) unsafe extern "C" fn clear(host: HostRef, place: &Place, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("clearing a value", |core| {
            let ty = writable(core, place)?;
            // SAFETY: the place is that of a live value of the type, by the promise of the table.
            unsafe { memory::destroy(place.at, &ty) };
            Ok(())
        })
    })
}

pub(super) unsafe extern "C" fn ansi_assign(
    host: HostRef,
    place: &Place,
    data: *const u8,
    len: usize,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("overwriting a text", |core| {
            let ty = writable(core, place)?;
            if ty.kind() != PropertyKind::ANSI_STRING {
                return Err(wrong_kind(&ty, "ansi_assign"));
            }
            // SAFETY: the place is that of a live text, which the type says; the bytes are lent for the call, and may be its
            // own.
            unsafe { text_memory::text_assign_raw(place.at.cast(), data, len) };
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests;
