//! Structs of the package: their fields, what they begin with, and circles of them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::symbols::{At, Named, PropSym, StructSym};
use super::{Checker, TypeSym};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Access, Path, Type};

impl Checker<'_> {
    /// The structs of the package with their fields, what is held before what holds it.
    pub(super) fn structs_of(&self, all: &[(usize, Path, &ast::Struct)]) -> Vec<hir::Struct> {
        let mut made: Vec<(hir::Struct, At)> = Vec::new();
        for (file, class, found) in all {
            let at = (*file, found.name.span);
            let path = self.own_path(&found.name.text);
            let base = found.base.as_ref().and_then(|base| match self.type_named(base, *file) {
                Some(Ok(TypeSym::Struct(base))) => Some(base),
                Some(Ok(_)) => {
                    let message = format!("`{}` is no struct", base[base.len() - 1].text);
                    self.report(Diagnostic::error("uc-no-struct", (*file, base[0].span), message));
                    None
                }
                Some(Err(_)) => None,
                None => {
                    self.unknown_type("struct", base, *file);
                    None
                }
            });
            for word in &found.modifiers {
                self.struct_word(word, *file);
            }
            let fields = self.fields_of(found, *file, class, &path);
            let (name, doc, line) = (found.name.text.clone(), found.doc.clone(), self.line(at));
            made.push((hir::Struct { path, name, base, fields, doc, line }, at));
        }
        let ordered = self.in_dependency_order(made);
        let mut done: Vec<hir::Struct> = Vec::new();
        for (mut structure, at) in ordered {
            let written = all.iter().find(|(.., found)| self.own_path(&found.name.text) == structure.path);
            let is_partial = written
                .is_some_and(|(.., found)| found.is_partial || (found.base.is_some() && structure.base.is_none()));
            self.keep_struct(&structure, is_partial, at);
            if let Some((file, class, found)) = written {
                self.struct_defaults(&mut structure, found, *file, class);
                if let Some(Some(known)) = self.structs.borrow_mut().get_mut(&structure.path) {
                    let said = structure
                        .fields
                        .iter()
                        .filter_map(|field| Some((field.name.clone(), Rc::new(field.default.clone()?))));
                    Rc::make_mut(known).defaults.extend(said);
                }
            }
            done.push(structure);
        }
        done
    }

    fn in_dependency_order(&self, mut open: Vec<(hir::Struct, At)>) -> Vec<(hir::Struct, At)> {
        let mut done: Vec<(hir::Struct, At)> = Vec::new();
        while !open.is_empty() {
            let names: HashSet<Path> = open.iter().map(|(structure, _)| structure.path.clone()).collect();
            let waits = |structure: &hir::Struct| {
                self.is_above(structure, &names) || structure.fields.iter().any(|field| holds(&field.ty, &names))
            };
            let (waiting, ready): (Vec<_>, Vec<_>) = open.into_iter().partition(|(structure, _)| waits(structure));
            if ready.is_empty() {
                let mut shown: Vec<_> = waiting.iter().map(|(structure, _)| format!("`{}`", structure.name)).collect();
                shown.sort();
                let (_, at) = &waiting[0];
                let message = format!("these structs hold one another or themselves: {}", shown.join(", "));
                self.report(Diagnostic::error("uc-struct-circle", *at, message));
                for (structure, at) in waiting {
                    let fields = structure.fields.iter().filter(|field| !holds(&field.ty, &names)).cloned().collect();
                    let base = structure.base.clone().filter(|_| !self.is_above(&structure, &names));
                    done.push((hir::Struct { fields, base, ..structure }, at));
                }
                return done;
            }
            done.extend(ready);
            open = waiting;
        }
        done
    }

    /// Whether one of those structs is above that one; one of reflection may extend one of this package, as it was before.
    fn is_above(&self, structure: &hir::Struct, names: &HashSet<Path>) -> bool {
        let above = |path: &Path| if names.contains(path) { None } else { self.structure(path)?.base.clone() };
        std::iter::successors(structure.base.clone(), above).any(|path| names.contains(&path))
    }

    fn keep_struct(&self, structure: &hir::Struct, is_partial: bool, at: At) {
        let base = structure.base.as_ref().and_then(|base| self.structure(base));
        let broken = is_partial || base.as_ref().is_some_and(|base| base.broken);
        let mut fields: Vec<Rc<PropSym>> = base.iter().flat_map(|base| base.fields.clone()).collect();
        let mut by_name = base.as_ref().map_or_else(Named::default, |base| base.by_name.clone());
        let defaults = base.map_or_else(HashMap::new, |base| base.defaults.clone());
        for field in &structure.fields {
            if super::types::taken(&by_name, &field.name) {
                let message = format!("`{}` has a field `{}` already", structure.name, field.name);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
                continue;
            }
            let symbol = Rc::new(PropSym {
                name: field.name.clone(),
                ty: (field.ty != Type::Nothing).then(|| field.ty.clone()),
                owner: structure.path.clone(),
                read: Access::Public,
                write: Access::Public,
                readable: true,
                writable: Ok(()),
                at: Some(at),
            });
            by_name.insert(&field.name, symbol.clone());
            fields.push(symbol);
        }
        let mut values = 0;
        for field in &fields {
            let Some(ty) = &field.ty else { continue };
            // Told once: what holds a struct that is too large may hold it.
            if self.add_values(&mut values, ty, &structure.name, field.at.unwrap_or(at)).is_err() {
                values = 1;
                break;
            }
        }
        let symbol = StructSym { base: structure.base.clone(), fields, by_name, values, defaults, broken };
        self.structs.borrow_mut().insert(structure.path.clone(), Some(Rc::new(symbol)));
    }
}

/// Whether a value of the type has in it a struct of those paths.
fn holds(ty: &Type, paths: &HashSet<Path>) -> bool {
    match ty {
        Type::Struct(path) => paths.contains(path),
        Type::Array(of) | Type::Fixed(of, _) | Type::Set(of) | Type::Optional(of) => holds(of, paths),
        Type::Map(key, value) => holds(key, paths) || holds(value, paths),
        _ => false,
    }
}
