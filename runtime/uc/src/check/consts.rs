//! Evaluates constants at compile time. The definition of a constant may use further constants.

use super::body::{Body, as_const};
use super::declare::Work;
use super::symbols::{At, ConstSym};
use super::{Checker, Found, Reported};
use crate::ast::{self, Ident};
use crate::diagnostic::Diagnostic;
use crate::hash::HashSet;
use crate::hir::{self, Const, Conversion, Expr, ExprKind, Type};
use crate::parse::MAX_DEPTH;
use crate::token::{Kind, Tokens};

/// Values of one constant. Each pair contains the type that a use of the constant expects, and the value converted to this type.
pub(super) type ConstValues = Vec<(Option<Type>, Expr)>;

impl Body<'_, '_> {
    pub(super) fn constant(&self, value: &ast::Expr, expected: Option<&Type>) -> Found<Expr> {
        let found = self.value(value, expected)?;
        if matches!(found.kind, ExprKind::Const(_) | ExprKind::Triple(_)) {
            return Ok(found);
        }
        let error = self.error("uc-not-constant", value.span, "this is not known before the script runs");
        Err(self.report(error.hint("numbers, strings, names, classes and other constants are")))
    }
}

impl<'a> Checker<'a> {
    /// Evaluates a compile-time value in the context of a class.
    pub(super) fn constant(&self, value: &ast::Expr, file: usize, class: &str, expected: Option<&Type>) -> Found<Expr> {
        Body { only_constants: true, ..Body::new(self, file, class) }.constant(value, expected)
    }

    pub(super) fn consts_of(&self, work: &Work<'a>) -> Vec<hir::NamedConst> {
        let named = |item: &ast::Item| {
            let ast::Item::Const(found) = item else { return None };
            let value = self.const_named(&work.path, &found.name, work.file, None).ok()?;
            let ExprKind::Const(value) = value.kind else { return None };
            Some(hir::NamedConst { name: found.name.text.clone(), value })
        };
        work.items.iter().filter_map(named).collect()
    }

    /// Returns the value of the constant `name`. Converts the value to the expected type if possible.
    pub(super) fn const_named(&self, class: &str, name: &Ident, file: usize, expected: Option<&Type>) -> Found<Expr> {
        let Some(found) = self.find_const(class, &name.text) else { return Err(Reported) };
        if self.invalid_consts.borrow().contains(&found.at) {
            return Err(Reported);
        }
        let line = self.line((file, name.span));
        let key = (found.at, class.to_owned());
        if let Some(values) = self.const_values.borrow().get(&key)
            && let Some((_, value)) = values.iter().find(|(ty, _)| ty.as_ref() == expected)
        {
            return Ok(Expr { line, ..value.clone() });
        }
        if self.open_consts.borrow().contains(&found.at) {
            return Err(self.const_cycle(&name.text, found.at));
        }
        if self.open_consts.borrow().len() >= MAX_DEPTH as usize {
            return Err(self.deep_const(class, &name.text, &found));
        }
        self.open_consts.borrow_mut().push(found.at);
        let value = self.constant(&found.value, found.at.0, class, expected);
        self.open_consts.borrow_mut().pop();
        match &value {
            Ok(value) => {
                self.const_values.borrow_mut().entry(key).or_default().push((expected.cloned(), value.clone()));
            }
            Err(Reported) => drop(self.invalid_consts.borrow_mut().insert(found.at)),
        }
        value.map(|value| Expr { line, ..value })
    }

    /// Returns the value of an expression that requires no evaluation. The value of a vector or rotator has the fields of its struct.
    pub(super) fn known_value(&self, found: &Expr) -> Option<Const> {
        match &found.kind {
            ExprKind::Convert(Conversion::Up | Conversion::Text(..), inner) => self.known_value(inner),
            ExprKind::Triple(values) => {
                let (triple, _) = self.triple(&found.ty)?;
                let structure = self.structure(&triple.path)?;
                let number =
                    |value: f64| if triple.of.is_float() { Const::Float(value) } else { Const::Int(value as i128) };
                let fields = structure.fields.iter().zip(values);
                Some(Const::Struct(fields.map(|(field, value)| (field.name.clone(), number(*value))).collect()))
            }
            _ => as_const(found).cloned(),
        }
    }

    /// Replaces the default of a parameter of an imported function by its value, because no body evaluates the default. Reports a default
    /// that requires evaluation.
    pub(super) fn imported_default(&self, found: Expr, at: At) -> Option<Expr> {
        if let Some(value) = self.known_value(&found) {
            return Some(Expr { kind: ExprKind::Const(value), ..found });
        }
        let error = Diagnostic::error("uc-dll-import", at, "this is not known before the script runs");
        self.report(error.hint("write a constant: a library in C does not evaluate it"));
        None
    }

    fn const_cycle(&self, name: &str, at: At) -> Reported {
        let message = format!("the constant `{name}` refers to itself");
        self.report(Diagnostic::error("uc-const-circle", at, message))
    }

    /// Reports a chain of constants that exceeds the maximum depth. In such a chain, the definition of each constant uses the next
    /// constant. In each check, reports only the first chain. If the chain contains a cycle, reports the cycle instead.
    fn deep_const(&self, class: &str, name: &str, found: &ConstSym) -> Reported {
        if self.depth_reported.replace(true) {
            return Reported;
        }
        if let Some(cycle) = self.find_cycle(class, found) {
            self.invalid_consts.borrow_mut().extend(cycle);
            self.depth_reported.set(false);
            return self.const_cycle(name, found.at);
        }
        let message = format!(
            "the constant `{name}` ends a chain of more than {MAX_DEPTH} constants, each of which uses the next"
        );
        let error = Diagnostic::error("uc-too-deep", found.at, message);
        self.report(error.hint("declare them in the other order, each after the constants that it uses"))
    }

    /// Returns the locations of all constants that the definition of `found` uses, directly or indirectly. Returns `None` if these do not
    /// include `found` itself.
    fn find_cycle(&self, class: &str, found: &ConstSym) -> Option<HashSet<At>> {
        let (mut seen, mut is_cycle) = (HashSet::default(), false);
        let mut open = vec![(found.at.0, found.value.span)];
        while let Some((file, span)) = open.pop() {
            let mut tokens = Tokens::new(self.sources.get(file)?.slice(span));
            loop {
                let token = tokens.next();
                match token.kind {
                    Kind::End => break,
                    Kind::Word => {}
                    _ => continue,
                }
                let (start, end) = (span.start + token.span.start, span.start + token.span.end);
                let word = self.sources[file].slice(crate::source::Span { start, end });
                let Some(other) = self.find_const(class, word) else { continue };
                is_cycle |= other.at == found.at;
                if seen.insert(other.at) {
                    open.push((other.at.0, other.value.span));
                }
            }
        }
        is_cycle.then_some(seen)
    }
}
