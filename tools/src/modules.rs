//! Which modules a folder holds: packages of scripts, and crates of plugins, so that a command in a folder with both needs no other word.

use std::fs;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};

use alcedo_build::{BuildError, BuildRequest, build, find_plugins};
use alcedo_runtime::printable;

use crate::error::Error;
use crate::scripts;
use crate::telling::millis;

/// Packages that lie deeper below a folder are not looked for.
const DEPTH: usize = 4;

/// What was found in the places that a command was given.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Folders of packages of scripts.
    pub(crate) packages: Vec<PathBuf>,
    /// Libraries of plugins, which are files.
    pub(crate) libraries: Vec<PathBuf>,
    /// Folders of plugin crates, or of workspaces that hold some.
    pub(crate) crates: Vec<PathBuf>,
}

/// Looks into these places: a library, a package, a folder of plugin crates, or one that holds some of these.
///
/// # Errors
/// A place that holds none of them.
pub(crate) fn find(places: &[PathBuf]) -> Result<Found, Error> {
    let mut found = Found::default();
    for place in places {
        // One folder may be named in several ways.
        let Ok(whole) = place.canonicalize() else { return Err(Error::NoModules { path: place.clone() }) };
        if whole.is_file() {
            found.libraries.push(whole);
        } else if scripts::is_package(&whole) {
            add(&mut found.packages, [whole]);
        } else {
            let below = packages_below(&whole);
            let has_plugins = match find_plugins(std::slice::from_ref(&whole)) {
                _ if !whole.join("Cargo.toml").is_file() => false,
                Ok(_) => true,
                Err(BuildError::NoPlugins { .. }) => false,
                Err(error) => return Err(error.into()),
            };
            if below.is_empty() && !has_plugins {
                return Err(Error::NoModules { path: place.clone() });
            }
            add(&mut found.packages, below);
            if has_plugins {
                add(&mut found.crates, [whole]);
            }
        }
    }
    Ok(found)
}

fn add(list: &mut Vec<PathBuf>, more: impl IntoIterator<Item = PathBuf>) {
    for path in more {
        if !list.contains(&path) {
            list.push(path);
        }
    }
}

/// The folders of crates and of packages in and below these folders, as `alcedo dev` builds, loads and watches them. One in which nothing is
/// found stays, so that the reason is told.
pub(crate) fn folders(dirs: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for dir in dirs {
        let below = if scripts::is_package(dir) { Vec::new() } else { packages_below(dir) };
        if below.is_empty() || find_plugins(std::slice::from_ref(dir)).is_ok() {
            add(&mut found, [dir.clone()]);
        }
        add(&mut found, below);
    }
    found
}

/// The packages below a folder, in order of their paths. What cargo or an editor has made is left out.
pub(crate) fn packages_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    look(dir, DEPTH, &mut found);
    found.sort();
    found
}

fn look(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        // A link may lead back up.
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let (path, name) = (entry.path(), entry.file_name());
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        match scripts::is_package(&path) {
            true => found.push(path),
            false if depth > 1 => look(&path, depth - 1, found),
            false => {}
        }
    }
}

impl Found {
    /// The libraries, those of the crates included, which are built first.
    ///
    /// # Errors
    /// What cargo says against a crate.
    pub(crate) fn built(self) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
        let Self { packages, mut libraries, crates } = self;
        for dir in crates {
            let manifest = dir.join("Cargo.toml");
            let outcome = build(&BuildRequest::new(&manifest))?;
            if outcome.artifacts.iter().any(|artifact| !artifact.fresh) {
                let dir = dir.display().to_string();
                // Standard output is for the result.
                let _ = writeln!(stderr(), "plugins of {} built, in {}", printable(&dir), millis(outcome.millis));
            }
            add(&mut libraries, outcome.artifacts.into_iter().map(|artifact| artifact.path));
        }
        Ok((packages, libraries))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{find, packages_below};
    use crate::error::Error;

    #[test]
    fn packages_are_found_below_a_folder_and_what_tools_have_made_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        for package in ["scripts/Tale", "scripts/Saga/Classes", "target/debug/Old", ".git/Kept", "a/b/c/d/Deep"] {
            fs::create_dir_all(dir.path().join(package)).expect("made");
            fs::write(dir.path().join(package).join("A.uc"), "class A extends Object;").expect("written");
        }
        let expected = [dir.path().join("scripts/Saga"), dir.path().join("scripts/Tale")];
        assert_eq!(packages_below(dir.path()), expected);
        let found = find(&[dir.path().to_owned(), dir.path().join("scripts/Tale")]).expect("packages");
        assert_eq!((found.packages, found.crates.len(), found.libraries.len()), (expected.to_vec(), 0, 0));
    }

    #[test]
    fn a_folder_with_nothing_in_it_is_told() {
        let dir = tempfile::tempdir().expect("a folder");
        let told = find(&[dir.path().to_owned()]).expect_err("nothing is there");
        assert!(matches!(told, Error::NoModules { .. }) && told.to_string().contains(".uc"), "{told}");
    }
}
