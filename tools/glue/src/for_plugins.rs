//! Generates the source for plugins from the declarations of a host or a module. The output is sorted by path, and is identical on every
//! machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use alcedo_reflect::type_text::TypeText;
use alcedo_runtime::kinds::PropertyKind;
use alcedo_runtime::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEnum, DeclaredFunction, DeclaredInterface, DeclaredProperty,
    DeclaredStruct,
};

use crate::error::GlueError;
use crate::text::{block, doc, head, identifier, is_name, member, own_name, parts};
use crate::types::Names;
use crate::{Glue, Origin, type_paths};

/// Returns the part of the glue's header that lists the selected packages. Returns an empty string if all packages are selected.
pub(crate) fn packages(glue: &Glue) -> String {
    let packages: Vec<_> = glue.only.iter().map(|package| format!("`{package}`")).collect();
    if packages.is_empty() { String::new() } else { format!(" in package {}", packages.join(" and ")) }
}

/// Start of the header line that lists the Rust paths of other packages.
pub(crate) const ELSEWHERE: &str = "// Types of other packages: ";

/// Returns the line of the glue's header with the Rust paths of other packages. Returns an empty string if the source has none.
pub(crate) fn other_packages(glue: &Glue) -> String {
    let packages: Vec<_> = glue.elsewhere.iter().map(|(package, module)| format!("{package}={module}")).collect();
    if packages.is_empty() { String::new() } else { format!("{ELSEWHERE}{}\n", packages.join(", ")) }
}

pub(crate) fn source(glue: &Glue, origin: &Origin, declared: &Declared) -> Result<String, GlueError> {
    let names = Names { own: own(glue, declared)?, elsewhere: &glue.elsewhere };
    let sort = origin.sort();
    let packages = packages(glue);
    let mut text = format!(
        "// Declarations of {origin}{packages} for plugins, written by `alcedo glue`.\n\
         // Run it again after a change of the {sort}. Each load of a plugin compares every type, member and signature here with the {sort}.\n{others}\n\
         use alcedo_plugin_api::prelude::*;\n",
        others = other_packages(glue)
    );
    for found in declared.enums.iter().filter(|found| glue.writes(&found.path)) {
        enumeration(&mut text, found, "imported, ");
    }
    for found in declared.delegates.iter().filter(|found| glue.writes(&found.path)) {
        delegate(&mut text, &names, found)?;
    }
    for found in declared.structs.iter().filter(|found| glue.writes(&found.path)) {
        structure(&mut text, &names, found, declared)?;
    }
    for found in declared.interfaces.iter().filter(|found| glue.writes(&found.path)) {
        interface(&mut text, &names, found, declared)?;
    }
    let classes: Vec<_> = declared.classes.iter().filter(|found| glue.writes(&found.path)).collect();
    for found in bases_first(classes) {
        class(&mut text, &names, found, declared)?;
    }
    Ok(text)
}

/// Returns `true` if generated sources or their macros use this name without a path, so that a type with this name would shadow the used
/// item.
fn is_written_with(name: &str) -> bool {
    let mut types = PropertyKind::ALL.iter().filter_map(|kind| kind.plugin_type());
    ["Box", "CallError", "HashMap", "HashSet", "Option", "Result", "Vec"].contains(&name) || types.any(|ty| ty == name)
}

/// Returns the paths of the types that the generated source will contain, by name. Fails if two types have the same name.
pub(crate) fn own<'a>(glue: &Glue, declared: &'a Declared) -> Result<BTreeMap<&'a str, &'a str>, GlueError> {
    check_names(declared)?;
    let mut own = BTreeMap::new();
    for path in type_paths(declared).filter(|path| glue.writes(path)) {
        let ((package, _), name) = (parts(path), own_name(path));
        if is_written_with(name) {
            return Err(GlueError::Hides { name: name.to_owned(), path: path.to_owned() });
        }
        if let Some(first) = own.insert(name, path) {
            let (first, second) = (first.to_owned(), path.to_owned());
            return Err(GlueError::Twice { name: name.to_owned(), first, second, package: package.to_owned() });
        }
    }
    let is_there = |package: &&String| type_paths(declared).any(|path| parts(path).0 == **package);
    match glue.only.iter().find(|package| !is_there(package)) {
        None => Ok(own),
        Some(package) => {
            let mut found: Vec<_> = type_paths(declared).map(|path| format!("`{}`", parts(path).0)).collect();
            found.sort();
            found.dedup();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
            Err(GlueError::NoSuchPackage { package: package.clone(), found })
        }
    }
}

