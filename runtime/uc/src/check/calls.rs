//! Calls: resolves the callee and checks the arguments.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use super::body::{Args, Body};
use super::convert::{converted, referenced};
use super::places::{cast_object, class_of_object};
use super::reflected::func_of_signature;
use super::symbols::FuncSym;
use super::{Found, Reported};
use crate::ast::{self, Ident};
use crate::hir::{Arg, Call, Callee, Const, Conversion, Expr, ExprKind, Num, Param, Path, Type};
use crate::source::Span;

impl Body<'_, '_> {
    /// Checks the call `a(b, c)`.
    pub(super) fn call(&self, callee: &ast::Expr, args: &Args, span: Span) -> Found<Expr> {
        match &callee.kind {
            ast::ExprKind::Ident(name) => self.plain_call(name, args, span),
            ast::ExprKind::Member(of, name) => self.member_call(of, name, args, span),
            ast::ExprKind::Super(_) => {
                self.refuse("uc-syntax", span, "the name of a function is missing after `super`")
            }
            _ => self.value_call(self.value(callee, None)?, callee.span, args, span),
        }
    }

    /// Checks the call of a value that is not a function name. The value must be a delegate.
    fn value_call(&self, found: Expr, at: Span, args: &Args, span: Span) -> Found<Expr> {
        if matches!(found.ty, Type::Delegate(..)) {
            return self.delegate_value_call(found, args, span);
        }
        self.refuse("uc-no-function", at, format!("`{}` is not a function", found.ty))
    }

    fn plain_call(&self, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        if self.locals.exact(&name.text).is_some() {
            let found = self.name(name, None)?;
            if matches!(found.ty, Type::Delegate(..)) {
                return self.delegate_value_call(found, args, span);
            }
        }
        let class = self.class.clone();
        if !self.only_constants {
            if let Some(found) = self.checker.find_function(&class, &name.text)
                && self.is_cast_instead(&found, args)
                && let Some(Ok(_)) = self.checker.type_named(std::slice::from_ref(name), self.file)
                && let Some(cast) = self.cast_call(name, args, span)
            {
                return cast;
            }
            if let Some(call) = self.class_call(None, &class, name, args, span)? {
                return Ok(call);
            }
        }
        if let Some(found) = self.built_in(name, args, span) {
            return found;
        }
        if let Some(found) = self.cast_call(name, args, span) {
            return found;
        }
        if let Some(found) = self.checker.find_library_function(&name.text).filter(|_| !self.only_constants) {
            if let Some(loaded) = self.loaded_class(name, args, span) {
                return loaded;
            }
            if name.is("isa") && args.len() == 1 {
                let of = ast::Expr { kind: ast::ExprKind::SelfObject, span: name.span, depth: 1 };
                return self.function_of_object(&found, &of, name, args, span);
            }
            return self.make_call(&found, Callee::Static { class: None, path: found.path.clone() }, name, args, span);
        }
        if self.only_constants {
            return Err(self.report(self.error("uc-not-constant", span, "a call is not known before the script runs")));
        }
        self.check_untyped_arguments(args);
        if let Some(reported) = self.outside_function(&class, name) {
            return Err(reported);
        }
        if self.checker.is_broken(&class) {
            return Err(Reported);
        }
        if !self.checker.is_first(self.file, format!("{class}:{}()", name.text.to_ascii_lowercase())) {
            return Err(Reported);
        }
        let message = format!("unknown function `{}`", name.text);
        let chain = self.checker.chain(&class);
        let libraries: Vec<_> =
            self.checker.options.libraries.iter().filter_map(|path| self.checker.class(path)).collect();
        let all = chain.iter().chain(&libraries).map(|class| &class.funcs);
        let near = self.checker.similar(&name.text, all);
        Err(self.report(self.error("uc-unknown-function", name.span, message).similar(near)))
    }

    /// Checks `DynamicLoadObject(path, class'Class')`. Because the second argument is the class `Class`, the call returns a class instead
    /// of an object.
    fn loaded_class(&self, name: &Ident, args: &Args, span: Span) -> Option<Found<Expr>> {
        let [path, Some(ast::Expr { kind: ast::ExprKind::Object(word, of), .. }), rest @ ..] = args else {
            return None;
        };
        let of_class = word.is("class") && ["class", "core.class"].iter().any(|class| of.eq_ignore_ascii_case(class));
        if !name.is("DynamicLoadObject") || !of_class {
            return None;
        }
        let found = self.checker.find_library_function("DynamicLoadClass")?;
        let args: Vec<_> = std::iter::once(path).chain(rest).cloned().collect();
        Some(self.make_call(&found, Callee::Static { class: None, path: found.path.clone() }, name, &args, span))
    }

