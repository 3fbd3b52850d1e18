//! Lookup of classes, structs, enums and their members by name or path.

use std::rc::Rc;

use alcedo_abi::type_text::distance;
use alcedo_reflect::origin::Origin;

use super::reflected::{reflected_class, reflected_interface, reflected_struct};
use super::symbols::{
    At, ClassSym, ConstSym, DelegateSym, EnumSym, FuncSym, Named, PropSym, StructSym, get_caseless, squash,
};
use super::{Checker, Found};
use crate::ast::Ident;
use crate::diagnostic::Diagnostic;
use crate::hir::{Num, Path, Triple, Type, delegate_body};
use crate::parse::in_dots;
use crate::token::lower;

/// Help for a missing struct of vectors or rotators.
pub(super) const TRIPLE_HINT: &str = "declare it in the host, in a plugin or here: `struct Vector { var float X, Y, Z; };`, \
                                      `struct Rotator { var int Pitch, Yaw, Roll; };`";

impl Checker<'_> {
    /// Returns true if a script declared this reflected type in an earlier version of the checked package. The new version replaces the
    /// type.
    pub(super) fn is_replaced(&self, origin: Origin, package: &str) -> bool {
        origin == Origin::Script && package == self.package
    }

    pub(super) fn read_reflection(&self) {
        let mut names = self.type_names.borrow_mut();
        let mut add = |name: &str, what| names.entry(name.to_ascii_lowercase()).or_default().push(what);
        for found in self.types.enums() {
            if self.is_replaced(found.origin, &found.package) {
                continue;
            }
            let num = Num::of(found.underlying_kind()).unwrap_or(Num::U8);
            add(&found.name, Type::Enum(found.path.clone(), num));
            let entries = found.entries().iter().map(|entry| (entry.name.to_string(), entry.number)).collect();
            let symbol = EnumSym { path: found.path.clone(), name: found.name.to_string(), num, entries, at: None };
            self.enums.borrow_mut().insert(symbol);
        }
        for found in self.types.structs() {
            if !self.is_replaced(found.origin, &found.package) {
                add(&found.name, Type::Struct(found.path.clone()));
            }
        }
        for found in self.types.classes() {
            if !self.is_replaced(found.origin, &found.package) {
                add(&found.name, Type::Object(found.path.clone()));
            }
        }
        for found in self.types.interfaces() {
            if !self.is_replaced(found.origin, &found.package) {
                add(&found.name, Type::Interface(found.path.clone()));
                let symbol = reflected_interface(&found.functions, &found.path, self.options.ignore_flags);
                self.interfaces.borrow_mut().insert(found.path.clone(), Rc::new(symbol));
            }
        }
    }

    /// Resolves the last name of `names` as a type. If a name precedes it, the preceding name is the package of the type.
    pub(super) fn type_named(&self, names: &[Ident], file: usize) -> Option<Found<Type>> {
        let last = names.last()?;
        let table = self.type_names.borrow();
        let found = get_caseless(&table, &last.text)?;
        let package_of = |found: &Type| {
            let path = found.path().map_or("", |path| &**path);
            path.trim_start_matches("/Script/").split('.').next().unwrap_or("").to_owned()
        };
        let in_package = |found: &&Type, package: &str| package_of(found).eq_ignore_ascii_case(package);
        if let [.., qualifier, _] = names {
            // Prefers the interpretation `Package.Type`. If the qualifier is a class, the code below ignores the qualifier and resolves
            // only the type name.
            if let Some(exact) = found.iter().find(|symbol| in_package(symbol, &qualifier.text)) {
                return Some(Ok(exact.clone()));
            }
            // The qualifier is neither a package nor a known type.
            if !table.contains_key(&qualifier.text.to_ascii_lowercase())
                && !qualifier.text.eq_ignore_ascii_case(self.package)
            {
                return None;
            }
        }
        // Types of the checked package have precedence.
        if let Some(own) = found.iter().find(|symbol| in_package(symbol, self.package)) {
            return Some(Ok(own.clone()));
        }
        match found.as_slice() {
            [one] => Some(Ok(one.clone())),
            several => {
                let mut packages: Vec<_> = several.iter().map(package_of).collect();
                packages.sort();
                let message = format!("`{}` is in the packages {}", last.text, packages.join(" and "));
                let error = Diagnostic::error("uc-ambiguous-type", (file, last.span), message);
                let hint = format!("write `{}.{}`", packages[0], last.text);
                Some(Err(self.report(error.hint(hint))))
            }
        }
    }

    /// Resolves names to a type, or reports an error. `what` is the expected kind of type.
    pub(super) fn known_type(&self, what: &str, names: &[Ident], file: usize) -> Found<Type> {
        self.type_named(names, file).unwrap_or_else(|| Err(self.unknown_type(what, names, file)))
    }

    /// Resolves names to a class, or reports an error.
    pub(super) fn class_named(&self, names: &[Ident], file: usize) -> Found<Path> {
        match self.known_type("class", names, file)? {
            Type::Object(path) => Ok(path),
            _ => {
                let last = &names[names.len() - 1];
                self.refuse("uc-no-class", (file, last.span), format!("`{}` is not a class", in_dots(names)))
            }
        }
    }

    /// Reports an unknown type name. Reports each name once for each file.
    pub(super) fn unknown_type(&self, what: &str, names: &[Ident], file: usize) -> super::Reported {
        let Some(last) = names.last() else { return super::Reported };
        if !self.is_first(file, last.text.to_ascii_lowercase()) {
            return super::Reported;
        }
        // If a file has this name but its class declaration could not be parsed, its syntax error is already reported.
        let is_unparsed = |(file, source): (&crate::ast::File, &crate::source::Source)| {
            file.class.is_none() && source.stem().eq_ignore_ascii_case(&last.text)
        };
        if self.files.iter().zip(self.sources).any(is_unparsed) {
            return super::Reported;
        }
        if let Some(of) = self.refused(&in_dots(names)) {
            let message = format!("the {what} `{}` is declared by {of}, which has errors", in_dots(names));
            let error = Diagnostic::error("uc-unknown-type", (file, last.span), message);
            return self.report(error.hint(format!("correct {of} first")));
        }
        let message =
            format!("unknown {what} `{}`: declared neither in this package nor in reflection", in_dots(names));
        let error = Diagnostic::error("uc-unknown-type", (file, last.span), message).label(format!("no such {what}"));
        let is_triple = what == "type" && (last.is("vector") || last.is("rotator"));
        let error = if is_triple { error.hint(TRIPLE_HINT) } else { error };
        let table = self.type_names.borrow();
        let fits = |found: &&Type| match what {
            "class" => matches!(found, Type::Object(_)),
            "struct" => matches!(found, Type::Struct(_)),
            "enum" => matches!(found, Type::Enum(..)),
            "interface" => matches!(found, Type::Interface(_)),
            "type" => true,
            _ => false,
        };
        let of_kind = table.iter().filter(|(_, found)| found.iter().any(|found| fits(&found)));
        let near = self.near(&last.text, of_kind.map(|(name, _)| name.as_str()));
        let declared =
            |near: &str| table.get(near).and_then(|found| found.first()).map_or(near.to_owned(), Type::to_string);
        self.report(error.similar(near.map(declared)))
    }

    /// Reports that a class has no member of this name. Reports no error if a base class is unknown, because that class may declare the
    /// member.
    pub(super) fn no_member<T: Clone>(
        &self,
        id: &'static str,
        what: &str,
        class: &str,
        name: &Ident,
        file: usize,
        of: impl Fn(&ClassSym) -> &Named<T>,
    ) -> super::Reported {
        if self.is_broken(class) {
            return super::Reported;
        }
        let chain = self.chain(class);
        let class_name = chain.first().map_or(class, |class| class.name.as_str());
        let message = format!("`{class_name}` has no {what} `{}`", name.text);
        let near = self.similar(&name.text, chain.iter().map(|class| of(class)));
        self.report(Diagnostic::error(id, (file, name.span), message).similar(near))
    }

    /// Reports that a class has no variable of this name. Reports no error if a base class is unknown, because that class may declare the
    /// variable.
    pub(super) fn no_variable(&self, class: &str, name: &Ident, file: usize) -> super::Reported {
        self.no_member("uc-unknown-member", "variable", class, name, file, |class| &class.props)
    }

    /// If a module with errors declares the name, returns the description of this module.
    pub(super) fn refused(&self, name: &str) -> Option<&String> {
        self.options.refused.get(&name.to_ascii_lowercase())
    }

    pub(super) fn class(&self, path: &str) -> Option<Rc<ClassSym>> {
        if let Some(known) = self.classes.borrow().get(path) {
            return known.clone();
        }
        let found = self.types.class_by_path(path).filter(|found| !self.is_replaced(found.origin, &found.package));
        let symbol = found.map(|found| Rc::new(reflected_class(&found, self.options.ignore_flags, self.types)));
        self.classes.borrow_mut().insert(path.into(), symbol.clone());
        symbol
    }

    pub(super) fn structure(&self, path: &str) -> Option<Rc<StructSym>> {
        if let Some(known) = self.structs.borrow().get(path) {
            return known.clone();
        }
        let found = self.types.struct_by_path(path).filter(|found| !self.is_replaced(found.origin, &found.package));
        let mut symbol = found.map(|found| Rc::new(reflected_struct(&found)));
        self.structs.borrow_mut().insert(path.into(), symbol.clone());
        if let Some(symbol) = &mut symbol {
            let types = symbol.fields.iter().filter_map(|field| field.ty.as_ref());
            let values = types.map(|ty| self.values_in(ty)).fold(0, u64::saturating_add);
            Rc::make_mut(symbol).values = values;
            self.structs.borrow_mut().insert(path.into(), Some(symbol.clone()));
        }
        symbol
    }

    pub(super) fn enumeration(&self, path: &str) -> Option<Rc<EnumSym>> {
        self.enums.borrow().by_path.get(path).cloned()
    }

    /// Returns the class and its known base classes, up to the root class. The list is finite, because inheritance cycles were removed
    /// before.
    pub(super) fn chain(&self, path: &str) -> Vec<Rc<ClassSym>> {
        self.lineage(path).collect()
    }

    fn lineage(&self, path: &str) -> impl Iterator<Item = Rc<ClassSym>> {
        std::iter::successors(self.class(path), |class| self.class(class.base.as_ref()?))
    }

    /// Returns true if the class has an unknown base. Members that seem to be missing may then exist in this base.
    pub(super) fn is_broken(&self, path: &str) -> bool {
        let is_class = self.class(path).is_some();
        self.lineage(path).any(|class| class.broken) || (!is_class && !self.interfaces.borrow().contains_key(path))
    }

    /// Returns true if the class is `base` or derives from `base`.
    pub(super) fn extends(&self, path: &str, base: &str) -> bool {
        self.lineage(path).any(|class| &*class.path == base)
    }

    pub(super) fn is_root(&self, path: &str) -> bool {
        self.class(path).is_some_and(|class| class.base.is_none())
    }

    pub(super) fn implements(&self, path: &str, interface: &str) -> bool {
        self.lineage(path).any(|class| class.interfaces.iter().any(|known| &**known == interface))
    }

    /// Finds a member in the chain of base classes. If no name matches exactly, compares the names without `_`.
    fn member<T: Clone>(&self, class: &str, name: &str, of: impl Fn(&ClassSym) -> &Named<T>) -> Option<T> {
        let exact = self.lineage(class).find_map(|class| of(&class).exact(name).cloned());
        exact.or_else(|| {
            let squashed = squash(name);
            self.lineage(class).find_map(|class| of(&class).squashed(&squashed).cloned())
        })
    }

    pub(super) fn find_property(&self, class: &str, name: &str) -> Option<Rc<PropSym>> {
        self.member(class, name, |class| &class.props).or_else(|| {
            // Also accepts the property name `__Name__Delegate`, which old and exported files use for the delegate `Name`.
            let inner = name.get(2..name.len().checked_sub(10)?)?;
            let is_one = name.starts_with("__") && name.get(name.len() - 10..)?.eq_ignore_ascii_case("__delegate");
            if is_one { Some(self.find_delegate(class, inner)?.prop.clone()) } else { None }
        })
    }

    /// Finds a property by name. For the name of a delegate, returns the property that holds its bound function.
    pub(super) fn find_variable(&self, class: &str, name: &str) -> Option<Rc<PropSym>> {
        let delegate = || self.find_delegate(class, name).map(|found| found.prop.clone());
        self.find_property(class, name).or_else(delegate)
    }

    pub(super) fn find_function(&self, class: &str, name: &str) -> Option<Rc<FuncSym>> {
        self.member(class, name, |class| &class.funcs)
    }

    pub(super) fn find_delegate(&self, class: &str, name: &str) -> Option<Rc<DelegateSym>> {
        self.member(class, name, |class| &class.delegates)
    }

    /// Finds the function with the body of a delegate. A class may declare a body for a delegate of its base class.
    pub(super) fn find_delegate_body(&self, class: &str, delegate: &str) -> Option<Path> {
        let name = delegate_body(delegate);
        self.lineage(class).find_map(|class| Some(class.funcs.exact(&name)?.path.clone()))
    }

    /// Finds a delegate by its path `/Script/Package.Class:Name`.
    pub(super) fn delegate_of_path(&self, path: &str) -> Option<Rc<DelegateSym>> {
        let (class, name) = path.split_once(':')?;
        self.find_delegate(class, name).filter(|found| *found.func.path == *path)
    }

    pub(super) fn find_const(&self, class: &str, name: &str) -> Option<Rc<ConstSym>> {
        self.member(class, name, |class| &class.consts)
    }

    /// Finds a subobject that the class or one of its base classes declares. Returns its declared name and its class.
    pub(super) fn find_subobject(&self, class: &str, name: &str) -> Option<(String, Path)> {
        self.member(class, name, |class| &class.subobjects)
    }

    pub(super) fn find_interface_function(&self, interface: &str, name: &str) -> Option<Rc<FuncSym>> {
        self.interface_of(interface).by_name.get(name).cloned()
    }

    pub(super) fn find_library_function(&self, name: &str) -> Option<Rc<FuncSym>> {
        let libraries = self.options.libraries.iter();
        libraries.filter_map(|path| self.find_function(path, name)).find(|found| found.is_static)
    }

    /// Returns the number type of a vector or rotator: a struct named `Vector` or `Rotator` with three numbers of one type. Also returns
    /// true for a vector and false for a rotator.
    pub(super) fn triple(&self, ty: &Type) -> Option<(Triple, bool)> {
        let Type::Struct(path) = ty else { return None };
        let is_vector = match &*lower(path.rsplit('.').next().unwrap_or(""), &mut [0; 64]) {
            "vector" => true,
            "rotator" => false,
            _ => return None,
        };
        let names = if is_vector { ["x", "y", "z"] } else { ["pitch", "yaw", "roll"] };
        let structure = self.structure(path)?;
        let [one, two, three] = &structure.fields[..] else { return None };
        let fits = [one, two, three].iter().zip(names).all(|(field, name)| field.name.eq_ignore_ascii_case(name));
        match (&one.ty, &two.ty, &three.ty) {
            (Some(Type::Num(of)), two, three) if fits && *two == one.ty && *three == one.ty => {
                let suits = matches!(of, Num::F32 | Num::F64 | Num::I32);
                suits.then(|| (Triple { path: path.clone(), of: *of }, is_vector))
            }
            _ => None,
        }
    }

    /// Resolves a name to a vector or rotator struct, as [`Self::triple`] does.
    pub(super) fn triple_named(&self, name: &str, at: At) -> Option<(Triple, bool)> {
        let ident = Ident { text: name.to_owned(), span: at.1 };
        match self.type_named(&[ident], at.0)? {
            Ok(Type::Struct(path)) => self.triple(&Type::Struct(path)),
            _ => None,
        }
    }

    /// Returns true if the type refers to a class with an unknown base class. Callers must not report type errors for such a type.
    pub(super) fn is_unsure(&self, ty: &Type) -> bool {
        match ty {
            Type::Object(path) | Type::Class(path) | Type::Reference(_, path) => self.is_broken(path),
            ty => ty.inner().any(|of| self.is_unsure(of)),
        }
    }

    /// Returns the root of the base classes of a class. If a base class is unknown, returns the path of the class `Object`.
    pub(super) fn root_of(&self, class: &str) -> Path {
        let last = self.lineage(class).last();
        if last.as_ref().is_none_or(|last| last.broken)
            && let Some([Type::Object(path)]) = self.type_names.borrow().get("object").map(Vec::as_slice)
        {
            return path.clone();
        }
        last.map_or_else(|| class.into(), |last| last.path.clone())
    }

    /// Returns the most similar name, for use in a hint. The number of these searches is limited, because they would take too long for
    /// sources with many errors.
    pub(super) fn near<'n>(&self, name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        let left = self.hints.get().checked_sub(1)?;
        self.hints.set(left);
        nearest(name, names)
    }

    pub(super) fn similar<'n, T: Clone + 'n>(
        &self,
        name: &str,
        of: impl Iterator<Item = &'n Named<T>>,
    ) -> Option<String> {
        self.near(name, of.flat_map(Named::names)).map(str::to_owned)
    }
}

/// Returns the name with the smallest edit distance to `name`. The distance must be at most a third of the length of `name`.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_ascii_lowercase();
    let most = name.chars().count().min(24) / 3;
    if most == 0 || name.chars().count() > 64 {
        return None;
    }
    let close = names.filter(|other| other.len().abs_diff(name.len()) <= most && other.len() <= 64);
    let measured = close.map(|other| (distance(name.as_bytes(), other.to_ascii_lowercase().as_bytes()), other));
    measured.filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}
