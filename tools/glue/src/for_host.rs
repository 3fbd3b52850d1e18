//! Generates the source for hosts from the declarations of a module.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use alcedo_runtime::{Declared, DeclaredClass, DeclaredFunction, DeclaredProperty, DeclaredStruct};

use crate::error::GlueError;
use crate::for_plugins::{bases_first, delegate_type, enumeration, other_packages, own, packages};
use crate::host_types::{Form, HostNames, MOST_PARAMS};
use crate::text::{block, doc, head, identifier, parts};
use crate::{Glue, Origin};

const INDENT: &str = "        ";

pub(crate) fn source(glue: &Glue, origin: &Origin, declared: &Declared) -> Result<String, GlueError> {
    let own = own(glue, declared)?;
    let names = HostNames::new(&own, &glue.elsewhere, declared);
    let mut text = format!(
        "// Declarations of {origin}{packages} for a host, written by `alcedo glue --for-host`.\n\
         // Run it again after a change of the {sort}. The first use of a member compares the member here with that of the {sort}.\n{others}\n\
         use alcedo::host::*;\n",
        sort = origin.sort(),
        packages = packages(glue),
        others = other_packages(glue)
    );
    for found in declared.enums.iter().filter(|found| glue.writes(&found.path)) {
        enumeration(&mut text, found, "");
    }
    for found in declared.delegates.iter().filter(|found| glue.writes(&found.path)) {
        if let Some((params, result)) = names.delegate(found) {
            let class = found.path.split_once(':').map(|(class, _)| names.class(class));
            delegate_type(&mut text, found, "", class, &params, result);
        }
    }
    for found in declared.structs.iter().filter(|found| glue.writes(&found.path)) {
        if let Some(fields) = names.fields(found) {
            structure(&mut text, &names, found, &fields);
        }
    }
    let classes: Vec<_> = declared.classes.iter().filter(|found| glue.writes(&found.path)).collect();
    for found in bases_first(classes) {
        class(&mut text, &names, found);
    }
    Ok(text)
}

fn structure(text: &mut String, names: &HostNames<'_>, found: &DeclaredStruct, fields: &[(&DeclaredProperty, String)]) {
    let (_, name) = parts(&found.path);
    let is_plain = names.plain.contains(&*found.path);
    let _ = write!(text, "\n{}! {{", if is_plain { "plain_struct" } else { "host_struct" });
    let mut inside = String::new();
    doc(&mut inside, "    ", &found.doc);
    let _ = write!(text, "\n{inside}    pub struct {} in {:?} {{\n", identifier(name), found.path);
    for (field, ty) in fields {
        doc(text, INDENT, &field.doc);
        let _ = match is_plain {
            true => writeln!(text, "{INDENT}pub {}: {ty},", field.name),
            false => writeln!(text, "{INDENT}pub {} {:?}: {ty},", identifier(&field.name), field.name),
        };
    }
    let _ = writeln!(text, "    }}\n}}");
}

/// Kinds of the members of a class, in the order of their blocks.
const KINDS: [&str; 5] = ["properties", "values", "delegates", "functions", "dynamic"];

fn class(text: &mut String, names: &HostNames<'_>, found: &DeclaredClass) {
    let (_, name) = parts(&found.path);
    let mut members = BTreeMap::<&str, String>::new();
    for property in &found.properties {
        let (name, get, set) = (&property.name, identifier(&property.name), format!("set_{}", property.name));
        let (kind, line) = match names.of(&property.ty) {
            Form::Native(ty) | Form::Property(ty) => ("properties", format!("{get} / {set} {name:?}: {ty};")),
            Form::Delegate(params, result) => {
                ("delegates", format!("{get} {name:?}({}) -> {result};", params.join(", ")))
            }
            Form::Value => ("values", format!("{get} / {set} {name:?};")),
        };
        let into = members.entry(kind).or_default();
        doc(into, INDENT, &property.doc);
        let _ = writeln!(into, "{INDENT}{line}");
    }
    // Skips overrides, because the glue of the base class contains the function.
    for function in found.functions.iter().filter(|function| function.overrides.is_empty()) {
        let (kind, line) = match typed(names, function) {
            Some(line) => ("functions", line),
            None => ("dynamic", format!("{INDENT}{} {:?};", identifier(&function.name), function.name)),
        };
        let into = members.entry(kind).or_default();
        doc(into, INDENT, &function.doc);
        let _ = writeln!(into, "{line}");
    }
    let mut inside = String::new();
    doc(&mut inside, "    ", &found.doc);
    let extends = extends(names, found).join(", ");
    let base = names.class(&found.base);
    let _ = write!(
        text,
        "\nhost_class! {{\n{inside}    pub {}: {base} = {:?}, members {name}Members, extends [{extends}];\n",
        identifier(name),
        found.path
    );
    for kind in KINDS {
        block(text, "    ", kind, members.get(kind).map_or("", String::as_str));
    }
    let _ = writeln!(text, "}}");
}

/// Returns the paths of the class and of its known base classes.
fn extends(names: &HostNames<'_>, found: &DeclaredClass) -> Vec<String> {
    let classes: BTreeMap<_, _> = names.declared.classes.iter().map(|class| (class.path.as_str(), class)).collect();
    let (mut chain, mut at) = (Vec::new(), found.path.as_str());
    while let Some(name) = names.path(at).filter(|name| !chain.contains(name)) {
        chain.push(name);
        at = classes.get(at).map_or("", |class| class.base.as_str());
    }
    if at == "/Script/Core.Object" {
        chain.push(names.class(at));
    }
    chain
}

/// Returns the Rust signature of a function, with `out` after the name of each out parameter. Returns `None` if a parameter or the result
/// has no Rust type, or if the function has more than `MOST_PARAMS` parameters.
fn typed(names: &HostNames<'_>, function: &DeclaredFunction) -> Option<String> {
    if function.params.len() > MOST_PARAMS {
        return None;
    }
    let param = |param: &DeclaredProperty| {
        let name = identifier(&param.name);
        Some(match param.flags.iter().any(|flag| flag == "out") {
            true => format!("{name} out: {}", names.result(&param.ty)?),
            false => format!("{name}: {}", names.param(&param.ty)?),
        })
    };
    let params = function.params.iter().map(param).collect::<Option<Vec<_>>>()?;
    let result = match &function.result {
        Some(result) => names.result(result)?,
        None => "()".to_owned(),
    };
    let before = format!("{} {:?}", identifier(&function.name), function.name);
    Some(head(INDENT, &before, &params, &format!(" -> {result};")))
}
