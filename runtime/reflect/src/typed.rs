//! Rust types that are stored directly in property memory. Host code reads and writes values of these types without a
//! [`Value`](crate::value::Value). Safe code checks the type before each access.
#![expect(unsafe_code, reason = "declares the promises of a host struct about its memory")]

use std::borrow::Cow;
use std::marker::PhantomData;
use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::zcall::{Slot, SlotValue};
#[doc(hidden)]
use alcedo_base::handles::{Name, ObjectHandle};

pub use alcedo_abi::kinds::PropertyKind;

use crate::owned::OwnedValue;
use crate::property::{PropertyType, with_parts};
use crate::structs::StructType;
use crate::values::boolean::Bool;
use crate::values::name::NameKind;
use crate::values::ptr::{Mut, Plain, Raw, Ref};
use crate::values::structure::Struct;
use crate::values::text::Text;
use crate::values::{Content as _, InMemory, Kind as _, numbers, references};

/// Rust type for reading and writing properties or parameters. Only this crate implements the trait.
#[expect(private_bounds, reason = "kinds of values belong to this crate")]
pub trait FrameValue: OfKind {}

impl<T: OfKind> FrameValue for T {}

/// Rust type for reading and writing values of one kind, without an intermediate [`Value`](crate::value::Value).
pub(crate) trait OfKind: Sized {
    /// Kind of the values, or the memory format for host structs.
    type Kind: InMemory;

    /// Returns the type parameters that `ty` carries, for example the struct type. Returns `None` for types of other kinds.
    #[inline]
    fn of(ty: &PropertyType) -> Option<&<Self::Kind as InMemory>::Of> {
        Self::Kind::carried(ty)
    }

    /// Checks if values of type `ty` can be read and written as this Rust type.
    fn matches(ty: &PropertyType) -> bool {
        Self::of(ty).is_some()
    }

    /// Returns the name of the type for errors.
    fn describe() -> Cow<'static, str> {
        <Self::Kind as InMemory>::TYPE_NAME.into()
    }

    /// Reads the value. The caller has checked the type.
    fn load(at: Ref<'_, Self::Kind>) -> Self;

    /// Overwrites the value. The caller has checked the type.
    fn store(self, at: Mut<'_, Self::Kind>);

    /// Kind of the value in a call slot. `None` for types passed by address.
    const IN_SLOT: Option<PropertyKind> = None;

    /// True if `load` and `store` may run code of the host, such as conversions, comparisons or hashes of host types. The value must then
    /// not be in an object, unless a guard prevents changes to objects.
    const RUNS_CODE: bool = false;

    /// Returns the object to which a strong reference refers. Returns `None` for other values.
    #[inline]
    fn reference(&self) -> Option<ObjectHandle> {
        None
    }

    /// Converts the value to a call slot. Returns an empty slot for values passed by address.
    #[inline]
    fn into_slot(self) -> Slot {
        Slot::EMPTY
    }

    /// Reads the value from a call slot. Returns `None` if the slot holds a different kind, or for types passed by address.
    #[inline]
    fn from_slot(_slot: Slot) -> Option<Self> {
        None
    }

    /// Reads the value from the bits of a call slot. Returns `None` for types passed by address.
    #[inline]
    fn from_bits(_bits: u64) -> Option<Self> {
        None
    }
}

/// Implements the slot conversions for [`SlotValue`]s.
macro_rules! in_slot {
    ($kind:ty) => {
        const IN_SLOT: Option<PropertyKind> = Some(<$kind as crate::values::Kind>::KIND);

        #[inline]
        fn reference(&self) -> Option<ObjectHandle> {
            let is_reference = <Self as OfKind>::IN_SLOT == Some(PropertyKind::OBJECT);
            is_reference.then(|| <ObjectHandle as SlotValue>::from_bits(<Self as SlotValue>::into_bits(*self)))
        }

        #[inline]
        fn into_slot(self) -> Slot {
            Slot::from_bits(<Self as SlotValue>::SLOT, self.into_bits())
        }

        #[inline]
        fn from_slot(slot: Slot) -> Option<Self> {
            slot.is(<Self as SlotValue>::SLOT).then(|| <Self as SlotValue>::from_bits(slot.bits()))
        }

        #[inline]
        fn from_bits(bits: u64) -> Option<Self> {
            Some(<Self as SlotValue>::from_bits(bits))
        }
    };
}

/// Converts a Rust value to an owned value of type `ty`.
///
/// # Panics
/// Panics if `T` does not match `ty`. The caller must check the types before the call.
pub(crate) fn owned<T: OfKind>(ty: PropertyType, value: T) -> OwnedValue {
    assert!(T::matches(&ty), "a {ty} is not a {}", T::describe());
    let mut own = OwnedValue::zero(ty);
    value.store(own.as_mut().to().expect("a matching type is of the kind"));
    own
}

/// Type of a field in a [`PlainStruct`].
///
/// # Safety
/// A property of kind `KIND` and path `PATH` holds the bytes of a value of this type, and every bit pattern is valid.
///
/// # Examples
/// ```
/// use alcedo_abi::kinds::PropertyKind;
/// use alcedo_reflect::typed::PlainField;
///
/// assert_eq!(<i32 as PlainField>::KIND, PropertyKind::I32);
/// ```
pub unsafe trait PlainField: Copy + 'static {
    /// Property kind.
    const KIND: PropertyKind;
    /// Path of the struct. Empty for plain kinds.
    const PATH: &'static str;
}

