//! Checks the names of new projects. One name is used for a package, a folder, a crate, a module and class names. Names must therefore
//! satisfy the rules of cargo and the rules for module names. Each error suggests a valid name.

use std::collections::BTreeSet;
use std::path::Path;

use alcedo_abi::names::LONGEST_MODULE_NAME;
use alcedo_glue::is_keyword;
use anyhow::{anyhow, bail};

use crate::error::Error;
use crate::figures::camel;

const RULE: &str =
    "it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes";

/// Maximum length of a name. A module name may be longer, so that suffixes can be added (`…-host`, `…-patrol`).
const LONGEST: usize = LONGEST_MODULE_NAME - 16;

const OF_RUST: &[&str] = &["alloc", "core", "proc_macro", "std", "test"];

/// Names of folders that cargo creates next to programs, and the folder that the search for plugins skips.
const OF_CARGO: &[&str] = &["build", "deps", "examples", "incremental", "target"];

const OF_DEPENDENCIES: &[&str] = &["alcedo", "engine_glue", "serde", "tracing", "tracing_subscriber"];

/// Direct dependencies of new projects. All further crates of a project are dependencies of these packages. The lock file of the published
/// program contains only the last two packages.
const ROOTS: [&str; 4] = ["alcedo", "alcedo-plugin-api", "alcedo-engine", "tracing-subscriber"];

/// A name that is valid for packages, folders, crates, modules and classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    /// Parses a name for a `kind`.
    ///
    /// # Errors
    /// Fails if the name is invalid. The error contains a valid name, if one can be derived.
    pub(crate) fn parse(kind: &str, text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            bail!("the name is empty: specify one, as in `alcedo new workspace my-game`");
        }
        if text.contains(['/', '\\']) || text == "." || text == ".." {
            let last = Path::new(text).file_name().map_or("NAME".into(), |last| last.to_string_lossy().into_owned());
            bail!("`{text}` is a path: change to its parent folder, and run `alcedo new {kind} {last}` there");
        }
        if let Some(what) = invalid_part(text) {
            let near = nearest(text).filter(|near| Self::parse(kind, near).is_ok());
            let instead = near.map(|near| format!("; `{near}` would do")).unwrap_or_default();
            bail!("`{text}` cannot be the name of a module, because of {what}: {RULE}{instead}");
        }
        let krate = text.replace('-', "_");
        let reserved = |owner| {
            let such_as = such_as(format!("my-{text}"));
            Err(anyhow!("`{text}` is {owner}, and a crate cannot have that name: choose another{such_as}"))
        };
        match krate.as_str() {
            word if is_keyword(word) => reserved("a keyword of the Rust language"),
            word if OF_RUST.contains(&word) => reserved("a crate of the Rust distribution"),
            word if OF_CARGO.contains(&word) => reserved("a folder that cargo keeps its own files in"),
            word if OF_DEPENDENCIES.contains(&word) || word.starts_with("alcedo_") => {
                reserved("a crate that it would depend on")
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// Returns the name of the package and of the folder.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the name of the crate and of the module.
    pub(crate) fn module(&self) -> String {
        self.0.replace('-', "_")
    }

    /// Returns the name in camel case, as the prefix of class names.
    pub(crate) fn camel(&self) -> String {
        camel(&self.0)
    }

    /// Returns this name followed by a suffix.
    pub(crate) fn with(&self, suffix: &str) -> Self {
        Self(format!("{}-{suffix}", self.0))
    }

    /// Checks that the modules and classes of this name differ from those of all packages in the workspace. Templates name classes after
    /// the package, so names that differ only in `-` and `_` result in equal classes.
    pub(crate) fn differs_from(&self, packages: &[String]) -> Result<(), Error> {
        let (module, class) = (self.module(), self.camel());
        match packages.iter().find(|package| Self((*package).clone()).camel() == class) {
            None => Ok(()),
            Some(package) if package.replace('-', "_") == module => Err(anyhow!(
                "`{}` would be the module `{module}`, which package `{package}` of this workspace already is: take another name",
                self.0
            )),
            Some(package) => Err(anyhow!(
                "the classes of `{}` would be `{class}…`, as those of package `{package}` of this workspace: take another name",
                self.0
            )),
        }
    }

    /// Checks that no dependency in a lock file has this name, because `cargo test -p NAME` would be ambiguous. Ignores crates that neither
    /// [`ROOTS`] nor `members` use, because the lock file of a new project is a copy of Alcedo's lock file.
    pub(crate) fn differs_from_locked(&self, lock: &str, members: &[String]) -> Result<(), Error> {
        let lock: toml::Table = lock.parse().unwrap_or_default();
        let locked: Vec<_> = lock.get("package").and_then(toml::Value::as_array).into_iter().flatten().collect();
        let has_name =
            |package: &toml::Value, name: &str| package.get("name").and_then(toml::Value::as_str) == Some(name);
        let mut pending: Vec<_> = ROOTS.into_iter().chain(members.iter().map(String::as_str)).collect();
        let mut used = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if used.insert(name) {
                let packages = locked.iter().filter(|package| has_name(package, name));
                let dependencies = packages.filter_map(|package| package.get("dependencies")?.as_array()).flatten();
                // Removes the version that follows a name with several versions.
                pending.extend(dependencies.filter_map(|dependency| dependency.as_str()?.split(' ').next()));
            }
        }
        // Skips members of the workspace, whose entries have no `source`. The lock file may still contain a member that was deleted.
        let is_locked = |package: &&toml::Value| package.get("source").is_some() && has_name(package, self.text());
        if used.contains(self.text()) && locked.iter().any(is_locked) {
            bail!(
                "`{0}` is also a crate on which the project depends, so `cargo test -p {0}` would be ambiguous: take another name{1}",
                self.0,
                such_as(format!("{}-plugin", self.0))
            );
        }
        Ok(())
    }
}

