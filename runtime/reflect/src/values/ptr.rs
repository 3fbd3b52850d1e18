//! Pointers to values whose type is known at run time only. To make one is a promise and unsafe; to use one is safe, since a
//! pointer goes with its type. [`Ptr`] and [`PtrMut`] are what the rest of the crate has in its hands; [`Ref`] and [`Mut`] are the
//! same once the kind is known, and what each [`Kind`] gets.
//!
//! Plugins read and write the same bytes directly, so no Rust reference into them is ever made: a value is loaded or stored
//! whole, and what it means is decided by safe code.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

use std::fmt;
use std::hash::Hasher;

use alcedo_abi::value::{ArrayRaw, DelegateRaw, LazyRaw, LocalTextRaw, MapRaw, SparseRaw, TextRaw};
use alcedo_base::handles::{Name, ObjectHandle};
use rustc_hash::FxHasher;

use super::{Content, Kind};
use crate::property::PropertyType;
use crate::transfer::{WrongType, fits};
use crate::value::Value;
use crate::values::list::of_type;

/// What lies in memory at the start of a value.
///
/// # Safety
/// Whatever bytes a plugin leaves in such a value are a value of this type, and it is not dropped.
pub(crate) unsafe trait Raw: Sized {}

/// What owns nothing and may be written with any bytes.
///
/// # Safety
/// A value of it that is overwritten loses nothing, and no bytes of it are an address.
pub(crate) unsafe trait Plain: Raw + Copy {}

/// A number, name or handle.
pub(crate) trait Word: Plain + Default {
    /// Its bytes, zero-extended.
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($rust:ty: $value:ident => $bits:expr;)*) => {$(
        // SAFETY: every bit pattern is such a number, name or handle.
        unsafe impl Raw for $rust {}
        // SAFETY: it owns nothing, and is no address.
        unsafe impl Plain for $rust {}
        impl Word for $rust {
            #[inline]
            fn bits(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )*};
}
words! {
    u8: it => it.into();
    u16: it => it.into();
    u32: it => it.into();
    u64: it => it;
    i8: it => (it as u8).into();
    i16: it => (it as u16).into();
    i32: it => (it as u32).into();
    i64: it => it as u64;
    f32: it => it.to_bits().into();
    f64: it => it.to_bits();
    Name: it => it.0.into();
    ObjectHandle: it => it.0;
}

macro_rules! raws {
    ($($rust:ty),*) => {$(
        // SAFETY: numbers and raw pointers, for which every bit pattern is one.
        unsafe impl Raw for $rust {}
    )*};
}
raws! { (), TextRaw, LocalTextRaw, LazyRaw, DelegateRaw, ArrayRaw, MapRaw, SparseRaw }
// SAFETY: two numbers.
unsafe impl Plain for LazyRaw {}
// SAFETY: a handle and two numbers.
unsafe impl Plain for DelegateRaw {}

/// A value to read, of a type that is known at run time.
#[derive(Clone, Copy)]
pub struct Ptr<'a> {
    at: *const u8,
    ty: &'a PropertyType,
}

/// A value to read and write, of a type that is known at run time.
pub struct PtrMut<'a> {
    at: *mut u8,
    ty: &'a PropertyType,
}

/// A value to read, of a known kind.
pub(crate) struct Ref<'a, K: Kind> {
    at: *const u8,
    of: &'a K::Of,
}

/// A value to read and write, of a known kind.
pub(crate) struct Mut<'a, K: Kind> {
    at: *mut u8,
    of: &'a K::Of,
}

impl<'a> Ptr<'a> {
    /// A pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` holds a value of `ty`, aligned, that nobody writes for as long as this pointer or a copy of it is used.
    #[inline]
    pub unsafe fn new(at: *const u8, ty: &'a PropertyType) -> Self {
        Self { at, ty }
    }

    /// The value.
    pub fn read(self) -> Value {
        // SAFETY: `new` was promised a value of the type, and this is the type's kind.
        of_type!(self.ty, K, of => K::wrap(K::read(unsafe { Ref::<K>::new(self.at, of) })))
    }

