//! The objects that values name by handle, wherever in a value they stand: found for collection, replaced when the parts
//! of a template become those of an object.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

use alcedo_abi::value::{ArrayRaw, MapRaw, SparseRaw};
use alcedo_base::handles::ObjectHandle;

use super::{each_field, or_empty};
use crate::containers::{map_rekey, rows};
use crate::property::PropertyType;

/// Shows `visit` every reference in the value that keeps an object alive, none left out.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody writes meanwhile, not even `visit`.
pub unsafe fn visit_objects(at: *const u8, ty: &PropertyType, visit: &mut dyn FnMut(ObjectHandle)) {
    if !ty.holds_objects() {
        return;
    }
    match ty {
        PropertyType::Object { .. } | PropertyType::ScriptInterface(_) | PropertyType::Delegate(_) => {
            // SAFETY: the caller promises an aligned handle there; a delegate begins with one.
            visit(unsafe { at.cast::<ObjectHandle>().read() });
        }
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { visit_objects(at.wrapping_add(offset), field, visit) };
        }),
        PropertyType::Array(of) | PropertyType::MulticastDelegate(of) => {
            // SAFETY: the caller promises an array.
            let array = unsafe { at.cast::<ArrayRaw>().read() };
            for place in rows(&array, of.ty().size()) {
                // SAFETY: the values of the array.
                unsafe { visit_objects(place, of.ty(), visit) };
            }
        }
        PropertyType::Set(_) | PropertyType::Map(_) => {
            let Some(row) = ty.row() else { return };
            // SAFETY: the caller promises a set or map.
            let entries = unsafe { at.cast::<MapRaw>().read() }.entries;
            for place in rows(&entries, row.size) {
                // SAFETY: a row begins with its key.
                unsafe { visit_objects(place, row.key, visit) };
                if let Some((value, at)) = row.value {
                    // SAFETY: the value lies there.
                    unsafe { visit_objects(place.wrapping_add(at), value, visit) };
                }
            }
        }
        PropertyType::Optional(of) => {
            // SAFETY: the caller promises the value.
            let is_there = unsafe { at.read() } != 0;
            let value = at.wrapping_add(of.value_at());
            if is_there {
                // SAFETY: the value lies behind the byte.
                unsafe { visit_objects(value, of.ty(), visit) };
            }
        }
        PropertyType::SparseDelegate(of) => {
            // SAFETY: the caller promises the value.
            let list = unsafe { at.cast::<SparseRaw>().read() }.list.cast_const();
            // SAFETY: a list of delegates, or none.
            let list = unsafe { or_empty(list, &ArrayRaw::EMPTY).read() };
            for place in rows(&list, of.ty().size()) {
                // SAFETY: the delegates of the list.
                unsafe { visit_objects(place, of.ty(), visit) };
            }
        }
        _ => {}
    }
}

/// Replaces every handle of an object in the value, weak ones too, by what `map` makes of it. Where two keys become one,
/// the first row stays.
///
/// # Safety
/// `at` holds a value of `ty`, aligned, that nobody else reads or writes meanwhile, not even `map`.
pub unsafe fn map_objects(at: *mut u8, ty: &PropertyType, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
    if !ty.names_objects() {
        return;
    }
    match ty {
        PropertyType::Object { .. }
        | PropertyType::ScriptInterface(_)
        | PropertyType::WeakObject(_)
        | PropertyType::Delegate(_) => {
            // SAFETY: the caller promises an aligned handle there; a delegate begins with one.
            let mapped = map(unsafe { at.cast::<ObjectHandle>().read() });
            // SAFETY: as above, and that it may be written.
            unsafe { at.cast::<ObjectHandle>().write(mapped) };
        }
        PropertyType::Struct(of) => each_field(of, |offset, field| {
            // SAFETY: the caller promises the struct, and so its fields.
            unsafe { map_objects(at.wrapping_add(offset), field, map) };
        }),
        PropertyType::Array(of) | PropertyType::MulticastDelegate(of) => {
            // SAFETY: the caller promises an array.
            let array = unsafe { at.cast::<ArrayRaw>().read() };
            for place in rows(&array, of.ty().size()) {
                // SAFETY: the values of the array.
                unsafe { map_objects(place, of.ty(), map) };
            }
        }
        PropertyType::Set(_) | PropertyType::Map(_) => {
            let Some(row) = ty.row() else { return };
            // SAFETY: the caller promises a set or map.
            let entries = unsafe { at.cast::<MapRaw>().read() }.entries;
            for place in rows(&entries, row.size) {
                // SAFETY: a row begins with its key.
                unsafe { map_objects(place, row.key, map) };
                if let Some((value, at)) = row.value {
                    // SAFETY: the value lies there.
                    unsafe { map_objects(place.wrapping_add(at), value, map) };
                }
            }
            if row.key.names_objects() {
                // SAFETY: the caller promises the set or map; only its keys are not where they should be found.
                unsafe { map_rekey(at.cast(), row) };
            }
        }
        PropertyType::Optional(of) => {
            // SAFETY: the value lies behind the byte, be it used or not.
            unsafe { map_objects(at.wrapping_add(of.value_at()), of.ty(), map) };
        }
        PropertyType::SparseDelegate(of) => {
            // SAFETY: the caller promises the value.
            let list = unsafe { at.cast::<SparseRaw>().read() }.list.cast_const();
            // SAFETY: a list of delegates, or none.
            let list = unsafe { or_empty(list, &ArrayRaw::EMPTY).read() };
            for place in rows(&list, of.ty().size()) {
                // SAFETY: the delegates of the list.
                unsafe { map_objects(place, of.ty(), map) };
            }
        }
        _ => {}
    }
}
