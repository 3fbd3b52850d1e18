//! Conversions between types, implicit and explicit.

use alcedo_abi::kinds::PropertyKind;

use super::body::Body;
use super::symbols::At;
use super::{Checker, Found};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Cast, Const, Conversion, Expr, ExprKind, Num, Type};

/// Conversion between two types. `None` if the types are equal.
type Coercion = Option<Conversion>;

impl Checker<'_> {
    pub(super) fn implicit(&self, from: &Type, to: &Type) -> Option<Coercion> {
        if from == to {
            return Some(None);
        }
        let by = |conversion| Some(Some(conversion));
        match (from, to) {
            (Type::Num(from), Type::Num(to)) => by(Conversion::Num(*from, *to)),
            (Type::Enum(_, from), Type::Num(to)) => by(Conversion::EnumToNum(*from, *to)),
            (Type::Num(from @ Num::U8), Type::Enum(path, to)) => by(Conversion::NumToEnum(*from, path.clone(), *to)),
            (
                Type::None,
                Type::Object(_) | Type::Class(_) | Type::Interface(_) | Type::Reference(..) | Type::Delegate(..),
            ) => by(Conversion::Up),
            (Type::Object(one), Type::Object(other)) | (Type::Class(one), Type::Class(other)) => {
                self.extends(one, other).then_some(Some(Conversion::Up))
            }
            (Type::Class(_), Type::Object(other)) if self.is_root(other) => by(Conversion::ClassToObject),
            (Type::Object(one), Type::Interface(other)) if self.implements(one, other) => {
                by(Conversion::ObjectToInterface(other.clone()))
            }
            (Type::Interface(_), Type::Object(other)) if self.is_root(other) => by(Conversion::InterfaceToObject),
            (Type::Object(one) | Type::Class(one), Type::Reference(kind, other))
                if is_named_by(from, *kind) && self.extends(one, other) =>
            {
                by(Conversion::ToReference(*kind, other.clone()))
            }
            (Type::Reference(kind, one), Type::Object(other) | Type::Class(other))
                if is_named_by(to, *kind) && self.extends(one, other) =>
            {
                by(Conversion::FromReference(*kind))
            }
            (one, other) if is_text(one) && is_text(other) => by(Conversion::Text(one.clone(), other.clone())),
            (Type::Struct(one), Type::Struct(other)) => {
                if let (Some((one, kind)), Some((two, other_kind))) = (self.triple(from), self.triple(to))
                    && kind == other_kind
                {
                    return by(Conversion::Triple(one, two));
                }
                let base = self.structure(one).and_then(|found| found.base.clone());
                self.struct_bases(base).find(|base| base == other).and_then(|base| by(Conversion::StructUp(base)))
            }
            (one, Type::Optional(of)) if *one == **of => by(Conversion::ToOptional),
            // Delegate types with equal signatures are compatible, even with different names.
            (Type::Delegate(kind, _, one), Type::Delegate(other_kind, _, other))
                if kind == other_kind && one == other =>
            {
                by(Conversion::Up)
            }
            _ => None,
        }
    }

    /// Returns true if a value of the type `from` converts implicitly to `to`. If `to` is an optional, the value may also convert to its
    /// content type.
    pub(super) fn becomes(&self, from: &Type, to: &Type) -> bool {
        let inner = |of: &Type| !matches!(of, Type::Optional(_)) && self.implicit(from, of).is_some();
        self.implicit(from, to).is_some() || matches!(to, Type::Optional(of) if inner(of))
    }

    /// Returns the explicit conversion between two types: `int(x)`.
    pub(super) fn explicit(&self, from: &Type, to: &Type) -> Option<Coercion> {
        if let Some(coercion) = self.implicit(from, to) {
            return Some(coercion);
        }
        let by = |conversion| Some(Some(conversion));
        match (from, to) {
            (Type::Num(one) | Type::Enum(_, one), Type::Enum(path, other)) => {
                by(Conversion::NumToEnum(*one, path.clone(), *other))
            }
            (Type::Num(of) | Type::Enum(_, of), Type::Bool) => by(Conversion::NumToBool(*of)),
            (Type::Bool, Type::Num(to)) => by(Conversion::BoolToNum(*to)),
            (Type::Object(_) | Type::Class(_) | Type::Interface(_) | Type::Reference(..), Type::Bool) => {
                by(Conversion::ObjectToBool)
            }
            (Type::Text, Type::Bool) => by(Conversion::FromText(Type::Bool)),
            (Type::Name, Type::Bool) => by(Conversion::NameToBool),
            (_, Type::Bool) => self.triple(from).and_then(|(triple, _)| by(Conversion::TripleToBool(triple))),
            (Type::Name, other) | (other, Type::Name) if is_text(other) => {
                by(Conversion::Text(from.clone(), to.clone()))
            }
            (Type::Nothing, _) => None,
            (_, Type::Text) => by(Conversion::ToText(from.clone())),
            (Type::Text, Type::Num(_) | Type::Enum(..)) => by(Conversion::FromText(to.clone())),
            (Type::Text, Type::Struct(_)) if self.triple(to).is_some() => by(Conversion::FromText(to.clone())),
            (Type::Interface(_), Type::Object(_)) => by(Conversion::InterfaceToObject),
            _ => match (self.triple(from), self.triple(to)) {
                (Some((one, true)), Some((two, false))) => by(Conversion::VectorToRotator(one, two)),
                (Some((one, false)), Some((two, true))) => by(Conversion::RotatorToVector(one, two)),
                _ => None,
            },
        }
    }
}

