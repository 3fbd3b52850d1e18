//! Declarations of a module or a host as plain data for tools. Declarations of a module are read from the unmapped file or from the loaded
//! module. Both sources provide equal declarations. Declarations of a host are read from its type registry.

mod file;
mod flags;
mod natives;

use std::collections::BTreeMap;

use alcedo_abi::describe::{CONVERTS, ImportKind};
use alcedo_abi::kinds::{class_flags, function_flags, property_flags};
use serde::{Deserialize, Serialize};

use crate::bridge::exports::export_name;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::meta::value_of;

pub(crate) use file::{of_file, of_loaded};
#[cfg(feature = "script")]
pub(crate) use natives::of_package;
pub(crate) use natives::{of_delegate, of_natives, of_types};

/// Declarations of a module or a host: types, functions that are callable by name, and imports. Plain data, usable on any thread.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Runtime;
/// use alcedo_runtime::native::{NativeClass, Natives};
///
/// let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
/// let declared = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).declared()?;
/// for class in &declared.classes {
///     println!("{} extends {:?}", class.path, class.base);
/// }
/// assert!(declared.enums.is_empty());
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Declared {
    /// Classes, sorted by path.
    pub classes: Vec<DeclaredClass>,
    /// Enums, sorted by path.
    #[serde(default)]
    pub enums: Vec<DeclaredEnum>,
    /// Named delegates, sorted by path.
    #[serde(default)]
    pub delegates: Vec<DeclaredDelegate>,
    /// Structs, sorted by path.
    pub structs: Vec<DeclaredStruct>,
    /// Interfaces, sorted by path.
    pub interfaces: Vec<DeclaredInterface>,
    /// Exported functions, sorted by name.
    pub exports: Vec<DeclaredExport>,
    /// Types and members that the module uses, sorted by path. The host, a dependency, or the module itself defines each type and member.
    pub imports: Vec<DeclaredImport>,
    /// Earlier names of renamed declarations, separated by commas. The keys are the current paths of types, enum entries, and fields of
    /// structs and plugin parts. Properties and functions list their earlier names in their metadata, under `was`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub earlier_names: BTreeMap<String, String>,
}

/// Result of checking a script package.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::ScriptCheck;
///
/// fn print(check: &ScriptCheck) {
///     match &check.declared {
///         Ok(declared) => println!("{} {}: {} classes", check.package, check.version, declared.classes.len()),
///         Err(errors) => eprintln!("{errors}"),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScriptCheck {
    /// Folder of the package.
    pub folder: std::path::PathBuf,
    /// Name of the package, equal to the name of the folder.
    pub package: String,
    /// Version of the package. 0.0.0 if `package.toml` has no version.
    pub version: semver::Version,
    /// Required modules, each with the accepted versions. The entries are derived from `package.toml` and from the type names in the
    /// source.
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// Number of source files.
    pub files: usize,
    /// Declarations of the package. For an invalid package, contains the errors. Each paragraph contains one error, with file, line and
    /// source.
    pub declared: Result<Declared, String>,
    /// Warnings, one paragraph each. Empty if the package has no warnings.
    pub warnings: String,
}

/// Public form of a declaration, converted from the internal type `D`.
trait Form<D> {
    fn of(found: D) -> Self;
}

fn all<D, F: Form<D>>(found: Vec<D>) -> Vec<F> {
    found.into_iter().map(F::of).collect()
}