/// Checks that all names are valid Rust identifiers, because declarations are read from a library file, which may contain arbitrary bytes.
fn check_names(declared: &Declared) -> Result<(), GlueError> {
    let check = |owner: &str, name: &str| match is_name(name) {
        true => Ok(()),
        false => Err(GlueError::Name { owner: owner.to_owned(), name: name.to_owned() }),
    };
    let path = |path: &str| {
        let (package, name) = parts(path);
        check(path, package)?;
        check(path, name)
    };
    let members =
        |owner: &str, members: &[DeclaredProperty]| members.iter().try_for_each(|member| check(owner, &member.name));
    let functions = |owner: &str, functions: &[DeclaredFunction]| {
        functions.iter().try_for_each(|function| {
            check(owner, &function.name)?;
            members(owner, &function.params)
        })
    };
    for found in &declared.classes {
        path(&found.path)?;
        path(&found.base)?;
        members(&found.path, &found.properties)?;
        functions(&found.path, &found.functions)?;
    }
    for found in &declared.enums {
        path(&found.path)?;
        found.entries.iter().try_for_each(|entry| check(&found.path, &entry.name))?;
    }
    for found in &declared.delegates {
        match found.path.split_once(':') {
            None => path(&found.path)?,
            Some((class, name)) => {
                path(class)?;
                check(&found.path, name)?;
            }
        }
        check(&found.path, &found.kind)?;
        members(&found.path, &found.params)?;
    }
    for found in &declared.structs {
        path(&found.path)?;
        if !found.base.is_empty() {
            path(&found.base)?;
        }
        members(&found.path, &found.fields)?;
    }
    declared.interfaces.iter().try_for_each(|found| {
        path(&found.path)?;
        functions(&found.path, &found.functions)
    })
}

/// Specifiers of events, spelled like the function flags in reflection.
const EVENTS: [&str; 2] = ["blueprint_native_event", "blueprint_implementable_event"];

/// Sorts classes for readability: each class follows its base.
pub(crate) fn bases_first(mut left: Vec<&DeclaredClass>) -> Vec<&DeclaredClass> {
    let mut sorted: Vec<&DeclaredClass> = Vec::new();
    while !left.is_empty() {
        let waits = |class: &&DeclaredClass| left.iter().any(|other| other.path == class.base);
        let (waiting, ready): (Vec<_>, Vec<_>) = left.iter().copied().partition(waits);
        if ready.is_empty() {
            // Reached if the remaining bases form a cycle, which the host reports when it loads the module.
            sorted.extend(waiting);
            break;
        }
        sorted.extend(ready);
        left = waiting;
    }
    sorted
}

/// Writes an enum. `imported` is empty or the specifier `imported`. With this specifier, the host compares the enum with its own
/// declaration when it loads the plugin.
pub(crate) fn enumeration(text: &mut String, found: &DeclaredEnum, imported: &str) {
    let (package, name) = parts(&found.path);
    doc(text, "", &found.doc);
    let flags = if found.is_flags { ", flags" } else { "" };
    let _ = writeln!(text, "#[uenum({imported}package = {package:?}{flags})]");
    let _ = writeln!(text, "#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]");
    let is_usual = |name: &str| name.starts_with(char::is_uppercase) && !name.contains('_');
    if !found.entries.iter().all(|entry| is_usual(&entry.name)) {
        let reason = "the entries are declared with these names";
        let _ = writeln!(text, "#[allow(non_camel_case_types, reason = {reason:?})]");
    }
    let _ = writeln!(text, "#[repr({})]\npub enum {name} {{", found.underlying);
    for entry in &found.entries {
        doc(text, "    ", &entry.doc);
        if entry.number == 0 && !found.is_flags {
            let _ = writeln!(text, "    #[default]");
        }
        let _ = writeln!(text, "    {} = {},", identifier(&entry.name), entry.number);
    }
    let _ = writeln!(text, "}}");
}

