//! Looks up conjugates by handle, and returns their color, kind, validity and address. A handle may refer to a red or a black conjugate.
//! The functions of this file accept both colors.
#![expect(unsafe_code, reason = "reads and writes the values that conjugates refer to")]

use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::handles::{ConjugateHandle, TypeNumber};
use alcedo_abi::kinds::PropertyKind;

use crate::boundary::{CallError, mismatch, not_found};
use crate::bridge::core::Core;
use crate::bridge::dynamic_call::{get_plain, set_plain};
use crate::conjugate::Color;
use crate::conjugate::owned_values::Opened;
use crate::conjugate::serials::Facts;
use crate::handles::{ModuleId, ObjectHandle};
use crate::object::body::Body;
use crate::object::broadcasts::DelegateMark;
use crate::object::fixed;
use crate::object::owned::OwnedValue;
use crate::object::property::{Property, PropertyType};
use crate::object::structs::StructType;
use crate::object::type_text::TypeText;
use crate::object::value::Value;
use crate::object::values::ptr::PtrMut;
use crate::zcall::buffer::BufferMut;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct State {
    /// Side that created the conjugate.
    pub color: Color,
    pub facts: Facts,
    /// Set if the value is permanently or currently inaccessible.
    pub is_expired: bool,
}

/// Returns the state of a conjugate. Returns an error if no conjugate ever had this handle.
pub(crate) fn state(core: &Core, handle: ConjugateHandle) -> Result<State, CallError> {
    let now = Instant::now();
    let red = || Some((Color::Red, core.red.reds.facts(handle, now)?));
    let black = || Some((Color::Black, core.owned_values.facts(handle, now)?));
    let unknown =
        || not_found(format!("no conjugate has the number {:#x}: pass a number that the host returned", handle.0));
    let (color, facts) = black().or_else(red).ok_or_else(unknown)?;
    Ok(State { color, facts, is_expired: find(core, handle).is_none() })
}

/// Returns the address of a conjugate's value. The address is valid until plugin code returns. The address of a black conjugate is valid
/// only until the conjugate is released. If the conjugate has expired, returns an error with its kind and age.
pub(crate) fn open(core: &Core, handle: ConjugateHandle) -> Result<Opened, CallError> {
    match find(core, handle) {
        Some(opened) => Ok(opened),
        None => Err(expired(&state(core, handle)?)),
    }
}

/// Opens a conjugate like [`open`], and checks that its value has the type `expected`. Returns the errors of [`open`]. If the types differ,
/// returns an error with both types.
pub(crate) fn open_as(core: &Core, handle: ConjugateHandle, expected: &PropertyType) -> Result<Opened, CallError> {
    let opened = open(core, handle)?;
    if opened.ty == *expected {
        return Ok(opened);
    }
    Err(mismatch(&"the value of a conjugate", &opened.ty, expected))
}

/// Creates a red conjugate that borrows a property, or an element or field of a property value, until the innermost frame closes. Returns
/// an error if no frame is open, the object is destroyed, or the object has no value of this type at this address.
///
/// # Safety
/// If the value has no owner, the caller ensures that the value is valid for its type. The caller also ensures that this value does not
/// move before the innermost frame closes.
pub(crate) unsafe fn borrow_red(core: &Core, value: Opened) -> Result<ConjugateHandle, CallError> {
    let owner = value.owner;
    if !owner.is_none() {
        let offset = |memory: *mut u8| value.at.addr().wrapping_sub(memory.addr());
        let contains_value = |body: &Body| {
            let properties = body.class().properties.iter().map(Rc::as_ref);
            has_value_at(properties, offset(body.memory()), &value.ty)
        };
        if !core.world.objects.with_body(owner, contains_value)? {
            let ty = &value.ty;
            return Err(not_found(format!(
                "{ty} is not a property of {owner} at that address: lend a property, or a clone"
            )));
        }
    }
    core.red.borrow_red(value, Instant::now())
}

