//! Pointers to values as the host has them. To make one is a promise and unsafe; to use one is safe, since a pointer goes with
//! its type. Nothing refers to host memory as Rust does, since the host changes it: a value is copied out or in whole.
//!
//! A pointer is for what is done at once. Whoever gives control to the host or to the author's code, by which values may move
//! and end, asks for it anew.
#![expect(
    unsafe_code,
    reason = "follows addresses of values in host memory, and has values of that form on this stack"
)]

use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of, size_of};

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::{ArrayRaw, LocalTextRaw, SparseRaw, TextRaw, TextView};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use super::lending::{self, Access, Lending};
use super::row::{List, Part};
use super::structure::{FieldPlace, Stored};
use super::{IntoHost, Kind, Owned, UOptional};
use crate::host::values::{Place, clear, place};
use crate::value::address_slot;
use crate::{Plain, UName, Value};

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

/// A value of type `T` to read.
pub struct Ptr<'a, T: Value> {
    at: *const T::Raw,
    of: PhantomData<&'a ()>,
}

/// A value of type `T` to read and write.
pub struct PtrMut<'a, T: Value> {
    at: *mut T::Raw,
    of: PhantomData<&'a mut ()>,
}

impl<T: Value> Clone for Ptr<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Value> Copy for Ptr<'_, T> {}

impl<'a, T: Value> Ptr<'a, T> {
    /// A pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` is a live value of the type for `'a`, or until its user gives control to the host or to the author's code, and may
    /// be read on this thread.
    #[inline]
    #[must_use]
    pub unsafe fn new(at: *const T::Raw) -> Self {
        Self { at, of: PhantomData }
    }

    /// What was given, where it lies, if it does.
    pub(crate) fn given<G: IntoHost<T> + ?Sized>(given: &'a G) -> Result<Option<Self>, CallError> {
        // SAFETY: `IntoHost` promises a live value until something is written or called, for which the pointer is.
        Ok(given.lies_at()?.map(|at| unsafe { Self::new(at) }))
    }

    /// Its first byte.
    #[inline]
    #[must_use]
    pub fn at(self) -> *const T::Raw {
        self.at
    }

    /// The words that lie there. Who has them owns nothing of what they lead to.
    #[inline]
    pub(crate) fn read(self) -> T::Raw {
        // SAFETY: `new` was promised a live value, and `Value` promises that any bytes are valid for its form.
        unsafe { self.at.read() }
    }
}

impl<'a, T: Value> PtrMut<'a, T> {
    /// A pointer to the value at `at`.
    ///
    /// # Safety
    /// As [`Ptr::new`], and the value may be written.
    #[inline]
    #[must_use]
    pub unsafe fn new(at: *mut T::Raw) -> Self {
        Self { at, of: PhantomData }
    }

    /// Its first byte.
    #[inline]
    pub(crate) fn at(&self) -> *mut T::Raw {
        self.at
    }

    /// The value, to read.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> Ptr<'_, T> {
        Ptr { at: self.at, of: PhantomData }
    }

    /// The value, to read from here on.
    #[inline]
    pub(crate) fn into_ptr(self) -> Ptr<'a, T> {
        Ptr { at: self.at, of: PhantomData }
    }

    /// The value of an optional, if there is one.
    #[inline]
    pub(crate) fn into_value(self) -> Option<PtrMut<'a, T::Item>>
    where
        T: OptionalValue,
    {
        self.as_ptr().is_set().then(|| self.into_field(&Field::if_set()))
    }

    /// The same pointer, while this one is not used.
    #[inline]
    pub(crate) fn reborrow(&mut self) -> PtrMut<'_, T> {
        PtrMut { at: self.at, of: PhantomData }
    }

    /// Overwrites the value. What may be copied in host form is numbers, names and handles: it owns nothing that would be lost,
    /// and is no address.
    #[inline]
    pub(crate) fn write(self, raw: T::Raw)
    where
        T::Raw: Copy,
    {
        // SAFETY: `new` was promised a live value that may be written.
        unsafe { self.at.write(raw) };
    }

    /// The value as calls name it that change it.
    pub(crate) fn place(&self, owner: ObjectHandle) -> Result<Place<'_, T>, CallError> {
        place(owner, PtrMut { at: self.at, of: PhantomData })
    }

    /// The same, for good.
    pub(crate) fn into_place(self, owner: ObjectHandle) -> Result<Place<'a, T>, CallError> {
        place(owner, self)
    }
}

/// A value that is given to [`Value::see`]: where it lies, and the token by which a view of it is known to be good. `F` makes the
/// token, for those kinds that are seen as views.
pub struct Viewable<'a, T: Value, F> {
    at: PtrMut<'a, T>,
    token: F,
}

impl<'a, T: Value, F> Viewable<'a, T, F> {
    /// The value at `at`.
    ///
    /// # Safety
    /// It stays live as long as the token that `token` makes is good, and is the game thread's for the frame of that token.
    #[inline]
    pub(crate) unsafe fn new(at: PtrMut<'a, T>, token: F) -> Self {
        Self { at, token }
    }

    /// The value, to read.
    #[inline]
    #[must_use]
    pub fn ptr(&self) -> Ptr<'_, T> {
        self.at.as_ptr()
    }

    /// The value, and what makes the token.
    #[inline]
    pub(crate) fn into_parts(self) -> (PtrMut<'a, T>, F) {
        (self.at, self.token)
    }
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

