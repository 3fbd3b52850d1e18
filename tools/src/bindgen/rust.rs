//! Converts declarations to Rust source. Equal declarations produce equal bytes.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use alcedo_glue::is_keyword;

use super::{Declarations, Function, Struct};
use crate::figures::camel;

/// Names of types that the source uses, and the keyword that is also a type.
const OF_THE_SOURCE: [&str; 3] = ["Self", "String", "UArray"];

/// Prefixes of the methods that the attributes generate for a function, and for a field of a struct without `pod`. No methods are generated
/// for parameters and for fields of other structs, so only their names must differ.
const OF_FUNCTIONS: &[&str] = &["", "try_"];
const OF_FIELDS: &[&str] = &["", "set_", "try_set_"];
const NO_METHODS: &[&str] = &[""];

/// Returns Rust source with a class that is bound to `library`.
pub(super) fn source(declarations: &Declarations, header: &str, library: &str, package: &str) -> String {
    let mut types = declarations.structs.iter().flat_map(|of| [of.name.clone(), view_of(&of.name)]).collect();
    let class = unique_type(&type_name(library), "Library", true, &mut types);
    let mut source = format!(
        "// Written by `alcedo bindgen` from {header}: change that, and write this again.\n\nuse alcedo_plugin_api::prelude::*;\n"
    );
    for of in &declarations.structs {
        source += &structure(of, package);
    }
    source += &format!(
        "\n/// The functions of the C library `{library}`.\n#[uclass(package = \"{package}\", dll_bind = \"{library}\")]\n\
         #[derive(Default)]\npub struct {class} {{}}\n\n#[uclass]\nimpl {class} {{\n"
    );
    let mut names = BTreeSet::new();
    let functions: Vec<_> = declarations.functions.iter().map(|of| function(of, &mut names)).collect();
    source += &functions.join("\n");
    source += "}\n";
    if !declarations.left_out.is_empty() {
        source += "\n// Left out:\n";
    }
    for left_out in &declarations.left_out {
        // Writing to a string cannot fail.
        let _ = writeln!(source, "// * `{}`: {}.", left_out.name, left_out.reason);
    }
    source
}

fn structure(of: &Struct, package: &str) -> String {
    let pod = if of.is_pod { "pod, " } else { "" };
    let mut source = format!("\n{}#[ustruct({pod}package = \"{package}\")]\n", doc("", &of.doc, &of.name));
    if of.is_pod {
        source += "#[derive(Debug, Default, PartialEq)]\n";
    }
    source += &format!("pub struct {} {{\n", of.name);
    let (mut names, methods) = (BTreeSet::new(), if of.is_pod { NO_METHODS } else { OF_FIELDS });
    for (name, ty) in &of.fields {
        source += &format!("    /// `{name}`.\n    pub {}: {ty},\n", unique(name, methods, &mut names));
    }
    source + "}\n"
}

/// Returns the declaration of a function. `names` contains the names of the methods for the preceding functions.
fn function(function: &Function, names: &mut BTreeSet<String>) -> String {
    let Function { name, params, result, is_bool8, remarks, .. } = function;
    let rust = unique(name, OF_FUNCTIONS, names);
    let mut arguments = Vec::new();
    if rust != *name {
        arguments.push(format!("name = \"{name}\""));
    }
    if *is_bool8 {
        arguments.push("bool8".to_owned());
    }
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    let mut names = BTreeSet::new();
    let mut param = |name: &str| unique(without_underscores(name), NO_METHODS, &mut names);
    let params: String = params.iter().map(|(name, ty)| format!(", {}: {ty}", param(name))).collect();
    let result = result.as_ref().map(|ty| format!(" -> {ty}")).unwrap_or_default();
    let remarks: String = remarks.iter().map(|remark| format!("    // {remark}.\n")).collect();
    let doc = doc("    ", &function.doc, name);
    format!("{doc}{remarks}    #[dll_import{arguments}]\n    fn {rust}(&self{params}){result};\n")
}

/// Returns the doc comment of an item: the comment in the header or, if the header has none, the name in C.
fn doc(indent: &str, text: &str, name: &str) -> String {
    let text = if text.is_empty() { format!("`{name}` in C.") } else { text.to_owned() };
    text.lines().map(|line| format!("{indent}/// {}\n", line.trim())).collect()
}

/// Converts a name to snake case: `CallDLL1` becomes `call_dll1`. Replaces `$`, which compilers accept in names of C.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.replace('$', "_").chars().collect();
    let mut snake = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let is_begin = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase())
            });
        if is_begin && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Converts a name to the name of a Rust type: `test-dll` becomes `TestDll`.
