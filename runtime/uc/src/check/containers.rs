//! Checks built-in operations on arrays, sets, maps, optionals and delegates, and the heads of `foreach` loops.

use std::collections::BTreeSet;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::type_text::SignatureText;

use super::body::{Args, Body};
use super::wildcards::counted;
use super::{Found, Reported};
use crate::ast::{self, Ident};
use crate::hir::{Conversion, Expr, ExprKind, Intrinsic, Num, Type, delegate_of_property};
use crate::source::Span;
use crate::token::lower;

impl Body<'_, '_> {
    /// Checks calls of built-in container operations such as `array.AddItem(x)`.
    pub(super) fn container_call(
        &self,
        base: Expr,
        base_span: Span,
        name: &Ident,
        args: &Args,
        span: Span,
    ) -> Found<Expr> {
        use Intrinsic as I;
        let ty = base.ty.clone();
        let int = Type::INT;
        let mut buffer = [0; 64];
        let word = lower(&name.text, &mut buffer);
        let (which, params, result): (I, Vec<Type>, Type) = match (&ty, &*word) {
            (Type::Array(_), "add") => (I::ArrayAdd, vec![int.clone()], int),
            (Type::Array(of), "additem") => (I::ArrayAddItem, vec![(**of).clone()], int),
            (Type::Array(_), "insert") => (I::ArrayInsert, vec![int.clone(), int], Type::Nothing),
            (Type::Array(of), "insertitem") => (I::ArrayInsertItem, vec![int.clone(), (**of).clone()], int),
            (Type::Array(_), "remove") => (I::ArrayRemove, vec![int.clone(), int], Type::Nothing),
            (Type::Array(of), "removeitem") => (I::ArrayRemoveItem, vec![(**of).clone()], int),
            (Type::Array(_), "empty") => (I::ArrayEmpty, Vec::new(), Type::Nothing),
            (Type::Array(of) | Type::Fixed(of, _), "find") if args.len() == 2 => {
                return self.find_by_field(base, of, args, span);
            }
            (Type::Array(of) | Type::Fixed(of, _), "find") => (I::ArrayFind, vec![(**of).clone()], int),
            (Type::Array(of) | Type::Fixed(of, _), "sort") => {
                let type_text = of.type_text().ok_or(Reported)?;
                let signature = SignatureText {
                    arguments: vec![type_text.clone(), type_text],
                    out_parameters: Vec::new(),
                    result: Type::INT.type_text().map(Box::new),
                };
                let delegate = Type::Delegate(PropertyKind::DELEGATE, None, Rc::new(signature));
                (I::ArraySort, vec![delegate], Type::Nothing)
            }
            (Type::Map(key, value), "find" | "get") => (I::MapGet, vec![(**key).clone()], (**value).clone()),
            (Type::Map(key, value), "set" | "add") => {
                (I::MapSet, vec![(**key).clone(), (**value).clone()], Type::Nothing)
            }
            (Type::Map(key, _), "contains") => (I::Contains, vec![(**key).clone()], Type::Bool),
            (Type::Map(key, _), "remove") => (I::Remove, vec![(**key).clone()], Type::Bool),
            (Type::Map(..) | Type::Set(_), "empty") => (I::Empty, Vec::new(), Type::Nothing),
            (Type::Map(key, _), "keys") => (I::MapKeys, Vec::new(), Type::Array(key.clone())),
            (Type::Map(_, value), "values") => (I::MapValues, Vec::new(), Type::Array(value.clone())),
            (Type::Set(of), "values") => (I::SetValues, Vec::new(), Type::Array(of.clone())),
            (Type::Set(of), "add") => (I::SetAdd, vec![(**of).clone()], Type::Bool),
            (Type::Set(of), "contains") => (I::Contains, vec![(**of).clone()], Type::Bool),
            (Type::Set(of), "remove") => (I::Remove, vec![(**of).clone()], Type::Bool),
            (Type::Optional(_), "isset") => (I::OptionalIsSet, Vec::new(), Type::Bool),
            (Type::Optional(of), "get") => (I::OptionalGet, Vec::new(), (**of).clone()),
            (Type::Optional(_), "reset") => (I::OptionalReset, Vec::new(), Type::Nothing),
            (Type::Delegate(kind, _, signature), "add" | "remove") if *kind != PropertyKind::DELEGATE => {
                let single = Type::Delegate(PropertyKind::DELEGATE, None, signature.clone());
                let which = if word == "add" { I::MulticastAdd } else { I::MulticastRemove };
                (which, vec![single], Type::Nothing)
            }
            (Type::Delegate(kind, ..), "clear") if *kind != PropertyKind::DELEGATE => {
                (I::MulticastClear, Vec::new(), Type::Nothing)
            }
            (Type::Delegate(kind, ..), "broadcast") if *kind != PropertyKind::DELEGATE => {
                return self.delegate_value_call(base, args, span);
            }
            _ => {
                let mut members = BTreeSet::new();
                self.checker.members_of(&ty, &mut members);
                let members: Vec<_> = members.iter().map(|member| format!("`{member}`")).collect();
                let hint = if members.is_empty() { String::new() } else { format!("it has {}", members.join(", ")) };
                let message = format!("`{ty}` has no function `{}`", name.text);
                return Err(self.report(self.error("uc-unknown-function", name.span, message).hint(hint)));
            }
        };
        if !which.is_reading() {
            self.check_place(&base, base_span)?;
        }
        if args.len() != params.len() || args.iter().any(Option::is_none) {
            let message = format!("`{}` takes {}, not {}", name.text, counted(params.len()), args.len());
            return self.refuse("uc-arguments", name.span, message);
        }
        let mut operands = vec![base];
        for (arg, param) in args.iter().flatten().zip(&params) {
            let value = self.value(arg, Some(param))?;
            let value = if which == I::ArraySort { self.or_body(value) } else { value };
            operands.push(self.coerced(value, param, self.at(arg.span))?);
        }
        Ok(Expr { kind: ExprKind::Intrinsic(which, operands), ty: result, line: self.line(span) })
    }

