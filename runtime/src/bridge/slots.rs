//! Converts between slots and parameters. Numbers, names and references are stored in slots. Values of all remaining types are deep-copied,
//! and passed through pointer slots. Safe plugin code and safe host code cannot create pointer slots.
#![expect(unsafe_code, reason = "makes and follows the pointer slots of values that do not fit a slot")]

use std::rc::Rc;

use crate::boundary::{CallError, mismatch};
use crate::bridge::calls;
use crate::handles::{ModuleId, Name, ObjectHandle};
use crate::object::World;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::owned::OwnedValue;
use crate::object::property::{Property, PropertyType};
use crate::object::storage::View;
use crate::object::thunk::ParamBlock;
use crate::object::values::ptr::{Ptr, PtrMut};
use crate::zcall::buffer::BufferMut;
use crate::zcall::owned::DynBuffer;

/// Calls this function on an object, ignoring overrides. The slots from `first` on are the parameters of the function, and the last slot is
/// the result. Returns an error if the slots do not match, and the error of the function body. Returns [`CallError::Signature`] if a reload
/// has changed a struct in the signature of a host function, because the caller then passes values with a different layout.
pub(crate) fn call(
    world: &World,
    function: &Function,
    object: ObjectHandle,
    buffer: &mut BufferMut<'_>,
    first: usize,
) -> Result<(), CallError> {
    if ModuleId(function.tag) == ModuleId::HOST && !world.types.have_layout_of(function) {
        return Err(mismatch(&function.path, &"declared with an earlier build of its types", &function.signature()));
    }
    let mut block = ParamBlock::new(function);
    read_parameters(buffer, first, function, &block)?;
    calls::invoke(world, function, object, &mut block)?;
    write_results(buffer, function, &block)
}

/// Returns the number of slots that a call of this function has, without the slot of the object.
pub(crate) fn count(function: &Function) -> usize {
    function.arguments().len() + function.out_parameters().count() + usize::from(function.result().is_some())
}