/// The value that zero bytes mean.
#[must_use]
pub const fn blank<T: Value>() -> T::Raw {
    // SAFETY: zero bytes are a value of every type, and any bytes are valid for its form.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

impl<'a, S: Value> Ptr<'a, S> {
    /// A field.
    #[inline]
    pub(crate) fn field<T: Value>(self, field: &Field<S, T>) -> Ptr<'a, T> {
        // SAFETY: `new` was promised a live struct, and each has such a field there.
        unsafe { Ptr::new(self.at.byte_add(field.offset).cast()) }
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
        PtrMut { at: self.as_ptr().field(field).at.cast_mut(), of: PhantomData }
    }

    /// Overwrites a field.
    ///
    /// # Errors
    /// What the kind of value refuses.
    #[inline]
    pub fn store_field<T: Value>(&self, field: &Field<S, T>, value: &T) -> Result<(), CallError> {
        value.store(PtrMut { at: self.at, of: PhantomData }.into_field(field))
    }
}

impl<T: Value<Raw = TextRaw>> Ptr<'_, T> {
    /// The bytes of a text, for as long as nothing changes it.
    #[inline]
    pub(crate) fn view(self) -> TextView {
        let TextRaw { data, len, .. } = self.read();
        TextView { data, len }
    }

    /// A copy of UTF-8 text.
    pub(crate) fn utf8(self) -> String {
        self.copied(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// A copy of text of one byte a character.
    pub(crate) fn latin(self) -> String {
        self.copied(|bytes| bytes.iter().copied().map(char::from).collect())
    }

    /// What `copy`, which changes nothing, makes of the bytes.
    fn copied(self, copy: fn(&[u8]) -> String) -> String {
        let TextView { data, len } = self.view();
        if len == 0 {
            return String::new();
        }
        // SAFETY: `new` was promised a live text, which has as many readable bytes; they are not used after `copy`.
        copy(unsafe { core::slice::from_raw_parts(data, len) })
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
        self.field(&Field::is_set()).at
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

/// What is read of a row in one go: values of type `T`, until control goes to the host.
pub(crate) struct Row<'a, T> {
    data: *mut u8,
    /// Values there are.
    pub(crate) len: usize,
    stride: usize,
    of: PhantomData<&'a fn() -> T>,
}

impl<T> Clone for Row<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Row<'_, T> {}

impl<'a, T: Value> Row<'a, T> {
    /// What lies in a container.
    #[inline]
    pub(crate) fn of<P: Part<Item = T>>(whole: Ptr<'a, P::Whole>) -> Self {
        let ArrayRaw { data, len, .. } = P::row(whole.read());
        Self { data: data.wrapping_add(P::OFFSET), len: len as usize, stride: P::STRIDE, of: PhantomData }
    }

    /// The value at `index`, if there is one.
    #[inline]
    pub(crate) fn get(self, index: usize) -> Option<PtrMut<'a, T>> {
        // SAFETY: `Part`, by which alone a row is made, promises that the row of a live container has more than `index` values so
        // far apart.
        (index < self.len).then(|| unsafe { PtrMut::new(self.data.add(index * self.stride).cast()) })
    }

    /// Copies of all values.
    pub(crate) fn load(self) -> Vec<T> {
        lending::allows(Access::Read, "copying a container").unwrap_or_else(|error| alcedo_rt::fail(error));
        // Copying a value changes no row that lies anywhere else.
        (0..self.len).filter_map(|index| Some(T::load(self.get(index)?.as_ptr()))).collect()
    }
}

impl<'a, A: Value> Ptr<'a, A> {
    /// Lends the values while `code` runs.
    ///
    /// # Errors
    /// `LENT` inside of `lend_mut`.
    pub(crate) fn lend<R>(self, code: impl FnOnce(&[A::Item]) -> R) -> Result<R, CallError>
    where
        A: List,
        A::Item: Plain,
    {
        lending::allows(Access::Read, "lending a slice")?;
        let Row { data, len, .. } = self.row();
        let _lending = Lending::begin(Access::Read)?;
        if len == 0 {
            return Ok(code(&[]));
        }
        // SAFETY: the row has `len` values, which lie as they do in Rust by the promise of `Plain`; until `_lending` goes, whatever
        // could write is refused.
        Ok(code(unsafe { core::slice::from_raw_parts(data.cast(), len) }))
    }
}

impl<A: Value> PtrMut<'_, A> {
    /// Lends the values of an array to be changed while `code` runs.
    ///
    /// # Errors
    /// `LENT` inside of another such closure.
    pub(crate) fn lend_mut<R>(self, code: impl FnOnce(&mut [A::Item]) -> R) -> Result<R, CallError>
    where
        A: List,
        A::Item: Plain,
    {
        lending::allows(Access::Write, "lending a slice")?;
        let Row { data, len, .. } = self.as_ptr().row();
        let _lending = Lending::begin(Access::Write)?;
        if len == 0 {
            return Ok(code(&mut []));
        }
        // SAFETY: the row has `len` values, which may be written and lie as they do in Rust by the promise of `Plain`; until
        // `_lending` goes, whatever could read or write is refused.
        Ok(code(unsafe { core::slice::from_raw_parts_mut(data.cast(), len) }))
    }
}

impl<K: Kind> Owned<K> {
    /// The value where it lies: until plugin code gives it back, or control goes to the host.
    ///
    /// # Errors
    /// As [`Owned::at`].
    #[inline]
    pub(crate) fn ptr(&self) -> Result<PtrMut<'_, K>, CallError> {
        // SAFETY: the host said just now that the value lies there, and keeps it while this is owned; who was told that has
        // the game thread, and may write what it owns.
        Ok(unsafe { PtrMut::new(self.at()?) })
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
        super::staged(value).unwrap_or_else(|error| alcedo_rt::fail(error))
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
        unsafe { core::ptr::copy_nonoverlapping(this.raw.as_ptr(), target.at, 1) };
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
