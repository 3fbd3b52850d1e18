//! Where values are: registers in a frame, and the ways from there to properties, fields and elements.
#![expect(unsafe_code, reason = "offsets that the loader has looked at become addresses")]

use std::rc::Rc;

use alcedo_abi::handles::ObjectHandle;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::border::CallError;
use alcedo_base::handles::Name;
use alcedo_reflect::World;
use alcedo_reflect::arguments::Argument;
use alcedo_reflect::containers::array;
use alcedo_reflect::property::Property;
use alcedo_reflect::value::Value;
use alcedo_reflect::values::ptr::{Ptr, PtrMut};

use crate::exec::{LinkedPlace, LinkedRoot, LinkedStep, OtherProperty, Slot, Source};
use crate::size;
use crate::triple::Made;

/// The registers of a running call, and the object that it runs for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registers {
    base: *mut u8,
    /// The object, or none.
    pub(crate) object: ObjectHandle,
    /// Its memory; null when there is none, or it is gone.
    memory: *mut u8,
    /// The class that a static function was called on.
    pub(crate) class: Name,
}

/// Where the way to a place ended.
enum Found<'a> {
    /// There.
    At(*mut u8),
    /// At an object that is none or gone.
    NoObject,
    /// Behind the end of that array, of so many elements, at that index.
    OutOfRange(&'a Property, i32, u32),
}

/// Why a place is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Read,
    /// Arrays grow on the way.
    Write,
    /// What is there is changed, and nothing grows.
    Change,
}

impl Registers {
    /// The registers at `base`.
    ///
    /// # Safety
    /// A frame of the code that slots, sources and places are taken from lies at `base`: each of its registers holds a value
    /// of its type. `memory` is that of `object`, which is of the class of that code, or null. Both for as long as this is used.
    #[inline]
    pub(crate) unsafe fn new(base: *mut u8, object: ObjectHandle, memory: *mut u8, class: Name) -> Self {
        Self { base, object, memory, class }
    }

    /// The same after code outside ran, which may have ended the object: its memory is looked up anew.
    pub(crate) fn anew(self, world: &World) -> Self {
        Self { memory: world.objects.memory(self.object).unwrap_or(std::ptr::null_mut()), ..self }
    }

    /// Where the frame begins.
    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// The memory of the object; null when there is none, or it is gone.
    #[inline]
    pub(crate) fn memory(&self) -> *mut u8 {
        self.memory
    }

    /// The handle in a register that the loader saw one in.
    #[inline]
    pub(crate) fn handle(&self, register: u16) -> ObjectHandle {
        // SAFETY: `new` was promised a frame, and the loader saw a handle there.
        unsafe { self.base.wrapping_add(usize::from(register)).cast::<ObjectHandle>().read() }
    }

    /// The name in a register that the loader saw one in.
    #[inline]
    pub(crate) fn name(&self, register: u16) -> Name {
        // SAFETY: `new` was promised a frame, and the loader saw a name there.
        unsafe { self.base.wrapping_add(usize::from(register)).cast::<Name>().read() }
    }

    /// Makes a register, if there is one, what a new value is.
    pub(crate) fn clear(&self, slot: Option<&Slot>, initial: Option<&Value>) -> Result<(), CallError> {
        let Some(slot) = slot else { return Ok(()) };
        self.ptr_mut(slot).destroy();
        match initial {
            Some(value) => self.ptr_mut(slot).write(value).map_err(|error| CallError::other(error.found)),
            None => Ok(()),
        }
    }

