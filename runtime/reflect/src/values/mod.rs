//! The kinds of values, one file each (or one for several that differ in a number only), behind one trait. Everything that
//! depends on the kind of a value is answered here: how it lies in memory and how it is copied, compared, hashed and
//! destroyed, what objects it names, how it is printed and parsed, and what it can be converted to. A new kind is a
//! file and an entry in `list`.

pub(crate) mod ansi_text;
pub(crate) mod array;
pub(crate) mod boolean;
mod by_type;
mod by_value;
pub(crate) mod class_paths;
pub(crate) mod delegate;
pub(crate) mod enumeration;
pub(crate) mod field_path;
pub(crate) mod floats;
pub(crate) mod integers;
pub(crate) mod keyed;
pub(crate) mod lazy_object;

pub(crate) mod local_text;
pub(crate) mod map;
pub(crate) mod multicast;
pub(crate) mod name;
pub(crate) mod optional;
pub mod owned;
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
use alcedo_base::border::CallError;
use alcedo_base::handles::{Name, ObjectHandle};

use crate::convert::{Conversion, Paths};
use crate::enums::EnumValue;
use crate::kind_list::{each_kind, kinds};
use crate::names::Names;
use crate::property::PropertyType;
use crate::references::Found;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, fail};
use crate::value::{Binding, LocalText, Value, WrongType};
use ptr::{Mut, Raw, Ref};

