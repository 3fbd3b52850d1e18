//! What a module declares, as plain data for tools: read from a file that is not mapped, or from a module that is loaded. Both
//! say the same. And what a host declares itself, from its registry.

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

/// What a module or a host declares: types, functions by name, and what it uses of others. Plain data; any thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Declared {
    /// Its classes, in order of their paths.
    pub classes: Vec<DeclaredClass>,
    /// Its enums, in order of their paths.
    #[serde(default)]
    pub enums: Vec<DeclaredEnum>,
    /// Its delegates that have a name, in order of their paths.
    #[serde(default)]
    pub delegates: Vec<DeclaredDelegate>,
    /// Its structs, in order of their paths.
    pub structs: Vec<DeclaredStruct>,
    /// Its interfaces, in order of their paths.
    pub interfaces: Vec<DeclaredInterface>,
    /// The functions that it offers by name, in order of their names.
    pub exports: Vec<DeclaredExport>,
    /// What it uses of the host and of other modules, in order of paths. Its own members are among them.
    pub imports: Vec<DeclaredImport>,
}

/// What is found in a package of scripts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScriptCheck {
    /// Its folder.
    pub folder: std::path::PathBuf,
    /// Its name: that of the folder.
    pub package: String,
    /// Its version: 0.0.0 where its `package.toml` says none.
    pub version: semver::Version,
    /// The modules that it needs, by its `package.toml` or by the types that its text names, and in which versions.
    pub dependencies: Vec<(String, semver::VersionReq)>,
    /// How many files it has.
    pub files: usize,
    /// What it declares, or what is wrong with it: a paragraph for each mistake, with file, line and the text there.
    pub declared: Result<Declared, String>,
    /// What is probably not meant as it is written, a paragraph each; empty where there is nothing.
    pub warnings: String,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredClass {
    /// Its path: `/Script/Game.Cube`.
    pub path: String,
    /// The path of the class that it extends.
    pub base: String,
    /// The words of its flags: `blueprintable`, `blueprint_type`.
    pub flags: Vec<String>,
    /// Its own properties, in the order of the declaration.
    pub properties: Vec<DeclaredProperty>,
    /// Its own functions, in the order of the declaration.
    pub functions: Vec<DeclaredFunction>,
    /// Paths of the interfaces it implements beside those of its bases.
    pub implements: Vec<String>,
    /// The doc comment.
    pub doc: String,
}

/// A property, a field or a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredProperty {
    /// Its name.
    pub name: String,
    /// Its type as signatures write it: `f64`, `Object(/Script/Game.Cube)`, `Map(Name, u8)`.
    #[serde(rename = "type")]
    pub ty: String,
    /// The words of its flags.
    pub flags: Vec<String>,
    /// Its default in the text form of the type; empty for the zero of the type.
    pub default: String,
    /// What else is said of it, by key.
    pub meta: BTreeMap<String, String>,
    /// The doc comment.
    pub doc: String,
}

/// A function of a class or an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredFunction {
    /// Its name.
    pub name: String,
    /// The words of its flags.
    pub flags: Vec<String>,
    /// The path of the class whose event it overrides; empty for one of its own.
    pub overrides: String,
    /// What it takes.
    pub params: Vec<DeclaredProperty>,
    /// The type of what it gives.
    pub result: Option<String>,
    /// What else is said of it, by key.
    pub meta: BTreeMap<String, String>,
    /// The doc comment.
    pub doc: String,
}

/// An enum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredEnum {
    /// Its path.
    pub path: String,
    /// The type of its numbers: `u8` to `u64`, `i8` to `i64`.
    pub underlying: String,
    /// Whether a value is a set of entries, each a bit.
    pub is_flags: bool,
    /// Its entries in the order of the declaration.
    pub entries: Vec<DeclaredEntry>,
    /// The doc comment.
    pub doc: String,
}

/// An entry of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredEntry {
    /// Its name.
    pub name: String,
    /// Its number.
    pub number: i128,
    /// Its name as people read it; empty where that follows from the name.
    pub display: String,
    /// Whether editors leave it out.
    pub is_hidden: bool,
    /// The doc comment.
    pub doc: String,
}

/// A delegate that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredDelegate {
    /// Its path: `/Script/Game.OnScored`, or `/Script/Game.Cube:OnScored` for one that belongs to a class.
    pub path: String,
    /// How many functions it calls: `single`, `multicast` or `sparse`.
    pub sort: String,
    /// What it takes.
    pub params: Vec<DeclaredProperty>,
    /// The type of what it gives.
    pub result: Option<String>,
    /// The doc comment.
    pub doc: String,
}

/// A struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredStruct {
    /// Its path.
    pub path: String,
    /// That of the struct that it extends, whose fields it has first; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub base: String,
    /// Bytes of a value.
    pub size: u32,
    /// Alignment of a value in bytes.
    pub align: u32,
    /// Its own fields in order.
    pub fields: Vec<DeclaredProperty>,
    /// The doc comment.
    pub doc: String,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredInterface {
    /// Its path.
    pub path: String,
    /// Its functions.
    pub functions: Vec<DeclaredFunction>,
    /// The doc comment.
    pub doc: String,
}

/// A function that is called by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredExport {
    /// `ex:/name`, or `nm:/module:type:name`.
    pub name: String,
    /// What it takes and gives: `u32, String -> bool`.
    pub signature: String,
}

/// What a module uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeclaredImport {
    /// Its path: that of a type, or of a member behind a colon.
    pub path: String,
    /// What it is: `class`, `property`, `function`, `function_final`, `struct`, `enum`, `delegate` or `interface`.
    pub kind: String,
}

/// Declarations of a module or a host, before they are put into words.
pub(crate) struct Declarations {
    /// Types in order of their paths.
    pub(crate) batch: Batch,
    exports: Vec<DeclaredExport>,
    imports: Vec<DeclaredImport>,
}

impl Declarations {
    /// Sorts all parts: the docs promise the order, and the linker keeps none.
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
    let (path, sort) = (found.path(), flags::of_delegate(found.kind));
    let (params, result) = params(found.params);
    DeclaredDelegate { path, sort, params, result, doc: found.doc }
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
