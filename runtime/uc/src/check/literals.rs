//! Literals: numbers, strings, names, classes, objects, vectors.

use super::Found;
use super::body::{Body, as_const};
use super::convert::num_const;
use super::lookup::TRIPLE_HINT;
use crate::ast::{self, Ident, Prefix};
use crate::hir::{Const, Expr, ExprKind, Num, Type};
use crate::source::Span;

/// Removes the signs and parentheses around an expression. Returns the kind of the remaining expression.
fn unsigned(value: &ast::Expr) -> &ast::ExprKind {
    match &value.kind {
        ast::ExprKind::Prefix(Prefix::Minus | Prefix::Plus, of) | ast::ExprKind::Paren(of) => unsigned(of),
        kind => kind,
    }
}

/// Returns true for number literals, with or without a sign.
pub(super) fn is_number(value: &ast::Expr) -> bool {
    matches!(unsigned(value), ast::ExprKind::Int(..) | ast::ExprKind::Float(..))
}

/// Returns true for floating-point literals, with or without a sign.
pub(super) fn is_fraction(value: &ast::Expr) -> bool {
    matches!(unsigned(value), ast::ExprKind::Float(..))
}

/// Returns true for the value of a literal that exceeds the range of its floating-point type.
pub(super) fn is_infinite(value: &Const) -> bool {
    matches!(value, Const::Float(number) if number.is_infinite())
}

impl Body<'_, '_> {
    pub(super) fn const_expr(&self, value: Const, ty: Type, span: Span) -> Expr {
        Expr { kind: ExprKind::Const(value), ty, line: self.line(span) }
    }

    /// Determines the type of an integer literal. Tries the expected type, `int`, `i64` and `u64` in this order. Uses the first type whose
    /// range includes the value.
    pub(super) fn whole(
        &self,
        text: &str,
        value: Option<u64>,
        negative: bool,
        expected: Option<&Type>,
        span: Span,
    ) -> Found<Expr> {
        let too_large = || {
            let message = format!("`{text}` does not fit in 64 bits");
            self.report(self.error("uc-number-range", span, message))
        };
        let Some(value) = value else { return Err(too_large()) };
        let is_hex = text.starts_with("0x") || text.starts_with("0X");
        let value = if negative { -i128::from(value) } else { i128::from(value) };
        let fits = |num: &Num| num.range().is_none_or(|(low, high)| (low..=high).contains(&value));
        let made = |num: Num| Ok(self.const_expr(num_const(0.0, Some(value), num), Type::Num(num), span));
        match expected {
            Some(Type::Num(num)) if fits(num) => return made(*num),
            _ if fits(&Num::I32) => return made(Num::I32),
            _ => {}
        }
        // A hexadecimal literal specifies the bit pattern of an `int`.
        if is_hex && !negative && u32::try_from(value).is_ok() {
            return Ok(self.const_expr(Const::Int(i128::from(value as u32 as i32)), Type::INT, span));
        }
        [Num::I64, Num::U64].into_iter().find(fits).map_or_else(|| Err(too_large()), made)
    }

    /// Determines the type of a floating-point literal: `f64` if `f64` is expected, otherwise `float`.
    pub(super) fn fraction(&self, value: f64, expected: Option<&Type>, span: Span) -> Found<Expr> {
        let num = if let Some(Type::Num(Num::F64)) = expected { Num::F64 } else { Num::F32 };
        let found = num_const(value, None, num);
        if is_infinite(&found) {
            let message = format!("this number does not fit in a `{}`", num.script_name());
            return self.refuse("uc-number-range", span, message);
        }
        Ok(self.const_expr(found, Type::Num(num), span))
    }

    /// Resolves `Texture'Pkg.Name'` and `class'Pawn'`.
    pub(super) fn object_literal(&self, word: &Ident, name: &str, span: Span) -> Found<Expr> {
        let mut dotted = Ident::dotted(name, span);
        dotted.retain(|part| !part.text.is_empty());
        if word.is("class") {
            if dotted.is_empty() {
                return self.refuse("uc-no-class", span, "the name of a class is missing between the quotes");
            }
            let path = self.checker.class_named(&dotted, self.file)?;
            return Ok(self.const_expr(Const::Class(path.clone()), Type::Class(path), span));
        }
        if word.is("enum") {
            return self.refuse("uc-no-value", span, "an enum is a value only in `GetEnum(enum'X', n)`");
        }
        match self.checker.known_type("class", std::slice::from_ref(word), self.file)? {
            Type::Object(path) => {
                let empty = name.is_empty() || name.eq_ignore_ascii_case("none");
                let value = if empty { Const::None } else { Const::Object(path.clone(), name.to_owned()) };
                Ok(self.const_expr(value, Type::Object(path), span))
            }
            _ => {
                let message = format!("`{}` is not a class: only objects are named like this", word.text);
                self.refuse("uc-no-class", word.span, message)
            }
        }
    }

    /// Evaluates `vect(1, 2, 3)` and `rot(1, 2, 3)`.
    pub(super) fn triple_literal(
        &self,
        word: &Ident,
        values: &[ast::Expr],
        expected: Option<&Type>,
        span: Span,
    ) -> Found<Expr> {
        let is_vector = word.is("vect");
        if word.is("rng") {
            let message = "`rng(…)`, a range, is outside of the language";
            return Err(self.report(self.error("uc-range", span, message).hint("set `Min` and `Max` of the struct")));
        }
        let (name, keyword) = if is_vector { ("vector", "vect") } else { ("rotator", "rot") };
        let from_expected =
            expected.and_then(|expected| self.checker.triple(expected)).filter(|(_, kind)| *kind == is_vector);
        let found = from_expected.or_else(|| self.checker.triple_named(name, self.at(span)));
        let Some((triple, _)) = found else {
            let message = format!("reflection has no struct `{name}` of three numbers");
            let error = self.error("uc-unknown-type", word.span, message);
            return Err(self.report(error.hint(TRIPLE_HINT)));
        };
        let [one, two, three] = values else {
            return self.refuse("uc-arguments", span, format!("`{keyword}` takes three numbers, not {}", values.len()));
        };
        let mut numbers = [0.0; 3];
        for (number, value) in numbers.iter_mut().zip([one, two, three]) {
            let ty = Type::Num(triple.of);
            let found = self.checker.constant(value, self.file, &self.class, Some(&ty))?;
            let found = self.coerced(found, &ty, self.at(value.span))?;
            *number = match as_const(&found) {
                Some(Const::Float(number)) => *number,
                Some(Const::Int(number)) => *number as f64,
                _ => {
                    return self.refuse("uc-not-constant", value.span, format!("`{keyword}` takes number literals"));
                }
            };
        }
        Ok(Expr { kind: ExprKind::Triple(numbers), ty: Type::Struct(triple.path), line: self.line(span) })
    }
}
