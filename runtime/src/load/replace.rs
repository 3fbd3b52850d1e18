//! Selects the modules that a reload of changed modules replaces. These are the modules whose build or C library has changed, and their
//! direct and indirect users. Compares only names and digests. The caller compares the C libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Name of a module, with the digest of its build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Build<D> {
    pub name: String,
    /// Digest of the build. Equal files have equal digests.
    pub digest: D,
    pub is_scripts: bool,
    /// Set if a C library of this loaded module has changed.
    pub has_changed_library: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    Changed,
    TextChanged,
    LibraryChanged,
    Added,
    Removed,
    PackageRemoved,
    /// The module uses the module with this name, and the used module is replaced.
    Uses(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("its library has changed"),
            Self::LibraryChanged => f.write_str("a C library that it calls has changed"),
            Self::Added => f.write_str("it is new"),
            Self::TextChanged => f.write_str("its text has changed"),
            Self::Removed => f.write_str("its library was taken out"),
            Self::PackageRemoved => f.write_str("the package of scripts was taken out"),
            Self::Uses(module) => write!(f, "it uses {module}"),
        }
    }
}

/// Returns the modules that the reload replaces, with the reasons. Each pair in `uses` contains the names of a user and of the used module.
/// The pairs also include uses that no manifest lists.
pub(crate) fn replaced<D: PartialEq>(
    old: &[Build<D>],
    new: &[Build<D>],
    uses: &BTreeSet<(String, String)>,
) -> BTreeMap<String, Why> {
    let mut replaced = BTreeMap::new();
    for build in new {
        match old.iter().find(|other| other.name == build.name) {
            None => drop(replaced.insert(build.name.clone(), Why::Added)),
            Some(other) if other.digest != build.digest => {
                let why = if build.is_scripts { Why::TextChanged } else { Why::Changed };
                replaced.insert(build.name.clone(), why);
            }
            Some(other) if other.has_changed_library => {
                replaced.insert(build.name.clone(), Why::LibraryChanged);
            }
            Some(_) => {}
        }
    }
    for build in old.iter().filter(|build| new.iter().all(|other| other.name != build.name)) {
        let why = if build.is_scripts { Why::PackageRemoved } else { Why::Removed };
        replaced.insert(build.name.clone(), why);
    }
    // Each round adds at least one module, until no further module uses a replaced module. One round per module is therefore sufficient.
    for _ in old {
        let is_next = |(user, used): &&(String, String)| !replaced.contains_key(user) && replaced.contains_key(used);
        let next: Vec<_> = uses.iter().filter(is_next).cloned().collect();
        for (user, used) in next {
            replaced.entry(user).or_insert(Why::Uses(used));
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::{Build, replaced};

    /// Compares the result of [`replaced`] with `expected`. In the arguments, `a1 b1` are builds, `a1!` has a changed C library, and `b>a`
    /// means that `b` uses `a`.
    fn check(old: &str, new: &str, uses: &str, expected: &str) {
        let builds = |text: &str| {
            let build = |word: &str| {
                let (word, has_changed_library) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
                let (name, digest) = word.split_at(1);
                // In these tests, modules with upper-case names are script packages.
                let is_scripts = name.chars().all(char::is_uppercase);
                Build { name: name.to_owned(), digest: digest.to_owned(), is_scripts, has_changed_library }
            };
            text.split_whitespace().map(build).collect::<Vec<_>>()
        };
        let pair = |word: &str| {
            let (user, used) = word.split_once('>').expect("two modules");
            (user.to_owned(), used.to_owned())
        };
        let found = replaced(&builds(old), &builds(new), &uses.split_whitespace().map(pair).collect());
        let found: Vec<_> = found.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        assert_eq!(found.join(", "), expected, "{old} | {new} | {uses}");
    }

    #[test]
    fn identical_builds_replace_nothing() {
        check("", "", "", "");
        check("a1 b1", "b1 a1", "b>a", "");
    }

    #[test]
    fn a_module_is_replaced_with_its_c_library() {
        check("a1! b1", "a1 b1", "b>a", "a: a C library that it calls has changed, b: it uses a");
        check("a1!", "a2", "", "a: its library has changed");
    }

    #[test]
    fn another_build_is_replaced_and_its_dependencies_stay() {
        check("a1 b1", "a1 b2", "b>a", "b: its library has changed");
        check(
            "a1 B1 C1",
            "a1 B2",
            "a>B",
            "B: its text has changed, C: the package of scripts was taken out, a: it uses B",
        );
        check("a1 b1 c1", "a1 b2 c1", "", "b: its library has changed");
    }

    #[test]
    fn all_dependents_of_a_module_are_replaced_with_it() {
        check("a1 b1", "a2 b1", "b>a", "a: its library has changed, b: it uses a");
        check("a1 b1 c1 d1", "a2 b1 c1 d1", "b>a c>b", "a: its library has changed, b: it uses a, c: it uses b");
        check("a1 b1 c1", "a2 b1 c1", "c>b b>a a>c", "a: its library has changed, b: it uses a, c: it uses b");
    }

    #[test]
    fn modules_are_added_and_removed() {
        check("a1", "a1 b1", "", "b: it is new");
        check("a1 b1", "a1", "", "b: its library was taken out");
        check("a1 b1", "b1", "b>a", "a: its library was taken out, b: it uses a");
    }
}
