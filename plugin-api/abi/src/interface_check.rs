//! Compile-time comparison of a class with the interfaces that the class's attribute lists. The attribute macros for plugins and
//! hosts expand to this comparison.

use crate::type_text::{contains, is_same};

/// Function of an interface or of a class, in the form that the comparison uses.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceFunction {
    name: &'static str,
    text: &'static str,
    fingerprint: u64,
}

impl InterfaceFunction {
    /// Creates a function with a name and a fingerprint; `text` is the declaration in the author's spelling.
    #[must_use]
    pub const fn new(name: &'static str, text: &'static str, fingerprint: u64) -> Self {
        Self { name, text, fingerprint }
    }
}

const fn find(functions: &[InterfaceFunction], name: &str) -> Option<InterfaceFunction> {
    let mut at = 0;
    while at < functions.len() {
        if is_same(functions[at].name, name) {
            return Some(functions[at]);
        }
        at += 1;
    }
    None
}

/// Returns the declaration of the named function in the author's spelling; empty for an unknown name.
#[must_use]
pub const fn declared_as(functions: &[InterfaceFunction], name: &str) -> &'static str {
    match find(functions, name) {
        Some(function) => function.text,
        None => "",
    }
}

/// Returns true if the named function has the fingerprint. Also returns true if the function is missing, because a separate message reports
/// a missing function.
#[must_use]
pub const fn has_signature(functions: &[InterfaceFunction], name: &str, fingerprint: u64) -> bool {
    match find(functions, name) {
        Some(function) => function.fingerprint == fingerprint,
        None => true,
    }
}

/// Returns the declaration of the first function whose name `names` does not contain, or an empty string.
#[must_use]
pub const fn first_absent(functions: &[InterfaceFunction], names: &[&str]) -> &'static str {
    let mut index = 0;
    while index < functions.len() {
        if !contains(names, functions[index].name) {
            return functions[index].text;
        }
        index += 1;
    }
    ""
}
