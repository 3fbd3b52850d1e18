//! Checks member access: properties, fields, elements, defaults, `Class`, `Length`. Also checks that a place is writable.

use super::body::Body;
use super::convert::{converted, referenced};
use super::symbols::{At, PropSym};
use super::{Found, Reported};
use crate::ast::{self, Ident};
use crate::hir::{Access, Arg, Call, Callee, Cast, Const, Conversion, Expr, ExprKind, Intrinsic, Path, Type};
use crate::source::Span;
use crate::token::lower;

impl Body<'_, '_> {
    /// Checks an expression without reporting messages. Used if the type of an expression is needed before its context is known.
    pub(super) fn value_quietly(&self, value: &ast::Expr) -> Found<Expr> {
        let (messages, reported) = (self.checker.messages.borrow().len(), self.checker.reported.borrow().clone());
        let found = self.value(value, None);
        if found.is_err() {
            self.checker.take_back(messages);
            *self.checker.reported.borrow_mut() = reported;
        }
        found
    }

    /// Checks the member access `a.b`.
    pub(super) fn member(&self, of: &ast::Expr, name: &Ident, expected: Option<&Type>, span: Span) -> Found<Expr> {
        match &of.kind {
            ast::ExprKind::Default => {
                return self.default_property(self.self_class(of.span), &self.class.clone(), name, span);
            }
            ast::ExprKind::Static | ast::ExprKind::Super(_) | ast::ExprKind::Global => {
                return self.refuse("uc-syntax", span, "only functions are called like this");
            }
            // Resolves `x.default.b`.
            ast::ExprKind::Member(inner, word) if word.is("default") => {
                let (class, path) = self.class_of(inner)?;
                return self.default_property(class, &path, name, span);
            }
            // Resolves `class'X'.static.f` without a call.
            ast::ExprKind::Member(inner, word) if word.is("static") => {
                let (class, path) = self.class_of(inner)?;
                let found = self.function_of(&path, name)?;
                return self.function_value(Some(class), &found, name, expected, span);
            }
            // Resolves `class'X'.const.NAME`.
            ast::ExprKind::Member(inner, word)
                if word.is("const") && matches!(inner.kind, ast::ExprKind::Object(..)) =>
            {
                let (_, path) = self.class_of(inner)?;
                if self.checker.find_const(&path, &name.text).is_some() {
                    return self.checker.const_named(&path, name, self.file, expected);
                }
                let (id, what) = ("uc-unknown-member", "constant");
                return Err(self.checker.no_member(id, what, &path, name, self.file, |class| &class.consts));
            }
            // Resolves `EnumName.Entry`. A variable of an enum type has no members, so an enum of its name may precede the dot.
            ast::ExprKind::Ident(word)
                if !self.is_value_name(&word.text)
                    || matches!(self.variable_type(&word.text), Some(Some(Type::Enum(..)))) =>
            {
                let found = self.checker.type_named(std::slice::from_ref(word), self.file);
                if let Some(Ok(Type::Enum(path, _))) = found {
                    return self.entry_of(&path, name, span);
                }
            }
            _ => {}
        }
        let base = self.value(of, None)?;
        self.member_of(base, name, expected, span)
    }

    /// Returns true if the name denotes a local, property or constant. Such a name is not a type.
    pub(super) fn is_value_name(&self, name: &str) -> bool {
        self.locals.exact(name).is_some()
            || self.consts.exact(name).is_some()
            || self.checker.find_variable(&self.class, name).is_some()
            || self.checker.find_const(&self.class, name).is_some()
    }

    /// Returns the type of the local, parameter or property of this name. The inner `None` means that the type has an error.
    pub(super) fn variable_type(&self, name: &str) -> Option<Option<Type>> {
        let local = self.locals.exact(name).map(|(ty, _)| ty.clone());
        local.or_else(|| self.checker.find_variable(&self.class, name).map(|found| found.ty.clone()))
    }

