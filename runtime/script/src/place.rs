//! Registers of a frame, and resolution of places: properties, fields and elements.
#![expect(unsafe_code, reason = "converts offsets that the loader has checked into addresses")]

use std::fmt::Display;

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::Name;
use alcedo_reflect::World;
use alcedo_reflect::arguments::Argument;
use alcedo_reflect::broadcasts::DelegateMark;
use alcedo_reflect::class::Class;
use alcedo_reflect::containers::array;
use alcedo_reflect::property::Property;
use alcedo_reflect::value::Value;
use alcedo_reflect::values::fix_fields;
use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::exec::{LinkedPlace, LinkedRoot, LinkedStep, OtherProperty, Slot, Source};
use crate::number::TripleOp;
use crate::rows::set_len;

/// Registers of a running call, with the `self` object of this call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    base: *mut u8,
    /// The `self` object, or the none handle.
    pub(crate) object: ObjectHandle,
    /// Memory of the `self` object. Null without a `self` object, or if that object is destroyed.
    memory: *mut u8,
    /// Class that a static function was called on.
    pub(crate) class: Name,
}

/// Result of resolving a place to an address.
enum Resolved<'a> {
    At(*mut u8),
    /// The object at the start of the access path is `None` or destroyed.
    NoObject,
    /// Index out of range: the array, the index, and the length.
    OutOfRange(&'a Property, i32, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Read,
    /// Writes a value. Arrays grow to include the index.
    Write,
    /// Changes a value in place. Arrays do not grow.
    Change,
}

impl Registers {
    /// Creates the registers of the frame at `base`.
    ///
    /// # Safety
    /// `base` must point to a frame whose code contains the slots, sources and places used later. Each register of the frame must hold a
    /// value of the register's type. `memory` must be the memory of `object`, or null. `object` must be of the class of that code. All
    /// these conditions must hold while the returned value is used.
    #[inline]
    pub(crate) unsafe fn new(base: *mut u8, object: ObjectHandle, memory: *mut u8, class: Name) -> Self {
        Self { base, object, memory, class }
    }

    /// Updates the memory of the `self` object after a call of native or plugin code. That call may have destroyed the object.
    pub(crate) fn refreshed(self, world: &World) -> Self {
        Self { memory: world.objects.memory(self.object).unwrap_or(std::ptr::null_mut()), ..self }
    }

    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    #[inline]
    pub(crate) fn memory(&self) -> *mut u8 {
        self.memory
    }

    /// Reads the handle in a register. The loader must have verified that the register holds a handle.
    #[inline]
    pub(crate) fn handle(&self, register: u16) -> ObjectHandle {
        // SAFETY: the caller of `new` promised a frame; the loader verified that the register holds a handle.
        unsafe { self.base.wrapping_add(usize::from(register)).cast::<ObjectHandle>().read() }
    }

    /// Reads the name in a register. The loader must have verified that the register holds a name.
    #[inline]
    pub(crate) fn name(&self, register: u16) -> Name {
        // SAFETY: the caller of `new` promised a frame; the loader verified that the register holds a name.
        unsafe { self.base.wrapping_add(usize::from(register)).cast::<Name>().read() }
    }

    /// Resets a register to the initial value of its type. Fixed arrays in a struct have all their elements.
    pub(crate) fn clear(&self, slot: Option<&Slot>, initial: Option<&Value>) -> Result<(), CallError> {
        let Some(slot) = slot else { return Ok(()) };
        self.ptr_mut(slot).destroy();
        if let Some(value) = initial {
            self.ptr_mut(slot).write(value).map_err(|error| CallError::other(error.found))?;
        }
        fix_fields(self.ptr_mut(slot));
        Ok(())
    }

