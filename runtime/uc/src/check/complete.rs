//! Completion of names for consoles.

use std::collections::BTreeSet;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::types::Types;

use super::body::Body;
use super::{Checker, Options};
use crate::hir::Type;
use crate::parse::parse_expression;
use crate::source::Source;

/// Returns the sorted member names of the value. Without a value, returns the member names of `class`, and the names of the library
/// functions.
pub(crate) fn complete_in(value: Option<&str>, class: &str, types: &Types, options: &Options) -> Vec<String> {
    let sources = [Source::new("console", value.unwrap_or(""))];
    let checker = Checker::new("", &sources, &[], types, options, Vec::new());
    let mut names = BTreeSet::new();
    match value {
        None => {
            checker.members_of(&Type::Object(class.into()), &mut names);
            for library in &options.libraries {
                checker.members_of(&Type::Object(library.as_str().into()), &mut names);
            }
        }
        Some(_) => {
            let ty =
                parse_expression(&sources[0]).and_then(|value| Body::new(&checker, 0, class).value(&value, None).ok());
            if let Some(value) = ty {
                checker.members_of(&value.ty, &mut names);
            }
        }
    }
    names.into_iter().collect()
}

impl Checker<'_> {
    pub(super) fn members_of(&self, ty: &Type, names: &mut BTreeSet<String>) {
        let mut add_fixed = |of: &[&str]| names.extend(of.iter().map(|word| (*word).to_owned()));
        match ty {
            Type::Object(path) | Type::Reference(_, path) => {
                for class in self.chain(path) {
                    let usable = class.props.iter().filter(|(_, found)| found.readable).map(|(name, _)| name);
                    let callable = class.funcs.iter().filter(|(_, found)| found.callable).map(|(name, _)| name);
                    names.extend(usable.chain(callable).cloned());
                    names.extend(class.delegates.names().map(str::to_owned));
                }
            }
            Type::Interface(path) => names.extend(self.interface_of(path).by_name.names().map(str::to_owned)),
            Type::Struct(path) => {
                names.extend(
                    self.structure(path).iter().flat_map(|found| found.fields.iter().map(|field| field.name.clone())),
                );
            }
            Type::Class(_) => add_fixed(&["default", "static"]),
            Type::Array(_) => add_fixed(&[
                "Add",
                "AddItem",
                "Empty",
                "Find",
                "Insert",
                "InsertItem",
                "Length",
                "Remove",
                "RemoveItem",
                "Sort",
            ]),
            Type::Fixed(..) => add_fixed(&["Find", "Length", "Sort"]),
            Type::Map(..) => add_fixed(&["Contains", "Empty", "Find", "Keys", "Length", "Remove", "Set", "Values"]),
            Type::Set(_) => add_fixed(&["Add", "Contains", "Empty", "Length", "Remove", "Values"]),
            Type::Optional(_) => add_fixed(&["Get", "IsSet", "Reset"]),
            Type::Delegate(kind, ..) if *kind != PropertyKind::DELEGATE => {
                add_fixed(&["Add", "Broadcast", "Clear", "Remove"]);
            }
            _ => {}
        }
    }
}