/// Creates a red conjugate that borrows a property of an object, by name. Returns an error if no frame is open, the object is destroyed, or
/// the object has no such property.
pub(crate) fn borrow_property(core: &Core, owner: ObjectHandle, property: &str) -> Result<ConjugateHandle, CallError> {
    let class = core.world.objects.class(owner).ok_or(CallError::Stale { handle: owner })?;
    let memory = core.world.objects.memory(owner).ok_or(CallError::Stale { handle: owner })?;
    let property = class
        .find_property(property)
        .ok_or_else(|| not_found(format!("{} has no property `{property}`", class.path)))?;
    let (at, ty) = (memory.wrapping_add(property.offset as usize), property.ty.clone());
    core.red.borrow_red(Opened { owner, at, ty, number: TypeNumber::NONE }, Instant::now())
}

/// Copies the value of a conjugate. Also returns the id of the value's type in the owning module. If the conjugate has expired, returns an
/// error with its kind and age.
pub(crate) fn copy(core: &Core, handle: ConjugateHandle) -> Result<(OwnedValue, TypeNumber), CallError> {
    core.world.slices.allow_read(&"reading a conjugate")?;
    let may = |_: &Opened| Ok(());
    with_value(core, handle, may, |value, number| (OwnedValue::copy_of(value.as_ptr()), number))
}

/// Checks that the value of type `ty` at the address `at` may have `len` elements. Returns an error if the value is a fixed array of `owner`
/// with another length. Accepts any length for a value without an owner.
pub(crate) fn may_have(
    core: &Core,
    (owner, at): (ObjectHandle, *mut u8),
    ty: &PropertyType,
    len: u32,
) -> Result<(), CallError> {
    if owner.is_none() || ty.kind() != PropertyKind::ARRAY {
        return Ok(());
    }
    let objects = &core.world.objects;
    let (Some(class), Some(memory)) = (objects.class(owner), objects.memory(owner)) else { return Ok(()) };
    let offset = at.addr().wrapping_sub(memory.addr());
    match fixed::fixed_at(class.properties.iter().map(|property| &**property), offset) {
        Some((property, fixed)) if fixed != len => Err(fixed::wrong_length(property, fixed, len)),
        _ => Ok(()),
    }
}

/// Overwrites the value of a conjugate. Returns an error if the conjugate has expired, if the owner of the conjugate cannot currently be
/// written, or if the new value has a different type. Also returns an error for a fixed array if the new value has another length.
pub(crate) fn write(core: &Core, handle: ConjugateHandle, value: &Value) -> Result<(), CallError> {
    core.world.slices.allow_change(&"writing to a conjugate")?;
    let may = |opened: &Opened| {
        if !opened.owner.is_none() {
            core.world.objects.may_write(opened.owner)?;
        }
        if let Value::Array(values) = value {
            let len = u32::try_from(values.len()).unwrap_or(u32::MAX);
            may_have(core, (opened.owner, opened.at), &opened.ty, len)?;
        }
        core.world.check_objects(&opened.ty, value, || format!("the value of a conjugate of {}", opened.ty))
    };
    with_value(core, handle, may, |target, _| overwrite(core, target, value))?
}

/// Overwrites a value. Calls in progress of an overwritten delegate skip the bindings that the new value lacks.
pub(crate) fn overwrite(core: &Core, mut target: PtrMut<'_>, value: &Value) -> Result<(), CallError> {
    let mark = core.world.broadcasts.before_write(target.reborrow());
    target.reborrow().write(value).map_err(|error| CallError::other(error.to_string()))?;
    core.world.broadcasts.after_write(mark, target.as_ptr());
    Ok(())
}