    /// Returns a register as an argument, for the result of a call.
    pub(crate) fn slot_argument<'a>(&self, slot: &'a Slot) -> Argument<'a> {
        // SAFETY: the caller of `new` promised a value of the type in each register. The loader rejects calls whose arguments use
        // the result register.
        unsafe { Argument::new(&slot.property, self.base.wrapping_add(usize::from(slot.offset))) }
    }

    #[inline]
    pub(crate) fn ptr<'a>(&self, slot: &'a Slot) -> Ptr<'a> {
        // SAFETY: the caller of `new` promised a frame with a value of the type at this offset. Each operation finishes with its
        // pointer before the next operation writes.
        unsafe { Ptr::new(self.base.wrapping_add(usize::from(slot.offset)), &slot.property.ty) }
    }

    #[inline]
    pub(crate) fn ptr_mut<'a>(&self, slot: &'a Slot) -> PtrMut<'a> {
        // SAFETY: the caller of `new` promised a frame with a value of the type at this offset. Each operation finishes with its
        // pointer before the next operation reads.
        unsafe { PtrMut::new(self.base.wrapping_add(usize::from(slot.offset)), &slot.property.ty) }
    }

    #[inline]
    pub(crate) fn source<'a>(&self, source: &'a Source) -> Ptr<'a> {
        match source {
            Source::Slot(slot) => self.ptr(slot),
            Source::Constant(constant) => constant.value.as_ptr(),
        }
    }

    fn address(&self, source: &Source) -> *mut u8 {
        match source {
            Source::Slot(slot) => self.base.wrapping_add(usize::from(slot.offset)),
            Source::Constant(constant) => constant.value.at(),
        }
    }

    /// Computes a triple operation and stores the result in a register.
    pub(crate) fn make(&self, triple_op: TripleOp, to: &Slot, left: &Source, right: &Source) {
        let place = self.base.wrapping_add(usize::from(to.offset));
        // SAFETY: the caller of `new` promised that each register holds a value of the register's type; the loader built
        // `triple_op` for these types.
        unsafe { triple_op.put(place, self.address(left), self.address(right)) };
    }

    /// Returns an operand as an argument of a thunk.
    pub(crate) fn argument<'a>(&self, source: &'a Source) -> Argument<'a> {
        let property = match source {
            Source::Slot(slot) => &slot.property,
            Source::Constant(constant) => &constant.property,
        };
        // SAFETY: the caller of `new` promised a value of the type in each register. The loader rejects calls that write to a
        // constant, or to a register that another argument overlaps.
        unsafe { Argument::new(property, self.address(source)) }
    }

    /// Resolves a place as an argument of a thunk.
    ///
    /// # Errors
    /// Returns an error if the object does not exist or an index is out of range.
    pub(crate) fn place_argument<'a>(
        &self,
        world: &World,
        place: &'a LinkedPlace,
        access: Access,
    ) -> Result<Argument<'a>, CallError> {
        // Checks the object again, because the thunk may have destroyed it since the call began.
        let is_gone = matches!(place.root, LinkedRoot::OfSelf(_)) && world.objects.memory(self.object).is_none();
        match if is_gone { Resolved::NoObject } else { self.find(world, place, access)? } {
            // SAFETY: `find` has just resolved the address. The value is the only place argument of the call. The loader rejects
            // other uses of its root, and objects are disjoint from frames. `Steps::borrow_counter` prevents moves of the value.
            Resolved::At(at) => Ok(unsafe { Argument::new(&place.property, at) }),
            Resolved::NoObject => {
                Err(CallError::other(format!("the object of {} does not exist", place.property.text)))
            }
            Resolved::OutOfRange(array, index, len) => Err(out_of_range(array, index, len)),
        }
    }

    /// Resolves a place for reading. If the place does not exist, the inner `Err` contains the log message.
    pub(crate) fn read<'a>(&self, world: &World, place: &'a LinkedPlace) -> Result<Result<Ptr<'a>, String>, CallError> {
        Ok(match self.find(world, place, Access::Read)? {
            // SAFETY: `find` has just resolved the address, and the operation finishes with the pointer before anything else runs.
            Resolved::At(at) => Ok(unsafe { Ptr::new(at, &place.property.ty) }),
            Resolved::NoObject => Err(format!("{} of none is read", place.property.text)),
            Resolved::OutOfRange(array, index, len) => Err(format!("{} is read", element(array, index, len))),
        })
    }

    /// Resolves a place for writing. If the place does not exist, the inner `Err` contains the log message.
    pub(crate) fn write<'a>(
        &self,
        world: &World,
        place: &'a LinkedPlace,
    ) -> Result<Result<PtrMut<'a>, String>, CallError> {
        Ok(match self.find(world, place, Access::Write)? {
            // SAFETY: `find` has just resolved the address, and the operation finishes with the pointer before anything else runs.
            Resolved::At(at) => Ok(unsafe { PtrMut::new(at, &place.property.ty) }),
            Resolved::NoObject => Err(format!("{} of none is written", place.property.text)),
            Resolved::OutOfRange(array, index, len) => Err(format!("{} is written", element(array, index, len))),
        })
    }

    /// Returns the mark of the delegate at a place, which identifies the delegate during its calls. Returns `None` if the place does not
    /// exist. Also marks a write-protected delegate, because a mark is not part of the value.
    pub(crate) fn delegate_mark(&self, world: &World, place: &LinkedPlace) -> Result<DelegateMark, CallError> {
        let Resolved::At(at) = self.find(world, place, Access::Read)? else { return Ok(None) };
        // SAFETY: `find` has just resolved the address, and the operation finishes with the pointer before anything else runs.
        let delegate = unsafe { PtrMut::new(at, &place.property.ty) };
        Ok(delegate.delegate_mark(|| world.broadcasts.fresh_mark()))
    }

    fn find<'a>(&self, world: &World, place: &'a LinkedPlace, access: Access) -> Result<Resolved<'a>, CallError> {
        let writes = access != Access::Read;
        let mut at = match &place.root {
            LinkedRoot::Slot(slot) => self.base.wrapping_add(usize::from(slot.offset)),
            LinkedRoot::OfSelf(_) if self.memory.is_null() => return Ok(Resolved::NoObject),
            LinkedRoot::OfSelf(offset) => {
                if writes {
                    world.objects.may_write(self.object)?;
                }
                self.memory.wrapping_add(*offset as usize)
            }
            LinkedRoot::Of(register, other) => {
                let object = self.handle(*register);
                let Some(at) = other_memory(world, other, object)? else { return Ok(Resolved::NoObject) };
                if writes {
                    world.objects.may_write(object)?;
                }
                at
            }
            LinkedRoot::Default(register, other) => {
                let class = world.types.class_by_path(&world.names.text(self.name(*register)));
                match class.map(|class| other_memory(world, other, class.cdo.get())).transpose()?.flatten() {
                    None => return Ok(Resolved::NoObject),
                    Some(at) => at,
                }
            }
        };
        for step in &place.steps {
            match step {
                LinkedStep::Field(offset) => at = at.wrapping_add(*offset as usize),
                LinkedStep::Element { index, size, array: of, fixed, element } => {
                    let index = self.source(index).get::<i32>().unwrap_or_default();
                    let data = loop {
                        // SAFETY: the preceding steps resolve to a value of the array type.
                        let ArrayRaw { data, len, .. } = unsafe { at.cast::<ArrayRaw>().read() };
                        if index >= 0 && (index as u32) < len {
                            break data;
                        }
                        if *fixed {
                            return Err(out_of_range(of, index, len));
                        }
                        if access != Access::Write || index < 0 {
                            return Ok(Resolved::OutOfRange(of, index, len));
                        }
                        // SAFETY: the preceding steps resolve to a value of the array type. No other code reads the array during
                        // this access.
                        let place = unsafe { PtrMut::new(at, &of.ty) };
                        let Some(mut rows) = array(place) else { return Ok(Resolved::OutOfRange(of, index, len)) };
                        set_len(&mut rows, index as u32 + 1, &element.ty)?;
                    };
                    at = data.wrapping_add(index as usize * *size as usize);
                }
            }
        }
        Ok(Resolved::At(at))
    }
}

