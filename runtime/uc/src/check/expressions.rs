//! Checks expressions: resolves names, and selects the rule for each kind of expression.

use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use super::body::Body;
use super::convert::converted;
use super::defaults::name_of;
use super::places::class_of_object;
use super::symbols::FuncSym;
use super::{Found, Reported};
use crate::ast::{self, Ident};
use crate::hir::{Const, Conversion, Expr, ExprKind, New, Path, Type};
use crate::source::Span;
use crate::token::lower;

impl Body<'_, '_> {
    /// Checks an expression that must have a value. The expected type affects only two results: the type of number literals, and the enum
    /// in which an entry name is resolved.
    pub(super) fn value(&self, value: &ast::Expr, expected: Option<&Type>) -> Found<Expr> {
        let found = self.expr(value, expected)?;
        if found.ty == Type::Nothing {
            let error = self.error("uc-no-value", value.span, "this has no value");
            return Err(self.report(error.hint("the function has no result")));
        }
        Ok(found)
    }

    pub(super) fn expr(&self, value: &ast::Expr, expected: Option<&Type>) -> Found<Expr> {
        let span = value.span;
        // If an optional is expected, its content type is the expected type.
        let expected = match expected {
            Some(Type::Optional(of)) => Some(&**of),
            expected => expected,
        };
        if self.only_constants && !may_be_constant(value) {
            let error = self.error("uc-not-constant", span, "this is not known before the script runs");
            return Err(self.report(error.hint("numbers, strings, names, classes and other constants are")));
        }
        match &value.kind {
            ast::ExprKind::Int(text, number) => self.whole(text, *number, false, expected, span),
            ast::ExprKind::Float(_, number) => self.fraction(*number, expected, span),
            ast::ExprKind::Text(text) => Ok(self.const_expr(Const::Text(text.clone()), Type::Text, span)),
            ast::ExprKind::Name(name) => Ok(self.const_expr(name_of(name), Type::Name, span)),
            ast::ExprKind::Object(word, name) => self.object_literal(word, name, span),
            ast::ExprKind::Bool(value) => Ok(self.const_expr(Const::Bool(*value), Type::Bool, span)),
            ast::ExprKind::None => Ok(self.const_expr(Const::None, Type::None, span)),
            ast::ExprKind::SelfObject => {
                self.needs_object(span, "`self`")?;
                Ok(self.self_object(span))
            }
            ast::ExprKind::Super(_) | ast::ExprKind::Global | ast::ExprKind::Default | ast::ExprKind::Static => {
                self.refuse("uc-syntax", span, "a member is missing after this")
            }
            ast::ExprKind::Triple(word, values) => self.triple_literal(word, values, expected, span),
            ast::ExprKind::Ident(name) => self.name(name, expected),
            ast::ExprKind::Member(of, name) => self.member(of, name, expected, span),
            ast::ExprKind::Index(of, index) => self.index(of, index, span),
            ast::ExprKind::Call(callee, args) => self.call(callee, args, span),
            ast::ExprKind::ClassCast(class, of) => self.class_cast(class, of, span),
            ast::ExprKind::New(args, class, template) => self.new_object(args, class, template.as_deref(), span),
            ast::ExprKind::Prefix(sign, of) => self.prefix(*sign, of, expected, span),
            ast::ExprKind::Postfix(up, of) => self.step(of, *up, true, span),
            ast::ExprKind::Infix(op, at, one, other) => self.infix(*op, *at, one, other, expected, span),
            ast::ExprKind::Operator(name, operands) => {
                operands.iter().for_each(|operand| self.check_untyped(operand));
                let is_declared =
                    self.checker.own_operators.borrow().iter().any(|sign| sign.eq_ignore_ascii_case(&name.text));
                if is_declared {
                    return Err(Reported);
                }
                let message = format!("`{}` is not an operator of the language: user operators are outside", name.text);
                Err(self
                    .report(self.error("uc-operator", name.span, message).hint("write a function, or `;` before it")))
            }
            ast::ExprKind::Conditional(condition, one, other) => {
                self.conditional(condition, one, other, expected, span)
            }
            ast::ExprKind::Assign(..) => {
                let error = self.error("uc-assign-in-condition", span, "an assignment has no value");
                Err(self.report(error.hint("write `==` to compare")))
            }
            ast::ExprKind::Paren(of) => self.expr(of, expected),
            ast::ExprKind::Macro(name, _) => {
                let braced = self.checker.sources[self.file].slice(span).starts_with("`{");
                let len = name.len() as u32 + if braced { 3 } else { 1 };
                let name_span = Span { end: span.start + len, ..span };
                Err(self.report(crate::parse::macro_outside(name, self.at(name_span))))
            }
        }
    }

