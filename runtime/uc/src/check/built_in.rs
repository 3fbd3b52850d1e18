//! Built-in functions: casts, `ArrayCount`, `EnumCount`, `GetEnum`.

use super::body::{Args, Body};
use super::convert::converted;
use super::types::plain_type;
use super::{Found, Reported};
use crate::ast::{self, Ident};
use crate::hir::{Const, Conversion, Expr, Path, Type};
use crate::parse::MAX_DEPTH;
use crate::source::Span;
use crate::token::lower;

impl Body<'_, '_> {
    /// Checks a cast: `int(x)`, `Pawn(x)`, `vector(x)`. Returns `None` if the name is not a type.
    pub(super) fn cast_call(&self, name: &Ident, args: &Args, span: Span) -> Option<Found<Expr>> {
        let (plain, reserved) = plain_type(&name.text).map_or((None, false), |(ty, reserved)| (Some(ty), reserved));
        let to = match plain {
            Some(ty) if reserved => ty,
            _ => match self.checker.type_named(std::slice::from_ref(name), self.file) {
                Some(Ok(found)) => found,
                Some(Err(reported)) => return Some(Err(reported)),
                // Library functions have precedence over type names that are not reserved words.
                None if self.checker.find_library_function(&name.text).is_some() => return None,
                None => plain?,
            },
        };
        Some(self.cast_to(&to, name, args, span))
    }

    fn cast_to(&self, to: &Type, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        let [Some(arg)] = args else {
            let message = format!("`{}(…)` converts one value to `{to}`, not {} values", name.text, args.len());
            return self.refuse("uc-arguments", span, message);
        };
        let expected = if super::literals::is_number(arg) { Some(to) } else { None };
        let value = self.value(arg, expected.filter(|to| matches!(to, Type::Num(num) if num.is_float())))?;
        let from = value.ty.clone();
        if matches!(to, Type::Object(_) | Type::Interface(_))
            && let Some(cast) = self.object_cast(value.clone(), to)
        {
            return Ok(cast);
        }
        match self.checker.explicit(&from, to) {
            Some(coercion) => Ok(converted(value, coercion, to)),
            None if self.checker.is_unsure(&from) || self.checker.is_unsure(to) => Err(Reported),
            None => {
                let message = format!("`{from}` can never be `{to}`");
                let error = self.error("uc-cast", span, message);
                let root_hint = matches!((&from, to), (Type::Object(_), Type::Object(_)));
                Err(self.report(if root_hint { error.hint("neither class extends the other") } else { error }))
            }
        }
    }