/// Struct of the host that is stored directly in property memory. [`plain_struct!`](crate::plain_struct) implements this trait.
///
/// # Safety
/// The type is `repr(C)`, and all its fields are [`PlainField`]s. `FINGERPRINT` is computed from its real size, alignment, field names and
/// offsets. A struct type with this path and fingerprint therefore has the memory layout of this type.
///
/// # Examples
/// ```
/// use alcedo_reflect::plain_struct;
/// use alcedo_reflect::typed::PlainStruct;
///
/// plain_struct! {
///     pub struct Tile in "/Script/Game.Tile" { pub row: i32, pub column: i32 }
/// }
/// assert_eq!((Tile::PATH, Tile::FIELDS.len()), ("/Script/Game.Tile", 2));
/// ```
pub unsafe trait PlainStruct: Copy + 'static {
    /// Path of the struct type.
    const PATH: &'static str;
    /// Fingerprint of size, alignment and fields.
    const FINGERPRINT: u64;
    /// Fields, each with its name, its kind, and the path of a nested struct. The list is sufficient to declare the struct type.
    const FIELDS: &'static [(&'static str, PropertyKind, &'static str)];
    /// Lines of the doc comment.
    const DOC: &'static [&'static str] = &[];
    /// Doc comment lines of each field, in the order of [`PlainStruct::FIELDS`].
    const FIELD_DOCS: &'static [&'static [&'static str]] = &[];
    /// Defaults of the fields as text, in the order of [`PlainStruct::FIELDS`]. An empty string means zero.
    const FIELD_DEFAULTS: &'static [&'static str] = &[];
}

/// Memory format of struct properties whose type has the path and fingerprint of `T`.
pub(crate) struct HostStruct<T>(PhantomData<T>);

/// Struct of the host in property memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct HostStructRaw<T>(T);

// SAFETY: `PlainStruct` promises plain fields: every bit pattern is valid, and no field has drop glue.
unsafe impl<T: PlainStruct> Raw for HostStructRaw<T> {}
// SAFETY: `PlainStruct` promises plain fields, which own no memory and contain no addresses.
unsafe impl<T: PlainStruct> Plain for HostStructRaw<T> {}

impl<T: PlainStruct> InMemory for HostStruct<T> {
    type Of = Rc<StructType>;
    // `PlainStruct` promises that a type with equal path and fingerprint has the layout of `T`.
    type Raw = HostStructRaw<T>;
    const TYPE_NAME: &'static str = T::PATH;

    fn carried(ty: &PropertyType) -> Option<&Rc<StructType>> {
        Struct::of(ty).filter(|of| *of.path == *T::PATH && of.fingerprint() == T::FINGERPRINT)
    }
}

impl<T: PlainStruct> OfKind for T {
    type Kind = HostStruct<T>;

    fn describe() -> Cow<'static, str> {
        let field = |(name, kind, path): &(&str, PropertyKind, &str)| match *path {
            "" => format!("{name}: {}", kind.text().unwrap_or_default()),
            path => format!("{name}: {path}"),
        };
        with_parts(T::PATH, T::FIELDS.iter().map(field)).into()
    }

    #[inline]
    fn load(at: Ref<'_, HostStruct<T>>) -> Self {
        at.raw().0
    }

    #[inline]
    fn store(self, at: Mut<'_, HostStruct<T>>) {
        at.set(HostStructRaw(self));
    }
}

// SAFETY: `PlainStruct` promises that a struct property with its path and fingerprint holds a value of `T`.
unsafe impl<T: PlainStruct> PlainField for T {
    const KIND: PropertyKind = PropertyKind::STRUCT;
    const PATH: &'static str = T::PATH;
}

/// Implements `OfKind` for the Rust type that a [`Value`](crate::value::Value) of the kind contains. `in_slot` adds the slot conversions.
macro_rules! by_kind {
    ($($rust:ty => $kind:ty $(, $in_slot:ident)?;)*) => {$(
        impl OfKind for $rust {
            type Kind = $kind;

            #[inline]
            fn load(at: Ref<'_, $kind>) -> Self {
                <$kind>::read(at)
            }

            #[inline]
            fn store(self, at: Mut<'_, $kind>) {
                <$kind>::write(at, &self);
            }

            $($in_slot!($kind);)?
        }
    )*};
}
pub(crate) use by_kind;