/// A kind of values. Where it says nothing, values are plain data without objects in them.
pub(crate) trait Kind: Content + Sized + 'static {
    /// What a type of the kind carries.
    type Of;
    /// What lies at the start of a value.
    type Raw: Raw;
    /// The number.
    const KIND: PropertyKind;
    /// The name that types, reports and errors use.
    const NAME: &'static str = match Self::KIND.text() {
        Some(name) => name,
        None => "?",
    };
    /// How values are written in text.
    const WRITTEN: Written = Written::Own;

    // Types of the kind.

    /// What belongs to the kind: the path of the struct or class, the types in a container, the signature of a delegate.
    fn path(_of: &Self::Of) -> &str {
        ""
    }

    /// Bytes of a value. At least those of `Raw` are taken.
    #[inline]
    fn size(_of: &Self::Of) -> usize {
        size_of::<Self::Raw>()
    }

    /// Bytes of a value.
    #[inline]
    fn bytes(of: &Self::Of) -> usize {
        Self::size(of).max(size_of::<Self::Raw>())
    }

    /// Alignment of a value in bytes. At least that of `Raw` is taken.
    #[inline]
    fn align(_of: &Self::Of) -> usize {
        align_of::<Self::Raw>()
    }

    /// What is true of all values.
    #[inline]
    fn nature(_of: &Self::Of) -> Nature {
        Nature::PLAIN
    }

    /// Whether two types of the kind are the same.
    fn same_type(one: &Self::Of, two: &Self::Of) -> bool {
        Self::path(one) == Self::path(two)
    }

    /// Shows `visit` the types that a value has in it.
    fn inner_types(_of: &Self::Of, _visit: &mut dyn FnMut(&PropertyType)) {}

    /// Where the strong references of a value at `offset` are; `ty` is the type.
    fn references(of: &Self::Of, ty: &PropertyType, offset: usize, found: &mut Found) {
        if Self::nature(of).holds_objects {
            found.deep(offset, ty);
        }
    }

    // Values in memory.

    /// Overwrites a value with another, apart from it; what owns memory gets a copy of its own.
    #[inline]
    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        to.copy_bytes(from);
    }

    /// Whether the two are equal.
    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool;

    /// Feeds the value to `hasher`.
    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher);

    /// Frees what the value owns and leaves the one that zero bytes mean.
    #[inline]
    fn destroy(at: Mut<'_, Self>) {
        at.zero();
    }

    /// Shows `visit` every reference that keeps an object alive.
    fn visit_objects(_at: Ref<'_, Self>, _visit: &mut dyn FnMut(ObjectHandle)) {}

    /// Replaces every handle of an object.
    fn map_objects(_at: Mut<'_, Self>, _map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {}

    /// By what a delegate is known while it is called; see [`PtrMut::delegate_mark`](ptr::PtrMut::delegate_mark).
    fn mark(_at: Mut<'_, Self>, _fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        None
    }

    /// The value, read out.
    fn read(at: Ref<'_, Self>) -> Self::Value;

    /// Whether [`Kind::write`] can write that.
    fn fits(_of: &Self::Of, _ty: &PropertyType, _value: &Self::Value) -> Result<(), WrongType> {
        Ok(())
    }

    /// Overwrites the value.
    fn write(at: Mut<'_, Self>, value: &Self::Value);

    // Values read out.

    /// What zero bytes mean.
    fn zero(of: &Self::Of) -> Self::Value;

    /// What a property begins with that has no default.
    fn initial(of: &Self::Of) -> Self::Value {
        Self::zero(of)
    }

    /// Whether the two are equal, as they are in memory.
    fn same(one: &Self::Value, two: &Self::Value) -> bool;

    /// Feeds the value to `hasher`: equal ones feed the same.
    fn feed(value: &Self::Value, hasher: &mut dyn Hasher);

    /// Shows `visit` every object that the value names by handle, and whether it keeps the object alive.
    fn each_object(_value: &Self::Value, _visit: &mut dyn FnMut(ObjectHandle, bool)) {}

    /// The value with every object that it names by handle replaced.
    fn with_objects(value: &Self::Value, _map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Self::Value {
        value.clone()
    }

    /// The object that the value leads to, whose class has to suit the type.
    fn leads_to(_value: &Self::Value) -> Option<ObjectHandle> {
        None
    }

    /// Returns the value that refers to an object, or to none; `None` if values of the kind refer to no object.
    fn refer(_object: ObjectHandle, _links: &dyn Links) -> Option<Result<Self::Value, CallError>> {
        None
    }

    /// Returns the object that the value refers to now.
    fn referent(value: &Self::Value, _links: &dyn Links) -> Option<ObjectHandle> {
        Self::leads_to(value)
    }

    /// Shows `visit` each value that the value has in it, with its type and place, up to the first that it refuses.
    fn each_part<E>(
        _of: &Self::Of,
        _value: &Self::Value,
        _visit: &mut dyn FnMut(Part<'_>, &PropertyType, &Value) -> Result<(), E>,
    ) -> Result<(), E> {
        Ok(())
    }

    /// The value with each value that it has in it replaced; keys stay.
    fn with_parts(
        _of: &Self::Of,
        value: Self::Value,
        _map: &mut dyn FnMut(&PropertyType, Value) -> Value,
    ) -> Self::Value {
        value
    }

    // Values as text.

    /// The value as text that the kind reads back.
    fn print(value: &Self::Value, names: &Names) -> String;

    /// The value that a text without quotes is.
    fn from_word(word: &str, ty: &PropertyType, names: &Names) -> Result<Self::Value, ParseError> {
        Self::from_text(word, ty, names)
    }

    /// The value that a text in quotes is.
    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<Self::Value, ParseError> {
        Err(fail(text, ty, "it is written otherwise"))
    }

    /// Reads a value.
    fn parse(scanner: &mut Scanner<'_>, _of: &Self::Of, ty: &PropertyType) -> Result<Self::Value, ParseError> {
        if Self::WRITTEN.may_be_quoted() && scanner.take("\"") {
            let text = scanner.quoted(ty)?;
            return Self::from_text(&text, ty, scanner.names);
        }
        let word = scanner.word();
        Self::from_word(word, ty, scanner.names)
    }

    // Values of other kinds.

    /// What another kind may make its value of.
    fn offer<'v>(_value: &'v Self::Value, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        None
    }

    /// What is offered as a value of this kind, if nothing is lost.
    fn accept(_offer: Offer<'_>, _of: &Self::Of, _cx: &Conversion<'_>) -> Option<Self::Value> {
        None
    }

    /// The value as one of this kind, if nothing is lost.
    fn convert(value: &Value, of: &Self::Of, cx: &Conversion<'_>) -> Option<Self::Value> {
        match Self::get(value) {
            Some(same) => Some(same.clone()),
            None => Self::accept(cx.offer(value)?, of, cx),
        }
    }
}

/// Finds objects by their paths and ids.
pub(crate) trait Links: Paths {
    /// Returns the names, among them those of paths.
    fn names(&self) -> &Names;
    /// Returns the id of an object, which gets one if it has none.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    fn id_of(&self, object: ObjectHandle) -> Result<LazyRaw, CallError>;
    /// Returns the object with an id, which may have been destroyed.
    fn with_id(&self, id: LazyRaw) -> Option<ObjectHandle>;
}

/// How values lie in memory: those of a kind, or the structs of one type as the host has them.
pub(crate) trait InMemory: 'static {
    /// What a type of such values carries.
    type Of;
    /// What lies at the start of a value.
    type Raw: Raw;
    /// What a type carries whose values lie so; none for another.
    fn carried(ty: &PropertyType) -> Option<&Self::Of>;
}

impl<K: Kind> InMemory for K {
    type Of = <K as Kind>::Of;
    type Raw = <K as Kind>::Raw;

    #[inline]
    fn carried(ty: &PropertyType) -> Option<&<K as Kind>::Of> {
        K::of(ty)
    }
}

/// What a [`Value`] of a kind has in it. Generated from the list.
pub(crate) trait Content {
    /// What it has in it.
    type Value: Clone;
    /// The value.
    fn wrap(content: Self::Value) -> Value;
    /// What is in a value of the kind; none for one of another.
    fn get(value: &Value) -> Option<&Self::Value>;
    /// What is in a value of the kind; the value for one of another.
    fn take(value: Value) -> Result<Self::Value, Value>;
    /// What a type of the kind carries; none for one of another.
    fn of(ty: &PropertyType) -> Option<&Self::Of>
    where
        Self: Kind;
}

/// Where a value lies in another, as errors show it behind the place of that.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'v> {
    /// It is all of it.
    Whole,
    /// A field.
    Field(&'v str),
    /// One of a row.
    At(usize),
    /// The key of an entry.
    Key(usize),
    /// The value of an entry.
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

/// How values of a kind are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    /// As one word, which ends at a comma or parenthesis.
    Word,
    /// Plain or quoted. As the whole of a text it keeps the spaces around it, unless it begins with one of these.
    Text(&'static [char]),
    /// Plain or quoted, without the spaces around it.
    Path,
    /// As [`Kind::parse`] reads it.
    Own,
}

impl Written {
    fn may_be_quoted(self) -> bool {
        matches!(self, Self::Text(_) | Self::Path)
    }
}

/// What a value is, apart from its kind: what another kind may be made of.
pub(crate) enum Offer<'v> {
    /// A number without fractions.
    Integer(i128),
    /// No or yes.
    Truth(bool),
    /// A number.
    Float(f64),
    /// An entry of an enum.
    Entry(&'v EnumValue),
    /// A text that needs no translation.
    Text(Cow<'v, str>),
    /// An object, or none.
    Reference(ObjectHandle),
    /// The path of a class.
    Class(Name),
    /// Functions of objects.
    Bindings(&'v [Binding]),
    /// Values in a row.
    Values(&'v [Value]),
    /// Values by key.
    Entries(&'v [(Value, Value)]),
    /// Values by name.
    Fields(&'v [(Arc<str>, Value)]),
}

/// What is known of a kind without a type of it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its number.
    pub(crate) kind: PropertyKind,
    /// Its name.
    pub(crate) name: &'static str,
    /// What stands in the parentheses behind the name.
    pub(crate) form: Form,
    /// Its type, if that needs no more words.
    pub(crate) plain: Option<PropertyType>,
    /// Makes the type of a path, if types of the kind carry one alone.
    pub(crate) of_path: Option<fn(Rc<str>) -> PropertyType>,
}

impl Entry {
    /// The kind of that number.
    pub(crate) fn of(kind: PropertyKind) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.kind == kind)
    }

    /// The kind of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        ENTRIES.iter().find(|entry| entry.name == name)
    }
}

/// How a kind is called; `?` for an unknown number.
pub(crate) fn name_of(kind: PropertyKind) -> &'static str {
    Entry::of(kind).map_or("?", |entry| entry.name)
}

/// What a kind says whose values are a number, name or handle that lies in memory as it is in a [`Value`].
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

        fn zero(_of: &Self::Of) -> Self::Value {
            Default::default()
        }

        fn same(one: &Self::Value, two: &Self::Value) -> bool {
            one.bits() == two.bits()
        }

        fn feed(value: &Self::Value, hasher: &mut dyn Hasher) {
            hasher.write_u64(value.bits());
        }
    };
}
pub(crate) use by_type::fit;
pub use by_type::fits;
use word;

each_kind! { [kinds] () }

#[cfg(test)]
mod enumeration_tests;
#[cfg(test)]
mod tests;
