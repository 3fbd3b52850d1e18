//! Rust types that a native class may have for a property: values, which are read and written, and what is used where it lies.

use crate::border::CallError;
use crate::kinds::PropertyKind;
use crate::native::failing::fail;
use crate::native::this::{At, View};
use crate::object::decl::PropertyDecl;
use crate::object::member::PropertyRef;
use crate::object::native_value::NativeValue;

/// A Rust type that a native class may have for a property.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type that a native property can have",
    label = "not known to reflection by this Rust type",
    note = "numbers, `bool`, `String`, `Name`, `Obj<Class>`, enums of `#[uenum]`, structs of `#[ustruct]`, `Vec`, `Option`, `HashSet` and \
            `HashMap` of these, delegates, and what `#[udelegate]` declares are; others are declared with `NativeClass`"
)]
pub trait NativeProperty: Sized + 'static {
    /// Result of the accessor, for the running call.
    type Seen<'f>;
    /// Of an enum, the kind of its numbers, and whether all are those of a byte.
    const NUMBERS: Option<(PropertyKind, bool)> = None;
    /// The declaration of such a property.
    fn declared(name: &str) -> PropertyDecl;
    /// The property of the object that the view is of.
    fn see<'f>(view: &impl View<'f>, property: &PropertyRef, place: (&'static str, &'static str)) -> Self::Seen<'f>;
    /// Overwrites it.
    ///
    /// # Errors
    /// Returns those of [`World::set`](crate::object::natives::World::set).
    fn put<'f>(self, view: &impl View<'f>, property: &PropertyRef) -> Result<(), CallError>;
}

/// What a setter takes for a property of type `T`: a value of that type.
pub trait IntoHost<T>: NativeProperty {}

impl<T: NativeProperty> IntoHost<T> for T {}

/// Whether scripts can have a property of the type: of an enum, where it is one of bytes, or the property says `enum_as_byte`.
pub const fn scripts_have<T: NativeProperty>(as_byte: bool) -> bool {
    match T::NUMBERS {
        Some((kind, _)) => as_byte || kind.0 == PropertyKind::U8.0,
        None => true,
    }
}

/// Whether the type is an enum whose numbers are all those of a byte.
pub const fn fits_a_byte<T: NativeProperty>() -> bool {
    matches!(T::NUMBERS, Some((_, true)))
}

impl<T: NativeValue> NativeProperty for T {
    type Seen<'f> = T;
    const NUMBERS: Option<(PropertyKind, bool)> = <T as NativeValue>::NUMBERS;

    fn declared(name: &str) -> PropertyDecl {
        <T as NativeValue>::declared(name)
    }

    #[inline]
    fn see<'f>(view: &impl View<'f>, property: &PropertyRef, _place: (&'static str, &'static str)) -> T {
        read_member(view, property)
    }

    #[inline]
    fn put<'f>(self, view: &impl View<'f>, property: &PropertyRef) -> Result<(), CallError> {
        write_member(view, property, self)
    }
}

/// Reads a property.
#[inline]
pub fn read_member<'f, T: NativeValue>(view: &impl View<'f>, property: &PropertyRef) -> T {
    let At { world, object } = view.at();
    world.get(object, property).map_or_else(|error| fail(error), T::from_raw)
}

/// Writes a property.
///
/// # Errors
/// Returns the errors of [`World::set`](crate::object::natives::World::set).
#[inline]
pub fn write_member<'f, T: NativeValue>(
    view: &impl View<'f>,
    property: &PropertyRef,
    value: T,
) -> Result<(), CallError> {
    let At { world, object } = view.at();
    world.set(object, property, value.into_raw())
}
