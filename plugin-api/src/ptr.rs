//! Pointers to values in host memory. Making a pointer is a promise and unsafe; using one is safe, since a pointer carries its
//! type. No Rust reference into host memory is made, since the host changes it: a value is copied in or out as a whole.
//!
//! A pointer is valid until the host or the author's code is called, by which values may move and be destroyed.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use alcedo_abi::value::{TextRaw, TextView};
use alcedo_rt::CallError;

use crate::Value;
use crate::host::host;

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

    /// Returns the address of the value.
    #[inline]
    #[must_use]
    pub fn at(self) -> *const T::Raw {
        self.at
    }

    /// Reads the value in host form. The copy does not own the memory that the value owns.
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
    /// See [`Ptr::new`]; and the value may be written.
    #[inline]
    #[must_use]
    pub unsafe fn new(at: *mut T::Raw) -> Self {
        Self { at, of: PhantomData }
    }

    /// Returns the address of the value.
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

    /// Reborrows the pointer.
    #[inline]
    pub(crate) fn reborrow(&mut self) -> PtrMut<'_, T> {
        PtrMut { at: self.at, of: PhantomData }
    }

    /// Reborrows the pointer from a shared borrow. The caller does not use both at once.
    #[inline]
    pub(crate) fn again(&self) -> PtrMut<'_, T> {
        PtrMut { at: self.at, of: PhantomData }
    }

    /// Overwrites the value. Types that are `Copy` in host form are numbers, names and handles, which own no memory and contain
    /// no address.
    #[inline]
    pub(crate) fn write(self, raw: T::Raw)
    where
        T::Raw: Copy,
    {
        // SAFETY: `new` was promised a live value that may be written.
        unsafe { self.at.write(raw) };
    }
}

impl<T: Value<Raw = TextRaw>> PtrMut<'_, T> {
    /// Overwrites a text.
    pub(crate) fn write_text(self, text: &str) -> Result<(), CallError> {
        let host = host("a text")?;
        // SAFETY: `new` was promised a live text that may be written; the bytes are lent for the call.
        unsafe { host.text_assign(self.at, text) }
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

    /// Passes the bytes to `copy`, which changes no value.
    fn copied(self, copy: fn(&[u8]) -> String) -> String {
        let TextView { data, len } = self.view();
        if len == 0 {
            return String::new();
        }
        // SAFETY: `new` was promised a live text, which has as many readable bytes; they are not used after `copy`.
        copy(unsafe { core::slice::from_raw_parts(data, len) })
    }
}

/// An argument of [`Value::see`]: a pointer to the value, and the token that proves a view of the value valid. `F` makes the
/// token, for those kinds that are seen as views.
pub struct Viewable<'a, T: Value, F> {
    at: PtrMut<'a, T>,
    token: F,
}

impl<'a, T: Value, F> Viewable<'a, T, F> {
    /// The value at `at`.
    ///
    /// # Safety
    /// The value is live as long as the token that `token` makes is valid, and is the game thread's for the frame of that token.
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

/// The value that zero bytes mean.
#[must_use]
pub const fn blank<T: Value>() -> T::Raw {
    // SAFETY: zero bytes are a value of every type, and any bytes are valid for its form.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
