//! Slots become parameters and results become slots. Numbers, names and references sit in the slot; every other value is
//! behind a pointer slot, which only the border's own plumbing can make, and is copied with all it owns.
#![expect(unsafe_code, reason = "follows the pointer slots of values that do not fit a slot")]

use crate::border::CallError;
use crate::handles::{Name, ObjectHandle};
use crate::object::function::Function;
use crate::object::property::{Property, PropertyType};
use crate::object::storage::View;
use crate::object::thunk::ParamBlock;
use crate::object::values::ptr::{Ptr, PtrMut};
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
            _ => {}
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
    if matches!(property.ty, PropertyType::Text) {
        // SAFETY: the code that made the pointer slot promised a text that lives as long as the call.
        let text = unsafe { buffer.text(at) }?.to_owned();
        return view.set(property, text);
    }
    let target = view.place(property)?;
    let source = aligned(buffer, at, &property.ty)?;
    // SAFETY: the view has the property; the code that made the pointer slot promised a live value of the type that the
    // fingerprint named, which is not written during the call. No other code has the block of parameters.
    unsafe { PtrMut::new(target, &property.ty).copy_from(Ptr::new(source, &property.ty)) };
    Ok(())
}

/// Copies a property of `view` into one slot, or through its pointer.
///
/// # Errors
/// When there is no pointer slot waiting for a value that needs one.
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
    if matches!(property.ty, PropertyType::Text) {
        let text: String = view.get(property)?;
        // SAFETY: the caller of a function with a text result made this slot a sink that lives as long as the call.
        return unsafe { buffer.give_text(at, &text) };
    }
    let source = view.place(property)?;
    let target = aligned(buffer, at, &property.ty)?;
    // SAFETY: the view has the property; the caller waits with zero bytes for a value of the type that the fingerprint
    // named, which are a value, and owns what is there afterwards.
    unsafe { PtrMut::new(target, &property.ty).copy_from(Ptr::new(source, &property.ty)) };
    Ok(())
}

/// The address in a pointer slot, which a value of the type can have.
fn aligned(buffer: &BufferMut<'_>, at: usize, ty: &PropertyType) -> Result<*mut u8, CallError> {
    let address = buffer.pointer(at)?;
    if address.addr().is_multiple_of(ty.align()) {
        return Ok(address);
    }
    Err(CallError::Buffer {
        message: format!("slot {at} points to no {ty}: its address is not aligned to {}", ty.align()),
    })
}
