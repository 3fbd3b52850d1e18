//! Declarations: types as plain data, before compilation. The macro for native classes and the emission of a module's classes create
//! declarations. Equal declarations produce equal metadata.

use std::any::Any;
use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_base::boundary::CallError;

use crate::enums::EnumEntry;
use crate::hooks::{AddReferences, EndHook, NativeHook};
use crate::meta::Meta;
use crate::origin::Origin;
use crate::path::TypePath;
use crate::thunk::{Thunk, function_of};
use crate::typed::doc_text;

/// Name of the result among the parameters of a function.
pub const RESULT_NAME: &str = "return_value";

/// Declaration of a property, a struct field or a parameter.
///
/// # Examples
/// ```
/// use alcedo_abi::kinds::{PropertyKind, property_flags};
/// use alcedo_reflect::decl::PropertyDecl;
///
/// let owner = PropertyDecl::new("owner", PropertyKind::OBJECT).of_type("/Script/Game.Room");
/// let owner = owner.with_flags(property_flags::TRANSIENT);
/// assert_eq!((owner.name.as_str(), owner.type_path.as_str()), ("owner", "/Script/Game.Room"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyDecl {
    /// Name, unique in its owner.
    pub name: String,
    /// Kind of the value.
    pub kind: PropertyKind,
    /// Path of the value's struct or class. Empty for plain kinds.
    pub type_path: String,
    /// Bits of [`alcedo_abi::kinds::property_flags`].
    pub flags: u64,
    /// Default value in the syntax of [`Value::parse`](crate::value::Value::parse). If empty, the default is the zero value of the type.
    pub default: String,
    /// Doc comment of the declaration.
    pub doc: String,
    /// Further metadata: keys and values.
    pub meta: Meta,
}

/// Declaration of a function.
#[derive(Clone)]
pub struct FunctionDecl {
    /// Name, unique in its class.
    pub name: String,
    /// Bits of [`alcedo_abi::kinds::function_flags`].
    pub flags: u64,
    /// Path of the class whose event the function overrides. Empty if the function overrides no event.
    pub overrides: String,
    /// Parameters in order. The result is last and has the `RETURN` flag.
    pub params: Vec<PropertyDecl>,
    /// Fingerprint of the signature that the body was compiled for, compared with the declared signature. Zero disables the comparison.
    pub fingerprint: u64,
    /// Doc comment of the declaration.
    pub doc: String,
    /// Further metadata: keys and values.
    pub meta: Meta,
    /// Body of the function.
    pub thunk: Thunk,
    /// See [`Function::black_code`](crate::function::Function::black_code).
    pub black_code: Option<Rc<dyn Any>>,
    /// See [`Function::tag`](crate::function::Function::tag).
    pub tag: u64,
}

/// Declaration of an enum.
#[derive(Clone, Debug)]
pub struct EnumDecl {
    /// Name of the package, without the prefix `/Script/`.
    pub package: String,
    /// Name in the package.
    pub name: String,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Underlying type: one of the eight integer kinds.
    pub underlying: PropertyKind,
    /// True if the enum is a bit set. Each entry is then one bit.
    pub is_flags: bool,
    /// Entries in order of declaration.
    pub entries: Vec<EnumEntry>,
    /// Fingerprint that the declaring code was compiled with, compared with the fingerprint in the host. Zero disables the comparison.
    pub fingerprint: u64,
    /// Doc comment of the declaration.
    pub doc: String,
}

/// Declaration of a named delegate.
#[derive(Clone, Debug)]
pub struct DelegateDecl {
    /// Name of the package, without the prefix `/Script/`.
    pub package: String,
    /// Path of the owner class. Empty for a delegate outside classes.
    pub class: String,
    /// Name in the package, or in the class.
    pub name: String,
    /// Origin of the declaration.
    pub origin: Origin,
    /// `DELEGATE`, `MULTICAST_DELEGATE` or `SPARSE_DELEGATE`.
    pub kind: PropertyKind,
    /// Parameters in order. The result is last and has the `RETURN` flag. Only single delegates have a result.
    pub params: Vec<PropertyDecl>,
    /// Fingerprint that the declaring code was compiled with, compared with the fingerprint in the host. Zero disables the comparison.
    pub fingerprint: u64,
    /// Doc comment of the declaration.
    pub doc: String,
}

