//! A folder of prebuilt libraries, for tests and the stress binary, which load several builds of one plugin.
//! Cargo has one place for a plugin's library whatever its features, so each build is copied away under a label. For the same
//! reason cargo compiles anew whatever was built before the last one; so a copy is taken as it is while all that it was made
//! of is as it was.

use crate::error::BuildError;
use crate::find::target_dir;
use crate::origin;
use crate::report::Artifact;
use crate::request::BuildRequest;
use crate::running::build;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A folder of copies, one folder per label.
#[derive(Debug, Clone)]
pub struct Variants {
    dir: PathBuf,
}

impl Variants {
    /// The store in `dir`, which is made when first needed.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Builds `request`, unless nothing has changed since, and keeps every library of it in `dir/label`. Returns the copy of
    /// the package asked for, or of the first library where no package was named.
    ///
    /// Threads and processes that build into the same target folder take turns, or one would copy the library of
    /// another. A copy that is already right is left alone, so that it may stay loaded and watched.
    pub fn get(&self, request: &BuildRequest<'_>, label: &str) -> Result<PathBuf, BuildError> {
        let _turn = take_turn(&target_dir(request)?)?;
        let folder = self.dir.join(label);
        let note = folder.join("made-of");
        let wish = origin::wish(request);
        // The seal is of no source, but of the host's making.
        let is_sealed = |library: &PathBuf| alcedo_sys::seal_file(library).is_ok();
        if let Some(library) = origin::unchanged(&note, &wish).filter(is_sealed) {
            return Ok(library);
        }
        // An old note must not vouch for what is copied now.
        let _ = fs::remove_file(&note);
        let outcome = build(request)?;
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;

        let asked_for = |artifact: &&Artifact| request.package_name().is_none_or(|name| artifact.package == name);
        let first = outcome.artifacts.iter().find(asked_for).or(outcome.artifacts.first());
        for artifact in &outcome.artifacts {
            let copy = place(&folder, artifact);
            keep(&artifact.path, &copy).map_err(failed("copy", &copy))?;
        }
        let Some(first) = first else { return Err(BuildError::NoLibrary { what: request.what() }) };
        let copy = place(&folder, first);
        let libraries: Vec<_> = outcome.artifacts.iter().map(|artifact| artifact.path.as_path()).collect();
        // Without a note the next one builds again, which is no harm.
        let _ = origin::note(&note, &wish, &copy, &libraries, &request.manifest());
        Ok(copy)
    }
}

/// The lock lies with the target folder, not with the copies: the target folder is what the builds share.
/// Closing the file gives the lock back, also when the process dies.
fn take_turn(target: &Path) -> Result<File, BuildError> {
    fs::create_dir_all(target).map_err(failed("create", target))?;
    let path = target.join(".alcedo-variants.lock");
    let options = File::options().create(true).truncate(false).write(true).open(&path);
    let file = options.map_err(failed("create", &path))?;
    file.lock().map_err(failed("lock", &path))?;
    Ok(file)
}

fn place(folder: &Path, artifact: &Artifact) -> PathBuf {
    folder.join(artifact.path.file_name().unwrap_or_default())
}

/// Copies beside and renames, so that a host that has the old copy mapped keeps it whole.
fn keep(library: &Path, copy: &Path) -> io::Result<()> {
    let content = fs::read(library)?;
    if fs::read(copy).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let beside = copy.with_extension(format!("{}.new", std::process::id()));
    fs::write(&beside, content)?;
    fs::set_permissions(&beside, fs::metadata(library)?.permissions())?;
    fs::rename(&beside, copy)
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
    move |source| BuildError::Store { doing, path: path.to_owned(), source }
}