/// Defines the public structs. Each line defines one field, with its type and its conversion.
macro_rules! forms {
    ($($(#[$docs:meta])* $form:ident of $found:ident: $decl:ty {
        $($(#[$member:meta])* $field:ident: $ty:ty = $value:expr,)*
    })*) => {$(
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[non_exhaustive]
        pub struct $form {
            $($(#[$member])* pub $field: $ty,)*
        }

        impl Form<$decl> for $form {
            fn of($found: $decl) -> Self {
                Self { $($field: $value,)* }
            }
        }
    )*};
}
forms! {
    /// A class.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object").doc("A light source.");
    /// let declared = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).declared()?;
    /// let lamp = declared.classes.iter().find(|class| class.path == "/Script/Game.Lamp").unwrap();
    /// assert_eq!((&*lamp.base, &*lamp.doc), ("/Script/Core.Object", "A light source."));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredClass of found: ClassDecl {
        /// Path, such as `/Script/Game.Cube`.
        path: String = found.path(),
        /// Path of the base class.
        base: String = found.base,
        /// Keywords of the flags, such as `blueprintable`, `blueprint_type`.
        flags: Vec<String> = flags::words(class_flags::WORDS, found.flags),
        /// Properties that the class itself declares, in the order of the declaration.
        properties: Vec<DeclaredProperty> = all(found.properties),
        /// Functions that the class itself declares, in the order of the declaration. Conversions (`#[migrate]`) are omitted.
        functions: Vec<DeclaredFunction> = all(without_conversions(found.functions)),
        /// Paths of the interfaces that this class implements. Interfaces of the base classes are omitted.
        implements: Vec<String> = found.interfaces,
        /// Doc comment of the class.
        doc: String = found.doc,
    }

    /// A property, a field or a parameter.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let mut lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
    /// let _gain = lamp.add_property::<f64>("gain", 0, "2.5");
    /// let declared = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).declared()?;
    /// let lamp = declared.classes.iter().find(|class| class.path == "/Script/Game.Lamp").unwrap();
    /// let gain = &lamp.properties[0];
    /// assert_eq!((&*gain.name, &*gain.ty, &*gain.default), ("gain", "f64", "2.5"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredProperty of found: PropertyDecl {
        /// Name of the property, field or parameter.
        name: String = found.name,
        /// Type as written in signatures, such as `f64`, `Object(/Script/Game.Cube)` or `Map(Name, u8)`.
        #[serde(rename = "type")]
        ty: String = flags::type_text(found.kind, &found.type_path),
        /// Keywords of the flags.
        flags: Vec<String> = flags::words(property_flags::WORDS, found.flags),
        /// Default value in the text form of the type. Empty if the default is the zero value of the type.
        default: String = found.default,
        /// Metadata of the property, by key.
        meta: BTreeMap<String, String> = found.meta.into_iter().collect(),
        /// Doc comment of the property, field or parameter.
        doc: String = found.doc,
    }

    /// A function of a class or an interface.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::native::{NativeClass, Natives};
    ///
    /// let mut lamp = NativeClass::new("Game", "Lamp", "/Script/Core.Object");
    /// let _dimmed = lamp.add_function("dimmed", &["gain"], 0, |_world, _lamp, (gain,): (f64,)| Ok(gain * 0.5));
    /// let declared = Runtime::builder().natives(Natives::in_package("Game").class(lamp)).declared()?;
    /// let lamp = declared.classes.iter().find(|class| class.path == "/Script/Game.Lamp").unwrap();
    /// let dimmed = &lamp.functions[0];
    /// assert_eq!((&*dimmed.name, &*dimmed.params[0].name), ("dimmed", "gain"));
    /// assert_eq!(dimmed.result.as_deref(), Some("f64"));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredFunction of found: FunctionDecl {
        /// Name of the function.
        name: String = found.name,
        /// Keywords of the flags.
        flags: Vec<String> = flags::words(function_flags::WORDS, found.flags),
        /// Path of the class whose event this function overrides. Empty if the function overrides no event.
        overrides: String = found.overrides,
        /// Parameters of the function.
        params: Vec<DeclaredProperty> = arguments(&found.params),
        /// Result type.
        result: Option<String> = result(&found.params),
        /// Metadata of the function, by key.
        meta: BTreeMap<String, String> = found.meta.into_iter().collect(),
        /// Doc comment of the function.
        doc: String = found.doc,
    }

    /// An enum.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeEnum, Natives};
    ///
    /// let mood = NativeEnum::new("Game", "Mood", PropertyKind::U8).entry("Calm", 0).entry("Angry", 1);
    /// let declared = Runtime::builder().natives(Natives::in_package("Game").enumeration(mood)).declared()?;
    /// let mood = &declared.enums[0];
    /// assert_eq!((&*mood.path, mood.entries.len(), mood.is_flags), ("/Script/Game.Mood", 2, false));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredEnum of found: EnumDecl {
        /// Path of the enum.
        path: String = found.path(),
        /// Integer type of the entries: `u8` to `u64`, `i8` to `i64`.
        underlying: String = flags::type_text(found.underlying, ""),
        /// True if the enum is a set of flags, with one bit per entry.
        is_flags: bool = found.is_flags,
        /// Entries, in the order of the declaration.
        entries: Vec<DeclaredEntry> = all(found.entries),
        /// Doc comment of the enum.
        doc: String = found.doc,
    }

    /// An entry of an enum.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeEnum, Natives};
    ///
    /// let mood = NativeEnum::new("Game", "Mood", PropertyKind::U8).entry("Calm", 0).entry("Angry", 1);
    /// let declared = Runtime::builder().natives(Natives::in_package("Game").enumeration(mood)).declared()?;
    /// let mood = &declared.enums[0];
    /// assert_eq!(mood.entries.iter().find(|entry| entry.number == 1).unwrap().name, "Angry");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredEntry of found: EnumEntry {
        /// Name of the entry.
        name: String = found.name.to_string(),
        /// Discriminant of the entry.
        number: i128 = found.number,
        /// Display name. Empty if the display name is derived from the name of the entry.
        display: String = found.display.to_string(),
        /// True if editors hide the entry.
        is_hidden: bool = found.is_hidden,
        /// Doc comment of the entry.
        doc: String = found.doc.to_string(),
    }

    /// A named delegate.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeDelegate, Natives};
    ///
    /// let on_hit = NativeDelegate::multicast("Game", "OnHit").param("damage", (PropertyKind::U32, ""));
    /// let runtime = Runtime::builder().natives(Natives::in_package("Game").delegate(on_hit)).build()?;
    /// let on_hit = runtime.types().delegate("/Script/Game.OnHit").unwrap();
    /// assert_eq!((&*on_hit.params[0].ty, on_hit.result), ("u32", None));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredDelegate of found: DelegateDecl {
        /// Path: `/Script/Game.OnScored`, or `/Script/Game.Cube:OnScored` for a delegate of a class.
        path: String = found.path(),
        /// Kind of the delegate: `single`, `multicast` or `sparse`.
        #[serde(rename = "sort")]
        kind: String = flags::of_delegate(found.kind),
        /// Parameters of the delegate.
        params: Vec<DeclaredProperty> = arguments(&found.params),
        /// Result type.
        result: Option<String> = result(&found.params),
        /// Doc comment of the delegate.
        doc: String = found.doc,
    }

    /// A struct.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeStruct, Natives};
    ///
    /// let spot = NativeStruct::new("Game", "Spot").field("x", (PropertyKind::F64, "")).field("y", (PropertyKind::F64, ""));
    /// let declared = Runtime::builder().natives(Natives::in_package("Game").structure(spot)).declared()?;
    /// let spot = declared.structs.iter().find(|found| found.path == "/Script/Game.Spot").unwrap();
    /// assert_eq!((spot.size, spot.fields.len()), (16, 2));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredStruct of found: StructDecl {
        /// Path of the struct.
        path: String = found.path(),
        /// Path of the base struct, whose fields precede the fields of this struct. Empty if the struct has no base.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        base: String = found.base,
        /// Size of the struct in bytes.
        size: u32 = found.size,
        /// Alignment of the struct in bytes.
        align: u32 = found.align,
        /// Fields that the struct itself declares, in order of declaration.
        fields: Vec<DeclaredProperty> = all(found.fields),
        /// Doc comment of the struct.
        doc: String = found.doc,
    }

    /// An interface.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::kinds::PropertyKind;
    /// use alcedo_runtime::native::{NativeInterface, Natives};
    ///
    /// let hums = NativeInterface::new("Game", "Hums").function("hum", &[("times", (PropertyKind::U32, ""))], None);
    /// let natives = Natives::in_package("Game").interface_with_functions(hums);
    /// let declared = Runtime::builder().natives(natives).declared()?;
    /// assert_eq!(declared.interfaces[0].functions[0].name, "hum");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    DeclaredInterface of found: InterfaceDecl {
        /// Path of the interface.
        path: String = found.path(),
        /// Functions of the interface.
        functions: Vec<DeclaredFunction> = all(found.functions),
        /// Doc comment of the interface.
        doc: String = found.doc,
    }
}

