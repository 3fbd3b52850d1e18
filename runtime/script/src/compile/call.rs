//! Compiles calls. Arguments are evaluated from left to right. After the call, the values of out parameters are copied back to the places
//! that were passed as arguments.

use alcedo_uc::hir::{Arg, Call, Callee, Conversion, Expr, ExprKind, Type};

use super::FunctionCompiler;
use super::effects::{arg_expr, changes, is_out, writes};
use crate::code::{Argument, CallSite, Ins, Place, Reg, Root, Step, Target};

/// Copy of an out value back to its place. The compiler emits this copy after the call.
struct Back {
    from: Reg,
    to: Place,
    by: Option<(Conversion, Type)>,
}

impl FunctionCompiler {
    pub(super) fn call(&mut self, call: &Call, to: Option<Reg>, result: &Type) {
        let line = self.line;
        let args_write = call.args.iter().any(|arg| arg_expr(arg).is_some_and(writes));
        let callee = self.callee(&call.callee, args_write);
        let (mut args, mut backs): (Vec<_>, Vec<Back>) = (Vec::with_capacity(call.args.len()), Vec::new());
        let placed = self.placed(call);
        let out_count = call.args.iter().filter(|arg| matches!(arg, Arg::Out(_) | Arg::OutConverted(..))).count();
        // Out values are copied back in the order of the arguments. If an instruction after the call copies one of them back, instructions
        // must also copy the others, because the call itself would copy them earlier.
        let has_copies = (0..call.args.len()).any(|at| is_copied_back(call, at));
        for (at, arg) in call.args.iter().enumerate() {
            let later = call.args[at + 1..].iter().any(|arg| arg_expr(arg).is_some_and(writes));
            // If a call has two or more out arguments, writing back the first value may change the access path of the second. The other out
            // arguments therefore count as later writes.
            let written = later || out_count > 1;
            args.push(match arg {
                Arg::Value(expr) => Argument::In(self.safe(expr, later)),
                Arg::Skipped => Argument::Skipped,
                Arg::Out(expr) => {
                    let to = self.location(expr, written);
                    let mut from = self.load(&to, &expr.ty);
                    if has_copies && to.register().is_some() {
                        // Copies a variable now, because later arguments may change it.
                        from = self.copied(from, &expr.ty);
                    }
                    backs.push(Back { from, to, by: None });
                    Argument::Out(from)
                }
                Arg::OutConverted(expr, inward, outward) => {
                    let to = self.location(expr, written);
                    let before = self.load(&to, &expr.ty);
                    let from = self.converted_temp(Some(inward), before, &converted(inward, &expr.ty));
                    backs.push(Back { from, to, by: Some((outward.clone(), expr.ty.clone())) });
                    Argument::Out(from)
                }
                Arg::Wildcard(expr) => {
                    let place = self.location(expr, later);
                    match place.register() {
                        Some(reg) => Argument::In(reg),
                        None if placed == Some(at) => Argument::Place(self.place_number(&place)),
                        None => Argument::Copied(self.load(&place, &expr.ty)),
                    }
                }
            });
        }
        self.copy_overlapping(call, &mut args);
        self.line = line;
        let target = (*result != Type::Nothing).then(|| match to {
            Some(to)
                if self.is_temp(to)
                    || !(uses(self, &args, to) || backs.iter().any(|back| self.needs(&back.to, to))) =>
            {
                to
            }
            _ => self.temp(result),
        });
        let site = self.code.calls.len();
        if site > usize::from(u16::MAX) {
            self.refuse("it has too many calls for bytecode: make it two functions".to_owned());
        }
        self.code.calls.push(CallSite { callee, args, to: target });
        self.emit(Ins::Call { site: site as u16 });
        for Back { from, to, by } in backs {
            let from = match by {
                None => from,
                Some((by, ty)) => self.converted_temp(Some(&by), from, &ty),
            };
            self.store(&to, from);
        }
        if let (Some(to), Some(from)) = (to, target)
            && to != from
        {
            self.emit(Ins::Copy { to, from });
        }
    }

    /// Returns the index of the wildcard argument that the custom thunk accesses without a copy. Prefers an argument to which the call
    /// writes.
    fn placed(&self, call: &Call) -> Option<usize> {
        let writes = (0..call.args.len()).any(|at| is_out(call, at));
        // If the argument is in a local, the thunk must read a copy, because the call may write to this local.
        let is_in_local = |expr: &Expr| matches!(expr.root().kind, ExprKind::Local(_));
        let may = |expr: &Expr, at: usize| is_elsewhere(expr) && (is_out(call, at) || !writes || !is_in_local(expr));
        let may = |at: &usize| matches!(&call.args[*at], Arg::Wildcard(expr) if may(expr, *at));
        let mut found = (0..call.args.len()).filter(may);
        found.clone().find(|at| is_out(call, *at)).or_else(|| found.next())
    }

