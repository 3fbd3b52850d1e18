//! Finds expressions with effects. A value that is used after such an expression is copied before it.

use alcedo_uc::hir::{Arg, Call, Callee, Expr, ExprKind, LocalId};

/// Returns true if the evaluation of an expression may write to memory, such as a local.
pub(super) fn writes(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(_)
        | ExprKind::Intrinsic(..)
        | ExprKind::Compound(_)
        | ExprKind::Step { .. }
        | ExprKind::New(_) => true,
        _ => any_operand(expr, &writes),
    }
}

/// Returns true if the evaluation of an expression may change the local. A called function changes a local of its caller only through an
/// argument to which the call writes.
pub(super) fn changes(expr: &Expr, local: LocalId) -> bool {
    let is_in_local = |place: &Expr| matches!(place.root().kind, ExprKind::Local(id) if id == local);
    let is_changed = match &expr.kind {
        ExprKind::Step { place, .. } => is_in_local(place),
        ExprKind::Compound(compound) => is_in_local(&compound.place),
        ExprKind::Intrinsic(what, args) => !what.is_reading() && args.first().is_some_and(is_in_local),
        ExprKind::Call(call) => (0..call.args.len()).any(|at| written_place(call, at).is_some_and(is_in_local)),
        _ => false,
    };
    is_changed || any_operand(expr, &|operand: &Expr| changes(operand, local))
}

/// Returns true if the condition holds for an operand of the expression.
fn any_operand(expr: &Expr, condition: &dyn Fn(&Expr) -> bool) -> bool {
    match &expr.kind {
        ExprKind::Const(_) | ExprKind::Triple(_) | ExprKind::Local(_) | ExprKind::SelfObject | ExprKind::SelfClass => {
            false
        }
        ExprKind::ClassOf(one)
        | ExprKind::Unary(_, one)
        | ExprKind::Convert(_, one)
        | ExprKind::Cast(_, one)
        | ExprKind::Field { base: one, .. }
        | ExprKind::DefaultProperty { class: one, .. }
        | ExprKind::Step { place: one, .. } => condition(one),
        ExprKind::Property { object, .. } | ExprKind::FunctionOf { object, .. } => {
            object.as_deref().is_some_and(condition)
        }
        ExprKind::Index(one, two)
        | ExprKind::Binary(_, one, two)
        | ExprKind::And(one, two)
        | ExprKind::Or(one, two) => condition(one) || condition(two),
        ExprKind::Conditional(one, two, three) => condition(one) || condition(two) || condition(three),
        ExprKind::Call(call) => {
            any_in_callee(&call.callee, condition) || call.args.iter().filter_map(arg_expr).any(condition)
        }
        ExprKind::Intrinsic(_, args) => args.iter().any(condition),
        ExprKind::Compound(compound) => condition(&compound.place) || condition(&compound.value),
        ExprKind::New(new) => {
            let optional = [&new.outer, &new.name, &new.template];
            condition(&new.class) || optional.into_iter().flatten().any(condition)
        }
    }
}

/// Returns true if the condition holds for the object, class or delegate of the callee.
fn any_in_callee(callee: &Callee, condition: &dyn Fn(&Expr) -> bool) -> bool {
    match callee {
        Callee::Virtual { object, .. } | Callee::Final { object, .. } => object.as_deref().is_some_and(condition),
        Callee::Static { class, .. } => class.as_deref().is_some_and(condition),
        Callee::Interface { object, .. } => condition(object),
        Callee::Delegate { delegate, object, .. } => condition(delegate) || object.as_deref().is_some_and(condition),
    }
}

/// Returns the place to which the call writes the value of this argument.
fn written_place(call: &Call, at: usize) -> Option<&Expr> {
    match &call.args[at] {
        Arg::Out(expr) | Arg::OutConverted(expr, ..) => Some(expr),
        Arg::Wildcard(expr) => is_out(call, at).then_some(expr),
        Arg::Value(_) | Arg::Skipped => None,
    }
}

/// Returns true if the call writes to this wildcard argument.
pub(super) fn is_out(call: &Call, at: usize) -> bool {
    call.wildcards.iter().any(|wildcard| wildcard.param as usize == at && wildcard.out)
}

pub(super) fn arg_expr(arg: &Arg) -> Option<&Expr> {
    match arg {
        Arg::Value(expr) | Arg::Out(expr) | Arg::OutConverted(expr, ..) | Arg::Wildcard(expr) => Some(expr),
        Arg::Skipped => None,
    }
}