/// Removes conversion functions (`#[migrate]`). Only the host calls these functions, during a reload.
fn without_conversions(mut functions: Vec<FunctionDecl>) -> Vec<FunctionDecl> {
    functions.retain(|function| value_of(&function.meta, CONVERTS).is_none());
    functions
}

fn is_result(param: &PropertyDecl) -> bool {
    param.flags & property_flags::RETURN != 0
}

fn arguments(params: &[PropertyDecl]) -> Vec<DeclaredProperty> {
    params.iter().filter(|param| !is_result(param)).cloned().map(Form::of).collect()
}

/// Returns the type of the result.
fn result(params: &[PropertyDecl]) -> Option<String> {
    params.iter().find(|param| is_result(param)).map(|result| flags::type_text(result.kind, &result.type_path))
}

/// A function that is callable by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredExport {
    /// Name of the function: `ex:/name`, or `nm:/module:type:name`.
    pub name: String,
    /// Signature, such as `u32, String -> bool`.
    pub signature: String,
}

/// An import of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredImport {
    /// Path of a type, or of a member after a colon, such as `Type:member`.
    pub path: String,
    /// Kind of the import: `class`, `property`, `function`, `function_final`, `struct`, `enum`, `delegate` or `interface`.
    pub kind: String,
}

/// Declarations of a module or a host, in the internal types of the host.
pub(crate) struct Declarations {
    /// Types, sorted by path.
    pub(crate) batch: Batch,
    exports: Vec<DeclaredExport>,
    imports: Vec<DeclaredImport>,
}

