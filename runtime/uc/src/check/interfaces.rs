//! Declares the interfaces of the package, and checks that classes implement the functions of their interfaces.

use std::rc::Rc;

use alcedo_reflect::path::is_identifier;

use super::declare::{Work, in_order};
use super::symbols::{At, FuncSym, Named};
use super::{Checker, Reported};
use crate::ast::{self, FunctionKind, Ident, Item, Modifier};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Path, Type};
use crate::parse::in_dots;

#[derive(Clone, Debug, Default)]
pub(crate) struct InterfaceSym {
    /// Direct and indirect base interfaces.
    pub(crate) bases: Vec<Path>,
    /// Functions in order. Inherited functions are first.
    pub(crate) functions: Vec<Rc<FuncSym>>,
    pub(crate) by_name: Named<Rc<FuncSym>>,
}

impl<'a> Checker<'a> {
    /// Declares the interfaces of the package. The names of all types must already be declared.
    pub(super) fn declare_interfaces(&self, works: &[Work<'a>]) -> Vec<hir::Interface> {
        let works: Vec<_> = works.iter().map(|work| (work, self.base_of(work))).collect();
        let (works, cyclic) =
            in_order(works, |(work, _)| &work.path, |(_, base), numbers| numbers.get(base.as_ref()?).copied());
        let mut made: Vec<_> = works.into_iter().map(|(work, base)| self.interface(work, base)).collect();
        for (work, _) in cyclic {
            let message = format!("`{}` extends itself, directly or indirectly", work.head.name.text);
            let at = (work.file, work.head.name.span);
            self.report(Diagnostic::error("uc-class-circle", at, message));
            made.push(self.interface(work, None));
        }
        made
    }

    /// Resolves the base of an interface. The root `Interface` is not counted as a base.
    fn base_of(&self, work: &Work<'a>) -> Option<Path> {
        let base = work.head.base.as_ref()?;
        let last = &base[base.len() - 1];
        match self.type_named(base, work.file) {
            Some(Ok(Type::Interface(path))) => return Some(path),
            Some(Ok(_)) if !last.is("object") => {
                let message = format!("`{}` is not an interface: an interface extends interfaces", in_dots(base));
                self.report(Diagnostic::error("uc-no-interface", (work.file, last.span), message));
            }
            None if !last.is("interface") && !last.is("object") => {
                self.unknown_type("interface", base, work.file);
            }
            _ => {}
        }
        None
    }

    fn interface(&self, work: &Work<'a>, direct: Option<Path>) -> hir::Interface {
        self.check_class_specifiers(work.head, work.file);
        let mut symbol = InterfaceSym::default();
        let mut functions = Vec::new();
        if let Some(base) = &direct {
            let inherited = self.interface_of(base);
            symbol.bases = inherited.bases.iter().chain([base]).cloned().collect();
            functions.extend(inherited.functions.iter().map(|function| declared(function, String::new())));
            symbol.functions.clone_from(&inherited.functions);
        }
        for item in work.items {
            let at = match item {
                Item::Function(found) if matches!(found.kind, FunctionKind::Function | FunctionKind::Event) => {
                    functions.extend(self.interface_function(found, work, &mut symbol));
                    continue;
                }
                Item::Outside(found) => {
                    self.outside_item(found, work.file);
                    continue;
                }
                Item::Struct(_) | Item::Enum(_) => continue,
                // Accepts an empty `defaultproperties` block, because native interfaces contain one.
                Item::Defaults(found) if found.lines.is_empty() => continue,
                Item::Defaults(found) => found.keyword.span,
                Item::Var(found) => found.span,
                Item::Const(found) => found.span,
                Item::Function(found) => found.span,
            };
            let message = format!("this is not allowed in the interface `{}`", work.head.name.text);
            let error = Diagnostic::error("uc-interface", (work.file, at), message);
            self.report(error.hint("functions, structs and enums do"));
        }
        // The copy of an inherited function has a path in the interface that inherits the function.
        let own = |found: &Rc<FuncSym>| {
            let path: Path = format!("{}:{}", work.path, found.name).into();
            let owner = work.path.clone();
            Rc::new(FuncSym { path: path.clone(), first: path, owner, callable: true, ..(**found).clone() })
        };
        symbol.functions = symbol.functions.iter().map(own).collect();
        for function in &symbol.functions {
            symbol.by_name.insert(&function.name, function.clone());
        }
        self.interfaces.borrow_mut().insert(work.path.clone(), Rc::new(symbol));
        hir::Interface { name: work.head.name.text.clone(), functions, doc: work.head.doc.clone() }
    }

    fn interface_function(
        &self,
        found: &ast::Function,
        work: &Work<'a>,
        symbol: &mut InterfaceSym,
    ) -> Option<hir::InterfaceFunction> {
        let at = (work.file, found.name.span);
        let name = found.name.text.clone();
        self.check_name(&found.name, work.file);
        for Modifier { name: word, .. } in found.modifiers.iter().chain(&found.trailing) {
            let place = (work.file, word.span);
            match word.text.to_ascii_lowercase().as_str() {
                "public" | "simulated" | "noexport" | "noexportheader" | "const" | "virtual" | "coerce" => {}
                "native" | "intrinsic" => {
                    let message = format!("`{name}` is `native`: native functions are not declared by scripts");
                    let error = Diagnostic::error("uc-native", place, message);
                    self.report(error.hint("omit the keyword: each class that implements the interface specifies it"));
                }
                _ => {
                    let message = format!("`{}` cannot precede a function of an interface", word.text);
                    self.report(Diagnostic::error("uc-interface", place, message));
                }
            }
        }
        if let Some(body) = found.body.borrow().as_ref().filter(|body| !body.is_empty()) {
            let message = format!("`{name}` has a body: the functions of an interface have none");
            let error = Diagnostic::error("uc-interface", (work.file, body[0].span), message);
            self.report(error.hint("write it into the classes that implement the interface"));
        }
        if symbol.functions.iter().any(|known| known.name.eq_ignore_ascii_case(&name)) {
            self.report(Diagnostic::error("uc-declared-twice", at, format!("a second function `{name}`")));
            return None;
        }
        if let Some(param) = found.params.iter().find(|param| param.default.is_some()) {
            let message = format!("`{}` has a default value", param.name.name.text);
            let error = Diagnostic::error("uc-interface", (work.file, param.name.name.span), message);
            self.report(
                error.hint("an omitted argument is the zero value; write the default value into the classes that implement the interface"),
            );
        }
        let func = self.signature_of(found, name, work);
        let made = declared(&func, found.doc.clone());
        symbol.functions.push(Rc::new(func));
        Some(made)
    }

    pub(super) fn interface_of(&self, path: &str) -> Rc<InterfaceSym> {
        self.interfaces.borrow().get(path).cloned().unwrap_or_default()
    }

    /// Returns the interfaces that a class implements. The bases of an interface precede the interface.
    pub(super) fn interfaces_of(&self, work: &Work<'a>) -> Vec<Path> {
        let mut found: Vec<Path> = Vec::new();
        for modifier in work.head.modifiers.iter().filter(|modifier| modifier.name.is("implements")) {
            let names = modifier.argument.as_deref().unwrap_or("");
            for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let dotted = Ident::dotted(name, modifier.name.span);
                let at: At = (work.file, modifier.name.span);
                let is_path = dotted.iter().all(|part| is_identifier(&part.text));
                let named = if is_path { self.known_type("interface", &dotted, work.file) } else { Ok(Type::Nothing) };
                match named {
                    Ok(Type::Interface(path)) => {
                        let bases = self.interface_of(&path).bases.clone();
                        for path in bases.into_iter().chain([path]) {
                            if !found.contains(&path) {
                                found.push(path);
                            }
                        }
                    }
                    Ok(_) => {
                        self.report(Diagnostic::error("uc-no-interface", at, format!("`{name}` is not an interface")));
                    }
                    Err(Reported) => {}
                }
            }
        }
        found
    }