    pub(super) fn built_in(&self, name: &Ident, args: &Args, span: Span) -> Option<Found<Expr>> {
        let only = || match args {
            [Some(only)] => Ok(only),
            _ => self.refuse("uc-arguments", span, format!("`{}` takes one argument, not {}", name.text, args.len())),
        };
        match &*lower(&name.text, &mut [0; 64]) {
            "nameof" => Some(only().and_then(|of| self.name_of(of, span))),
            // Reads the length from the declaration in the syntax tree, because a variable that is declared later has no symbol yet.
            "arraycount" if self.only_constants => Some(only().and_then(|of| self.declared_length(of, span))),
            "arraycount" => Some(only().and_then(|of| {
                let found = self.value(of, None)?;
                match found.ty {
                    Type::Fixed(_, len) => Ok(self.const_expr(Const::Int(len.into()), Type::INT, span)),
                    ty => {
                        let error = self.error("uc-no-array", of.span, format!("`{ty}` is not a fixed array"));
                        Err(self.report(error.hint("use `.Length` for the number of elements of a dynamic array")))
                    }
                }
            })),
            "enumcount" => Some(only().and_then(|of| {
                if let ast::ExprKind::Ident(word) = &of.kind
                    && let Some(Ok(Type::Enum(path, _))) =
                        self.checker.type_named(std::slice::from_ref(word), self.file)
                    && let Some(found) = self.checker.enumeration(&path)
                {
                    return Ok(self.const_expr(Const::Int(found.entries.len() as i128), Type::INT, span));
                }
                self.refuse("uc-arguments", of.span, "the name of an enum is missing here")
            })),
            "getenum" => match args {
                [Some(ast::Expr { kind: ast::ExprKind::Object(word, text), span: at, .. }), Some(number)]
                    if word.is("enum") =>
                {
                    Some(self.get_enum(&Ident::dotted(text, *at), number, span))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Evaluates `ArrayCount(X)` as a compile-time constant. Reads the length from the declaration of the variable `X`.
    fn declared_length(&self, of: &ast::Expr, span: Span) -> Found<Expr> {
        let refused = || self.error("uc-no-array", of.span, "a variable of a fixed length is missing here");
        let ast::ExprKind::Ident(name) = &of.kind else { return Err(self.report(refused())) };
        let chain = self.checker.chain(&self.class);
        for class in &chain {
            let own = self.checker.files.iter().enumerate().find(|(_, file)| {
                file.class.as_ref().is_some_and(|head| *self.checker.own_path(&head.name.text) == *class.path)
            });
            let vars = own.into_iter().flat_map(|(at, file)| file.items.iter().map(move |item| (at, item)));
            let dim = vars.into_iter().find_map(|(at, item)| match item {
                ast::Item::Var(found) => {
                    let named = found.names.iter().find(|found| found.name.is(&name.text))?;
                    Some((at, named.dim.as_ref()))
                }
                _ => None,
            });
            let len = match dim {
                Some((at, Some(dim))) => {
                    let open = &self.checker.open_consts;
                    if open.borrow().contains(&(at, dim.span)) || open.borrow().len() >= MAX_DEPTH as usize {
                        let message = "this length refers to itself, or to too many constants";
                        return self.refuse("uc-const-circle", of.span, message);
                    }
                    open.borrow_mut().push((at, dim.span));
                    let len = self.checker.dim_of(dim, at, &class.path);
                    open.borrow_mut().pop();
                    len?
                }
                Some(_) => return Err(self.report(refused())),
                None => match class.props.get(&name.text).map(|found| found.ty.clone()) {
                    Some(Some(Type::Fixed(_, len))) => len,
                    Some(_) => return Err(self.report(refused())),
                    None => continue,
                },
            };
            return Ok(self.const_expr(Const::Int(len.into()), Type::INT, span));
        }
        Err(self.report(refused()))
    }

    /// Evaluates `nameof(X)`. The result is the name of a variable, function, type or constant, spelled as in its declaration.
    fn name_of(&self, of: &ast::Expr, span: Span) -> Found<Expr> {
        let (class, name) = match &of.kind {
            ast::ExprKind::Ident(name) => (self.class.clone(), name.clone()),
            ast::ExprKind::Member(inner, name) => (self.class_named_by(inner)?, name.clone()),
            _ => return self.refuse("uc-arguments", of.span, "a name is missing here"),
        };
        // A name behind a dot is a member, even if a local or constant of the function has this name.
        let is_plain = matches!(of.kind, ast::ExprKind::Ident(_));
        let own = self.locals.spelling(&name.text).or_else(|| self.consts.spelling(&name.text));
        let checker = self.checker;
        let found = own
            .filter(|_| is_plain)
            .cloned()
            .or_else(|| checker.find_property(&class, &name.text).map(|found| found.name.clone()))
            .or_else(|| checker.find_function(&class, &name.text).map(|found| found.name.clone()))
            .or_else(|| checker.find_delegate(&class, &name.text).map(|found| found.func.name.clone()))
            .or_else(|| {
                checker
                    .find_const(&class, &name.text)
                    .map(|found| checker.sources[found.at.0].slice(found.at.1).to_owned())
            })
            .or_else(|| match checker.type_named(std::slice::from_ref(&name), self.file) {
                Some(Ok(ty)) => ty.path().and_then(|path| path.rsplit('.').next()).map(str::to_owned),
                _ => None,
            });
        match found {
            Some(found) => Ok(self.const_expr(Const::Name(found), Type::Name, span)),
            None if checker.is_broken(&class) => Err(Reported),
            None => {
                let message = format!("unknown name `{}`: not a variable, function or type", name.text);
                self.refuse("uc-unknown-name", name.span, message)
            }
        }
    }

    /// Resolves the class before the dot in `nameof(X.Y)`. The expression is a class name, or an object of the class.
    fn class_named_by(&self, of: &ast::Expr) -> Found<Path> {
        if let ast::ExprKind::Ident(name) = &of.kind
            && !self.is_value_name(&name.text)
            && let Some(Ok(Type::Object(path))) = self.checker.type_named(std::slice::from_ref(name), self.file)
        {
            return Ok(path);
        }
        self.class_of(of).map(|(_, path)| path)
    }

    /// Reports a call of an Unreal function that the language does not support. Returns `None` if the name is not such a function.
    pub(super) fn outside_function(&self, class: &str, name: &Ident) -> Option<Reported> {
        const STATES: &[&str] =
            &["gotostate", "isinstate", "getstatename", "pushstate", "popstate", "dumpstatestack", "ischildstate"];
        const LATENT: &[&str] = &[
            "sleep",
            "finishanim",
            "finishinterpolation",
            "moveto",
            "movetoward",
            "strafeto",
            "strafefacing",
            "turnto",
            "turntoward",
            "waitforlanding",
        ];
        let word = name.text.to_ascii_lowercase();
        let is = |names: &[&str]| names.contains(&word.as_str());
        let (id, what, hint) = if is(STATES) {
            ("uc-state", "of states, which are", "keep the state in a variable, and check it in the functions")
        } else if is(LATENT) && !self.checker.is_broken(class) {
            (
                "uc-function-word",
                "that waits over several frames, which is",
                "count the time in a function of each frame",
            )
        } else if word == "dynamicloadobject" {
            ("uc-dynamic-load", "that loads by name, which is", "name the class or object by `Class'Package.Name'`")
        } else if is(&["spawn", "settimer"]) && !self.checker.is_broken(class) {
            let hint = match &*word {
                "spawn" => "create an object by `new(Outer) class'X'`",
                _ => "count the time in a function of each frame",
            };
            ("uc-function-word", "of the engine of UnrealScript, which is", hint)
        } else if word == "sizeof" {
            ("uc-pointer", "of C++, which is", "")
        } else {
            return None;
        };
        let message = format!("`{}` is a function {what} outside of the language", name.text);
        Some(self.report(self.error(id, name.span, message).hint(hint)))
    }

    /// Evaluates `GetEnum(enum'X', n)`. The result is the name of the entry with the number `n`.
    fn get_enum(&self, names: &[Ident], number: &ast::Expr, span: Span) -> Found<Expr> {
        let ty = self.checker.known_type("enum", names, self.file)?;
        if !matches!(ty, Type::Enum(..)) {
            return Err(self.checker.unknown_type("enum", names, self.file));
        }
        let value = self.value(number, None)?;
        // Looks up the number without a conversion to the enum, because the conversion would keep only its low bits.
        if let (Type::Num(from) | Type::Enum(_, from), Type::Enum(path, _)) = (&value.ty, &ty) {
            let name = Conversion::NumToEntryName(*from, path.clone());
            return Ok(Expr { line: self.line(span), ..converted(value, name, &Type::Name) });
        }
        let Some(coercion) = self.checker.explicit(&value.ty, &ty) else {
            return Err(self.mismatch(&value.ty, &Type::INT, self.at(number.span)));
        };
        let entry = converted(value, coercion, &ty);
        let text = converted(entry, Conversion::ToText(ty), &Type::Text);
        let name = Conversion::Text(Type::Text, Type::Name);
        Ok(Expr { line: self.line(span), ..converted(text, name, &Type::Name) })
    }
}
