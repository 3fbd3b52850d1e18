//! Folder of prebuilt libraries. Tests and the stress binary load several builds of one plugin from this folder. Cargo writes a plugin's
//! library to the same path, regardless of features, so each build is copied to a folder with its label. Cargo would also recompile all
//! builds except the most recent one, so a copy is reused as long as its inputs are unchanged.
//!
//! Variants that differ in features may be packages of one workspace, and share one cargo build: [`Variants::get_all`]. Variants that
//! differ in run-time switches need no build: [`Variants::switched`].

use crate::error::{BuildError, failed};
use crate::find::target_dir;
use crate::origin::{self, Digests};
use crate::report::Artifact;
use crate::request::BuildRequest;
use crate::running::build;
use crate::switches::{self, Switches};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folder of copies, with a subfolder per label.
///
/// # Examples
/// ```no_run
/// use std::path::{Path, PathBuf};
///
/// use alcedo_build::{BuildRequest, Variants};
///
/// let variants = Variants::new(PathBuf::from("target/variants"));
/// let request = BuildRequest::new(Path::new("plugins/Cargo.toml")).package("spinner").feature("fast");
/// let library = variants.get(&request, "fast")?;
/// println!("{}", library.display());
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Variants {
    dir: PathBuf,
}

/// Package of a workspace, with the subfolder and the file name for the copy of its library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Package name.
    pub package: String,
    /// Name of the subfolder for the copy.
    pub label: String,
    /// File name of the copy.
    pub file: String,
}

impl Variants {
    /// Creates a store in `dir`. The folder is created on first use.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Builds `request` if its inputs have changed, and copies each library to `dir/label`. Returns the copy of the requested package.
    /// Returns the copy of the first library if no package was selected.
    ///
    /// Builds by other threads and processes with the same target folder wait for each other, to avoid copying each other's library. A copy
    /// that is up to date is not written again, so it may stay loaded and watched.
    ///
    /// Each call runs cargo if the build script of a local package lists no inputs, because each file of the package is then an input.
    pub fn get(&self, request: &BuildRequest<'_>, label: &str) -> Result<PathBuf, BuildError> {
        let _lock = lock(&target_dir(request)?, LOCK)?;
        let inputs = origin::inputs(request);
        if let Some(library) = self.unchanged(label, &inputs, &mut Digests::new(request)) {
            return Ok(library);
        }
        let folder = self.renew(label)?;
        let start = SystemTime::now();
        let outcome = build(request)?;
        let is_requested = |artifact: &&Artifact| request.package_name().is_none_or(|name| artifact.package == name);
        let first = outcome.artifacts.iter().find(is_requested).or(outcome.artifacts.first());
        for artifact in &outcome.artifacts {
            keep(&artifact.path, &copy_path(&folder, artifact))?;
        }
        let Some(first) = first else { return Err(BuildError::NoLibrary { what: request.what() }) };
        let copy = copy_path(&folder, first);
        let libraries: Vec<_> = outcome.artifacts.iter().map(|artifact| artifact.path.as_path()).collect();
        if let Some(variables) = &outcome.variables {
            // Ignores the error. Without a note, the next call only builds again.
            let (manifest, digests) = (request.manifest(), &mut Digests::of_build(request, start));
            let _ = origin::note(&self.note(label), &inputs, &copy, &libraries, &manifest, variables, digests);
        }
        Ok(copy)
    }

    /// Builds all packages with changed inputs in one cargo build, and copies each library to its path. Returns the copies in the order of
    /// `members`. `request` must not select a package.
    ///
    /// # Errors
    ///
    /// Fails as [`Variants::get`] does. If a package does not compile, no copy changes, and the next call builds all these packages again.
    pub fn get_all(&self, request: &BuildRequest<'_>, members: &[Member]) -> Result<Vec<PathBuf>, BuildError> {
        let _lock = lock(&target_dir(request)?, LOCK)?;
        let inputs = origin::inputs(request);
        let inputs = |member: &Member| format!("{} of {inputs}", member.package);
        let mut digests = Digests::new(request);
        let is_stale = |member: &&Member| self.unchanged(&member.label, &inputs(member), &mut digests).is_none();
        let stale: Vec<_> = members.iter().filter(is_stale).collect();
        if !stale.is_empty() {
            let folders: Vec<_> = stale.iter().map(|member| self.renew(&member.label)).collect::<Result<_, _>>()?;
            let chosen = stale.iter().fold(request.clone(), |request, member| request.package(&member.package));
            let start = SystemTime::now();
            let outcome = build(&chosen)?;
            let (manifest, mut digests) = (request.manifest(), Digests::of_build(request, start));
            for (member, folder) in stale.iter().zip(folders) {
                let artifact = outcome.artifacts.iter().find(|artifact| artifact.package == member.package);
                let no_library = || BuildError::NoLibrary { what: format!("package `{}`", member.package) };
                let (library, copy) = (&artifact.ok_or_else(no_library)?.path, folder.join(&member.file));
                keep(library, &copy)?;
                if let Some(variables) = &outcome.variables {
                    let (note, inputs) = (self.note(&member.label), inputs(member));
                    let _ = origin::note(&note, &inputs, &copy, &[library], &manifest, variables, &mut digests);
                }
            }
        }
        Ok(members.iter().map(|member| self.dir.join(&member.label).join(&member.file)).collect())
    }

