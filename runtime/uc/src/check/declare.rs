//! Declares the types of the package. Declares enums first, then classes in order of inheritance. Members are declared later.

use std::rc::Rc;

use alcedo_reflect::path::is_identifier;

use super::Checker;
use super::symbols::{At, ClassSym, ConstSym, EnumSym, MAX_EXTENSION_DEPTH, Named};
use crate::ast::{self, ClassHead, DataType, Ident, Item, Outside, OutsideKind, VarName};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::hir::{self, Num, Path, Type};

/// A class of the package with its syntax tree.
pub(super) struct Work<'a> {
    pub(super) file: usize,
    pub(super) head: &'a ClassHead,
    pub(super) items: &'a [Item],
    pub(super) path: Path,
    pub(super) base: Option<Path>,
    pub(super) broken: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn package(&self) -> hir::Package {
        let mut package = hir::Package {
            name: self.package.to_owned(),
            files: self.sources.iter().map(|source| source.name.clone()).collect(),
            ..hir::Package::default()
        };
        let (mut works, interfaces, mut declared) = self.heads();
        let (mut structs, mut enums) = (Vec::new(), Vec::new());
        for work in works.iter().chain(&interfaces) {
            ast::each_type(work.items, &mut |found| match found {
                DataType::Struct(found) => structs.push((work.file, work.path.clone(), found)),
                DataType::Enum(found) => enums.push((work.file, found)),
            });
        }
        if !self.is_within_totals(works.iter().chain(&interfaces), &structs, &enums) {
            return package;
        }
        for head in works.iter().chain(&interfaces).map(|work| work.head) {
            package.earlier_names.extend(earlier_names(&self.own_path(&head.name.text), head.meta.as_deref()));
        }
        for (.., found) in &structs {
            package.earlier_names.extend(earlier_names(&self.own_path(&found.name.text), found.meta.as_deref()));
        }
        for (_, found) in &enums {
            let path = self.own_path(&found.name.text);
            package.earlier_names.extend(earlier_names(&path, found.meta.as_deref()));
            let entry = |entry: &VarName| earlier_names(&format!("{path}:{}", entry.name.text), entry.meta.as_deref());
            package.earlier_names.extend(found.entries.iter().flat_map(entry));
        }
        package.enums =
            enums.into_iter().filter_map(|(file, found)| self.enum_of(found, file, &mut declared)).collect();
        structs.retain(|(file, _, found)| {
            self.declare_name("type", &found.name, *file, &mut declared, Type::Struct).is_some()
        });
        self.bases(&mut works);
        // Inheritance cycles were reported and removed above, so the order exists.
        let (works, _) = in_order(works, |work| &work.path, |work, numbers| numbers.get(work.base.as_ref()?).copied());
        for work in &works {
            let skeleton = self.skeleton(work);
            self.classes.borrow_mut().insert(work.path.clone(), Some(Rc::new(skeleton)));
        }
        // Declares delegates before fields and parameters, because the types of fields and parameters may refer to delegates.
        self.declare_delegates(&works, &mut package);
        package.structs = self.structs_of(&structs);
        package.interfaces = self.declare_interfaces(&interfaces);
        for work in &works {
            let interfaces = self.interfaces_of(work);
            self.change_class(&work.path, |class| class.interfaces = interfaces);
        }
        let members: Vec<_> = works.iter().map(|work| self.declare_members(work)).collect();
        let classes = works.iter().zip(members).map(|(work, members)| self.finish_class(work, members));
        package.classes = classes.collect();
        self.endless_subobjects(&works);
        package
    }

    /// Returns the classes and the interfaces that the files declare, and the location of each name.
    fn heads(&self) -> (Vec<Work<'a>>, Vec<Work<'a>>, HashMap<String, At>) {
        let (mut works, mut interfaces): (Vec<Work<'a>>, Vec<Work<'a>>) = Default::default();
        let mut declared: HashMap<String, At> = HashMap::default();
        for (file, tree) in self.files.iter().enumerate() {
            let Some(head) = &tree.class else {
                if !self.syntax_errors.contains_key(&file) {
                    let at = (file, crate::source::Span::default());
                    let error = Diagnostic::error("uc-no-class-in-file", at, "this file declares no class");
                    self.report(error.hint("begin it with `class Name extends Base;`"));
                }
                for item in &tree.items {
                    if let Item::Outside(found) = item {
                        self.outside_item(found, file);
                    }
                }
                continue;
            };
            let at = (file, head.name.span);
            let stem = self.sources[file].stem();
            if !head.name.is(stem) {
                let message = format!("the class `{}` is in the file of a class `{stem}`", head.name.text);
                let error = Diagnostic::error("uc-file-name", at, message).warning();
                self.report(error.hint("name the file as the class"));
            }
            let ty = if head.is_interface { Type::Interface } else { Type::Object };
            let Some(path) = self.declare_name("class", &head.name, file, &mut declared, ty) else { continue };
            // The class counts as broken if it contains a macro, because a macro may expand to any declaration.
            let broken = tree.is_partial || tree.items.iter().any(may_declare);
            let work = Work { file, head, items: &tree.items, path: path.clone(), base: None, broken };
            if head.is_interface {
                self.interfaces.borrow_mut().insert(path, Rc::default());
                interfaces.push(work);
            } else {
                works.push(work);
            }
        }
        (works, interfaces, declared)
    }

    /// Returns true if the host or a plugin, not a script, has declared a type with this path in reflection.
    fn is_of_host(&self, path: &str) -> bool {
        use alcedo_reflect::origin::Origin;
        let kept = |origin: Origin| origin != Origin::Script;
        self.types.class_by_path(path).is_some_and(|found| kept(found.origin))
            || self.types.struct_by_path(path).is_some_and(|found| kept(found.origin))
            || self.types.enum_by_path(path).is_some_and(|found| kept(found.origin))
            || self.types.interface_by_path(path).is_some_and(|found| kept(found.origin))
    }

    pub(super) fn check_name(&self, name: &Ident, file: usize) {
        if !is_identifier(&name.text) {
            let message = format!("`{}…` is too long for a name", name.text.chars().take(20).collect::<String>());
            self.report(Diagnostic::error("uc-long-name", (file, name.span), message));
        }
    }

    /// Declares a type of the package. Returns its path. If the package has declared the name before, reports the duplicate and returns
    /// `None`.
    fn declare_name(
        &self,
        what: &str,
        name: &Ident,
        file: usize,
        declared: &mut HashMap<String, At>,
        ty: impl FnOnce(Path) -> Type,
    ) -> Option<Path> {
        self.check_name(name, file);
        let (at, key) = ((file, name.span), name.text.to_ascii_lowercase());
        if let Some(other) = declared.get(&key) {
            let message = format!("a second {what} `{}` in the package", name.text);
            self.report(Diagnostic::error("uc-declared-twice", at, message).other(*other, "the first one"));
            return None;
        }
        let path = self.own_path(&name.text);
        if self.is_of_host(&path) {
            let message = format!("`{path}` is declared by the host or by a plugin");
            self.report(
                Diagnostic::error("uc-declared-twice", at, message).hint("use another name or another package"),
            );
        }
        self.type_names.borrow_mut().entry(key.clone()).or_default().insert(0, ty(path.clone()));
        declared.insert(key, at);
        Some(path)
    }

    fn enum_of(&self, found: &ast::Enum, file: usize, declared: &mut HashMap<String, At>) -> Option<hir::Enum> {
        let path = self.declare_name("type", &found.name, file, declared, |path| Type::Enum(path, Num::U8))?;
        let mut entries: Vec<String> = Vec::new();
        let mut seen = HashSet::default();
        for entry in &found.entries {
            self.check_name(&entry.name, file);
            if !seen.insert(entry.name.text.to_ascii_lowercase()) {
                let message = format!("a second entry `{}`", entry.name.text);
                self.report(Diagnostic::error("uc-declared-twice", (file, entry.name.span), message));
                continue;
            }
            entries.push(entry.name.text.clone());
        }
        let at = (file, found.name.span);
        if entries.is_empty() || entries.len() > 256 {
            let message = format!("an enum has 1 to 256 entries, not {}", entries.len());
            self.report(Diagnostic::error("uc-enum-size", at, message));
        }
        let numbered = entries.iter().cloned().zip(0..).collect();
        let symbol = EnumSym {
            path: path.clone(),
            name: found.name.text.clone(),
            num: Num::U8,
            entries: numbered,
            at: Some(at),
        };
        self.enums.borrow_mut().insert(symbol);
        Some(hir::Enum { path, name: found.name.text.clone(), entries, doc: found.doc.clone() })
    }

    /// Resolves the base of every class and detects cycles.
    fn bases(&self, works: &mut [Work<'a>]) {
        for work in works.iter_mut() {
            let at = (work.file, work.head.name.span);
            let Some(base) = &work.head.base else {
                work.broken = true;
                let message = format!("`{}` extends nothing", work.head.name.text);
                self.report(Diagnostic::error("uc-no-base", at, message).hint(format!(
                    "write `class {} extends Object`, or another class of the host",
                    work.head.name.text
                )));
                continue;
            };
            work.base = self.class_named(base, work.file).ok();
            work.broken |= work.base.is_none();
        }
        let own: HashMap<Path, Option<Path>> =
            works.iter().map(|work| (work.path.clone(), work.base.clone())).collect();
        let mut in_cycles: HashSet<Path> = HashSet::default();
        for work in works.iter_mut() {
            let (mut cycle, mut at) = (vec![work.path.clone()], work.base.clone());
            let mut seen = HashSet::default();
            while let Some(path) = at {
                let place = (work.file, work.head.name.span);
                if path == work.path {
                    // Reports each cycle once. Skips a cycle with a class that has the path of a host type, because that error is already
                    // reported.
                    let is_reported = in_cycles.contains(&path)
                        || cycle.iter().any(|path| own.contains_key(path) && self.is_of_host(path));
                    if !is_reported {
                        let names: Vec<_> = cycle.iter().map(|path| self.in_package(path)).collect();
                        let message = format!("these classes extend one another: {} → {}", names.join(" → "), names[0]);
                        self.report(Diagnostic::error("uc-class-circle", place, message));
                    }
                    in_cycles.extend(cycle);
                } else if !seen.insert(path.clone()) {
                    break;
                } else if cycle.len() > MAX_EXTENSION_DEPTH && own.contains_key(&path) {
                    self.too_much("classes that extend one another in a row", MAX_EXTENSION_DEPTH, place);
                } else {
                    // A reflected class may extend the previous version of a class of this package.
                    at = match own.get(&path) {
                        Some(base) => base.clone(),
                        None => self.class(&path).and_then(|class| class.base.clone()),
                    };
                    cycle.push(path);
                    continue;
                }
                work.base = None;
                work.broken = true;
                break;
            }
        }
    }

    /// Returns the name of a class for messages. If the class belongs to a different package, the name includes the package.
    pub(super) fn in_package<'p>(&self, path: &'p str) -> &'p str {
        let short = path.strip_prefix("/Script/").unwrap_or(path);
        match short.split_once('.') {
            Some((package, name)) if package == self.package => name,
            _ => short,
        }
    }

    /// Builds the symbol of a class without members.
    fn skeleton(&self, work: &Work<'a>) -> ClassSym {
        let flag = |word: &str| work.head.modifiers.iter().any(|modifier| modifier.name.is(word));
        let broken = work.broken;
        if let (Some(base), Some(written)) = (&work.base, &work.head.base)
            && let Some(found) = self.class(base)
        {
            let at = (work.file, written[written.len() - 1].span);
            if found.is_final {
                let message = format!("`{}` is final: no class extends it", found.name);
                self.report(Diagnostic::error("uc-final-base", at, message));
            } else if let Some(why) = found.closed {
                let message = format!("scripts cannot extend `{}`: {why}", found.name);
                self.report(Diagnostic::error("uc-closed-base", at, message));
            }
        }
        let mut consts = Named::default();
        for item in work.items {
            let Item::Const(found) = item else { continue };
            self.check_name(&found.name, work.file);
            let at = (work.file, found.name.span);
            if consts.exact(&found.name.text).is_some() {
                let message = format!("a second constant `{}`", found.name.text);
                self.report(Diagnostic::error("uc-declared-twice", at, message));
                continue;
            }
            consts.insert(&found.name.text, Rc::new(ConstSym { value: Rc::new(found.value.clone()), at }));
        }
        let within = work.head.modifiers.iter().find(|modifier| modifier.name.is("within"));
        let within = within.and_then(|modifier| {
            match self.type_named(&Ident::dotted(modifier.argument.as_deref()?, modifier.name.span), work.file) {
                Some(Ok(Type::Object(path))) => Some(path),
                _ => None,
            }
        });
        ClassSym {
            within,
            path: work.path.clone(),
            name: work.head.name.text.clone(),
            base: work.base.clone(),
            broken,
            is_final: flag("final") || flag("dllbind"),
            is_abstract: flag("abstract"),
            consts,
            ..ClassSym::default()
        }
    }
}

