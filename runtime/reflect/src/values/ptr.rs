//! Pointers to values whose type is known only at run time. The creation of a pointer is unsafe. The use of a pointer is safe, because the
//! pointer carries its type. Code for all kinds uses [`Ptr`] and [`PtrMut`]. The methods of a single `Kind` receive `Ref` and `Mut`.
//!
//! Plugins read and write the bytes of values directly. Host code therefore never creates a Rust reference to these bytes. Each access
//! loads or stores a whole value, and safe code interprets the value.
//!
//! The unsafe code relies on the layout that the `Kind` of a value specifies: `Raw`, size and alignment. For host structs, `InMemory`
//! specifies the layout. The unsafe code also relies on the offsets in the types of structs and optional values.
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
use crate::nested::ElementType;
use crate::property::{Property, PropertyType};
use crate::structs::StructType;
use crate::value::{Value, WrongType};

/// Data at the start of a value in memory.
///
/// # Safety
/// Every bit pattern is a valid value of this type, and the type has no drop glue.
pub(crate) unsafe trait Raw: Sized {}

/// A type whose values begin with a `First`.
///
/// # Safety
/// The first bytes of a value are a `First`.
pub(crate) unsafe trait Begins<First: Raw>: Raw {}

/// A type that owns no memory and may be overwritten with any bytes.
///
/// # Safety
/// Overwriting a value leaks nothing, and no bytes of a value form an address.
pub(crate) unsafe trait Plain: Raw + Copy {}

pub(crate) trait Word: Plain + Default {
    /// Returns the bytes, zero-extended.
    fn bits(self) -> u64;
}

macro_rules! words {
    ($($rust:ty: $value:ident => $bits:expr;)*) => {$(
        // SAFETY: every bit pattern is a valid number, name or handle.
        unsafe impl Raw for $rust {}
        // SAFETY: the type owns nothing and holds no address.
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
        // SAFETY: the type consists of numbers and raw pointers, for which every bit pattern is valid.
        unsafe impl Raw for $rust {}
    )*};
}
raws! { (), TextRaw, LocalTextRaw, LazyRaw, DelegateRaw, ArrayRaw, MapRaw, SparseRaw }
// SAFETY: every type begins with itself.
unsafe impl<R: Raw> Begins<R> for R {}
// SAFETY: the type is a `repr(C)` struct whose first field is a `TextRaw`.
unsafe impl Begins<TextRaw> for LocalTextRaw {}
// SAFETY: the type is a `repr(C)` struct whose first field is an `ArrayRaw`.
unsafe impl Begins<ArrayRaw> for MapRaw {}
// SAFETY: the type consists of two numbers.
unsafe impl Plain for LazyRaw {}
// SAFETY: the type consists of a handle and two numbers.
unsafe impl Plain for DelegateRaw {}

/// Read-only pointer to a value whose type is known only at run time.
///
/// # Examples
/// ```
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::value::Value;
///
/// let speed = OwnedValue::zero(PropertyType::F64);
/// assert_eq!(speed.as_ptr().get::<f64>(), Some(0.0));
/// assert_eq!(speed.as_ptr().get::<i32>(), None);
/// assert_eq!(speed.as_ptr().read(), Value::F64(0.0));
/// ```
#[derive(Clone, Copy)]
pub struct Ptr<'a> {
    at: *const u8,
    ty: &'a PropertyType,
}

/// Writable pointer to a value whose type is known only at run time.
///
/// # Examples
/// ```
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::value::Value;
///
/// let mut speed = OwnedValue::zero(PropertyType::F64);
/// assert!(speed.as_mut().write(&Value::F64(2.5)).is_ok());
/// assert!(speed.as_mut().write(&Value::Bool(true)).is_err());
/// assert_eq!(speed.read(), Value::F64(2.5));
/// ```
pub struct PtrMut<'a> {
    at: *mut u8,
    ty: &'a PropertyType,
}

