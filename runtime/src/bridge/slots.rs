//! Slots become parameters and results become slots. Numbers, names and references sit in the slot; every other value is
//! behind a pointer slot, which only the border's own plumbing can make, and is copied with all it owns.
#![expect(unsafe_code, reason = "makes and follows the pointer slots of values that do not fit a slot")]

use std::rc::Rc;

use crate::border::CallError;
use crate::bridge::calls;
use crate::handles::{Name, ObjectHandle};
use crate::object::World;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::objects::Objects;
use crate::object::owned::OwnedValue;
use crate::object::property::{Property, PropertyType};
use crate::object::storage::View;
use crate::object::thunk::ParamBlock;
use crate::object::values::ptr::{Ptr, PtrMut};
use crate::zcall::buffer::BufferMut;
use crate::zcall::owned::DynBuffer;

/// Calls exactly this function on an object. The slots from `first` on are those of its parameters; the last one is that of its result.
///
/// # Errors
/// When the slots are others, and the failure of the body.
pub(crate) fn call(
    world: &World,
    function: &Function,
    object: ObjectHandle,
    buffer: &mut BufferMut<'_>,
    first: usize,
) -> Result<(), CallError> {
    let mut block = ParamBlock::new(function);
    read_parameters(buffer, first, function, &block)?;
    calls::invoke(world, function, object, &mut block)?;
    write_results(buffer, function, &block)
}

/// Copies the parameters of `function` from the slots from `first` on into `block`.
///
/// # Errors
/// When the number or the type of the slots is not the signature's; nothing was called then.
fn read_parameters(
    buffer: &BufferMut<'_>,
    first: usize,
    function: &Function,
    block: &ParamBlock<'_>,
) -> Result<(), CallError> {
    let arguments = function.arguments();
    let wanted = first + arguments.len() + function.outs().count() + usize::from(function.result().is_some());
    if buffer.len() != wanted {
        return Err(CallError::Buffer {
            message: format!(
                "{} ({}) takes {wanted} slots, object, out parameters and result included, the buffer has {}",
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

/// Copies what comes back into the last slots: out parameters in their order, then the result, if there is one.
///
/// # Errors
/// When a slot is not what the type needs.
fn write_results(buffer: &mut BufferMut<'_>, function: &Function, block: &ParamBlock<'_>) -> Result<(), CallError> {
    let back = function.outs().count() + usize::from(function.result().is_some());
    let first = buffer.len() - back;
    for (at, property) in function.outs().chain(function.result()).enumerate() {
        write_slot(buffer, first + at, property, block.view())?;
    }
    Ok(())
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
    let source = match source(buffer, at, &property.ty)? {
        Source::Text(text) => return view.set(property, text.to_owned()),
        Source::Value(source) => source,
    };
    in_view(view, property)?.copy_from(source);
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
        return give_text(buffer, at, &view.get::<String>(property)?);
    }
    let source = in_view(view, property)?;
    target(buffer, at, &property.ty)?.copy_from(source.as_ptr());
    Ok(())
}

fn in_view<'a>(view: View<'a>, property: &'a Property) -> Result<PtrMut<'a>, CallError> {
    let at = view.place(property)?;
    // SAFETY: the view has a live value of the property's type there, and no other code reads or writes it during the copy.
    Ok(unsafe { PtrMut::new(at, &property.ty) })
}

/// Reads or writes a property: slot 0 is the object, slot 1 says read (0) or write (1), slot 2 is the value.
///
/// # Errors
/// When the object is gone, has no such property, or may not be written; when the slots are others.
pub(crate) fn exchange(buffer: &mut BufferMut<'_>, objects: &Objects, property: &Property) -> Result<(), CallError> {
    let object: ObjectHandle = buffer.get(0)?;
    let class = objects.class(object).ok_or(CallError::Stale { handle: object })?;
    check_has(&class, object, property)?;
    let memory = objects.memory(object).ok_or(CallError::Stale { handle: object })?;
    // SAFETY: the memory is that of the living object, laid out as its class's schema says. A sink that takes a
    // text only copies it, so nothing frees the object while the view is used.
    let view = unsafe { View::from_raw(memory, class.schema()) };
    match buffer.get::<u8>(1)? {
        0 => write_slot(buffer, 2, property, view),
        1 => {
            objects.may_write(object)?;
            read_slot(buffer, 2, property, view)
        }
        other => {
            Err(CallError::Buffer { message: format!("slot 1 of `up` says 0 to read or 1 to write, it is {other}") })
        }
    }
}

/// Says why an object of a class does not have a property.
///
/// # Errors
/// [`CallError::WrongClass`] when the property is one of another class.
pub(crate) fn check_has(class: &Rc<Class>, object: ObjectHandle, property: &Property) -> Result<(), CallError> {
    if class.chain().iter().any(|class| class.path == property.owner) {
        return Ok(());
    }
    Err(CallError::WrongClass {
        place: format!("{}:{}", property.owner, property.text),
        handle: object,
        found: class.path.to_string(),
        wanted: property.owner.to_string(),
    })
}

/// What a pointer slot leads to.
pub(crate) enum Source<'a> {
    /// A text.
    Text(&'a str),
    /// A value in memory.
    Value(Ptr<'a>),
}

/// What the caller lends in a slot. The signature of the call has the type there, which fits no slot.
///
/// # Errors
/// When it is no pointer slot, or its address is not one of such a value.
pub(crate) fn source<'a>(buffer: &BufferMut<'a>, at: usize, ty: &'a PropertyType) -> Result<Source<'a>, CallError> {
    let is_text = matches!(ty, PropertyType::Text);
    let address = if is_text { None } else { Some(aligned(buffer, at, ty)?) };
    // SAFETY: the code that made the pointer slot promised what the signature says, by which caller and callee were compared: a
    // text or a live value of the type, which is not written during the call.
    unsafe {
        match address {
            None => buffer.text(at).map(Source::Text),
            Some(address) => Ok(Source::Value(Ptr::new(address, ty))),
        }
    }
}

/// Where the caller waits for a value of the type, which the signature of the call has in that slot.
///
/// # Errors
/// When it is no pointer slot, or its address is not one of such a value.
pub(crate) fn target<'a>(buffer: &mut BufferMut<'_>, at: usize, ty: &'a PropertyType) -> Result<PtrMut<'a>, CallError> {
    let address = aligned(buffer, at, ty)?;
    // SAFETY: by the signature, the caller waits with zero bytes for a value of the type, which are a value, and owns what is there
    // afterwards.
    Ok(unsafe { PtrMut::new(address, ty) })
}

/// Gives the caller the text that the signature of the call has in that slot.
///
/// # Errors
/// When it is no pointer slot.
pub(crate) fn give_text(buffer: &mut BufferMut<'_>, at: usize, text: &str) -> Result<(), CallError> {
    // SAFETY: by the signature, the caller made this slot a sink that lives as long as the call.
    unsafe { buffer.give_text(at, text) }
}

/// Lends a value to the callee. It has to be there until the call is over.
pub(crate) fn lend(buffer: &mut DynBuffer<'_>, at: usize, value: &OwnedValue) -> Result<(), CallError> {
    // SAFETY: the value is of the type that the callee's own signature names here; the callers in `dynamic_call` keep it until the
    // buffer is not lent any more, and do not touch it meanwhile.
    unsafe { buffer.value_at(at, value.at()) }
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
