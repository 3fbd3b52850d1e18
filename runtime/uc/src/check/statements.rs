//! Checks statements, and builds the statements of the checked tree.

use super::body::Body;
use super::operators::negated;
use super::{Found, Reported};
use crate::ast::{self, DoEnd, Infix};
use crate::hash::HashMap;
use crate::hir::{Arm, Const, Expr, ExprKind, Intrinsic, Stmt, StmtKind, Type};
use crate::source::Span;

impl Body<'_, '_> {
    /// Checks statements. Reports errors, and omits the statements that contain them.
    pub(super) fn block(&mut self, statements: &[ast::Stmt]) -> Vec<Stmt> {
        let is_kept =
            |statement: &&ast::Stmt| !matches!(statement.kind, ast::StmtKind::Local(..) | ast::StmtKind::Empty);
        let mut found = Vec::with_capacity(statements.iter().filter(is_kept).count());
        for statement in statements {
            match self.statement(statement) {
                Ok(kind) => found.extend(kind.map(|kind| Stmt { kind, line: self.line(statement.span) })),
                Err(Reported) => self.is_incomplete = true,
            }
        }
        found
    }

    fn loop_body(&mut self, statements: &[ast::Stmt]) -> Vec<Stmt> {
        self.loops += 1;
        self.breakable += 1;
        let body = self.block(statements);
        self.loops -= 1;
        self.breakable -= 1;
        body
    }

    /// Checks a statement. Returns `None` for a declaration, because declarations produce no code.
    fn statement(&mut self, statement: &ast::Stmt) -> Found<Option<StmtKind>> {
        let span = statement.span;
        Ok(Some(match &statement.kind {
            ast::StmtKind::Empty => return Ok(None),
            ast::StmtKind::Expr(value) => self.expression_statement(value)?,
            ast::StmtKind::Local(ty, names) => {
                let ty = self.checker.type_of_ref(ty, self.file, &self.class);
                for name in names {
                    let ty = ty.as_ref().ok().cloned();
                    let dim = name.dim.as_ref().map(|dim| self.with_own_const(dim));
                    let ty = ty.and_then(|ty| self.checker.with_dim(ty, dim.as_ref(), self.file, &self.class).ok());
                    self.add_local(&name.name, ty);
                }
                return Ok(None);
            }
            ast::StmtKind::Const(found) => {
                self.add_const(found);
                return Ok(None);
            }
            ast::StmtKind::Block(body) => StmtKind::Block(self.block(body)),
            ast::StmtKind::If(arms, other) => return self.if_statement(arms, other.as_deref()).map(Some),
            ast::StmtKind::While(condition, body) => {
                let condition = self.condition(condition);
                let body = self.loop_body(body);
                StmtKind::While { body_first: false, condition: condition?, body }
            }
            ast::StmtKind::Do(body, end) => {
                let body = self.loop_body(body);
                let condition = match end {
                    DoEnd::While(condition) => self.condition(condition)?,
                    DoEnd::Until(condition) => negated(self.condition(condition)?),
                };
                StmtKind::While { body_first: true, condition, body }
            }
            ast::StmtKind::For(init, condition, step, body) => {
                let init = self.simple(init);
                let condition = match condition {
                    Some(condition) => self.condition(condition),
                    None => Ok(self.const_expr(Const::Bool(true), Type::Bool, span)),
                };
                let step = self.simple(step);
                let body = self.loop_body(body);
                StmtKind::For { init: init?, condition: condition?, step: step?, body }
            }
            ast::StmtKind::ForEach(over, body) => {
                let head = self.foreach_head(over);
                let body = self.loop_body(body);
                let (array, element, convert, index) = head?;
                let (array, element, index) = (Box::new(array), Box::new(element), index.map(Box::new));
                StmtKind::ForEach { array, element, convert, index, body }
            }
            ast::StmtKind::Switch(value, arms) => return self.switch_statement(value, arms).map(Some),
            ast::StmtKind::Break if self.breakable == 0 => {
                return self.refuse("uc-break", span, "`break` outside of a loop and of a `switch`");
            }
            ast::StmtKind::Break => StmtKind::Break,
            ast::StmtKind::Continue if self.loops == 0 => {
                return self.refuse("uc-break", span, "`continue` outside of a loop");
            }
            ast::StmtKind::Continue => StmtKind::Continue,
            ast::StmtKind::Return(value) => self.return_statement(value.as_ref(), span)?,
            ast::StmtKind::Assert(condition) => StmtKind::Assert(self.condition(condition)?),
            ast::StmtKind::Goto(_) => {
                let error = self.error("uc-goto", span, "`goto` is outside of the language");
                return Err(self.report(error.hint("write a loop, or leave one with `break`")));
            }
            ast::StmtKind::Stop => {
                return self.refuse("uc-state", span, "`stop`, for the code of states, is outside of the language");
            }
            ast::StmtKind::Label(_) => {
                return self.refuse("uc-goto", span, "labels, for `goto` and states, are outside of the language");
            }
            ast::StmtKind::Directive(text) => {
                return Err(self.report(crate::parse::directive_outside(text, self.at(span))));
            }
        }))
    }

