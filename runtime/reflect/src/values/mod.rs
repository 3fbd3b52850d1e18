//! The kinds of values. Most kinds have a separate file. Very similar kinds share a file. All kinds implement the trait `Kind`. The trait
//! defines memory layout, copies, comparison, hashes, destruction, referenced objects, printing, parsing and conversions. A new kind
//! requires only a file and an entry in `kind_list.rs`.

pub(crate) mod ansi_text;
pub(crate) mod array;
pub(crate) mod boolean;
mod by_type;
mod by_value;
pub(crate) mod class_paths;
pub(crate) mod delegate;
pub(crate) mod enumeration;
pub(crate) mod field_path;
pub(crate) mod keyed;
pub(crate) mod lazy_object;

pub(crate) mod local_text;
pub(crate) mod map;
pub(crate) mod multicast;
pub(crate) mod name;
pub(crate) mod numbers;
pub(crate) mod optional;
pub mod owned;
mod parameters;
pub mod ptr;
pub(crate) mod references;
pub(crate) mod set;
pub(crate) mod soft_object;
pub(crate) mod sparse;
pub(crate) mod structure;
pub(crate) mod text;
pub mod text_memory;
#[cfg(any(test, feature = "toy-kind"))]
pub(crate) mod toy;

use std::borrow::Cow;
use std::fmt;
use std::hash::Hasher;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use alcedo_abi::kinds::KindForm as Form;
use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::LazyRaw;
use alcedo_base::boundary::CallError;
use alcedo_base::handles::{Name, ObjectHandle};

use crate::convert::{Conversion, Paths};
use crate::enums::EnumValue;
use crate::kind_list::{each_kind, kinds};
use crate::names::Names;
use crate::property::PropertyType;
use crate::references::References;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, fail};
use crate::value::{Binding, LocalText, Value, WrongType};
use parameters::Parameters;
use ptr::{Mut, Raw, Ref};
pub use structure::fix_fields;

/// Names that every kind uses to implement [`Kind`].
mod prelude {
    pub(super) use std::hash::{Hash, Hasher};
    pub(super) use std::rc::Rc;

    pub(super) use alcedo_abi::kinds::PropertyKind;
    pub(super) use alcedo_base::handles::{Name, ObjectHandle};

    pub(super) use super::{Kind, Offer, Part, Written};
    pub(super) use crate::convert::Conversion;
    pub(super) use crate::names::Names;
    pub(super) use crate::property::PropertyType;
    pub(super) use crate::references::References;
    pub(super) use crate::structs::Nature;
    pub(super) use crate::text::scan::Scanner;
    pub(super) use crate::text::{ParseError, fail, listed};
    pub(super) use crate::value::{Value, WrongType};
}