    /// Returns true if the only argument of the call does not fit the function `found`. The script author then probably meant a cast to a
    /// type with the name of the function.
    fn is_cast_instead(&self, found: &FuncSym, args: &Args) -> bool {
        let [Some(arg)] = args else { return false };
        let required = found.params.iter().filter(|param| !param.optional).count();
        match found.params.first() {
            Some(first) if required <= 1 => {
                // Skips arguments that contain calls, because checking a call a second time would repeat its messages.
                let value = if is_path(arg) && !first.coerce { self.value_quietly(arg).ok() } else { None };
                value.zip(first.ty.known()).is_some_and(|(value, ty)| !self.checker.becomes(&value.ty, ty))
            }
            _ => true,
        }
    }

    /// Reports errors inside the arguments of a call whose function is unknown.
    fn check_untyped_arguments(&self, args: &Args) {
        for arg in args.iter().flatten() {
            self.check_untyped(arg);
        }
    }

    /// Reports errors inside a value whose expected type is unknown. Accepts a function name, because the unknown type may be a delegate.
    pub(super) fn check_untyped(&self, value: &ast::Expr) {
        let is_function = match &value.kind {
            ast::ExprKind::Ident(name) => {
                !self.is_value_name(&name.text) && self.checker.find_function(&self.class, &name.text).is_some()
            }
            // Checks only paths here, because a call would be checked twice and its messages would be repeated.
            ast::ExprKind::Member(of, name) if is_path(of) => matches!(
                self.value_quietly(of),
                Ok(Expr { ty: Type::Object(class), .. }) if self.checker.find_function(&class, &name.text).is_some()
            ),
            _ => false,
        };
        if !is_function {
            let _ = self.expr(value, None);
        }
    }

    fn member_call(&self, of: &ast::Expr, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        match &of.kind {
            ast::ExprKind::Super(class) => return self.super_call(class.as_ref(), name, args, span),
            ast::ExprKind::Global => return self.plain_call(name, args, span),
            ast::ExprKind::Static => {
                let class = self.self_class(of.span);
                return self.static_call(class, &self.class.clone(), name, args, span);
            }
            ast::ExprKind::Default => {
                return self.value_call(self.member(of, name, None, span)?, name.span, args, span);
            }
            ast::ExprKind::Member(inner, word) if word.is("static") => {
                let (class, path) = self.class_of(inner)?;
                return self.static_call(class, &path, name, args, span);
            }
            _ => {}
        }
        let base = self.value(of, None).inspect_err(|_| self.check_untyped_arguments(args))?;
        match base.ty.clone() {
            Type::Object(class) if name.is("isa") && self.checker.find_function(&class, &name.text).is_none() => {
                match self.checker.find_library_function(&name.text) {
                    Some(found) => self.function_of_object(&found, of, name, args, span),
                    None => self.object_call(base, &class, name, args, span),
                }
            }
            Type::Object(class) => self.object_call(base, &class, name, args, span),
            Type::Reference(kind, class) if kind != PropertyKind::SOFT_CLASS => {
                self.object_call(referenced(base), &class, name, args, span)
            }
            Type::Interface(path) => {
                let Some(found) = self.checker.find_interface_function(&path, &name.text) else {
                    let message = format!("`{}` has no function `{}`", base.ty, name.text);
                    return self.refuse("uc-unknown-function", name.span, message);
                };
                let callee = Callee::Interface { object: Box::new(base), path: found.path.clone() };
                self.make_call(&found, callee, name, args, span)
            }
            Type::Class(_) => {
                let error =
                    self.error("uc-unknown-function", name.span, format!("a class has no function `{}`", name.text));
                Err(self.report(error.hint(format!("static functions are called by `.static.{}(…)`", name.text))))
            }
            Type::Struct(_) => self.value_call(self.member_of(base, name, None, span)?, name.span, args, span),
            _ => self.container_call(base, of.span, name, args, span),
        }
    }

    /// Checks the call of a library function. The object before the dot becomes the first argument.
    fn function_of_object(
        &self,
        found: &FuncSym,
        of: &ast::Expr,
        name: &Ident,
        args: &Args,
        span: Span,
    ) -> Found<Expr> {
        let args: Vec<_> = std::iter::once(Some(of.clone())).chain(args.iter().cloned()).collect();
        self.make_call(found, Callee::Static { class: None, path: found.path.clone() }, name, &args, span)
    }

    fn object_call(&self, object: Expr, class: &Path, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        if let Some(call) = self.class_call(Some(object), class, name, args, span)? {
            return Ok(call);
        }
        self.check_untyped_arguments(args);
        Err(self.no_such_function(class, name))
    }