    /// Reports an error if no `self` object exists in this context.
    pub(super) fn needs_object(&self, span: Span, what: impl fmt::Display) -> Found<()> {
        if !self.is_static && !self.only_constants {
            return Ok(());
        }
        self.refuse("uc-static", span, format!("a static function has no object: {what} is not available"))
    }

    pub(super) fn name(&self, name: &Ident, expected: Option<&Type>) -> Found<Expr> {
        let (span, line) = (name.span, self.line(name.span));
        if let Some((ty, id)) = self.locals.exact(&name.text) {
            let ty = ty.clone().ok_or(Reported)?;
            return Ok(Expr { kind: ExprKind::Local(*id), ty, line });
        }
        if let Some(own) = self.consts.exact(&name.text) {
            return own.clone().map(|value| Expr { line, ..value }).ok_or(Reported);
        }
        let class = &self.class;
        if !self.only_constants
            && let Some(found) = self.checker.find_variable(class, &name.text)
        {
            if self.is_static {
                let message = format!("a static function has no object: `{}` is not available", found.name);
                let error = self.error("uc-static", span, message);
                return Err(self.report(error.hint(format!("its default is `default.{}`", found.name))));
            }
            return self.property(None, &found, self.at(span));
        }
        if self.checker.find_const(class, &name.text).is_some() {
            return self.checker.const_named(class, name, self.file, expected);
        }
        if let Some(found) = self.entry(name, expected, span) {
            return found;
        }
        if name.is("class") && !self.only_constants {
            self.needs_object(span, "its class")?;
            return Ok(class_of_object(self.self_object(span)));
        }
        if !self.only_constants
            && !self.is_static
            && let Some(found) = self.object_word(self.self_object(span), class, name)
        {
            return found;
        }
        if let Some(found) = self.checker.find_function(class, &name.text).filter(|_| !self.only_constants) {
            if matches!(expected, Some(Type::Delegate(..))) && !found.is_static {
                self.needs_object(span, format_args!("`{}`", found.name))?;
            }
            return self.function_value(None, &found, name, expected, span);
        }
        if self.only_constants && (self.checker.find_property(class, &name.text).is_some()) {
            let error =
                self.error("uc-not-constant", span, format!("`{}` is not known before the script runs", name.text));
            return Err(self.report(error.hint("numbers, strings, names, classes and other constants are")));
        }
        if let Some(value) = built_in(&name.text) {
            let ty = if matches!(value, Const::Int(_)) { Type::INT } else { Type::FLOAT };
            return Ok(self.const_expr(value, ty, span));
        }
        if self.checker.is_broken(class) {
            return Err(Reported);
        }
        if !self.checker.is_first(self.file, format!("{}:{}", self.class, name.text.to_ascii_lowercase())) {
            return Err(Reported);
        }
        if let Some(Ok(found)) = self.checker.type_named(std::slice::from_ref(name), self.file) {
            let error = self.error("uc-no-value", span, format!("`{}` is a type, not a value", name.text));
            let hint = match found {
                Type::Object(_) => format!("the class as a value is `class'{}'`", name.text),
                Type::Enum(..) => format!("an entry is written `{}.Entry`", name.text),
                _ => String::new(),
            };
            return Err(self.report(error.hint(hint)));
        }
        if let Some(of) = self.checker.refused(&name.text) {
            let error =
                self.error("uc-unknown-name", span, format!("`{}` is declared by {of}, which has errors", name.text));
            return Err(self.report(error.hint(format!("correct {of} first"))));
        }
        let message = format!("unknown name `{}`: not a variable, constant or enum entry", name.text);
        Err(self.report(self.error("uc-unknown-name", span, message).similar(self.near_name(&name.text))))
    }

    fn near_name(&self, name: &str) -> Option<String> {
        let chain = self.checker.chain(&self.class);
        let members = chain.iter().flat_map(|class| class.props.names().chain(class.consts.names()));
        let names = self.locals.names().chain(self.consts.names()).chain(members);
        self.checker.near(name, names).map(str::to_owned)
    }

