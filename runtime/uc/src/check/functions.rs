//! Function signatures, specifiers and overrides. Bodies are checked later.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_reflect::origin::Origin;

use super::Checker;
use super::declare::Work;
use super::symbols::{At, FuncSym};
use crate::ast::{self, FunctionKind, Item, Modifier, TypeRef};
use crate::diagnostic::Diagnostic;
use crate::hash::HashSet;
use crate::hir::{Access, FunctionFlags, Param, Type, delegate_body};
use crate::parse::PARAM_SPECIFIERS;

/// A function of the package with an unchecked body.
pub(super) struct FuncWork<'a> {
    pub(super) ast: &'a ast::Function,
    pub(super) symbol: Rc<FuncSym>,
    pub(super) flags: FunctionFlags,
}

impl<'a> Checker<'a> {
    /// Resolves the signature of a function, delegate or interface function of a class or interface.
    pub(super) fn signature_of(&self, found: &ast::Function, name: String, work: &Work<'_>) -> FuncSym {
        let (path, at) = (format!("{}:{name}", work.path).into(), Some((work.file, found.name.span)));
        let (params, result) = (self.params_of(&found.params, work), self.result_of(found.result.as_ref(), work));
        FuncSym { at, ..FuncSym::new(name, path, &work.path, params, result) }
    }

    /// Resolves parameters in order.
    fn params_of(&self, params: &[ast::Param], work: &Work<'_>) -> Vec<Param> {
        let mut found: Vec<Param> = Vec::new();
        let mut seen = HashSet::default();
        for param in params {
            let name = &param.name.name;
            self.check_name(name, work.file);
            let at = (work.file, name.span);
            if !seen.insert(name.text.to_ascii_lowercase()) {
                let message = format!("a second parameter `{}`", name.text);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
            }
            let ty = self.type_of_ref(&param.ty, work.file, &work.path);
            let ty = ty.and_then(|ty| self.with_dim(ty, param.name.dim.as_ref(), work.file, &work.path)).ok();
            let has = |word: &str| param.modifiers.iter().any(|modifier| modifier.name.is(word));
            for Modifier { name: word, .. } in &param.modifiers {
                if word.is("skip") {
                    let message = "`skip`, for operators that do not evaluate an operand, is outside of the language";
                    self.report(Diagnostic::error("uc-skip", (work.file, word.span), message));
                } else if !PARAM_SPECIFIERS.iter().any(|known| word.is(known)) {
                    let message = format!("`{}` cannot precede a parameter", word.text);
                    self.report(Diagnostic::error("uc-unknown-word", (work.file, word.span), message));
                }
            }
            let optional = has("optional");
            if let Some(default) = param.default.as_ref().filter(|_| !optional) {
                let message = format!("`{}` has a default value, and is not `optional`", name.text);
                let error = Diagnostic::error("uc-optional", (work.file, default.span), message);
                self.report(error.hint(format!("write `optional` before the type of `{}`", name.text)));
            }
            if let Some(before) = found.last().filter(|before| before.optional && !optional) {
                let message = format!("`{}` is not `optional`, but follows `{}`, which is", name.text, before.name);
                let error = Diagnostic::error("uc-optional", at, message);
                self.report(
                    error.hint("a call cannot omit the optional one and pass the other: put the required one first"),
                );
            }
            found.push(Param {
                name: name.text.clone(),
                ty: ty.unwrap_or(Type::Nothing),
                out: has("out") || has("ref"),
                optional,
                default: None,
                coerce: has("coerce"),
                is_const: has("const"),
            });
        }
        found
    }

    /// Resolves the type of a result. Reports an unknown type, and returns [`Type::Nothing`].
    fn result_of(&self, result: Option<&TypeRef>, work: &Work<'_>) -> Option<Type> {
        match result? {
            // Accepts `function void F()`, which old files write for a function without a result.
            TypeRef { kind: ast::TypeKind::Named(names), .. } if names.len() == 1 && names[0].is("void") => None,
            result => Some(self.type_of_ref(result, work.file, &work.path).unwrap_or(Type::Nothing)),
        }
    }

