//! Variables and delegates of classes and structs.

use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, property_flags};
use alcedo_reflect::type_text::{SignatureText, TypeText};

use super::Checker;
use super::declare::{Work, in_order};
use super::functions::FuncWork;
use super::symbols::{At, ClassSym, DelegateSym, PropSym};
use crate::ast::{self, FunctionKind, Ident, Item, Modifier, TypeKind, TypeRef, VarName};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::hir::{self, Access, Path, Type, delegate_property};
use crate::parse::VAR_SPECIFIERS;

/// Declared members of a class of the package. Function bodies and defaults are still unchecked.
pub(super) struct Members<'a> {
    pub(super) properties: Vec<hir::Property>,
    pub(super) functions: Vec<FuncWork<'a>>,
}

/// A delegate to declare, with its class and its path.
type OpenDelegate<'w, 'a> = (&'w Work<'a>, &'a ast::Function, Path);

/// Flags of a variable without specifiers.
const ACCESSIBLE: u64 = property_flags::BLUEPRINT_READ | property_flags::BLUEPRINT_WRITE;

/// Flags and metadata that follow from the specifiers of a variable.
#[derive(Default)]
struct VarSpecifiers {
    flags: u64,
    meta: Vec<(String, String)>,
    read: Access,
    write: Access,
    is_const: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn declare_delegates(&self, works: &[Work<'a>], package: &mut hir::Package) {
        let mut open: Vec<OpenDelegate<'_, 'a>> = Vec::new();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::default();
        for work in works {
            for item in work.items {
                if let Item::Function(found) = item
                    && found.kind == FunctionKind::Delegate
                {
                    by_name.entry(found.name.text.to_ascii_lowercase()).or_default().push(open.len());
                    open.push((work, found, format!("{}:{}", work.path, found.name.text).into()));
                }
            }
        }
        // Declares each delegate after the delegates in its signature, because these types must already be declared.
        let needs = |(_, found, _): &OpenDelegate<'_, 'a>, _: &HashMap<Path, usize>| {
            let mut names = Vec::new();
            let types = found.params.iter().map(|param| &param.ty).chain(&found.result);
            types.for_each(|ty| add_delegates(ty, &mut names));
            let needed = names.iter().filter_map(|name| by_name.get(&name.text.to_ascii_lowercase()));
            needed.flatten().copied().collect::<Vec<_>>()
        };
        let (open, cyclic) = in_order(open, |(_, _, path)| path, needs);
        for (work, found, _) in open.into_iter().chain(cyclic) {
            // If a base class declares the delegate, this class only overrides the body of the delegate.
            let overridden = work.base.as_ref().and_then(|base| self.find_delegate(base, &found.name.text));
            if overridden.is_none() {
                package.delegates.extend(self.delegate(work, found));
            }
        }
    }

    fn delegate(&self, work: &Work<'a>, found: &ast::Function) -> Option<hir::Delegate> {
        self.check_name(&found.name, work.file);
        let at = (work.file, found.name.span);
        let name = found.name.text.clone();
        let known = self.class(&work.path).is_some_and(|class| class.delegates.exact(&name).is_some());
        if known {
            self.report(Diagnostic::error("uc-declared-twice", at, format!("a second delegate `{name}`")));
            return None;
        }
        let func = self.signature_of(found, name.clone(), work);
        for (symbol, written) in func.params.iter().zip(&found.params).filter(|(symbol, _)| symbol.out) {
            let message =
                format!("a delegate cannot return `{}`: delegates of reflection have no `out` parameters", symbol.name);
            let place = (work.file, written.name.name.span);
            self.report(Diagnostic::error("uc-delegate-out", place, message).hint("return it as the result"));
        }
        let signature: Option<SignatureText> = func.signature().filter(|signature| {
            // Limits the size of the signature, because the signature of a delegate contains the signatures of its delegate parameters.
            let fits = count_nodes(signature) <= MAX_TYPE_NODES;
            if !fits {
                let message = format!("the delegate `{name}` takes delegates that take delegates: its type has more than {MAX_TYPE_NODES} words");
                self.report(Diagnostic::error("uc-too-deep", at, message));
            }
            fits
        });
        let ty = signature
            .map(|signature| Type::Delegate(PropertyKind::DELEGATE, Some(func.path.clone()), Rc::new(signature)));
        let prop = PropSym::public(delegate_property(&name), ty, work.path.clone(), Some(at));
        let hir = hir::Delegate {
            class: work.path.clone(),
            name: name.clone(),
            params: func.params.clone(),
            result: func.result.clone(),
            doc: found.doc.clone(),
        };
        let symbol = DelegateSym { func: Rc::new(func), prop: Rc::new(prop) };
        self.change_class(&work.path, |class| class.delegates.insert(&name, Rc::new(symbol)));
        Some(hir)
    }

    pub(super) fn change_class(&self, path: &str, change: impl FnOnce(&mut ClassSym)) {
        if let Some(Some(class)) = self.classes.borrow_mut().get_mut(path) {
            change(Rc::make_mut(class));
        }
    }

    pub(super) fn declare_members(&self, work: &Work<'a>) -> Members<'a> {
        let mut properties = Vec::new();
        // Adds the properties that hold the bound functions of delegates first.
        if let Some(class) = self.class(&work.path) {
            let open = VarSpecifiers { flags: ACCESSIBLE, ..VarSpecifiers::default() };
            let mut delegates: Vec<_> = class.delegates.iter().map(|(_, delegate)| delegate).collect();
            delegates.sort_by_key(|delegate| delegate.prop.at.map(|(_, span)| span));
            for delegate in delegates {
                if let (Some(base), Some(at)) = (self.inherited_member(work, &delegate.func.name), delegate.prop.at) {
                    let message = format!("`{base}` has a member `{}` already", delegate.func.name);
                    self.report(Diagnostic::error("uc-declared-twice", at, message));
                }
                let Some(ty) = delegate.prop.ty.clone() else { continue };
                properties.push(property(&delegate.prop.name, None, ty, &open, ""));
            }
        }
        let mut symbols = Vec::new();
        for item in work.items {
            match item {
                Item::Var(found) => self.variables(found, work, &mut properties, &mut symbols),
                Item::Outside(found) => self.outside_item(found, work.file),
                _ => {}
            }
        }
        let base = work.base.as_deref().and_then(|base| self.class(base));
        let mut values = base.map_or(0, |class| class.values);
        for symbol in symbols {
            let Some(at) = symbol.at else { continue };
            if let Some(ty) = &symbol.ty {
                let _ = self.add_values(&mut values, ty, &work.head.name.text, at);
            }
            let inherited = self.inherited_member(work, &symbol.name);
            let own = self.class(&work.path).is_some_and(|class| class.declares(&symbol.name));
            if own || inherited.is_some() {
                let whose = inherited.map_or_else(|| "the class".to_owned(), |class| format!("`{class}`"));
                let message = format!("{whose} has a member `{}` already", symbol.name);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
                continue;
            }
            self.change_class(&work.path, |class| class.props.insert(&symbol.name.clone(), Rc::new(symbol)));
        }
        self.add_starts(values, (work.file, work.head.name.span));
        self.change_class(&work.path, |class| class.values = values);
        let functions = self.declare_functions(work);
        Members { properties, functions }
    }

    /// Returns the name of the base class that declares a variable, function or delegate of this name.
    fn inherited_member(&self, work: &Work<'a>, name: &str) -> Option<String> {
        let chain = self.chain(work.base.as_deref()?);
        chain.iter().find(|class| class.declares(name)).map(|class| class.name.clone())
    }

    fn variables(
        &self,
        found: &ast::Var,
        work: &Work<'a>,
        properties: &mut Vec<hir::Property>,
        symbols: &mut Vec<PropSym>,
    ) {
        let specifiers = self.var_specifiers(found, work.file, &work.head.name.text);
        for (name, ty) in self.typed_names(found, work.file, &work.path) {
            let at = (work.file, name.name.span);
            symbols.push(PropSym {
                read: specifiers.read,
                write: if specifiers.write == Access::Public { specifiers.read } else { specifiers.write },
                writable: if specifiers.is_const { Err("it is `const`") } else { Ok(()) },
                ..PropSym::public(name.name.text.clone(), ty.clone(), work.path.clone(), Some(at))
            });
            if let Some(ty) = ty {
                properties.push(property(&name.name.text, name.meta.as_deref(), ty, &specifiers, &found.doc));
            }
        }
    }

    /// Returns the variables of a declaration with their types. If the type has an error, this error is reported, and the type is `None`.
    fn typed_names<'v>(
        &self,
        found: &'v ast::Var,
        file: usize,
        class: &str,
    ) -> impl Iterator<Item = (&'v VarName, Option<Type>)> {
        let ty = self.type_of_ref(&found.ty, file, class).ok();
        found.names.iter().map(move |name| {
            self.check_name(&name.name, file);
            let ty = ty.clone().and_then(|ty| self.with_dim(ty, name.dim.as_ref(), file, class).ok());
            (name, ty)
        })
    }

    fn var_specifiers(&self, found: &ast::Var, file: usize, class: &str) -> VarSpecifiers {
        let mut specifiers = VarSpecifiers { flags: ACCESSIBLE, ..VarSpecifiers::default() };
        let mut edit = property_flags::EDIT_ANYWHERE;
        self.one_access(found.modifiers.iter(), file, "uc-unknown-word");
        for Modifier { name: word, .. } in &found.modifiers {
            match word.text.to_ascii_lowercase().as_str() {
                "const" => specifiers.is_const = true,
                "transient" | "duplicatetransient" => specifiers.flags |= property_flags::TRANSIENT,
                "savegame" => specifiers.flags |= property_flags::SAVE_GAME,
                "editconst" => edit = property_flags::VISIBLE_ANYWHERE,
                "private" => specifiers.read = Access::Private,
                "protected" => specifiers.read = Access::Protected,
                "public" => specifiers.read = Access::Public,
                "privatewrite" => specifiers.write = Access::Private,
                "protectedwrite" => specifiers.write = Access::Protected,
                text @ ("config" | "globalconfig" | "localized") => {
                    specifiers.meta.push((text.to_owned(), "true".to_owned()));
                    self.warn_once(file, word, "uc-config", "values of `config`, `globalconfig` and `localized` variables are not read from ini files: `defaultproperties` sets them");
                }
                "native" => {
                    let message =
                        "no native code shares a `native` variable of a script class: it is an ordinary variable";
                    self.warn_once(file, word, "uc-native-var", message);
                }
                _ => self.known_specifier(word, VAR_SPECIFIERS, "variable", file),
            }
        }
        if let Some(category) = &found.category {
            specifiers.flags |= edit;
            let category = if category.is_empty() { class.to_owned() } else { category.clone() };
            specifiers.meta.push(("category".to_owned(), category));
        }
        specifiers
    }

    pub(super) fn fields_of(&self, found: &ast::Struct, file: usize, class: &str, path: &Path) -> Vec<hir::Property> {
        let mut fields: Vec<hir::Property> = Vec::new();
        let mut seen = HashSet::default();
        for item in &found.items {
            match item {
                Item::Var(var) => {
                    let specifiers = self.var_specifiers(var, file, &found.name.text);
                    for (name, ty) in self.typed_names(var, file, class) {
                        let at = (file, name.name.span);
                        if !seen.insert(name.name.text.to_ascii_lowercase()) {
                            let message = format!("a second field `{}`", name.name.text);
                            self.report(Diagnostic::error("uc-declared-twice", at, message));
                            continue;
                        }
                        // Replaces an unknown type by `Nothing`, because the error of this type is already reported.
                        let ty = ty.unwrap_or(Type::Nothing);
                        fields.push(property(&name.name.text, name.meta.as_deref(), ty, &specifiers, &var.doc));
                    }
                }
                Item::Struct(_) | Item::Enum(_) | Item::Defaults(_) => {}
                Item::Outside(outside) => self.outside_item(outside, file),
                Item::Const(found) => self.misplaced("a constant", (file, found.span), path),
                Item::Function(found) => self.misplaced("a function", (file, found.span), path),
            }
        }
        fields
    }

    /// Reports an access specifier that contradicts an earlier access specifier.
    pub(super) fn one_access<'m>(&self, specifiers: impl Iterator<Item = &'m Modifier>, file: usize, id: &'static str) {
        let is_access = |word: &Ident| ["private", "protected", "public"].iter().any(|known| word.is(known));
        let mut found = specifiers.map(|modifier| &modifier.name).filter(|word| is_access(word));
        let Some(first) = found.next() else { return };
        if let Some(second) = found.find(|second| !second.is(&first.text)) {
            let message = format!("`{}` conflicts with `{}`: remove one of them", second.text, first.text);
            self.report(Diagnostic::error(id, (file, second.span), message));
        }
    }

    fn misplaced(&self, what: &str, at: At, path: &str) {
        let name = path.rsplit('.').next().unwrap_or(path);
        let message = format!("{what} is not allowed in the struct `{name}`");
        self.report(Diagnostic::error("uc-syntax", at, message).hint("declare it in the class"));
    }

    pub(super) fn warn_once(&self, file: usize, word: &Ident, id: &'static str, message: &str) {
        if self.is_first(file, id.to_owned()) {
            self.report(Diagnostic::error(id, (file, word.span), message).warning());
        }
    }
}

fn property(name: &str, meta: Option<&str>, ty: Type, specifiers: &VarSpecifiers, doc: &str) -> hir::Property {
    let (name, doc) = (name.to_owned(), doc.to_owned());
    let meta = specifiers.meta.iter().cloned().chain(ast::meta_in(meta)).collect();
    hir::Property { name, ty, flags: specifiers.flags, meta, default: None, doc }
}

/// Maximum number of nodes in the description of a delegate type.
const MAX_TYPE_NODES: usize = 1_000;

fn count_nodes(signature: &SignatureText) -> usize {
    fn of(ty: &TypeText) -> usize {
        match ty {
            TypeText::Delegate(_, _, signature) => 1 + count_nodes(signature),
            TypeText::Container(_, inner) => 1 + inner.iter().map(of).sum::<usize>(),
            _ => 1,
        }
    }
    signature.arguments.iter().chain(signature.result.as_deref()).map(of).sum()
}

/// Adds the names of the delegates that the type contains.
fn add_delegates<'t>(ty: &'t TypeRef, names: &mut Vec<&'t Ident>) {
    match &ty.kind {
        TypeKind::Delegate(path) => names.extend(path.last()),
        TypeKind::Generic(_, of) => of.iter().for_each(|of| add_delegates(of, names)),
        _ => {}
    }
}