/// Copies the parameters of `function` into `block`, from the slots that start at `first`. Returns an error if the number or the types of
/// the slots do not match the signature.
fn read_parameters(
    buffer: &BufferMut<'_>,
    first: usize,
    function: &Function,
    block: &ParamBlock<'_>,
) -> Result<(), CallError> {
    let (arguments, expected) = (function.arguments(), first + count(function));
    if buffer.len() != expected {
        return Err(CallError::Buffer {
            message: format!(
                "{} ({}) takes {expected} slots, object, out parameters and result included, the buffer has {}",
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

/// Copies the results of a call into the last slots: first the out parameters in order, then the direct result, if present. Returns an
/// error if a slot does not have the type of its value.
fn write_results(buffer: &mut BufferMut<'_>, function: &Function, block: &ParamBlock<'_>) -> Result<(), CallError> {
    let back = function.out_parameters().count() + usize::from(function.result().is_some());
    let first = buffer.len() - back;
    for (at, property) in function.out_parameters().chain(function.result()).enumerate() {
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

/// Copies a slot into a property of `view`. Returns an error if the types of slot and property differ.
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
    match source(buffer, at, &property.ty)? {
        Source::Text(text) => view.set(property, text.to_owned()),
        Source::Value(source) => view.put(property, source),
    }
}

/// Copies a property of `view` into a slot, or to the address in the slot. Returns an error if a required pointer slot is missing.
fn write_slot(buffer: &mut BufferMut<'_>, at: usize, property: &Property, view: View<'_>) -> Result<(), CallError> {
    macro_rules! write {
        ($rust:ty) => {
            return buffer.set(at, view.get::<$rust>(property)?)
        };
    }
    plain!(&property.ty, write);
    if matches!(property.ty, PropertyType::Text) {
        return set_text(buffer, at, &view.get::<String>(property)?);
    }
    let source = in_view(view, property)?;
    target(buffer, at, &property.ty)?.copy_from(source.as_ptr());
    Ok(())
}

fn in_view<'a>(view: View<'a>, property: &'a Property) -> Result<PtrMut<'a>, CallError> {
    let at = view.address_of(property)?;
    // SAFETY: the view has a live value of the property's type at this address. The callers finish each access before the next begins.
    Ok(unsafe { PtrMut::new(at, &property.ty) })
}

/// Reads or writes a property. Slot 0 is the object, slot 1 selects read (0) or write (1), slot 2 is the value. Returns an error if the
/// object is destroyed, has no such property, or cannot be written, or if the slots do not match.
pub(crate) fn exchange(buffer: &mut BufferMut<'_>, world: &World, property: &Property) -> Result<(), CallError> {
    let (objects, object): (_, ObjectHandle) = (&world.objects, buffer.get(0)?);
    let class = objects.class(object).ok_or(CallError::Stale { handle: object })?;
    check_has(&class, object, property)?;
    let memory = objects.memory(object).ok_or(CallError::Stale { handle: object })?;
    // SAFETY: `memory` is the memory of a live object, with the layout of its class's schema. No code frees the object while the view is
    // used, because a sink only copies the string that it receives.
    let view = unsafe { View::from_raw(memory, class.schema()) };
    match buffer.get::<u8>(1)? {
        0 => write_slot(buffer, 2, property, view),
        1 => {
            objects.may_write(object)?;
            // A delegate does not fit in a slot, and only a delegate has a mark.
            let has_no_mark = property.ty.kind().fits_slot();
            let mark = if has_no_mark { None } else { world.broadcasts.before_write(in_view(view, property)?) };
            read_slot(buffer, 2, property, view)?;
            if mark.is_some() {
                world.broadcasts.after_write(mark, in_view(view, property)?.as_ptr());
            }
            Ok(())
        }
        other => {
            Err(CallError::Buffer { message: format!("slot 1 of `up` must be 0 to read or 1 to write, found {other}") })
        }
    }
}

/// Checks that the objects of a class have the property. Returns [`CallError::WrongClass`] if the class lacks the property.
pub(crate) fn check_has(class: &Rc<Class>, object: ObjectHandle, property: &Property) -> Result<(), CallError> {
    if class.chain().iter().any(|class| class.path == property.owner) {
        return Ok(());
    }
    Err(calls::wrong_class(property.path(), object, class, &property.owner))
}

/// Value to which the pointer in a slot refers.
pub(crate) enum Source<'a> {
    Text(&'a str),
    Value(Ptr<'a>),
}

/// Returns the value that the caller passes through a pointer in the slot `at`. `ty` is the type in the signature. Values of this type do
/// not fit in a slot. Returns an error if the slot is not a pointer slot, or if the address in the slot is invalid for the type.
pub(crate) fn source<'a>(buffer: &BufferMut<'a>, at: usize, ty: &'a PropertyType) -> Result<Source<'a>, CallError> {
    let is_text = matches!(ty, PropertyType::Text);
    let address = if is_text { None } else { Some(aligned(buffer, at, ty)?) };
    // SAFETY: the creator of the pointer slot guarantees the types of the signature, which caller and callee have compared. So the slot
    // refers to a string or to a live value of the type, which is not written during the call.
    unsafe {
        match address {
            None => buffer.text(at).map(Source::Text),
            Some(address) => Ok(Source::Value(Ptr::new(address, ty))),
        }
    }
}

/// Returns the address to which the callee must write a value. `ty` is the type of the value in the signature. Returns an error if the slot
/// is not a pointer slot, or if the address in the slot is invalid for the type.
pub(crate) fn target<'a>(buffer: &mut BufferMut<'_>, at: usize, ty: &'a PropertyType) -> Result<PtrMut<'a>, CallError> {
    let address = aligned(buffer, at, ty)?;
    // SAFETY: the signature requires the caller to provide zeroed memory for the value. For each type, zeroed memory is a valid value.
    // Afterwards the caller owns the value.
    Ok(unsafe { PtrMut::new(address, ty) })
}

/// Passes a string to the sink in a pointer slot. Returns an error if the slot is not a pointer slot.
pub(crate) fn set_text(buffer: &mut BufferMut<'_>, at: usize, text: &str) -> Result<(), CallError> {
    // SAFETY: the signature requires the caller to store a sink in this slot, and the sink is valid during the call.
    unsafe { buffer.set_text(at, text) }
}

/// Passes a value to the callee through a pointer slot. The value must exist until the call returns.
pub(crate) fn pass_value(buffer: &mut DynBuffer<'_>, at: usize, value: &OwnedValue) -> Result<(), CallError> {
    // SAFETY: the value has the type in the callee's signature. The callers in `dynamic_call` keep the value alive, and do not access it
    // until the buffer is no longer borrowed.
    unsafe { buffer.value_at(at, value.at()) }
}

/// Returns the address in a pointer slot. Checks that the address is aligned for the type.
fn aligned(buffer: &BufferMut<'_>, at: usize, ty: &PropertyType) -> Result<*mut u8, CallError> {
    let address = buffer.pointer(at)?;
    if address.addr().is_multiple_of(ty.align()) {
        return Ok(address);
    }
    Err(CallError::Buffer {
        message: format!("slot {at} points to no {ty}: its address is not aligned to {}", ty.align()),
    })
}
