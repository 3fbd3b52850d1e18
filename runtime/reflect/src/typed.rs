//! Rust types that lie in property memory as they are: how host code that has the type reads and writes without
//! going through a [`Value`](crate::value::Value). The check that the type is right comes first, in safe code.
#![expect(unsafe_code, reason = "declares what a struct of the host promises of its memory")]

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
use crate::values::{Content as _, InMemory, Kind as _, floats, integers, references};

/// A Rust type that a property or parameter can be read as and written from. Which those are is for this crate to say.
#[expect(private_bounds, reason = "kinds of values belong to this crate")]
pub trait FrameValue: OfKind {}

impl<T: OfKind> FrameValue for T {}

/// A Rust type in which values of a kind are read and written, without a [`Value`](crate::value::Value) in between.
pub(crate) trait OfKind: Sized {
    /// The kind, or how the values lie.
    type Kind: InMemory;

    /// What a type carries whose values are such; none for all others.
    #[inline]
    fn of(ty: &PropertyType) -> Option<&<Self::Kind as InMemory>::Of> {
        Self::Kind::carried(ty)
    }

    /// Whether a property of this type holds such values.
    fn matches(ty: &PropertyType) -> bool {
        Self::of(ty).is_some()
    }

    /// The type, as errors show it.
    fn describe() -> Cow<'static, str>;

    /// The value. Its type matches.
    fn load(at: Ref<'_, Self::Kind>) -> Self;

    /// Overwrites the value. Its type matches.
    fn store(self, at: Mut<'_, Self::Kind>);

    /// The kind that lies in a slot of a call in this form; none for what goes by an address.
    const IN_SLOT: Option<PropertyKind> = None;

    /// As it lies in a slot; an empty one for what goes by an address.
    #[inline]
    fn into_slot(self) -> Slot {
        Slot::EMPTY
    }

    /// What lies in a slot; none where that is something else, or goes by an address.
    #[inline]
    fn from_slot(_slot: Slot) -> Option<Self> {
        None
    }

    /// What has these bits in a slot; none for what goes by an address.
    #[inline]
    fn from_bits(_bits: u64) -> Option<Self> {
        None
    }
}

/// How values lie in slots that are [`SlotValue`]s.
macro_rules! in_slot {
    ($kind:ident) => {
        const IN_SLOT: Option<PropertyKind> = Some(PropertyKind::$kind);

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

/// A value in memory of its own, by its Rust type.
///
/// # Panics
/// When values of `ty` are not such, which the caller has looked at.
pub(crate) fn owned<T: OfKind>(ty: PropertyType, value: T) -> OwnedValue {
    assert!(T::matches(&ty), "a {ty} is no {}", T::describe());
    let mut own = OwnedValue::zero(ty);
    value.store(own.as_mut().to().expect("what matches is of the kind"));
    own
}

/// A field type of a [`PlainStruct`].
///
/// # Safety
/// A property of kind `KIND` and path `PATH` holds the bytes of such a value, and every bit pattern is one.
pub unsafe trait PlainField: Copy + 'static {
    /// The property kind.
    const KIND: PropertyKind;
    /// Path of the struct; empty for plain kinds.
    const PATH: &'static str;
}

/// A struct of the host that lies in property memory as it is. Made by [`plain_struct!`](crate::plain_struct).
///
/// # Safety
/// The type is `repr(C)`, all its fields are [`PlainField`]s, and `FINGERPRINT` is computed from its real size,
/// alignment, field names and offsets; so a struct type with that path and fingerprint has the same memory.
pub unsafe trait PlainStruct: Copy + 'static {
    /// Path of the struct type.
    const PATH: &'static str;
    /// Fingerprint of size, alignment and fields.
    const FINGERPRINT: u64;
    /// The fields: name, kind, path of a nested struct. Enough to declare the struct type.
    const FIELDS: &'static [(&'static str, PropertyKind, &'static str)];
    /// The lines of its doc comment.
    const DOC: &'static [&'static str] = &[];
    /// Those of its fields, in the order of [`PlainStruct::FIELDS`].
    const FIELD_DOCS: &'static [&'static [&'static str]] = &[];
    /// What its fields begin as, as text, in the order of [`PlainStruct::FIELDS`]; empty for zero.
    const FIELD_DEFAULTS: &'static [&'static str] = &[];
}

/// Structs in property memory that are such a struct of the host, by the path and the fingerprint of their type.
pub(crate) struct HostStruct<T>(PhantomData<T>);

/// A struct of the host, as it lies there.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct HostStructRaw<T>(T);

// SAFETY: its fields are plain, by the promise of `PlainStruct`: every bit pattern is one, and none is dropped.
unsafe impl<T: PlainStruct> Raw for HostStructRaw<T> {}
// SAFETY: its fields are plain, by the promise of `PlainStruct`: they own nothing, and are no addresses.
unsafe impl<T: PlainStruct> Plain for HostStructRaw<T> {}

impl<T: PlainStruct> InMemory for HostStruct<T> {
    type Of = Rc<StructType>;
    // Path and fingerprint vouch for its memory, by the promise of `PlainStruct`.
    type Raw = HostStructRaw<T>;

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

// SAFETY: a struct that is plain is a struct property's value, by the promise of `PlainStruct`.
unsafe impl<T: PlainStruct> PlainField for T {
    const KIND: PropertyKind = PropertyKind::STRUCT;
    const PATH: &'static str = T::PATH;
}

macro_rules! scalars {
    ($($rust:ty => $kind:ident, $of:ty;)*) => {$(
        impl OfKind for $rust {
            type Kind = $of;

            fn describe() -> Cow<'static, str> {
                PropertyKind::$kind.text().unwrap_or_default().into()
            }

            #[inline]
            fn load(at: Ref<'_, $of>) -> Self {
                at.raw()
            }

            #[inline]
            fn store(self, at: Mut<'_, $of>) {
                at.set(self);
            }

            in_slot!($kind);
        }
    )*};
}
scalars! {
    u8 => U8, integers::U8; u16 => U16, integers::U16; u32 => U32, integers::U32; u64 => U64, integers::U64;
    i8 => I8, integers::I8; i16 => I16, integers::I16; i32 => I32, integers::I32; i64 => I64, integers::I64;
    f32 => F32, floats::F32; f64 => F64, floats::F64; Name => NAME, NameKind; ObjectHandle => OBJECT, references::Object;
}

/// Types that are what a [`Value`](crate::value::Value) of the kind has in it.
macro_rules! by_kind {
    ($($rust:ty, $name:literal: $kind:ty;)*) => {$(
        impl OfKind for $rust {
            type Kind = $kind;

            fn describe() -> Cow<'static, str> {
                $name.into()
            }

            #[inline]
            fn load(at: Ref<'_, $kind>) -> Self {
                <$kind>::read(at)
            }

            #[inline]
            fn store(self, at: Mut<'_, $kind>) {
                <$kind>::write(at, &self);
            }
        }
    )*};
}
pub(crate) use by_kind;