    fn simple(&mut self, of: &[ast::Expr]) -> Found<Vec<Stmt>> {
        let one = |value: &ast::Expr| {
            let kind = self.expression_statement(value)?;
            Ok(Stmt { kind, line: self.line(value.span) })
        };
        // Checks all expressions before it returns an error, so that each error is reported.
        let found: Vec<Found<Stmt>> = of.iter().map(one).collect();
        found.into_iter().collect()
    }

    pub(super) fn condition(&self, value: &ast::Expr) -> Found<Expr> {
        self.value_as(value, &Type::Bool)
    }

    fn if_statement(&mut self, arms: &[(ast::Expr, Vec<ast::Stmt>)], other: Option<&[ast::Stmt]>) -> Found<StmtKind> {
        let mut checked = Vec::with_capacity(arms.len());
        for (condition, body) in arms {
            let found = self.condition(condition);
            let body = self.block(body);
            checked.push((found, body, self.line(condition.span)));
        }
        let mut other = other.map_or_else(Vec::new, |other| self.block(other));
        for (condition, body, line) in checked.into_iter().rev() {
            other = vec![Stmt { kind: StmtKind::If(condition?, body, other), line }];
        }
        other.pop().map(|found| found.kind).ok_or(Reported)
    }

    fn switch_statement(&mut self, value: &ast::Expr, arms: &[ast::Arm]) -> Found<StmtKind> {
        let value_span = value.span;
        let value = self.value(value, None);
        self.breakable += 1;
        let mut made = Vec::with_capacity(arms.len());
        let mut checked = Ok(());
        let mut seen: HashMap<String, Span> = HashMap::default();
        let mut has_default = false;
        for arm in arms {
            let case = match (&arm.value, &value) {
                (None, _) => {
                    if std::mem::replace(&mut has_default, true) {
                        self.report(self.error("uc-case", arm.span, "a second `default`"));
                    }
                    None
                }
                (Some(_), Err(Reported)) => None,
                (Some(case), Ok(value)) => {
                    match self.value_as(case, &value.ty) {
                        Ok(found) => {
                            if let ExprKind::Const(known) = &found.kind {
                                let key = match known {
                                    // 0.0 and -0.0 are equal in a `switch`, so they have equal keys.
                                    Const::Float(number) => format!("{:?}", number + 0.0),
                                    known => format!("{known:?}"),
                                };
                                let first = *seen.entry(key).or_insert(case.span);
                                if first != case.span {
                                    let error = self.error("uc-case", case.span, "a second `case` of this value");
                                    self.report(error.other(self.at(first), "the first one"));
                                }
                            }
                            Some(found)
                        }
                        Err(Reported) => {
                            checked = Err(Reported);
                            None
                        }
                    }
                }
            };
            made.push(Arm { value: case, body: self.block(&arm.body), line: self.line(arm.span) });
        }
        self.breakable -= 1;
        let value = value?;
        checked?;
        let Some(operation) = self.operation(Infix::Eq, &value.ty, &value.ty) else {
            let message = format!("a `switch` cannot compare values of `{}`", value.ty);
            return self.refuse("uc-operator-types", value_span, message);
        };
        // Converts the switch value and the values of the arms to the operand type.
        let to = operation.left.clone();
        let widen = |expr: Expr| match self.checker.implicit(&expr.ty, &to) {
            Some(coercion) => super::convert::converted(expr, coercion, &to),
            None => expr,
        };
        let arms = made.into_iter().map(|arm| Arm { value: arm.value.map(widen), ..arm }).collect();
        Ok(StmtKind::Switch { value: widen(value), compare: operation.binary.on, arms })
    }

