//! Rust types of native properties. Accessors read and write a property as a value, or return a reference to the property in the object.

use crate::boundary::CallError;
use crate::kinds::PropertyKind;
use crate::native::failing::fail;
use crate::native::this::{At, View};
use crate::object::decl::PropertyDecl;
use crate::object::member::PropertyRef;
use crate::object::native_value::NativeValue;

/// A Rust type of a native property.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of native properties",
    label = "reflection does not support this Rust type",
    note = "supported types: numbers, `bool`, `String`, `Name`, `Obj<Class>`, enums of `#[uenum]`, structs of `#[ustruct]`, `Vec`, \
            `Option`, `HashSet` and `HashMap` of these, delegates, and aliases of `#[udelegate]`; declare other types with `NativeClass`"
)]
pub trait NativeProperty: Sized + 'static {
    /// Return type of the property accessor. Values of this type are valid only in the running call.
    type Seen<'f>;
    /// Kind of the underlying integers, and `true` if all numbers of the enum fit in a byte. `None` for a type that is not an enum.
    const NUMBERS: Option<(PropertyKind, bool)> = None;
    /// Returns the declaration of a property with this name and type.
    fn declared(name: &str) -> PropertyDecl;
    /// Reads the property of the view's object.
    fn see<'f>(view: &impl View<'f>, property: &PropertyRef, member: (&'static str, &'static str)) -> Self::Seen<'f>;
    /// Overwrites the property.
    ///
    /// # Errors
    /// Returns the errors of [`World::set`](crate::object::natives::World::set).
    fn put<'f>(self, view: &impl View<'f>, property: &PropertyRef) -> Result<(), CallError>;
}

/// Argument type of a setter: a value of the property type `T`.
pub trait IntoHost<T>: NativeProperty {}

impl<T: NativeProperty> IntoHost<T> for T {}

/// Returns `true` if scripts can access a property of type `T`. For an enum, the underlying type must be `u8`, or the property must have
/// `enum_as_byte`.
pub const fn scripts_have<T: NativeProperty>(as_byte: bool) -> bool {
    match T::NUMBERS {
        Some((kind, _)) => as_byte || kind.0 == PropertyKind::U8.0,
        None => true,
    }
}

/// Returns `true` if the type is an enum whose numbers all fit in a byte.
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
    fn see<'f>(view: &impl View<'f>, property: &PropertyRef, _member: (&'static str, &'static str)) -> T {
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