macro_rules! plain_fields {
    ($($rust:ty => $kind:ident),*) => {$(
        // SAFETY: a property of this kind is such a number in memory, and every bit pattern is one.
        unsafe impl PlainField for $rust {
            const KIND: PropertyKind = PropertyKind::$kind;
            const PATH: &'static str = "";
        }
    )*};
}
// No `bool` and no reference: not every byte is a `bool`, and a reference's class path is not known to its Rust type.
plain_fields! {
    u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64,
    Name => NAME
}

by_kind! {
    String, "String": Text;
}

impl OfKind for bool {
    type Kind = Bool;

    fn describe() -> Cow<'static, str> {
        "bool".into()
    }

    #[inline]
    fn load(at: Ref<'_, Bool>) -> Self {
        Bool::read(at)
    }

    #[inline]
    fn store(self, at: Mut<'_, Bool>) {
        Bool::write(at, &self);
    }

    in_slot!(BOOL);
}

/// The fingerprint of a struct before its fields; used by [`plain_struct!`](crate::plain_struct).
#[doc(hidden)]
pub const fn start_fields(size: usize, align: usize) -> Fingerprint {
    Fingerprint::START.number(size as u64).number(align as u64)
}

/// The fingerprint of a struct with one field more; used by [`plain_struct!`](crate::plain_struct).
#[doc(hidden)]
pub const fn add_field<T: PlainField>(print: Fingerprint, name: &str, offset: usize) -> Fingerprint {
    print.text(name).value(T::KIND, T::PATH).number(offset as u64)
}

/// Defines a `repr(C)` struct of the host that travels by value under a path: fields are numbers, names, or other
/// plain structs.
///
/// ```ignore
/// plain_struct! {
///     /// A direction in three angles.
///     pub struct Rotator in "/Script/Engine.Rotator" {
///         /// Degrees up.
///         pub pitch: f64,
///         /// Degrees to the side.
///         pub yaw: f64,
///     }
/// }
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
            [$({ $field, stringify!($field), $ty, "", [$($crate::__alcedo_doc_line!($($field_meta)*)),*] })*]
        }
    };
}

/// Says of a struct what it is in memory. A field that is not listed is refused.
#[doc(hidden)]
#[macro_export]
macro_rules! __alcedo_plain_fields {
    (
        $name:ident in $path:expr, [$($doc:expr),*],
        [$({ $field:ident, $text:expr, $ty:ty, $default:expr, [$($field_doc:expr),*] })*]
    ) => {
        const _: fn($name) = |$name { $($field: _),* }| {};

        // SAFETY: all its fields are listed, which is checked above; `add_field` takes only those that are plain; and the
        // fingerprint is computed from the type itself, which so lies as C lays it out wherever it is the same.
        unsafe impl $crate::plumbing::PlainStruct for $name {
            const PATH: &'static str = $path;
            const FINGERPRINT: u64 = {
                let print = $crate::plumbing::start_fields(
                    ::core::mem::size_of::<$name>(),
                    ::core::mem::align_of::<$name>(),
                );
                $(let print = $crate::plumbing::add_field::<$ty>(
                    print,
                    $text,
                    ::core::mem::offset_of!($name, $field),
                );)*
                print.finish()
            };
            const FIELDS: &'static [(&'static str, $crate::plumbing::PropertyKind, &'static str)] = &[
                $((
                    $text,
                    <$ty as $crate::plumbing::PlainField>::KIND,
                    <$ty as $crate::plumbing::PlainField>::PATH,
                )),*
            ];
            const DOC: &'static [&'static str] = &[$($doc),*];
            const FIELD_DOCS: &'static [&'static [&'static str]] = &[$(&[$($field_doc),*]),*];
            const FIELD_DEFAULTS: &'static [&'static str] = &[$($default),*];
        }
    };
}

/// A line of a doc comment, and nothing of any other attribute.
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

/// The lines of a doc comment as one text.
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
        // In any order: the batch sorts them.
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
    fn a_struct_declared_otherwise_is_not_the_hosts() {
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