    /// Resolves an entry name in the expected enum, or in the only enum with an entry of this name.
    fn entry(&self, name: &Ident, expected: Option<&Type>, span: Span) -> Option<Found<Expr>> {
        if let Some(Type::Enum(path, _)) = expected
            && let Some(found) = self.checker.enumeration(path)
            && found.entry(&name.text).is_some()
        {
            return Some(self.entry_of(path, name, span));
        }
        let called = self.checker.enums.borrow().called(&name.text);
        let (all, counts): (Vec<_>, Vec<_>) = called.iter().partition(|found| found.entry(&name.text).is_some());
        let is_own = |path: &Path| path.starts_with(&format!("/Script/{}.", self.checker.package));
        match all.as_slice() {
            [] => {}
            [one] => return Some(self.entry_of(&one.path, name, span)),
            [one, two, ..] if is_own(&one.path) && !is_own(&two.path) => {
                return Some(self.entry_of(&one.path, name, span));
            }
            [one, two, ..] => {
                let message = format!("`{}` is an entry of `{}` and of `{}`", name.text, one.name, two.name);
                let error = self.error("uc-ambiguous-entry", span, message);
                return Some(Err(self.report(error.hint(format!("write `{}.{}`", one.name, name.text)))));
            }
        }
        let count = counts.first()?;
        Some(Ok(self.const_expr(Const::Int(count.entries.len() as i128), Type::INT, span)))
    }

    pub(super) fn entry_of(&self, path: &Path, name: &Ident, span: Span) -> Found<Expr> {
        let Some(found) = self.checker.enumeration(path) else { return Err(Reported) };
        if let Some((entry, number)) = found.entry(&name.text) {
            let value = Const::Enum(path.clone(), entry.clone(), *number);
            return Ok(self.const_expr(value, Type::Enum(path.clone(), found.num), span));
        }
        if found.is_count(&name.text) || name.is("enumcount") {
            return Ok(self.const_expr(Const::Int(found.entries.len() as i128), Type::INT, span));
        }
        let message = format!("`{}` has no entry `{}`", found.name, name.text);
        let names = found.entries.iter().map(|(entry, _)| entry.as_str());
        let near = self.checker.near(&name.text, names);
        Err(self.report(self.error("uc-unknown-member", name.span, message).similar(near)))
    }

    /// Resolves the name of a function that is used as a value. The result is a delegate of the expected type. `object` is the object
    /// before the name or, if the function is static, the class before the name.
    pub(super) fn function_value(
        &self,
        object: Option<Expr>,
        found: &Rc<FuncSym>,
        name: &Ident,
        expected: Option<&Type>,
        span: Span,
    ) -> Found<Expr> {
        let Some(ty @ Type::Delegate(kind, _, expected_signature)) = expected else {
            let message = format!("`{}` is a function: `(` is missing after it", found.name);
            return self.refuse("uc-no-value", name.span, message);
        };
        if !found.is_static && matches!(&object, Some(object) if matches!(object.ty, Type::Class(_))) {
            let message = format!("`{}` is not static: a delegate calls it for an object", found.name);
            let error = self.error("uc-delegate", span, message);
            return Err(self.report(error.hint(format!("name the object: `Object.{}`", found.name))));
        }
        let object = if found.is_static { Some(self.default_object(object, span)) } else { object };
        let Some(signature) = found.signature() else { return Err(Reported) };
        if signature != **expected_signature {
            let message = format!("`{}` has another signature than the delegate", found.name);
            let error = self.error("uc-delegate", span, message).label(format!("this is ({signature})"));
            return Err(self.report(error.hint(format!("the delegate is ({expected_signature})"))));
        }
        if *kind != PropertyKind::DELEGATE {
            let message = format!("`{}` is one function, and this delegate calls several", found.name);
            return Err(self.report(self.error("uc-delegate", span, message).hint("write `.Add(…)`")));
        }
        let kind =
            ExprKind::FunctionOf { object: object.map(Box::new), owner: found.owner.clone(), name: found.name.clone() };
        Ok(Expr { kind, ty: ty.clone(), line: self.line(span) })
    }

    /// Returns the class default object of the class `of`, to which delegates bind static functions. If `of` is an object, uses the class
    /// of this object.
    fn default_object(&self, of: Option<Expr>, span: Span) -> Expr {
        let class = of.map_or_else(|| self.self_class(span), class_of_object);
        let root = Type::Object(self.checker.root_of(&self.class));
        converted(class, Conversion::ClassToObject, &root)
    }

    fn class_cast(&self, class: &[Ident], of: &ast::Expr, span: Span) -> Found<Expr> {
        let path = self.checker.class_named(class, self.file);
        let value = self.value(of, None);
        let (to, value) = (Type::Class(path?), value?);
        let from = value.ty.clone();
        match self.object_cast(value, &to) {
            Some(cast) => Ok(cast),
            None if self.checker.is_unsure(&from) || self.checker.is_unsure(&to) => Err(Reported),
            None => self.refuse("uc-cast", span, format!("`{from}` can never be `{to}`")),
        }
    }