/// Owned value at a stable address. Dropping the owner destroys the value.
///
/// # Examples
/// ```
/// use alcedo_reflect::owned::OwnedValue;
/// use alcedo_reflect::property::PropertyType;
/// use alcedo_reflect::value::Value;
///
/// let mut title = OwnedValue::zero(PropertyType::Text);
/// title.write(&Value::Text("Cellar".into()))?;
/// assert_eq!(title.read(), Value::Text("Cellar".into()));
/// # Ok::<(), alcedo_reflect::value::WrongType>(())
/// ```
#[derive(Debug)]
pub struct OwnedValue {
    block: Block,
    ty: PropertyType,
}

/// Read-only pointer to a value of the kind `K`.
pub(crate) struct Ref<'a, K: InMemory> {
    at: *const u8,
    of: &'a K::Of,
}

/// Writable pointer to a value of the kind `K`.
pub(crate) struct Mut<'a, K: InMemory> {
    at: *mut u8,
    of: &'a K::Of,
}

/// Evaluates `$body`. `$kind` is the kind of the value to which `$ptr` points. `$at` is the pointer `$ptr`, typed by `$kind`. `$from` is
/// the pointer `$other`, also typed by `$kind`. Both pointers must have equal types.
macro_rules! with_kind {
    ($ptr:expr, $to:ident, $kind:ident, $at:ident $(, $other:expr => $from:ident)? => $body:expr) => {
        of_type!($ptr.ty, $kind, of => {
            // SAFETY: the caller of `new` promised a value of the type, and `$kind` is the type's kind.
            // The caller of this macro has checked that the other pointer has an equal type.
            let ($at, $($from)?) = unsafe { ($to::<$kind>::new($ptr.at, of), $(Ref::<$kind>::new($other.at, of))?) };
            $body
        })
    };
}

impl<'a> Ptr<'a> {
    /// Creates a pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` holds an aligned value of `ty`. No code writes the value as long as this pointer or a copy of the pointer is used.
    #[inline]
    pub unsafe fn new(at: *const u8, ty: &'a PropertyType) -> Self {
        Self { at, ty }
    }

    /// Reads the value.
    pub fn read(self) -> Value {
        with_kind!(self, Ref, K, at => K::wrap(K::read(at)))
    }

    /// Checks if both pointers have equal types and equal values. Floats are compared by their bits, and structs by their fields without
    /// padding. The order of sets and maps is ignored.
    pub fn equal(self, other: Ptr<'_>) -> bool {
        if !std::ptr::eq(self.ty, other.ty) && self.ty != other.ty {
            return false;
        }
        with_kind!(self, Ref, K, one, other => two => K::equal(one, two))
    }

    /// Feeds the value to `hasher`. Equal values feed equal bytes.
    pub fn hash_into(self, hasher: &mut dyn Hasher) {
        with_kind!(self, Ref, K, at => K::hash(at, hasher));
    }

    /// Returns the hash by which sets and maps index the value.
    pub fn hashed(self) -> u64 {
        let mut hasher = FxHasher::default();
        self.hash_into(&mut hasher);
        hasher.finish()
    }

    /// Calls `visit` with every object that the value keeps alive. `visit` must not write the value.
    pub fn visit_objects(self, visit: &mut dyn FnMut(ObjectHandle)) {
        with_kind!(self, Ref, K, at => K::visit_objects(at, visit));
    }

