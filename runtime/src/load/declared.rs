//! Declarations of a module as plain data for tools, read from a file that is not mapped or from a loaded module, with equal
//! results; and declarations of a host, read from its registry.

mod file;
mod flags;
mod loaded;
mod natives;

use std::collections::BTreeMap;

use alcedo_abi::describe::ImportKind;
use alcedo_abi::kinds::property_flags;
use serde::{Deserialize, Serialize};

use crate::bridge::exports::export_name;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl,
};
use crate::object::enums::EnumEntry;

pub(crate) use file::of_file;
pub(crate) use loaded::of_loaded;
#[cfg(feature = "script")]
pub(crate) use natives::of_package;
pub(crate) use natives::{of_delegate, of_natives};

/// Declarations of a module or a host: types, functions by name, and imports. Plain data; any thread.
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
    /// Types and members used of the host and of other modules, sorted by path. Members of the module itself are included.
    pub imports: Vec<DeclaredImport>,
}

/// Result of checking a package of scripts.
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
    /// Version; 0.0.0 if `package.toml` has none.
    pub version: semver::Version,
    /// Required modules and versions, from `package.toml` and from the types that the source names.
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// Number of source files.
    pub files: usize,
    /// Declarations, or errors: one paragraph per error, with file, line and source.
    pub declared: Result<Declared, String>,
    /// Warnings, one paragraph each; empty if there are none.
    pub warnings: String,
}

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredClass {
    /// Path, such as `/Script/Game.Cube`.
    pub path: String,
    /// Path of the base class.
    pub base: String,
    /// Keywords of the flags, such as `blueprintable`, `blueprint_type`.
    pub flags: Vec<String>,
    /// Own properties, in the order of the declaration.
    pub properties: Vec<DeclaredProperty>,
    /// Own functions, in the order of the declaration.
    pub functions: Vec<DeclaredFunction>,
    /// Paths of the implemented interfaces, without those of the bases.
    pub implements: Vec<String>,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredProperty {
    /// Name.
    pub name: String,
    /// Type as written in signatures: `f64`, `Object(/Script/Game.Cube)`, `Map(Name, u8)`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Keywords of the flags.
    pub flags: Vec<String>,
    /// Default in the text form of the type; empty for the zero value of the type.
    pub default: String,
    /// Other metadata, by key.
    pub meta: BTreeMap<String, String>,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredFunction {
    /// Name.
    pub name: String,
    /// Keywords of the flags.
    pub flags: Vec<String>,
    /// Path of the class whose event is overridden; empty if the function overrides none.
    pub overrides: String,
    /// Parameters.
    pub params: Vec<DeclaredProperty>,
    /// Result type.
    pub result: Option<String>,
    /// Other metadata, by key.
    pub meta: BTreeMap<String, String>,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredEnum {
    /// Path.
    pub path: String,
    /// Integer type of the entries: `u8` to `u64`, `i8` to `i64`.
    pub underlying: String,
    /// True if a value is a set of entries, one bit each.
    pub is_flags: bool,
    /// Entries, in the order of the declaration.
    pub entries: Vec<DeclaredEntry>,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredEntry {
    /// Name.
    pub name: String,
    /// Number.
    pub number: i128,
    /// Display name; empty if it follows from the name.
    pub display: String,
    /// True if editors hide the entry.
    pub is_hidden: bool,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredDelegate {
    /// Path: `/Script/Game.OnScored`, or `/Script/Game.Cube:OnScored` for a delegate of a class.
    pub path: String,
    /// Number of bound functions: `single`, `multicast` or `sparse`.
    #[serde(rename = "sort")]
    pub kind: String,
    /// Parameters.
    pub params: Vec<DeclaredProperty>,
    /// Result type.
    pub result: Option<String>,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredStruct {
    /// Path.
    pub path: String,
    /// Path of the base struct, whose fields come first; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base: String,
    /// Size of a value in bytes.
    pub size: u32,
    /// Alignment of a value in bytes.
    pub align: u32,
    /// Own fields, in order.
    pub fields: Vec<DeclaredProperty>,
    /// Doc comment.
    pub doc: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredInterface {
    /// Path.
    pub path: String,
    /// Functions.
    pub functions: Vec<DeclaredFunction>,
    /// Doc comment.
    pub doc: String,
}

/// A function that is callable by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredExport {
    /// `ex:/name`, or `nm:/module:type:name`.
    pub name: String,
    /// Signature, such as `u32, String -> bool`.
    pub signature: String,
}

/// An import of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredImport {
    /// Path of a type, or of a member after a colon.
    pub path: String,
    /// Kind: `class`, `property`, `function`, `function_final`, `struct`, `enum`, `delegate` or `interface`.
    pub kind: String,
}

/// Declarations of a module or a host, before conversion into keywords.
pub(crate) struct Declarations {
    /// Types, sorted by path.
    pub(crate) batch: Batch,
    exports: Vec<DeclaredExport>,
    imports: Vec<DeclaredImport>,
}

impl Declarations {
    /// Sorts all parts: the public docs promise the order, and the linker keeps none.
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

    /// Converts the declarations into the form for tools.
    pub(crate) fn declared(self) -> Declared {
        let Batch { interfaces, enums, delegates, structs, classes, .. } = self.batch;
        Declared {
            classes: classes.into_iter().map(class).collect(),
            enums: enums.into_iter().map(enumeration).collect(),
            delegates: delegates.into_iter().map(delegate).collect(),
            structs: structs.into_iter().map(structure).collect(),
            interfaces: interfaces.into_iter().map(interface).collect(),
            exports: self.exports,
            imports: self.imports,
        }
    }
}

fn class(found: ClassDecl) -> DeclaredClass {
    DeclaredClass {
        path: found.path(),
        base: found.base,
        flags: flags::words(flags::OF_CLASSES, found.flags),
        properties: found.properties.into_iter().map(property).collect(),
        functions: found.functions.into_iter().map(function).collect(),
        implements: found.interfaces,
        doc: found.doc,
    }
}

fn enumeration(found: EnumDecl) -> DeclaredEnum {
    let entry = |found: EnumEntry| DeclaredEntry {
        name: found.name.to_string(),
        number: found.number,
        display: found.display.to_string(),
        is_hidden: found.is_hidden,
        doc: found.doc.to_string(),
    };
    DeclaredEnum {
        path: found.path(),
        underlying: flags::type_text(found.underlying, ""),
        is_flags: found.is_flags,
        entries: found.entries.into_iter().map(entry).collect(),
        doc: found.doc,
    }
}

fn delegate(found: DelegateDecl) -> DeclaredDelegate {
    let (path, kind) = (found.path(), flags::of_delegate(found.kind));
    let (params, result) = params(found.params);
    DeclaredDelegate { path, kind, params, result, doc: found.doc }
}

fn structure(found: StructDecl) -> DeclaredStruct {
    DeclaredStruct {
        path: found.path(),
        base: found.base,
        size: found.size,
        align: found.align,
        fields: found.fields.into_iter().map(property).collect(),
        doc: found.doc,
    }
}

fn interface(found: InterfaceDecl) -> DeclaredInterface {
    DeclaredInterface {
        path: found.path(),
        functions: found.functions.into_iter().map(function).collect(),
        doc: found.doc,
    }
}

fn function(found: FunctionDecl) -> DeclaredFunction {
    let (params, result) = params(found.params);
    DeclaredFunction {
        name: found.name,
        flags: flags::words(flags::OF_FUNCTIONS, found.flags),
        overrides: found.overrides,
        params,
        result,
        meta: found.meta.into_iter().collect(),
        doc: found.doc,
    }
}

/// Separates parameters and the type of the result.
fn params(found: Vec<PropertyDecl>) -> (Vec<DeclaredProperty>, Option<String>) {
    let is_result = |param: &PropertyDecl| param.flags & property_flags::RETURN != 0;
    let (results, params): (Vec<_>, Vec<_>) = found.into_iter().partition(is_result);
    let result = results.first().map(|result| flags::type_text(result.kind, &result.type_path));
    (params.into_iter().map(property).collect(), result)
}

fn property(found: PropertyDecl) -> DeclaredProperty {
    DeclaredProperty {
        name: found.name,
        ty: flags::type_text(found.kind, &found.type_path),
        flags: flags::words(flags::OF_PROPERTIES, found.flags),
        default: found.default,
        meta: found.meta.into_iter().collect(),
        doc: found.doc,
    }
}
