//! Declarations: types as plain data, before they are types. The macro for native classes and the emission of a module's
//! classes both end here, so that the same declaration gives the same metadata.

use std::any::Any;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::border::CallError;

use crate::enums::EnumEntry;
use crate::hooks::{AddReferences, EndHook, NativeHook};
use crate::meta::Meta;
use crate::origin::Origin;
use crate::path::TypePath;
use crate::thunk::{Thunk, function_of};
use crate::typed::doc_text;

/// What the result of a function is called among its parameters, whoever declares it.
pub const RESULT_NAME: &str = "return_value";

/// A property, a struct field or a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyDecl {
    /// Its name, unique in its owner.
    pub name: String,
    /// What it holds.
    pub kind: PropertyKind,
    /// Path of the struct or class of the value; empty for plain kinds.
    pub type_path: String,
    /// Bits of [`alcedo_abi::kinds::property_flags`].
    pub flags: u64,
    /// The default, as [`Value::parse`](crate::value::Value::parse) reads it; empty means zero.
    pub default: String,
    /// The doc comment.
    pub doc: String,
    /// What else is said of it: keys and values.
    pub meta: Meta,
}

/// A function.
#[derive(Clone)]
pub struct FunctionDecl {
    /// Its name, unique in its class.
    pub name: String,
    /// Bits of [`alcedo_abi::kinds::function_flags`].
    pub flags: u64,
    /// Path of the class whose event it overrides; empty otherwise.
    pub overrides: String,
    /// Parameters in order; the result last, with the `RETURN` flag.
    pub params: Vec<PropertyDecl>,
    /// The fingerprint that the body was compiled for; zero is not compared.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: String,
    /// What else is said of it: keys and values.
    pub meta: Meta,
    /// What runs it.
    pub thunk: Thunk,
    /// See [`Function::black_code`](crate::function::Function::black_code).
    pub black_code: Option<Rc<dyn Any>>,
    /// See [`Function::tag`](crate::function::Function::tag).
    pub tag: u64,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// The package, without `/Script/`.
    pub package: String,
    /// Its name in the package.
    pub name: String,
    /// Where it is declared.
    pub origin: Origin,
    /// The kind of its numbers: one of the eight kinds of whole numbers.
    pub underlying: PropertyKind,
    /// Whether a value is a set of entries, each a bit.
    pub is_flags: bool,
    /// Its entries in order.
    pub entries: Vec<EnumEntry>,
    /// The fingerprint that the declaring code was compiled with; zero is not compared.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: String,
}

/// A delegate that has a name.
#[derive(Clone, Debug)]
pub struct DelegateDecl {
    /// The package, without `/Script/`.
    pub package: String,
    /// The path of the class that it belongs to; empty for a free one.
    pub class: String,
    /// Its name in the package, or in the class.
    pub name: String,
    /// Where it is declared.
    pub origin: Origin,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    /// Parameters in order; the result last, with the `RETURN` flag, which a single delegate alone has.
    pub params: Vec<PropertyDecl>,
    /// The fingerprint that the declaring code was compiled with; zero is not compared.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: String,
}

/// A struct that travels by value.
#[derive(Clone, Debug)]
pub struct StructDecl {
    /// The package, without `/Script/`.
    pub package: String,
    /// Its name in the package.
    pub name: String,
    /// Where it is declared.
    pub origin: Origin,
    /// Path of the struct that it extends; empty for none.
    pub base: String,
    /// Bytes of a value where it is declared; not compared, and zero where that is not known.
    pub size: u32,
    /// Alignment of a value in bytes where it is declared; not compared, and zero where that is not known.
    pub align: u32,
    /// Its own fields in order.
    pub fields: Vec<PropertyDecl>,
    /// The fingerprint that the declaring code was compiled with; zero is not compared.
    pub fingerprint: u64,
    /// The doc comment.
    pub doc: String,
}

/// Class of a subobject that differs from that of its property, which a base may declare. An own property with the flag of a default
/// subobject states its class itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubobjectDecl {
    /// The property that refers to it.
    pub property: String,
    /// Path of its class.
    pub class_path: String,
}

