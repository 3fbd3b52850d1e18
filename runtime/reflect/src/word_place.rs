//! Where objects of a class have a value that is one word: for reads and writes that were looked up before, and need neither the class
//! nor the property again.
#![expect(unsafe_code, reason = "reads and writes objects at an offset that was looked up before")]

use std::marker::PhantomData;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::zcall::{Slot, SlotType};
use alcedo_base::handles::{ClassId, ObjectHandle};

use crate::class::Class;
use crate::hot_columns::HotColumns;
use crate::property::{Property, PropertyType};
use crate::typed::{FrameValue, OfKind};

/// Where objects of one class have a property that is read as `T`.
#[derive(Debug)]
pub struct WordPlace<T> {
    class: ClassId,
    offset: usize,
    kind: PropertyKind,
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

impl<T: FrameValue> WordPlace<T> {
    /// Where objects of the class have that property; none when they have it not, or its values are no `T`, or no words.
    pub fn of(class: &Class, property: &Property) -> Option<Self> {
        let kind = <T as OfKind>::IN_SLOT?;
        let is_there = class.properties.iter().any(|own| std::ptr::eq(&raw const **own, property));
        let fits = is_there && fits::<T>(&property.ty) && property.ty.kind() == kind;
        fits.then_some(Self { class: class.id, offset: property.offset as usize, kind, of: PhantomData })
    }

    /// The class.
    #[must_use]
    #[inline]
    pub fn class(&self) -> ClassId {
        self.class
    }

    /// Where the value begins in each object.
    #[must_use]
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Whether it refers to an object.
    #[must_use]
    #[inline]
    pub fn is_reference(&self) -> bool {
        self.kind == PropertyKind::OBJECT
    }
}

impl HotColumns {
    /// Reads it; none when the object is gone or of another class. Whether it may be read now, the caller has asked.
    #[inline]
    pub fn read_word<T: FrameValue>(&self, object: ObjectHandle, place: &WordPlace<T>) -> Option<T> {
        let entry = self.find(object).filter(|entry| entry.class == place.class)?;
        let kind = <T as OfKind>::IN_SLOT?;
        let at = entry.memory.wrapping_add(place.offset).cast_const();
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

    /// Overwrites it, unless the object is gone or of another class. Whether it may be written now, the caller has asked, and it
    /// tells a mark that is under way of a reference.
    #[inline]
    pub fn write_word<T: FrameValue>(&self, object: ObjectHandle, place: &WordPlace<T>, value: T) -> Result<(), T> {
        let entry = self.find(object).filter(|entry| entry.class == place.class);
        let (Some(entry), Some(kind)) = (entry, <T as OfKind>::IN_SLOT) else { return Err(value) };
        let bits = value.into_slot().bits();
        let at = entry.memory.wrapping_add(place.offset);
        // SAFETY: as in `read_word`; a plain value owns nothing.
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