by_kind! {
    u8 => numbers::U8, in_slot; u16 => numbers::U16, in_slot; u32 => numbers::U32, in_slot;
    u64 => numbers::U64, in_slot; i8 => numbers::I8, in_slot; i16 => numbers::I16, in_slot;
    i32 => numbers::I32, in_slot; i64 => numbers::I64, in_slot; f32 => numbers::F32, in_slot;
    f64 => numbers::F64, in_slot; bool => Bool, in_slot; Name => NameKind, in_slot;
    ObjectHandle => references::Object, in_slot; String => Text;
}

macro_rules! plain_fields {
    ($($rust:ty => $kind:ident),*) => {$(
        // SAFETY: a property of this kind is stored as a number of this type, and every bit pattern is valid.
        unsafe impl PlainField for $rust {
            const KIND: PropertyKind = PropertyKind::$kind;
            const PATH: &'static str = "";
        }
    )*};
}
// The list excludes `bool`, because not every byte is a valid `bool`. The list also excludes references, because the Rust type of a
// reference lacks the class path.
plain_fields! {
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64,
    Name => NAME
}

/// Starts the fingerprint of a struct with its size and alignment. Used by [`plain_struct!`](crate::plain_struct).
#[doc(hidden)]
pub const fn start_fields(size: usize, align: usize) -> Fingerprint {
    Fingerprint::START.number(size as u64).number(align as u64)
}

/// Adds one field to the fingerprint of a struct. Used by [`plain_struct!`](crate::plain_struct).
#[doc(hidden)]
pub const fn add_field<T: PlainField>(print: Fingerprint, name: &str, offset: usize) -> Fingerprint {
    print.text(name).value(T::KIND, T::PATH).number(offset as u64)
}