/// Returns true if a reference of this kind can refer to a value of this type. Soft class references refer to classes, all other kinds to
/// objects.
fn is_named_by(ty: &Type, kind: PropertyKind) -> bool {
    matches!(ty, Type::Class(_)) == (kind == PropertyKind::SOFT_CLASS)
}

pub(super) fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Text | Type::Utf8Text | Type::AnsiText | Type::LocalText)
}

/// Applies a conversion. If the value is a number constant, evaluates the conversion at compile time.
pub(super) fn converted(value: Expr, by: impl Into<Coercion>, to: &Type) -> Expr {
    let Some(conversion) = by.into() else { return value };
    let line = value.line;
    let folded = match (&value.kind, &conversion) {
        (ExprKind::Const(Const::Int(whole)), Conversion::Num(_, num))
        | (ExprKind::Const(Const::Enum(_, _, whole)), Conversion::EnumToNum(_, num)) => {
            Some(num_const(*whole as f64, Some(*whole), *num))
        }
        (ExprKind::Const(Const::Float(float)), Conversion::Num(from, num)) => {
            let exact = if *from == Num::F32 { f64::from(*float as f32) } else { *float };
            Some(num_const(exact, None, *num))
        }
        (ExprKind::Const(Const::None), Conversion::ToText(_)) => Some(Const::Text("None".to_owned())),
        // Does not evaluate this conversion at compile time, because an optional that contains `none` differs from an unset optional.
        (ExprKind::Const(Const::None), Conversion::ToOptional) => None,
        (ExprKind::Const(Const::None), _) => Some(Const::None),
        _ => None,
    };
    match folded {
        Some(folded) => Expr { kind: ExprKind::Const(folded), ty: to.clone(), line },
        None => Expr { kind: ExprKind::Convert(conversion, Box::new(value)), ty: to.clone(), line },
    }
}

/// Converts a weak, soft or lazy reference to its object. Returns a value of any other type unchanged.
pub(super) fn referenced(value: Expr) -> Expr {
    match value.ty.clone() {
        Type::Reference(kind, class) if kind != PropertyKind::SOFT_CLASS => {
            converted(value, Conversion::FromReference(kind), &Type::Object(class))
        }
        _ => value,
    }
}

/// Returns the constant of a number. `whole` is the exact number if it is an integer, and `float` is the number otherwise.
pub(super) fn num_const(float: f64, whole: Option<i128>, to: Num) -> Const {
    match to {
        Num::F32 => Const::Float(f64::from(whole.map_or(float as f32, |whole| whole as f32))),
        Num::F64 => Const::Float(whole.map_or(float, |whole| whole as f64)),
        whole_kind => {
            let (low, high) = whole_kind.range().unwrap_or((0, 0));
            match whole {
                // Keeps the low bits, as the conversion at run time does.
                Some(whole) => {
                    let span = high - low + 1;
                    Const::Int((whole - low).rem_euclid(span) + low)
                }
                None if float.is_nan() => Const::Int(0),
                None => Const::Int((float as i128).clamp(low, high)),
            }
        }
    }
}

impl Body<'_, '_> {
    /// Checks a value, and converts it implicitly to the type. Reports a mismatch.
    pub(super) fn value_as(&self, value: &ast::Expr, to: &Type) -> Found<Expr> {
        let found = self.value(value, Some(to))?;
        self.coerced(found, to, self.at(value.span))
    }

    /// Converts a value implicitly to the type. Reports a mismatch.
    pub(super) fn coerced(&self, value: Expr, to: &Type, at: At) -> Found<Expr> {
        if let (ExprKind::Const(known), Type::Num(num)) = (&value.kind, to)
            && let Some((low, high)) = num.range()
        {
            let whole = match known {
                Const::Int(whole) => Some(*whole),
                // Truncates, as the conversion at run time does.
                Const::Float(float) if !float.is_nan() => Some(*float as i128),
                _ => None,
            };
            if let Some(whole) = whole.filter(|whole| !(low..=high).contains(whole)) {
                let message = format!("{whole} does not fit in `{to}`: its range is {low} to {high}");
                return Err(self.report(Diagnostic::error("uc-number-range", at, message)));
            }
        }
        match self.checker.implicit(&value.ty, to) {
            Some(coercion) => Ok(converted(value, coercion, to)),
            // An optional accepts values that convert to the type of its content.
            None => match to {
                Type::Optional(of) if self.checker.becomes(&value.ty, to) => {
                    let value = self.coerced(value, of, at)?;
                    Ok(converted(value, Conversion::ToOptional, to))
                }
                _ => Err(self.mismatch(&value.ty, to, at)),
            },
        }
    }