    /// Whether the two are of one type and equal: floats by their bits, structs by their fields, whatever the padding holds,
    /// sets and maps whatever the order.
    pub fn equal(self, other: Ptr<'_>) -> bool {
        if !std::ptr::eq(self.ty, other.ty) && self.ty != other.ty {
            return false;
        }
        of_type!(self.ty, K, of => {
            // SAFETY: `new` was promised a value of the type, and this is the type's kind.
            let one = unsafe { Ref::<K>::new(self.at, of) };
            // SAFETY: `new` was promised a value of the other's type, which is the same, as was just compared.
            K::equal(one, unsafe { Ref::<K>::new(other.at, of) })
        })
    }

    /// Feeds the value to `hasher`: equal values feed the same.
    pub fn hash_into(self, hasher: &mut dyn Hasher) {
        // SAFETY: `new` was promised a value of the type, and this is the type's kind.
        of_type!(self.ty, K, of => K::hash(unsafe { Ref::<K>::new(self.at, of) }, hasher));
    }

    /// The hash by which containers find the value.
    pub fn hashed(self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash_into(&mut hasher);
        hasher.finish()
    }

    /// Shows `visit` every reference in the value that keeps an object alive, none left out. `visit` does not write the value.
    pub fn visit_objects(self, visit: &mut dyn FnMut(ObjectHandle)) {
        // SAFETY: `new` was promised a value of the type, and this is the type's kind.
        of_type!(self.ty, K, of => K::visit_objects(unsafe { Ref::<K>::new(self.at, of) }, visit));
    }
}

impl<'a> PtrMut<'a> {
    /// A pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` holds a value of `ty`, aligned, that nobody else reads or writes for as long as this pointer is used.
    #[inline]
    pub unsafe fn new(at: *mut u8, ty: &'a PropertyType) -> Self {
        Self { at, ty }
    }

    /// The value, to read, while this pointer is not used.
    #[inline]
    pub fn as_ptr(&self) -> Ptr<'_> {
        Ptr { at: self.at, ty: self.ty }
    }

    /// The same pointer, while this one is not used.
    #[inline]
    pub fn reborrow(&mut self) -> PtrMut<'_> {
        PtrMut { at: self.at, ty: self.ty }
    }

    /// Overwrites the value with the other; what owns memory gets a copy of its own. The two may be the same value; apart
    /// from that they do not overlap, as two values never do.
    ///
    /// # Panics
    /// When the two are of different types.
    #[inline]
    pub fn copy_from(self, from: Ptr<'_>) {
        assert!(std::ptr::eq(self.ty, from.ty) || self.ty == from.ty, "a {} is no {}", from.ty, self.ty);
        if self.at.cast_const() == from.at {
            return;
        }
        of_type!(self.ty, K, of => {
            // SAFETY: `new` was promised a value of the type, and this is the type's kind.
            let to = unsafe { Mut::<K>::new(self.at, of) };
            // SAFETY: `new` was promised a value of the other's type, which is the same, as was just compared.
            K::copy(to, unsafe { Ref::<K>::new(from.at, of) });
        });
    }

    /// Frees what the value owns and leaves the one that zero bytes mean. Only the epochs of containers in it go on, so
    /// that an address that was taken before is stale for good, whatever comes to lie there.
    pub fn destroy(self) {
        // SAFETY: `new` was promised a value of the type, and this is the type's kind.
        of_type!(self.ty, K, of => K::destroy(unsafe { Mut::<K>::new(self.at, of) }));
    }

    /// Overwrites the value. A struct's fields that `value` does not name stay as they are. On an error nothing was written.
    ///
    /// # Errors
    /// [`WrongType`] when the value is of another kind, or a struct has no such field.
    pub fn write(self, value: &Value) -> Result<(), WrongType> {
        fits(self.ty, value)?;
        self.put(value);
        Ok(())
    }

    /// Writes a value that fits; of one that does not, only the parts that do.
    pub(crate) fn put(self, value: &Value) {
        of_type!(self.ty, K, of => {
            if let Some(content) = K::get(value) {
                // SAFETY: `new` was promised a value of the type, and this is the type's kind.
                K::write(unsafe { Mut::<K>::new(self.at, of) }, content);
            }
        });
    }

    /// Replaces every handle of an object in the value, weak ones too, by what `map` makes of it. Where two keys become one,
    /// the first row stays. `map` does not read or write the value.
    pub fn map_objects(self, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        // SAFETY: `new` was promised a value of the type, and this is the type's kind.
        of_type!(self.ty, K, of => K::map_objects(unsafe { Mut::<K>::new(self.at, of) }, map));
    }
}

