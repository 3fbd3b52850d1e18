//! Rust structs of a host, each of which represents a struct that a module declares. The fields may have any type, and values are copied
//! field by field. For structs that contain only numbers and names, `plain_struct!` copies whole values instead.

use std::borrow::Cow;
use std::rc::Rc;

use crate::host_value::HostValue;
use crate::property::{PropertyType, with_parts};
use crate::structs::StructType;
use crate::typed::OfKind;
use crate::values::InMemory as _;
use crate::values::ptr::{Mut, Ptr, PtrMut, Ref};
use crate::values::structure::Struct;

const MATCHES: &str = "a matching type is of the kind";

/// Rust struct of the host that represents a reflected struct. [`host_struct!`](crate::host_struct) and the attribute `#[ustruct]` for
/// hosts implement this trait.
///
/// A wrong implementation can cause a panic of the running call, but never an access to a field as a different type.
pub trait HostStructure: Sized + 'static {
    /// Path of the struct type.
    const PATH: &'static str;
    /// Fields in order, inherited fields first.
    const FIELDS: &'static [HostField];

    /// Reads the value from its fields, in order.
    fn load(fields: FieldsToRead<'_>) -> Self;
    /// Writes the value to its fields, in order.
    fn store(self, fields: FieldsToWrite<'_>);
}

/// Field of a Rust struct.
#[derive(Debug)]
pub struct HostField {
    name: &'static str,
    matches: fn(&PropertyType) -> bool,
    describe: fn() -> Cow<'static, str>,
}

impl HostField {
    /// Describes a field with the name `name` and the Rust type `T`.
    #[must_use]
    pub const fn of<T: HostValue>(name: &'static str) -> Self {
        Self { name, matches: <T::Raw as OfKind>::matches, describe: <T::Raw as OfKind>::describe }
    }
}

/// Fields of a struct, to be read one after the other.
pub struct FieldsToRead<'a>(Box<dyn Iterator<Item = Ptr<'a>> + 'a>);

impl FieldsToRead<'_> {
    /// Reads the next field.
    ///
    /// # Panics
    /// Panics if all fields were read, or if the next field has a different type. A panic occurs only if the implementation differs from
    /// [`HostStructure::FIELDS`].
    pub fn take<T: HostValue>(&mut self) -> T {
        T::from_raw(<T::Raw as OfKind>::load(self.0.next().and_then(Ptr::to).expect(MATCHES)))
    }
}

/// Fields of a struct, to be written one after the other.
pub struct FieldsToWrite<'a>(Box<dyn Iterator<Item = PtrMut<'a>> + 'a>);

impl FieldsToWrite<'_> {
    /// Overwrites the next field.
    ///
    /// # Panics
    /// Panics under the same conditions as [`FieldsToRead::take`].
    pub fn put<T: HostValue>(&mut self, value: T) {
        value.into_raw().store(self.0.next().and_then(PtrMut::to).expect(MATCHES));
    }
}

/// Wrapper for the values of a struct property. `T` represents the struct.
#[derive(Debug)]
pub struct StructOf<T>(pub T);

impl<T: HostStructure> OfKind for StructOf<T> {
    type Kind = Struct;
    // The fields are converted to the Rust types of the host.
    const RUNS_CODE: bool = true;

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

/// Defines a Rust struct of the host for a struct that a module declares. The fields may have any
/// [`HostValue`](crate::host_value::HostValue) type: strings, references, enums, containers, and other structs of the host. `Default` of
/// the Rust struct returns the zero value of each field and ignores the defaults that the module declares. `alcedo glue --for-host`
/// generates calls of this macro.
///
/// # Examples
/// ```
/// use alcedo_reflect::host_struct;
///
/// host_struct! {
///     pub struct Score in "/Script/Game.Score" {
///         pub player "player": String,
///         pub points "points": i32,
///     }
/// }
/// let best = Score { player: "Ada".into(), ..Score::default() };
/// assert_eq!(best.points, 0);
/// ```
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

/// Implements `HostStructure` for a Rust struct of the host.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_host_fields {
    ($name:ident in $path:expr, [$({ $field:ident, $field_name:expr, $ty:ty })*]) => {
        const _: () = {
            impl $crate::__private::HostStructure for $name {
                const PATH: &'static str = $path;
                const FIELDS: &'static [$crate::__private::HostField] =
                    &[$($crate::__private::HostField::of::<$ty>($field_name)),*];

                fn load(mut fields: $crate::__private::FieldsToRead<'_>) -> Self {
                    Self { $($field: fields.take()),* }
                }

                fn store(self, mut fields: $crate::__private::FieldsToWrite<'_>) {
                    $(fields.put(self.$field);)*
                }
            }

            impl $crate::__private::HostValue for $name {
                type Raw = $crate::__private::StructOf<Self>;

                fn from_raw(raw: Self::Raw) -> Self {
                    raw.0
                }

                fn into_raw(self) -> Self::Raw {
                    $crate::__private::StructOf(self)
                }
            }

            impl $crate::__private::NativeValue for $name {
                type Literal = ();
                const KIND: $crate::__private::PropertyKind = $crate::__private::PropertyKind::STRUCT;
                const TYPE_PATH: &'static str = $path;
            }
        };
    };
}