    /// Returns true if the access path of the place uses the register.
    pub(super) fn needs(&self, to: &Place, reg: Reg) -> bool {
        let same = |one: Reg| self.whole(one) == self.whole(reg);
        let root = match to.root {
            Root::Register(one) | Root::Of(one, ..) | Root::Default(one, ..) => same(one),
            Root::OfSelf(..) => false,
        };
        let by = |step: &Step| matches!(step, Step::Element(one) | Step::FixedElement(one, _) if same(*one));
        root || to.steps.iter().any(by)
    }

    fn callee(&mut self, callee: &Callee, later: bool) -> Target {
        let mut object = |expr: &Option<Box<Expr>>| {
            let expr = expr.as_deref().filter(|expr| !matches!(expr.kind, ExprKind::SelfObject));
            expr.map(|expr| self.operand(expr, later))
        };
        match callee {
            Callee::Virtual { object: of, path } => Target::Virtual(object(of), path.clone()),
            Callee::Final { object: of, path } => Target::Final(object(of), path.clone()),
            Callee::Static { class: Some(class), path } if matches!(class.kind, ExprKind::SelfClass) => {
                Target::OfOwnClass(path.clone())
            }
            Callee::Static { class, path } => Target::Static(object(class), path.clone()),
            Callee::Interface { object: of, path } => Target::Interface(self.operand(of, later), path.clone()),
            Callee::Delegate { delegate, object: of, fallback } => {
                let of = object(of);
                let location = match (&delegate.kind, of) {
                    // Reads the delegate from the object in the register, so that the object is evaluated once.
                    (ExprKind::Property { owner, name, .. }, Some(of)) => {
                        Root::Of(of, owner.clone(), name.clone()).place()
                    }
                    _ if is_elsewhere(delegate) => {
                        self.line = delegate.line;
                        self.location(delegate, later)
                    }
                    _ => Root::Register(self.operand(delegate, later)).place(),
                };
                let place = location.register().is_none().then(|| self.place_number(&location));
                let delegate = self.load(&location, &delegate.ty);
                Target::Delegate { delegate, place, object: of, fallback: fallback.clone() }
            }
        }
    }

    /// Copies each argument that overlaps an argument to which the call writes.
    fn copy_overlapping(&mut self, call: &Call, args: &mut [Argument]) {
        let written = |compiler: &Self, at: usize| match (&args[at], &call.args[at]) {
            (Argument::Out(reg), _) => Some(compiler.whole(*reg)),
            (Argument::In(reg), Arg::Wildcard(_)) if is_out(call, at) => Some(compiler.whole(*reg)),
            (Argument::Place(place), _) if is_out(call, at) => match &compiler.code.places[usize::from(*place)] {
                Place { root: Root::Register(reg), .. } => Some(compiler.whole(*reg)),
                _ => None,
            },
            _ => None,
        };
        let written: Vec<_> = (0..args.len()).map(|at| written(self, at)).collect();
        for at in 0..args.len() {
            let Argument::In(reg) = args[at] else { continue };
            let whole = self.whole(reg);
            if written[at].is_none()
                && written.contains(&Some(whole))
                && let Some(expr) = arg_expr(&call.args[at])
            {
                args[at] = Argument::Copied(self.copied(reg, &expr.ty));
            }
        }
    }
}

fn uses(compiler: &FunctionCompiler, args: &[Argument], to: Reg) -> bool {
    let whole = compiler.whole(to);
    args.iter().any(|arg| match arg {
        Argument::In(reg) | Argument::Out(reg) | Argument::Copied(reg) => compiler.whole(*reg) == whole,
        Argument::Skipped => false,
        Argument::Place(_) => true,
    })
}

/// Returns true if the place is not in a register.
fn is_elsewhere(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Property { .. } | ExprKind::DefaultProperty { .. } | ExprKind::Index(..) => true,
        ExprKind::Field { base, .. } => is_elsewhere(base),
        _ => false,
    }
}

/// Returns true if an instruction after the call must copy the value of this out argument back, because the place is not in a register, the
/// value is converted, or later arguments may change the variable.
fn is_copied_back(call: &Call, at: usize) -> bool {
    match &call.args[at] {
        Arg::Out(expr) => match expr.root().kind {
            ExprKind::Local(local) if !is_elsewhere(expr) => {
                call.args[at + 1..].iter().filter_map(arg_expr).any(|later| changes(later, local))
            }
            _ => true,
        },
        Arg::OutConverted(..) => true,
        Arg::Value(_) | Arg::Skipped | Arg::Wildcard(_) => false,
    }
}

/// Returns the type to which an out argument is converted: a number, a string or a triple (vector or rotator).
fn converted(by: &Conversion, from: &Type) -> Type {
    match by {
        Conversion::Num(_, to) => Type::Num(*to),
        Conversion::Text(_, to) => to.clone(),
        Conversion::Triple(_, to) => Type::Struct(to.path.clone()),
        _ => from.clone(),
    }
}
