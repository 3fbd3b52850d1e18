//! The Rust types by which a host has the types of modules. Unlike a plugin it need not have one for each: what has none is a `Value`.

use std::collections::BTreeMap;

use alcedo_runtime::{Declared, DeclaredStruct};

use crate::text::{is_name, parts, word};
use crate::types::{named, signature, split};

/// How a host has a type.
pub(crate) enum Form {
    /// By a Rust type that functions may take and give, too.
    Native(String),
    /// By a Rust type that properties may have.
    Property(String),
    /// A delegate of these parameters and this result.
    Delegate(Vec<String>, String),
    /// By values.
    Value,
}

/// Where a host finds types.
pub(crate) struct HostNames<'a> {
    /// The types that are written here: their paths, by their names.
    pub(crate) own: &'a BTreeMap<&'a str, &'a str>,
    /// Rust paths of other packages.
    pub(crate) elsewhere: &'a BTreeMap<String, String>,
    /// What is declared.
    pub(crate) declared: &'a Declared,
}

impl HostNames<'_> {
    /// The Rust name of a class or a struct, where it has one.
    pub(crate) fn path(&self, path: &str) -> Option<String> {
        let (package, name) = parts(path);
        if self.own.get(name) == Some(&path) {
            return Some(word(name));
        }
        let module = self.elsewhere.get(package).filter(|_| is_name(name))?;
        Some(format!("{module}::{}", word(name)))
    }

    /// A class as `Obj` names it: one without a Rust type is any object.
    pub(crate) fn class(&self, path: &str) -> String {
        let is_own_interface = self.declared.interfaces.iter().any(|found| found.path == path);
        self.path(path).filter(|_| !is_own_interface).unwrap_or_else(|| match self.own.contains_key("Object") {
            true => "alcedo_runtime::host::Object".to_owned(),
            false => "Object".to_owned(),
        })
    }

    /// The form of a type, as signatures write it.
    pub(crate) fn of(&self, text: &str) -> Form {
        if text.starts_with('/') {
            let own = self.declared.structs.iter().find(|found| found.path == text);
            let is_known = own.map_or(!self.is_class(text), |found| self.is_plain(found, 0));
            return self.path(text).filter(|_| is_known).map_or(Form::Value, Form::Native);
        }
        let Some((name, inside)) = text.split_once('(') else { return plain(text) };
        let Some(inside) = inside.strip_suffix(')') else { return Form::Value };
        match name {
            "Object" => Form::Native(format!("Obj<{}>", self.class(inside))),
            "SubclassOf" | "SoftClass" | "SoftObject" | "LazyObject" | "WeakObject" | "ScriptInterface" => {
                Form::Property(name.to_owned())
            }
            "Array" | "Optional" => match self.of(inside) {
                Form::Native(of) | Form::Property(of) => {
                    Form::Property(format!("{}<{of}>", if name == "Array" { "Vec" } else { "Option" }))
                }
                Form::Delegate(..) | Form::Value => Form::Value,
            },
            "Delegate" | "MulticastDelegate" | "SparseDelegate" => {
                let (params, result) = signature(named(inside).1);
                let params: Option<Vec<_>> = split(params, ',').into_iter().map(|param| self.native(param)).collect();
                let result = result.map_or(Some("()".to_owned()), |result| self.native(result));
                match (params, result) {
                    (Some(params), Some(result)) if params.len() <= MOST_PARAMS => Form::Delegate(params, result),
                    _ => Form::Value,
                }
            }
            _ => Form::Value,
        }
    }

    /// The Rust type that functions may take and give.
    pub(crate) fn native(&self, text: &str) -> Option<String> {
        match self.of(text) {
            Form::Native(ty) => Some(ty),
            _ => None,
        }
    }

    fn is_class(&self, path: &str) -> bool {
        self.declared.classes.iter().any(|found| found.path == path)
    }

    /// Whether a struct can be a `plain_struct!`: numbers, names, and structs of these.
    pub(crate) fn is_plain(&self, found: &DeclaredStruct, depth: u32) -> bool {
        let is_plain_type = |ty: &str| {
            NUMBERS.contains(&ty)
                || ty == "Name"
                || self.path(ty).is_some_and(|_| {
                    let inner = self.declared.structs.iter().find(|other| other.path == ty);
                    depth < DEEPEST && inner.is_none_or(|inner| self.is_plain(inner, depth + 1))
                })
        };
        // The names are compared as they stand in the source, where no word of the language can.
        found.base.is_empty()
            && !found.fields.is_empty()
            && found.fields.iter().all(|field| is_plain_type(&field.ty) && word(&field.name) == field.name)
    }
}

/// A function of more is called with values.
pub(crate) const MOST_PARAMS: usize = 8;

/// Structs deeper in each other are values.
const DEEPEST: u32 = 16;

const NUMBERS: [&str; 10] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64"];

/// Types without parts.
fn plain(text: &str) -> Form {
    match text {
        "bool" | "String" | "Name" => Form::Native(text.to_owned()),
        number if NUMBERS.contains(&number) => Form::Native(number.to_owned()),
        "Utf8String" | "AnsiString" | "FieldPath" => Form::Property(text.to_owned()),
        "Text" => Form::Property("LocalText".to_owned()),
        _ => Form::Value,
    }
}
