//! Pointers to the fields of structs, localized strings and optionals, and values in host form on the plugin's stack.
#![expect(unsafe_code, reason = "dereferences addresses in host memory, and stores values in host form on this stack")]

use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of, size_of};

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::{ArrayRaw, LocalTextRaw, SparseRaw};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::UOptional;
use super::verbs::{self, clear};
use crate::host::lending;
use crate::ptr::ArgumentSlot;
pub(crate) use crate::ptr::{Ptr, PtrMut, Viewable};
use crate::value::{address_slot, pointer_of};
use crate::{UName, Value};

/// Host form of an optional: a byte that is zero or one, and the value at the next aligned offset.
#[repr(C)]
#[derive(Debug)]
pub struct OptionalRaw<T> {
    is_set: u8,
    value: T,
}

/// Optional type: `UOptional<T>` or `Option<T>`.
///
/// # Safety
/// The host treats the type as an optional of `Item`.
pub(crate) unsafe trait OptionalValue: Value<Raw = OptionalRaw<<Self::Item as Value>::Raw>> {
    type Item: Value;
}

// SAFETY: the host resolves the type by its path, which contains the type of the item.
unsafe impl<T: Value> OptionalValue for UOptional<T> {
    type Item = T;
}

// SAFETY: the host resolves the type by its path, which contains the type of the item.
unsafe impl<T: Value> OptionalValue for Option<T> {
    type Item = T;
}

impl<'a, T: Value> PtrMut<'a, T> {
    /// Returns the value of an optional, or `None` if the optional is unset.
    #[inline]
    pub(crate) fn into_value(self) -> Option<PtrMut<'a, T::Item>>
    where
        T: OptionalValue,
    {
        self.as_ptr().is_set().then(|| self.into_field(&Field::if_set()))
    }
}

/// Value of type `T` in host form, as a field of a struct.
#[repr(transparent)]
pub struct Stored<T: Value>(T::Raw);

/// Location of a field in its struct.
pub trait FieldPlace {
    /// Struct that contains the field.
    type Struct: Value;
    /// Type of the field.
    type Type: Value;
    /// References to a struct and to its field, from which the offset is computed.
    const AT: (&'static <Self::Struct as Value>::Raw, &'static Stored<Self::Type>);
}

/// Field of type `T` in structs of type `S`. The offset is computed from the layout of `S`, so each `S` contains a `T` at this offset.
pub struct Field<S, T> {
    offset: usize,
    of: PhantomData<fn(S) -> T>,
}

impl<S: Value, T: Value> Field<S, T> {
    /// Returns the field whose location `P` defines.
    #[must_use]
    pub const fn of<P: FieldPlace<Struct = S, Type = T>>() -> Self {
        Self { offset: Offset::<P>::BYTES, of: PhantomData }
    }

    /// Returns the offset of the field in bytes.
    pub(super) const fn offset(&self) -> usize {
        self.offset
    }
}

struct Offset<P>(PhantomData<P>);

impl<P: FieldPlace> Offset<P> {
    /// Offset in bytes, computed at compile time. The computation fails to compile unless both references point into one struct.
    const BYTES: usize = {
        let (whole, part) = P::AT;
        // SAFETY: constant evaluation fails unless both references point into the same struct.
        let offset = unsafe { (&raw const *part).byte_offset_from(&raw const *whole) };
        let end = offset + size_of::<Stored<P::Type>>().cast_signed();
        assert!(
            offset >= 0 && end <= size_of::<<P::Struct as Value>::Raw>().cast_signed(),
            "a field is inside its struct"
        );
        offset.cast_unsigned()
    };
}

impl<'a, S: Value> Ptr<'a, S> {
    #[inline]
    pub(crate) fn field<T: Value>(self, field: &Field<S, T>) -> Ptr<'a, T> {
        // SAFETY: the caller of `new` promised a live struct, and each `S` has a `T` at this offset.
        unsafe { Ptr::new(self.at().byte_add(field.offset).cast()) }
    }

    /// Returns a copy of a field.
    #[inline]
    #[must_use]
    pub fn load_field<T: Value>(self, field: &Field<S, T>) -> T {
        T::load(self.field(field))
    }
}

