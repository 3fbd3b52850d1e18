//! References, classes and properties by path, and what is asked of an object by its place in the world.
#![expect(unsafe_code, reason = "the shells turn raw words of the border into references, and follow places of values")]

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, TypeNumber};
use alcedo_abi::host::HostRef;
use alcedo_abi::value::{TextSink, TextView};
use alcedo_abi::values::Place;

use crate::border::{CallError, into_module};
use crate::bridge::collection::Wanted;
use crate::bridge::core::Core;
use crate::host_table::{give_text, text_of, word};
use crate::object::property::PropertyType;
use crate::object::transfer;
use crate::object::value::Value;

pub(super) unsafe extern "C" fn reference_assign(
    host: HostRef,
    place: &Place,
    object: ObjectHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: `ValueTable::reference_assign` has a live value of the type at the place.
    let written = |core: &Core| unsafe { write(core, place, |ty| core.world.reference_to(ty, object)) };
    into_module(failure, || host.enter("pointing a reference at an object", |core| written(core)))
}

pub(super) unsafe extern "C" fn reference_resolve(
    host: HostRef,
    ty: TypeNumber,
    at: *const u8,
    out: &mut ObjectHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("following a reference", |core| {
            let ty = core.value_types.get(ty)?;
            // SAFETY: `ValueTable::reference_resolve` has a live value of the type there.
            let value = unsafe { transfer::read(at, &ty) };
            Ok(core.world.resolve_reference(&ty, &value))
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn class_assign(
    host: HostRef,
    place: &Place,
    path: Name,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("naming a class", |core| {
            let path = core.world.names.text(path);
            // SAFETY: `ValueTable::class_assign` has a live value of the type at the place.
            unsafe { write(core, place, |ty| core.world.class_reference(ty, &path)) }
        })
    })
}

pub(super) unsafe extern "C" fn class_resolve(
    host: HostRef,
    ty: TypeNumber,
    at: *const u8,
    out: &mut ClassId,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        *out = host.enter("asking for a class", |core| {
            let ty = core.value_types.get(ty)?;
            // SAFETY: `ValueTable::class_resolve` has a live value of the type there.
            let value = unsafe { transfer::read(at, &ty) };
            Ok(core.world.resolve_class(&ty, &value).map_or(ClassId::NONE, |class| class.id))
        })?;
        Ok(())
    })
}

pub(super) unsafe extern "C" fn object_path(host: HostRef, object: ObjectHandle, sink: &TextSink) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    let path = host
        .enter("asking an object's path", |core| core.world.path_of(object).ok_or(CallError::Stale { handle: object }));
    give_text(sink, path.as_deref())
}

pub(super) unsafe extern "C" fn field_assign(
    host: HostRef,
    place: &Place,
    path: TextView,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let path = unsafe { text_of(path) };
    // SAFETY: `ValueTable::field_assign` has a live value of the type at the place.
    let written = |core: &Core| unsafe { write(core, place, |_| core.world.field_path(&path)) };
    into_module(failure, || host.enter("naming a property", |core| written(core)))
}

pub(super) unsafe extern "C" fn field_type(
    host: HostRef,
    at: *const u8,
    sink: &TextSink,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        let ty = host.enter("asking for a property", |core| {
            // SAFETY: `ValueTable::field_type` has a live field path there.
            let path = unsafe { transfer::read(at, &PropertyType::FieldPath) };
            Ok(core.world.resolve_field(&path).map(|property| property.ty.to_string()))
        })?;
        if let Some(ty) = ty {
            let _given = give_text(sink, Ok(&ty));
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn object_rename(
    host: HostRef,
    object: ObjectHandle,
    name: TextView,
    outer: ObjectHandle,
    failure: &mut Failure,
) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    // SAFETY: the view's bytes are lent for the call.
    let name = unsafe { text_of(name) };
    into_module(failure, || {
        host.enter("renaming an object", |core| {
            // A name lies in no body, so not even that of an object with a new one could be taken back.
            if core.world.objects.predates_shadow(object) {
                return Err(CallError::DuringRebuild {
                    action: format!("renaming {}", core.world.objects.shown(object)),
                });
            }
            core.world.objects.may_write(object)?;
            core.world.rename(object, &name, outer)
        })
    })
}

pub(super) unsafe extern "C" fn collect(host: HostRef, failure: &mut Failure) -> Status {
    // SAFETY: the module hands back its own word.
    let host = unsafe { word(host) };
    into_module(failure, || {
        host.enter("a collection", |core| {
            core.world.mode.may_act("asking for a collection")?;
            core.collection.ask(Wanted::Whole);
            Err(CallError::Unavailable {
                what: "a collection inside a call, which is done at the next safe point".into(),
            })
        })
    })
}

/// Overwrites the value at a place by what `make` makes for its type, if its owner may be written now.
///
/// # Safety
/// There is a live value of the type at the place.
unsafe fn write(
    core: &Core,
    place: &Place,
    make: impl FnOnce(&PropertyType) -> Result<Value, CallError>,
) -> Result<(), CallError> {
    let ty = core.value_types.get(place.ty)?;
    let value = make(&ty)?;
    if !place.owner.is_none() {
        core.world.objects.may_write(place.owner)?;
    }
    // SAFETY: the caller promises it; nobody else reads or writes while this runs.
    let written = unsafe { transfer::write(place.at, &ty, &value) };
    written.map_err(|error| CallError::Signature {
        name: "the value".to_owned(),
        found: error.wanted,
        wanted: error.found,
    })
}
