//! Redirects from earlier names of types and members, and path resolution with redirects. A redirect applies in both directions, because a
//! reload can undo a rename. The later name then resolves to the earlier name, which is in use again.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Registry, Table};
use crate::class::Class;
use crate::decl::Batch;
use crate::meta::Meta;
use crate::path::MemberPath;

/// Metadata key for the earlier names of a member.
const WAS: &str = "was";

/// Redirects of names. `to` maps each old name to its new name, and `from` lists the old names of each new name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Redirects {
    to: FxHashMap<Rc<str>, Rc<str>>,
    from: FxHashMap<Rc<str>, Vec<Rc<str>>>,
}

impl Redirects {
    pub(crate) fn add(&mut self, old: &str, new: &str) {
        let (old, new): (Rc<str>, Rc<str>) = (old.into(), new.into());
        if self.to.insert(Rc::clone(&old), Rc::clone(&new)).as_ref() != Some(&new) {
            self.from.entry(new).or_default().push(old);
        }
    }

    /// Adds the redirects that a shadow has collected. An added redirect replaces an existing redirect of the same old name.
    pub(crate) fn extend(&mut self, later: Self) {
        for (new, mut olds) in later.from {
            olds.retain(|old| later.to.get(old) == Some(&new));
            self.add_list(&new, olds);
        }
    }

    /// Redirects the names `olds` to `new`. Moves `olds` to the start of the list of old names of `new`.
    fn add_list(&mut self, new: &Rc<str>, olds: Vec<Rc<str>>) {
        self.to.extend(olds.iter().map(|old| (Rc::clone(old), Rc::clone(new))));
        let listed: FxHashSet<Rc<str>> = olds.iter().cloned().collect();
        let known = self.from.entry(Rc::clone(new)).or_default();
        let others = std::mem::take(known).into_iter().filter(|old| !listed.contains(old));
        *known = olds.into_iter().chain(others).collect();
    }
}

/// Redirects from the earlier names in a batch. Dropping this guard restores the redirects before the batch.
#[must_use = "the redirects are removed when this is dropped"]
#[derive(Debug)]
pub(crate) struct AddedRenames<'a> {
    registry: &'a mut Registry,
    /// Redirects before the batch. `None` if the batch has no earlier names, or after [`AddedRenames::keep`].
    before: Option<Redirects>,
}

impl AddedRenames<'_> {
    /// Returns the registry with the added redirects.
    pub(crate) fn registry(&self) -> &Registry {
        self.registry
    }

    /// Makes the added redirects permanent.
    pub(crate) fn keep(mut self) {
        self.before = None;
    }
}

impl Drop for AddedRenames<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before.take() {
            self.registry.open_table().redirects = before;
        }
    }
}

/// Returns the renamed types and members of a batch: each new name with its old names.
fn renames(batch: &Batch) -> Vec<(Rc<str>, Vec<Rc<str>>)> {
    let mut renames: Vec<(Rc<str>, Vec<Rc<str>>)> = Vec::new();
    let mut add_names = |path: &str, owner: &str, names: &str| {
        let olds = names.split(',').map(|name| format!("{owner}{}", name.trim())).filter(|old| old != path);
        renames.push((Rc::from(path), olds.map(Rc::from).collect()));
    };
    for (path, names) in &batch.earlier_names {
        let owner = path.rfind([':', '.']).map_or("", |at| &path[..=at]);
        add_names(path, owner, names);
    }
    let mut add = |(package, owner): (&str, &str), name: &str, meta: &Meta| {
        for (_, names) in meta.iter().filter(|(key, _)| key == WAS) {
            let owner = format!("/Script/{package}.{owner}:");
            add_names(&format!("{owner}{name}"), &owner, names);
        }
    };
    for of in &batch.structs {
        of.fields.iter().for_each(|field| add((&of.package, &of.name), &field.name, &field.meta));
    }
    for of in &batch.classes {
        of.properties.iter().for_each(|property| add((&of.package, &of.name), &property.name, &property.meta));
        of.functions.iter().for_each(|function| add((&of.package, &of.name), &function.name, &function.meta));
    }
    renames
}

/// Redirects of names in one direction. Maps each name to its later names, or each name to its earlier names.
type Links<'a> = FxHashMap<&'a str, Vec<&'a str>>;

