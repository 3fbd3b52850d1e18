//! Pointers to values whose type is known at run time only. To make one is a promise and unsafe; to use one is safe, since a
//! pointer carries its type. The rest of the crate holds [`Ptr`] and [`PtrMut`]. Once the kind is known, each `Kind` takes `Ref`
//! and `Mut`.
//!
//! Plugins read and write the same bytes directly, so no Rust reference into them is ever made: a value is loaded or stored
//! whole, and what it means is decided by safe code.
//!
//! The layout of a value is stated by its `Kind` (of a struct of the host, by `InMemory`), and believed: its `Raw`, size and
//! alignment, and where a type carries a struct or an optional value, that values lie as those say.
#![expect(unsafe_code, reason = "property memory is raw memory that plugins write too")]

use std::fmt;
use std::hash::Hasher;
use std::num::NonZeroU32;
use std::rc::Rc;

use alcedo_abi::value::{ArrayRaw, DelegateRaw, LazyRaw, LocalTextRaw, MapRaw, SparseRaw, TextRaw};
use alcedo_base::handles::{Name, ObjectHandle};
use rustc_hash::FxHasher;

use super::enumeration::Enum;
use super::{Content, InMemory, Kind, fits};
use crate::block::Block;
use crate::enums::EnumType;
use crate::kind_list::of_type;
use crate::nested::OptionalType;
use crate::property::{Property, PropertyType};
use crate::structs::StructType;
use crate::value::{Value, WrongType};

/// What lies in memory at the start of a value.
///
/// # Safety
/// Whatever bytes a plugin leaves in such a value are a value of this type, and it is not dropped.
pub(crate) unsafe trait Raw: Sized {}

/// What begins with something else.
///
/// # Safety
/// A value of it has one of `First` as its first bytes.
pub(crate) unsafe trait Begins<First: Raw>: Raw {}

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
// SAFETY: it is that.
unsafe impl<R: Raw> Begins<R> for R {}
// SAFETY: a C struct, whose first field that is.
unsafe impl Begins<TextRaw> for LocalTextRaw {}
// SAFETY: a C struct, whose first field that is.
unsafe impl Begins<ArrayRaw> for MapRaw {}
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

/// A value in memory of its own, which does not move. It is not destroyed by this.
#[derive(Debug)]
pub(crate) struct Own {
    block: Block,
    ty: PropertyType,
}

/// A value to read, of a known kind.
pub(crate) struct Ref<'a, K: InMemory> {
    at: *const u8,
    of: &'a K::Of,
}

/// A value to read and write, of a known kind.
pub(crate) struct Mut<'a, K: InMemory> {
    at: *mut u8,
    of: &'a K::Of,
}

/// `$body` with `$at` as the pointer `$ptr` to a value of its kind `$kind`, and with the other, whose type is the same.
macro_rules! with_kind {
    ($ptr:expr, $to:ident, $kind:ident, $at:ident $(, $other:expr => $from:ident)? => $body:expr) => {
        of_type!($ptr.ty, $kind, of => {
            // SAFETY: `new` was promised a value of the type, and this is the type's kind; one of another pointer is of the same
            // type, as was compared before.
            let ($at, $($from)?) = unsafe { ($to::<$kind>::new($ptr.at, of), $(Ref::<$kind>::new($other.at, of))?) };
            $body
        })
    };
}

impl<'a> Ptr<'a> {
    /// A pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` holds a value of `ty`, aligned, that is not written for as long as this pointer or a copy of it is used.
    #[inline]
    pub unsafe fn new(at: *const u8, ty: &'a PropertyType) -> Self {
        Self { at, ty }
    }

    /// The value.
    pub fn read(self) -> Value {
        with_kind!(self, Ref, K, at => K::wrap(K::read(at)))
    }

    /// Whether the two are of one type and equal: floats by their bits, structs by their fields, whatever the padding holds,
    /// sets and maps whatever the order.
    pub fn equal(self, other: Ptr<'_>) -> bool {
        if !std::ptr::eq(self.ty, other.ty) && self.ty != other.ty {
            return false;
        }
        with_kind!(self, Ref, K, one, other => two => K::equal(one, two))
    }

    /// Feeds the value to `hasher`: equal values feed the same.
    pub fn hash_into(self, hasher: &mut dyn Hasher) {
        with_kind!(self, Ref, K, at => K::hash(at, hasher));
    }

    /// The hash by which containers find the value.
    pub fn hashed(self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash_into(&mut hasher);
        hasher.finish()
    }

