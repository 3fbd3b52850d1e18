//! Operators: selects the operand types and the result type.

use super::body::Body;
use super::convert::{converted, is_text};
use super::literals::{is_fraction, is_number};
use super::{Found, Reported};
use crate::ast::{self, Infix, Prefix};
use crate::hir::{Binary, Compound, Const, Conversion, Expr, ExprKind, Intrinsic, Num, Op, Operand, Type, Unary};
use crate::source::Span;

pub(super) struct Operation {
    pub(super) binary: Binary,
    pub(super) left: Type,
    pub(super) right: Type,
    pub(super) result: Type,
}

/// Returns the number type to which the operands of an operator are promoted, if both are numbers. Returns `None` for `u64` with a signed
/// type.
pub(super) fn promoted(one: Num, other: Num) -> Option<Num> {
    use Num as N;
    if one == N::F64 || other == N::F64 {
        return Some(N::F64);
    }
    if one.is_float() || other.is_float() {
        let whole = if one.is_float() { other } else { one };
        return Some(if whole.bits() > 32 { N::F64 } else { N::F32 });
    }
    let wide = |num: N| if num.bits() < 32 { N::I32 } else { num };
    Some(match (wide(one), wide(other)) {
        (one, other) if one == other => one,
        (N::U64, N::U32) | (N::U32, N::U64) => N::U64,
        (N::U64, _) | (_, N::U64) => return None,
        _ => N::I64,
    })
}