pub(super) fn type_name(name: &str) -> String {
    let name = camel(name);
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) { format!("Lib{name}") } else { name }
}

/// Returns a type name that `used` does not contain, by appending `suffix` to `name`. Adds the returned name to `used`, and the name of the
/// type's view if the type has one.
pub(super) fn unique_type(name: &str, suffix: &str, has_view: bool, used: &mut BTreeSet<String>) -> String {
    let mut unique = name.to_owned();
    let is_free = |name: &str, used: &BTreeSet<String>| !OF_THE_SOURCE.contains(&name) && !used.contains(name);
    while !is_free(&unique, used) || has_view && !is_free(&view_of(&unique), used) {
        unique += suffix;
    }
    used.insert(unique.clone());
    used.extend(has_view.then(|| view_of(&unique)));
    unique
}

fn view_of(name: &str) -> String {
    format!("{name}View")
}

/// Returns the Rust name of a function, parameter or field. `methods` are the prefixes of the generated methods. Appends underscores if
/// `used` contains one of these methods, because names in C may differ only in case, or may begin with one of these prefixes.
fn unique(name: &str, methods: &[&str], used: &mut BTreeSet<String>) -> String {
    let mut unique = identifier(&snake(name));
    while methods.iter().any(|prefix| used.contains(&format!("{prefix}{unique}"))) {
        unique.push('_');
    }
    used.extend(methods.iter().map(|prefix| format!("{prefix}{unique}")));
    unique
}

fn identifier(name: &str) -> String {
    if is_keyword(name) || matches!(name, "this" | "_") { format!("{name}_") } else { name.to_owned() }
}

/// Returns the name of a parameter in the host, which has no leading underscores.
fn without_underscores(name: &str) -> &str {
    let plain = name.trim_start_matches('_');
    if plain.starts_with(|first: char| first.is_ascii_alphabetic()) { plain } else { name }
}

#[cfg(test)]
mod tests {
    use super::{Declarations, Function, Struct, identifier, snake, source, type_name, without_underscores};

    #[test]
    fn names_of_c_become_names_of_rust() {
        for (c, rust) in [
            ("CallDLL1", "call_dll1"),
            ("sqlite3_open", "sqlite3_open"),
            ("PrimesBelow", "primes_below"),
            ("HTTPServer", "http_server"),
            ("x", "x"),
            ("MAX_Value", "max_value"),
            ("sys$Open", "sys_open"),
        ] {
            assert_eq!(snake(c), rust);
        }
        assert_eq!(
            (type_name("test-dll"), type_name("TestDLL"), type_name("7zip")),
            ("TestDll".into(), "TestDLL".into(), "Lib7zip".into())
        );
        assert_eq!(["type", "kind", "_"].map(identifier), ["type_", "kind", "__"]);
        assert_eq!(["_x", "__x", "x", "_1", "_"].map(without_underscores), ["x", "x", "x", "_1", "_"]);
    }

    #[test]
    fn names_that_collide_keep_the_symbols_of_the_library() {
        let fields = ["x", "X"].map(|name| (name.to_owned(), "f32".to_owned())).to_vec();
        let structs = vec![Struct { name: "Vector".into(), doc: String::new(), fields, is_pod: true }];
        let function = |name: &str| Function {
            name: name.into(),
            doc: String::new(),
            params: Vec::new(),
            result: None,
            is_bool8: false,
            remarks: Vec::new(),
        };
        let declarations = Declarations {
            structs,
            functions: ["move", "Move", "try_it", "it", "a$b"].map(function).into(),
            left_out: Vec::new(),
        };
        let source = source(&declarations, "vector.h", "vector", "Game");
        for part in [
            "pub struct Vector {",
            "pub x: f32,\n    /// `X`.\n    pub x_: f32,",
            "dll_bind = \"vector\")]",
            "pub struct VectorLibrary {}",
            "impl VectorLibrary {",
            "#[dll_import(name = \"move\")]\n    fn move_(&self);",
            "#[dll_import(name = \"Move\")]\n    fn move__(&self);",
            "#[dll_import]\n    fn try_it(&self);",
            "#[dll_import(name = \"it\")]\n    fn it_(&self);",
            "#[dll_import(name = \"a$b\")]\n    fn a_b(&self);",
        ] {
            assert!(source.contains(part), "{part}:\n{source}");
        }
    }
}