    /// A register as the place of a result.
    pub(crate) fn slot_argument<'a>(&self, slot: &'a Slot) -> Argument<'a> {
        // SAFETY: `new` was promised a value of the type in each register. The loader lets it not be used beside.
        unsafe { Argument::new(&slot.property, self.base.wrapping_add(usize::from(slot.offset))) }
    }

    /// A register, to read.
    #[inline]
    pub(crate) fn ptr<'a>(&self, slot: &'a Slot) -> Ptr<'a> {
        // SAFETY: `new` was promised a frame that has a value of the type there. Each verb is done with a pointer before the next
        // writes.
        unsafe { Ptr::new(self.base.wrapping_add(usize::from(slot.offset)), &slot.property.ty) }
    }

    /// A register, to write.
    #[inline]
    pub(crate) fn ptr_mut<'a>(&self, slot: &'a Slot) -> PtrMut<'a> {
        // SAFETY: `new` was promised a frame that has a value of the type there. Each verb is done with a pointer before the next
        // reads.
        unsafe { PtrMut::new(self.base.wrapping_add(usize::from(slot.offset)), &slot.property.ty) }
    }

    /// What an operand is.
    #[inline]
    pub(crate) fn source<'a>(&self, source: &'a Source) -> Ptr<'a> {
        match source {
            Source::Slot(slot) => self.ptr(slot),
            Source::Constant(constant) => constant.value.as_ptr(),
        }
    }

    /// Puts what is made of two operands into a register.
    pub(crate) fn make(&self, made: Made, to: &Slot, left: &Source, right: &Source) {
        let at = |source: &Source| match source {
            Source::Slot(slot) => self.base.wrapping_add(usize::from(slot.offset)),
            Source::Constant(constant) => constant.value.at(),
        };
        let place = self.base.wrapping_add(usize::from(to.offset));
        // SAFETY: `new` was promised a value of its type in each register, and the loader made this of their types.
        unsafe { made.put(place, at(left), at(right)) };
    }

    /// An operand as an argument of a thunk.
    pub(crate) fn argument<'a>(&self, source: &'a Source) -> Argument<'a> {
        let (property, at): (&'a Property, _) = match source {
            Source::Slot(slot) => (&slot.property, self.base.wrapping_add(usize::from(slot.offset))),
            Source::Constant(constant) => (&constant.property, constant.value.at()),
        };
        // SAFETY: `new` was promised a value of the type in each register. The loader lets no register that is written to be used
        // beside, and no constant be written.
        unsafe { Argument::new(property, at) }
    }

    /// A place as an argument of a thunk.
    ///
    /// # Errors
    /// When the way does not lead there.
    pub(crate) fn place_argument<'a>(
        &self,
        world: &World,
        place: &'a LinkedPlace,
        purpose: Purpose,
    ) -> Result<Argument<'a>, CallError> {
        // The thunk may have ended the object since the call began.
        let is_gone = matches!(place.root, LinkedRoot::OfSelf(_)) && world.objects.memory(self.object).is_none();
        match if is_gone { Found::NoObject } else { self.find(world, place, purpose)? } {
            // SAFETY: `find` looked it up just now. It is the one place of the call; the loader saw to it that what it begins in is
            // not used beside, and objects lie apart from frames. `Steps::keeper` answers for it.
            Found::At(at) => Ok(unsafe { Argument::new(&place.property, at) }),
            Found::NoObject => Err(CallError::other(format!("{} is of no object", place.property.text))),
            Found::OutOfRange(array, index, len) => Err(out_of_range(array, index, len)),
        }
    }

    /// The value at a place, to read; `None` where the way ends before, with what is to be logged of it.
    pub(crate) fn read<'a>(&self, world: &World, place: &'a LinkedPlace) -> Result<Result<Ptr<'a>, String>, CallError> {
        Ok(match self.find(world, place, Purpose::Read)? {
            // SAFETY: `find` looked it up just now, and the verb is done with it before anything else runs.
            Found::At(at) => Ok(unsafe { Ptr::new(at, &place.property.ty) }),
            Found::NoObject => Err(format!("{} of none is read", place.property.text)),
            Found::OutOfRange(array, index, len) => Err(format!("{} is read", element(array, index, len))),
        })
    }

    /// The value at a place, to write; `None` where the way ends before, with what is to be logged of it.
    pub(crate) fn write<'a>(
        &self,
        world: &World,
        place: &'a LinkedPlace,
        purpose: Purpose,
    ) -> Result<Result<PtrMut<'a>, String>, CallError> {
        Ok(match self.find(world, place, purpose)? {
            // SAFETY: `find` looked it up just now, and the verb is done with it before anything else runs.
            Found::At(at) => Ok(unsafe { PtrMut::new(at, &place.property.ty) }),
            Found::NoObject => Err(format!("{} of none is written", place.property.text)),
            Found::OutOfRange(array, index, len) => Err(format!("{} is written", element(array, index, len))),
        })
    }

    fn find<'a>(&self, world: &World, place: &'a LinkedPlace, purpose: Purpose) -> Result<Found<'a>, CallError> {
        let writes = purpose != Purpose::Read;
        let mut at = match &place.root {
            LinkedRoot::Slot(slot) => self.base.wrapping_add(usize::from(slot.offset)),
            LinkedRoot::OfSelf(_) if self.memory.is_null() => return Ok(Found::NoObject),
            LinkedRoot::OfSelf(offset) => {
                if writes {
                    world.objects.may_write(self.object)?;
                }
                self.memory.wrapping_add(*offset as usize)
            }
            LinkedRoot::Of(register, other) => {
                let object = self.handle(*register);
                match other_memory(world, other, object)? {
                    None => return Ok(Found::NoObject),
                    Some(at) => {
                        if writes {
                            world.objects.may_write(object)?;
                        }
                        at
                    }
                }
            }
            LinkedRoot::Default(register, other) => {
                let class = world.types.class_by_path(&world.names.text(self.name(*register)));
                match class.map(|class| other_memory(world, other, class.cdo.get())).transpose()?.flatten() {
                    None => return Ok(Found::NoObject),
                    Some(at) => at,
                }
            }
        };
        for step in &place.steps {
            match step {
                LinkedStep::Field(offset) => at = at.wrapping_add(*offset as usize),
                LinkedStep::Element { index, size, array: of, fixed, element } => {
                    let index = self.source(index).get::<i32>().unwrap_or_default();
                    // SAFETY: the way leads to a value of the type of the array so far.
                    let mut raw = unsafe { at.cast::<ArrayRaw>().read() };
                    if index < 0 || index as u32 >= raw.len {
                        if *fixed {
                            return Err(out_of_range(of, index, raw.len));
                        }
                        if purpose != Purpose::Write || index < 0 {
                            return Ok(Found::OutOfRange(of, index, raw.len));
                        }
                        // SAFETY: the way leads to a value of the type of the array so far, which nothing else reads meanwhile.
                        let place = unsafe { PtrMut::new(at, &of.ty) };
                        grow(place, index as u32 + 1, element)?;
                        // SAFETY: as before.
                        raw = unsafe { at.cast::<ArrayRaw>().read() };
                    }
                    at = raw.data.wrapping_add(index as usize * *size as usize);
                }
            }
        }
        Ok(Found::At(at))
    }
}

