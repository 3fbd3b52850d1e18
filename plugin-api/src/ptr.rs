//! Pointers to values in host memory, and to the parameters and results of a call. Parameters and results are stored in a parameter block
//! with the layout of C, or in call slots. Creating a pointer is unsafe, but using it is safe, because it has the type of its value.
//! Values are copied in or out as a whole. No Rust reference into host memory is created, because the host changes this memory.
//!
//! A pointer is valid until the next call to the host or to the author's code, because such a call may move or destroy values.
#![expect(unsafe_code, reason = "follows addresses of values in host memory, parameter blocks and slots")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use alcedo_abi::value::{TextRaw, TextSink, TextView};
use alcedo_abi::zcall::Slot;
use alcedo_rt::CallError;

use crate::Value;
use crate::host::{borrowed_text, host};
use crate::validity_token::ValidityToken;
use crate::value::{AsText, ByPointer, pointer_of};

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

/// Layout of the values at the start of a parameter block, computed by the rules of C.
#[derive(Clone, Copy, Debug)]
pub struct BlockLayout {
    /// Size of all values so far, in bytes.
    pub size: usize,
    /// Alignment of all values so far.
    pub align: usize,
}

impl BlockLayout {
    /// Layout without values.
    pub const EMPTY: Self = Self { size: 0, align: 1 };

    /// Returns the offset of the next value, and the layout that includes the value.
    #[must_use]
    #[inline(always)]
    pub const fn place(self, size: usize, align: usize) -> (usize, Self) {
        let offset = self.size.next_multiple_of(align);
        (offset, Self { size: offset + size, align: if align > self.align { align } else { self.align } })
    }

    #[inline(always)]
    pub(crate) const fn place_value<T: Value>(self) -> (usize, Self) {
        self.place(size_of::<T::Raw>(), align_of::<T::Raw>())
    }
}

/// Values of a parameter block that have not been read yet, during the running call `'f`. The block has the layout of C. `L` lists the
/// types of these values as nested pairs.
pub struct Block<'f, L> {
    at: *mut u8,
    before: BlockLayout,
    of: PhantomData<&'f fn() -> L>,
}

impl<'f, L> Block<'f, L> {
    /// Creates a block for the values after `before`; `at` is the start of the whole block.
    ///
    /// # Safety
    /// The block is live during the call `'f`, which runs on this thread, the game thread. After `before`, the block contains
    /// the values of `L` with the layout of C.
    #[inline]
    pub(crate) unsafe fn new(at: *mut u8, before: BlockLayout) -> Self {
        Self { at, before, of: PhantomData }
    }
}

impl<'f, T: Value, L> Block<'f, (T, L)> {
    #[inline]
    pub(crate) fn next(self) -> (Viewable<'f, T, impl FnOnce() -> ValidityToken<'f>>, Block<'f, L>) {
        let (offset, before) = self.before.place_value::<T>();
        // SAFETY: the caller of `new` promised a block that is live for the frame and has this value at this offset.
        let value = unsafe { Viewable::new(PtrMut::new(self.at.add(offset).cast()), ValidityToken::<'f>::of_frame) };
        (value, Block { at: self.at, before, of: PhantomData })
    }
}

/// Call slots that contain the arguments. `L` lists the types of the values as nested pairs.
pub struct ArgumentSlots<'a, L> {
    slots: &'a [Slot],
    of: PhantomData<fn() -> L>,
}

impl<'a, L> ArgumentSlots<'a, L> {
    /// Wraps the slots.
    ///
    /// # Safety
    /// Pointer slots point to data in the form that the ABI prescribes for arguments of these types. The data is live for `'a`.
    #[inline]
    pub(crate) unsafe fn new(slots: &'a [Slot]) -> Self {
        Self { slots, of: PhantomData }
    }
}

impl<'a, T, L> ArgumentSlots<'a, (T, L)> {
    #[inline]
    pub(crate) fn next(self) -> (ArgumentSlot<'a, T>, ArgumentSlots<'a, L>) {
        let (slot, slots) = self.slots.split_first().unwrap_or((&Slot::EMPTY, &[]));
        (ArgumentSlot { slot: *slot, of: PhantomData }, ArgumentSlots { slots, of: PhantomData })
    }
}

/// A caller's argument slot for type `T`. Only `ArgumentSlots` creates this type, so the address in a pointer slot is valid.
pub struct ArgumentSlot<'a, T> {
    slot: Slot,
    of: PhantomData<&'a fn() -> T>,
}

impl<'a, T> ArgumentSlot<'a, T> {
    /// Returns the slot itself, for a plain value.
    #[inline]
    pub(crate) fn bare(&self) -> Slot {
        self.slot
    }

    /// Returns a pointer to the value.
    ///
    /// # Errors
    /// Fails with `BUFFER` if the slot is not a pointer slot.
    pub fn ptr(self) -> Result<Ptr<'a, T>, CallError>
    where
        T: Value<Passing = ByPointer>,
    {
        let at = pointer_of::<T::Raw>(self.slot)?;
        // SAFETY: the caller of `ArgumentSlots::new` promised data in the form of the ABI.
        // For types passed by pointer, the data is a live value.
        Ok(unsafe { Ptr::new(at) })
    }

    /// Copies the string to which the slot points.
    pub(crate) fn text(self) -> Result<String, CallError>
    where
        T: Value<Passing = AsText>,
    {
        let view = pointer_of::<TextView>(self.slot)?;
        // SAFETY: the caller of `ArgumentSlots::new` promised data in the form of the ABI.
        // For strings, the data is a live view, which borrows its bytes for the call.
        Ok(unsafe { borrowed_text(view.read()) })
    }
}

/// A caller's slot for a result of type `T`.
pub struct ResultSlot<'a, T> {
    slot: &'a mut Slot,
    of: PhantomData<fn(T)>,
}

impl<'a, T> ResultSlot<'a, T> {
    /// Wraps the slot.
    ///
    /// # Safety
    /// A pointer slot points to data in the form that the ABI prescribes for a result of this type. The data is live for `'a`.
    #[inline]
    pub(crate) unsafe fn new(slot: &'a mut Slot) -> Self {
        Self { slot, of: PhantomData }
    }

    #[inline]
    pub(crate) fn put(self, slot: Slot) {
        *self.slot = slot;
    }

    /// Returns a pointer to the value that the callee overwrites.
    ///
    /// # Errors
    /// Fails with `BUFFER` if the slot is not a pointer slot.
    pub fn ptr_mut(self) -> Result<PtrMut<'a, T>, CallError>
    where
        T: Value<Passing = ByPointer>,
    {
        let at = pointer_of::<T::Raw>(*self.slot)?;
        // SAFETY: the caller of `new` promised data in the form of the ABI.
        // For types passed by pointer, the data is a live value or zero bytes, which are also a live value.
        Ok(unsafe { PtrMut::new(at) })
    }

    /// Writes a string result into the sink of the caller.
    pub(crate) fn put_text(self, text: &str) -> Result<(), CallError>
    where
        T: Value<Passing = AsText>,
    {
        let sink = pointer_of::<TextSink>(*self.slot)?;
        // SAFETY: the caller of `new` promised data in the form of the ABI.
        // For strings, the data is a live sink, whose `put` copies its argument.
        unsafe {
            let sink = sink.read();
            (sink.put)(sink.context, text.as_ptr(), text.len());
        }
        Ok(())
    }
}