fn delegate(text: &mut String, names: &Names<'_>, found: &DeclaredDelegate) -> Result<(), GlueError> {
    let of = |text: &str| names.of(&member(&found.path, "fn"), text);
    let class = found.path.split_once(':').map(|(class, _)| names.path(&found.path, class)).transpose()?;
    let params = found.params.iter().map(|param| Ok(format!("{}: {}", identifier(&param.name), of(&param.ty)?)));
    let params = params.collect::<Result<Vec<_>, GlueError>>()?;
    delegate_type(text, found, "imported, ", class, &params, found.result.as_deref().map(of).transpose()?);
    Ok(())
}

/// Writes the Rust type of a delegate that a package or a class declares, with the specified parameters and result.
pub(crate) fn delegate_type(
    text: &mut String,
    found: &DeclaredDelegate,
    imported: &str,
    class: Option<String>,
    params: &[String],
    result: Option<String>,
) {
    let owner = class.map_or_else(|| format!("package = {:?}", parts(&found.path).0), |class| format!("of = {class}"));
    doc(text, "", &found.doc);
    let _ = writeln!(text, "#[udelegate({imported}{}, {owner})]", found.kind);
    let result = result.map(|result| format!(" -> {result}")).unwrap_or_default();
    let before = format!("pub type {} = fn", identifier(own_name(&found.path)));
    let _ = writeln!(text, "{}", head("", &before, params, &format!("{result};")));
}

fn structure(
    text: &mut String,
    names: &Names<'_>,
    found: &DeclaredStruct,
    declared: &Declared,
) -> Result<(), GlueError> {
    let (package, name) = parts(&found.path);
    let is_pod = is_plain(found, declared, &mut Vec::new());
    doc(text, "", &found.doc);
    let sort = if is_pod { "pod, imported" } else { "imported" };
    let base = match found.base.as_str() {
        "" => String::new(),
        base => format!(", base = {}", names.of(&found.path, base)?),
    };
    let _ = writeln!(text, "#[ustruct({sort}, package = {package:?}{base})]");
    if is_pod {
        let _ = writeln!(text, "#[derive(Debug, Default, PartialEq)]");
    }
    if is_pod && found.fields.iter().any(|field| field.name.contains(char::is_uppercase)) {
        let _ = writeln!(text, "#[allow(non_snake_case, reason = \"the fields are declared with these names\")]");
    }
    let _ = writeln!(text, "pub struct {name} {{");
    for field in &found.fields {
        doc(text, "    ", &field.doc);
        let ty = names.of(&member(&found.path, &field.name), &field.ty)?;
        let _ = writeln!(text, "    {}{}: {ty},", if is_pod { "pub " } else { "" }, identifier(&field.name));
    }
    let _ = writeln!(text, "}}");
    Ok(())
}

/// Returns `true` if a struct is passed by value. A struct of this kind has no base, and all its fields have plain types.
fn is_plain<'a>(found: &'a DeclaredStruct, declared: &'a Declared, within: &mut Vec<&'a str>) -> bool {
    if within.contains(&found.path.as_str()) {
        return false;
    }
    within.push(&found.path);
    let is_plain_field =
        |field: &DeclaredProperty| field.ty.parse::<TypeText>().is_ok_and(|ty| is_plain_type(&ty, declared, within));
    let all = found.base.is_empty() && found.fields.iter().all(is_plain_field);
    within.pop();
    all
}

/// Returns `true` for numbers, `bool`, names, enums, object references and structs that are passed by value. A struct without a declaration
/// in `declared` is assumed to be such a struct.
fn is_plain_type<'a>(ty: &TypeText, declared: &'a Declared, within: &mut Vec<&'a str>) -> bool {
    match ty {
        TypeText::Struct(path) => {
            let found = declared.structs.iter().find(|found| found.path == *path);
            found.is_none_or(|found| is_plain(found, declared, within))
        }
        TypeText::Plain(kind) => kind.is_number() || matches!(*kind, PropertyKind::BOOL | PropertyKind::NAME),
        TypeText::Reference(kind, _) => matches!(*kind, PropertyKind::OBJECT | PropertyKind::ENUM),
        TypeText::Container(..) | TypeText::Delegate(..) => false,
    }
}

