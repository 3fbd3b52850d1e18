//! Pointers to values in host memory. Creating a pointer is unsafe, but using it is safe, because it has the type of its value.
//! Values are copied in or out as a whole. No Rust reference into host memory is created, because the host changes this memory.
//!
//! A pointer is valid until the next call to the host or to the author's code, because such a call may move or destroy values.
#![expect(unsafe_code, reason = "follows addresses of values in host memory")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use alcedo_abi::value::{TextRaw, TextView};
use alcedo_rt::CallError;

use crate::Value;
use crate::host::host;

/// Pointer to a value of type `T`, for reading.
pub struct Ptr<'a, T: Value> {
    at: *const T::Raw,
    of: PhantomData<&'a ()>,
}

/// Pointer to a value of type `T`, for reading and writing.
pub struct PtrMut<'a, T: Value> {
    at: *mut T::Raw,
    of: PhantomData<&'a mut ()>,
}

alcedo_abi::copies! { impl[T: Value] Ptr<'_, T>; }

impl<'a, T: Value> Ptr<'a, T> {
    /// Creates a pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` points to a live value of type `T` during `'a`, or until the user of the pointer calls the host or the author's
    /// code. The value may be read on this thread.
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

    /// Reads the value in host form. The copy does not own the memory of the original value.
    #[inline]
    pub(crate) fn read(self) -> T::Raw {
        // SAFETY: the caller of `new` promised a live value, and `Value` requires that any bytes are valid for `T::Raw`.
        unsafe { self.at.read() }
    }
}

impl<'a, T: Value> PtrMut<'a, T> {
    /// Creates a pointer to the value at `at`.
    ///
    /// # Safety
    /// See [`Ptr::new`]. In addition, the value may be written.
    #[inline]
    #[must_use]
    pub unsafe fn new(at: *mut T::Raw) -> Self {
        Self { at, of: PhantomData }
    }

    #[inline]
    pub(crate) fn at(&self) -> *mut T::Raw {
        self.at
    }

    /// Returns a pointer for reading.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> Ptr<'_, T> {
        Ptr { at: self.at, of: PhantomData }
    }

    #[inline]
    pub(crate) fn into_ptr(self) -> Ptr<'a, T> {
        Ptr { at: self.at, of: PhantomData }
    }

    #[inline]
    pub(crate) fn reborrow(&mut self) -> PtrMut<'_, T> {
        PtrMut { at: self.at, of: PhantomData }
    }

    /// Copies the pointer from a shared borrow. The caller must not use both pointers at the same time.
    #[inline]
    pub(crate) fn again(&self) -> PtrMut<'_, T> {
        PtrMut { at: self.at, of: PhantomData }
    }

    /// Overwrites the value. A host form that is `Copy` is a number, a name or a handle, so the overwritten value owns no memory.
    #[inline]
    pub(crate) fn write(self, raw: T::Raw)
    where
        T::Raw: Copy,
    {
        // SAFETY: the caller of `new` promised a live value that may be written.
        unsafe { self.at.write(raw) };
    }
}

impl<T: Value<Raw = TextRaw>> PtrMut<'_, T> {
    pub(crate) fn write_text(self, text: &str) -> Result<(), CallError> {
        let host = host("a text")?;
        // SAFETY: the caller of `new` promised a live string that may be written; the bytes are borrowed for the call.
        unsafe { host.text_assign(self.at, text) }
    }
}

impl<T: Value<Raw = TextRaw>> Ptr<'_, T> {
    /// Returns a view of the bytes of a string, valid until the string changes.
    #[inline]
    pub(crate) fn view(self) -> TextView {
        let TextRaw { data, len, .. } = self.read();
        TextView { data, len }
    }

    pub(crate) fn utf8(self) -> String {
        self.copied(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Copies a string that has one byte per character.
    pub(crate) fn latin(self) -> String {
        self.copied(|bytes| bytes.iter().copied().map(char::from).collect())
    }

    /// Passes the bytes of the string to `copy`. `copy` must not change values in host memory.
    fn copied(self, copy: fn(&[u8]) -> String) -> String {
        // SAFETY: the caller of `new` promised a live string with readable bytes, which are not used after `copy`.
        copy(unsafe { self.view().bytes() })
    }
}

/// Argument of [`Value::see`]: a pointer to the value, and the function `F` that creates the validity token. The token is needed only for
/// kinds whose values are borrowed as views.
pub struct Viewable<'a, T: Value, F> {
    at: PtrMut<'a, T>,
    token: F,
}

impl<'a, T: Value, F> Viewable<'a, T, F> {
    /// Creates an argument for the value at `at`.
    ///
    /// # Safety
    /// The value is live as long as the token that `token` creates is valid, and belongs to the game thread during the frame of
    /// the token.
    #[inline]
    pub(crate) unsafe fn new(at: PtrMut<'a, T>, token: F) -> Self {
        Self { at, token }
    }

    /// Returns a pointer for reading.
    #[inline]
    #[must_use]
    pub fn ptr(&self) -> Ptr<'_, T> {
        self.at.as_ptr()
    }

    /// Returns the pointer and the function that creates the token.
    #[inline]
    pub(crate) fn into_parts(self) -> (PtrMut<'a, T>, F) {
        (self.at, self.token)
    }
}

/// Returns a value in host form whose bytes are all zero.
#[must_use]
pub const fn blank<T: Value>() -> T::Raw {
    // SAFETY: `Value` requires that any bytes are valid for `T::Raw`, and that zero bytes are a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