/// Returns the value in a slot, or the value of the conjugate whose handle is in the slot.
pub(super) fn read(core: &Core, buffer: &BufferMut<'_>, at: usize, word: &TypeText) -> Result<Value, CallError> {
    if word.kind().fits_slot() {
        return get_plain(buffer, at, word.kind());
    }
    let (value, _number) = copy(core, buffer.get::<ConjugateHandle>(at)?)?;
    // Compares only the kinds here. Type paths are compared later, when the value is written to the parameter.
    if value.ty().kind() != word.kind() {
        let message = format!("slot {at} holds a conjugate of {}, the call expects {word}", value.ty());
        return Err(CallError::Buffer { message });
    }
    Ok(value.read())
}

/// Writes a value to a slot. If the type does not fit in a slot, creates an owned value of the module, and writes the handle of this owned
/// value to the slot.
pub(super) fn give(
    core: &Core,
    module: ModuleId,
    buffer: &mut BufferMut<'_>,
    at: usize,
    word: &TypeText,
    value: &Value,
) -> Result<(), CallError> {
    if word.kind().fits_slot() {
        return set_plain(buffer, at, value);
    }
    let ty = PropertyType::resolve(word, &core.world.types)
        .map_err(|error| not_found(format!("a {word} cannot be returned: {error}")))?;
    let mut own = OwnedValue::zero(ty);
    own.write(value).map_err(|error| CallError::other(error.to_string()))?;
    let black = core.owned_values.make(module, TypeNumber::NONE, own, None, Instant::now())?;
    buffer.set(at, ConjugateHandle::from(black))
}

/// Returns the mark that identifies a conjugate's delegate during a call of the delegate. Returns an error if the conjugate has expired.
pub(crate) fn mark_delegate(core: &Core, handle: ConjugateHandle) -> Result<DelegateMark, CallError> {
    let may = |_: &Opened| Ok(());
    with_value(core, handle, may, |value, _| value.delegate_mark(|| core.world.broadcasts.fresh_mark()))
}

/// Opens a conjugate, checks the value with `may`, and runs `act` on the value. `may` and `act` must not run plugin code.
fn with_value<T>(
    core: &Core,
    handle: ConjugateHandle,
    may: impl FnOnce(&Opened) -> Result<(), CallError>,
    act: impl FnOnce(PtrMut<'_>, TypeNumber) -> T,
) -> Result<T, CallError> {
    let opened = open(core, handle)?;
    may(&opened)?;
    // SAFETY: `open` returns the address of a live value of the type. The callers, all in this file, only check, copy and write, so no code
    // that could end the value has run since.
    Ok(act(unsafe { PtrMut::new(opened.at, &opened.ty) }, opened.number))
}

/// Checks if memory that is described by these properties contains a value of type `ty` at `offset`. The value may be a property, or a
/// field of a struct.
fn has_value_at<'a>(properties: impl Iterator<Item = &'a Property>, offset: usize, ty: &PropertyType) -> bool {
    let mut properties = properties;
    properties.any(|property| {
        let Some(inside) = offset.checked_sub(property.offset as usize) else { return false };
        match &property.ty {
            here if inside == 0 && here == ty => true,
            PropertyType::Struct(of) if inside == 0 && extends(of, ty) => true,
            PropertyType::Struct(of) if inside < of.size() => has_value_at(of.fields().iter(), inside, ty),
            _ => false,
        }
    })
}

/// Checks if `of` is the struct type `ty`, or extends this struct.
fn extends(of: &StructType, ty: &PropertyType) -> bool {
    matches!(ty, PropertyType::Struct(base) if of.is_a(base))
}

fn find(core: &Core, handle: ConjugateHandle) -> Option<Opened> {
    core.owned_values.open(handle).or_else(|| {
        let opened = core.red.reds.open(handle)?;
        // Values of an object expire with the object, even if the memory of the object still exists.
        (opened.owner.is_none() || core.world.objects.is_alive(opened.owner)).then_some(opened)
    })
}

fn expired(state: &State) -> CallError {
    let kind = state.facts.kind.text().unwrap_or("?");
    CallError::Expired { what: format!("{} {kind}", state.color), age: state.facts.age.to_string() }
}