    pub(super) fn declare_functions(&self, work: &Work<'a>) -> Vec<FuncWork<'a>> {
        let mut works: Vec<FuncWork<'a>> = Vec::new();
        let has_dll = work.head.modifiers.iter().any(|modifier| modifier.name.is("dllbind"));
        for item in work.items {
            let Item::Function(found) = item else { continue };
            let at = (work.file, found.name.span);
            if found.kind == FunctionKind::Operator {
                let message = format!(
                    "the operator `{}` is declared here: declared operators are outside of the language",
                    found.name.text
                );
                self.report(Diagnostic::error("uc-operator", at, message).hint("write a function"));
                self.own_operators.borrow_mut().insert(found.name.text.clone());
                continue;
            }
            self.check_name(&found.name, work.file);
            let Some(mut made) = self.function(work, found, has_dll) else { continue };
            let name = made.symbol.name.clone();
            if made.flags.delegate_body {
                self.override_delegate(work, &mut made, at);
            } else {
                let Some(class) = self.class(&work.path) else { continue };
                let other = class.funcs.exact(&name).and_then(|known| known.at);
                let is_variable = class.props.exact(&name).is_some() || class.delegates.exact(&name).is_some();
                if let Some(other) = other {
                    let message = format!("a second function `{name}`");
                    self.report(Diagnostic::error("uc-declared-twice", at, message).other(other, "the first one"));
                    continue;
                }
                if is_variable {
                    let message = format!("the class has a variable `{name}` already");
                    self.report(Diagnostic::error("uc-declared-twice", at, message));
                    continue;
                }
                self.override_function(work, &mut made, at);
            }
            let symbol = made.symbol.clone();
            self.change_class(&work.path, |class| class.funcs.insert(&symbol.name, symbol.clone()));
            works.push(made);
        }
        works
    }

    fn function(&self, work: &Work<'a>, found: &'a ast::Function, has_dll: bool) -> Option<FuncWork<'a>> {
        let at = (work.file, found.name.span);
        let is_delegate = found.kind == FunctionKind::Delegate;
        if is_delegate && found.body.borrow().is_none() {
            let overridden = work.base.as_ref().and_then(|base| self.find_delegate(base, &found.name.text));
            if overridden.is_some() {
                let message = format!("a class above declares the delegate `{}` already", found.name.text);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
            }
            return None;
        }
        let mut flags = FunctionFlags { delegate_body: is_delegate, ..FunctionFlags::default() };
        let mut access = Access::Public;
        self.one_access(found.modifiers.iter().chain(&found.trailing), work.file, "uc-function-word");
        for Modifier { name: word, .. } in found.modifiers.iter().chain(&found.trailing) {
            let place = (work.file, word.span);
            let outside = |what: &str, hint: &str| {
                let message = format!("`{}` {what}", word.text);
                self.report(Diagnostic::error("uc-function-word", place, message).hint(hint));
            };
            match word.text.to_ascii_lowercase().as_str() {
                "static" => flags.is_static = true,
                "final" => flags.is_final = true,
                "singular" => flags.singular = true,
                "private" => access = Access::Private,
                "protected" => access = Access::Protected,
                "public" | "const" | "simulated" | "noexport" | "noexportheader" | "virtual" | "k2call" | "k2pure"
                | "k2override" | "coerce" | "demorecording" | "auto" | "exec" => {}
                "dllimport" => flags.dll_import = true,
                "bool8" => flags.bool8 = true,
                "bool32" => flags.bool32 = true,
                "no_cwd" => flags.no_cwd = true,
                "native" | "intrinsic" => {
                    // Declares the function despite the error, to avoid further errors at its calls.
                    let message =
                        format!("`{}` is `native`: native functions are not declared by scripts", found.name.text);
                    let error = Diagnostic::error("uc-native", place, message);
                    self.report(
                        error.hint("declare it in the Rust of a native class or of a plugin, or give it a body here"),
                    );
                }
                "latent" => outside(
                    "functions wait over several frames, which is outside of the language",
                    "take a timer of the host",
                ),
                "iterator" => outside("functions are outside of the language", "return an array"),
                "reliable" | "unreliable" | "server" | "client" | "multicast" => {
                    self.warn_once(
                        work.file,
                        word,
                        "uc-remote",
                        "calls are not sent to other machines: the function runs where it is called",
                    );
                }
                _ => outside("is not a function specifier", ""),
            }
        }
        if flags.dll_import {
            let mistakes = [
                (!has_dll, ", and its class names none", "write `DLLBind(Name)` after the name of the class"),
                (!flags.is_final, " and has to be `final`", ""),
                (found.body.borrow().is_some(), " and has no body here", ""),
            ];
            for (_, mistake, hint) in mistakes.into_iter().filter(|(is_made, ..)| *is_made) {
                let message = format!("`{}` is imported from a library{mistake}", found.name.text);
                self.report(Diagnostic::error("uc-dll-import", at, message).hint(hint));
            }
        }
        let name = if is_delegate { delegate_body(&found.name.text) } else { found.name.text.clone() };
        // Uses the spelling of the interface function, because reflection compares names case-sensitively.
        let spelling = if is_delegate { None } else { self.interface_spelling(&work.path, &name) };
        let mut symbol = self.signature_of(found, spelling.unwrap_or(name), work);
        symbol.access = access;
        let is_import_of_bool = flags.dll_import && matches!(symbol.result, Some(Type::Bool | Type::Nothing));
        if (flags.bool8 || flags.bool32) && (!is_import_of_bool || flags.bool8 == flags.bool32) {
            let message = format!("`{}` cannot have `bool8` or `bool32`", found.name.text);
            let hint = "one of the two states how many bytes the `bool` result of a `dllimport` function fills in C";
            self.report(Diagnostic::error("uc-dll-import", at, message).hint(hint));
        }
        if flags.no_cwd && !flags.dll_import {
            let message = format!("`{}` cannot have `no_cwd`", found.name.text);
            let hint = "only a `dllimport` function has a working directory of its own, which `no_cwd` turns off";
            self.report(Diagnostic::error("uc-dll-import", at, message).hint(hint));
        }
        // If a `coerce` function has a class as its first parameter, its result is an object of the class that the call passes.
        let is_coerced = found.modifiers.iter().any(|modifier| modifier.name.is("coerce"));
        let by_class = matches!(symbol.params.first(), Some(Param { ty: Type::Class(_), .. }));
        symbol.result_by = (is_coerced && by_class && matches!(symbol.result, Some(Type::Object(_)))).then_some(0);
        symbol.is_static = flags.is_static;
        symbol.is_final = flags.is_final || access == Access::Private;
        symbol.is_virtual = !symbol.is_static && !symbol.is_final;
        Some(FuncWork { ast: found, symbol: Rc::new(symbol), flags })
    }