/// Returns a description of the first part of `text` that a module name must not contain.
fn invalid_part(text: &str) -> Option<String> {
    let is_fine = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    if let Some(letter) = text.chars().find(|letter| !is_fine(*letter)) {
        return Some(format!("{letter:?}"));
    }
    if !text.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Some("how it begins".into());
    }
    (text.len() > LONGEST).then(|| format!("its {} bytes", text.len()))
}

/// Returns the end of a sentence that suggests a name. Returns an empty string if the name is invalid.
fn such_as(name: String) -> String {
    if invalid_part(&name).is_none() { format!(", such as `{name}`") } else { String::new() }
}

/// Suggests a valid name that is similar to a string, by removing or replacing its invalid parts. Returns `None` if the result is not valid
/// either.
fn nearest(text: &str) -> Option<String> {
    let mut near = String::new();
    let mut was_lower = false;
    for letter in text.chars() {
        if letter.is_ascii_uppercase() && was_lower {
            near.push('-');
        }
        was_lower = letter.is_ascii_lowercase();
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_' => near.push(letter),
            _ if near.ends_with('-') => {}
            _ => near.push('-'),
        }
    }
    let near = near.trim_matches(['-', '_']).trim_start_matches(|first: char| first.is_ascii_digit());
    let near = near.trim_start_matches(['-', '_']);
    (invalid_part(near).is_none() && !near.is_empty()).then(|| near.to_owned())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use alcedo_abi::names::is_module_name;

    use super::{LONGEST, Name};

    fn check(text: &str, expected: Expect) {
        let found = match Name::parse("plugin", text) {
            Ok(name) => format!("{} {} {}", name.text(), name.module(), name.camel()),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&found);
    }

    #[test]
    fn a_name_is_good_for_a_package_a_module_and_a_class() {
        check("x", expect!["x x X"]);
        check("magic-cube2", expect!["magic-cube2 magic_cube2 MagicCube2"]);
        check("magic_cube", expect!["magic_cube magic_cube MagicCube"]);
        let longest = Name::parse("workspace", &"a".repeat(LONGEST)).unwrap();
        for name in [longest.with("patrol"), Name::parse("plugin", "a--b_-9-").unwrap()] {
            assert!(is_module_name(&name.module()), "{name:?}");
        }
    }

    #[test]
    fn invalid_names_are_rejected_with_a_hint() {
        check("", expect!["the name is empty: specify one, as in `alcedo new workspace my-game`"]);
        check("a/b", expect!["`a/b` is a path: change to its parent folder, and run `alcedo new plugin b` there"]);
        check("..", expect!["`..` is a path: change to its parent folder, and run `alcedo new plugin NAME` there"]);
        check(
            "MagicCube",
            expect![
                "`MagicCube` cannot be the name of a module, because of 'M': it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes; `magic-cube` would do"
            ],
        );
        check(
            "2 cubes",
            expect![
                "`2 cubes` cannot be the name of a module, because of ' ': it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes; `cubes` would do"
            ],
        );
        check(
            "-x",
            expect![
                "`-x` cannot be the name of a module, because of how it begins: it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes; `x` would do"
            ],
        );
        check(
            "é",
            expect![
                "`é` cannot be the name of a module, because of 'é': it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes"
            ],
        );
        check(
            &"a".repeat(49),
            expect![[
                r#"`aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` cannot be the name of a module, because of its 49 bytes: it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes"#
            ]],
        );
        check(
            "async",
            expect![
                "`async` is a keyword of the Rust language, and a crate cannot have that name: choose another, such as `my-async`"
            ],
        );
        check(
            "test",
            expect![
                "`test` is a crate of the Rust distribution, and a crate cannot have that name: choose another, such as `my-test`"
            ],
        );
        let long = format!("alcedo-{}", "a".repeat(LONGEST - 7));
        let error = Name::parse("plugin", &long).unwrap_err().to_string();
        assert!(error.ends_with("cannot have that name: choose another"), "{error}");
        // The nearest name is reserved, so the message contains no name.
        let error = Name::parse("plugin", "Test").unwrap_err().to_string();
        assert!(error.ends_with("not longer than 48 bytes"), "{error}");
        check(
            "deps",
            expect![
                "`deps` is a folder that cargo keeps its own files in, and a crate cannot have that name: choose another, such as `my-deps`"
            ],
        );
        check(
            "target",
            expect![
                "`target` is a folder that cargo keeps its own files in, and a crate cannot have that name: choose another, such as `my-target`"
            ],
        );
        check(
            "alcedo",
            expect![
                "`alcedo` is a crate that it would depend on, and a crate cannot have that name: choose another, such as `my-alcedo`"
            ],
        );
        check(
            "engine-glue",
            expect![
                "`engine-glue` is a crate that it would depend on, and a crate cannot have that name: choose another, such as `my-engine-glue`"
            ],
        );
    }

    #[test]
    fn two_packages_of_a_workspace_are_never_one_module() {
        let name = Name::parse("plugin", "magic-cube").unwrap();
        assert!(name.differs_from(&["cube".into()]).is_ok());
        let same_class = expect![
            "the classes of `magic-cube` would be `MagicCube…`, as those of package `magic--cube` of this workspace: take another name"
        ];
        same_class.assert_eq(&name.differs_from(&["magic--cube".into()]).unwrap_err().to_string());
        expect!["`magic-cube` would be the module `magic_cube`, which package `magic_cube` of this workspace already is: take another name"]
            .assert_eq(&name.differs_from(&["magic_cube".into()]).unwrap_err().to_string());
    }

    #[test]
    fn a_package_and_a_dependency_have_different_names() {
        let check = |name: &str, lock: &str| {
            Name::parse("plugin", name).unwrap().differs_from_locked(lock, &["mine".to_owned()]).is_ok()
        };
        let package = |name: &str, rest: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\n{rest}\n");
        let of_registry = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
        let lock = |source: &str| {
            let roots =
                package("alcedo", "dependencies = [\"regex 1.0.0\"]") + &package("mine", "dependencies = [\"rand\"]");
            roots + &["regex", "rand", "tower"].map(|name| package(name, source)).concat()
        };
        assert_eq!(["regex", "rand", "tower"].map(|name| check(name, &lock(of_registry))), [false, false, true]);
        assert!(check("regex", &lock("")));
        let error = Name::parse("plugin", "regex").unwrap().differs_from_locked(&lock(of_registry), &[]);
        expect!["`regex` is also a crate on which the project depends, so `cargo test -p regex` would be ambiguous: take another name, such as `regex-plugin`"]
            .assert_eq(&error.unwrap_err().to_string());
    }
}