/// Defines a `repr(C)` struct of the host with a reflection path. Values of the struct are passed by value. Fields are numbers, names, or
/// other plain structs.
///
/// # Examples
/// ```
/// use alcedo_reflect::plain_struct;
/// use alcedo_reflect::typed::PlainStruct;
///
/// plain_struct! {
///     /// A direction in three angles.
///     pub struct Rotator in "/Script/Engine.Rotator" {
///         /// Degrees up.
///         pub pitch: f64,
///         /// Degrees to the side.
///         pub yaw: f64,
///     }
/// }
/// let north = Rotator { pitch: 0.0, yaw: 90.0 };
/// assert_eq!(Rotator { pitch: 0.0, ..north }, north);
/// assert_eq!(Rotator::PATH, "/Script/Engine.Rotator");
/// ```
#[macro_export]
macro_rules! plain_struct {
    ($(#[$($meta:tt)*])* $vis:vis struct $name:ident in $path:literal {
        $($(#[$($field_meta:tt)*])* $field_vis:vis $field:ident: $ty:ty),* $(,)?
    }) => {
        $(#[$($meta)*])*
        #[repr(C)]
        #[derive(Clone, Copy, PartialEq, Debug, Default)]
        $vis struct $name {
            $($(#[$($field_meta)*])* $field_vis $field: $ty,)*
        }

        $crate::__alcedo_plain_fields! {
            $name in $path, [$($crate::__alcedo_doc_line!($($meta)*)),*],
            [$({
                $field, $crate::__private::unraw(stringify!($field)), $ty, "",
                [$($crate::__alcedo_doc_line!($($field_meta)*)),*]
            })*]
        }
    };
}

/// Implements `PlainStruct` from a complete field list. A missing field is a compile error, and so is a field of a different type:
///
/// ```compile_fail,E0308
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Forged {
///     at: &'static u8,
/// }
///
/// alcedo_reflect::__alcedo_plain_fields! { Forged in "/Script/Test.Forged", [], [{ at, "at", u64, "", [] }] }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_plain_fields {
    (
        $name:ident in $path:expr, [$($doc:expr),*],
        [$({ $field:ident, $text:expr, $ty:ty, $default:expr, [$($field_doc:expr),*] })*]
    ) => {
        const _: fn($name) = |$name { $($field: _),* }| {};
        $(const _: fn($name) -> $ty = |value| value.$field;)*

        // SAFETY: the functions above check that all fields are listed with their types. `add_field` accepts only plain fields.
        // The fingerprint is computed from the real layout, so a type with an equal fingerprint has an equal layout.
        unsafe impl $crate::__private::PlainStruct for $name {
            const PATH: &'static str = $path;
            const FINGERPRINT: u64 = {
                let print = $crate::__private::start_fields(
                    ::core::mem::size_of::<$name>(),
                    ::core::mem::align_of::<$name>(),
                );
                $(let print = $crate::__private::add_field::<$ty>(
                    print,
                    $text,
                    ::core::mem::offset_of!($name, $field),
                );)*
                print.finish()
            };
            const FIELDS: &'static [(&'static str, $crate::__private::PropertyKind, &'static str)] = &[
                $((
                    $text,
                    <$ty as $crate::__private::PlainField>::KIND,
                    <$ty as $crate::__private::PlainField>::PATH,
                )),*
            ];
            const DOC: &'static [&'static str] = &[$($doc),*];
            const FIELD_DOCS: &'static [&'static [&'static str]] = &[$(&[$($field_doc),*]),*];
            const FIELD_DEFAULTS: &'static [&'static str] = &[$($default),*];
        }
    };
}

/// Expands to the line of a doc comment. Expands to an empty string for other attributes.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_doc_line {
    (doc = $line:literal) => {
        $line
    };
    ($($other:tt)*) => {
        ""
    };
}

/// Joins the lines of a doc comment.
pub(crate) fn doc_text(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use crate::body::Body;
    use crate::decl::{Batch, ClassDecl, PropertyDecl, StructDecl};
    use crate::origin::Origin;
    use crate::refusal::DeclareError;
    use crate::testing::{declare, world};

    plain_struct! {
        /// A point.
        pub(crate) struct Point in "/Script/Test.Point" {
            /// Across.
            pub(crate) x: f32,
            /// Up.
            pub(crate) y: f64,
        }
    }

    plain_struct! {
        struct Mark in "/Script/Test.Mark" {
            at: Point,
            tag: u8,
        }
    }

    plain_struct! {
        struct Signal in "/Script/Test.Signal" {
            r#type: u8,
        }
    }

    #[test]
    fn a_field_named_by_a_keyword_has_no_prefix() {
        let (signal, declared) = (Signal { r#type: 3 }, StructDecl::plain::<Signal>().unwrap());
        assert_eq!((signal.r#type, &*declared.fields[0].name), (3, "type"));
    }

    #[test]
    fn a_plain_struct_has_the_docs_of_its_source() {
        let point = StructDecl::plain::<Point>().unwrap();
        assert_eq!((&*point.doc, &*point.fields[0].doc, &*point.fields[1].doc), ("A point.", "Across.", "Up."));
        let mark = StructDecl::plain::<Mark>().unwrap();
        assert_eq!((&*mark.doc, &*mark.fields[1].doc), ("", ""));
    }

    #[test]
    fn a_plain_struct_of_the_host_is_the_declared_one() {
        let world = world();
        // A batch may list structs in any order.
        let structs = vec![StructDecl::plain::<Mark>().unwrap(), StructDecl::plain::<Point>().unwrap()];
        world.types.declare(&world.names, &Batch { structs, ..Batch::default() }).unwrap();
        let mark = PropertyDecl::new("mark", PropertyKind::STRUCT).of_type("/Script/Test.Mark");
        let owner = ClassDecl { properties: vec![mark], ..ClassDecl::new("Test", "Owner", "", Origin::Native) };
        let class = declare(&world, [owner]).remove(0);
        let (body, property) = (Body::new(&class), &class.properties[0]);
        let written = Mark { at: Point { x: 1.5, y: -2.0 }, tag: 7 };
        body.view().set(property, written).unwrap();
        assert_eq!(body.view().get::<Mark>(property), Ok(written));
        let text = body.view().read(property).unwrap().print(&world.names);
        assert_eq!(text, "(at=(x=1.5, y=-2), tag=7)");
        assert!(body.view().get::<Point>(property).is_err());
    }

    #[test]
    fn a_struct_with_another_declaration_is_not_the_hosts() {
        let world = world();
        let point = StructDecl {
            fields: vec![PropertyDecl::new("y", PropertyKind::F64), PropertyDecl::new("x", PropertyKind::F32)],
            ..StructDecl::plain::<Point>().unwrap()
        };
        let batch = |point| Batch { structs: vec![point], ..Batch::default() };
        let refused = world.types.declare(&world.names, &batch(point.clone())).unwrap_err();
        assert!(matches!(refused, DeclareError::Fingerprint { .. }), "{refused}");
        let point = StructDecl { fingerprint: 0, ..point };
        world.types.declare(&world.names, &batch(point)).unwrap();
        let property = PropertyDecl::new("p", PropertyKind::STRUCT).of_type("/Script/Test.Point");
        let owner = ClassDecl { properties: vec![property], ..ClassDecl::new("Test", "O", "", Origin::Native) };
        let class = declare(&world, [owner]).remove(0);
        assert!(Body::new(&class).view().get::<Point>(&class.properties[0]).is_err());
    }
}