impl SubobjectDecl {
    /// Creates the declaration of another class for a subobject.
    pub fn instead(property: impl Into<String>, class_path: impl Into<String>) -> Self {
        Self { property: property.into(), class_path: class_path.into() }
    }
}

/// A class.
#[derive(Clone, Default)]
pub struct ClassDecl {
    /// The package, without `/Script/`.
    pub package: String,
    /// Its name in the package.
    pub name: String,
    /// Path of its base class; empty for a native root.
    pub base: String,
    /// Where it is declared.
    pub origin: Origin,
    /// Bits of [`alcedo_abi::kinds::class_flags`].
    pub flags: u64,
    /// Its own properties. One with the `DEFAULT_SUBOBJECT` flag declares a subobject of its own class.
    pub properties: Vec<PropertyDecl>,
    /// Its own functions.
    pub functions: Vec<FunctionDecl>,
    /// Subobjects that need more words.
    pub subobjects: Vec<SubobjectDecl>,
    /// Defaults of what its bases declare, and of what lies in its subobjects: names with dots between, and the text of the value.
    pub default_overrides: Vec<(String, String)>,
    /// What a script class makes of its class default object, when that has the values of its base's.
    pub script_defaults: Option<NativeHook>,
    /// Paths of the interfaces it implements.
    pub interfaces: Vec<String>,
    /// The constructor of a native class.
    pub native_constructor: Option<NativeHook>,
    /// PostInitProperties of a native class.
    pub native_post_init: Option<NativeHook>,
    /// See [`Class::begin_destroy`](crate::class::Class::begin_destroy).
    pub begin_destroy: Option<EndHook>,
    /// See [`Class::add_references`](crate::class::Class::add_references).
    pub add_references: Option<AddReferences>,
    /// See [`Class::tag`](crate::class::Class::tag).
    pub tag: u64,
    /// The doc comment.
    pub doc: String,
}

/// An interface.
#[derive(Clone)]
pub struct InterfaceDecl {
    /// The package, without `/Script/`.
    pub package: String,
    /// Its name in the package.
    pub name: String,
    /// Where it is declared.
    pub origin: Origin,
    /// Its functions, made by [`FunctionDecl::without_body`].
    pub functions: Vec<FunctionDecl>,
    /// The doc comment.
    pub doc: String,
}

/// Types that are declared together: all of them or none.
#[derive(Clone, Default)]
pub struct Batch {
    /// Interfaces, in any order.
    pub interfaces: Vec<InterfaceDecl>,
    /// Enums, in any order.
    pub enums: Vec<EnumDecl>,
    /// Delegates, in any order.
    pub delegates: Vec<DelegateDecl>,
    /// Structs, in any order.
    pub structs: Vec<StructDecl>,
    /// Classes, in any order.
    pub classes: Vec<ClassDecl>,
    /// Paths of types and members of the batch, each with its earlier names, with commas between. Those of members that have
    /// metadata may be listed there, under `was`.
    pub earlier_names: Vec<(String, String)>,
}

impl PropertyDecl {
    /// A property without type path, flags, default or doc.
    pub fn new(name: &str, kind: PropertyKind) -> Self {
        let (type_path, default, doc, meta) = Default::default();
        Self { name: name.to_owned(), kind, type_path, flags: 0, default, doc, meta }
    }

    /// A result of a function.
    pub fn result(kind: PropertyKind) -> Self {
        Self::new(RESULT_NAME, kind).with_flags(property_flags::RETURN)
    }

    /// With the path of its struct or class.
    #[must_use]
    pub fn of_type(self, path: &str) -> Self {
        Self { type_path: path.to_owned(), ..self }
    }

    /// With these flags too.
    #[must_use]
    pub fn with_flags(self, flags: u64) -> Self {
        Self { flags: self.flags | flags, ..self }
    }

    /// With a default.
    #[must_use]
    pub fn with_default(self, default: &str) -> Self {
        Self { default: default.to_owned(), ..self }
    }
}

impl FunctionDecl {
    /// A function without flags or parameters.
    pub fn new(name: &str, thunk: Thunk) -> Self {
        let (overrides, params, doc, meta, black_code) = Default::default();
        Self {
            name: name.to_owned(),
            flags: 0,
            overrides,
            params,
            fingerprint: 0,
            doc,
            meta,
            thunk,
            black_code,
            tag: 0,
        }
    }

