//! Limits on the totals of a package. Each type, member and inherited field occupies memory in the checker and in reflection. Because
//! inherited members multiply, even a short file could exhaust the memory without these limits.

use super::Checker;
use super::declare::Work;
use super::symbols::At;
use crate::ast::{self, Item};
use crate::diagnostic::Diagnostic;

/// Maximum number of types in a package: classes, interfaces, structs and enums.
const MAX_TYPES: usize = 16_384;

/// Maximum number of members that the types of a package declare: items of classes and interfaces, fields, and enum entries.
const MAX_MEMBERS: usize = 262_144;

/// Maximum number of fields of all structs of a package. Inherited fields count in each struct.
const MAX_FIELDS: usize = 262_144;

/// Maximum number of initial values of all classes and structs of a package. Inherited values count in each type.
const MAX_STARTS: usize = 1 << 23;

impl Checker<'_> {
    /// Checks the number of types and members of the package. Reports the first type that exceeds a limit.
    pub(super) fn is_within_totals<'w>(
        &self,
        classes: impl Iterator<Item = &'w Work<'w>>,
        structs: &[(usize, crate::hir::Path, &ast::Struct)],
        enums: &[(usize, &ast::Enum)],
    ) -> bool {
        let classes = classes.map(|work| ((work.file, work.head.name.span), work.items.iter().map(names_in).sum()));
        let structs =
            structs.iter().map(|(file, _, found)| ((*file, found.name.span), found.items.iter().map(names_in).sum()));
        let enums = enums.iter().map(|(file, found)| ((*file, found.name.span), found.entries.len()));
        let mut members: usize = 0;
        for (number, (at, own)) in classes.chain(structs).chain(enums).enumerate() {
            members = members.saturating_add(own);
            if number >= MAX_TYPES {
                return self.too_much("types", MAX_TYPES, at);
            }
            if members > MAX_MEMBERS {
                return self.too_much("members of types", MAX_MEMBERS, at);
            }
        }
        true
    }

    /// Adds the fields of a struct, including inherited fields, to the total. Reports only the first struct that exceeds the limit.
    pub(super) fn add_fields(&self, fields: usize, at: At) -> bool {
        let total = self.fields.get().saturating_add(fields);
        self.fields.set(total);
        total <= MAX_FIELDS || self.too_much("fields of structs, including inherited fields", MAX_FIELDS, at)
    }

    /// Adds the initial values of a class or struct to the total. Reports only the first type that exceeds the limit.
    pub(super) fn add_starts(&self, values: u64, at: At) {
        let total = self.starts.get().saturating_add(values);
        self.starts.set(total);
        if total > MAX_STARTS as u64 {
            self.too_much("initial values of classes and structs", MAX_STARTS, at);
        }
    }

    /// Reports that a limit is exceeded, once for each limit. Always returns `false`.
    pub(super) fn too_much(&self, what: &'static str, most: usize, at: At) -> bool {
        if self.passed.borrow_mut().insert(what) {
            let error = Diagnostic::error("uc-too-much", at, format!("the package has more than {most} {what}"));
            self.report(error.hint("declare fewer of them, or divide the package in two"));
        }
        false
    }
}

/// Counts the members that an item of a class or struct declares.
fn names_in(item: &Item) -> usize {
    match item {
        Item::Var(found) => found.names.len(),
        _ => 1,
    }
}