    pub(super) fn member_of(&self, base: Expr, name: &Ident, expected: Option<&Type>, span: Span) -> Found<Expr> {
        let line = self.line(name.span);
        let base = referenced(base);
        match base.ty.clone() {
            Type::Object(class) => self.property_of(base, &class, name, expected, span),
            Type::Struct(path) => {
                let Some(structure) = self.checker.structure(&path) else { return Err(Reported) };
                let Some(field) = structure.by_name.get(&name.text) else {
                    if structure.broken {
                        return Err(Reported);
                    }
                    let message = format!("`{}` has no field `{}`", base.ty, name.text);
                    let near = self.checker.similar(&name.text, std::iter::once(&structure.by_name));
                    return Err(self.report(self.error("uc-unknown-member", name.span, message).similar(near)));
                };
                let ty = field.ty.clone().ok_or(Reported)?;
                let kind = ExprKind::Field { base: Box::new(base), structure: path, field: field.name.clone() };
                Ok(Expr { kind, ty, line })
            }
            Type::Fixed(_, len) if name.is("length") => Ok(self.const_expr(Const::Int(len.into()), Type::INT, span)),
            Type::Array(_) | Type::Set(_) | Type::Map(..) if name.is("length") => {
                Ok(Expr { kind: ExprKind::Intrinsic(Intrinsic::Length, vec![base]), ty: Type::INT, line })
            }
            // The name of a class is its string.
            Type::Class(_) if name.is("name") => {
                let to_text = Conversion::ToText(base.ty.clone());
                let text = converted(base, to_text, &Type::Text);
                let to_name = Conversion::Text(Type::Text, Type::Name);
                Ok(Expr { line, ..converted(text, to_name, &Type::Name) })
            }
            Type::Class(_) | Type::None | Type::Interface(_) | Type::Array(_) | Type::Set(_) | Type::Map(..) => {
                let message = format!("`{}` has no member `{}`", base.ty, name.text);
                let mut error = self.error("uc-unknown-member", name.span, message);
                if matches!(base.ty, Type::Class(_)) {
                    error = error.hint(format!("defaults of a class are read by `.default.{}`", name.text));
                }
                Err(self.report(error))
            }
            ty => {
                let message = format!("`{ty}` has no members: `.{}` cannot follow it", name.text);
                self.refuse("uc-unknown-member", name.span, message)
            }
        }
    }

    /// Resolves a property of an object.
    fn property_of(
        &self,
        object: Expr,
        class: &Path,
        name: &Ident,
        expected: Option<&Type>,
        span: Span,
    ) -> Found<Expr> {
        if let Some(found) = self.checker.find_variable(class, &name.text) {
            return self.property(Some(object), &found, self.at(name.span));
        }
        if name.is("class") {
            return Ok(Expr { line: self.line(name.span), ..class_of_object(object) });
        }
        if let Some(found) = self.object_word(object.clone(), class, name) {
            return found;
        }
        if let Some(found) = self.checker.find_function(class, &name.text) {
            return self.function_value(Some(object), &found, name, expected, span);
        }
        Err(self.checker.no_variable(class, name, self.file))
    }

    /// Resolves the properties `Outer` and `Name` of an object through functions of the host library. Returns `None` if no such library
    /// exists.
    pub(super) fn object_word(&self, object: Expr, class: &Path, name: &Ident) -> Option<Found<Expr>> {
        let function = match &*lower(&name.text, &mut [0; 64]) {
            "outer" => "outer_of",
            "name" => "name_of",
            _ => return None,
        };
        let found = self.checker.find_library_function(function)?;
        let [param] = found.params.as_slice() else { return None };
        let (param_ty, ty) = (param.ty.known()?, found.result.clone()?);
        let line = self.line(name.span);
        let args = match self.coerced(object, param_ty, self.at(name.span)) {
            Ok(object) => vec![Arg::Value(object)],
            Err(Reported) => return Some(Err(Reported)),
        };
        let callee = Callee::Static { class: None, path: found.path.clone() };
        let call = Expr { kind: ExprKind::Call(Box::new(Call { callee, args, wildcards: Vec::new() })), ty, line };
        // Casts the result to the class that the class specifier `within` names.
        let within = self.checker.chain(class).iter().find_map(|class| class.within.clone());
        Some(Ok(match within.filter(|_| name.is("outer")) {
            Some(of) => cast_object(call, of),
            None => call,
        }))
    }

