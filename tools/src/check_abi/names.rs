//! Matches types and members of two builds by their current and earlier names.

use std::collections::BTreeSet;

use alcedo_glue::type_paths;
use alcedo_reflect::path::with_paths;
use alcedo_runtime::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEnum, DeclaredFunction, DeclaredInterface, DeclaredProperty,
    DeclaredStruct,
};

/// A type or member, matched by name between two builds.
pub(super) trait Entry {
    /// Path of a type, or name of a member.
    fn name(&self) -> &str;
    /// Earlier names of a member, separated by commas.
    fn was(&self) -> &str {
        ""
    }
}

/// A type with a base of the same kind.
pub(super) trait Derived: Entry {
    fn base(&self) -> &str;
}

macro_rules! entries {
    (types: $($ty:ty),*; members: $($member:ty),*; derived: $($derived:ty),*;) => {
        $(impl Entry for $ty {
            fn name(&self) -> &str {
                &self.path
            }
        })*
        $(impl Entry for $member {
            fn name(&self) -> &str {
                &self.name
            }

            fn was(&self) -> &str {
                self.meta.get("was").map_or("", String::as_str)
            }
        })*
        $(impl Derived for $derived {
            fn base(&self) -> &str {
                &self.base
            }
        })*
    };
}
entries! {
    types: DeclaredClass, DeclaredStruct, DeclaredEnum, DeclaredDelegate, DeclaredInterface;
    members: DeclaredProperty, DeclaredFunction;
    derived: DeclaredClass, DeclaredStruct;
}

/// Renamed types and enum entries: pairs of the old path and the new path.
pub(super) struct Redirects(Vec<(String, String)>);

impl Redirects {
    /// Returns the types and enum entries that were renamed between two builds. Also uses the earlier names that the old build declares,
    /// because undoing a rename restores an earlier name.
    pub(super) fn between(old: &Declared, new: &Declared) -> Self {
        let mut pairs = Vec::new();
        for (declared, is_undo) in [(new, false), (old, true)] {
            for (path, names) in &declared.earlier_names {
                let owner = path.rfind([':', '.']).map_or("", |at| &path[..=at]);
                for name in names.split(',') {
                    let earlier = format!("{owner}{}", name.trim());
                    pairs.push(if is_undo { (path.clone(), earlier) } else { (earlier, path.clone()) });
                }
            }
        }
        let known: BTreeSet<_> = type_paths(new).collect();
        pairs.retain(|(from, to)| from.contains(':') || (!known.contains(&**from) && known.contains(&**to)));
        Self(pairs)
    }

    /// Checks if the enum entry at `path` was renamed to `name`.
    pub(super) fn renames(&self, path: &str, name: &str) -> bool {
        self.0.iter().any(|(old, new)| old == path && new.rsplit(':').next() == Some(name))
    }

    /// Returns the entry in `others`, the list of the other build, that corresponds to `entry`. Prefers an entry with an equal name.
    /// Otherwise, returns a renamed entry whose name is not in `own`, the list that contains `entry`.
    pub(super) fn partner<'t, T: Entry>(&self, entry: &T, own: &[&T], others: &[&'t T]) -> Option<&'t T> {
        let same = others.iter().copied().find(|other| other.name() == entry.name());
        same.or_else(|| {
            let is_free = |other: &T| !own.iter().any(|known| known.name() == other.name());
            others.iter().copied().find(|other| is_free(other) && self.is_rename(entry, other))
        })
    }

    /// Checks if a rename connects two entries: one entry lists the name of the other entry as an earlier name, or the names differ only in
    /// the path of a renamed type.
    fn is_rename<T: Entry>(&self, one: &T, two: &T) -> bool {
        let lists = |was: &str, name: &str| was.split(',').any(|earlier| earlier.trim() == name);
        let (from, to) = (one.name(), two.name());
        let follows = |old: &str, new: &str| self.redirected_text(old) == new;
        lists(one.was(), to) || lists(two.was(), from) || follows(from, to) || follows(to, from)
    }

    /// Returns the path that a type has in the new build.
    pub(super) fn redirected<'p>(&'p self, path: &'p str) -> &'p str {
        self.0.iter().find(|(old, _)| old == path).map_or(path, |(_, new)| new.as_str())
    }

    /// Returns the text of a type or signature, in which the path of each renamed type is replaced by its path in the new build.
    pub(super) fn redirected_text(&self, text: &str) -> String {
        with_paths(text, |path| self.redirected(path).to_owned())
    }
}

/// Returns the structs of a build, with the earlier names of their fields. `Declared` stores these earlier names in a separate map.
pub(super) fn with_earlier_names(declared: &Declared) -> Vec<DeclaredStruct> {
    let mut structs = declared.structs.clone();
    for DeclaredStruct { path, fields, .. } in &mut structs {
        for field in fields {
            let names = declared.earlier_names.get(&format!("{path}:{}", field.name));
            field.meta.extend(names.map(|names| ("was".to_owned(), names.clone())));
        }
    }
    structs
}

/// Returns a type, followed by its bases that this build declares.
pub(super) fn chain<'t, T: Derived>(from: &'t T, all: &'t [T]) -> Vec<&'t T> {
    let (mut chain, mut last) = (vec![from], from);
    // Stops at a base that is already in the chain, because a damaged file may contain a cycle.
    while let Some(base) = all.iter().find(|found| found.name() == last.base())
        && chain.iter().all(|known| known.name() != base.name())
    {
        chain.push(base);
        last = base;
    }
    chain
}
