//! New plugins and packages of scripts: finds modules that have appeared during the session, and reports each of them once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::targets::Target;
use super::{Event, Session};
use crate::described::read_text;
use crate::scripts;
use crate::world::World;

/// Plugins and packages of scripts that have appeared during the session, and that no target contains.
#[derive(Debug)]
pub(super) struct NewModules {
    /// Changed manifests since the last successful search for targets.
    unchecked: BTreeSet<PathBuf>,
    /// Manifests of plugins, and folders of packages. Contains modules that were reported, or that the targets omitted at the start of the
    /// session.
    known: BTreeSet<PathBuf>,
}

impl NewModules {
    pub(super) fn new(targets: &[Target]) -> Self {
        Self { unchecked: BTreeSet::new(), known: targets.iter().flat_map(Target::left_out).collect() }
    }

    fn add(&mut self, changed: &[PathBuf]) {
        self.unchecked.extend(changed.iter().filter(|path| path.ends_with("Cargo.toml")).cloned());
    }

    /// Removes the files of new packages from `changed`. Returns the folders of these packages, each only once.
    fn take_packages(&mut self, changed: &mut Vec<PathBuf>, targets: &[Target]) -> Vec<PathBuf> {
        let is_read = |path: &Path| targets.iter().any(|target| target.reads(path));
        let mut packages = BTreeSet::new();
        changed.retain(|path| {
            let package = scripts::package_of(path).filter(|_| !is_read(path));
            let is_kept = package.is_none();
            packages.extend(package);
            is_kept
        });
        packages.into_iter().filter(|package| self.known.insert(package.clone())).collect()
    }

    /// Returns the folders of new plugins, each only once.
    fn take(&mut self, targets: &[Target]) -> Vec<PathBuf> {
        let mut manifests = std::mem::take(&mut self.unchecked);
        manifests.retain(|path| is_plugin(path) && !targets.iter().any(|target| target.contains(path)));
        manifests.retain(|path| self.known.insert(path.clone()));
        manifests.iter().filter_map(|path| path.parent()).map(Path::to_owned).collect()
    }
}

/// Returns true if the manifest specifies a library that a host can load.
fn is_plugin(manifest: &Path) -> bool {
    let manifest = read_text(manifest).ok().and_then(|text| text.parse::<toml::Table>().ok());
    let kinds = manifest.as_ref().and_then(|manifest| manifest.get("lib")?.get("crate-type")?.as_array());
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind.as_str() == Some("cdylib")))
}

impl<W: World> Session<W> {
    /// Reports new plugins and packages after a search for targets. If the search has failed, reports new plugins after the next search.
    /// Removes the files of new packages from `changed`, because no build reads these files.
    pub(super) fn report_new_modules(&mut self, changed: &mut Vec<PathBuf>) {
        let text = |folder: PathBuf| folder.to_string_lossy().into_owned();
        let packages = self.new_modules.take_packages(changed, &self.targets);
        self.events.extend(packages.into_iter().map(|folder| Event::NewPackage { folder: text(folder) }));
        self.new_modules.add(changed);
        if !self.must_find {
            let plugins = self.new_modules.take(&self.targets);
            self.events.extend(plugins.into_iter().map(|folder| Event::NewPlugin { folder: text(folder) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::NewModules;
    use crate::session::targets;

    #[test]
    fn a_plugin_that_no_target_contains_is_new_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let write = |name: &str, kind: &str| {
            let folder = root.join(name);
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::write(folder.join("src/lib.rs"), "").unwrap();
            let manifest = format!("[package]\nname = {name:?}\nedition = \"2024\"\n[lib]\ncrate-type = [{kind:?}]\n");
            fs::write(folder.join("Cargo.toml"), manifest).unwrap();
            folder.join("Cargo.toml")
        };
        let built = write("built", "cdylib");
        let targets = targets::find(None, &[root.join("built")]).unwrap();
        let mut plugins = NewModules::new(&targets);
        let changed = [built, write("new", "cdylib"), write("library", "rlib"), root.join("gone/Cargo.toml")];
        plugins.add(&changed);
        assert_eq!(plugins.take(&targets), [root.join("new")]);
        plugins.add(&changed);
        assert!(plugins.take(&targets).is_empty());
    }

    #[test]
    fn a_package_that_no_target_contains_is_new_once() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let files = ["Tale/Hero.uc", "Saga/Knight.uc", "Saga/Classes/Elf.uc", "notes.txt"].map(|file| root.join(file));
        for file in &files {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let targets = targets::find(None, &[root.join("Tale")]).unwrap();
        let mut packages = NewModules::new(&targets);
        for expected in [vec![root.join("Saga")], Vec::new()] {
            let mut changed = files.to_vec();
            assert_eq!(packages.take_packages(&mut changed, &targets), expected);
            assert_eq!(changed, [files[0].clone(), files[3].clone()]);
        }
    }
}