    /// Returns the name of a function that the class must implement, in the spelling of the interface. Returns `None` if no interface of
    /// the class has this function.
    pub(super) fn interface_spelling(&self, class: &str, name: &str) -> Option<String> {
        let class = self.class(class)?;
        class.interfaces.iter().find_map(|path| Some(self.find_interface_function(path, name)?.name.clone()))
    }

    /// Checks that the class has every function of its interfaces.
    pub(super) fn check_interfaces(&self, work: &Work<'a>, interfaces: &[Path]) {
        if self.is_broken(&work.path) {
            return;
        }
        let mut seen: Vec<String> = Vec::new();
        for path in interfaces {
            let name = path.rsplit('.').next().unwrap_or(path);
            for required in &self.interface_of(path).functions {
                if seen.contains(&required.name) {
                    continue;
                }
                seen.push(required.name.clone());
                let (function, class) = (&required.name, &work.head.name.text);
                let Some(signature) = required.signature() else { continue };
                let message = match self.find_function(&work.path, function) {
                    Some(found) if found.is_static => {
                        format!("`{function}` of `{class}` is static, and `{name}` declares a function of objects")
                    }
                    Some(found) if found.signature().is_some_and(|found| found != signature) => {
                        format!("`{function}` has another signature than `{function}` of `{name}`")
                    }
                    // Reflection compares names case-sensitively. The checker spells functions of the class itself like the interface, but
                    // an inherited function may have a different spelling.
                    Some(found) if found.name != *function => {
                        format!("`{class}` has `{}`, which `{name}` spells `{function}`", found.name)
                    }
                    Some(_) => continue,
                    None => format!("`{class}` has no function `{function}`, which `{name}` has"),
                };
                let error = Diagnostic::error("uc-interface-function", (work.file, work.head.name.span), message);
                self.report(error.hint(format!("its signature is ({signature})")));
            }
        }
    }
}

/// Returns the checked function of an interface.
fn declared(found: &FuncSym, doc: String) -> hir::InterfaceFunction {
    let (name, params, result) = (found.name.clone(), found.params.clone(), found.result.clone());
    hir::InterfaceFunction { name, params, result, doc }
}
