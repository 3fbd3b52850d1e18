//! Texts in host memory, and names.
#![expect(unsafe_code, reason = "follows addresses of texts")]

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::TextRaw;
use alcedo_abi::values::ValuePlace;

use super::plain::{writable, wrong_kind};
use crate::border::CallError;
use crate::bridge::core::Core;
use crate::handles::Name;
use crate::object::values::text_memory;

pub(super) unsafe fn text_assign(_core: &Core, target: *mut TextRaw, text: String) -> Result<(), CallError> {
    // SAFETY: the list has a text property of a living object at `target`, or a result in a parameter block of the host.
    unsafe { text_memory::text_assign_raw(target, text.as_ptr(), text.len()) };
    Ok(())
}

pub(super) unsafe fn ansi_assign(
    core: &Core,
    place: &ValuePlace,
    data: *const u8,
    len: usize,
) -> Result<(), CallError> {
    let ty = writable(core, place)?;
    if ty.kind() != PropertyKind::ANSI_STRING {
        return Err(wrong_kind(&ty, "ansi_assign"));
    }
    // SAFETY: the place is that of a live text, which the type says; the bytes are lent for the call, and may be its own.
    unsafe { text_memory::text_assign_raw(place.at.cast(), data, len) };
    Ok(())
}

pub(super) fn name_intern(core: &Core, text: String) -> Result<Name, CallError> {
    Ok(core.world.names.intern(&text))
}

pub(super) fn name_text(core: &Core, name: Name) -> Result<Rc<str>, CallError> {
    Ok(core.world.names.text(name))
}
