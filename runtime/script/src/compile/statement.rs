//! Compiles statements of the checked tree to bytecode.

use alcedo_uc::hir::{Arm, Const, Conversion, Expr, ExprKind, Intrinsic, Num, Op, Operand, Stmt, StmtKind, Type};

use super::FunctionCompiler;
use super::effects::writes;
use crate::code::{At, Ins, Step};

impl FunctionCompiler {
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.line = statement.line;
            self.statement(&statement.kind);
            self.end_statement();
        }
    }

    fn statement(&mut self, statement: &StmtKind) {
        match statement {
            StmtKind::Expr(expr) => self.dropped(expr),
            StmtKind::Assign(place, value) => self.assign(place, value),
            StmtKind::SetLength(array, length) => {
                let location = self.location(array, writes(length));
                let length = self.expr(length);
                let place = self.place_number(&location);
                self.emit(Ins::SetLength { place, length });
            }
            StmtKind::If(condition, yes, no) => {
                let else_jumps = self.branch(condition, false);
                self.end_statement();
                self.statements(yes);
                let end = (!no.is_empty()).then(|| self.jump(Ins::Jump { to: 0 }));
                else_jumps.into_iter().for_each(|jump| self.patch_jump(jump));
                self.statements(no);
                end.into_iter().for_each(|jump| self.patch_jump(jump));
            }
            StmtKind::While { body_first, condition, body } => self.repeat(*body_first, condition, &[], body),
            StmtKind::For { init, condition, step, body } => {
                self.statements(init);
                self.repeat(false, condition, step, body);
            }
            StmtKind::ForEach { array, element, convert, index, body } => {
                self.for_each(array, element, convert.as_ref(), index.as_deref(), body);
            }
            StmtKind::Switch { value, compare, arms } => self.switch(value, compare, arms),
            StmtKind::Break | StmtKind::Continue => {
                let jump = self.jump(Ins::Jump { to: 0 });
                let open = if *statement == StmtKind::Break { &mut self.breaks } else { &mut self.continues };
                open.last_mut().into_iter().for_each(|inner| inner.push(jump));
            }
            StmtKind::Return(value) => {
                match (value, self.code.result) {
                    (Some(value), Some(result)) => self.expr_into(value, result),
                    (Some(value), None) => self.dropped(value),
                    (None, _) => {}
                }
                self.emit(Ins::Return);
            }
            StmtKind::Assert(condition) => {
                let holds = self.branch(condition, true);
                self.emit(Ins::Fail { message: "an assertion does not hold".into() });
                holds.into_iter().for_each(|jump| self.patch_jump(jump));
            }
            StmtKind::Block(statements) => self.statements(statements),
        }
    }

    /// Compiles a loop. The condition is emitted after the body and the step.
    fn repeat(&mut self, body_first: bool, condition: &Expr, step: &[Stmt], body: &[Stmt]) {
        let enter = (!body_first).then(|| self.jump(Ins::Jump { to: 0 }));
        let top = self.here();
        let breaks = self.loop_body(body);
        self.statements(step);
        enter.into_iter().for_each(|jump| self.patch_jump(jump));
        self.line = condition.line;
        let back = self.branch(condition, true);
        back.into_iter().for_each(|jump| self.patch_jump_to(jump, top));
        self.end_statement();
        breaks.into_iter().for_each(|jump| self.patch_jump(jump));
    }

    /// Compiles the body of a loop, and sets the targets of its `continue` jumps. Returns its `break` jumps.
    fn loop_body(&mut self, body: &[Stmt]) -> Vec<At> {
        self.breaks.push(Vec::new());
        self.continues.push(Vec::new());
        self.statements(body);
        let continues = self.continues.pop().unwrap_or_default();
        continues.into_iter().for_each(|jump| self.patch_jump(jump));
        self.breaks.pop().unwrap_or_default()
    }

    /// Evaluates an expression whose value is not used.
    fn dropped(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(call) => self.call(call, None, &expr.ty),
            ExprKind::Intrinsic(what, operands) => self.intrinsic(what, operands, None),
            ExprKind::Step { place, up, .. } => {
                self.step(place, *up);
            }
            _ => {
                self.expr(expr);
            }
        }
    }

    fn assign(&mut self, place: &Expr, value: &Expr) {
        let line = self.line;
        let location = self.location(place, writes(value));
        if let Some(reg) = location.register() {
            self.line = line;
            self.expr_into(value, reg);
            return;
        }
        let mut from = self.expr(value);
        // Copies a constant to the frame, because a store requires a source register in the frame. Only stores of structs and arrays also
        // accept constants.
        if !matches!(value.ty, Type::Struct(_) | Type::Array(_)) {
            from = self.in_frame(from, &value.ty);
        }
        self.line = line;
        self.store(&location, from);
    }

    fn for_each(
        &mut self,
        array: &Expr,
        element: &Expr,
        convert: Option<&Conversion>,
        index: Option<&Expr>,
        body: &[Stmt],
    ) {
        let element_ty = match &array.ty {
            Type::Array(of) | Type::Fixed(of, _) => (**of).clone(),
            other => other.clone(),
        };
        // Reserves these registers while the body is compiled, so that temporaries of the body use different registers.
        let mut place = self.location(array, true);
        // A fixed array of none also has all its elements.
        let length = match &array.ty {
            Type::Fixed(_, count) => self.constant(Const::Int(i128::from(*count)), &Type::INT),
            _ => self.temp(&Type::INT),
        };
        let (at, item) = (self.temp(&Type::INT), self.temp(&element_ty));
        let held = std::mem::take(&mut self.used);
        let zero = self.constant(Const::Int(0), &Type::INT);
        self.emit(Ins::Copy { to: at, from: zero });
        let whole = self.place_number(&place);
        place.steps.push(Step::Element(at));
        let one = self.place_number(&place);
        let top = self.here();
        if !matches!(array.ty, Type::Fixed(..)) {
            self.emit(Ins::Intrinsic { what: Intrinsic::Length, place: whole, args: Vec::new(), to: Some(length) });
        }
        let done = self.jump(Ins::JumpCompare { op: Op::Lt, num: Num::I32, left: at, right: length, is: false, to: 0 });
        self.emit(Ins::Load { to: item, place: one });
        let value = self.converted_temp(convert, item, &element.ty);
        let to = self.location(element, false);
        self.store(&to, value);
        if let Some(index) = index {
            let to = self.location(index, false);
            self.store(&to, at);
        }
        self.end_statement();
        let breaks = self.loop_body(body);
        let by = self.constant(Const::Int(1), &Type::INT);
        self.emit(Ins::Binary { op: Op::Add, on: Operand::Num(Num::I32), to: at, left: at, right: by });
        self.emit(Ins::Jump { to: top });
        self.patch_jump(done);
        breaks.into_iter().for_each(|jump| self.patch_jump(jump));
        self.used.extend(held);
    }

    fn switch(&mut self, value: &Expr, compare: &Operand, arms: &[Arm]) {
        let from = self.operand(value, true);
        // Reserves the value while the arms are compiled.
        let held = std::mem::take(&mut self.used);
        // Emits the comparisons and their jumps to the arms.
        let mut entries: Vec<Option<At>> = vec![None; arms.len()];
        for (arm, entry) in arms.iter().zip(&mut entries) {
            let Some(case_value) = &arm.value else { continue };
            self.line = arm.line;
            let case_reg = self.expr(case_value);
            let jump = match compare {
                Operand::Num(num) | Operand::Enum(num) => {
                    let right = if *num == Num::I32 { case_reg } else { self.in_frame(case_reg, &case_value.ty) };
                    Ins::JumpCompare { op: Op::Eq, num: *num, left: from, right, is: true, to: 0 }
                }
                on => {
                    let is = self.temp(&Type::Bool);
                    self.emit(Ins::Binary { op: Op::Eq, on: on.clone(), to: is, left: from, right: case_reg });
                    Ins::JumpIf { condition: is, is: true, to: 0 }
                }
            };
            *entry = Some(self.jump(jump));
            self.end_statement();
        }
        let default_jump = self.jump(Ins::Jump { to: 0 });
        let mut breaks = Vec::new();
        match arms.iter().position(|arm| arm.value.is_none()) {
            Some(default) => entries[default] = Some(default_jump),
            None => breaks.push(default_jump),
        }
        self.breaks.push(breaks);
        for (arm, entry) in arms.iter().zip(entries) {
            entry.into_iter().for_each(|jump| self.patch_jump(jump));
            self.statements(&arm.body);
        }
        let breaks = self.breaks.pop().unwrap_or_default();
        breaks.into_iter().for_each(|jump| self.patch_jump(jump));
        self.used.extend(held);
    }
}