    /// A function of an interface, whose bodies are those of classes.
    pub fn without_body(name: &str) -> Self {
        let thunk: Thunk = Rc::new(|_context, frame| {
            let path = &function_of(frame).path;
            Err(CallError::other(format!("{path} has no body of its own: call it on an object whose class has one")))
        });
        Self::new(name, thunk)
    }
}

macro_rules! paths {
    ($($decl:ident)*) => {$(
        impl $decl {
            /// `/Script/Package.Name`.
            pub fn path(&self) -> String {
                TypePath::new(&self.package, &self.name).to_string()
            }
        }
    )*};
}
paths!(InterfaceDecl EnumDecl StructDecl ClassDecl);

impl Batch {
    /// Adds the types of another batch.
    pub fn append(&mut self, other: Self) {
        self.interfaces.extend(other.interfaces);
        self.enums.extend(other.enums);
        self.delegates.extend(other.delegates);
        self.structs.extend(other.structs);
        self.classes.extend(other.classes);
        self.earlier_names.extend(other.earlier_names);
    }
}

impl EnumDecl {
    /// An enum without entries.
    pub fn new(package: &str, name: &str, underlying: PropertyKind, origin: Origin) -> Self {
        let (is_flags, entries, fingerprint, doc) = Default::default();
        Self {
            package: package.to_owned(),
            name: name.to_owned(),
            origin,
            underlying,
            is_flags,
            entries,
            fingerprint,
            doc,
        }
    }
}

impl DelegateDecl {
    /// `/Script/Package.Name`, or `/Script/Package.Class:Name` for one that belongs to a class.
    pub fn path(&self) -> String {
        match self.class.as_str() {
            "" => TypePath::new(&self.package, &self.name).to_string(),
            class => format!("{class}:{}", self.name),
        }
    }

    /// A free delegate without parameters.
    pub fn new(package: &str, name: &str, kind: PropertyKind, origin: Origin) -> Self {
        let (class, params, doc) = Default::default();
        Self { package: package.to_owned(), class, name: name.to_owned(), origin, kind, params, fingerprint: 0, doc }
    }
}

impl StructDecl {
    /// A struct without fields.
    pub fn new(package: &str, name: &str, origin: Origin) -> Self {
        let (base, size, align, fields, fingerprint, doc) = Default::default();
        Self { package: package.to_owned(), name: name.to_owned(), origin, base, size, align, fields, fingerprint, doc }
    }

    /// The declaration of a native struct that the host defined with [`plain_struct!`](crate::plain_struct).
    ///
    /// # Errors
    /// When the path it was defined with is no path.
    pub fn plain<T: crate::typed::PlainStruct>() -> Result<Self, crate::path::PathError> {
        let path: TypePath = T::PATH.parse()?;
        let docs = T::FIELD_DOCS.iter().copied().chain(std::iter::repeat(&[][..]));
        let defaults = T::FIELD_DEFAULTS.iter().copied().chain(std::iter::repeat(""));
        let field = |((&(name, kind, path), doc), default): ((&(&str, _, &str), &[&str]), &str)| PropertyDecl {
            doc: doc_text(doc),
            ..PropertyDecl::new(name, kind).of_type(path).with_default(default)
        };
        Ok(Self {
            fields: T::FIELDS.iter().zip(docs).zip(defaults).map(field).collect(),
            fingerprint: T::FINGERPRINT,
            doc: doc_text(T::DOC),
            ..Self::new(&path.package, &path.name, Origin::Native)
        })
    }
}

impl InterfaceDecl {
    /// An interface without a doc comment.
    pub fn new(package: &str, name: &str, origin: Origin) -> Self {
        let (functions, doc) = Default::default();
        Self { package: package.to_owned(), name: name.to_owned(), origin, functions, doc }
    }
}

impl ClassDecl {
    /// A class without members.
    pub fn new(package: &str, name: &str, base: &str, origin: Origin) -> Self {
        let (package, name, base) = (package.to_owned(), name.to_owned(), base.to_owned());
        Self { package, name, base, origin, ..Self::default() }
    }
}
