//! Slots become parameters and results become slots. Plain values sit in the slot; text and structs are behind a
//! pointer slot, which only the border's own plumbing can make.
#![expect(unsafe_code, reason = "follows the pointer slots of text and structs")]

use crate::border::CallError;
use crate::handles::{Name, ObjectHandle};
use crate::object::function::Function;
use crate::object::property::{Property, PropertyType};
use crate::object::storage::View;
use crate::object::thunk::ParamBlock;
use crate::zcall::buffer::BufferMut;

/// Copies the parameters of `function` from the slots from `first` on into `block`.
///
/// # Errors
/// When the number or the type of the slots is not the signature's; nothing was called then.
pub(crate) fn read_parameters(
    buffer: &BufferMut<'_>,
    first: usize,
    function: &Function,
    block: &ParamBlock<'_>,
) -> Result<(), CallError> {
    let arguments = function.arguments();
    let wanted = first + arguments.len() + usize::from(function.result().is_some());
    if buffer.len() != wanted {
        return Err(CallError::Buffer {
            message: format!(
                "{} ({}) takes {wanted} slots, object and result included, the buffer has {}",
                function.path,
                function.signature(),
                buffer.len()
            ),
        });
    }
    for (at, argument) in arguments.iter().enumerate() {
        read_slot(buffer, first + at, argument, block.view())?;
    }
    Ok(())
}

/// Copies the result of `function`, if it has one, into the last slot.
///
/// # Errors
/// When the slot is not what the type needs.
pub(crate) fn write_result(
    buffer: &mut BufferMut<'_>,
    function: &Function,
    block: &ParamBlock<'_>,
) -> Result<(), CallError> {
    match function.result() {
        Some(result) => write_slot(buffer, buffer.len() - 1, result, block.view()),
        None => Ok(()),
    }
}

macro_rules! plain {
    ($ty:expr, $each:ident) => {
        match $ty {
            PropertyType::U8 => $each!(u8),
            PropertyType::U16 => $each!(u16),
            PropertyType::U32 => $each!(u32),
            PropertyType::U64 => $each!(u64),
            PropertyType::I8 => $each!(i8),
            PropertyType::I16 => $each!(i16),
            PropertyType::I32 => $each!(i32),
            PropertyType::I64 => $each!(i64),
            PropertyType::F32 => $each!(f32),
            PropertyType::F64 => $each!(f64),
            PropertyType::Bool => $each!(bool),
            PropertyType::Name => $each!(Name),
            PropertyType::Object { .. } => $each!(ObjectHandle),
            PropertyType::Text | PropertyType::Struct(_) => {}
        }
    };
}

/// Copies one slot into a property of `view`.
///
/// # Errors
/// When the slot has another type.
pub(crate) fn read_slot(
    buffer: &BufferMut<'_>,
    at: usize,
    property: &Property,
    view: View<'_>,
) -> Result<(), CallError> {
    macro_rules! read {
        ($rust:ty) => {
            return view.set(property, buffer.get::<$rust>(at)?)
        };
    }
    plain!(&property.ty, read);
    if let PropertyType::Struct(layout) = &property.ty {
        plain_only(property)?;
        let target = view.start().wrapping_add(property.offset as usize);
        // SAFETY: the view has the property, or `read` refuses; whoever made the pointer slot promised a struct of
        // the layout that the fingerprint named, and a struct in a slot holds plain values only.
        return view.read(property).and_then(|_has| unsafe { buffer.take_struct(at, target, layout.size()) });
    }
    // SAFETY: whoever made the pointer slot promised a text that lives as long as the call.
    let text = unsafe { buffer.text(at) }?.to_owned();
    view.set(property, text)
}

/// Copies a property of `view` into one slot, or through its pointer.
///
/// # Errors
/// When a text or struct has no pointer slot waiting for it.
pub(crate) fn write_slot(
    buffer: &mut BufferMut<'_>,
    at: usize,
    property: &Property,
    view: View<'_>,
) -> Result<(), CallError> {
    macro_rules! write {
        ($rust:ty) => {
            return buffer.set(at, view.get::<$rust>(property)?)
        };
    }
    plain!(&property.ty, write);
    if let PropertyType::Struct(layout) = &property.ty {
        plain_only(property)?;
        let source = view.start().wrapping_add(property.offset as usize);
        // SAFETY: the view has the property, or `read` refuses; the caller waits with memory for a struct of the
        // layout that the fingerprint named.
        return view.read(property).and_then(|_has| unsafe { buffer.give_struct(at, source, layout.size()) });
    }
    let text: String = view.get(property)?;
    // SAFETY: the caller of a function with a text result made this slot a sink that lives as long as the call.
    unsafe { buffer.give_text(at, &text) }
}

/// Bytes of a text must not be copied: both copies would own it.
fn plain_only(property: &Property) -> Result<(), CallError> {
    if property.ty.owns_memory() {
        let message = format!("{}: {} holds text, so it does not travel in a slot", property.text, property.ty);
        return Err(CallError::Buffer { message });
    }
    Ok(())
}