    /// Copies a library to `dir/label` with the specified switches, and seals the copy. Returns the path of the copy. A copy that is up to
    /// date is not touched.
    ///
    /// # Errors
    ///
    /// Returns [`BuildError::NoSwitch`] for a switch that the library does not have, or [`BuildError::Store`].
    pub fn switched(&self, library: &Path, label: &str, switches: &Switches<'_>) -> Result<PathBuf, BuildError> {
        let _lock = lock(&self.dir, LOCK)?;
        let inputs = format!("{switches:?}\n");
        if let Some(copy) = self.unchanged(label, &inputs, &mut Digests::default()) {
            return Ok(copy);
        }
        let bytes = switches::switched(library, switches)?;
        let copy = self.renew(label)?.join(library.file_name().unwrap_or_default());
        keep_bytes(&bytes, library, &copy)?;
        let (files, digests) = (BTreeSet::from([library.to_owned()]), &mut Digests::default());
        let _ = origin::note_files(&self.note(label), &inputs, &copy, &files, digests);
        Ok(copy)
    }

    fn note(&self, label: &str) -> PathBuf {
        self.dir.join(label).join("made-of")
    }

    /// Returns the copy of this label. Returns `None` if the inputs of the copy have changed.
    fn unchanged(&self, label: &str, inputs: &str, digests: &mut Digests) -> Option<PathBuf> {
        // Seals a copy that has no seal. A copy with an invalid seal is outdated.
        let is_sealed = |library: &PathBuf| alcedo_sys::seal_file(library).is_ok();
        origin::unchanged(&self.note(label), inputs, digests).filter(is_sealed)
    }

    /// Deletes the note of a label before the copy of this label changes. Returns the folder of the label.
    fn renew(&self, label: &str) -> Result<PathBuf, BuildError> {
        let folder = self.dir.join(label);
        let _ = fs::remove_file(self.note(label));
        fs::create_dir_all(&folder).map_err(failed("create", &folder))?;
        Ok(folder)
    }
}

/// Lock file in the shared target folder of the builds. For copies with switches, the lock file is in the folder of the copies.
const LOCK: &str = ".alcedo-variants.lock";

/// Locks a file in a folder against other threads and processes. The lock is released when the file is closed, or at the end of the
/// process.
pub(crate) fn lock(folder: &Path, name: &str) -> Result<File, BuildError> {
    fs::create_dir_all(folder).map_err(failed("create", folder))?;
    let path = folder.join(name);
    let options = File::options().create(true).truncate(false).write(true).open(&path);
    let file = options.map_err(failed("create", &path))?;
    file.lock().map_err(failed("lock", &path))?;
    Ok(file)
}

fn copy_path(folder: &Path, artifact: &Artifact) -> PathBuf {
    folder.join(artifact.path.file_name().unwrap_or_default())
}

fn keep(library: &Path, copy: &Path) -> Result<(), BuildError> {
    keep_bytes(&fs::read(library).map_err(failed("copy", library))?, library, copy)
}

/// Writes sealed bytes to a new file, and renames this file to the path of the copy. A host that has mapped the old copy is not affected.
fn keep_bytes(content: &[u8], library: &Path, copy: &Path) -> Result<(), BuildError> {
    let temporary = copy.with_extension(format!("{}.new", std::process::id()));
    let write = || {
        fs::write(&temporary, content)?;
        alcedo_sys::seal_file(&temporary)?;
        if fs::read(copy).is_ok_and(|old| fs::read(&temporary).is_ok_and(|new| old == new)) {
            return fs::remove_file(&temporary);
        }
        fs::set_permissions(&temporary, fs::metadata(library)?.permissions())?;
        fs::rename(&temporary, copy)
    };
    // Removes the incomplete file after an error, for example on a full disk.
    write().inspect_err(|_| drop(fs::remove_file(&temporary))).map_err(failed("copy", copy))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::keep_bytes;

    #[test]
    fn a_failed_copy_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let [library, copy] = ["library.so", "copy.so"].map(|name| dir.path().join(name));
        fs::write(&library, "library").unwrap();
        fs::create_dir(&copy).unwrap();
        keep_bytes(b"library", &library, &copy).unwrap_err();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
