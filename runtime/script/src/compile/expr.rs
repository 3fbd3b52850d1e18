//! Compiles expressions of the checked tree to bytecode. Each expression is evaluated into a register.

use alcedo_uc::hir::{Binary, Compound, Const, Conversion, Expr, ExprKind, Intrinsic, Num, Op, Operand, Type, Unary};

use super::FunctionCompiler;
use super::effects::writes;
use crate::code::{At, Ins, Place, Reg, Register};

impl FunctionCompiler {
    /// Evaluates an expression. Returns the register with its value. The caller must not write to this register.
    pub(super) fn expr(&mut self, expr: &Expr) -> Reg {
        self.line = expr.line;
        match &expr.kind {
            ExprKind::Const(value) => self.constant(value.clone(), &expr.ty),
            ExprKind::Triple(of) => self.constant(Const::Array(of.map(Const::Float).to_vec()), &expr.ty),
            ExprKind::Local(_)
            | ExprKind::Field { .. }
            | ExprKind::Index(..)
            | ExprKind::Property { .. }
            | ExprKind::DefaultProperty { .. } => {
                let location = self.location(expr, false);
                self.load(&location, &expr.ty)
            }
            ExprKind::Step { place, up, post: false } => self.step(place, *up),
            ExprKind::Compound(compound) => self.compound(compound),
            ExprKind::Convert(Conversion::Up, inner) if inner.ty == expr.ty => self.expr(inner),
            _ => self.in_temp(expr),
        }
    }

    fn in_temp(&mut self, expr: &Expr) -> Reg {
        let temp = self.temp(&expr.ty);
        self.expr_into(expr, temp);
        temp
    }

    /// Evaluates an expression into the register.
    pub(super) fn expr_into(&mut self, expr: &Expr, to: Reg) {
        self.line = expr.line;
        match &expr.kind {
            ExprKind::Unary(op, inner) => {
                let from = self.expr(inner);
                self.line = expr.line;
                self.emit(Ins::Unary { op: op.clone(), to, from });
            }
            ExprKind::Binary(op, left, right) => self.binary_into(op, left, right, to),
            ExprKind::Convert(by, inner) => {
                let from = self.expr(inner);
                let from = match by {
                    Conversion::Num(..) | Conversion::Up => self.in_frame(from, &inner.ty),
                    _ => from,
                };
                self.emit(Ins::Convert { by: by.clone(), to, from });
            }
            ExprKind::Cast(by, inner) => {
                let from = self.expr(inner);
                self.emit(Ins::Cast { by: by.clone(), to, from });
            }
            ExprKind::SelfObject => self.emit(Ins::SelfObject { to }),
            ExprKind::SelfClass => self.emit(Ins::SelfClass { to }),
            ExprKind::ClassOf(inner) => {
                let object = self.expr(inner);
                self.emit(Ins::ClassOf { to, object });
            }
            ExprKind::Call(call) => self.call(call, Some(to), &expr.ty),
            ExprKind::Intrinsic(what, operands) => self.intrinsic(what, operands, Some(to)),
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Conditional(..) if !self.is_temp(to) => {
                let from = self.in_temp(expr);
                self.emit(Ins::Copy { to, from });
            }
            ExprKind::And(left, right) => self.short_circuit(left, right, true, to),
            ExprKind::Or(left, right) => self.short_circuit(left, right, false, to),
            ExprKind::Conditional(condition, yes, no) => {
                let else_jumps = self.branch(condition, false);
                self.expr_into(yes, to);
                let end = self.jump(Ins::Jump { to: 0 });
                else_jumps.into_iter().for_each(|jump| self.patch_jump(jump));
                self.expr_into(no, to);
                self.patch_jump(end);
            }
            ExprKind::Step { place, up, post: true } => {
                let location = self.location(place, false);
                let before = self.load(&location, &place.ty);
                // Uses a temporary, because the access path of the place may use the target register, as in `i = a[i]++`.
                if location.register().is_none() && !self.is_temp(to) && self.needs(&location, to) {
                    let kept = self.copied(before, &place.ty);
                    self.step_at(&location, place, *up);
                    self.emit(Ins::Copy { to, from: kept });
                    return;
                }
                self.emit(Ins::Copy { to, from: before });
                // Skips the step if the target is the place itself, because `i = i++` does not change `i`.
                if location.register() != Some(to) {
                    self.step_at(&location, place, *up);
                }
            }
            ExprKind::New(new) => {
                let class = self.safe(&new.class, true);
                let mut one = |expr: &Option<Expr>| expr.as_ref().map(|expr| self.safe(expr, true));
                let (outer, name, template) = (one(&new.outer), one(&new.name), one(&new.template));
                self.line = expr.line;
                self.emit(Ins::New { to, class, outer, name, template });
            }
            ExprKind::FunctionOf { object, name, .. } => {
                let object = object.as_deref().map(|object| self.expr(object));
                self.emit(Ins::Bind { to, object, function: name.clone() });
            }
            _ => {
                let from = self.expr(expr);
                if from != to {
                    self.emit(Ins::Copy { to, from });
                }
            }
        }
    }

    fn short_circuit(&mut self, left: &Expr, right: &Expr, is_and: bool, to: Reg) {
        self.expr_into(left, to);
        let done = self.jump(Ins::JumpIf { condition: to, is: !is_and, to: 0 });
        self.expr_into(right, to);
        self.patch_jump(done);
    }

