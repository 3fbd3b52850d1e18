//! Redirects from earlier names of types and members, and what a path resolves to by them. A redirect counts in both directions: after an
//! undo a type or a member has its earlier name again, and the later name resolves to it.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Registry, Types};
use crate::class::Class;
use crate::compile::Known as _;
use crate::decl::Batch;
use crate::function::Function;
use crate::meta::Meta;
use crate::path::MemberPath;
use crate::property::Property;

/// The key of the metadata of a member that lists its earlier names.
const WAS: &str = "was";

/// Redirects, by old name, and the old names of each new one.
#[derive(Debug, Default)]
pub(super) struct Redirects {
    to: FxHashMap<Rc<str>, Rc<str>>,
    from: FxHashMap<Rc<str>, Vec<Rc<str>>>,
}

impl Redirects {
    pub(super) fn add(&mut self, old: &str, new: &str) {
        let (old, new): (Rc<str>, Rc<str>) = (old.into(), new.into());
        if self.to.insert(Rc::clone(&old), Rc::clone(&new)).as_ref() != Some(&new) {
            self.from.entry(new).or_default().push(old);
        }
    }

    /// Adds those of a shadow, which replace those of the same old names.
    pub(super) fn extend(&mut self, later: Self) {
        later.to.iter().for_each(|(old, new)| self.add(old, new));
    }

    /// Adds redirects from the earlier names that the declarations of a batch list.
    pub(super) fn add_renames(&mut self, batch: &Batch) {
        for (path, names) in &batch.earlier_names {
            let owner = path.rfind([':', '.']).map_or("", |at| &path[..=at]);
            self.add_names(path, owner, names);
        }
        let mut add = |(package, owner): (&str, &str), name: &str, meta: &Meta| {
            for (_, names) in meta.iter().filter(|(key, _)| key == WAS) {
                let owner = format!("/Script/{package}.{owner}:");
                self.add_names(&format!("{owner}{name}"), &owner, names);
            }
        };
        for of in &batch.structs {
            of.fields.iter().for_each(|field| add((&of.package, &of.name), &field.name, &field.meta));
        }
        for of in &batch.classes {
            of.properties.iter().for_each(|property| add((&of.package, &of.name), &property.name, &property.meta));
            of.functions.iter().for_each(|function| add((&of.package, &of.name), &function.name, &function.meta));
        }
    }

    fn add_names(&mut self, path: &str, owner: &str, names: &str) {
        for old in names.split(',').map(|name| format!("{owner}{}", name.trim())).filter(|old| old != path) {
            self.add(&old, path);
        }
    }
}

/// The names that a member has or had, from pairs of old name and new name.
#[derive(Debug)]
pub struct OldNames<'a>(FxHashMap<&'a str, Vec<&'a str>>);

impl<'a> OldNames<'a> {
    /// Of these redirects, old name and new name.
    pub fn new(redirects: &'a [(String, String)]) -> Self {
        let mut olds: FxHashMap<&str, Vec<&str>> = FxHashMap::default();
        redirects.iter().for_each(|(old, new)| olds.entry(new).or_default().push(old));
        Self(olds)
    }

    /// Returns the name of a member and its earlier and later names, nearest first.
    pub fn of(&self, member: &'a str) -> Vec<String> {
        let mut seen = FxHashSet::from_iter([member]);
        let mut names = vec![member];
        let mut at = 0;
        while at < names.len() {
            let olds = self.0.get(names[at]).into_iter().flatten();
            names.extend(olds.filter(|old| seen.insert(**old)));
            at += 1;
        }
        names.into_iter().map(str::to_owned).collect()
    }
}

impl Types {
    /// Checks for a chain of redirects from one path to another.
    #[inline]
    pub fn leads_to(&self, from: &str, to: &str) -> bool {
        self.registry.borrow().ways(from).any(|way| **way == *to)
    }

    /// Redirects `old`, the path of a type or a member, to `new`. A declaration of that very path comes first. While a shadow is up,
    /// the redirect belongs to it.
    #[inline]
    pub fn redirect(&self, old: &str, new: &str) {
        self.has_changed();
        self.registry.borrow_mut().open_table().redirects.add(old, new);
    }