    /// Shows `visit` every reference in the value that keeps an object alive, none left out. `visit` does not write the value.
    pub fn visit_objects(self, visit: &mut dyn FnMut(ObjectHandle)) {
        with_kind!(self, Ref, K, at => K::visit_objects(at, visit));
    }

    /// Its type.
    #[inline]
    pub fn ty(self) -> &'a PropertyType {
        self.ty
    }

    /// The field of a struct; none for a field that the struct has not, and for what is no struct.
    #[inline]
    pub fn field(self, field: &'a Property) -> Option<Ptr<'a>> {
        let PropertyType::Struct(of) = self.ty else { return None };
        let is_there = of.fields().iter().any(|known| std::ptr::eq(known, field));
        // SAFETY: `new` was promised a struct, whose type has a field there.
        is_there.then(|| unsafe { Ptr::new(self.at.wrapping_add(field.offset as usize), &field.ty) })
    }

    /// The number of an enum, of the enum's underlying type; none for what is no enum.
    #[inline]
    pub fn number(self) -> Option<Ptr<'a>> {
        self.to::<Enum>().map(Ref::number)
    }

    /// The same pointer, if its type is of that kind.
    #[inline]
    pub(crate) fn to<K: InMemory>(self) -> Option<Ref<'a, K>> {
        // SAFETY: `new` was promised a value of the type, which is of the kind.
        K::carried(self.ty).map(|of| unsafe { Ref::new(self.at, of) })
    }

    /// The same pointer, with another place of its type.
    ///
    /// # Panics
    /// When that is another type.
    #[inline]
    pub(crate) fn typed<'t>(self, ty: &'t PropertyType) -> Ptr<'t>
    where
        'a: 't,
    {
        assert!(std::ptr::eq(self.ty, ty) || self.ty == ty, "a {} is no {ty}", self.ty);
        Ptr { at: self.at, ty }
    }
}

impl<'a> PtrMut<'a> {
    /// A pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` holds a value of `ty`, aligned, that nothing else reads or writes for as long as this pointer is used.
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
        with_kind!(self, Mut, K, to, from => from => K::copy(to, from));
    }

    /// Frees what the value owns and leaves the one that zero bytes mean. Only the epochs of containers in it go on, so
    /// that an address that was taken before is stale for good, whatever comes to lie there.
    pub fn destroy(self) {
        with_kind!(self, Mut, K, at => K::destroy(at));
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
        with_kind!(self, Mut, K, at => {
            if let Some(content) = K::get(value) {
                K::write(at, content);
            }
        });
    }

    /// Replaces every handle of an object in the value, weak ones too, by what `map` makes of it. Where two keys become one,
    /// the first row stays. `map` does not read or write the value.
    pub fn map_objects(self, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        with_kind!(self, Mut, K, at => K::map_objects(at, map));
    }

    /// The number by which a delegate is known while it is called. It lies in the delegate itself, so it goes along when what
    /// holds the delegate grows, shrinks or swaps; a copy does not get it. One that has none gets what `fresh` says, if it can
    /// be bound to several; nothing for a single one, which needs none, and for a sparse one without bindings, which has no
    /// place for it.
    pub fn delegate_mark(self, fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        with_kind!(self, Mut, K, at => K::mark(at, fresh))
    }

    /// The same pointer, if its type is of that kind.
    #[inline]
    pub(crate) fn to<K: InMemory>(self) -> Option<Mut<'a, K>> {
        self.try_to().ok()
    }

    /// The same pointer, if its type is of that kind; else it comes back.
    #[inline]
    pub(crate) fn try_to<K: InMemory>(self) -> Result<Mut<'a, K>, Self> {
        // SAFETY: `new` was promised a value of the type to write, which is of the kind.
        K::carried(self.ty).map(|of| unsafe { Mut::new(self.at, of) }).ok_or(self)
    }
}

impl Own {
    /// The value that zero bytes mean.
    #[inline]
    pub(crate) fn zero(ty: PropertyType) -> Self {
        Self { block: Block::new(ty.size(), ty.align()), ty }
    }

    /// The value, to read.
    #[inline]
    pub(crate) fn as_ptr(&self) -> Ptr<'_> {
        // SAFETY: the block began with zeros, which are a value of the type, and holds one ever since. It is written through `as_mut`
        // and by those only whom `at` was given to, while this is not used.
        unsafe { Ptr::new(self.at(), &self.ty) }
    }

    /// The value, to write.
    #[inline]
    pub(crate) fn as_mut(&mut self) -> PtrMut<'_> {
        // SAFETY: the block began with zeros, which are a value of the type, and holds one ever since. Those whom `at` was given to
        // do not use it meanwhile.
        unsafe { PtrMut::new(self.at(), &self.ty) }
    }

    /// Its type.
    #[inline]
    pub(crate) fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// Where it lies. Whoever reads or writes there promises not to while a pointer to the value is used.
    #[inline]
    pub(crate) fn at(&self) -> *mut u8 {
        self.block.start()
    }
}