/// Declaration of a struct that is passed by value.
#[derive(Clone, Debug)]
pub struct StructDecl {
    /// Name of the package, without the prefix `/Script/`.
    pub package: String,
    /// Name in the package.
    pub name: String,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Path of the base struct. Empty if the struct has no base.
    pub base: String,
    /// Size in bytes of a value in the declaring code, or zero if unknown. Compilation ignores this size.
    pub size: u32,
    /// Alignment in bytes of a value in the declaring code, or zero if unknown. Compilation ignores this alignment.
    pub align: u32,
    /// Fields that the struct itself declares, in order of declaration.
    pub fields: Vec<PropertyDecl>,
    /// Fingerprint that the declaring code was compiled with, compared with the fingerprint in the host. Zero disables the comparison.
    pub fingerprint: u64,
    /// Doc comment of the declaration.
    pub doc: String,
}

/// Declaration of a class.
///
/// # Examples
/// ```
/// use alcedo_abi::kinds::PropertyKind;
/// use alcedo_reflect::decl::{ClassDecl, PropertyDecl};
/// use alcedo_reflect::origin::Origin;
///
/// let mut lamp = ClassDecl::new("Game", "Lamp", "/Script/Game.Object", Origin::Native);
/// lamp.properties.push(PropertyDecl::new("power", PropertyKind::F64).with_default("60"));
/// assert_eq!(lamp.path(), "/Script/Game.Lamp");
/// ```
#[derive(Clone, Default)]
pub struct ClassDecl {
    /// Name of the package, without the prefix `/Script/`.
    pub package: String,
    /// Name in the package.
    pub name: String,
    /// Path of the base class. Empty for a native root class.
    pub base: String,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Bits of [`alcedo_abi::kinds::class_flags`].
    pub flags: u64,
    /// Properties that the class itself declares. A property with the `DEFAULT_SUBOBJECT` flag declares a subobject. The class of the
    /// subobject is the class in the property's type.
    pub properties: Vec<PropertyDecl>,
    /// Functions that the class itself declares.
    pub functions: Vec<FunctionDecl>,
    /// Overridden classes of subobjects. Each entry has the name of a declared or inherited property, and the path of the class. Declared
    /// properties with the `DEFAULT_SUBOBJECT` flag need no entry, because their declarations contain the class.
    pub subobjects: Vec<(String, String)>,
    /// Overrides of inherited defaults and of defaults in subobjects. Each entry has the path to the property, with names separated by
    /// dots, and the value as text.
    pub default_overrides: Vec<(String, String)>,
    /// Hook of a script class. The hook sets values in the class default object, after the values of the base's CDO have been copied.
    pub script_defaults: Option<NativeHook>,
    /// Paths of the implemented interfaces.
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
    /// Doc comment of the declaration.
    pub doc: String,
}

/// Declaration of an interface.
#[derive(Clone)]
pub struct InterfaceDecl {
    /// Name of the package, without the prefix `/Script/`.
    pub package: String,
    /// Name in the package.
    pub name: String,
    /// Origin of the declaration.
    pub origin: Origin,
    /// Functions, created by [`FunctionDecl::without_body`].
    pub functions: Vec<FunctionDecl>,
    /// Doc comment of the declaration.
    pub doc: String,
}

/// Types that are declared together. If one declaration is rejected, no type of the batch is declared.
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
    /// Earlier names of types and members of the batch. Each entry has the current path, and the earlier names separated by commas. Fields,
    /// properties and functions may instead list their earlier names in their metadata, under the key `was`.
    pub earlier_names: Vec<(String, String)>,
}

impl PropertyDecl {
    /// Creates a property without type path, flags, default or doc comment.
    pub fn new(name: &str, kind: PropertyKind) -> Self {
        let (type_path, default, doc, meta) = Default::default();
        Self { name: name.to_owned(), kind, type_path, flags: 0, default, doc, meta }
    }

    /// Creates the declaration of a function's result.
    pub fn result(kind: PropertyKind) -> Self {
        Self::new(RESULT_NAME, kind).with_flags(property_flags::RETURN)
    }

    /// Sets the path of the struct or class.
    #[must_use]
    pub fn of_type(self, path: &str) -> Self {
        Self { type_path: path.to_owned(), ..self }
    }

