//! Resolves identifiers in defaults to enum entries, names, constants, objects or functions. Also resolves the defaults of structs.

use alcedo_abi::kinds::PropertyKind;

use super::body::{Body, as_const};
use super::convert::is_text;
use super::defaults::{Place, name_of};
use super::symbols::At;
use super::{Checker, Found, Reported};
use crate::ast::{self, DefaultLine, DefaultValue, Ident, Item};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Const, Type};
use crate::source::Span;

impl Checker<'_> {
    /// Resolves an identifier to `true`, an enum entry, a constant, a name, a subobject or a function.
    pub(super) fn default_word(
        &self,
        names: &[Ident],
        value: &DefaultValue,
        ty: &Type,
        place: &Place<'_>,
    ) -> Found<Const> {
        let at: At = (place.file, value.span);
        let last = &names[names.len() - 1];
        let is_none = names.len() == 1 && last.is("none");
        let refuse = |what: String, hint: &str| Err(self.report(Diagnostic::error("uc-default", at, what).hint(hint)));
        match ty {
            Type::Bool if last.is("true") || last.is("yes") || last.is("on") => return Ok(Const::Bool(true)),
            Type::Bool if last.is("false") || last.is("no") || last.is("off") => return Ok(Const::Bool(false)),
            Type::Object(_) | Type::Class(_) | Type::Interface(_) | Type::Reference(..) | Type::Delegate(..)
                if is_none =>
            {
                return Ok(Const::None);
            }
            Type::Name if names.len() == 1 => return Ok(name_of(&last.text)),
            Type::Enum(path, _) => {
                let Some(found) = self.enumeration(path) else { return Err(Reported) };
                return match found.entry(&last.text) {
                    Some((name, number)) => Ok(Const::Enum(path.clone(), name.clone(), *number)),
                    None => {
                        let near = self.near(&last.text, found.entries.iter().map(|(entry, _)| entry.as_str()));
                        let hint = near.map_or(String::new(), |near| format!("a similar name exists: `{near}`"));
                        refuse(format!("`{ty}` has no entry `{}`", last.text), &hint)
                    }
                };
            }
            Type::Object(expected) => {
                let known = place.objects.iter().find(|(name, _)| last.is(name));
                let found = known.cloned().or_else(|| self.find_subobject(place.of, &last.text));
                return match found {
                    Some((name, class)) if self.extends(&class, expected) => Ok(Const::Subobject(name)),
                    Some((name, class)) => {
                        let class = class.rsplit('.').next().unwrap_or("");
                        refuse(format!("expected `{ty}`, `{name}` is `{class}`"), "")
                    }
                    None => refuse(
                        format!("unknown object `{}` in these defaults", last.text),
                        "an object elsewhere is written `Class'Package.Name'`",
                    ),
                };
            }
            Type::Delegate(kind, _, expected) => {
                // Accepts the class itself as a qualifier, because existing menu classes write `Page.OnClick` in the defaults of the class
                // `Page`.
                let own = match names {
                    [of, _] if *place.class == *place.of => {
                        self.chain(place.class).iter().any(|class| of.is(&class.name))
                    }
                    _ => false,
                };
                let [name] = (if own { &names[1..] } else { names }) else {
                    if self.is_broken(place.of) || self.is_broken(place.class) {
                        return Err(Reported);
                    }
                    return refuse("only functions of the object itself can be bound by defaults".to_owned(), "");
                };
                let own = self.find_function(place.class, &name.text);
                // In the defaults of a subobject, a delegate may also be bound to a function of the object that owns the subobject.
                let is_of_owner = own.is_none() && *place.class != *place.of;
                let Some(found) = own.or_else(|| self.find_function(place.of, &name.text)) else {
                    if self.is_broken(place.class) || self.is_broken(place.of) {
                        return Err(Reported);
                    }
                    return refuse(format!("unknown function `{}`", name.text), "");
                };
                let Some(signature) = found.signature() else { return Err(Reported) };
                if signature != **expected {
                    return refuse(
                        format!("`{}` has another signature than the delegate", found.name),
                        &format!("the delegate is ({expected})"),
                    );
                }
                if *kind != PropertyKind::DELEGATE {
                    let message = format!("`{}` is one function, and this delegate calls several", found.name);
                    return refuse(message, "write `.Add(…)` in a function");
                }
                let name = found.name.clone();
                return Ok(if is_of_owner { Const::OwnerFunction(name) } else { Const::Function(name) });
            }
            _ => {}
        }
        // A single identifier may be a constant, or an enum entry that is used as a number.
        if let ([name], Type::Num(_) | Type::Text | Type::Bool | Type::Struct(_)) = (names, ty) {
            let is_known =
                self.find_const(place.of, &name.text).is_some() || !self.enums.borrow().called(&name.text).is_empty();
            if is_known {
                let body = Body { only_constants: true, ..Body::new(self, place.file, place.of) };
                let word = ast::Expr { kind: ast::ExprKind::Ident(name.clone()), span: name.span, depth: 1 };
                let found = body.value(&word, Some(ty)).and_then(|found| body.coerced(found, ty, at))?;
                if let Some(value) = self.known_value(&found) {
                    return Ok(value);
                }
            }
        }
        let parts: Vec<_> = names.iter().map(|name| name.text.as_str()).collect();
        let hint = if is_text(ty) { "write strings between two `\"`" } else { "" };
        refuse(format!("`{}` is not a value of `{ty}`", parts.join(".")), hint)
    }

    pub(super) fn default_object(
        &self,
        word: &Ident,
        name: &str,
        ty: &Type,
        span: Span,
        place: &Place<'_>,
    ) -> Found<Const> {
        let last = name.rsplit('.').next().unwrap_or(name).trim();
        // Exported files write subobjects as `Component'Default__Class.Name'`.
        if let Type::Object(expected) = ty
            && let Some((name, class)) = place.objects.iter().find(|(known, _)| known.eq_ignore_ascii_case(last))
            && self.extends(class, expected)
        {
            return Ok(Const::Subobject(name.clone()));
        }
        let body = Body { only_constants: true, ..Body::new(self, place.file, place.of) };
        let literal = body.object_literal(word, name, span)?;
        let found = body.coerced(literal, ty, (place.file, span))?;
        let unconverted = match &found.kind {
            // The class default object that would hold the class may not exist yet.
            hir::ExprKind::Convert(hir::Conversion::ClassToObject, _) => {
                let error =
                    Diagnostic::error("uc-default", (place.file, span), format!("this is not a value of `{ty}`"));
                return Err(self.report(error.hint("assign the class when the script runs")));
            }
            hir::ExprKind::Convert(_, inner) => &**inner,
            _ => &found,
        };
        as_const(unconverted).cloned().ok_or(Reported)
    }

    pub(super) fn struct_defaults(&self, structure: &mut hir::Struct, found: &ast::Struct, file: usize, class: &str) {
        for item in &found.items {
            let Item::Defaults(block) = item else { continue };
            for line in &block.lines {
                let is_misnamed = block.keyword.is("defaultproperties");
                let (DefaultLine::Set(name, index, value), false) = (line, is_misnamed) else {
                    let (span, hint) = match line {
                        DefaultLine::Method(_, _, _, span) if !is_misnamed => (*span, "write `Field(index)=value`"),
                        DefaultLine::Object(object) if !is_misnamed => (object.span, ""),
                        _ => (block.keyword.span, "write `structdefaultproperties`"),
                    };
                    let error =
                        Diagnostic::error("uc-default", (file, span), "defaults of a struct are lines `Field=value`");
                    self.report(error.hint(hint));
                    return;
                };
                let place = Place { file, class, of: class, objects: &[] };
                let own = structure.fields.iter().position(|field| name.is(&field.name));
                let Some(at) = own else {
                    if found.is_partial {
                        continue;
                    }
                    let message = format!("`{}` declares no field `{}`", structure.name, name.text);
                    let error = Diagnostic::error("uc-unknown-member", (file, name.span), message);
                    let symbol = self.structure(&structure.path);
                    let is_inherited = symbol.is_some_and(|symbol| symbol.by_name.get(&name.text).is_some());
                    let hint = if is_inherited { "the struct that declares the field sets its default" } else { "" };
                    self.report(error.hint(hint));
                    continue;
                };
                let ty = structure.fields[at].ty.clone();
                let before = structure.fields[at].default.take();
                let is_reported = before.as_ref().is_some_and(names_object);
                let found = match index {
                    _ if ty == Type::Nothing => continue,
                    None => self.default_value(value, &ty, &place),
                    Some(index) => self.row_with(index, value, &ty, before, &place),
                };
                if found.as_ref().is_ok_and(names_object) && !is_reported {
                    let message = "objects and bound functions are none in the defaults of a struct";
                    let warning = Diagnostic::error("uc-default", (file, value.span), message).warning();
                    self.report(warning.hint("assign them in `defaultproperties`, or when the script runs"));
                }
                structure.fields[at].default = found.ok();
            }
        }
    }
}

/// Returns true if the value contains an object or a bound function. Neither exists when a struct is declared.
fn names_object(value: &Const) -> bool {
    match value {
        Const::Object(..) | Const::Subobject(_) | Const::Function(_) | Const::OwnerFunction(_) => true,
        Const::Struct(fields) => fields.iter().any(|(_, value)| names_object(value)),
        Const::Array(values) | Const::Elements(values, _) => values.iter().any(names_object),
        _ => false,
    }
}