/// Current and earlier names of members, connected by redirects. If two old names are redirected to one new name, the old names do not
/// resolve to each other.
#[derive(Debug)]
pub struct OldNames<'a> {
    current: Directions<'a>,
    /// All redirects, including replaced redirects. `None` if no redirect was replaced.
    all: Option<Directions<'a>>,
}

/// Names in use, each with a list of all names that resolve to it.
#[derive(Debug)]
pub struct CurrentNames<'a>(FxHashMap<&'a str, Vec<&'a str>>);

/// Redirects in both directions.
#[derive(Debug, Default)]
struct Directions<'a> {
    /// Later names of each name.
    later: Links<'a>,
    /// Earlier names of each name, in declared order.
    earlier: Links<'a>,
}

impl<'a> OldNames<'a> {
    /// Creates the table from pairs of old and new name. If several pairs have equal old names, the first pair is the current redirect. The
    /// other pairs are replaced redirects. Replaced redirects apply only to names that the current redirects cannot resolve.
    pub fn new(redirects: &'a [(String, String)]) -> Self {
        let mut targets: FxHashMap<&str, &str> = FxHashMap::default();
        let (mut current, mut replaced) = (Vec::new(), Vec::new());
        for pair in redirects {
            let (old, new) = (pair.0.as_str(), pair.1.as_str());
            let is_current = *targets.entry(old).or_insert(new) == new;
            (if is_current { &mut current } else { &mut replaced }).push(pair);
        }
        let all = (!replaced.is_empty()).then(|| Directions::new(current.iter().chain(&replaced).copied()));
        Self { current: Directions::new(current.into_iter()), all }
    }

    /// Returns the name of a member with its later and earlier names, nearest first.
    pub fn of(&self, member: &'a str) -> Vec<String> {
        self.resolve(&[member]).of(member).iter().map(|name| (*name).to_owned()).collect()
    }

    /// Resolves each name to the nearest name in use, along later names or along earlier names. The cost is linear in the number of
    /// redirects.
    pub fn resolve(&self, in_use: &[&'a str]) -> CurrentNames<'a> {
        let mut names: FxHashMap<&'a str, Vec<&'a str>> = in_use.iter().map(|name| (*name, vec![*name])).collect();
        let mut resolved: FxHashSet<&'a str> = in_use.iter().copied().collect();
        for directions in std::iter::once(&self.current).chain(&self.all) {
            for (name, target) in directions.resolve(in_use) {
                if resolved.insert(name) {
                    names.entry(target).or_default().push(name);
                }
            }
        }
        CurrentNames(names)
    }
}

impl<'a> Directions<'a> {
    fn new(redirects: impl Iterator<Item = &'a (String, String)>) -> Self {
        let mut directions = Self::default();
        for (old, new) in redirects {
            directions.later.entry(old).or_default().push(new);
            directions.earlier.entry(new).or_default().push(old);
        }
        directions
    }

    /// Returns each name with the name in use to which it resolves. The pairs are sorted by distance. If a later and an earlier name in use
    /// are equally near, the name resolves to the later name. Among pairs of equal distance, pairs that resolve to an earlier name are
    /// first.
    fn resolve(&self, in_use: &[&'a str]) -> Vec<(&'a str, &'a str)> {
        let along_later = reach(in_use, &self.earlier, &self.later);
        let along_earlier = reach(in_use, &self.later, &self.earlier);
        let distances: FxHashMap<&str, usize> = along_later.iter().map(|found| (found.0, found.2)).collect();
        let is_nearer = |found: &(&'a str, &'a str, usize)| distances.get(found.0).is_none_or(|later| found.2 < *later);
        let mut found: Vec<_> = along_earlier.into_iter().filter(is_nearer).collect();
        let nearest: FxHashSet<&str> = found.iter().map(|found| found.0).collect();
        found.extend(along_later.into_iter().filter(|found| !nearest.contains(found.0)));
        found.sort_by_key(|(_, _, distance)| *distance);
        found.into_iter().map(|(name, target, _)| (name, target)).collect()
    }
}

/// Returns the names from which a name of `from` is reachable by `onward` links. Each result has a name, the nearest name of `from`, and
/// the distance. The results are sorted by distance. If several names of `from` are equally near, the first link of the name decides.
/// `backward` contains the links of `onward` in the reverse direction.
fn reach<'a>(from: &[&'a str], backward: &Links<'a>, onward: &Links<'a>) -> Vec<(&'a str, &'a str, usize)> {
    let mut found: FxHashMap<&'a str, (&'a str, usize)> = from.iter().map(|name| (*name, (*name, 0))).collect();
    let mut reached = from.to_vec();
    let mut at = 0;
    while let Some(&name) = reached.get(at) {
        let (_, distance) = found[name];
        for &next in backward.get(name).into_iter().flatten() {
            if found.contains_key(next) {
                continue;
            }
            let linked = onward.get(next).into_iter().flatten();
            let nearest = linked.filter_map(|link| found.get(link)).find(|(_, known)| *known <= distance);
            if let Some(&(target, _)) = nearest {
                found.insert(next, (target, distance + 1));
                reached.push(next);
            }
        }
        at += 1;
    }
    let with_target = |name: &'a str| (name, found[name].0, found[name].1);
    reached.into_iter().skip(from.len()).map(with_target).collect()
}