    /// Adds flags.
    #[must_use]
    pub fn with_flags(self, flags: u64) -> Self {
        Self { flags: self.flags | flags, ..self }
    }

    /// Sets the default.
    #[must_use]
    pub fn with_default(self, default: &str) -> Self {
        Self { default: default.to_owned(), ..self }
    }
}

impl FunctionDecl {
    /// Creates a function without flags or parameters.
    pub fn new(name: &str, thunk: Thunk) -> Self {
        let (name, (flags, overrides, params, fingerprint, doc)) = (name.to_owned(), Default::default());
        let (meta, black_code, tag) = Default::default();
        Self { name, flags, overrides, params, fingerprint, doc, meta, thunk, black_code, tag }
    }

    /// Creates a function of an interface. The classes that implement the interface provide the bodies.
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
            /// Returns `/Script/Package.Name`.
            pub fn path(&self) -> String {
                TypePath::new(&self.package, &self.name).to_string()
            }
        }
    )*};
}
paths!(InterfaceDecl EnumDecl StructDecl ClassDecl);

impl Batch {
    /// Adds the types of the batch `other`.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::decl::{Batch, ClassDecl};
    /// use alcedo_reflect::origin::Origin;
    ///
    /// let class = |name| ClassDecl::new("Game", name, "", Origin::Native);
    /// let batch = |name| Batch { classes: vec![class(name)], ..Batch::default() };
    /// let mut all = batch("Lamp");
    /// all.append(batch("Door"));
    /// assert_eq!(all.classes.len(), 2);
    /// ```
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
    /// Creates an enum without entries.
    pub fn new(package: &str, name: &str, underlying: PropertyKind, origin: Origin) -> Self {
        let (package, name) = (package.to_owned(), name.to_owned());
        let (is_flags, entries, fingerprint, doc) = Default::default();
        Self { package, name, origin, underlying, is_flags, entries, fingerprint, doc }
    }
}

impl DelegateDecl {
    /// Returns `/Script/Package.Name`, or `/Script/Package.Class:Name` for a delegate of a class.
    pub fn path(&self) -> String {
        match self.class.as_str() {
            "" => TypePath::new(&self.package, &self.name).to_string(),
            class => format!("{class}:{}", self.name),
        }
    }

    /// Creates a delegate outside classes, without parameters.
    pub fn new(package: &str, name: &str, kind: PropertyKind, origin: Origin) -> Self {
        let (class, params, doc) = Default::default();
        Self { package: package.to_owned(), class, name: name.to_owned(), origin, kind, params, fingerprint: 0, doc }
    }
}

impl StructDecl {
    /// Creates a struct without fields.
    pub fn new(package: &str, name: &str, origin: Origin) -> Self {
        let (base, size, align, fields, fingerprint, doc) = Default::default();
        Self { package: package.to_owned(), name: name.to_owned(), origin, base, size, align, fields, fingerprint, doc }
    }

    /// Returns the declaration of a native struct. The host defines the struct with [`plain_struct!`](crate::plain_struct).
    ///
    /// # Errors
    /// Fails if the path in the definition of the struct is malformed.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::decl::StructDecl;
    /// use alcedo_reflect::plain_struct;
    ///
    /// plain_struct! {
    ///     pub struct Tile in "/Script/Game.Tile" { pub row: i32, pub column: i32 }
    /// }
    /// let tile = StructDecl::plain::<Tile>()?;
    /// assert_eq!((tile.path().as_str(), tile.fields.len()), ("/Script/Game.Tile", 2));
    /// # Ok::<(), alcedo_reflect::path::PathError>(())
    /// ```
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
    /// Creates an interface without functions or doc comment.
    pub fn new(package: &str, name: &str, origin: Origin) -> Self {
        let (functions, doc) = Default::default();
        Self { package: package.to_owned(), name: name.to_owned(), origin, functions, doc }
    }
}

impl ClassDecl {
    /// Creates a class without members.
    pub fn new(package: &str, name: &str, base: &str, origin: Origin) -> Self {
        let (package, name, base) = (package.to_owned(), name.to_owned(), base.to_owned());
        Self { package, name, base, origin, ..Self::default() }
    }
}
