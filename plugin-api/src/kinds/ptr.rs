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
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};

use alcedo_abi::handles::{Name, ObjectHandle};
use alcedo_abi::value::{ArrayRaw, LocalTextRaw, SparseRaw, TextRaw, TextView};
use alcedo_rt::CallError;

use super::{Kind, Owned, UOptional};
use crate::Value;
use crate::host::lent_text;
use crate::host::values::{Place, clear, place};

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

impl<T: Value<Raw = TextRaw>> Ptr<'_, T> {
    /// The bytes of a text, for as long as nothing changes it.
    #[inline]
    pub(crate) fn view(self) -> TextView {
        let TextRaw { data, len, .. } = self.read();
        TextView { data, len }
    }

    /// A copy of UTF-8 text.
    pub(crate) fn utf8(self) -> String {
        // SAFETY: `new` was promised a live text, which has as many readable bytes.
        unsafe { lent_text(self.view()) }
    }

    /// A copy of text of one byte a character.
    pub(crate) fn latin(self) -> String {
        let TextView { data, len } = self.view();
        if len == 0 {
            return String::new();
        }
        // SAFETY: `new` was promised a live text, which has as many readable bytes.
        let bytes = unsafe { core::slice::from_raw_parts(data, len) };
        bytes.iter().copied().map(char::from).collect()
    }
}

impl<T: Value<Raw = LocalTextRaw>> Ptr<'_, T> {
    /// A copy of what people see of a text.
    pub(crate) fn shown(self) -> String {
        // SAFETY: `new` was promised a live text for people, which begins with what is seen.
        unsafe { Ptr::<String>::new(self.at.byte_add(offset_of!(LocalTextRaw, shown)).cast()) }.utf8()
    }
}

impl<'a, T: Value<Raw = LocalTextRaw>> PtrMut<'a, T> {
    /// What people see of a text.
    pub(crate) fn into_shown(self) -> PtrMut<'a, String> {
        // SAFETY: `new` was promised a live text for people that may be written, which begins with what is seen.
        unsafe { PtrMut::new(self.at.byte_add(offset_of!(LocalTextRaw, shown)).cast()) }
    }

    /// Overwrites what a text is translated by.
    pub(crate) fn write_names(&self, namespace: Name, key: Name) {
        // SAFETY: `new` was promised a live text that may be written; no reference is made, since the host changes it too.
        unsafe {
            (&raw mut (*self.at).namespace).write(namespace);
            (&raw mut (*self.at).key).write(key);
        }
    }
}

impl<'a, T: Value> Ptr<'a, T> {
    /// The byte that is zero while there is no value.
    #[inline]
    pub(crate) fn is_set_at(self) -> *const u8
    where
        T: OptionalValue,
    {
        self.at.cast()
    }

    /// Whether there is a value.
    #[inline]
    pub(crate) fn is_set(self) -> bool
    where
        T: OptionalValue,
    {
        // SAFETY: `new` was promised a live optional, which begins with that byte.
        unsafe { self.is_set_at().read() != 0 }
    }

    /// The value, if there is one.
    #[inline]
    pub(crate) fn value(self) -> Option<Ptr<'a, T::Item>>
    where
        T: OptionalValue,
    {
        let offset = offset_of!(OptionalRaw<<T::Item as Value>::Raw>, value);
        // SAFETY: `new` was promised a live optional, whose value lies there; the byte says that there is one.
        self.is_set().then(|| unsafe { Ptr::new(self.at.byte_add(offset).cast()) })
    }
}

impl<T: Value<Raw = SparseRaw>> Ptr<'_, T> {
    /// How many functions are bound.
    pub(crate) fn bound(self) -> usize {
        let list = self.read().list;
        // SAFETY: `new` was promised a live delegate, and one that is not empty has a live row.
        if list.is_null() { 0 } else { unsafe { (&raw const (*list).len).read() as usize } }
    }
}

impl<T: Value<Raw = ArrayRaw>> Ptr<'_, T> {
    /// How many values or bindings there are.
    #[inline]
    pub(crate) fn len(self) -> usize {
        // SAFETY: `new` was promised a live row; no reference is made, since the host changes it.
        unsafe { (&raw const (*self.at).len).read() as usize }
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
    /// The value that zero bytes mean.
    pub(crate) fn zeroed() -> Self {
        Self { raw: MaybeUninit::zeroed() }
    }

    /// The value, to read.
    pub(crate) fn ptr(&self) -> Ptr<'_, T> {
        // SAFETY: zero bytes are a value of every type, and only the host and the type's own code have written it since.
        unsafe { Ptr::new(self.raw.as_ptr()) }
    }

    /// The value, to write.
    pub(crate) fn ptr_mut(&mut self) -> PtrMut<'_, T> {
        // SAFETY: zero bytes are a value of every type, and only the host and the type's own code have written it since.
        unsafe { PtrMut::new(self.raw.as_mut_ptr()) }
    }

    /// Gives the value to host memory, where nothing has to be freed first.
    ///
    /// # Safety
    /// `target` owns nothing.
    #[inline]
    pub(crate) unsafe fn move_to(self, target: &PtrMut<'_, T>) {
        let this = ManuallyDrop::new(self);
        // SAFETY: ours is a live value and owned by nobody else from here on; values in host form may be moved. That nothing is
        // lost is promised by the caller.
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
        let at = optional.raw.as_mut_ptr();
        // SAFETY: an optional on this stack, of zero bytes so far, whose value lies there and owns nothing yet.
        unsafe {
            let to = at.byte_add(offset_of!(OptionalRaw<<T::Item as Value>::Raw>, value)).cast();
            value.move_to(&PtrMut::new(to));
            at.cast::<u8>().write(1);
        }
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
