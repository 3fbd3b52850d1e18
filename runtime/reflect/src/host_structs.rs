//! Structs of modules with fields of any type, as Rust structs of a host: copied in and out field by field. A struct that is numbers
//! and names only needs none of this: `plain_struct!` is that, where it lies.

use std::borrow::Cow;
use std::rc::Rc;

use crate::host_value::HostValue;
use crate::property::{PropertyType, with_parts};
use crate::structs::StructType;
use crate::typed::OfKind;
use crate::values::InMemory as _;
use crate::values::ptr::{Mut, Ptr, PtrMut, Ref};
use crate::values::structure::Struct;

const MATCHES: &str = "what matches is of the kind";

/// A struct in reflection as a Rust struct of the host. Made by [`host_struct!`](crate::host_struct), and by `#[ustruct]` of a host.
///
/// Whatever an implementation says, a field is read and written as what it is, or the running call ends with a panic.
pub trait HostStructure: Sized + 'static {
    /// Path of the struct type.
    const PATH: &'static str;
    /// Its fields in order, those of the structs that it extends first.
    const FIELDS: &'static [HostField];

    /// The value, from its fields in order.
    fn load(fields: FieldsToRead<'_>) -> Self;
    /// Overwrites the fields in order.
    fn store(self, fields: FieldsToWrite<'_>);
}

/// A field, as the Rust struct has it.
#[derive(Debug)]
pub struct HostField {
    name: &'static str,
    matches: fn(&PropertyType) -> bool,
    describe: fn() -> Cow<'static, str>,
}

impl HostField {
    /// One of that name, which is read and written as a `T`.
    #[must_use]
    pub const fn of<T: HostValue>(name: &'static str) -> Self {
        Self { name, matches: <T::Raw as OfKind>::matches, describe: <T::Raw as OfKind>::describe }
    }
}

/// The fields of a struct, to read one after the other.
pub struct FieldsToRead<'a>(Box<dyn Iterator<Item = Ptr<'a>> + 'a>);

impl FieldsToRead<'_> {
    /// The value of the next one.
    ///
    /// # Panics
    /// When there is none, or it is of another kind: the implementation does not read what it says in [`HostStructure::FIELDS`].
    pub fn take<T: HostValue>(&mut self) -> T {
        T::from_raw(<T::Raw as OfKind>::load(self.0.next().and_then(Ptr::to).expect(MATCHES)))
    }
}

/// The fields of a struct, to write one after the other.
pub struct FieldsToWrite<'a>(Box<dyn Iterator<Item = PtrMut<'a>> + 'a>);

impl FieldsToWrite<'_> {
    /// Overwrites the next one.
    ///
    /// # Panics
    /// As for [`FieldsToRead::take`].
    pub fn put<T: HostValue>(&mut self, value: T) {
        value.into_raw().store(self.0.next().and_then(PtrMut::to).expect(MATCHES));
    }
}

/// A value where structs that are a `T` lie.
#[derive(Debug)]
pub struct StructOf<T>(pub T);

impl<T: HostStructure> OfKind for StructOf<T> {
    type Kind = Struct;

    fn of(ty: &PropertyType) -> Option<&Rc<StructType>> {
        let is_it = |field: &HostField, found: &crate::property::Property| {
            *found.text == *field.name && (field.matches)(&found.ty)
        };
        Struct::carried(ty).filter(|of| {
            *of.path == *T::PATH
                && of.fields().len() == T::FIELDS.len()
                && T::FIELDS.iter().zip(of.fields()).all(|(field, found)| is_it(field, found))
        })
    }

    fn describe() -> Cow<'static, str> {
        let fields = T::FIELDS.iter().map(|field| format!("{}: {}", field.name, (field.describe)()));
        with_parts(T::PATH, fields).into()
    }

    fn load(at: Ref<'_, Struct>) -> Self {
        Self(T::load(FieldsToRead(Box::new(at.fields()))))
    }

    fn store(self, at: Mut<'_, Struct>) {
        self.0.store(FieldsToWrite(Box::new(at.fields())));
    }
}

/// Defines a Rust struct of the host for a struct that a module declares, with fields of any type that
/// [`HostValue`](crate::host_value::HostValue) is: texts, references, enums, containers, other such structs. Its `Default` is the
/// zero value of each field, and not what the module says that a new one begins as. `alcedo glue --for-host` writes it.
#[macro_export]
macro_rules! host_struct {
    ($(#[$meta:meta])* $vis:vis struct $name:ident in $path:literal {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident $field_name:literal: $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Default)]
        $vis struct $name {
            $($(#[$field_meta])* $field_vis $field: $ty,)*
        }

        $crate::__alcedo_host_fields! { $name in $path, [$({ $field, $field_name, $ty })*] }
    };
}

/// Implements reading and writing of a Rust struct of the host, field by field.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_host_fields {
    ($name:ident in $path:expr, [$({ $field:ident, $field_name:expr, $ty:ty })*]) => {
        const _: () = {
            impl $crate::plumbing::HostStructure for $name {
                const PATH: &'static str = $path;
                const FIELDS: &'static [$crate::plumbing::HostField] =
                    &[$($crate::plumbing::HostField::of::<$ty>($field_name)),*];

                fn load(mut fields: $crate::plumbing::FieldsToRead<'_>) -> Self {
                    Self { $($field: fields.take()),* }
                }

                fn store(self, mut fields: $crate::plumbing::FieldsToWrite<'_>) {
                    $(fields.put(self.$field);)*
                }
            }

            impl $crate::plumbing::HostValue for $name {
                type Raw = $crate::plumbing::StructOf<Self>;

                fn from_raw(raw: Self::Raw) -> Self {
                    raw.0
                }

                fn into_raw(self) -> Self::Raw {
                    $crate::plumbing::StructOf(self)
                }
            }

            impl $crate::plumbing::NativeValue for $name {
                type Literal = ();
                const KIND: $crate::plumbing::PropertyKind = $crate::plumbing::PropertyKind::STRUCT;
                const TYPE_PATH: &'static str = $path;
            }
        };
    };
}
