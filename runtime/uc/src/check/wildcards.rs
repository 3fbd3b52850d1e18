//! Checks arguments in parameter order, and determines the types of wildcard parameters from the arguments.

use super::body::{Args, Body};
use super::symbols::{FuncSym, Wild};
use super::{Found, Reported};
use crate::ast::{self, Ident};
use crate::hash::HashMap;
use crate::hir::{Arg, Expr, Type, Wildcard};
use crate::source::Span;

/// Arguments that are already checked. The key is the parameter index.
type CheckedArgs = HashMap<usize, Found<Expr>>;

impl Body<'_, '_> {
    /// Checks the arguments of a call. Returns the checked arguments, the types of the wildcards, and the type of the result.
    pub(super) fn arguments(
        &self,
        found: &FuncSym,
        args: &Args,
        name: &Ident,
        span: Span,
    ) -> Found<(Vec<Arg>, Vec<Wildcard>, Option<Type>)> {
        let mut checked = Ok(());
        if args.len() > found.params.len() {
            let extra = args[found.params.len()..].iter().flatten().next();
            let place = extra.map_or(span, |extra| extra.span);
            let message = format!("`{}` takes {}, not {}", found.name, counted(found.params.len()), args.len());
            checked = self.refuse("uc-arguments", place, message);
        }
        let mut checked_args = CheckedArgs::default();
        let element = self.element_of(found, args, &mut checked_args);
        let mut made = Vec::with_capacity(found.params.len());
        let mut wildcards = Vec::new();
        for (at, param) in found.params.iter().enumerate() {
            let arg = args.get(at).and_then(Option::as_ref);
            let wild = found.wild.get(at).copied().flatten();
            let one = match (arg, wild) {
                (None, _) if param.optional => Ok(Arg::Skipped),
                (None, _) => {
                    // Reports all missing arguments in one message.
                    if checked.is_ok() {
                        let takes = counted(found.params.len());
                        let message = format!("`{}` takes {takes}: `{}` is missing", found.name, param.name);
                        self.report(self.error("uc-arguments", name.span, message));
                    }
                    Err(Reported)
                }
                (Some(arg), None) => self.argument(param, arg),
                (Some(arg), Some(wild)) => {
                    let value = match wild {
                        Wild::Any => self.any_argument(found, at, arg, &mut checked_args),
                        wild => self.wild_argument(found, at, wild, element.as_ref(), arg, &mut checked_args),
                    };
                    value.map(|value| {
                        wildcards.push(Wildcard { param: at as u32, ty: value.ty.clone(), out: param.out });
                        Arg::Wildcard(value)
                    })
                }
            };
            match one {
                Ok(arg) => made.push(arg),
                Err(Reported) => checked = Err(Reported),
            }
        }
        checked?;
        let result = match (found.wild_result, element) {
            (Some(Wild::Element), Some(element)) => Some(element),
            (Some(Wild::Array), Some(element)) => Some(Type::Array(Box::new(element))),
            // The result has the type of the first wildcard. Without a wildcard, the result is the `Vector` struct of the host.
            (Some(Wild::Struct), _) => match wildcards.first() {
                Some(first) => Some(first.ty.clone()),
                None => self.checker.triple_named("Vector", self.at(span)).map(|(of, _)| Type::Struct(of.path)),
            },
            _ => None,
        };
        Ok((made, wildcards, result))
    }

    /// Returns the element type of the first array argument with a known type. Before that, checks all array, set and map arguments,
    /// because their types determine the types of the remaining arguments.
    fn element_of(&self, found: &FuncSym, args: &Args, checked_args: &mut CheckedArgs) -> Option<Type> {
        let mut element = None;
        for (at, wild) in found.wild.iter().enumerate() {
            let Some(wild) = wild else { continue };
            let decides = matches!(wild, Wild::Array | Wild::Set | Wild::Map);
            let Some(arg) = args.get(at).and_then(Option::as_ref).filter(|_| decides) else { continue };
            let value = self.value(arg, None);
            if element.is_none()
                && let (Wild::Array, Ok(Expr { ty: Type::Array(of) | Type::Fixed(of, _), .. })) = (wild, &value)
            {
                element = Some((**of).clone());
            }
            checked_args.insert(at, value);
        }
        element
    }

