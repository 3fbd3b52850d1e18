//! Which modules a reload replaces when it is to replace no more than it must. Names and digests in, a decision out: a
//! module that is another build goes, and so does everything that was built on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A module as far as this decision goes: its name, and what distinguishes its builds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Build<D> {
    /// Its name.
    pub name: String,
    /// Equal for equal files.
    pub digest: D,
    /// Whether it is a package of scripts, and no library.
    pub is_scripts: bool,
}

/// Why a module is replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Why {
    /// Its library is another build.
    Changed,
    /// A text of the package of scripts is another.
    TextChanged,
    /// It was not loaded before.
    Added,
    /// Its library is not among the new ones.
    Removed,
    /// The package of scripts is not among the new ones.
    PackageRemoved,
    /// It uses this module, which is replaced.
    Uses(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("its library has changed"),
            Self::Added => f.write_str("it is new"),
            Self::TextChanged => f.write_str("its text has changed"),
            Self::Removed => f.write_str("its library was taken out"),
            Self::PackageRemoved => f.write_str("the package of scripts was taken out"),
            Self::Uses(module) => write!(f, "it uses {module}"),
        }
    }
}

/// The modules that are replaced, and why. `uses` are pairs of module names: the first uses something of the second, as
/// it is loaded now, whether its manifest says so or not.
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
            Some(_) => {}
        }
    }
    for build in old.iter().filter(|build| new.iter().all(|other| other.name != build.name)) {
        let why = if build.is_scripts { Why::PackageRemoved } else { Why::Removed };
        replaced.insert(build.name.clone(), why);
    }
    // As many rounds as there are modules are enough: each adds one at least, or none will.
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

    /// `a1 b1` are builds, `b>a` says that b uses a.
    fn check(old: &str, new: &str, uses: &str, expected: &str) {
        let builds = |text: &str| {
            let build = |word: &str| {
                let (name, digest) = word.split_at(1);
                // The names of packages are written large here.
                let is_scripts = name.chars().all(char::is_uppercase);
                Build { name: name.to_owned(), digest: digest.to_owned(), is_scripts }
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
    fn the_same_builds_replace_nothing() {
        check("", "", "", "");
        check("a1 b1", "b1 a1", "b>a", "");
    }

    #[test]
    fn another_build_goes_and_what_it_is_built_on_stays() {
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
    fn what_uses_a_module_goes_with_it_however_far() {
        check("a1 b1", "a2 b1", "b>a", "a: its library has changed, b: it uses a");
        check("a1 b1 c1 d1", "a2 b1 c1 d1", "b>a c>b", "a: its library has changed, b: it uses a, c: it uses b");
        check("a1 b1 c1", "a2 b1 c1", "c>b b>a a>c", "a: its library has changed, b: it uses a, c: it uses b");
    }

    #[test]
    fn modules_come_and_go() {
        check("a1", "a1 b1", "", "b: it is new");
        check("a1 b1", "a1", "", "b: its library was taken out");
        check("a1 b1", "b1", "b>a", "a: its library was taken out, b: it uses a");
    }
}
