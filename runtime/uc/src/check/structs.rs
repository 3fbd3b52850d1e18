//! Structs of the package: fields, defaults, and cycles.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Checker;
use super::declare::in_order;
use super::outside::STRUCT_SPECIFIERS;
use super::symbols::{At, MAX_EXTENSION_DEPTH, Named, PropSym, StructSym};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hash::HashMap;
use crate::hir::{self, Path, Type};

impl Checker<'_> {
    /// Declares the structs of the package with their fields. A struct is declared after its base and after the structs in its fields.
    pub(super) fn structs_of(&self, all: &[(usize, Path, &ast::Struct)]) -> Vec<hir::Struct> {
        let mut made: Vec<(hir::Struct, At)> = Vec::new();
        for (file, class, found) in all {
            let at = (*file, found.name.span);
            let path = self.own_path(&found.name.text);
            let base = found.base.as_ref().and_then(|base| match self.known_type("struct", base, *file).ok()? {
                Type::Struct(base) => Some(base),
                _ => {
                    let message = format!("`{}` is not a struct", base[base.len() - 1].text);
                    self.report(Diagnostic::error("uc-no-struct", (*file, base[0].span), message));
                    None
                }
            });
            for word in &found.modifiers {
                self.known_specifier(&word.name, STRUCT_SPECIFIERS, "struct", *file);
            }
            let fields = self.fields_of(found, *file, class, &path);
            let (name, doc) = (found.name.text.clone(), found.doc.clone());
            made.push((hir::Struct { path, name, base, fields, doc }, at));
        }
        self.cut_deep_bases(&mut made);
        let ordered = self.in_dependency_order(made);
        let by_path: HashMap<Path, _> =
            all.iter().map(|written| (self.own_path(&written.2.name.text), written)).collect();
        let mut done: Vec<hir::Struct> = Vec::new();
        for (mut structure, at) in ordered {
            let Some((file, class, found)) = by_path.get(&structure.path) else { continue };
            let is_partial = found.is_partial || (found.base.is_some() && structure.base.is_none());
            self.keep_struct(&structure, is_partial, at);
            self.struct_defaults(&mut structure, found, *file, class);
            if let Some(Some(known)) = self.structs.borrow_mut().get_mut(&structure.path) {
                let default = |field: &hir::Property| Some((field.name.clone(), Rc::new(field.default.clone()?)));
                Rc::make_mut(known).defaults.extend(structure.fields.iter().filter_map(default));
            }
            done.push(structure);
        }
        done
    }

    /// Sorts structs so that each struct follows its base and the structs in its fields. Reports and removes cycles.
    fn in_dependency_order(&self, open: Vec<(hir::Struct, At)>) -> Vec<(hir::Struct, At)> {
        let needs = |(structure, _): &(hir::Struct, At), numbers: &HashMap<Path, usize>| {
            let mut needed: BTreeSet<usize> = self.nearest_base(structure, numbers).into_iter().collect();
            structure.fields.iter().for_each(|field| add_held(&field.ty, numbers, &mut needed));
            needed
        };
        let (mut done, cycle) = in_order(open, |(structure, _)| &structure.path, needs);
        if let Some((_, at)) = cycle.first() {
            let mut names: Vec<_> = cycle.iter().map(|(structure, _)| format!("`{}`", structure.name)).collect();
            names.sort();
            let message = format!("these structs hold one another or themselves: {}", names.join(", "));
            self.report(Diagnostic::error("uc-struct-circle", *at, message));
        }
        let open: HashMap<Path, usize> =
            cycle.iter().enumerate().map(|(number, (structure, _))| (structure.path.clone(), number)).collect();
        for (structure, at) in cycle {
            let holds = |ty: &Type| {
                let mut held = BTreeSet::new();
                add_held(ty, &open, &mut held);
                !held.is_empty()
            };
            let fields = structure.fields.iter().filter(|field| !holds(&field.ty)).cloned().collect();
            let base = structure.base.clone().filter(|_| self.nearest_base(&structure, &open).is_none());
            done.push((hir::Struct { fields, base, ..structure }, at));
        }
        done
    }

    /// Returns the index of the nearest base in `numbers`. Skips reflected structs, because a reflected struct may extend the previous
    /// version of a struct of the package.
    fn nearest_base(&self, structure: &hir::Struct, numbers: &HashMap<Path, usize>) -> Option<usize> {
        self.struct_bases(structure.base.clone()).find_map(|path| numbers.get(&path).copied())
    }

    /// Returns `base` and all bases of `base`, nearest first.
    pub(super) fn struct_bases(&self, base: Option<Path>) -> impl Iterator<Item = Path> {
        std::iter::successors(base, |path| self.structure(path)?.base.clone())
    }

    /// Reports each struct with more than [`MAX_EXTENSION_DEPTH`] direct and indirect bases, and removes its base.
    fn cut_deep_bases(&self, made: &mut [(hir::Struct, At)]) {
        let bases: HashMap<Path, Path> =
            made.iter().filter_map(|(found, _)| Some((found.path.clone(), found.base.clone()?))).collect();
        for (structure, at) in made {
            let base_chain = std::iter::successors(structure.base.as_ref(), |path| bases.get(*path));
            let base_chain: Vec<_> = base_chain.take(MAX_EXTENSION_DEPTH + 1).collect();
            // Inheritance cycles are reported elsewhere.
            if base_chain.len() > MAX_EXTENSION_DEPTH && !base_chain[..MAX_EXTENSION_DEPTH].contains(&&structure.path) {
                structure.base = None;
                self.too_much("structs that extend one another in a row", MAX_EXTENSION_DEPTH, *at);
            }
        }
    }

    fn keep_struct(&self, structure: &hir::Struct, is_partial: bool, at: At) {
        let base = structure.base.as_ref().and_then(|base| self.structure(base));
        let inherited = base.as_ref().map_or(0, |base| base.fields.len());
        let is_within = self.add_fields(inherited + structure.fields.len(), at);
        let base = base.filter(|_| is_within);
        let is_partial = is_partial || !is_within;
        let broken = is_partial || base.as_ref().is_some_and(|base| base.broken);
        let mut fields: Vec<Rc<PropSym>> = base.iter().flat_map(|base| base.fields.clone()).collect();
        let mut by_name = base.as_ref().map_or_else(Named::default, |base| base.by_name.clone());
        let defaults = base.map_or_else(HashMap::default, |base| base.defaults.clone());
        for field in &structure.fields {
            if by_name.exact(&field.name).is_some() {
                let message = format!("`{}` has a field `{}` already", structure.name, field.name);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
                continue;
            }
            let ty = field.ty.known().cloned();
            let symbol = Rc::new(PropSym::public(field.name.clone(), ty, structure.path.clone(), Some(at)));
            by_name.insert(&field.name, symbol.clone());
            fields.push(symbol);
        }
        let mut values = 0;
        for field in &fields {
            let Some(ty) = &field.ty else { continue };
            // Counts a struct that is too large as one value, so that the structs that contain it are not reported too.
            if self.add_values(&mut values, ty, &structure.name, field.at.unwrap_or(at)).is_err() {
                values = 1;
                break;
            }
        }
        self.add_starts(values, at);
        let symbol = StructSym { base: structure.base.clone(), fields, by_name, values, defaults, broken };
        self.structs.borrow_mut().insert(structure.path.clone(), Some(Rc::new(symbol)));
    }
}

/// Adds the indices of the structs in `numbers` that a value of the type contains.
fn add_held(ty: &Type, numbers: &HashMap<Path, usize>, held: &mut BTreeSet<usize>) {
    match ty {
        Type::Struct(path) => held.extend(numbers.get(path)),
        ty => ty.inner().for_each(|of| add_held(of, numbers, held)),
    }
}
