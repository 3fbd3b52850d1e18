//! Writes strings in host memory, and interns names.

use std::rc::Rc;

use super::arguments::{BytesAt, BytesLen, TextTarget, ValueLocation};
use crate::boundary::CallError;
use crate::bridge::core::Core;
use crate::handles::Name;

pub(super) fn text_assign(_core: &Core, target: TextTarget<'_>, text: String) -> Result<(), CallError> {
    target.assign(&text);
    Ok(())
}

pub(super) fn ansi_assign<'c>(
    _core: &Core,
    location: ValueLocation<'c>,
    data: BytesAt<'c>,
    len: BytesLen<'c>,
) -> Result<(), CallError> {
    location.writable()?.assign_bytes(data, len)
}

pub(super) fn name_intern(core: &Core, text: String) -> Result<Name, CallError> {
    Ok(core.world.names.intern(&text))
}

pub(super) fn name_text(core: &Core, name: Name) -> Result<Rc<str>, CallError> {
    Ok(core.world.names.text(name))
}