    fn override_delegate(&self, work: &Work<'a>, made: &mut FuncWork<'a>, at: At) {
        let overridden = work.base.as_ref().and_then(|base| self.find_delegate(base, &made.ast.name.text));
        let Some(overridden) = overridden else { return };
        self.same_signature(made, &overridden.func, at);
        if let Some(body) = work.base.as_ref().and_then(|base| self.find_function(base, &made.symbol.name)) {
            let symbol = Rc::make_mut(&mut made.symbol);
            symbol.name = body.name.clone();
            symbol.path = format!("{}:{}", work.path, body.name).into();
            symbol.first = body.first.clone();
        }
    }

    fn override_function(&self, work: &Work<'a>, made: &mut FuncWork<'a>, at: At) {
        let Some(base) = &work.base else { return };
        let Some(overridden) = self.find_function(base, &made.symbol.name) else {
            if let Some(delegate) = self.find_delegate(base, &made.symbol.name) {
                let message = format!(
                    "`{}` is a delegate of a class above: write `delegate` to give it another body",
                    delegate.func.name
                );
                self.report(Diagnostic::error("uc-override", at, message));
            } else if let Some(class) =
                self.chain(base).iter().find(|class| class.props.exact(&made.symbol.name).is_some())
            {
                let message = format!("`{}` has a variable `{}` already", class.name, made.symbol.name);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
            }
            return;
        };
        let owner = overridden.owner.rsplit('.').next().unwrap_or("");
        // Rejects the name of an inherited private function, because the new function would not override that function. In a class and its
        // bases, reflection allows several functions of one name only if they override each other.
        let another = "use another name";
        let refused = match &*overridden {
            found if found.access == Access::Private => Some(("that function is private", another)),
            found if found.is_final => Some(("that function is final", another)),
            found if found.is_static && !made.symbol.is_static => Some(("that function is static", "")),
            found if made.symbol.is_static && !found.is_static => Some(("that function is not static", "")),
            found if found.is_static && !self.is_of_script(&found.owner) => {
                Some(("static functions of native classes and of plugins are not overridden", another))
            }
            found if !found.is_virtual && !found.is_static => Some(("that function is not an event", another)),
            _ => None,
        };
        if let Some((why, hint)) = refused {
            let message = format!("`{}` cannot override the function of `{owner}`: {why}", made.symbol.name);
            let error = Diagnostic::error("uc-override", at, message).hint(hint);
            self.report(error.other(overridden.at, "the function that it would override"));
            return;
        }
        if !self.same_signature(made, &overridden, at) {
            return;
        }
        let symbol = Rc::make_mut(&mut made.symbol);
        symbol.name = overridden.name.clone();
        symbol.path = format!("{}:{}", work.path, overridden.name).into();
        symbol.first = overridden.first.clone();
        // If a parameter is optional in the overridden function, it is also optional in the override.
        for (param, overridden) in symbol.params.iter_mut().zip(&overridden.params) {
            param.optional |= overridden.optional;
            param.coerce |= overridden.coerce;
        }
    }

    /// Returns true if the class belongs to this package or to a different script package.
    fn is_of_script(&self, class: &str) -> bool {
        class.starts_with(&*self.own_path(""))
            || self.types.class_by_path(class).is_some_and(|found| found.origin == Origin::Script)
    }

    /// Compares the signatures of an override and of the overridden function. Reports a mismatch.
    fn same_signature(&self, made: &FuncWork<'a>, overridden: &FuncSym, at: At) -> bool {
        let (Some(found), Some(expected)) = (made.symbol.signature(), overridden.signature()) else {
            // A type in one of the signatures is unknown, and its error is already reported.
            return false;
        };
        if found == expected {
            return true;
        }
        let message = format!("`{}` has another signature than the overridden function", made.ast.name.text);
        let params: Vec<_> = overridden
            .params
            .iter()
            .map(|param| format!("{}{} {}", if param.out { "out " } else { "" }, format_param(&param.ty), param.name))
            .collect();
        let result = overridden.result.as_ref().map_or(String::new(), |result| format!("{result} "));
        let error = Diagnostic::error("uc-override", at, message);
        let error = error.hint(format!("write `{result}{}({})`", made.ast.name.text, params.join(", ")));
        self.report(error.other(overridden.at, "what it overrides"));
        false
    }
}

fn format_param(ty: &Type) -> String {
    match ty {
        Type::Delegate(PropertyKind::DELEGATE, None, signature) => format!("delegate({signature})"),
        ty => ty.to_string(),
    }
}