    /// Checks a wildcard argument of any type. If the call also has a set or map argument, converts the argument to the element, key or
    /// value type.
    fn any_argument(&self, found: &FuncSym, at: usize, arg: &ast::Expr, checked_args: &mut CheckedArgs) -> Found<Expr> {
        let param = &found.params[at];
        let name = param.name.to_ascii_lowercase();
        let container = found.wild.iter().enumerate().find_map(|(other, wild)| match wild {
            Some(Wild::Set | Wild::Map) => checked_args.get(&other)?.as_ref().ok(),
            _ => None,
        });
        let expected = match container.map(|container| container.ty.clone()) {
            Some(Type::Set(of)) => Some(*of),
            Some(Type::Map(key, _)) if name.contains("key") => Some(*key),
            Some(Type::Map(_, value)) if name.contains("value") || name.contains("item") => Some(*value),
            _ => None,
        };
        let value = self.value(arg, expected.as_ref())?;
        if value.ty == Type::None {
            return self.refuse("uc-wildcard", arg.span, "`none` has no type here");
        }
        if param.out {
            self.check_wild_place(found, at, &value, arg.span)?;
            return Ok(value);
        }
        match expected {
            Some(expected) if self.checker.becomes(&value.ty, &expected) => {
                self.coerced(value, &expected, self.at(arg.span))
            }
            _ => Ok(value),
        }
    }

    fn wild_argument(
        &self,
        found: &FuncSym,
        at: usize,
        wild: Wild,
        element: Option<&Type>,
        arg: &ast::Expr,
        checked_args: &mut CheckedArgs,
    ) -> Found<Expr> {
        let param = &found.params[at];
        let array_type = element.map(|element| Type::Array(Box::new(element.clone())));
        let expected = match wild {
            Wild::Element => element,
            Wild::Array => array_type.as_ref(),
            _ => None,
        };
        let value = match checked_args.remove(&at) {
            Some(value) => value?,
            None => self.value(arg, expected)?,
        };
        let refuse = |what: &str, found_type: &Type| {
            let message = format!("`{}` of `{}` takes {what}, this is `{found_type}`", param.name, found.name);
            Err(self.report(self.error("uc-wildcard", arg.span, message).label(format!("this is `{found_type}`"))))
        };
        let value = match (wild, &value.ty) {
            (Wild::Struct, Type::Struct(_)) | (Wild::Set, Type::Set(_)) | (Wild::Map, Type::Map(..)) => value,
            (Wild::Struct, ty) => return refuse("any struct", ty),
            (Wild::Set, ty) => return refuse("any set", ty),
            (Wild::Map, ty) => return refuse("any map", ty),
            (Wild::Any, _) => value,
            (Wild::Array, Type::Array(of) | Type::Fixed(of, _)) => match element {
                Some(element) if **of != *element => {
                    return refuse(&format!("an array of `{element}`, as another argument is"), &value.ty);
                }
                _ => value,
            },
            (Wild::Array, ty) => return refuse("any array", ty),
            (Wild::Element, ty) => match element {
                None => return Err(Reported),
                Some(element) => {
                    if !self.checker.becomes(ty, element) {
                        return refuse(&format!("`{element}`, as the array holds"), ty);
                    }
                    self.coerced(value, element, self.at(arg.span))?
                }
            },
        };
        if param.out {
            self.check_wild_place(found, at, &value, arg.span)?;
        }
        Ok(value)
    }

    /// Rejects a fixed array as an argument to which the function writes, because the function could change the length of the array.
    fn check_wild_place(&self, found: &FuncSym, at: usize, value: &Expr, span: Span) -> Found<()> {
        self.check_place(value, span)?;
        let Type::Fixed(of, _) = &value.ty else { return Ok(()) };
        let name = &found.params[at].name;
        let message = format!("`{}` may change the length of `{name}`, and this array has a fixed one", found.name);
        Err(self.report(self.error("uc-wildcard", span, message).hint(format!("give it an `array<{of}>`"))))
    }
}

pub(super) fn counted(params: usize) -> String {
    match params {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        params => format!("{params} arguments"),
    }
}