impl Declarations {
    /// Creates the declarations with sorted lists, as the docs of [`Declared`] promise. The linker changes the order of the lists.
    fn new(
        module: &str,
        mut batch: Batch,
        exports: Vec<(String, String, String)>,
        imports: Vec<(String, ImportKind)>,
    ) -> Self {
        batch.interfaces.sort_by_cached_key(InterfaceDecl::path);
        batch.enums.sort_by_cached_key(EnumDecl::path);
        batch.delegates.sort_by_cached_key(DelegateDecl::path);
        batch.structs.sort_by_cached_key(StructDecl::path);
        batch.classes.sort_by_cached_key(ClassDecl::path);
        batch.earlier_names.sort();
        let export = |(of, name, signature): (String, String, String)| DeclaredExport {
            name: export_name(module, &of, &name),
            signature,
        };
        let mut exports: Vec<_> = exports.into_iter().map(export).collect();
        exports.sort();
        let import = |(path, kind)| DeclaredImport { path, kind: flags::of_import(kind) };
        let mut imports: Vec<_> = imports.into_iter().map(import).collect();
        imports.sort();
        imports.dedup();
        Self { batch, exports, imports }
    }

    /// Converts the declarations to the public structs.
    pub(crate) fn declared(self) -> Declared {
        let Batch { interfaces, enums, delegates, structs, classes, earlier_names } = self.batch;
        Declared {
            classes: all(classes),
            enums: all(enums),
            delegates: all(delegates),
            structs: all(structs),
            interfaces: all(interfaces),
            exports: self.exports,
            imports: self.imports,
            earlier_names: earlier_names.into_iter().collect(),
        }
    }
}
