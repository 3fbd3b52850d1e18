//! Pointers to parts of values (the fields of structs, strings and optionals), and values in host form on this stack.
#![expect(
    unsafe_code,
    reason = "follows addresses of values in host memory, and has values of that form on this stack"
)]

use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of, size_of};

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::{ArrayRaw, LocalTextRaw, SparseRaw};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::UOptional;
use super::verbs::clear;
pub(crate) use crate::ptr::{Ptr, PtrMut, Viewable};
use crate::value::address_slot;
use crate::{UName, Value};

/// An optional as the host has it: a byte that is zero or one, and the value at the next offset that suits it.
#[repr(C)]
#[derive(Debug)]
pub struct OptionalRaw<T> {
    is_set: u8,
    value: T,
}

/// An optional by its type: `UOptional<T>` or what std has for it.
///
/// # Safety
/// For the host it is an optional of `Item`.
pub(crate) unsafe trait OptionalValue: Value<Raw = OptionalRaw<<Self::Item as Value>::Raw>> {
    /// What may be in it.
    type Item: Value;
}

// SAFETY: the path of the type names the item.
unsafe impl<T: Value> OptionalValue for UOptional<T> {
    type Item = T;
}

// SAFETY: the path of the type names the item.
unsafe impl<T: Value> OptionalValue for Option<T> {
    type Item = T;
}

impl<'a, T: Value> PtrMut<'a, T> {
    /// The value of an optional, if there is one.
    #[inline]
    pub(crate) fn into_value(self) -> Option<PtrMut<'a, T::Item>>
    where
        T: OptionalValue,
    {
        self.as_ptr().is_set().then(|| self.into_field(&Field::if_set()))
    }
}

/// A value of type `T` in the form of the host, as a field of another.
#[repr(transparent)]
pub struct Stored<T: Value>(T::Raw);

/// States the location of a field in its struct.
pub trait FieldPlace {
    /// The struct.
    type Struct: Value;
    /// The type of the field.
    type Type: Value;
    /// A struct, and the field in that struct.
    const AT: (&'static <Self::Struct as Value>::Raw, &'static Stored<Self::Type>);
}

/// A field of type `T` in structs of type `S`. Each has one there: a field is made here alone, by a look at the form of the struct.
pub struct Field<S, T> {
    offset: usize,
    of: PhantomData<fn(S) -> T>,
}

impl<S: Value, T: Value> Field<S, T> {
    /// The field at that place.
    #[must_use]
    pub const fn of<P: FieldPlace<Struct = S, Type = T>>() -> Self {
        Self { offset: Offset::<P>::BYTES, of: PhantomData }
    }

    /// Bytes from the struct to the field.
    pub(super) const fn offset(&self) -> usize {
        self.offset
    }
}

struct Offset<P>(PhantomData<P>);

impl<P: FieldPlace> Offset<P> {
    /// Always computed by the compiler, which knows what memory a reference is into, and refuses two of different memory.
    const BYTES: usize = {
        let (whole, part) = P::AT;
        // SAFETY: were they not in one struct, this would not compile.
        let offset = unsafe { (&raw const *part).byte_offset_from(&raw const *whole) };
        let end = offset + size_of::<Stored<P::Type>>().cast_signed();
        assert!(
            offset >= 0 && end <= size_of::<<P::Struct as Value>::Raw>().cast_signed(),
            "a field lies in its struct"
        );
        offset.cast_unsigned()
    };
}

impl<'a, S: Value> Ptr<'a, S> {
    /// A field.
    #[inline]
    pub(crate) fn field<T: Value>(self, field: &Field<S, T>) -> Ptr<'a, T> {
        // SAFETY: `new` was promised a live struct, and each has such a field there.
        unsafe { Ptr::new(self.at().byte_add(field.offset).cast()) }
    }

    /// A copy of a field.
    #[inline]
    #[must_use]
    pub fn load_field<T: Value>(self, field: &Field<S, T>) -> T {
        T::load(self.field(field))
    }
}

impl<'a, S: Value> PtrMut<'a, S> {
    /// A field, to be written.
    #[inline]
    pub(crate) fn into_field<T: Value>(self, field: &Field<S, T>) -> PtrMut<'a, T> {
        // SAFETY: `new` was promised a live struct that may be written, and each has such a field there.
        unsafe { PtrMut::new(self.at().byte_add(field.offset).cast()) }
    }

    /// Overwrites a field.
    ///
    /// # Errors
    /// What the kind of value refuses.
    #[inline]
    pub fn store_field<T: Value>(&self, field: &Field<S, T>, value: &T) -> Result<(), CallError> {
        value.store(self.again().into_field(field))
    }
}

impl<T: Value<Raw = LocalTextRaw>> Field<T, String> {
    /// What people see of a text.
    const SHOWN: Self = Self { offset: offset_of!(LocalTextRaw, shown), of: PhantomData };
}

impl<T: Value<Raw = LocalTextRaw>> Field<T, UName> {
    /// What a text is translated by.
    const NAMES: [Self; 2] = [
        Self { offset: offset_of!(LocalTextRaw, namespace), of: PhantomData },
        Self { offset: offset_of!(LocalTextRaw, key), of: PhantomData },
    ];
}

