//! The source itself, from declarations. Text in order of paths; nothing here depends on the machine or the moment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use alcedo_runtime::{Declared, DeclaredClass, DeclaredFunction, DeclaredInterface, DeclaredProperty, DeclaredStruct};

use super::types::Names;
use crate::error::GlueError;

/// The glue of a module.
pub(super) fn source(
    module: &str,
    version: &str,
    declared: &Declared,
    elsewhere: &BTreeMap<&str, &str>,
) -> Result<String, GlueError> {
    let classes = declared.classes.iter().map(|found| found.path.as_str());
    let others = declared.structs.iter().map(|found| found.path.as_str());
    let interfaces = declared.interfaces.iter().map(|found| found.path.as_str());
    let own: BTreeSet<_> = classes.chain(others).chain(interfaces).collect();
    let names = Names { own, elsewhere };
    let mut text = format!(
        "// What the module `{module}` {version} declares, for plugins that use it. Written by `alcedo glue`: change the module\n\
         // and write it again. While a plugin is loaded each type, member and signature is compared with the module's own.\n\n\
         use alcedo_plugin_api::prelude::*;\n"
    );
    for found in &declared.structs {
        structure(&mut text, &names, found, declared)?;
    }
    for found in &declared.interfaces {
        interface(&mut text, &names, found)?;
    }
    for found in bases_first(&declared.classes) {
        class(&mut text, &names, found)?;
    }
    Ok(text)
}

/// A class is easier to read behind its base.
fn bases_first(classes: &[DeclaredClass]) -> Vec<&DeclaredClass> {
    let mut sorted: Vec<&DeclaredClass> = Vec::new();
    let mut left: Vec<_> = classes.iter().collect();
    while !left.is_empty() {
        let waits = |class: &&DeclaredClass| left.iter().any(|other| other.path == class.base);
        let (waiting, ready): (Vec<_>, Vec<_>) = left.iter().copied().partition(waits);
        if ready.is_empty() {
            // A circle of bases; loading says so.
            sorted.extend(waiting);
            break;
        }
        sorted.extend(ready);
        left = waiting;
    }
    sorted
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
    let _ = writeln!(text, "#[ustruct({sort}, package = {package:?})]");
    if is_pod {
        let _ = writeln!(text, "#[derive(Debug, Default, PartialEq)]");
    }
    let _ = writeln!(text, "pub struct {name} {{");
    for field in &found.fields {
        doc(text, "    ", &field.doc);
        let ty = names.of(&member(&found.path, &field.name), &field.ty)?;
        let _ = writeln!(text, "    {}{}: {ty},", if is_pod { "pub " } else { "" }, word(&field.name));
    }
    let _ = writeln!(text, "}}");
    Ok(())
}

/// Whether a struct is made of numbers, names and references only, and so travels by value.
fn is_plain<'a>(found: &'a DeclaredStruct, declared: &'a Declared, within: &mut Vec<&'a str>) -> bool {
    if within.contains(&found.path.as_str()) {
        return false;
    }
    within.push(&found.path);
    let is_plain_field = |field: &DeclaredProperty, within: &mut Vec<&'a str>| {
        let ty = field.ty.as_str();
        if ty.starts_with('/') {
            let inner = declared.structs.iter().find(|other| other.path == ty);
            return inner.is_none_or(|inner| is_plain(inner, declared, within));
        }
        let numbers = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "bool", "Name"];
        numbers.contains(&ty) || ty.starts_with("Object(")
    };
    let all = found.fields.iter().all(|field| is_plain_field(field, within));
    within.pop();
    all
}

fn interface(text: &mut String, names: &Names<'_>, found: &DeclaredInterface) -> Result<(), GlueError> {
    let (package, name) = parts(&found.path);
    doc(text, "", &found.doc);
    let _ = writeln!(text, "#[uinterface(imported, package = {package:?})]");
    if found.functions.is_empty() {
        let _ = writeln!(text, "pub trait {name} {{}}");
        return Ok(());
    }
    let _ = writeln!(text, "pub trait {name} {{");
    for function in &found.functions {
        doc(text, "    ", &function.doc);
        let _ = writeln!(text, "    {}", head(names, &found.path, function)?);
    }
    let _ = writeln!(text, "}}");
    Ok(())
}

fn class(text: &mut String, names: &Names<'_>, found: &DeclaredClass) -> Result<(), GlueError> {
    let (package, name) = parts(&found.path);
    let base = names.path(&found.path, &found.base)?;
    doc(text, "", &found.doc);
    let _ = writeln!(text, "#[uclass(imported, package = {package:?}, base = {base})]");
    if found.properties.is_empty() {
        let _ = writeln!(text, "pub struct {name} {{}}");
    } else {
        let _ = writeln!(text, "pub struct {name} {{");
        for property in &found.properties {
            doc(text, "    ", &property.doc);
            let ty = names.of(&member(&found.path, &property.name), &property.ty)?;
            let _ = writeln!(text, "    #[uproperty]\n    {}: {ty},", word(&property.name));
        }
        let _ = writeln!(text, "}}");
    }
    // What overrides is called through the base that declares it.
    let own: Vec<_> = found.functions.iter().filter(|function| function.overrides.is_empty()).collect();
    if own.is_empty() {
        return Ok(());
    }
    let _ = writeln!(text, "\n#[uclass(imported)]\nimpl {name} {{");
    for function in own {
        doc(text, "    ", &function.doc);
        let is_event = function.flags.iter().any(|flag| flag == "blueprint_native_event");
        let words = if is_event { "(blueprint_native_event)" } else { "" };
        let _ = writeln!(text, "    #[ufunction{words}]\n    {}", head(names, &found.path, function)?);
    }
    let _ = writeln!(text, "}}");
    Ok(())
}

fn head(names: &Names<'_>, owner: &str, function: &DeclaredFunction) -> Result<String, GlueError> {
    let has = |flag: &str| function.flags.iter().any(|known| known == flag);
    let of = |text: &str| names.of(&member(owner, &function.name), text);
    let mut params = Vec::new();
    if !has("static") {
        params.push("&self".to_owned());
    }
    for param in &function.params {
        let out = if param.flags.iter().any(|flag| flag == "out") { "&mut " } else { "" };
        params.push(format!("{}: {out}{}", word(&param.name), of(&param.ty)?));
    }
    let result = function.result.as_deref().map(of).transpose()?;
    let result = match (result, has("may_fail")) {
        (result, true) => format!(" -> Result<{}, CallError>", result.unwrap_or_else(|| "()".to_owned())),
        (Some(result), false) => format!(" -> {result}"),
        (None, false) => String::new(),
    };
    Ok(format!("fn {}({}){result};", word(&function.name), params.join(", ")))
}

/// Package and name of a path.
fn parts(path: &str) -> (&str, &str) {
    path.strip_prefix("/Script/").unwrap_or(path).split_once('.').unwrap_or(("", path))
}

/// As errors name a member: `Game.Cube.speed`.
fn member(path: &str, name: &str) -> String {
    format!("{}.{name}", path.strip_prefix("/Script/").unwrap_or(path))
}

fn doc(text: &mut String, indent: &str, doc: &str) {
    if indent.is_empty() {
        text.push('\n');
    }
    for line in doc.lines().map(str::trim) {
        let _ = writeln!(text, "{indent}///{}{line}", if line.is_empty() { "" } else { " " });
    }
}

/// A name that is a word of the language is written raw.
fn word(name: &str) -> String {
    const WORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    if WORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}