    /// Builds a property access. Reports an error if scripts cannot read the property.
    pub(super) fn property(&self, object: Option<Expr>, found: &PropSym, at: At) -> Found<Expr> {
        let ty = self.readable_type(found, at)?;
        let kind =
            ExprKind::Property { object: object.map(Box::new), owner: found.owner.clone(), name: found.name.clone() };
        Ok(Expr { kind, ty, line: self.checker.line(at) })
    }

    /// Returns the type of a property. Reports an error if code of the current class cannot read the property.
    fn readable_type(&self, found: &PropSym, at: At) -> Found<Type> {
        self.check_access(found.read, (&found.name, &found.owner, found.at), at)?;
        if !found.readable {
            let message = format!("scripts cannot read `{}`: its declaration lacks `blueprint_read`", found.name);
            return Err(self.report(crate::diagnostic::Diagnostic::error("uc-access", at, message)));
        }
        found.ty.clone().ok_or(Reported)
    }

    /// Returns true if code of the current class has access to a member of `owner`.
    fn may(&self, access: Access, owner: &str) -> bool {
        match access {
            Access::Public => true,
            Access::Protected => self.checker.extends(&self.class, owner),
            Access::Private => *self.class == *owner,
        }
    }

    /// Reports an error if code of the current class has no access to the member.
    pub(super) fn check_access(
        &self,
        access: Access,
        (name, owner, declared): (&str, &str, Option<At>),
        at: At,
    ) -> Found<()> {
        if self.may(access, owner) {
            return Ok(());
        }
        let word = if access == Access::Private { "private" } else { "protected" };
        let message = format!("`{name}` is {word} in `{}`", owner.rsplit('.').next().unwrap_or(""));
        let error = crate::diagnostic::Diagnostic::error("uc-access", at, message);
        Err(self.report(error.other(declared, "declared here")))
    }