impl<'a, S: Value> PtrMut<'a, S> {
    /// Returns a pointer for writing a field.
    #[inline]
    pub(crate) fn into_field<T: Value>(self, field: &Field<S, T>) -> PtrMut<'a, T> {
        // SAFETY: the caller of `new` promised a live, writable struct, and each `S` has a `T` at this offset.
        unsafe { PtrMut::new(self.at().byte_add(field.offset).cast()) }
    }

    /// Overwrites a field.
    ///
    /// # Errors
    /// Fails if the field's kind rejects the value.
    #[inline]
    pub fn store_field<T: Value>(&self, field: &Field<S, T>, value: &T) -> Result<(), CallError> {
        value.store(self.again().into_field(field))
    }
}

impl<T: Value<Raw = LocalTextRaw>> Field<T, String> {
    /// Visible string of a localized text.
    const DISPLAY: Self = Self { offset: offset_of!(LocalTextRaw, display), of: PhantomData };
}

impl<T: Value<Raw = LocalTextRaw>> Field<T, UName> {
    /// Namespace and key of a localized text.
    const NAMES: [Self; 2] = [
        Self { offset: offset_of!(LocalTextRaw, namespace), of: PhantomData },
        Self { offset: offset_of!(LocalTextRaw, key), of: PhantomData },
    ];
}

impl<T: Value<Raw = LocalTextRaw>> Ptr<'_, T> {
    /// Returns a copy of the visible string.
    pub(crate) fn display(self) -> String {
        self.field(&Field::DISPLAY).utf8()
    }
}

impl<'a, T: Value<Raw = LocalTextRaw>> PtrMut<'a, T> {
    /// Returns a pointer for writing the visible string.
    pub(crate) fn into_display(self) -> PtrMut<'a, String> {
        self.into_field(&Field::DISPLAY)
    }

    pub(crate) fn write_names(self, namespace: Name, key: Name) {
        let [at_namespace, at_key] = &Field::NAMES;
        self.again().into_field(at_namespace).write(namespace);
        self.into_field(at_key).write(key);
    }
}

impl<T: Value> Field<T, u8> {
    /// Returns the field that contains the flag byte, which is zero while the optional is unset.
    const fn is_set() -> Self
    where
        T: OptionalValue,
    {
        Self { offset: offset_of!(OptionalRaw<<T::Item as Value>::Raw>, is_set), of: PhantomData }
    }
}

impl<T: Value, I: Value> Field<T, I> {
    /// Returns the field that contains the optional's value, which is valid only while the optional is set.
    const fn if_set() -> Self
    where
        T: OptionalValue<Item = I>,
    {
        Self { offset: offset_of!(OptionalRaw<I::Raw>, value), of: PhantomData }
    }
}

impl<'a, T: Value> Ptr<'a, T> {
    /// Returns the address of the flag byte, which is zero while the optional is unset.
    #[inline]
    pub(crate) fn is_set_at(self) -> *const u8
    where
        T: OptionalValue,
    {
        self.field(&Field::is_set()).at()
    }

    #[inline]
    pub(crate) fn is_set(self) -> bool
    where
        T: OptionalValue,
    {
        self.field(&Field::is_set()).read() != 0
    }

    /// Returns a pointer to the optional's value, or `None` if the optional is unset.
    #[inline]
    pub(crate) fn value(self) -> Option<Ptr<'a, T::Item>>
    where
        T: OptionalValue,
    {
        self.is_set().then(|| self.field(&Field::if_set()))
    }
}

impl<T: Value<Raw = SparseRaw>> Ptr<'_, T> {
    /// Returns the number of bound functions.
    pub(crate) fn bound(self) -> usize {
        let list = self.read().list;
        // SAFETY: the caller of `new` promised a live delegate, whose list is live unless null.
        // No reference is created, because the host may change the list.
        if list.is_null() { 0 } else { unsafe { (&raw const (*list).len).read() as usize } }
    }
}

impl<T: Value<Raw = ArrayRaw>> Ptr<'_, T> {
    /// Returns the number of values or bindings.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.read().len as usize
    }
}

/// Value in host form on the plugin's stack, for one host call. On drop, the host frees the memory that the value owns.
pub struct Temp<T: Value> {
    raw: MaybeUninit<T::Raw>,
}

impl<T: Value> Temp<T> {
    /// Converts a value into host form. If the host rejects the value, the running call fails.
    pub fn of(value: &T) -> Self {
        let mut temp = Self::zeroed();
        value.store(temp.ptr_mut()).unwrap_or_else(|error| alcedo_rt::fail(error));
        temp
    }

