//! Cached offsets of word-sized property values. After the first access to a property, reads and writes need no lookup of the offset.
#![expect(unsafe_code, reason = "reads and writes objects at an offset that was looked up before")]

use std::cell::Cell;
use std::marker::PhantomData;

use alcedo_abi::host::DirectoryEntry;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::{Slot, SlotType};
use alcedo_base::epoch::Epoch;
use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::class::Class;
use crate::hot_columns::HotColumns;
use crate::property::{Property, PropertyType};
use crate::typed::{FrameValue, OfKind};

/// Offset of a word-sized value in objects of one class.
#[derive(Clone, Copy, Debug)]
struct Location {
    class: ClassId,
    offset: u32,
    kind: PropertyKind,
    /// Class that the property requires of a referenced object. [`ClassId::NONE`] if the class is unknown or the property is not a
    /// reference.
    referenced: ClassId,
}

/// Offset of a property with values of Rust type `T`, in objects of one class.
#[derive(Debug)]
pub struct WordOffset<T> {
    location: Location,
    of: PhantomData<fn() -> T>,
}

alcedo_abi::copies! { impl[T] WordOffset<T>; }

/// Checks if values of the property type are read and written as `T`.
pub fn fits<T: FrameValue>(ty: &PropertyType) -> bool {
    <T as OfKind>::matches(ty)
}

impl Location {
    /// Returns the location of the property in objects of `class`. Returns `None` if the class lacks the property or its kind differs from
    /// `kind`.
    fn of(class: &Class, property: &Property, kind: PropertyKind) -> Option<Self> {
        let is_there = class.properties.iter().any(|own| std::ptr::eq(&raw const **own, property));
        let (offset, referenced) = (property.offset, ClassId::NONE);
        (is_there && property.ty.kind() == kind).then_some(Self { class: class.id, offset, kind, referenced })
    }

    #[inline]
    fn read<T: FrameValue>(&self, entry: &DirectoryEntry) -> Option<T> {
        let kind = <T as OfKind>::IN_SLOT?;
        if entry.class != self.class || self.kind != kind {
            return None;
        }
        let at = entry.memory.wrapping_add(self.offset as usize).cast_const();
        // SAFETY: the memory of the entry has the layout of its class. `of` checked that this class has a value of this kind at the offset.
        // Size and alignment follow from the kind, and every bit pattern is valid.
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

    #[inline]
    fn write<T: FrameValue>(&self, entry: &DirectoryEntry, value: T) -> Result<(), T> {
        let Some(kind) = <T as OfKind>::IN_SLOT.filter(|kind| *kind == self.kind && entry.class == self.class) else {
            return Err(value);
        };
        let bits = value.into_slot().bits();
        let at = entry.memory.wrapping_add(self.offset as usize);
        // SAFETY: the memory is valid for the reasons given in `read`, and a plain value owns no memory.
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

impl<T: FrameValue> WordOffset<T> {
    /// Returns the offset of the property in objects of `class`. Returns `None` if the class lacks the property, or if its values are not
    /// word-sized values of type `T`.
    pub fn of(class: &Class, property: &Property) -> Option<Self> {
        let location = Location::of(class, property, <T as OfKind>::IN_SLOT?)?;
        fits::<T>(&property.ty).then_some(Self { location, of: PhantomData })
    }

    /// Returns the offset of the value in bytes.
    #[must_use]
    #[inline]
    pub fn offset(&self) -> usize {
        self.location.offset as usize
    }
}

const CLASSES: usize = 4;

/// Cached offsets of a word-sized property for recently used classes, with the epoch of the lookup. The cache does not store the Rust type
/// of the values. Game thread only.
#[derive(Debug)]
pub struct WordOffsets {
    epoch: Cell<u64>,
    /// Cache entries, indexed by the class id modulo `CLASSES`.
    offsets: [Cell<Option<Location>>; CLASSES],
}

impl Default for WordOffsets {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for WordOffsets {
    /// Returns an empty cache. The clone does not copy cache entries.
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl WordOffsets {
    /// Creates an empty cache.
    #[must_use]
    pub const fn new() -> Self {
        Self { epoch: Cell::new(Epoch::NEVER), offsets: [const { Cell::new(None) }; CLASSES] }
    }

    /// Returns the epoch of the lookup.
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    /// Reads the property of an object. Returns `None` if the object does not exist or its class is not cached. The caller must check that
    /// the cache is current and that the property may be read.
    #[inline]
    pub fn read<T: FrameValue>(&self, columns: &HotColumns, object: ObjectHandle) -> Option<T> {
        let entry = columns.find(object)?;
        self.of(entry.class).get()?.read(&entry)
    }

    /// Overwrites the property of an object. The caller must check that the cache is current and that the property may be written. For a
    /// reference, `may_refer` receives the new object and the class that the property requires. `may_refer` checks that the object has this
    /// class, and that the write needs no write barrier.
    ///
    /// # Errors
    /// Returns `value` if the object does not exist, if its class is not cached, or if `may_refer` returns `false`.
    #[inline]
    pub fn write<T: FrameValue>(
        &self,
        columns: &HotColumns,
        object: ObjectHandle,
        value: T,
        may_refer: impl FnOnce(ObjectHandle, ClassId) -> bool,
    ) -> Result<(), T> {
        let Some(entry) = columns.find(object) else { return Err(value) };
        let Some(location) = self.of(entry.class).get() else { return Err(value) };
        let is_refused = value.reference().is_some_and(|to| !may_refer(to, location.referenced));
        if is_refused { Err(value) } else { location.write(&entry, value) }
    }

    /// Caches the offset of the property for `class` at epoch `count`. `referenced` is the class that a reference requires, or
    /// [`ClassId::NONE`].
    pub fn note<T: FrameValue>(&self, count: u64, class: &Class, property: &Property, referenced: ClassId) {
        if self.epoch.replace(count) != count {
            self.offsets.iter().for_each(|location| location.set(None));
        }
        let location = <T as OfKind>::IN_SLOT.and_then(|kind| Location::of(class, property, kind));
        let location = location.map(|location| Location { referenced, ..location });
        self.of(class.id).set(location.filter(|_| fits::<T>(&property.ty)));
    }

    #[inline]
    fn of(&self, class: ClassId) -> &Cell<Option<Location>> {
        &self.offsets[class.0 as usize % CLASSES]
    }
}

impl HotColumns {
    /// Reads the value of an object's property. Returns `None` if the object does not exist or has a different class. The caller must check
    /// that the property may be read.
    #[inline]
    pub fn read_word<T: FrameValue>(&self, object: ObjectHandle, location: &WordOffset<T>) -> Option<T> {
        location.location.read(&self.find(object)?)
    }
}