    /// Checks the call of a class member by name: a function, a declared delegate, or a property of a delegate type. `None` as the object
    /// means `self`. Returns `None` if the class has no such member.
    fn class_call(
        &self,
        object: Option<Expr>,
        class: &Path,
        name: &Ident,
        args: &Args,
        span: Span,
    ) -> Found<Option<Expr>> {
        if let Some(found) = self.checker.find_function(class, &name.text) {
            return self.method(object, &found, name, args, span).map(Some);
        }
        let declared = self.checker.find_delegate(class, &name.text);
        let prop = declared.as_ref().map(|found| found.prop.clone());
        let prop = prop.or_else(|| self.checker.find_property(class, &name.text));
        let Some(prop) = prop.filter(|prop| declared.is_some() || matches!(prop.ty, Some(Type::Delegate(..)))) else {
            return Ok(None);
        };
        if object.is_none() {
            let called = declared.as_ref().map_or(&prop.name, |found| &found.func.name);
            self.needs_object(name.span, format_args!("`{called}`"))?;
        }
        let delegate = self.property(object.clone(), &prop, self.at(name.span))?;
        let Some(found) = declared else { return self.delegate_value_call(delegate, args, span).map(Some) };
        let (delegate, object) = (Box::new(delegate), object.map(Box::new));
        let fallback = self.checker.find_delegate_body(class, &found.func.name);
        let callee = Callee::Delegate { delegate, object, fallback };
        self.make_call(&found.func, callee, name, args, span).map(Some)
    }

    /// Returns a function of a class or of its bases. Reports an unknown name.
    pub(super) fn function_of(&self, class: &Path, name: &Ident) -> Found<Rc<FuncSym>> {
        self.checker.find_function(class, &name.text).ok_or_else(|| self.no_such_function(class, name))
    }

    fn no_such_function(&self, class: &Path, name: &Ident) -> Reported {
        if let Some(reported) = self.outside_function(class, name) {
            return reported;
        }
        self.checker.no_member("uc-unknown-function", "function", class, name, self.file, |class| &class.funcs)
    }

    /// Checks the call of a function on an object. `None` as the object means `self`.
    fn method(&self, object: Option<Expr>, found: &Rc<FuncSym>, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        let path = found.path.clone();
        let callee = if found.is_static {
            let class = object.map_or_else(|| self.self_class(name.span), class_of_object);
            Callee::Static { class: Some(Box::new(class)), path }
        } else {
            if object.is_none() {
                self.needs_object(name.span, format_args!("`{}`", found.name))?;
            }
            let object = object.map(Box::new);
            if found.is_virtual { Callee::Virtual { object, path } } else { Callee::Final { object, path } }
        };
        self.make_call(found, callee, name, args, span)
    }

    fn static_call(&self, class: Expr, path: &Path, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        let found = self.function_of(path, name).inspect_err(|_| self.check_untyped_arguments(args))?;
        if !found.is_static {
            return self.refuse("uc-static", name.span, format!("`{}` is not static: it needs an object", found.name));
        }
        let callee = Callee::Static { class: Some(Box::new(class)), path: found.path.clone() };
        self.make_call(&found, callee, name, args, span)
    }

    fn super_call(&self, of: Option<&Ident>, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        let found = self.super_function(of, name).inspect_err(|_| self.check_untyped_arguments(args))?;
        let path = found.path.clone();
        let callee = if found.is_static {
            Callee::Static { class: None, path }
        } else {
            self.needs_object(name.span, format_args!("`{}`", found.name))?;
            Callee::Final { object: None, path }
        };
        // Ignores the flag `callable`, because `super` may call a base function that scripts cannot call by name.
        let open = FuncSym { callable: true, ..(*found).clone() };
        self.make_call(&open, callee, name, args, span)
    }

    /// Returns the function that `super` or `super(of)` calls.
    fn super_function(&self, of: Option<&Ident>, name: &Ident) -> Found<Rc<FuncSym>> {
        let Some(of) = of else {
            let base = self.checker.class(&self.class).and_then(|class| class.base.clone());
            return self.function_of(&base.ok_or(Reported)?, name);
        };
        let path = self.checker.class_named(std::slice::from_ref(of), self.file)?;
        let extends = self.checker.extends(&self.class, &path);
        if !extends && self.checker.is_broken(&self.class) {
            return Err(Reported);
        }
        if !extends || path == self.class {
            return self.refuse("uc-super", of.span, format!("`{}` is not a base class of this class", of.text));
        }
        self.function_of(&path, name)
    }