    /// Returns the type.
    #[inline]
    pub fn ty(self) -> &'a PropertyType {
        self.ty
    }

    /// Returns a field of a struct. Returns `None` if the value is not a struct, or the struct does not have the field.
    #[inline]
    pub fn field(self, field: &'a Property) -> Option<Ptr<'a>> {
        let PropertyType::Struct(of) = self.ty else { return None };
        let is_there = of.fields().iter().any(|known| std::ptr::eq(known, field));
        // SAFETY: the caller of `new` promised a struct, whose type has a field at that offset.
        is_there.then(|| unsafe { Ptr::new(self.at.wrapping_add(field.offset as usize), &field.ty) })
    }

    /// Returns the value of an enum as its underlying type. Returns `None` if the value is not an enum.
    #[inline]
    pub fn number(self) -> Option<Ptr<'a>> {
        self.to::<Enum>().map(Ref::number)
    }

    /// Converts to a pointer of kind `K`, if the type is of that kind.
    #[inline]
    pub(crate) fn to<K: InMemory>(self) -> Option<Ref<'a, K>> {
        // SAFETY: the caller of `new` promised a value of the type, and the type has the kind.
        K::carried(self.ty).map(|of| unsafe { Ref::new(self.at, of) })
    }

    /// Returns this pointer with `ty` as the reference to its type.
    ///
    /// # Panics
    /// Panics if `ty` differs from the type of the pointer.
    #[inline]
    pub(crate) fn typed<'t>(self, ty: &'t PropertyType) -> Ptr<'t>
    where
        'a: 't,
    {
        assert!(std::ptr::eq(self.ty, ty) || self.ty == ty, "a {} is not a {ty}", self.ty);
        Ptr { at: self.at, ty }
    }
}

impl<'a> PtrMut<'a> {
    /// Creates a pointer to the value at `at`.
    ///
    /// # Safety
    /// `at` holds an aligned value of `ty`. As long as this pointer is used, the value is accessed only through this pointer.
    #[inline]
    pub unsafe fn new(at: *mut u8, ty: &'a PropertyType) -> Self {
        Self { at, ty }
    }

    /// Returns a read-only pointer to the value. The result borrows this pointer.
    #[inline]
    pub fn as_ptr(&self) -> Ptr<'_> {
        Ptr { at: self.at, ty: self.ty }
    }

    /// Returns a writable pointer to the value. The result borrows this pointer.
    #[inline]
    pub fn reborrow(&mut self) -> PtrMut<'_> {
        PtrMut { at: self.at, ty: self.ty }
    }

    /// Overwrites the value with a copy of `from`, including the memory that `from` owns. Source and target may be one value. Different
    /// values never overlap.
    ///
    /// # Panics
    /// Panics if the types differ.
    #[inline]
    pub fn copy_from(self, from: Ptr<'_>) {
        assert!(std::ptr::eq(self.ty, from.ty) || self.ty == from.ty, "a {} is not a {}", from.ty, self.ty);
        if self.at.cast_const() == from.at {
            return;
        }
        with_kind!(self, Mut, K, to, from => from => K::copy(to, from));
    }

    /// Frees owned memory and leaves the zero value. Increments the epochs of containers, so that earlier addresses of rows remain stale
    /// permanently.
    pub fn destroy(self) {
        with_kind!(self, Mut, K, at => K::destroy(at));
    }

    /// Overwrites the value. Fields that a struct value omits are unchanged. After an error, the value is unchanged.
    ///
    /// # Errors
    /// Returns [`WrongType`] if the value is of a different kind, or names a field that the struct does not have.
    pub fn write(self, value: &Value) -> Result<(), WrongType> {
        fits(self.ty, value)?;
        self.put(value);
        Ok(())
    }

    /// Writes the value. Contained values that do not match their type are not written.
    pub(crate) fn put(self, value: &Value) {
        with_kind!(self, Mut, K, at => {
            if let Some(content) = K::get(value) {
                K::write(at, content);
            }
        });
    }

    /// Replaces every object handle in the value, including weak references, with the result of `map`. If two keys become equal, only the
    /// first entry is kept. `map` must not access the value.
    pub fn map_objects(self, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        with_kind!(self, Mut, K, at => K::map_objects(at, map));
    }

    /// Returns the id that identifies a delegate during calls. The delegate itself stores the id. The delegate keeps its id when its
    /// container grows, shrinks or swaps elements. A copy of a delegate has no id. If a multicast delegate has no id, assigns the result of
    /// `fresh` as its id. Returns `None` for a single delegate, because single delegates need no id. Also returns `None` for a sparse
    /// delegate without bindings, because its list is not allocated.
    pub fn delegate_mark(self, fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        with_kind!(self, Mut, K, at => K::mark(at, fresh))
    }

    /// Converts to a pointer of kind `K`, if the type is of that kind.
    #[inline]
    pub(crate) fn to<K: InMemory>(self) -> Option<Mut<'a, K>> {
        self.try_to().ok()
    }

    /// Converts to a pointer of kind `K`, if the type is of that kind. Otherwise, returns the pointer unchanged.
    #[inline]
    pub(crate) fn try_to<K: InMemory>(self) -> Result<Mut<'a, K>, Self> {
        // SAFETY: the caller of `new` promised a writable value of the type, and the type has the kind.
        K::carried(self.ty).map(|of| unsafe { Mut::new(self.at, of) }).ok_or(self)
    }
}