/// A kind of values. The default methods are for kinds that own no memory and refer to no objects.
pub(crate) trait Kind: Content + Sized + 'static {
    /// Type parameters that a type of this kind carries, such as the class path of a reference.
    type Of: Parameters;
    /// Data at the start of a value in memory.
    type Raw: Raw;
    const KIND: PropertyKind;
    /// Name in types, reports and errors.
    const NAME: &'static str = match Self::KIND.text() {
        Some(name) => name,
        None => "?",
    };
    const WRITTEN: Written = Written::Own;

    // Operations on types of the kind.

    /// Returns the declared size of a value in bytes. This size may be smaller than the size of `Raw`, see [`Kind::bytes`].
    #[inline]
    fn size(_of: &Self::Of) -> usize {
        size_of::<Self::Raw>()
    }

    /// Returns the actual size of a value in bytes. The minimum is the size of `Raw`.
    #[inline]
    fn bytes(of: &Self::Of) -> usize {
        Self::size(of).max(size_of::<Self::Raw>())
    }

    /// Returns the alignment of a value in bytes. Callers use at least the alignment of `Raw`.
    #[inline]
    fn align(_of: &Self::Of) -> usize {
        align_of::<Self::Raw>()
    }

    /// Returns the characteristics of all values of the type.
    #[inline]
    fn nature(_of: &Self::Of) -> Nature {
        Nature::PLAIN
    }

    /// Calls `visit` with each type that the type directly contains.
    fn inner_types(_of: &Self::Of, _visit: &mut dyn FnMut(&PropertyType)) {}

    /// Records the strong references of a value of type `ty` at `offset`.
    fn references(of: &Self::Of, ty: &PropertyType, offset: usize, found: &mut References) {
        if Self::nature(of).holds_objects {
            found.add_deep(offset, ty);
        }
    }

    // Operations on values in memory.

    /// Overwrites the value `to` with a copy of the value `from`. The values do not overlap. Memory that `from` owns is cloned.
    #[inline]
    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        to.copy_bytes(from);
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool;

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher);

    /// Frees owned memory and leaves the zero value.
    #[inline]
    fn destroy(at: Mut<'_, Self>) {
        at.zero();
    }

    /// Calls `visit` with every object that the value keeps alive.
    fn visit_objects(_at: Ref<'_, Self>, _visit: &mut dyn FnMut(ObjectHandle)) {}

    /// Replaces every object handle in the value with the result of the closure.
    fn map_objects(_at: Mut<'_, Self>, _map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {}

    /// Returns the id of a delegate during calls. See [`PtrMut::delegate_mark`](ptr::PtrMut::delegate_mark).
    fn mark(_at: Mut<'_, Self>, _fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        None
    }

    fn read(at: Ref<'_, Self>) -> Self::Value;

    /// Checks that [`Kind::write`] accepts the value.
    fn fits(of: &Self::Of, _ty: &PropertyType, value: &Self::Value) -> Result<(), WrongType> {
        Self::each_part(of, value, &mut |_, ty, value| fits(ty, value))
    }

    fn write(at: Mut<'_, Self>, value: &Self::Value);

    // Operations on values outside property memory.

    /// Returns the zero value. In memory, all bytes of this value are zero.
    fn zero(_of: &Self::Of) -> Self::Value {
        Default::default()
    }

    /// Returns the initial value of a property without a default.
    fn initial(of: &Self::Of) -> Self::Value {
        Self::zero(of)
    }

    /// Checks if two values are equal by the rules for values in memory.
    fn same(one: &Self::Value, two: &Self::Value) -> bool {
        one == two
    }

    /// Feeds the value to `hasher`. Equal values feed equal bytes.
    fn feed(value: &Self::Value, hasher: &mut dyn Hasher);

    /// Calls `visit` with every object to which the value refers by handle. The second argument of `visit` is true if the handle keeps the
    /// object alive.
    fn each_object(_value: &Self::Value, _visit: &mut dyn FnMut(ObjectHandle, bool)) {}

    /// Returns a copy of the value in which each object handle is replaced with the result of the closure.
    fn with_objects(value: &Self::Value, _map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Self::Value {
        value.clone()
    }

    /// Returns the object to which the value refers by handle. Callers check that the type allows the class of this object.
    fn resolves_to(_value: &Self::Value) -> Option<ObjectHandle> {
        None
    }

    /// Returns a value that refers to the object. For the none handle, returns a value that refers to no object. Returns `None` if values
    /// of this kind do not refer to objects.
    fn refer(_object: ObjectHandle, _links: &dyn Links) -> Option<Result<Self::Value, CallError>> {
        None
    }

    /// Returns the object to which the value currently refers by handle, path or id.
    fn referent(value: &Self::Value, _links: &dyn Links) -> Option<ObjectHandle> {
        Self::resolves_to(value)
    }

    /// Calls `visit` for each directly contained value, with its location, its type and the value. Stops at the first error of `visit`.
    fn each_part<E>(
        _of: &Self::Of,
        _value: &Self::Value,
        _visit: &mut dyn FnMut(Part<'_>, &PropertyType, &Value) -> Result<(), E>,
    ) -> Result<(), E> {
        Ok(())
    }

    /// Replaces each directly contained value with the result of the closure. Does not replace keys.
    fn with_parts(
        _of: &Self::Of,
        value: Self::Value,
        _map: &mut dyn FnMut(&PropertyType, Value) -> Value,
    ) -> Self::Value {
        value
    }

    // Conversions between values and text.

    /// Prints the value as text that the kind can parse.
    fn print(value: &Self::Value, names: &Names) -> String;

    /// Parses unquoted text.
    fn from_word(word: &str, ty: &PropertyType, names: &Names) -> Result<Self::Value, ParseError> {
        Self::from_text(word, ty, names)
    }

    /// Parses the content of quoted text.
    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<Self::Value, ParseError> {
        Err(fail(text, ty, "it has a different syntax"))
    }

    fn parse(scanner: &mut Scanner<'_>, _of: &Self::Of, ty: &PropertyType) -> Result<Self::Value, ParseError> {
        if Self::WRITTEN.may_be_quoted() && scanner.take("\"") {
            let text = scanner.quoted(ty)?;
            return Self::from_text(&text, ty, scanner.names);
        }
        let word = scanner.word();
        Self::from_word(word, ty, scanner.names)
    }

    // Conversions between kinds.

    /// Returns the content of the value for conversion to other kinds.
    fn offer<'v>(_value: &'v Self::Value, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        None
    }

    /// Converts the content of a value of a different kind. Returns `None` if the conversion is not lossless.
    fn accept(_offer: Offer<'_>, _of: &Self::Of, _cx: &Conversion<'_>) -> Option<Self::Value> {
        None
    }

    /// Converts a value to this kind. Returns `None` if the conversion is not lossless.
    fn convert(value: &Value, of: &Self::Of, cx: &Conversion<'_>) -> Option<Self::Value> {
        match Self::get(value) {
            Some(same) => Some(same.clone()),
            None => Self::accept(cx.offer(value)?, of, cx),
        }
    }
}

/// Lookups that references need: objects by path and by id, and names.
pub(crate) trait Links: Paths {
    /// Returns the name table. References by path store the path as a name in this table.
    fn names(&self) -> &Names;
}

/// Memory layout of values: the layout of a kind, or the layout of a host struct.
pub(crate) trait InMemory: 'static {
    /// Type parameters that a type with this layout carries.
    type Of;
    /// Rust type of the first bytes of a value in memory.
    type Raw: Raw;
    /// Name of the types with this layout, for errors.
    const TYPE_NAME: &'static str;
    /// Returns the type parameters of a type with this layout. Returns `None` for types with other layouts.
    fn carried(ty: &PropertyType) -> Option<&Self::Of>;
}

impl<K: Kind> InMemory for K {
    type Of = <K as Kind>::Of;
    type Raw = <K as Kind>::Raw;
    const TYPE_NAME: &'static str = <K as Kind>::NAME;

    #[inline]
    fn carried(ty: &PropertyType) -> Option<&<K as Kind>::Of> {
        K::of(ty)
    }
}

/// Content of a [`Value`] of one kind. A macro implements this trait for each entry in the list of kinds.
pub(crate) trait Content {
    /// Content of a value.
    type Value: Clone + Default + PartialEq;
    fn wrap(content: Self::Value) -> Value;
    /// Returns the content of a value of this kind. Returns `None` for values of other kinds.
    fn get(value: &Value) -> Option<&Self::Value>;
    /// Returns the content of a value of this kind. For values of other kinds, returns the value as the error.
    fn take(value: Value) -> Result<Self::Value, Value>;
    /// Returns the type parameters of a type of this kind. Returns `None` for types of other kinds.
    fn of(ty: &PropertyType) -> Option<&Self::Of>
    where
        Self: Kind;
}

/// Location of a value inside an outer value. Errors append this location to the location of the outer value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'v> {
    Whole,
    Field(&'v str),
    /// Element with this index in an array or set.
    At(usize),
    /// Key of the map entry with this index.
    Key(usize),
    /// Value of the map entry with this index.
    ValueOf(usize),
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Field(name) => write!(f, ".{name}"),
            Self::At(at) => write!(f, "[{at}]"),
            Self::Key(at) => write!(f, "[{at}].key"),
            Self::ValueOf(at) => write!(f, "[{at}].value"),
        }
    }
}

/// Text form of the values of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// A single word. The word ends before a comma or parenthesis.
    Word,
    /// Plain or quoted text. At the top level, plain text keeps its surrounding spaces, unless it begins with a character of the slice.
    Text(&'static [char]),
    /// Plain or quoted text, without surrounding spaces.
    Path,
    /// Form that only this kind has. [`Kind::parse`] reads the form.
    Own,
}

impl Written {
    fn may_be_quoted(self) -> bool {
        matches!(self, Self::Text(_) | Self::Path)
    }
}

/// Content of a value without its kind, as the source of a conversion.
pub(crate) enum Offer<'v> {
    Integer(i128),
    Truth(bool),
    Float(f64),
    Entry(&'v EnumValue),
    /// Text that needs no translation.
    Text(Cow<'v, str>),
    /// Reference to an object, or to no object.
    Reference(ObjectHandle),
    /// The path of a class.
    Class(Name),
    /// Delegate bindings.
    Bindings(&'v [Binding]),
    Values(&'v [Value]),
    /// Values by key.
    Entries(&'v [(Value, Value)]),
    /// Field values by name.
    Fields(&'v [(Arc<str>, Value)]),
}

/// Data of a kind that all types of the kind share.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) kind: PropertyKind,
    pub(crate) name: &'static str,
    /// Form of the text in parentheses after the name.
    pub(crate) form: Form,
    /// The only type of the kind. `None` if types of the kind have parameters.
    pub(crate) plain: Option<PropertyType>,
    /// Creates a type from a path. `None` if a path is not the only parameter of the kind's types.
    pub(crate) of_path: Option<fn(Rc<str>) -> PropertyType>,
}

impl Entry {
    pub(crate) fn of(kind: PropertyKind) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.kind == kind)
    }

    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }
}

/// Returns the name of a kind. Returns `?` for an unknown number.
pub(crate) fn name_of(kind: PropertyKind) -> &'static str {
    Entry::of(kind).map_or("?", |entry| entry.name)
}

/// Implements the methods of a kind whose values are numbers, names or handles. These values have one representation in memory and in a
/// [`Value`].
macro_rules! word {
    () => {
        #[inline]
        fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
            one.raw().bits() == two.raw().bits()
        }

        #[inline]
        fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
            hasher.write_u64(at.raw().bits());
        }

        #[inline]
        fn read(at: Ref<'_, Self>) -> Self::Value {
            at.raw()
        }

        #[inline]
        fn write(at: Mut<'_, Self>, value: &Self::Value) {
            at.set(*value);
        }

        fn same(one: &Self::Value, two: &Self::Value) -> bool {
            one.bits() == two.bits()
        }

        fn feed(value: &Self::Value, hasher: &mut dyn Hasher) {
            hasher.write_u64(value.bits());
        }
    };
}
/// Implements the hash of the content of a [`Value`]. Uses `Hash` of the content's Rust type.
macro_rules! by_content {
    () => {
        fn feed(value: &Self::Value, mut hasher: &mut dyn Hasher) {
            value.hash(&mut hasher);
        }
    };
}
pub(crate) use by_content;
pub use by_type::fits;
use word;

each_kind! { [kinds] () }

#[cfg(test)]
mod enumeration_tests;
#[cfg(test)]
mod tests;