    /// Checks the call of the function that is bound to a delegate value.
    pub(super) fn delegate_value_call(&self, delegate: Expr, args: &Args, span: Span) -> Found<Expr> {
        let Type::Delegate(_, path, signature) = delegate.ty.clone() else { return Err(Reported) };
        let num_of = |path: &str| self.checker.enumeration(path).map_or(Num::U8, |found| found.num);
        let name = path.as_deref().and_then(|path| path.rsplit(['.', ':']).next()).unwrap_or("the delegate").to_owned();
        // Looks up the declaration of the delegate, because the type does not state which parameters are optional.
        let declared = path.as_deref().and_then(|path| self.checker.delegate_of_path(path));
        let path = path.unwrap_or_else(|| "".into());
        let mut func = func_of_signature(&name, path, &signature, &num_of, &self.class);
        if let Some(declared) = declared {
            func.params.clone_from(&declared.func.params);
        }
        let callee = Callee::Delegate { delegate: Box::new(delegate), object: None, fallback: None };
        self.make_call(&func, callee, &Ident { text: name, span }, args, span)
    }

    /// Checks that the function is accessible, checks the arguments, and builds the call.
    fn make_call(&self, found: &FuncSym, callee: Callee, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        self.check_access(found.access, (&found.name, &found.owner, found.at), self.at(name.span))?;
        if !found.callable {
            let message = format!(
                "scripts cannot call `{}`: its declaration lacks `blueprint_callable` and `blueprint_pure`",
                found.name
            );
            return self.refuse("uc-access", name.span, message);
        }
        let (args, wildcards, wild_result) = self.arguments(found, args, name, span)?;
        if found.result == Some(Type::Nothing) {
            return Err(Reported);
        }
        let of_class = found.result_by.and_then(|at| match args.get(at) {
            Some(Arg::Value(class)) => unconverted_class(class),
            _ => None,
        });
        let ty = wild_result.or_else(|| found.result.clone()).unwrap_or(Type::Nothing);
        let line = self.line(span);
        let call = Expr { kind: ExprKind::Call(Box::new(Call { callee, args, wildcards })), ty, line };
        Ok(match of_class {
            Some(class) if matches!(&call.ty, Type::Object(of) if *of != class && self.checker.extends(&class, of)) => {
                cast_object(call, class)
            }
            _ => call,
        })
    }

    /// Checks an argument against a parameter of a known type.
    pub(super) fn argument(&self, param: &Param, arg: &ast::Expr) -> Found<Arg> {
        let Some(ty) = param.ty.known() else {
            self.check_untyped(arg);
            return Err(Reported);
        };
        let at = self.at(arg.span);
        let value = self.value(arg, Some(ty))?;
        if !param.out {
            if param.coerce
                && let Some(coercion) = self.checker.explicit(&value.ty, ty)
            {
                return Ok(Arg::Value(converted(value, coercion, ty)));
            }
            return self.coerced(value, ty, at).map(Arg::Value);
        }
        // A `const` parameter can be passed to another `const` parameter.
        if !(param.is_const && value.ty == *ty && self.is_in_const_param(&value)) {
            self.check_place(&value, arg.span)?;
        }
        // The call does not change the argument of a `const` parameter, so the value is not copied back.
        if value.ty == *ty {
            return Ok(if param.is_const { Arg::Value(value) } else { Arg::Out(value) });
        }
        let suits = matches!((&value.ty, ty), (Type::Num(_), Type::Num(_)))
            || (super::convert::is_text(&value.ty) && super::convert::is_text(ty))
            || (self.checker.triple(&value.ty).is_some() && self.checker.triple(ty).is_some());
        match (self.checker.implicit(&value.ty, ty), self.checker.implicit(ty, &value.ty)) {
            (Some(Some(there)), Some(Some(_))) if suits && param.is_const => {
                Ok(Arg::Value(converted(value, there, ty)))
            }
            (Some(Some(there)), Some(Some(back))) if suits => Ok(Arg::OutConverted(value, there, back)),
            _ => {
                let message = format!("the call changes this: it has to be a `{ty}`, this is `{}`", value.ty);
                self.refuse("uc-type-mismatch", arg.span, message)
            }
        }
    }
}

/// Returns true for names separated by dots.
fn is_path(of: &ast::Expr) -> bool {
    match &of.kind {
        ast::ExprKind::Ident(_) | ast::ExprKind::SelfObject => true,
        ast::ExprKind::Member(of, _) => is_path(of),
        _ => false,
    }
}

/// Returns the class of an argument before the conversion to the parameter type. For a class literal, returns the class that the
/// literal names. For all other values, returns the class of the declared type.
fn unconverted_class(class: &Expr) -> Option<Path> {
    match (&class.kind, &class.ty) {
        (ExprKind::Convert(Conversion::Up, inner), _) => unconverted_class(inner),
        (ExprKind::Const(Const::Class(path)), _) | (_, Type::Class(path)) => Some(path.clone()),
        _ => None,
    }
}