    fn return_statement(&self, value: Option<&ast::Expr>, span: Span) -> Found<StmtKind> {
        match (value, &self.result) {
            (_, Some(Type::Nothing)) => {
                if let Some(value) = value {
                    self.value(value, None)?;
                }
                Err(Reported)
            }
            (None, None) => Ok(StmtKind::Return(None)),
            (None, Some(expected)) => {
                self.refuse("uc-return", span, format!("a result of `{expected}` is missing after `return`"))
            }
            (Some(value), None) => {
                // In a function without a result, accepts a call without a result after `return`.
                let found = self.expr(value, None)?;
                if found.ty == Type::Nothing && matches!(found.kind, ExprKind::Call(_)) {
                    let line = found.line;
                    let body =
                        vec![Stmt { kind: StmtKind::Expr(found), line }, Stmt { kind: StmtKind::Return(None), line }];
                    return Ok(StmtKind::Block(body));
                }
                let error = self.error("uc-return", value.span, "this function has no result");
                Err(self.report(error.hint("write the type of the result before the name of the function")))
            }
            (Some(value), Some(expected)) => Ok(StmtKind::Return(Some(self.value_as(value, expected)?))),
        }
    }

    /// Checks an expression statement. The expression must have an effect.
    fn expression_statement(&mut self, value: &ast::Expr) -> Found<StmtKind> {
        let mut inner = value;
        while let ast::ExprKind::Paren(of) = &inner.kind {
            inner = of;
        }
        if let ast::ExprKind::Assign(target, value) = &inner.kind {
            return self.assign(target, value);
        }
        let found = self.expr(inner, None)?;
        let matters = match &found.kind {
            ExprKind::Call(_) | ExprKind::New(_) | ExprKind::Compound(_) | ExprKind::Step { .. } => true,
            ExprKind::Intrinsic(which, _) => !which.is_reading(),
            ExprKind::Convert(_, of) | ExprKind::Cast(_, of) => matches!(of.kind, ExprKind::Call(_)),
            _ => false,
        };
        if !matters {
            let error = self.error("uc-no-effect", value.span, "this statement does nothing");
            let is_compare = matches!(inner.kind, ast::ExprKind::Infix(Infix::Eq, ..));
            return Err(self.report(if is_compare { error.hint("write `=` to assign") } else { error }));
        }
        Ok(StmtKind::Expr(found))
    }

    fn assign(&self, target: &ast::Expr, value: &ast::Expr) -> Found<StmtKind> {
        // `array.Length = n` sets the length.
        if let ast::ExprKind::Member(of, name) = &target.kind
            && name.is("length")
            && let Ok(array) = self.value_quietly(of)
            && matches!(array.ty, Type::Array(_))
        {
            self.check_place(&array, of.span)?;
            return Ok(StmtKind::SetLength(array, self.value_as(value, &Type::INT)?));
        }
        // `map[key] = value` inserts or replaces an entry.
        if let ast::ExprKind::Index(of, key) = &target.kind
            && let Ok(map) = self.value_quietly(of)
            && let Type::Map(key_type, value_type) = map.ty.clone()
        {
            self.check_place(&map, of.span)?;
            let (found, new) = (self.value_as(key, &key_type)?, self.value_as(value, &value_type)?);
            let line = self.line(target.span);
            let kind = ExprKind::Intrinsic(Intrinsic::MapSet, vec![map, found, new]);
            return Ok(StmtKind::Expr(Expr { kind, ty: Type::Nothing, line }));
        }
        let place = self.expr(target, None).and_then(|place| self.check_place(&place, target.span).map(|()| place));
        let Ok(place) = place else {
            self.check_untyped(value);
            return Err(Reported);
        };
        let found = self.value_as(value, &place.ty)?;
        Ok(StmtKind::Assign(place, found))
    }
}

/// Returns true if every path through the statements returns.
pub(super) fn returns(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(body) => returns(body),
        StmtKind::If(_, one, other) => returns(one) && returns(other),
        StmtKind::While { condition, body, .. } => {
            matches!(condition.kind, ExprKind::Const(Const::Bool(true))) && !breaks(body)
        }
        StmtKind::Switch { arms, .. } => {
            arms.iter().any(|arm| arm.value.is_none())
                && arms.last().is_some_and(|last| returns(&last.body))
                && !arms.iter().any(|arm| breaks(&arm.body))
        }
        _ => false,
    })
}

/// Returns true if a `break` in these statements ends the enclosing loop or `switch`.
fn breaks(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Break => true,
        StmtKind::Block(body) => breaks(body),
        StmtKind::If(_, one, other) => breaks(one) || breaks(other),
        _ => false,
    })
}