    fn new_object(
        &self,
        args: &[Option<ast::Expr>],
        class: &ast::Expr,
        template: Option<&ast::Expr>,
        span: Span,
    ) -> Found<Expr> {
        let found = self.value(class, None)?;
        let Type::Class(path) = found.ty.clone() else {
            let message = format!("`new` makes an object of a class: this is `{}`", found.ty);
            return Err(self.report(self.error("uc-no-class", class.span, message).hint("write `new class'Name'`")));
        };
        if let (ExprKind::Const(Const::Class(known)), Some(symbol)) = (&found.kind, self.checker.class(&path))
            && *known == symbol.path
            && symbol.is_abstract
        {
            let message = format!("`{}` is abstract: only classes that extend it have objects", symbol.name);
            return self.refuse("uc-abstract", class.span, message);
        }
        let root = Type::Object(self.checker.root_of(&self.class));
        let outer = args.first().and_then(Option::as_ref);
        let outer = outer.map(|outer| self.value_as(outer, &root)).transpose()?;
        let name = match args.get(1).and_then(Option::as_ref) {
            None => None,
            Some(name) => {
                let value = self.value(name, None)?;
                if !matches!(value.ty, Type::Text | Type::Name) {
                    return Err(self.mismatch(&value.ty, &Type::Text, self.at(name.span)));
                }
                Some(value)
            }
        };
        if let Some(flags) = args.get(2).and_then(Option::as_ref) {
            return self.refuse("uc-new", flags.span, "flags of a new object are outside of the language");
        }
        if args.len() > 3 {
            return self.refuse("uc-arguments", span, "`new` takes an outer object and a name");
        }
        let ty = Type::Object(path);
        let template = template.map(|template| self.value_as(template, &ty)).transpose()?;
        let kind = ExprKind::New(Box::new(New { class: found, outer, name, template }));
        Ok(Expr { kind, ty, line: self.line(span) })
    }

    fn conditional(
        &self,
        condition: &ast::Expr,
        one: &ast::Expr,
        other: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Found<Expr> {
        let condition = self.condition(condition);
        let first = self.value(one, expected);
        let hint = first.as_ref().ok().map(|first| first.ty.clone());
        let second = self.value(other, expected.or(hint.as_ref()));
        let (condition, first, second) = (condition?, first?, second?);
        // If both arms convert to the expected type, the result has this type. Otherwise, one arm must convert to the type of the other
        // arm, and the result has that type.
        let to = match expected {
            // If both arms are numbers, ignores the expected type: the result has the wider type of the two.
            Some(expected)
                if !matches!(expected, Type::Num(_))
                    && self.checker.implicit(&first.ty, expected).is_some()
                    && self.checker.implicit(&second.ty, expected).is_some() =>
            {
                expected.clone()
            }
            _ => match (&first.ty, &second.ty) {
                (Type::Num(a), Type::Num(b)) => super::operators::promoted(*a, *b).map_or(first.ty.clone(), Type::Num),
                (Type::None, ty) => ty.clone(),
                (ty, Type::None) => ty.clone(),
                (a, b) if self.checker.implicit(b, a).is_some() => a.clone(),
                (_, b) => b.clone(),
            },
        };
        if to == Type::None {
            return Ok(self.const_expr(Const::None, Type::None, span));
        }
        let first = self.coerced(first, &to, self.at(one.span))?;
        let second = self.coerced(second, &to, self.at(other.span))?;
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(first), Box::new(second));
        Ok(Expr { kind, ty: to, line: self.line(span) })
    }
}

/// Returns the value of a constant that exists in every class.
fn built_in(name: &str) -> Option<Const> {
    Some(match &*lower(name, &mut [0; 64]) {
        "index_none" => Const::Int(-1),
        "maxint" => Const::Int(i32::MAX.into()),
        "pi" => Const::Float(f64::from(std::f32::consts::PI)),
        _ => return None,
    })
}

/// Returns true for built-in calls that are evaluated at compile time.
fn is_known_call(name: &str) -> bool {
    ["arraycount", "enumcount", "nameof"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns true if the syntax of the expression allows a constant.
fn may_be_constant(value: &ast::Expr) -> bool {
    use ast::ExprKind as E;
    match &value.kind {
        E::Int(..) | E::Float(..) | E::Text(_) | E::Name(_) | E::Object(..) | E::Bool(_) | E::None | E::Ident(_) => {
            true
        }
        E::Triple(..) | E::Paren(_) | E::Macro(..) => true,
        E::Prefix(sign, _) => matches!(sign, ast::Prefix::Minus | ast::Prefix::Plus),
        E::Member(of, _) => {
            matches!(&of.kind, E::Ident(_)) || matches!(&of.kind, E::Member(_, word) if word.is("const"))
        }
        E::Call(callee, _) => matches!(&callee.kind, E::Ident(name) if is_known_call(&name.text)),
        _ => false,
    }
}