    pub(super) fn mismatch(&self, found: &Type, expected: &Type, at: At) -> super::Reported {
        let checker = self.checker;
        if checker.is_unsure(found) || checker.is_unsure(expected) {
            return super::Reported;
        }
        let (found_text, expected_text) = (found.to_string(), expected.to_string());
        // If the two types have equal names, the message adds their packages.
        let same = found_text == expected_text;
        let long = |ty: &Type, text: String| match ty.path() {
            Some(path) if same => path.trim_start_matches("/Script/").to_owned(),
            _ => text,
        };
        let (found_text, expected_text) = (long(found, found_text), long(expected, expected_text));
        let message = format!("expected `{expected_text}`, found `{found_text}`");
        let cast = |others: &str| format!("write `{expected_text}(…)`, which is `none` for {others}");
        let hint = match (found, expected) {
            (Type::Nothing, _) => "the function has no result".to_owned(),
            (Type::Num(_) | Type::Enum(..), Type::Bool) => "write `… != 0`".to_owned(),
            (Type::Object(_) | Type::Class(_) | Type::Interface(_) | Type::Reference(..), Type::Bool) => {
                "write `… != none`".to_owned()
            }
            (Type::Text, Type::Bool) => "write `… != \"\"`".to_owned(),
            (Type::Name, Type::Bool) => "write `… != ''`".to_owned(),
            (_, Type::Bool) => String::new(),
            (Type::Object(one), Type::Object(two)) if checker.extends(two, one) => cast("other objects"),
            (Type::Class(one), Type::Class(two)) if checker.extends(two, one) => cast("other classes"),
            (Type::Object(_) | Type::Interface(_), Type::Interface(_)) => cast("objects that do not implement it"),
            _ if checker.explicit(found, expected).is_some() => format!("write `{expected}(…)`"),
            _ => String::new(),
        };
        let error = Diagnostic::error("uc-type-mismatch", at, message).label(format!("this is `{found_text}`"));
        checker.report(error.hint(hint))
    }

    /// Casts a value to a class or interface. Returns `None` if the cast can never succeed.
    pub(super) fn object_cast(&self, value: Expr, to: &Type) -> Option<Expr> {
        let line = value.line;
        let cast = |cast, value: Expr| Expr { kind: ExprKind::Cast(cast, Box::new(value)), ty: to.clone(), line };
        match (&value.ty, to) {
            (Type::None, _) => Some(Expr { ty: to.clone(), ..value }),
            (Type::Object(one), Type::Object(two)) => {
                if self.checker.extends(one, two) {
                    return Some(converted(value, Conversion::Up, to));
                }
                let related =
                    self.checker.extends(two, one) || self.checker.is_broken(one) || self.checker.is_broken(two);
                related.then(|| cast(Cast::Object(two.clone()), value))
            }
            (Type::Interface(_), Type::Object(two)) => {
                let root = Type::Object(self.checker.root_of(two));
                let object = converted(value, Conversion::InterfaceToObject, &root);
                if root == *to { Some(object) } else { Some(cast(Cast::Object(two.clone()), object)) }
            }
            (Type::Object(one), Type::Interface(two)) => {
                if self.checker.implements(one, two) {
                    return Some(converted(value, Conversion::ObjectToInterface(two.clone()), to));
                }
                Some(cast(Cast::Interface(two.clone()), value))
            }
            (Type::Interface(_), Type::Interface(two)) => {
                let root = Type::Object(self.checker.root_of(&self.class));
                let object = converted(value, Conversion::InterfaceToObject, &root);
                Some(cast(Cast::Interface(two.clone()), object))
            }
            (Type::Class(one), Type::Class(two)) => {
                if self.checker.extends(one, two) {
                    return Some(converted(value, Conversion::Up, to));
                }
                self.checker.extends(two, one).then(|| cast(Cast::Class(two.clone()), value))
            }
            // In hosts whose classes are objects, a value of the root class may be a class.
            (Type::Object(one), Type::Class(two)) => {
                self.checker.is_root(one).then(|| cast(Cast::Class(two.clone()), value))
            }
            (Type::Class(_), Type::Object(two)) => {
                self.checker.is_root(two).then(|| converted(value, Conversion::ClassToObject, to))
            }
            (Type::Reference(kind, _), Type::Object(_)) if *kind != PropertyKind::SOFT_CLASS => {
                self.object_cast(referenced(value), to)
            }
            _ => None,
        }
    }
}
