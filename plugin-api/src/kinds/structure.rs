//! Fields of structs in host memory, by constants that know the struct, the type of the field, and where it lies. Such a
//! constant comes of a look at the form of the struct while the plugin is compiled, so it is right wherever it is made.
#![expect(unsafe_code, reason = "follows addresses of fields in host memory")]

use core::marker::PhantomData;
use core::mem::{MaybeUninit, size_of};

use alcedo_rt::CallError;

use super::into_host::IntoHost;
use super::ptr::{Ptr, PtrMut};
use super::{Kind, Lent};
use crate::Value;
use crate::signature::ValueType;

/// A value of type `T` in the form of the host, as a field of another.
#[repr(transparent)]
pub struct Stored<T: Value>(T::Raw);

/// A field of type `T` in structs of type `S`.
pub struct Field<S, T> {
    offset: usize,
    of: PhantomData<fn(S) -> T>,
}

/// Where the field of a struct lies.
pub trait FieldPlace {
    /// The struct.
    type Struct: Value;
    /// The type of the field.
    type Type: Value;
    /// One struct, and the field in it.
    const AT: (&'static <Self::Struct as Value>::Raw, &'static Stored<Self::Type>);
}

struct Offset<P>(PhantomData<P>);

impl<P: FieldPlace> Offset<P> {
    /// Always computed by the compiler, which sees what memory a reference is into, and refuses two of different
    /// memory.
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

impl<S: Value, T: Value> Field<S, T> {
    /// The field at that place.
    #[must_use]
    pub const fn of<P: FieldPlace<Struct = S, Type = T>>() -> Self {
        Self { offset: Offset::<P>::BYTES, of: PhantomData }
    }

    /// What the host receives of it.
    #[must_use]
    pub const fn described(&self, name: &'static str) -> FieldType<S> {
        FieldType::new(name, ValueType::of::<T>(), self.offset)
    }

    /// Whether it may own memory.
    #[must_use]
    pub const fn owns_memory(&self) -> bool {
        T::OWNS_MEMORY
    }
}

/// A field of structs of type `S`, by name, type and offset.
pub struct FieldType<S> {
    pub(crate) name: &'static str,
    pub(crate) ty: ValueType,
    pub(crate) offset: usize,
    of: PhantomData<fn(S)>,
}

impl<S> FieldType<S> {
    pub(crate) const fn new(name: &'static str, ty: ValueType, offset: usize) -> Self {
        Self { name, ty, offset, of: PhantomData }
    }
}

/// The value that zero bytes mean.
#[must_use]
pub const fn blank<T: Value>() -> T::Raw {
    // SAFETY: zero bytes are a value of every type, and any bytes are valid for its form.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

impl<'a, S: Value> Ptr<'a, S> {
    /// A copy of a field.
    #[inline]
    #[must_use]
    pub fn load_field<T: Value>(self, field: &Field<S, T>) -> T {
        // SAFETY: the pointer was promised a live struct, and the field lies in it.
        T::load(unsafe { Ptr::new(self.at().byte_add(field.offset).cast()) })
    }
}

impl<S: Value> PtrMut<'_, S> {
    /// A field, to be written.
    #[inline]
    fn field<T: Value>(&self, field: &Field<S, T>) -> PtrMut<'_, T> {
        // SAFETY: the pointer was promised a live struct that may be written, and the field lies in it.
        unsafe { PtrMut::new(self.at().byte_add(field.offset).cast()) }
    }

    /// Overwrites a field.
    ///
    /// # Errors
    /// What the kind of value refuses.
    #[inline]
    pub fn store_field<T: Value>(&self, field: &Field<S, T>, value: &T) -> Result<(), CallError> {
        value.store(self.field(field))
    }
}

/// Sees a field.
#[inline]
pub fn field<'f, K: Kind, T: Value>(of: &Lent<'f, K>, field: &Field<K, T>) -> T::Seen<'f> {
    // SAFETY: the field lies in the struct, as the constant says, and lives as long.
    unsafe { of.part::<T>(field.offset) }.unwrap_or_else(|error| alcedo_rt::fail(error))
}

/// Overwrites a field.
///
/// # Errors
/// `EXPIRED`; `DURING_REBUILD`.
#[inline]
pub fn set_field<K: Kind, T: Value>(
    of: &Lent<'_, K>,
    field: &Field<K, T>,
    value: impl IntoHost<T>,
) -> Result<(), CallError> {
    value.put(of.ptr_mut()?.field(field))
}