    /// The path of the type that a path resolves to; the path itself if it resolves to no type.
    #[inline]
    pub fn redirected(&self, path: &str) -> Rc<str> {
        let registry = self.registry.borrow();
        registry.lead(path, |path| (!registry.is_free(path)).then(|| path.into())).unwrap_or_else(|| path.into())
    }

    /// A text with paths of types in it, each as [`Self::redirected`] resolves it.
    pub fn in_paths_of_today(&self, text: &str) -> String {
        const START: &str = "/Script/";
        let (mut today, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(START) {
            let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '/');
            let len = rest[at..].find(|letter| !is_part(letter)).unwrap_or(rest.len() - at);
            today.push_str(&rest[..at]);
            today.push_str(&self.redirected(&rest[at..at + len]));
            rest = &rest[at + len..];
        }
        today + rest
    }

    /// The members of a class, and of its bases, that have another name now: old name and new name. Their reverses
    /// follow: after an undo a member has its old name again.
    pub fn member_redirects(&self, class: &Rc<Class>) -> Vec<(String, String)> {
        self.registry.borrow().member_redirects(class.chain().iter().map(|class| &*class.path))
    }

    /// The names that a member of one of these types has or had, `name` first. The types are one and what it extends.
    pub fn names_of_member<'p>(&self, owners: impl Iterator<Item = &'p str>, name: &str) -> Vec<String> {
        OldNames::new(&self.registry.borrow().member_redirects(owners)).of(name)
    }

    /// The function of that path: declared in the class named there, or inherited by it; or of the interface named there.
    #[inline]
    pub fn function_by_path(&self, path: &str) -> Option<Rc<Function>> {
        let registry = self.registry.borrow();
        let of_class = registry.member(path, |class, name| class.find_function(name).cloned());
        of_class.or_else(|| {
            let (owner, name) = path.split_once(':')?;
            registry.interface(owner)?.find_function(name).cloned()
        })
    }

    /// The property of that path: declared in the class named there, or inherited by it.
    #[inline]
    pub fn property_by_path(&self, path: &str) -> Option<Rc<Property>> {
        self.registry.borrow().member(path, |class, name| class.find_property(name).cloned())
    }

    /// All redirects that hold now, in order.
    #[inline]
    pub fn redirects(&self) -> Vec<(Rc<str>, Rc<str>)> {
        let registry = self.registry.borrow();
        let redirects: BTreeMap<_, _> = registry.all_redirects().collect();
        redirects.into_iter().map(|(from, to)| (from.clone(), to.clone())).collect()
    }
}

impl Registry {
    /// All redirects, those of the shadow last.
    fn all_redirects(&self) -> impl Iterator<Item = (&Rc<str>, &Rc<str>)> {
        self.live.redirects.to.iter().chain(self.shadow.iter().flat_map(|shadow| &shadow.table.redirects.to))
    }

    /// Returns the target of the redirect of `path`.
    fn way(&self, path: &str) -> Option<&Rc<str>> {
        let from_shadow = self.shadow.as_ref().and_then(|shadow| shadow.table.redirects.to.get(path));
        from_shadow.or_else(|| self.live.redirects.to.get(path))
    }

    /// Returns the chain of targets from `path`, each once: a cycle ends where it closes.
    fn ways(&self, path: &str) -> impl Iterator<Item = &Rc<str>> {
        let mut next = self.way(path);
        let mut seen = FxHashSet::default();
        std::iter::from_fn(move || {
            let at = next.filter(|at| seen.insert(Rc::clone(at)))?;
            next = self.way(at);
            Some(at)
        })
    }

    /// Returns the paths that are redirected to `path`, nearest first, each once.
    fn origins(&self, path: &str) -> Vec<&Rc<str>> {
        let tables = [self.shadow.as_ref().map(|shadow| &shadow.table), Some(&self.live)];
        let olds = |new: &str| {
            let olds = tables.iter().flatten().filter_map(|table| table.redirects.from.get(new)).flatten();
            // The list has names that were redirected elsewhere since.
            olds.filter(|old| self.way(old).is_some_and(|to| **to == *new)).collect::<Vec<_>>()
        };
        let (mut found, mut seen) = (Vec::new(), FxHashSet::from_iter([path]));
        let mut next = VecDeque::from(olds(path));
        while let Some(old) = next.pop_front() {
            if seen.insert(&**old) {
                found.push(old);
                next.extend(olds(old));
            }
        }
        found
    }