impl<'a> CurrentNames<'a> {
    /// Returns the names that resolve to `current`, a name in use. The names are sorted by distance. The first name is `current` itself.
    pub fn of(&self, current: &str) -> &[&'a str] {
        self.0.get(current).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Registry {
    /// Adds redirects from the earlier names in the declarations of a batch, until the returned guard is dropped.
    pub(crate) fn add_renames(&mut self, batch: &Batch) -> AddedRenames<'_> {
        let renames = renames(batch);
        let redirects = &mut self.open_table().redirects;
        // Most batches have no earlier names and need no copy of the redirects.
        let before = (!renames.is_empty()).then(|| redirects.clone());
        for (new, olds) in renames {
            redirects.add_list(&new, olds);
        }
        AddedRenames { registry: self, before }
    }

    /// Iterates over the tables, with the table of the shadow first.
    fn tables(&self) -> impl DoubleEndedIterator<Item = &Table> {
        self.shadow.iter().map(|shadow| &shadow.table).chain([&self.live])
    }

    /// Iterates over all redirects, with the redirects of the shadow last.
    pub(crate) fn all_redirects(&self) -> impl Iterator<Item = (&Rc<str>, &Rc<str>)> {
        self.tables().rev().flat_map(|table| &table.redirects.to)
    }

    /// Returns the target of the redirect of `path`.
    fn redirect_target(&self, path: &str) -> Option<&Rc<str>> {
        let from_shadow = self.shadow.as_ref().and_then(|shadow| shadow.table.redirects.to.get(path));
        from_shadow.or_else(|| self.live.redirects.to.get(path))
    }

    /// Iterates over the targets of successive redirects, starting with the redirect of `path`. A repeated target closes a cycle and ends
    /// the iteration.
    pub(crate) fn redirect_chain(&self, path: &str) -> impl Iterator<Item = &Rc<str>> {
        let mut next = self.redirect_target(path);
        let mut seen = FxHashSet::default();
        std::iter::from_fn(move || {
            let at = next.filter(|at| seen.insert(Rc::clone(at)))?;
            next = self.redirect_target(at);
            Some(at)
        })
    }

    /// Returns the paths that are redirected to `path`, directly or through other paths. The nearest paths are first. Each path is listed
    /// once.
    fn origins(&self, path: &str) -> Vec<&Rc<str>> {
        let olds = |new: &str| {
            let olds = self.tables().filter_map(|table| table.redirects.from.get(new)).flatten();
            // Skips a name if a later redirect has a different target for the name.
            olds.filter(|old| self.redirect_target(old).is_some_and(|to| **to == *new)).collect::<Vec<_>>()
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

    /// Resolves a path to the declaration at that path. Otherwise resolves the path to the first declaration along its redirects. If
    /// neither exists and exactly one earlier path has a declaration, resolves the path to that declaration.
    pub(crate) fn resolve_with<T>(&self, path: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        find(path).or_else(|| self.redirect_chain(path).find_map(|target| find(target))).or_else(|| {
            // If a reload has undone a rename, the earlier name is in use again. Two earlier names in use make the path ambiguous.
            let mut found = self.origins(path).into_iter().filter_map(|old| find(old));
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// Returns pairs of old and new names for the members of the types `owners`. Includes redirects under earlier and later names of these
    /// types. The old names of a member are in declared order. Replaced redirects are last.
    pub(crate) fn member_redirects<'p>(&self, owners: impl Iterator<Item = &'p str>) -> Vec<(String, String)> {
        let mut known: FxHashMap<Rc<str>, usize> = FxHashMap::default();
        for owner in owners {
            let others = self.redirect_chain(owner).chain(self.origins(owner)).cloned();
            for name in std::iter::once(Rc::from(owner)).chain(others) {
                let rank = known.len();
                known.entry(name).or_insert(rank);
            }
        }
        let member = |path: &str| {
            let (owner, name) = path.split_once(':')?;
            Some((*known.get(owner)?, name.to_owned()))
        };
        let mut lists = Vec::new();
        for (table, at) in self.tables().zip(0..) {
            lists.extend(table.redirects.from.iter().filter_map(|(new, olds)| Some((member(new)?, at, new, olds))));
        }
        // Sorts the lists, because the iteration order of the map is random.
        lists.sort_by(|(one, one_table, ..), (two, two_table, ..)| (one, one_table).cmp(&(two, two_table)));
        let (mut pairs, mut replaced) = (Vec::new(), Vec::new());
        for ((_, name), _, new, olds) in lists {
            for old in olds {
                let list = if self.redirect_target(old) == Some(new) { &mut pairs } else { &mut replaced };
                list.extend(member(old).map(|(_, old)| (old, name.clone())));
            }
        }
        pairs.append(&mut replaced);
        pairs
    }

    pub(crate) fn member<T>(&self, path: &str, find: impl Fn(&Class, &str) -> Option<T>) -> Option<T> {
        let mut search =
            MemberSearch { registry: self, find: &find, classes: FxHashMap::default(), tried: FxHashSet::default() };
        let found = search.at(path).or_else(|| self.redirect_chain(path).find_map(|target| search.at(target)));
        found.or_else(|| {
            // If a reload has undone a rename, the class or the member has its earlier name again.
            let MemberPath { owner, member } = path.parse().ok()?;
            let class = self.find::<Class>(&owner.to_string())?;
            let redirects = self.member_redirects(class.chain().iter().map(|class| &*class.path));
            OldNames::new(&redirects).of(&member).iter().find_map(|name| find(&class, name))
        })
    }
}

/// State of a search for a member. Chains of redirects may share links. The search caches results per path. The cost of the search is
/// therefore linear in the number of redirects.
struct MemberSearch<'a, F> {
    registry: &'a Registry,
    find: F,
    /// Resolved paths of classes.
    classes: FxHashMap<Rc<str>, Option<Rc<Class>>>,
    /// Member paths that the search has already tried.
    tried: FxHashSet<Rc<str>>,
}

impl<T, F: Fn(&Class, &str) -> Option<T>> MemberSearch<'_, F> {
    /// Returns the member with that path. If the member was renamed, returns the member with the new name.
    fn at(&mut self, path: &str) -> Option<T> {
        let MemberPath { owner, member } = path.parse().ok()?;
        let class = self.class(&owner.to_string())?;
        if let Some(found) = (self.find)(&class, &member) {
            return Some(found);
        }
        // If the class was renamed before the member, the old path in the redirect of the member contains the new class path.
        let mut at = self.registry.redirect_target(&format!("{}:{member}", class.path));
        while let Some(target) = at.filter(|target| self.tried.insert(Rc::clone(target))) {
            let found = target.split_once(':').and_then(|(owner, member)| {
                let class = self.class(owner)?;
                (self.find)(&class, member)
            });
            if found.is_some() {
                return found;
            }
            at = self.registry.redirect_target(target);
        }
        None
    }

    /// Returns the class with that path. If the class was renamed, returns the class with the new name.
    fn class(&mut self, path: &str) -> Option<Rc<Class>> {
        let mut walked: Vec<Rc<str>> = Vec::new();
        let mut at: Rc<str> = path.into();
        let found = loop {
            if let Some(known) = self.classes.get(&at) {
                break known.clone();
            }
            // This provisional result ends the search in a cycle.
            self.classes.insert(Rc::clone(&at), None);
            walked.push(Rc::clone(&at));
            if let Some(class) = self.registry.visible::<Class>(&at) {
                break Some(Rc::clone(class));
            }
            match self.registry.redirect_target(&at) {
                Some(next) => at = Rc::clone(next),
                None => break None,
            }
        };
        self.classes.extend(walked.into_iter().map(|path| (path, found.clone())));
        found
    }
}
