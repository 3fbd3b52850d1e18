//! What the language has as functions without declaring them: casts, `ArrayCount`, `EnumCount`, `GetEnum`.

use super::body::Body;
use super::convert::{Way, converted};
use super::types::plain_type;
use super::{Found, Told, TypeSym};
use crate::ast::{self, Ident};
use crate::hir::{Const, Conversion, Expr, Type};
use crate::source::Span;

type Args = [Option<ast::Expr>];

impl Body<'_, '_> {
    /// `int(x)`, `Pawn(x)`, `vector(x)`.
    pub(super) fn cast_call(&self, name: &Ident, args: &Args, span: Span) -> Option<Found<Expr>> {
        let (plain, reserved) = plain_type(&name.text).map_or((None, false), |(ty, reserved)| (Some(ty), reserved));
        let to = match plain {
            Some(ty) if reserved => ty,
            _ => match self.checker.type_named(std::slice::from_ref(name), self.file) {
                Some(Ok(TypeSym::Class(path))) => Type::Object(path),
                Some(Ok(TypeSym::Struct(path))) => Type::Struct(path),
                Some(Ok(TypeSym::Enum(path, num))) => Type::Enum(path, num),
                Some(Ok(TypeSym::Interface(path))) => Type::Interface(path),
                Some(Err(told)) => return Some(Err(told)),
                // A function of a library comes before a word that is a type only by itself.
                None if self.checker.find_library_function(&name.text).is_some() => return None,
                None => plain?,
            },
        };
        Some(self.cast_to(&to, name, args, span))
    }

    fn cast_to(&self, to: &Type, name: &Ident, args: &Args, span: Span) -> Found<Expr> {
        let [Some(arg)] = args else {
            let message = format!("`{}(…)` makes one value a `{to}`, here are {} values", name.text, args.len());
            return Err(self.report(self.error("uc-arguments", span, message)));
        };
        let want = if super::literals::is_number(arg) { Some(to) } else { None };
        let value = self.value(arg, want.filter(|to| matches!(to, Type::Num(num) if num.is_float())))?;
        let shown = value.ty.clone();
        if matches!(to, Type::Object(_) | Type::Interface(_))
            && let Some(cast) = self.object_cast(value.clone(), to)
        {
            return Ok(cast);
        }
        match self.checker.explicit(&shown, to) {
            Some(way) => Ok(converted(value, way, to)),
            None if self.checker.is_unsure(&shown) || self.checker.is_unsure(to) => Err(Told),
            None => {
                let message = format!("`{shown}` can never be `{to}`");
                let error = self.error("uc-cast", span, message);
                let root_hint = matches!((&shown, to), (Type::Object(_), Type::Object(_)));
                Err(self.report(if root_hint { error.hint("neither class extends the other") } else { error }))
            }
        }
    }

    /// What the language has as functions without declaring them.
    pub(super) fn built_in(&self, name: &Ident, args: &Args, span: Span) -> Option<Found<Expr>> {
        let only = || match args {
            [Some(only)] => Ok(only),
            _ => {
                let message = format!("`{}` takes one argument, here are {}", name.text, args.len());
                Err(self.report(self.error("uc-arguments", span, message)))
            }
        };
        match name.text.to_ascii_lowercase().as_str() {
            "arraycount" => Some(only().and_then(|of| {
                let found = self.value(of, None)?;
                match found.ty {
                    Type::Fixed(_, len) => Ok(self.known(Const::Int(len.into()), Type::INT, span)),
                    ty => {
                        let error = self.error("uc-no-array", of.span, format!("`{ty}` is no array of a fixed length"));
                        Err(self.report(error.hint("`.Length` says how many elements a dynamic array has")))
                    }
                }
            })),
            "enumcount" => Some(only().and_then(|of| {
                if let ast::ExprKind::Ident(word) = &of.kind
                    && let Some(Ok(TypeSym::Enum(path, _))) =
                        self.checker.type_named(&[Ident { text: word.clone(), span: of.span }], self.file)
                    && let Some(found) = self.checker.enumeration(&path)
                {
                    return Ok(self.known(Const::Int(found.entries.len() as i128), Type::INT, span));
                }
                Err(self.report(self.error("uc-arguments", of.span, "the name of an enum is missing here")))
            })),
            "getenum" if matches!(args, [Some(ast::Expr { kind: ast::ExprKind::Object(word, _), .. }), Some(_)] if word.is("enum")) => {
                Some(self.get_enum(args, span))
            }
            _ => None,
        }
    }

    /// `GetEnum(enum'X', n)`: the name of the entry.
    fn get_enum(&self, args: &Args, span: Span) -> Found<Expr> {
        let [Some(ast::Expr { kind: ast::ExprKind::Object(_, text), span: at, .. }), Some(number)] = args else {
            return Err(Told);
        };
        let names: Vec<_> = text.split('.').map(|part| Ident { text: part.trim().to_owned(), span: *at }).collect();
        let (path, num) = match self.checker.type_named(&names, self.file) {
            Some(Ok(TypeSym::Enum(path, num))) => (path, num),
            Some(Err(told)) => return Err(told),
            _ => return Err(self.checker.unknown_type("enum", &names, self.file)),
        };
        let value = self.value(number, None)?;
        let ty = Type::Enum(path, num);
        let Some(way) = self.checker.explicit(&value.ty, &ty) else {
            return Err(self.mismatch(&value.ty, &Type::INT, self.at(number.span)));
        };
        let entry = converted(value, way, &ty);
        let text = converted(entry, Way::By(Conversion::ToText(ty)), &Type::Text);
        let name = Way::By(Conversion::Text(Type::Text, Type::Name));
        Ok(Expr { line: self.line(span), ..converted(text, name, &Type::Name) })
    }
}