    /// Resolves a path: to its own declaration, else to the first along its redirects, else to the only one with an earlier name.
    pub(super) fn lead<T>(&self, path: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        find(path).or_else(|| self.ways(path).find_map(|way| find(way))).or_else(|| {
            // After an undo the earlier name is in use again. If two are, the name was that of both.
            let mut found = self.origins(path).into_iter().filter_map(|old| find(old));
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// Returns pairs of old and new names of the members of these types, under all names of the types, and their reverses.
    fn member_redirects<'p>(&self, owners: impl Iterator<Item = &'p str>) -> Vec<(String, String)> {
        let mut known: FxHashSet<Rc<str>> = FxHashSet::default();
        for owner in owners {
            known.insert(owner.into());
            known.extend(self.ways(owner).chain(self.origins(owner)).cloned());
        }
        let member = |path: &str| {
            let (owner, name) = path.split_once(':')?;
            known.contains(owner).then(|| name.to_owned())
        };
        let forward: Vec<_> =
            self.all_redirects().filter_map(|(old, new)| Some((member(old)?, member(new)?))).collect();
        let back: Vec<_> = forward.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
        forward.into_iter().chain(back).collect()
    }

    fn member<T>(&self, path: &str, find: impl Fn(&Class, &str) -> Option<T>) -> Option<T> {
        let mut search =
            MemberSearch { registry: self, find: &find, classes: FxHashMap::default(), tried: FxHashSet::default() };
        let found = search.at(path).or_else(|| self.ways(path).find_map(|way| search.at(way)));
        found.or_else(|| {
            // After an undo the class, or the member, has its earlier name again.
            let MemberPath { owner, member } = path.parse().ok()?;
            let class = self.class(&owner.to_string())?;
            let redirects = self.member_redirects(class.chain().iter().map(|class| &*class.path));
            OldNames::new(&redirects).of(&member).iter().find_map(|name| find(&class, name))
        })
    }
}

/// A search for a member. Chains of redirects run together, those of members and those of classes; what was found out about
/// a path is kept, so the search takes as many steps as there are redirects, and no more.
struct MemberSearch<'a, F> {
    registry: &'a Registry,
    find: F,
    /// Resolved paths of classes.
    classes: FxHashMap<Rc<str>, Option<Rc<Class>>>,
    /// Paths of members at which there was none, nor behind them.
    tried: FxHashSet<Rc<str>>,
}

impl<T, F: Fn(&Class, &str) -> Option<T>> MemberSearch<'_, F> {
    /// The member of that path, or the one it was renamed to in its class.
    fn at(&mut self, path: &str) -> Option<T> {
        let MemberPath { owner, member } = path.parse().ok()?;
        let class = self.class(&owner.to_string())?;
        if let Some(found) = (self.find)(&class, &member) {
            return Some(found);
        }
        // The member may have been renamed after its class was: then its redirect is written with the new class.
        let mut at = self.registry.way(&format!("{}:{member}", class.path));
        while let Some(way) = at.filter(|way| self.tried.insert(Rc::clone(way))) {
            let found = way.split_once(':').and_then(|(owner, member)| {
                let class = self.class(owner)?;
                (self.find)(&class, member)
            });
            if found.is_some() {
                return found;
            }
            at = self.registry.way(way);
        }
        None
    }

    /// The class of that path, or of the path it was renamed to.
    fn class(&mut self, path: &str) -> Option<Rc<Class>> {
        let mut walked: Vec<Rc<str>> = Vec::new();
        let mut at: Rc<str> = path.into();
        let found = loop {
            if let Some(known) = self.classes.get(&at) {
                break known.clone();
            }
            // Until it is known: round a ring there is nothing.
            self.classes.insert(Rc::clone(&at), None);
            walked.push(Rc::clone(&at));
            if let Some(class) = self.registry.visible(|table| &table.classes, &at) {
                break Some(Rc::clone(class));
            }
            match self.registry.way(&at) {
                Some(next) => at = Rc::clone(next),
                None => break None,
            }
        };
        self.classes.extend(walked.into_iter().map(|path| (path, found.clone())));
        found
    }
}