/// Returns the address of a property's value in an object that is not `self`. Returns `None` if the object does not exist.
///
/// # Errors
/// Returns [`CallError::WrongClass`] if the class lacks the property.
#[inline]
pub(crate) fn other_memory(
    world: &World,
    other: &OtherProperty,
    object: ObjectHandle,
) -> Result<Option<*mut u8>, CallError> {
    let (Some(class), Some(memory)) = (world.objects.class_id(object), world.objects.memory(object)) else {
        return Ok(None);
    };
    if other.checked_class.get() != class {
        let (owner, name) = (&other.owner, &other.property.text);
        check_class(world, object, owner, format_args!("{}:{name}", owner.path))?;
        other.checked_class.set(class);
    }
    Ok(Some(memory.wrapping_add(other.offset as usize)))
}

/// Checks that the object is an instance of the class. The error names the place that requires this class.
#[cold]
pub(crate) fn check_class(
    world: &World,
    object: ObjectHandle,
    class: &Class,
    place: impl Display,
) -> Result<(), CallError> {
    let found = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    match found.is_a(class) {
        true => Ok(()),
        false => Err(CallError::WrongClass {
            place: place.to_string(),
            handle: object,
            found: found.path.to_string(),
            expected: class.path.to_string(),
        }),
    }
}

/// Describes an out-of-range element.
fn element(array: &Property, index: i32, len: u32) -> String {
    let name = if array.text.is_empty() { "an array" } else { &*array.text };
    format!("element {index} of {name}, which has {len},")
}

fn out_of_range(array: &Property, index: i32, len: u32) -> CallError {
    CallError::other(format!("{} has {len} elements, and none at {index}", array.text))
}
