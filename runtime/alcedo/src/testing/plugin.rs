//! Builds the libraries of the plugin under test. Each process builds the libraries once, and again after each edit to a copy of the
//! sources.
//!
//! The libraries and the edited copies of the sources are stored below `alcedo-tests` in cargo's build folder. No build overwrites a loaded
//! library. Test builds do not change the author's own libraries, because a running host may watch these libraries. Test builds and the
//! author's builds share the compiled dependencies. Locks ensure that only one thread or process builds at a time. A library is rebuilt
//! only if its sources or build options have changed.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, slice};

use alcedo_build::{BuildError, BuildRequest, PluginFolder, SourceCopy, Variants, metadata};

/// Contents of changed source files, by their paths in the plugin's folder.
pub(super) type Edits = BTreeMap<PathBuf, String>;

/// A plugin under test, with the options of its builds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Plugin {
    pub folder: PathBuf,
    pub package: String,
    pub features: Vec<String>,
    pub release: bool,
    /// Cargo's folder of intermediate files. `None` for the build folder of the package.
    pub build_dir: Option<PathBuf>,
    /// Folders of other plugins to load.
    pub others: Vec<PathBuf>,
}

/// Built libraries. The first library belongs to the plugin under test.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub libraries: Vec<PathBuf>,
    build_dir: PathBuf,
    /// Folder of the libraries that are built from edited copies of the sources.
    edits: PathBuf,
    /// Shared lock on the folder `edits`. While this process holds the lock, no other process deletes libraries in the folder.
    _in_use: Arc<File>,
}

impl Plugin {
    /// Returns the built libraries. The first call in this process builds the libraries.
    pub(super) fn built(&self) -> Result<Built, BuildError> {
        static BUILT: Mutex<BTreeMap<Plugin, Built>> = Mutex::new(BTreeMap::new());
        // Other threads wait here for the first build.
        let mut all = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = all.get(self) {
            return Ok(built.clone());
        }
        let built = self.build()?;
        all.insert(self.clone(), built.clone());
        Ok(built)
    }

    fn build(&self) -> Result<Built, BuildError> {
        let manifest = self.manifest();
        let build_dir = match &self.build_dir {
            Some(folder) => folder.clone(),
            None => {
                let metadata = metadata(&BuildRequest::new(&manifest))?;
                metadata.build_directory.unwrap_or(metadata.target_directory).into()
            }
        };
        let variants = Variants::new(root(&build_dir));
        let own = self.with_features(BuildRequest::new(&manifest));
        let mut libraries = vec![variants.get(&self.below(&build_dir, own), &self.label())?];
        for other in &self.others {
            for plugin in PluginFolder::of(&self.folder.join(other))?.plugins {
                let request = self.below(&build_dir, plugin.request());
                libraries.push(variants.get(&request, &self.labeled(&plugin.name))?);
            }
        }
        let edits = root(&build_dir).join("edits").join(self.label());
        match lock_edits(&edits, &libraries[0]) {
            Ok(in_use) => Ok(Built { libraries, build_dir, edits, _in_use: Arc::new(in_use) }),
            Err(source) => Err(BuildError::Store { doing: "lock", path: edits, source }),
        }
    }

    /// Builds the plugin with the edits `edits`. Returns the path of the built library. The author's files do not change.
    pub(super) fn edited(&self, built: &Built, edits: &Edits) -> Result<PathBuf, BuildError> {
        let copied = root(&built.build_dir).join("source").join(&self.package);
        let copy = SourceCopy::new(&self.manifest(), &copied, edits)?;
        let mut hasher = DefaultHasher::new();
        edits.hash(&mut hasher);
        let request = self.below(&built.build_dir, self.with_features(copy.request()));
        Variants::new(built.edits.clone()).get(&request, &format!("{:016x}", hasher.finish()))
    }

    fn manifest(&self) -> PathBuf {
        self.folder.join("Cargo.toml")
    }

    fn with_features<'a>(&'a self, request: BuildRequest<'a>) -> BuildRequest<'a> {
        let request = request.package(&self.package);
        self.features.iter().fold(request, |request, feature| request.feature(feature))
    }

    /// Redirects the output of a build to the folder `alcedo-tests`.
    fn below<'a>(&self, build_dir: &Path, request: BuildRequest<'a>) -> BuildRequest<'a> {
        let request = request.release(self.release).target_dir(root(build_dir).join("built"));
        request.env("CARGO_BUILD_BUILD_DIR", build_dir.display().to_string())
    }

    fn label(&self) -> String {
        self.labeled(&[slice::from_ref(&self.package), &self.features[..]].concat().join("+"))
    }

    fn labeled(&self, name: &str) -> String {
        if self.release { format!("{name}+release") } else { name.to_owned() }
    }
}

fn root(build_dir: &Path) -> PathBuf {
    build_dir.join("alcedo-tests")
}

/// Takes a shared lock on the folder `edits`, to prevent the deletion of the libraries in this folder. If no other process holds the lock,
/// first deletes libraries that are older than the last build of the plugin.
fn lock_edits(edits: &Path, own: &Path) -> io::Result<File> {
    fs::create_dir_all(edits)?;
    let in_use = File::options().create(true).truncate(false).write(true).open(edits.join(".in-use"))?;
    if in_use.try_lock().is_ok() {
        let built = |folder: &Path| fs::metadata(folder).and_then(|folder| folder.modified()).ok();
        let own = own.parent().and_then(built);
        for folder in fs::read_dir(edits)?.flatten().map(|entry| entry.path()) {
            if folder.is_dir() && built(&folder) < own {
                // Ignores errors, because a folder that is not deleted only uses disk space.
                let _ = fs::remove_dir_all(folder);
            }
        }
        in_use.unlock()?;
    }
    in_use.lock_shared()?;
    Ok(in_use)
}