    pub(super) fn self_object(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::SelfObject, ty: Type::Object(self.class.clone()), line: self.line(span) }
    }

    pub(super) fn self_class(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::SelfClass, ty: Type::Class(self.class.clone()), line: self.line(span) }
    }

    /// Resolves the class that an expression before `.default` or `.static` denotes.
    pub(super) fn class_of(&self, of: &ast::Expr) -> Found<(Expr, Path)> {
        let base = self.value(of, None)?;
        match base.ty.clone() {
            Type::Class(path) | Type::Object(path) => Ok((class_of_object(base), path)),
            ty => {
                let message = format!("`{ty}` has no class: `.default` and `.static` cannot follow it");
                self.refuse("uc-unknown-member", of.span, message)
            }
        }
    }

    fn default_property(&self, class: Expr, path: &Path, name: &Ident, span: Span) -> Found<Expr> {
        let Some(found) = self.checker.find_property(path, &name.text) else {
            return Err(self.checker.no_variable(path, name, self.file));
        };
        if self.only_constants {
            return self.refuse("uc-not-constant", span, "defaults are not known before the script runs");
        }
        let ty = self.readable_type(&found, self.at(name.span))?;
        let kind =
            ExprKind::DefaultProperty { class: Box::new(class), owner: found.owner.clone(), name: found.name.clone() };
        Ok(Expr { kind, ty, line: self.line(name.span) })
    }

    /// Checks the element access `a[b]`.
    pub(super) fn index(&self, of: &ast::Expr, index: &ast::Expr, span: Span) -> Found<Expr> {
        let base = self.value(of, None)?;
        let line = self.line(span);
        match base.ty.clone() {
            Type::Array(element) | Type::Fixed(element, _) => {
                let at = self.value_as(index, &Type::INT)?;
                if let (Type::Fixed(_, len), ExprKind::Const(Const::Int(number))) = (&base.ty, &at.kind)
                    && !(0..i128::from(*len)).contains(number)
                {
                    let message = format!("the array has {len} elements: {number} is none of 0 to {}", len - 1);
                    return self.refuse("uc-array-index", index.span, message);
                }
                Ok(Expr { kind: ExprKind::Index(Box::new(base), Box::new(at)), ty: *element, line })
            }
            Type::Map(key, value) => {
                let found = self.value_as(index, &key)?;
                Ok(Expr { kind: ExprKind::Intrinsic(Intrinsic::MapGet, vec![base, found]), ty: *value, line })
            }
            ty => self.refuse("uc-no-array", span, format!("`{ty}` has no elements: `[…]` cannot follow it")),
        }
    }

    /// Returns true if the expression is a `const` parameter, or a field or element of a `const` parameter.
    pub(super) fn is_in_const_param(&self, place: &Expr) -> bool {
        matches!(&place.root().kind, ExprKind::Local(id) if self.const_params.contains_key(&id.0))
    }

    /// Checks that the expression is a writable place. Otherwise, reports the reason.
    pub(super) fn check_place(&self, place: &Expr, span: Span) -> Found<()> {
        match &place.root().kind {
            ExprKind::Local(id) => {
                let Some(name) = self.const_params.get(&id.0) else { return Ok(()) };
                let message = format!("`{name}` cannot be changed: it is a `const` parameter");
                self.refuse("uc-const", span, message)
            }
            ExprKind::Property { owner, name, .. } => {
                let Some(found) = self.checker.find_property(owner, name) else { return Ok(()) };
                if let Err(why) = found.writable {
                    return self.refuse("uc-const", span, format!("`{}` cannot be changed: {why}", found.name));
                }
                if !self.may(found.write, &found.owner) {
                    let owner = found.owner.rsplit('.').next().unwrap_or("");
                    let whose = if found.write == Access::Private { "" } else { " and of classes that extend it" };
                    let message = format!("`{}` is only changed by code of `{owner}`{whose}", found.name);
                    return Err(self.report(self.error("uc-access", span, message).other(found.at, "declared here")));
                }
                Ok(())
            }
            ExprKind::DefaultProperty { .. } => {
                let message = "defaults of a class are not changed by scripts";
                let error = self.error("uc-not-a-place", span, message);
                Err(self.report(error.hint("write them into `defaultproperties`")))
            }
            ExprKind::Intrinsic(Intrinsic::MapGet, _) => {
                let error = self.error("uc-not-a-place", span, "a value in a map is not changed in place");
                Err(self.report(error.hint("copy it to a local variable, and assign it back")))
            }
            ExprKind::Intrinsic(Intrinsic::Length, of) if matches!(of[0].ty, Type::Array(_)) => {
                let error = self.error("uc-not-a-place", span, "the length of an array is not changed in place");
                Err(self.report(error.hint("assign it: `.Length = …`")))
            }
            _ => self.refuse("uc-not-a-place", span, "this cannot be changed: it is not a variable"),
        }
    }
}

/// Returns the class of an object. Returns any other value unchanged.
pub(super) fn class_of_object(object: Expr) -> Expr {
    let Type::Object(path) = &object.ty else { return object };
    let (ty, line) = (Type::Class(path.clone()), object.line);
    Expr { kind: ExprKind::ClassOf(Box::new(object)), ty, line }
}

pub(super) fn cast_object(object: Expr, class: Path) -> Expr {
    let (line, cast) = (object.line, Cast::Object(class.clone()));
    Expr { kind: ExprKind::Cast(cast, Box::new(object)), ty: Type::Object(class), line }
}