    /// If the value is a declared delegate of `self` with a body, returns a value that is the body while no function is bound to the
    /// delegate. Returns any other value unchanged.
    fn or_body(&self, delegate: Expr) -> Expr {
        let ExprKind::Property { object: None, name, .. } = &delegate.kind else { return delegate };
        let body = delegate_of_property(name).and_then(|called| self.checker.find_delegate_body(&self.class, called));
        let Some((owner, name)) = body.as_deref().and_then(|path| path.split_once(':')) else { return delegate };
        let (ty, line) = (delegate.ty.clone(), delegate.line);
        let kind = ExprKind::FunctionOf { object: None, owner: owner.into(), name: name.to_owned() };
        let body = Expr { kind, ty: ty.clone(), line };
        let kind = ExprKind::Intrinsic(Intrinsic::DelegateIsBound, vec![delegate.clone()]);
        let bound = Expr { kind, ty: Type::Bool, line };
        Expr { kind: ExprKind::Conditional(Box::new(bound), Box::new(delegate), Box::new(body)), ty, line }
    }

    /// Checks the search `array.Find('Field', value)` by a field of the elements.
    fn find_by_field(&self, base: Expr, of: &Type, args: &Args, span: Span) -> Found<Expr> {
        let [Some(field), Some(value)] = args else {
            return self.refuse("uc-arguments", span, "`Find` takes a name and a value here");
        };
        let ast::ExprKind::Name(name) = &field.kind else {
            let error =
                self.error("uc-arguments", field.span, "the first of two arguments of `Find` is the name of a field");
            return Err(self.report(error.hint("write it between two `'`")));
        };
        let Type::Struct(path) = of else {
            let message = format!("`{of}` is not a struct: it has no field `{name}`");
            return self.refuse("uc-unknown-member", field.span, message);
        };
        let Some(structure) = self.checker.structure(path) else { return Err(Reported) };
        let Some(found) = structure.by_name.get(name) else {
            return self.refuse("uc-unknown-member", field.span, format!("`{of}` has no field `{name}`"));
        };
        let ty = found.ty.clone().ok_or(Reported)?;
        let needle = self.value_as(value, &ty)?;
        let kind = ExprKind::Intrinsic(Intrinsic::ArrayFindField(found.name.clone()), vec![base, needle]);
        Ok(Expr { kind, ty: Type::INT, line: self.line(span) })
    }