/// Returns true if the item is a macro that may expand to declarations.
fn may_declare(item: &Item) -> bool {
    const DIRECTIVES: &[&str] = &["define", "undefine", "if", "else", "endif"];
    match item {
        Item::Outside(Outside { what: OutsideKind::Macro, name: Some(name), .. }) => {
            !DIRECTIVES.iter().any(|word| name.is(word))
        }
        _ => false,
    }
}

/// Sorts types so that each type follows the types that it needs. `needs` returns the indices of the needed types, and receives the indices
/// of all types by path. Also returns the types that are in a cycle or need such a type.
pub(super) fn in_order<T, N: IntoIterator<Item = usize>>(
    open: Vec<T>,
    path: impl Fn(&T) -> &Path,
    needs: impl Fn(&T, &HashMap<Path, usize>) -> N,
) -> (Vec<T>, Vec<T>) {
    let numbers: HashMap<Path, usize> =
        open.iter().enumerate().map(|(number, one)| (path(one).clone(), number)).collect();
    let (mut waits, mut users) = (vec![0_usize; open.len()], vec![Vec::new(); open.len()]);
    for (number, one) in open.iter().enumerate() {
        for needed in needs(one, &numbers) {
            waits[number] += 1;
            users[needed].push(number);
        }
    }
    let mut order: Vec<usize> = Vec::new();
    let mut ready: Vec<usize> = (0..open.len()).filter(|number| waits[*number] == 0).collect();
    while !ready.is_empty() {
        let is_ready = |user: &usize| {
            waits[*user] -= 1;
            waits[*user] == 0
        };
        let mut next: Vec<_> = ready.iter().flat_map(|number| &users[*number]).copied().filter(is_ready).collect();
        next.sort_unstable();
        order.append(&mut ready);
        ready = next;
    }
    let mut open: Vec<_> = open.into_iter().map(Some).collect();
    let done = order.into_iter().filter_map(|number| open[number].take()).collect();
    (done, open.into_iter().flatten().collect())
}

/// Returns a path together with the earlier names of its type, which the metadata `<Was=Old>` after the type name declares.
fn earlier_names(path: &str, meta: Option<&str>) -> Option<(String, String)> {
    ast::meta_in(meta).find(|(key, _)| key == "was").map(|(_, names)| (path.to_owned(), names))
}