impl OwnedValue {
    /// Creates a value whose bytes are all zero.
    #[inline]
    pub fn zero(ty: PropertyType) -> Self {
        Self { block: Block::new(ty.size(), ty.align()), ty }
    }

    /// Returns a read-only pointer to the value.
    #[inline]
    pub fn as_ptr(&self) -> Ptr<'_> {
        // SAFETY: the block was initialized with zeros, which are a value of the type. Each later write stores a value of the type.
        // Only `as_mut` and callers of `at` write, and neither writes while this pointer is used.
        unsafe { Ptr::new(self.at(), &self.ty) }
    }

    /// Returns a writable pointer to the value.
    #[inline]
    pub fn as_mut(&mut self) -> PtrMut<'_> {
        // SAFETY: the block was initialized with zeros, which are a value of the type. Each later write stores a value of the type.
        // Callers of `at` do not access the value while this pointer is used.
        unsafe { PtrMut::new(self.at(), &self.ty) }
    }

    /// Returns the type of the value.
    #[inline]
    pub fn ty(&self) -> &PropertyType {
        &self.ty
    }

    /// Returns the address of the value. The address is valid until the owner is dropped. Callers must not access the value by its address
    /// while a pointer to the value is used.
    #[inline]
    pub fn at(&self) -> *mut u8 {
        self.block.start()
    }
}

impl<'a, K: InMemory> Ref<'a, K> {
    /// # Safety
    /// The caller fulfills the requirements of [`Ptr::new`] for the type of kind `K` with the type parameters `of`.
    #[inline]
    pub(crate) unsafe fn new(at: *const u8, of: &'a K::Of) -> Self {
        Self { at, of }
    }

    /// Returns the type parameters of the value's type.
    #[inline]
    pub(crate) fn of(self) -> &'a K::Of {
        self.of
    }

    #[inline]
    pub(crate) fn at(self) -> *const u8 {
        self.at
    }

    /// Loads the data at the start of the value.
    #[inline]
    pub(crate) fn raw(self) -> K::Raw {
        // SAFETY: the caller of `new` promised a value of the kind, which is at least as large and as aligned as its `Raw`.
        // `Raw` promises that every bit pattern is valid.
        unsafe { self.at.cast::<K::Raw>().read() }
    }
}

impl<'a, K: InMemory> Mut<'a, K> {
    /// # Safety
    /// The caller fulfills the requirements of [`PtrMut::new`] for the type of kind `K` with the type parameters `of`.
    #[inline]
    pub(crate) unsafe fn new(at: *mut u8, of: &'a K::Of) -> Self {
        Self { at, of }
    }

    #[inline]
    pub(crate) fn of(&self) -> &'a K::Of {
        self.of
    }

    #[inline]
    pub(crate) fn at(&self) -> *mut u8 {
        self.at
    }

    #[inline]
    pub(crate) fn as_ref(&self) -> Ref<'_, K> {
        Ref { at: self.at, of: self.of }
    }

    #[inline]
    pub(crate) fn raw(&self) -> K::Raw {
        self.as_ref().raw()
    }

    /// Overwrites the data at the start of the value.
    #[inline]
    pub(crate) fn set(&self, raw: K::Raw)
    where
        K::Raw: Plain,
    {
        // SAFETY: the caller of `new` promised a writable value of the kind, which is at least as large and as aligned as its `Raw`.
        // `Plain` promises that overwriting leaks nothing.
        unsafe { self.at.cast::<K::Raw>().write(raw) };
    }
}