    /// Checks the head `Array(element, index)` of a `foreach`. Returns the array, the place that receives the element, the conversion of
    /// the element, and the place that receives the index.
    pub(super) fn foreach_head(&self, over: &ast::Expr) -> Found<(Expr, Expr, Option<Conversion>, Option<Expr>)> {
        let ast::ExprKind::Call(array, args) = &over.kind else {
            if matches!(over.kind, ast::ExprKind::Macro(..)) {
                return Err(self.value(over, None).err().unwrap_or(Reported));
            }
            let error = self.error("uc-foreach", over.span, "`foreach` lacks a variable for the elements");
            return Err(self.report(error.hint("write `foreach Array(Element)`")));
        };
        if let Some(name) = self.iterator_function(array, args) {
            let message = format!("`{name}` is a function: `foreach` over functions is outside of the language");
            let error = self.error("uc-iterator", over.span, message);
            return Err(
                self.report(error.hint("`foreach` iterates over arrays and sets; let a function return an array"))
            );
        }
        let found = self.value(array, None)?;
        let (of, found) = match found.ty.clone() {
            Type::Array(of) | Type::Fixed(of, _) => (*of, found),
            Type::Set(of) => {
                let (ty, line) = (Type::Array(of.clone()), found.line);
                (*of, Expr { kind: ExprKind::Intrinsic(Intrinsic::SetValues, vec![found]), ty, line })
            }
            ty => {
                let error = self.error("uc-foreach", array.span, format!("`{ty}` is not an array"));
                let is_map = matches!(ty, Type::Map(..));
                return Err(self.report(if is_map {
                    error.hint("assign `Keys()` or `Values()` to an array first")
                } else {
                    error
                }));
            }
        };
        let (element, index) = match args.as_slice() {
            [Some(element)] => (element, None),
            [Some(element), Some(index)] => (element, Some(index)),
            _ => {
                let message = "`foreach` takes a variable for the elements, and one for the index";
                return self.refuse("uc-foreach", over.span, message);
            }
        };
        let place = self.value(element, None)?;
        self.check_place(&place, element.span)?;
        let Some(convert) = self.checker.implicit(&of, &place.ty) else {
            let message = format!("the elements are `{of}`, this is `{}`", place.ty);
            return self.refuse("uc-type-mismatch", element.span, message);
        };
        let index = match index {
            None => None,
            Some(index) => {
                let place = self.value(index, None)?;
                self.check_place(&place, index.span)?;
                if place.ty != Type::Num(Num::I32) {
                    return Err(self.mismatch(&place.ty, &Type::INT, self.at(index.span)));
                }
                Some(place)
            }
        };
        Ok((found, place, convert, index))
    }

    /// Returns the name of the iterator function that a `foreach` calls. Returns `None` if the `foreach` iterates over an array.
    fn iterator_function(&self, callee: &ast::Expr, args: &Args) -> Option<String> {
        // If the class has an unknown base, guesses from the arguments. An iteration over an array has at most two arguments, and none of
        // them is a class.
        let by_args = |name: &Ident| {
            let first = args.first().and_then(Option::as_ref);
            let class =
                matches!(first, Some(ast::Expr { kind: ast::ExprKind::Object(word, _), .. }) if word.is("class"));
            (class || args.len() > 2).then(|| name.text.clone())
        };
        match &callee.kind {
            ast::ExprKind::Ident(name) if !self.is_value_name(&name.text) => {
                let found = self.checker.find_function(&self.class, &name.text);
                if let Some(found) = found.or_else(|| self.checker.find_library_function(&name.text)) {
                    return Some(found.name.clone());
                }
                // Treats an unknown name as a function. If an unknown base class may declare a variable of this name, decides by the
                // arguments.
                if self.checker.is_broken(&self.class) { by_args(name) } else { Some(name.text.clone()) }
            }
            ast::ExprKind::Member(of, name) => {
                let Ok(base) = self.value_quietly(of) else { return by_args(name) };
                match &base.ty {
                    Type::Object(class) => {
                        let is_property = self.checker.find_property(class, &name.text).is_some();
                        let is_function = self.checker.find_function(class, &name.text).is_some();
                        match self.checker.is_broken(class) && !is_function {
                            _ if is_property => None,
                            true => by_args(name),
                            false => Some(name.text.clone()),
                        }
                    }
                    Type::Map(..) | Type::Set(_) => Some(name.text.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