impl<'a, K: Kind> Ref<'a, K> {
    /// # Safety
    /// As for [`Ptr::new`], with the type that `K` and `of` are.
    #[inline]
    pub(crate) unsafe fn new(at: *const u8, of: &'a K::Of) -> Self {
        Self { at, of }
    }

    /// What the type carries.
    #[inline]
    pub(crate) fn of(self) -> &'a K::Of {
        self.of
    }

    /// The first byte.
    #[inline]
    pub(crate) fn at(self) -> *const u8 {
        self.at
    }

    /// What lies there.
    #[inline]
    pub(crate) fn raw(self) -> K::Raw {
        // SAFETY: `new` was promised a value of the kind, whose size and alignment are at least those of its `Raw`, and
        // `Raw` promises that every bit pattern is one.
        unsafe { self.at.cast::<K::Raw>().read() }
    }
}

impl<'a, K: Kind> Mut<'a, K> {
    /// # Safety
    /// As for [`PtrMut::new`], with the type that `K` and `of` are.
    #[inline]
    pub(crate) unsafe fn new(at: *mut u8, of: &'a K::Of) -> Self {
        Self { at, of }
    }

    /// What the type carries.
    #[inline]
    pub(crate) fn of(&self) -> &'a K::Of {
        self.of
    }

    /// The first byte.
    #[inline]
    pub(crate) fn at(&self) -> *mut u8 {
        self.at
    }

    /// The value, to read, while this pointer is not used.
    #[inline]
    pub(crate) fn as_ref(&self) -> Ref<'_, K> {
        Ref { at: self.at, of: self.of }
    }

    /// What lies there.
    #[inline]
    pub(crate) fn raw(&self) -> K::Raw {
        self.as_ref().raw()
    }

    /// Overwrites what lies there.
    #[inline]
    pub(crate) fn set(&self, raw: K::Raw)
    where
        K::Raw: Plain,
    {
        // SAFETY: `new` was promised a value of the kind to write, whose size and alignment are at least those of its `Raw`;
        // `Plain` promises that nothing is lost.
        unsafe { self.at.cast::<K::Raw>().write(raw) };
    }

    /// Overwrites the bytes with those of the other.
    ///
    /// # Panics
    /// When such values own memory.
    #[inline]
    pub(crate) fn copy_bytes(&self, from: Ref<'_, K>) {
        assert!(!K::nature(self.of).owns_memory, "a value that owns memory is not copied by its bytes");
        // SAFETY: both pointers were promised values of the kind, apart from each other, which own nothing that would be
        // lost or shared.
        unsafe { self.at.copy_from_nonoverlapping(from.at, K::bytes(self.of)) };
    }

    /// Makes the value the one that zero bytes mean. What it owned is not freed.
    #[inline]
    pub(crate) fn zero(&self) {
        // SAFETY: `new` was promised so many bytes to write, and zeros are a value of every kind.
        unsafe { self.at.write_bytes(0, K::bytes(self.of)) };
    }
}

impl<K: Kind> Clone for Ref<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for Ref<'_, K> {}

impl fmt::Debug for Ptr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:p}", self.ty, self.at)
    }
}

impl fmt::Debug for PtrMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ptr().fmt(f)
    }
}