fn number_of(ty: &Type) -> Option<Num> {
    match ty {
        Type::Num(num) | Type::Enum(_, num) => Some(*num),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// Resolves an operator for two operand types. Does not handle string conversions, `&&` and `||`.
    pub(super) fn operation(&self, op: Infix, left: &Type, right: &Type) -> Option<Operation> {
        let simple = op.op()?;
        let make = |on: Operand, left: Type, right: Type, result: Type| {
            Some(Operation { binary: Binary { op: simple, on }, left, right, result })
        };
        let same = |on: Operand, ty: &Type, result: Type| make(on, ty.clone(), ty.clone(), result);
        let nums = number_of(left).zip(number_of(right));
        let triples = (self.checker.triple(left), self.checker.triple(right));
        match simple {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem => {
                if let Some((one, other)) = nums {
                    let num = promoted(one, other)?;
                    return same(Operand::Num(num), &Type::Num(num), Type::Num(num));
                }
                match triples {
                    (Some((one, kind)), Some((_, other_kind))) if kind == other_kind => {
                        let fits = matches!(simple, Op::Add | Op::Sub) || (kind && matches!(simple, Op::Mul | Op::Div));
                        if fits { same(Operand::Triple(one), left, left.clone()) } else { None }
                    }
                    (Some((one, _)), None) if matches!(simple, Op::Mul | Op::Div) => {
                        number_of(right)?;
                        let by = Type::Num(if one.of == Num::F32 { Num::F32 } else { Num::F64 });
                        make(Operand::TripleScalar(one), left.clone(), by, left.clone())
                    }
                    (None, Some((other, _))) if simple == Op::Mul => {
                        number_of(left)?;
                        let by = Type::Num(if other.of == Num::F32 { Num::F32 } else { Num::F64 });
                        make(Operand::ScalarTriple(other), by, right.clone(), right.clone())
                    }
                    _ => None,
                }
            }
            Op::Pow => {
                let (one, other) = nums?;
                let num = if promoted(one, other) == Some(Num::F64) { Num::F64 } else { Num::F32 };
                same(Operand::Num(num), &Type::Num(num), Type::Num(num))
            }
            Op::Shl | Op::Shr | Op::Ushr => {
                if let (Some((vector, true)), Some((rotator, false))) = &triples
                    && simple != Op::Ushr
                {
                    let on = Operand::Turned(vector.clone(), rotator.clone());
                    return make(on, left.clone(), right.clone(), left.clone());
                }
                let (one, _) = nums.filter(|(one, other)| !one.is_float() && !other.is_float())?;
                let num = promoted(one, one)?;
                make(Operand::Num(num), Type::Num(num), Type::INT, Type::Num(num))
            }
            Op::BitAnd | Op::BitOr | Op::BitXor => {
                let (one, other) = nums?;
                let num = promoted(one, other).filter(|num| !num.is_float())?;
                same(Operand::Num(num), &Type::Num(num), Type::Num(num))
            }
            Op::Xor => {
                (*left == Type::Bool && *right == Type::Bool).then(|| same(Operand::Bool, left, Type::Bool)).flatten()
            }
            Op::ClockwiseFrom => {
                nums.filter(|(one, other)| !one.is_float() && !other.is_float())?;
                same(Operand::Num(Num::I32), &Type::INT, Type::Bool)
            }
            Op::Dot | Op::Cross => match triples {
                (Some((one, true)), Some((_, true))) if one.of.is_float() => {
                    let result = if simple == Op::Dot { Type::Num(one.of) } else { left.clone() };
                    same(Operand::Triple(one), left, result)
                }
                _ => None,
            },
            Op::Near => {
                if let Some((one, other)) = nums {
                    let num = if promoted(one, other)? == Num::F64 { Num::F64 } else { Num::F32 };
                    return same(Operand::Num(num), &Type::Num(num), Type::Bool);
                }
                (is_text(left) && is_text(right)).then(|| same(Operand::Text, &Type::Text, Type::Bool)).flatten()
            }
            Op::Lt | Op::Le | Op::Gt | Op::Ge => {
                if is_text(left) && is_text(right) {
                    return same(Operand::Text, &Type::Text, Type::Bool);
                }
                self.numbers_compared(left, right).and_then(|(on, ty)| same(on, &ty, Type::Bool))
            }
            _ => self.equality(left, right).and_then(|(on, one, other)| make(on, one, other, Type::Bool)),
        }
    }

    fn numbers_compared(&self, left: &Type, right: &Type) -> Option<(Operand, Type)> {
        match (left, right) {
            (Type::Enum(one, num), Type::Enum(other, _)) => (one == other).then(|| (Operand::Enum(*num), left.clone())),
            _ => {
                let num = promoted(number_of(left)?, number_of(right)?)?;
                Some((Operand::Num(num), Type::Num(num)))
            }
        }
    }

    /// Returns the operand kind of an equality comparison, and the types to which its left and right operands must be converted.
    fn equality(&self, left: &Type, right: &Type) -> Option<(Operand, Type, Type)> {
        let both = |on, ty: &Type| Some((on, ty.clone(), ty.clone()));
        if number_of(left).is_some() && number_of(right).is_some() {
            return self.numbers_compared(left, right).map(|(on, ty)| (on, ty.clone(), ty));
        }
        let object = |ty: &Type| matches!(ty, Type::Object(_) | Type::Class(_) | Type::Interface(_));
        match (left, right) {
            (Type::Bool, Type::Bool) => both(Operand::Bool, left),
            (one, other) if is_text(one) && is_text(other) => both(Operand::Text, &Type::Text),
            (Type::Name, Type::Name) => both(Operand::Name, left),
            (Type::None, Type::None) => both(Operand::Object, &Type::Object(self.checker.root_of(&self.class))),
            (Type::None, other) if object(other) => both(Operand::Object, other),
            (one, Type::None) if object(one) => both(Operand::Object, one),
            (Type::Reference(_, one), Type::None | Type::Object(_) | Type::Class(_) | Type::Reference(..)) => {
                let is_class = matches!(left, Type::Reference(alcedo_abi::kinds::PropertyKind::SOFT_CLASS, _));
                let to_object = if is_class { Type::Class } else { Type::Object };
                let left = to_object(one.clone());
                let right = match right {
                    Type::Reference(_, other) => to_object(other.clone()),
                    Type::None => left.clone(),
                    other => other.clone(),
                };
                self.equality(&left, &right)
            }
            (Type::None | Type::Object(_) | Type::Class(_), Type::Reference(..))
            | (Type::Object(_), Type::Interface(_) | Type::Class(_)) => {
                self.equality(right, left).map(|(on, one, other)| (on, other, one))
            }
            (Type::Interface(_) | Type::Class(_), Type::Object(path)) => {
                let root = Type::Object(self.checker.root_of(path));
                Some((Operand::Object, root, right.clone()))
            }
            (one, other) if object(one) && object(other) => Some((Operand::Object, left.clone(), right.clone())),
            (Type::Delegate(kind, _, one), Type::Delegate(other_kind, _, other))
                if kind == other_kind && one == other =>
            {
                Some((Operand::Delegate, left.clone(), left.clone()))
            }
            (Type::Struct(one), Type::Struct(other)) => match (self.checker.triple(left), self.checker.triple(right)) {
                (Some((triple, kind)), Some((_, other_kind))) if kind == other_kind => {
                    both(Operand::Triple(triple), left)
                }
                _ if one == other => both(Operand::Struct(one.clone()), left),
                _ => None,
            },
            (one, other) if one == other && !matches!(one, Type::Nothing | Type::None) => both(Operand::Value, left),
            _ => None,
        }
    }

    pub(super) fn infix(
        &self,
        op: Infix,
        at: Span,
        one: &ast::Expr,
        other: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Found<Expr> {
        if op.assigns() {
            return self.compound(op, at, one, other, span);
        }
        if matches!(op, Infix::And | Infix::Or) {
            let (left, right) = (self.condition(one), self.condition(other));
            let (left, right) = (Box::new(left?), Box::new(right?));
            let kind = if op == Infix::And { ExprKind::And(left, right) } else { ExprKind::Or(left, right) };
            return Ok(Expr { kind, ty: Type::Bool, line: self.line(span) });
        }
        if let Some(op @ (Op::Concat | Op::ConcatSpaced)) = op.op() {
            let (left, right) = (self.text_operand(one), self.text_operand(other));
            let kind = ExprKind::Binary(Binary { op, on: Operand::Text }, Box::new(left?), Box::new(right?));
            return Ok(Expr { kind, ty: Type::Text, line: self.line(span) });
        }
        let (left, right) = self.operands(op, one, other, expected)?;
        let line = self.line(span);
        // A comparison of a delegate with `none` checks if the delegate is bound.
        if matches!(op, Infix::Eq | Infix::Ne) {
            let bound = match (&left.ty, &right.ty) {
                (Type::Delegate(..), Type::None) => Some(left.clone()),
                (Type::None, Type::Delegate(..)) => Some(right.clone()),
                _ => None,
            };
            if let Some(delegate) = bound {
                let kind = ExprKind::Intrinsic(Intrinsic::DelegateIsBound, vec![delegate]);
                let bound = Expr { kind, ty: Type::Bool, line };
                return Ok(if op == Infix::Ne { bound } else { negated(bound) });
            }
        }
        let operation = self.known_operation(op, at, &left, &right, other.span)?;
        let left = self.coerced(left, &operation.left, self.at(one.span))?;
        let right = self.coerced(right, &operation.right, self.at(other.span))?;
        let kind = ExprKind::Binary(operation.binary, Box::new(left), Box::new(right));
        Ok(Expr { kind, ty: operation.result, line })
    }

    /// Finds the operation of an operator at `at`. Warns if the right operand at `span` is a zero that divides.
    fn known_operation(&self, op: Infix, at: Span, left: &Expr, right: &Expr, span: Span) -> Found<Operation> {
        let operation =
            self.operation(op, &left.ty, &right.ty).ok_or_else(|| self.no_operation(op, at, left, right))?;
        let divides = matches!(op, Infix::Div | Infix::Rem | Infix::DivAssign);
        let is_whole = matches!(operation.binary.on, Operand::Num(num) if !num.is_float());
        if divides && is_whole && matches!(right.kind, ExprKind::Const(Const::Int(0))) {
            self.report(self.error("uc-division-by-zero", span, "a division by zero gives 0").warning());
        }
        Ok(operation)
    }

    /// Checks both operands. A number literal adopts the number type of the opposite operand. An entry name is resolved in the enum of the
    /// opposite operand.
    fn operands(&self, op: Infix, one: &ast::Expr, other: &ast::Expr, expected: Option<&Type>) -> Found<(Expr, Expr)> {
        let shifts = matches!(op, Infix::Shl | Infix::Shr | Infix::Ushr);
        let numeric = |found: &Found<Expr>| match found {
            Ok(Expr { ty: ty @ (Type::Num(_) | Type::Enum(..) | Type::Delegate(..)), .. }) => Some(ty.clone()),
            Ok(Expr { ty, .. }) => self.checker.triple(ty).map(|(triple, _)| Type::Num(triple.of)),
            Err(Reported) => None,
        };
        // The expected type does not affect operands: `7 / 2` is 3, even if a `float` is expected. The only exception is a float literal,
        // which is `f64` if an `f64` is expected.
        let expected = expected.filter(|expected| **expected == Type::Num(Num::F64));
        let expected_of = |value: &ast::Expr| if is_fraction(value) { expected } else { None };
        // In `ENTRY == value`, checks the right operand first, because it determines the enum of the entry. Checks variables of other types
        // first, because in `OnDone == Object.Done` the variable determines the type of the function.
        let may_name_entry = |name: &str| matches!(self.variable_type(name), None | Some(Some(Type::Enum(..))));
        let may_be_entry = matches!(&one.kind, ast::ExprKind::Ident(name) if may_name_entry(&name.text));
        let is_entry =
            may_be_entry && !matches!(other.kind, ast::ExprKind::Ident(_)) && matches!(op, Infix::Eq | Infix::Ne);
        if !is_number(other) && (is_entry || is_number(one) && !shifts) {
            let right = self.value(other, None);
            let left = self.value(one, numeric(&right).as_ref());
            return Ok((left?, right?));
        }
        let left = self.value(one, expected_of(one));
        let hint = if shifts || (is_number(one) && is_number(other)) { None } else { numeric(&left) };
        let right = self.value(other, hint.as_ref().or(expected_of(other)));
        Ok((left?, right?))
    }

    /// Converts any value to a string.
    pub(super) fn text_operand(&self, value: &ast::Expr) -> Found<Expr> {
        let found = self.value(value, None)?;
        if found.ty == Type::None {
            return Ok(self.const_expr(Const::Text("None".to_owned()), Type::Text, value.span));
        }
        match self.checker.explicit(&found.ty, &Type::Text) {
            Some(coercion) => Ok(converted(found, coercion, &Type::Text)),
            None => Err(self.mismatch(&found.ty, &Type::Text, self.at(value.span))),
        }
    }

    fn no_operation(&self, op: Infix, at: Span, left: &Expr, right: &Expr) -> Reported {
        // If a class declares this operator, the unsupported declaration is already reported.
        let is_declared = self.checker.own_operators.borrow().iter().any(|sign| sign.eq_ignore_ascii_case(op.sign()));
        if is_declared || self.checker.is_unsure(&left.ty) || self.checker.is_unsure(&right.ty) {
            return Reported;
        }
        let message = format!("`{}` is not defined for `{}` and `{}`", op.sign(), left.ty, right.ty);
        let mut error = self.error("uc-operator-types", at, message);
        let has = |is: &dyn Fn(&Type) -> bool| is(&left.ty) || is(&right.ty);
        let compares = |one: &Expr, other: &Expr| {
            one.ty == Type::Bool && matches!(one.kind, ExprKind::Binary(..)) && number_of(&other.ty).is_some()
        };
        if op == Infix::Add && has(&is_text) {
            error = error.hint("concatenate strings with `$`, or with `@` and a space between");
        } else if has(&|ty| *ty == Type::Name) && has(&is_text) {
            error = error.hint("a name is written `'name'`; `string(x)` converts a name to a string");
        } else if matches!((&left.ty, &right.ty), (Type::Enum(..), Type::Enum(..))) {
            error = error.hint("these are two enums: to compare them anyway, convert both with `int(…)`");
        } else if op == Infix::Rem && has(&|ty| *ty == Type::Num(Num::U64)) || promotes_not(&left.ty, &right.ty) {
            error =
                error.hint("one is signed and the other is unsigned: write `i64(…)` or `u64(…)` around one of them");
        } else if matches!(op, Infix::BitAnd | Infix::BitOr | Infix::BitXor)
            && (compares(left, right) || compares(right, left))
        {
            error = error.hint(format!("comparisons bind tighter than `{}`: add parentheses", op.sign()));
        } else if matches!(op, Infix::BitAnd | Infix::BitOr) && left.ty == Type::Bool {
            error = error.hint("use `&&` and `||` for conditions");
        } else if has(&|ty| *ty == Type::Bool) && has(&|ty| number_of(ty).is_some()) {
            error = error.hint("`int(x)` converts a `bool` to a number");
        }
        self.report(error)
    }

    fn compound(&self, op: Infix, at: Span, one: &ast::Expr, other: &ast::Expr, span: Span) -> Found<Expr> {
        let place = self.value(one, None).and_then(|place| self.check_place(&place, one.span).map(|()| place));
        let op_of_text = match (op.op(), &place) {
            (Some(op @ (Op::Concat | Op::ConcatSpaced)), _) => Some(op),
            (Some(Op::Sub), Ok(place)) if is_text(&place.ty) => Some(Op::TextWithout),
            _ => None,
        };
        if let Some(op) = op_of_text {
            let value = self.text_operand(other);
            let (place, value) = (place?, value?);
            if !is_text(&place.ty) {
                return Err(self.mismatch(&place.ty, &Type::Text, self.at(one.span)));
            }
            return self.compound_of(place, Binary { op, on: Operand::Text }, &Type::Text, value, &Type::Text, span);
        }
        let hint = place.as_ref().ok().map(|place| match self.checker.triple(&place.ty) {
            Some((triple, _)) => Type::Num(triple.of),
            None => place.ty.clone(),
        });
        let hint = hint.filter(|hint| matches!(hint, Type::Num(_)));
        let value = self.value(other, hint.as_ref());
        let (place, mut value) = (place?, value?);
        // Converts a float that is added to an integer to an integer first, as UnrealScript does: `i -= 0.5` does not change `i`.
        if let (Some(Op::Add | Op::Sub), Type::Num(to), Type::Num(from)) = (op.op(), &place.ty, &value.ty)
            && !to.is_float()
            && from.is_float()
            && let Some(whole) = promoted(*to, Num::I32)
        {
            let by = Conversion::Num(*from, whole);
            value = converted(value, by, &Type::Num(whole));
        }
        let operation = self.known_operation(op, at, &place, &value, other.span)?;
        let value = self.coerced(value, &operation.right, self.at(other.span))?;
        self.compound_of(place, operation.binary, &operation.left, value, &operation.result, span)
    }

    fn compound_of(&self, place: Expr, op: Binary, left: &Type, value: Expr, result: &Type, span: Span) -> Found<Expr> {
        let ty = place.ty.clone();
        let coercion = |from: &Type, to: &Type| match (self.checker.implicit(from, to), from, to) {
            (Some(conversion), ..) => Ok(conversion),
            (None, Type::Num(from), Type::Enum(path, to)) => Ok(Some(Conversion::NumToEnum(*from, path.clone(), *to))),
            _ => Err(self.mismatch(from, to, self.at(span))),
        };
        let (widen, narrow) = (coercion(&ty, left)?, coercion(result, &ty)?);
        let (left, result) = (left.clone(), result.clone());
        let kind = ExprKind::Compound(Box::new(Compound { place, left, widen, op, value, result, narrow }));
        Ok(Expr { kind, ty, line: self.line(span) })
    }

    pub(super) fn step(&self, of: &ast::Expr, up: bool, post: bool, span: Span) -> Found<Expr> {
        let place = self.value(of, None)?;
        if !matches!(place.ty, Type::Num(_)) {
            let sign = if up { "++" } else { "--" };
            return self.refuse("uc-operator-types", span, format!("`{sign}` is not defined for `{}`", place.ty));
        }
        self.check_place(&place, of.span)?;
        let ty = place.ty.clone();
        Ok(Expr { kind: ExprKind::Step { place: Box::new(place), up, post }, ty, line: self.line(span) })
    }

    pub(super) fn prefix(&self, sign: Prefix, of: &ast::Expr, expected: Option<&Type>, span: Span) -> Found<Expr> {
        let line = self.line(span);
        let make = |unary, of: Expr, ty| Ok(Expr { kind: ExprKind::Unary(unary, Box::new(of)), ty, line });
        match sign {
            Prefix::Up | Prefix::Down => return self.step(of, sign == Prefix::Up, false, span),
            Prefix::Not => return Ok(Expr { line, ..negated(self.condition(of)?) }),
            _ => {}
        }
        let mut inner = of;
        while let ast::ExprKind::Paren(of) = &inner.kind {
            inner = of;
        }
        match (&inner.kind, sign) {
            (ast::ExprKind::Int(text, number), Prefix::Minus) => {
                return self.whole(text, *number, true, expected, span);
            }
            (ast::ExprKind::Float(_, number), Prefix::Minus) => return self.fraction(-number, expected, span),
            _ => {}
        }
        let found = self.value(of, None)?;
        let refused = |body: &Self| {
            let operator = match sign {
                Prefix::Minus => "-",
                Prefix::Plus => "+",
                _ => "~",
            };
            let message = format!("`{operator}` is not defined for `{}`", found.ty);
            body.report(body.error("uc-operator-types", span, message))
        };
        if let Some((triple, _)) = self.checker.triple(&found.ty) {
            let ty = found.ty.clone();
            return match sign {
                Prefix::Minus => match found.kind {
                    ExprKind::Triple(values) => {
                        Ok(Expr { kind: ExprKind::Triple(values.map(|value| -value)), ty, line })
                    }
                    _ => make(Unary::NegTriple(triple), found, ty),
                },
                Prefix::Plus => Ok(found),
                _ => Err(refused(self)),
            };
        }
        let Some(num) = number_of(&found.ty).and_then(|num| promoted(num, num)) else { return Err(refused(self)) };
        let ty = Type::Num(num);
        match sign {
            Prefix::Plus => self.coerced(found, &ty, self.at(span)),
            Prefix::Tilde if num.is_float() => Err(refused(self)),
            Prefix::Tilde => {
                let found = self.coerced(found, &ty, self.at(span))?;
                make(Unary::BitNot(num), found, ty)
            }
            _ => {
                // Negation converts an unsigned operand to a wider signed type.
                let num = match num {
                    Num::U32 => Num::I64,
                    Num::U64 => return Err(refused(self)),
                    num => num,
                };
                let ty = Type::Num(num);
                let found = self.coerced(found, &ty, self.at(span))?;
                match &found.kind {
                    ExprKind::Const(Const::Int(value)) if num.range().is_some_and(|(low, _)| *value > low) => {
                        Ok(self.const_expr(Const::Int(-value), ty, span))
                    }
                    ExprKind::Const(Const::Float(value)) => Ok(self.const_expr(Const::Float(-value), ty, span)),
                    _ => make(Unary::Neg(num), found, ty),
                }
            }
        }
    }
}

/// Returns the negation of a condition.
pub(super) fn negated(condition: Expr) -> Expr {
    let line = condition.line;
    Expr { kind: ExprKind::Unary(Unary::Not, Box::new(condition)), ty: Type::Bool, line }
}

fn promotes_not(left: &Type, right: &Type) -> bool {
    number_of(left).zip(number_of(right)).is_some_and(|(one, other)| promoted(one, other).is_none())
}
