//! Comparison of a class with the interfaces that it lists, at compile time: the attributes of plugins and of hosts expand to it.

use crate::type_text::{contains, is_same};

/// A function of an interface, as far as a class is compared with it.
#[derive(Clone, Copy, Debug)]
pub struct InterfaceFunction {
    name: &'static str,
    text: &'static str,
    fingerprint: u64,
}

impl InterfaceFunction {
    /// A function of that name and fingerprint; `text` is its declaration as its author wrote it.
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

/// Returns the declaration of a function as its author wrote it; empty where there is none of that name.
#[must_use]
pub const fn declared_as(functions: &[InterfaceFunction], name: &str) -> &'static str {
    match find(functions, name) {
        Some(function) => function.text,
        None => "",
    }
}

/// Checks that the function of that name has the fingerprint. True where there is none: another message reports that.
#[must_use]
pub const fn has_signature(functions: &[InterfaceFunction], name: &str, fingerprint: u64) -> bool {
    match find(functions, name) {
        Some(function) => function.fingerprint == fingerprint,
        None => true,
    }
}

/// Returns the declaration of the first function that has no body of a name in `names`; empty where all have one.
#[must_use]
pub const fn first_absent(functions: &[InterfaceFunction], names: &[&str]) -> &'static str {
    let mut wanted = 0;
    while wanted < functions.len() {
        if !contains(names, functions[wanted].name) {
            return functions[wanted].text;
        }
        wanted += 1;
    }
    ""
}
