//! Where objects of a class have a value that is one word: for reads and writes that were looked up before, and need neither the class
//! nor the property again.
#![expect(unsafe_code, reason = "reads and writes objects at an offset that was looked up before")]

use std::cell::Cell;
use std::marker::PhantomData;

use alcedo_abi::host::DirectoryEntry;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::{Slot, SlotType};
use alcedo_base::handles::{ClassId, ObjectHandle};
use alcedo_base::stamp::Stamp;

use crate::class::Class;
use crate::hot_columns::HotColumns;
use crate::property::{Property, PropertyType};
use crate::typed::{FrameValue, OfKind};

/// Where objects of one class have a value of a kind that is one word.
#[derive(Clone, Copy, Debug)]
struct Place {
    class: ClassId,
    offset: u32,
    kind: PropertyKind,
}

/// Where objects of one class have a property that is read as `T`.
#[derive(Debug)]
pub struct WordPlace<T> {
    place: Place,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for WordPlace<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WordPlace<T> {}

/// Whether values of the type are read and written as `T`.
pub fn fits<T: FrameValue>(ty: &PropertyType) -> bool {
    <T as OfKind>::matches(ty)
}

impl Place {
    /// Where objects of the class have that property, if it is a value of that kind.
    fn of(class: &Class, property: &Property, kind: PropertyKind) -> Option<Self> {
        let is_there = class.properties.iter().any(|own| std::ptr::eq(&raw const **own, property));
        (is_there && property.ty.kind() == kind).then_some(Self { class: class.id, offset: property.offset, kind })
    }

    /// Reads it from an object that is there.
    #[inline]
    fn read<T: FrameValue>(&self, entry: &DirectoryEntry) -> Option<T> {
        let kind = <T as OfKind>::IN_SLOT?;
        if entry.class != self.class || self.kind != kind {
            return None;
        }
        let at = entry.memory.wrapping_add(self.offset as usize).cast_const();
        // SAFETY: the object is there, with memory as its class says, which has a value of this kind at the offset: `of` has looked. A
        // value of a kind has the size and alignment that the kind says, and any bytes are one.
        let bits = unsafe {
            match kind {
                PropertyKind::U8 | PropertyKind::I8 | PropertyKind::BOOL => at.read().into(),
                PropertyKind::U16 | PropertyKind::I16 => at.cast::<u16>().read().into(),
                PropertyKind::U32 | PropertyKind::I32 | PropertyKind::F32 | PropertyKind::NAME => {
                    at.cast::<u32>().read().into()
                }
                _ => at.cast::<u64>().read(),
            }
        };
        <T as OfKind>::from_slot(Slot::from_bits(SlotType::of_kind(kind)?, bits))
    }

    /// Overwrites it in an object that is there.
    #[inline]
    fn write<T: FrameValue>(&self, entry: &DirectoryEntry, value: T) -> Result<(), T> {
        let Some(kind) = <T as OfKind>::IN_SLOT.filter(|kind| *kind == self.kind && entry.class == self.class) else {
            return Err(value);
        };
        let bits = value.into_slot().bits();
        let at = entry.memory.wrapping_add(self.offset as usize);
        // SAFETY: as in `read`; a plain value owns nothing.
        unsafe {
            match kind {
                PropertyKind::U8 | PropertyKind::I8 | PropertyKind::BOOL => at.write(bits as u8),
                PropertyKind::U16 | PropertyKind::I16 => at.cast::<u16>().write(bits as u16),
                PropertyKind::U32 | PropertyKind::I32 | PropertyKind::F32 | PropertyKind::NAME => {
                    at.cast::<u32>().write(bits as u32);
                }
                _ => at.cast::<u64>().write(bits),
            }
        }
        Ok(())
    }
}

impl<T: FrameValue> WordPlace<T> {
    /// Where objects of the class have that property; none when they have it not, or its values are no `T`, or no words.
    pub fn of(class: &Class, property: &Property) -> Option<Self> {
        let place = Place::of(class, property, <T as OfKind>::IN_SLOT?)?;
        fits::<T>(&property.ty).then_some(Self { place, of: PhantomData })
    }

    /// Where the value begins in each object.
    #[must_use]
    #[inline]
    pub fn offset(&self) -> usize {
        self.place.offset as usize
    }
}

/// So many classes have a place for what was looked up for them.
const CLASSES: usize = 4;

/// Where objects of the last classes have a property whose values are words, and since when that is right. It is the same for every Rust
/// type of the kind. Game thread only.
#[derive(Debug)]
pub struct WordPlaces {
    /// The count of the stamp at which the places were looked up.
    looked: Cell<u64>,
    /// Each at the place of its class's number.
    places: [Cell<Option<Place>>; CLASSES],
}

impl Default for WordPlaces {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for WordPlaces {
    /// Nothing is looked up for the clone.
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl WordPlaces {
    /// Nothing is looked up.
    #[must_use]
    pub const fn new() -> Self {
        Self { looked: Cell::new(Stamp::NEVER), places: [const { Cell::new(None) }; CLASSES] }
    }

    /// The count of the stamp at which they were looked up.
    #[must_use]
    #[inline]
    pub fn looked(&self) -> u64 {
        self.looked.get()
    }

    /// Reads the property of an object; none when it is gone, or was not looked up for its class. That they are right, and the property
    /// may be read now, the caller has seen.
    #[inline]
    pub fn read<T: FrameValue>(&self, columns: &HotColumns, object: ObjectHandle) -> Option<T> {
        let entry = columns.find(object)?;
        self.of(entry.class).get()?.read(&entry)
    }

    /// Overwrites it, as far as it refers to no object. That they are right, and the property may be written now, the caller has seen.
    ///
    /// # Errors
    /// The value, as [`WordPlaces::read`] gives nothing.
    #[inline]
    pub fn write<T: FrameValue>(&self, columns: &HotColumns, object: ObjectHandle, value: T) -> Result<(), T> {
        // A mark that is under way is told of a reference, and the class of what it refers to is looked at.
        if <T as OfKind>::IN_SLOT == Some(PropertyKind::OBJECT) {
            return Err(value);
        }
        let Some(entry) = columns.find(object) else { return Err(value) };
        match self.of(entry.class).get() {
            Some(place) => place.write(&entry, value),
            None => Err(value),
        }
    }

    /// Notes where objects of the class have the property, at this count of the stamp.
    pub fn note<T: FrameValue>(&self, count: u64, class: &Class, property: &Property) {
        if self.looked.replace(count) != count {
            self.places.iter().for_each(|place| place.set(None));
        }
        let place = <T as OfKind>::IN_SLOT.and_then(|kind| Place::of(class, property, kind));
        self.of(class.id).set(place.filter(|_| fits::<T>(&property.ty)));
    }

    #[inline]
    fn of(&self, class: ClassId) -> &Cell<Option<Place>> {
        &self.places[class.0 as usize % CLASSES]
    }
}

impl HotColumns {
    /// Reads it; none when the object is gone or of another class. Whether it may be read now, the caller has asked.
    #[inline]
    pub fn read_word<T: FrameValue>(&self, object: ObjectHandle, place: &WordPlace<T>) -> Option<T> {
        place.place.read(&self.find(object)?)
    }
}