impl<T: Value<Raw = LocalTextRaw>> Ptr<'_, T> {
    /// A copy of what people see of a text.
    pub(crate) fn shown(self) -> String {
        self.field(&Field::SHOWN).utf8()
    }
}

impl<'a, T: Value<Raw = LocalTextRaw>> PtrMut<'a, T> {
    /// What people see of a text.
    pub(crate) fn into_shown(self) -> PtrMut<'a, String> {
        self.into_field(&Field::SHOWN)
    }

    /// Overwrites what a text is translated by.
    pub(crate) fn write_names(mut self, namespace: Name, key: Name) {
        let [at_namespace, at_key] = &Field::NAMES;
        self.reborrow().into_field(at_namespace).write(namespace);
        self.into_field(at_key).write(key);
    }
}

impl<T: Value> Field<T, u8> {
    /// The byte that is zero while there is no value.
    const fn is_set() -> Self
    where
        T: OptionalValue,
    {
        Self { offset: offset_of!(OptionalRaw<<T::Item as Value>::Raw>, is_set), of: PhantomData }
    }
}

impl<T: Value, I: Value> Field<T, I> {
    /// The value of an optional, where there is one.
    const fn if_set() -> Self
    where
        T: OptionalValue<Item = I>,
    {
        Self { offset: offset_of!(OptionalRaw<I::Raw>, value), of: PhantomData }
    }
}

impl<'a, T: Value> Ptr<'a, T> {
    /// The byte that is zero while there is no value.
    #[inline]
    pub(crate) fn is_set_at(self) -> *const u8
    where
        T: OptionalValue,
    {
        self.field(&Field::is_set()).at()
    }

    /// Whether there is a value.
    #[inline]
    pub(crate) fn is_set(self) -> bool
    where
        T: OptionalValue,
    {
        self.field(&Field::is_set()).read() != 0
    }

    /// The value, if there is one.
    #[inline]
    pub(crate) fn value(self) -> Option<Ptr<'a, T::Item>>
    where
        T: OptionalValue,
    {
        self.is_set().then(|| self.field(&Field::if_set()))
    }
}

impl<T: Value<Raw = SparseRaw>> Ptr<'_, T> {
    /// How many functions are bound.
    pub(crate) fn bound(self) -> usize {
        let list = self.read().list;
        // SAFETY: `new` was promised a live delegate, and one that is not empty has a live row; no reference is made, since the host
        // changes it.
        if list.is_null() { 0 } else { unsafe { (&raw const (*list).len).read() as usize } }
    }
}

impl<T: Value<Raw = ArrayRaw>> Ptr<'_, T> {
    /// How many values or bindings there are.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.read().len as usize
    }
}

/// A value on the plugin's stack in the form that the host has it, for the length of one call to the host. What it owns is freed
/// by the host when it is dropped.
pub struct Temp<T: Value> {
    raw: MaybeUninit<T::Raw>,
}

impl<T: Value> Temp<T> {
    /// A value, in host form; the running call fails where the host refuses.
    pub fn of(value: &T) -> Self {
        let mut temp = Self::zeroed();
        value.store(temp.ptr_mut()).unwrap_or_else(|error| alcedo_rt::fail(error));
        temp
    }

    /// The value that zero bytes mean.
    #[must_use]
    pub fn zeroed() -> Self {
        Self { raw: MaybeUninit::zeroed() }
    }

    /// The slot of an argument, right as long as this stays where it is.
    pub fn slot(&self) -> Slot {
        address_slot(self.ptr().at())
    }

    /// The slot that waits for a result, right as long as this stays where it is.
    pub fn slot_out(&mut self) -> Slot {
        address_slot(self.ptr_mut().at())
    }

    /// The value, to read.
    pub fn ptr(&self) -> Ptr<'_, T> {
        // SAFETY: zero bytes are a value of every type, and only the host and the type's own code have written it since.
        unsafe { Ptr::new(self.raw.as_ptr()) }
    }

    /// The value, to write.
    pub(crate) fn ptr_mut(&mut self) -> PtrMut<'_, T> {
        // SAFETY: zero bytes are a value of every type, and only the host and the type's own code have written it since.
        unsafe { PtrMut::new(self.raw.as_mut_ptr()) }
    }

    /// Gives the value to host memory, where nothing has to be freed first: what `target` owned would never be freed.
    #[inline]
    pub(crate) fn move_to(self, target: &PtrMut<'_, T>) {
        let this = ManuallyDrop::new(self);
        // SAFETY: `PtrMut::new` was promised a live value that may be written; ours is a live value and owned by nobody else from
        // here on; values in host form may be moved.
        unsafe { core::ptr::copy_nonoverlapping(this.raw.as_ptr(), target.at(), 1) };
    }
}

impl<T: Value> Temp<T> {
    /// An optional with this value.
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

impl<T: Value> Drop for Temp<T> {
    fn drop(&mut self) {
        if !T::OWNS_MEMORY {
            return;
        }
        // Without a host, or off the game thread, nothing was ever put into it.
        if let Ok(place) = self.ptr_mut().place(ObjectHandle::NONE) {
            let _nothing_to_free = clear(&place);
        }
    }
}