impl<'a, K: InMemory> Ref<'a, K> {
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

impl<'a, K: InMemory> Mut<'a, K> {
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
}

impl<K: Kind> Mut<'_, K> {
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

impl<'a, K: Kind<Of = Rc<StructType>>> Ref<'a, K> {
    /// The fields, in order.
    #[inline]
    pub(crate) fn fields(self) -> impl Iterator<Item = Ptr<'a>> {
        self.paired(self).map(|(field, _)| field)
    }

    /// The fields of two structs of one type, in order.
    #[inline]
    pub(crate) fn paired(self, other: Ref<'a, K>) -> impl Iterator<Item = (Ptr<'a>, Ptr<'a>)> {
        debug_assert!(K::same_type(self.of, other.of), "two structs of one type");
        self.of.fields().iter().map(move |field| {
            let at = field.offset as usize;
            // SAFETY: both pointers were promised structs, whose type has a field there; the types are the same, since
            // `Ptr::equal` and `PtrMut::copy_from` compare them before a kind is given two values.
            unsafe { (Ptr::new(self.at.wrapping_add(at), &field.ty), Ptr::new(other.at.wrapping_add(at), &field.ty)) }
        })
    }
}

impl<K: Kind<Of = Rc<StructType>>> Mut<'_, K> {
    /// The fields, in order.
    #[inline]
    pub(crate) fn fields(&self) -> impl Iterator<Item = PtrMut<'_>> {
        self.paired(self.as_ref()).map(|(field, _)| field)
    }

    /// The fields of two structs of one type, in order.
    #[inline]
    pub(crate) fn paired<'s>(&'s self, other: Ref<'s, K>) -> impl Iterator<Item = (PtrMut<'s>, Ptr<'s>)> {
        debug_assert!(K::same_type(self.of, other.of), "two structs of one type");
        self.of.fields().iter().map(move |field| {
            let at = field.offset as usize;
            // SAFETY: both pointers were promised structs, whose type has a field there, apart from all others; the types are
            // the same, since `PtrMut::copy_from` compares them before a kind is given two values.
            unsafe {
                (PtrMut::new(self.at.wrapping_add(at), &field.ty), Ptr::new(other.at.wrapping_add(at), &field.ty))
            }
        })
    }
}

impl<'a, K: Kind<Of = Rc<EnumType>>> Ref<'a, K> {
    /// The number of the enum's underlying type.
    #[inline]
    pub(crate) fn number(self) -> Ptr<'a> {
        // SAFETY: `new` was promised an enum, which is a number of this type in memory.
        unsafe { Ptr::new(self.at, self.of.underlying()) }
    }
}

impl<K: Kind<Of = Rc<EnumType>>> Mut<'_, K> {
    /// The number of the enum's underlying type.
    #[inline]
    pub(crate) fn number(&self) -> PtrMut<'_> {
        // SAFETY: `new` was promised an enum to write, which is a number of this type in memory.
        unsafe { PtrMut::new(self.at, self.of.underlying()) }
    }
}

impl<'a, K: Kind<Of = Rc<OptionalType>, Raw = u8>> Ref<'a, K> {
    /// The value, if there is one.
    #[inline]
    pub(crate) fn inner(self) -> Option<Ptr<'a>> {
        let at = self.at.wrapping_add(self.of.value_at());
        // SAFETY: `new` was promised an optional value, whose value lies behind the byte.
        (self.raw() != 0).then(|| unsafe { Ptr::new(at, self.of.ty()) })
    }
}

impl<K: Kind<Of = Rc<OptionalType>, Raw = u8>> Mut<'_, K> {
    /// The value, be it used or not.
    #[inline]
    pub(crate) fn inner(&self) -> PtrMut<'_> {
        // SAFETY: `new` was promised an optional value to write, whose value lies behind the byte, and zeros are one.
        unsafe { PtrMut::new(self.at.wrapping_add(self.of.value_at()), self.of.ty()) }
    }
}

impl<K: InMemory> Clone for Ref<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: InMemory> Copy for Ref<'_, K> {}

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