    fn binary_into(&mut self, op: &Binary, left: &Expr, right: &Expr, to: Reg) {
        let line = self.line;
        let one = self.safe(left, writes(right));
        let two = self.expr(right);
        self.line = line;
        self.operate(op, (one, &left.ty), (two, &right.ty), to);
    }

    fn operate(&mut self, op: &Binary, (left, left_ty): (Reg, &Type), (right, right_ty): (Reg, &Type), to: Reg) {
        let (mut left, mut right) = (left, right);
        if let Operand::Num(num) | Operand::Enum(num) = &op.on {
            let commutes = matches!(op.op, Op::Add | Op::Mul);
            if commutes && self.is_constant(left) {
                std::mem::swap(&mut left, &mut right);
            }
            let accepts_constant = match num {
                Num::I32 => matches!(op.op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem) && !self.is_zero(right),
                Num::F32 => matches!(op.op, Op::Add | Op::Sub | Op::Mul),
                _ => false,
            };
            left = self.in_frame(left, left_ty);
            if !accepts_constant {
                right = self.in_frame(right, right_ty);
            }
        }
        self.emit(Ins::Binary { op: op.op, on: op.on.clone(), to, left, right });
    }

    /// Returns true if a register is a constant that is zero as a number of four bytes.
    fn is_zero(&self, reg: Reg) -> bool {
        match self.code.registers.get(usize::from(reg)) {
            Some(Register::Const { value: Const::Int(it) | Const::Enum(_, _, it), .. }) => *it as i32 == 0,
            _ => false,
        }
    }

    fn compound(&mut self, compound: &Compound) -> Reg {
        let line = self.line;
        let location = self.location(&compound.place, writes(&compound.value));
        let value = self.expr(&compound.value);
        self.line = line;
        let place_ty = &compound.place.ty;
        if compound.widen.is_none() && compound.narrow.is_none() {
            return self.change(&compound.op, &location, place_ty, (value, &compound.value.ty));
        }
        let before = self.load(&location, place_ty);
        let left = self.converted_temp(compound.widen.as_ref(), before, &compound.left);
        let made = self.temp(&compound.result);
        self.operate(&compound.op, (left, &compound.left), (value, &compound.value.ty), made);
        let narrow = self.converted_temp(compound.narrow.as_ref(), made, place_ty);
        self.store(&location, narrow);
        narrow
    }

    /// Compiles `++` and `--`. Returns the register of the new value.
    pub(super) fn step(&mut self, place: &Expr, up: bool) -> Reg {
        let location = self.location(place, false);
        self.step_at(&location, place, up)
    }

    fn step_at(&mut self, location: &Place, place: &Expr, up: bool) -> Reg {
        let num = match &place.ty {
            Type::Num(num) => *num,
            _ => Num::I32,
        };
        let one = if num.is_float() { Const::Float(1.0) } else { Const::Int(1) };
        let one = self.constant(one, &place.ty);
        let op = Binary { op: if up { Op::Add } else { Op::Sub }, on: Operand::Num(num) };
        self.change(&op, location, &place.ty, (one, &place.ty))
    }

    /// Applies an operator to a place, as in a compound assignment. Returns the register of the new value.
    fn change(&mut self, op: &Binary, location: &Place, ty: &Type, by: (Reg, &Type)) -> Reg {
        let before = self.load(location, ty);
        // If the place is a register, the result is written directly to this register.
        let to = location.register().unwrap_or_else(|| self.temp(ty));
        self.operate(op, (before, ty), by, to);
        self.store(location, to);
        to
    }

    pub(super) fn intrinsic(&mut self, what: &Intrinsic, operands: &[Expr], to: Option<Reg>) {
        let line = self.line;
        let Some((on, rest)) = operands.split_first() else { return };
        let location = self.location(on, rest.iter().any(writes));
        let mut args = Vec::with_capacity(rest.len());
        for (at, arg) in rest.iter().enumerate() {
            args.push(self.safe(arg, rest[at + 1..].iter().any(writes)));
        }
        let place = self.place_number(&location);
        self.line = line;
        self.emit(Ins::Intrinsic { what: what.clone(), place, args, to });
    }

    /// Compiles a condition. Returns the jumps that are taken if the condition equals `is`, so that the caller can set their targets. For
    /// the opposite value, execution continues after the condition.
    pub(super) fn branch(&mut self, condition: &Expr, is: bool) -> Vec<At> {
        self.line = condition.line;
        match &condition.kind {
            ExprKind::Unary(Unary::Not, inner) => self.branch(inner, !is),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let is_and = matches!(condition.kind, ExprKind::And(..));
                if is_and == is {
                    // The jump is taken only if both operands equal `is`.
                    let past = self.branch(left, !is);
                    let jumps = self.branch(right, is);
                    past.into_iter().for_each(|jump| self.patch_jump(jump));
                    return jumps;
                }
                let mut jumps = self.branch(left, is);
                jumps.extend(self.branch(right, is));
                jumps
            }
            ExprKind::Binary(Binary { op, on: Operand::Num(num) | Operand::Enum(num) }, left, right)
                if matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge) =>
            {
                let one = self.operand(left, writes(right));
                let two = self.expr(right);
                let two = if *num == Num::I32 { two } else { self.in_frame(two, &right.ty) };
                self.line = condition.line;
                vec![self.jump(Ins::JumpCompare { op: *op, num: *num, left: one, right: two, is, to: 0 })]
            }
            _ => {
                let condition = self.expr(condition);
                vec![self.jump(Ins::JumpIf { condition, is, to: 0 })]
            }
        }
    }
}