fn interface(
    text: &mut String,
    names: &Names<'_>,
    found: &DeclaredInterface,
    declared: &Declared,
) -> Result<(), GlueError> {
    let (package, name) = parts(&found.path);
    doc(text, "", &found.doc);
    let _ = writeln!(text, "#[uinterface(imported, package = {package:?})]");
    let mut inside = String::new();
    for function in &found.functions {
        doc(&mut inside, "    ", &function.doc);
        let _ = writeln!(inside, "{}", declaration(names, &found.path, function, declared)?);
    }
    block(text, "", &format!("pub trait {name}"), &inside);
    Ok(())
}

fn class(text: &mut String, names: &Names<'_>, found: &DeclaredClass, declared: &Declared) -> Result<(), GlueError> {
    let (package, name) = parts(&found.path);
    let base = names.path(&found.path, &found.base)?;
    doc(text, "", &found.doc);
    let _ = writeln!(text, "#[uclass(imported, package = {package:?}, base = {base})]");
    let mut inside = String::new();
    for property in &found.properties {
        doc(&mut inside, "    ", &property.doc);
        let ty = names.of(&member(&found.path, &property.name), &property.ty)?;
        let _ = writeln!(inside, "    #[uproperty]\n    {}: {ty},", identifier(&property.name));
    }
    block(text, "", &format!("pub struct {name}"), &inside);
    // Skips overrides, because the glue of the base class contains the function.
    let mut inside = String::new();
    for function in found.functions.iter().filter(|function| function.overrides.is_empty()) {
        doc(&mut inside, "    ", &function.doc);
        let event = EVENTS.iter().find(|event| function.flags.iter().any(|flag| flag == *event));
        let arguments = event.map(|event| format!("({event})")).unwrap_or_default();
        let declaration = declaration(names, &found.path, function, declared)?;
        let _ = writeln!(inside, "    #[ufunction{arguments}]\n{declaration}");
    }
    if !inside.is_empty() {
        block(text, "", &format!("\n#[uclass(imported)]\nimpl {name}"), &inside);
    }
    Ok(())
}

fn declaration(
    names: &Names<'_>,
    owner: &str,
    function: &DeclaredFunction,
    declared: &Declared,
) -> Result<String, GlueError> {
    let has = |flag: &str| function.flags.iter().any(|known| known == flag);
    let of = |text: &str| names.of(&member(owner, &function.name), text);
    let mut params = Vec::new();
    if !has("static") {
        params.push("&self".to_owned());
    }
    for param in &function.params {
        let mut ty = of(&param.ty)?;
        if param.flags.iter().any(|flag| flag == "out") {
            ty.insert_str(0, "&mut ");
        } else if is_in_host_memory(&param.ty, declared) {
            ty = format!("{}<{ty}>", names.of_plugin_api("Borrowed"));
        }
        params.push(format!("{}: {ty}", identifier(&param.name)));
    }
    let result = function.result.as_deref().map(of).transpose()?;
    let result = match (result, has("may_fail")) {
        (result, true) => format!(" -> Result<{}, CallError>", result.unwrap_or_else(|| "()".to_owned())),
        (Some(result), false) => format!(" -> {result}"),
        (None, false) => String::new(),
    };
    Ok(head("    ", &format!("fn {}", identifier(&function.name)), &params, &format!("{result};")))
}

/// Returns `true` if a plugin uses values of this type in host memory. A parameter of such a type borrows its argument, so that callers may
/// also pass a view, or an equivalent value of the standard library. Returns `false` for a struct without a declaration in `declared`.
fn is_in_host_memory(text: &str, declared: &Declared) -> bool {
    text.parse::<TypeText>()
        .is_ok_and(|ty| ty != TypeText::Plain(PropertyKind::STRING) && !is_plain_type(&ty, declared, &mut Vec::new()))
}