impl<K: Kind> Mut<'_, K> {
    /// Overwrites the bytes with the bytes of `from`.
    ///
    /// # Panics
    /// Panics if values of the type own memory.
    #[inline]
    pub(crate) fn copy_bytes(&self, from: Ref<'_, K>) {
        assert!(!K::nature(self.of).owns_memory, "a value that owns memory is not copied by its bytes");
        // SAFETY: both callers of `new` promised distinct values of the kind. The assertion ensures that the values own no memory, which
        // would be leaked or shared.
        unsafe { self.at.copy_from_nonoverlapping(from.at, K::bytes(self.of)) };
    }

    /// Overwrites the value with zero bytes. Does not free memory that the value owns.
    #[inline]
    pub(crate) fn zero(&self) {
        // SAFETY: the caller of `new` promised `K::bytes` writable bytes, and zeros are a value of every kind.
        unsafe { self.at.write_bytes(0, K::bytes(self.of)) };
    }
}

impl<'a, K: Kind<Of = Rc<StructType>>> Ref<'a, K> {
    /// Returns the fields in order of declaration.
    #[inline]
    pub(crate) fn fields(self) -> impl Iterator<Item = Ptr<'a>> {
        self.of.fields().iter().map(move |field| {
            // SAFETY: the caller of `new` promised a struct, whose type has a field at that offset.
            unsafe { Ptr::new(self.at.wrapping_add(field.offset as usize), &field.ty) }
        })
    }
}

impl<K: Kind<Of = Rc<StructType>>> Mut<'_, K> {
    #[inline]
    pub(crate) fn fields(&self) -> impl Iterator<Item = PtrMut<'_>> {
        self.of.fields().iter().map(move |field| {
            // SAFETY: the caller of `new` promised a writable struct, whose type has a field at that offset; no two fields overlap.
            unsafe { PtrMut::new(self.at.wrapping_add(field.offset as usize), &field.ty) }
        })
    }
}

impl<'a, K: Kind<Of = Rc<EnumType>>> Ref<'a, K> {
    #[inline]
    pub(crate) fn number(self) -> Ptr<'a> {
        // SAFETY: the caller of `new` promised an enum, which is a number of this type in memory.
        unsafe { Ptr::new(self.at, self.of.underlying()) }
    }
}

impl<K: Kind<Of = Rc<EnumType>>> Mut<'_, K> {
    #[inline]
    pub(crate) fn number(&self) -> PtrMut<'_> {
        // SAFETY: the caller of `new` promised a writable enum, which is a number of this type in memory.
        unsafe { PtrMut::new(self.at, self.of.underlying()) }
    }
}

impl<'a, K: Kind<Of = Rc<ElementType>, Raw = u8>> Ref<'a, K> {
    /// Returns the contained value. Returns `None` if the optional value is empty.
    #[inline]
    pub(crate) fn inner(self) -> Option<Ptr<'a>> {
        let at = self.at.wrapping_add(self.of.row().align);
        // SAFETY: the caller of `new` promised an optional value. Its content is stored at this offset, after the presence byte.
        (self.raw() != 0).then(|| unsafe { Ptr::new(at, self.of.ty()) })
    }
}

impl<K: Kind<Of = Rc<ElementType>, Raw = u8>> Mut<'_, K> {
    /// Returns a pointer to the memory of the contained value, even if the optional value is empty.
    #[inline]
    pub(crate) fn inner(&self) -> PtrMut<'_> {
        // SAFETY: the caller of `new` promised a writable optional value, with its content at this offset.
        // The zero bytes of an absent content are also a value of the type.
        unsafe { PtrMut::new(self.at.wrapping_add(self.of.row().align), self.of.ty()) }
    }
}

alcedo_abi::copies! { impl[K: InMemory] Ref<'_, K>; }

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