/// The memory of a property in another object; none when that is gone.
///
/// # Errors
/// [`CallError::WrongClass`] when its class has no such property.
#[inline]
pub(crate) fn other_memory(
    world: &World,
    other: &OtherProperty,
    object: ObjectHandle,
) -> Result<Option<*mut u8>, CallError> {
    let (Some(class), Some(memory)) = (world.objects.class_id(object), world.objects.memory(object)) else {
        return Ok(None);
    };
    if other.seen.get() != class {
        check_class(world, other, object)?;
        other.seen.set(class);
    }
    Ok(Some(memory.wrapping_add(other.offset as usize)))
}

#[cold]
fn check_class(world: &World, other: &OtherProperty, object: ObjectHandle) -> Result<(), CallError> {
    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    if class.is_a(&other.owner) {
        return Ok(());
    }
    Err(CallError::WrongClass {
        place: format!("{}:{}", other.owner.path, other.property.text),
        handle: object,
        found: class.path.to_string(),
        wanted: other.owner.path.to_string(),
    })
}

/// Makes an array as long as that, with new elements as they begin.
pub(crate) fn grow(place: PtrMut<'_>, wanted: u32, element: &Rc<Property>) -> Result<(), CallError> {
    let Some(mut rows) = array(place) else { return Ok(()) };
    let len = rows.len();
    let more = wanted.saturating_sub(len);
    size::rows(len, more, element.ty.size())?;
    rows.splice(len, 0, more).map_err(|error| CallError::other(error.to_string()))?;
    if matches!(element.ty, alcedo_reflect::property::PropertyType::Struct(_)) {
        let initial = Value::initial(&element.ty);
        for at in len..wanted {
            if let Some(place) = rows.get_mut(at) {
                place.write(&initial).map_err(|error| CallError::other(error.found))?;
            }
        }
    }
    Ok(())
}

/// An element that is not there, in words.
fn element(array: &Property, index: i32, len: u32) -> String {
    let name = if array.text.is_empty() { "an array" } else { &*array.text };
    format!("element {index} of {name}, which has {len},")
}

fn out_of_range(array: &Property, index: i32, len: u32) -> CallError {
    CallError::other(format!("{} has {len} elements, and none at {index}", array.text))
}