    /// Creates a value whose bytes are all zero.
    #[must_use]
    pub fn zeroed() -> Self {
        Self { raw: MaybeUninit::zeroed() }
    }

    /// Creates a copy of the value at `from`.
    pub(crate) fn copy_of(from: Ptr<'_, T>) -> Result<Self, CallError> {
        let mut copy = Self::zeroed();
        verbs::copy(&copy.ptr_mut().into_location(ObjectHandle::NONE)?, from)?;
        Ok(copy)
    }

    /// Returns a slot that passes the value as an argument. The slot is valid until `self` moves.
    pub fn slot(&self) -> Slot {
        address_slot(self.ptr().at())
    }

    /// Returns a slot that receives a result. The slot is valid until `self` moves.
    pub fn slot_out(&mut self) -> Slot {
        address_slot(self.ptr_mut().at())
    }

    /// Returns a pointer for reading the value.
    pub fn ptr(&self) -> Ptr<'_, T> {
        // SAFETY: zero bytes are a value of every type.
        // After the creation of `self`, only the host and the type's own code have written to the value.
        unsafe { Ptr::new(self.raw.as_ptr()) }
    }

    /// Returns a pointer for writing the value.
    pub(crate) fn ptr_mut(&mut self) -> PtrMut<'_, T> {
        // SAFETY: zero bytes are a value of every type.
        // After the creation of `self`, only the host and the type's own code have written to the value.
        unsafe { PtrMut::new(self.raw.as_mut_ptr()) }
    }

    /// Moves the value to host memory without freeing the overwritten value. Memory that the overwritten value owns leaks.
    #[inline]
    pub(crate) fn move_to(self, target: &PtrMut<'_, T>) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the caller of `PtrMut::new` promised a live, writable value.
        // `this` is a live value that is not dropped here, and values in host form may be moved.
        unsafe { core::ptr::copy_nonoverlapping(this.raw.as_ptr(), target.at(), 1) };
    }
}

impl<T: Value> Temp<T> {
    /// Returns an optional with this value.
    pub(crate) fn optional_of(value: Temp<T::Item>) -> Self
    where
        T: OptionalValue,
    {
        let mut optional = Self::zeroed();
        value.move_to(&optional.ptr_mut().into_field(&Field::if_set()));
        optional.ptr_mut().into_field(&Field::is_set()).write(1);
        optional
    }
}

impl<T: Value> Ptr<'_, T> {
    /// Calls `code`, which reads several parts of the value. If `runs_code` is true, a read runs code of the author, which may change or
    /// destroy the value. `code` then reads a copy, except while a slice is borrowed, because the value cannot change during this borrow.
    pub(crate) fn apart<R>(self, runs_code: bool, code: impl FnOnce(Ptr<'_, T>) -> R) -> R {
        if !runs_code || lending::allows_calls("copying a value").is_err() {
            return code(self);
        }
        let copy = Temp::copy_of(self).unwrap_or_else(|error| alcedo_rt::fail(error));
        code(copy.ptr())
    }
}

impl<T: Value> ArgumentSlot<'_, T> {
    /// Returns a copy of the value if reading the value runs code of the author, which may destroy the values of other slots.
    ///
    /// # Errors
    /// Fails with `BUFFER` if the slot is not a pointer slot.
    #[inline]
    pub(crate) fn apart(&self) -> Result<Option<Temp<T>>, CallError> {
        if !T::COPY_RUNS_CODE {
            return Ok(None);
        }
        let at = pointer_of::<T::Raw>(self.bare())?;
        // SAFETY: the caller of `ArgumentSlots::new` promised data in the form of the ABI.
        // `Value` requires that values whose copy runs code are passed by pointer, so the data is a live value.
        Temp::copy_of(unsafe { Ptr::new(at) }).map(Some)
    }
}

impl<T: Value> Drop for Temp<T> {
    fn drop(&mut self) {
        if !T::OWNS_MEMORY {
            return;
        }
        // Errors are ignored, because a value that was used without a host, or outside the game thread, has never owned memory.
        if let Ok(location) = self.ptr_mut().location(ObjectHandle::NONE) {
            let _nothing_to_free = clear(&location);
        }
    }
}
