//! Copies one package to a fixed path, so that the copy can be edited. Cargo compiles edits of the copy incrementally, and the author's
//! files never change.
//!
//! The copy has a workspace root with everything that a package inherits: shared keys, profiles, patches, the lock file. Paths that leave
//! the package become absolute, so the copy is built with the author's dependencies. A file is written only if its content differs, because
//! cargo compares modification times. The name of the copied library contains a digest of the copy's folder. Without this digest, cargo
//! would regard the package and all its copies as equal. In a shared target folder, cargo would then use the library of one copy for
//! another copy.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{BuildError, failed};
use crate::find::{metadata, same};
use crate::request::BuildRequest;
use crate::variants::lock;

/// Name of a file with the last copied content of the author's lock file. Cargo changes the copy's own lock file, so a comparison with that
/// file would not show if the author's lock file has changed.
const LOCK_SOURCE: &str = ".Cargo.lock.source";

/// Copy of a package that callers may edit and build, even in the target folder of the original package. The library `spinner` is renamed,
/// for example to `spinner_1a2b3c4d`. This value holds a lock until it is dropped.
///
/// # Examples
/// ```no_run
/// use std::collections::BTreeMap;
/// use std::path::Path;
///
/// use alcedo_build::{SourceCopy, build};
///
/// let edits = BTreeMap::from([("src/lib.rs".into(), "// Another source.".to_owned())]);
/// let copy = SourceCopy::new(Path::new("plugins/spinner/Cargo.toml"), Path::new("target/edited"), &edits)?;
/// build(&copy.request().target_dir("target"))?;
/// # Ok::<(), alcedo_build::BuildError>(())
/// ```
#[derive(Debug)]
pub struct SourceCopy {
    manifest: PathBuf,
    /// Folder of the author's package.
    source: PathBuf,
    _lock: File,
}

impl SourceCopy {
    /// Copies the package of `manifest` below `dir`, without cargo's build folders and hidden files. `edits` contains files to replace or
    /// add, by their paths in the package. An earlier copy in `dir` is updated. Waits until no other thread or process holds a `SourceCopy`
    /// in `dir`.
    ///
    /// # Errors
    /// Returns [`BuildError::Metadata`] if cargo cannot read the manifest, or if the manifest has no package. Returns [`BuildError::Store`]
    /// if a file cannot be read or written, or if `dir` contains the package or the root of its workspace. Also returns
    /// [`BuildError::Store`] if the path of an edit is hidden, absolute, or contains `..`.
    pub fn new(manifest: &Path, dir: &Path, edits: &BTreeMap<PathBuf, String>) -> Result<Self, BuildError> {
        if let Some(file) = edits.keys().find(|file| !is_copied(file)) {
            let hint = "a copy has only the visible files of its package: name one relative to the folder of its Cargo.toml, as `src/lib.rs`";
            return Err(refused("edit", file, hint));
        }
        let metadata = metadata(&BuildRequest::new(manifest))?;
        let no_package = || unread(manifest, "it is the manifest of a workspace: name that of a package".to_owned());
        let package = metadata.packages.iter().find(|package| same(package.manifest_path.as_std_path(), manifest));
        let from = package.and_then(|package| package.manifest_path.as_std_path().parent()).ok_or_else(no_package)?;
        let workspace = metadata.workspace_root.as_std_path();
        // Rejects a `dir` that contains the package or its workspace, because writing the copy would overwrite the author's manifests.
        if [from, workspace].into_iter().any(|folder| contains(dir, folder)) {
            let hint = "it contains the package or the root of its workspace: name a folder for the copy only, as `target/edited`";
            return Err(refused("copy a package into", dir, hint));
        }
        let lock = lock(dir, ".alcedo-copy.lock")?;
        // A member outside the workspace root is copied to `dir` under the name of its folder.
        let of_member = from.strip_prefix(workspace).unwrap_or(Path::new(from.file_name().unwrap_or_default()));
        let to = dir.join(of_member);
        if of_member != Path::new("") {
            let root = read_manifest(&workspace.join("Cargo.toml"), None)?;
            write(&dir.join("Cargo.toml"), root_manifest(root, workspace, of_member).as_bytes())?;
        }
        let manifest = to.join("Cargo.toml");
        let place = std::path::absolute(dir).map_err(failed("find", dir))?;
        let ending = format!("_{:08x}", xxh3_64(place.as_os_str().as_encoded_bytes()) >> 32);
        let mut own = read_manifest(&from.join("Cargo.toml"), edits.get(Path::new("Cargo.toml")))?;
        let mut edits = edits.clone();
        rename_script(&mut own, from, &ending, &mut edits);
        write(&manifest, package_manifest(own, from, &ending, of_member == Path::new("")).as_bytes())?;
        copy_files(from, &to, &edits, dir)?;
        copy_lock(workspace, dir)?;
        Ok(Self { manifest, source: from.to_owned(), _lock: lock })
    }

    /// Returns the folder of the package in the copy.
    pub fn package(&self) -> &Path {
        self.manifest.parent().unwrap_or(&self.manifest)
    }

    /// Returns a request for a debug build of the copy, with the cargo configuration of the author's package.
    pub fn request(&self) -> BuildRequest<'_> {
        BuildRequest::new(&self.manifest).run_in(&self.source)
    }
}

fn unread(manifest: &Path, message: String) -> BuildError {
    BuildError::Metadata { manifest: manifest.to_owned(), message }
}

fn refused(doing: &'static str, path: &Path, hint: &str) -> BuildError {
    failed(doing, path)(io::Error::new(io::ErrorKind::InvalidInput, hint))
}

/// Returns `true` if `inner` is `outer` or below `outer`, after links in both paths are resolved.
fn contains(outer: &Path, inner: &Path) -> bool {
    matches!((outer.canonicalize(), inner.canonicalize()), (Ok(outer), Ok(inner)) if inner.starts_with(&outer))
}

fn read_manifest(path: &Path, edited: Option<&String>) -> Result<Table, BuildError> {
    let text = match edited {
        Some(text) => text.clone(),
        None => fs::read_to_string(path).map_err(failed("read", path))?,
    };
    text.parse().map_err(|error: toml::de::Error| unread(path, error.to_string()))
}

/// Reduces the manifest of a workspace root to one member and the tables that this member inherits.
fn root_manifest(mut manifest: Table, dir: &Path, member: &Path) -> String {
    manifest.retain(|key, _| ["workspace", "profile", "patch", "replace"].contains(&key));
    make_absolute(&mut manifest, dir, |_| true);
    let members = vec![Value::String(member.display().to_string())];
    if let Some(Value::Table(workspace)) = manifest.get_mut("workspace") {
        for key in ["default-members", "exclude"] {
            workspace.remove(key);
        }
        workspace.insert("members".to_owned(), Value::Array(members));
    }
    manifest.to_string()
}

/// Returns the manifest of the copied package. `dir` is the folder of the author's package. `ending` is added to the name of the package's
/// library. `is_root` is true if the package is also the root of its workspace.
fn package_manifest(mut manifest: Table, dir: &Path, ending: &str, is_root: bool) -> String {
    make_absolute(&mut manifest, dir, leaves);
    if let Some(Value::Table(package)) = manifest.get_mut("package") {
        package.remove("workspace");
        if let Some(Value::String(script)) = package.get_mut("build") {
            make_path_absolute(script, dir, leaves);
        }
        let package_name = package.get("name").and_then(Value::as_str).map(|name| name.replace('-', "_"));
        let library = manifest.entry("lib").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(library) = library
            && let Some(name) = library.get("name").and_then(Value::as_str).map(str::to_owned).or(package_name)
        {
            library.insert("name".to_owned(), Value::String(name + ending));
        }
    }
    if is_root {
        // Without a `[workspace]` table, cargo would assign the package to a workspace above the copy.
        let workspace = manifest.entry("workspace").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(workspace) = workspace {
            for key in ["members", "default-members", "exclude"] {
                workspace.remove(key);
            }
        }
    }
    manifest.to_string()
}

/// Copies the build script to a file with `ending` in its name, and renames the script in the manifest. Without a unique name, cargo would
/// use the compiled script of one copy, and its output, for another copy.
fn rename_script(manifest: &mut Table, from: &Path, ending: &str, edits: &mut BTreeMap<PathBuf, String>) {
    let Some(Value::Table(package)) = manifest.get_mut("package") else { return };
    let script = match package.get("build") {
        None | Some(Value::Boolean(true)) => PathBuf::from("build.rs"),
        Some(Value::String(script)) => PathBuf::from(script),
        Some(_) => return,
    };
    let text = edits.get(&script).cloned().or_else(|| fs::read_to_string(from.join(&script)).ok());
    let (Some(text), Some(stem), false) = (text, script.file_stem(), script.is_absolute() || leaves(&script)) else {
        return;
    };
    let renamed = script.with_file_name(format!("{}{ending}.rs", stem.display()));
    package.insert("build".to_owned(), Value::String(renamed.display().to_string()));
    edits.insert(renamed, text);
}

/// Makes paths of a manifest absolute. `dir` is the folder of the manifest. Changes only paths for which `is_outside` returns `true`.
fn make_absolute(manifest: &mut Table, dir: &Path, is_outside: fn(&Path) -> bool) {
    for (key, value) in manifest {
        match value {
            Value::Table(table) => make_absolute(table, dir, is_outside),
            // Arrays of tables describe programs, tests and other cargo targets, for example `[[bin]]`.
            Value::Array(targets) => {
                targets
                    .iter_mut()
                    .filter_map(Value::as_table_mut)
                    .for_each(|table| make_absolute(table, dir, is_outside));
            }
            Value::String(path) if key == "path" => make_path_absolute(path, dir, is_outside),
            _ => {}
        }
    }
}

fn make_path_absolute(path: &mut String, dir: &Path, is_outside: fn(&Path) -> bool) {
    if is_outside(Path::new(path.as_str())) {
        *path = dir.join(&*path).display().to_string();
    }
}

/// Returns `true` for a relative path that leaves its folder through `..`.
fn leaves(path: &Path) -> bool {
    let mut depth = 0;
    path.components().any(|part| {
        depth += match part {
            Component::ParentDir => -1,
            Component::Normal(_) => 1,
            _ => 0,
        };
        depth < 0
    })
}

/// Copies changed files. Deletes files in the copy that are in neither the source nor the edits. Skips `dir`, which may be inside the
/// source.
fn copy_files(from: &Path, to: &Path, edits: &BTreeMap<PathBuf, String>, dir: &Path) -> Result<(), BuildError> {
    let sources = files(from, Some(dir));
    for file in sources.iter().filter(|file| !edits.contains_key(*file)) {
        let (source, copy) = (from.join(file), to.join(file));
        let content = match fs::read(&source) {
            // Skips a file that was deleted after it was listed, for example a temporary file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            content => content.map_err(failed("read", &source))?,
        };
        if write(&copy, &content)? {
            let permissions = fs::metadata(&source).and_then(|source| fs::set_permissions(&copy, source.permissions()));
            permissions.map_err(failed("copy", &copy))?;
        }
    }
    for (file, text) in edits.iter().filter(|(file, _)| !is_own(file)) {
        write(&to.join(file), text.as_bytes())?;
    }
    for file in files(to, None).iter().filter(|file| !sources.contains(*file) && !edits.contains_key(*file)) {
        fs::remove_file(to.join(file)).map_err(failed("delete", &to.join(file)))?;
    }
    Ok(())
}

/// Returns `true` for the manifest and the lock file, which are not copied verbatim.
fn is_own(file: &Path) -> bool {
    file == Path::new("Cargo.toml") || file == Path::new("Cargo.lock")
}

/// Returns `true` if the path is relative, stays inside the package, and has no hidden component.
fn is_copied(file: &Path) -> bool {
    file.components().all(|part| matches!(part, Component::Normal(name) if !is_hidden(name)))
}

pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with('.')
}

/// Name of a file that marks its folder as generated. For example, cargo writes such a file to target folders.
pub(crate) const TAG: &str = "CACHEDIR.TAG";

/// Returns `true` for a target folder of cargo, recognized by its name or by one of two files that cargo creates in it.
pub(crate) fn is_built(dir: &Path, folder: &Path) -> bool {
    let marks = [TAG, ".rustc_info.json"];
    folder == Path::new("target") || marks.iter().any(|mark| dir.join(folder).join(mark).is_file())
}

/// Returns the relative paths of the files below a folder. Skips hidden files, files for which [`is_own`] returns `true`, folders for which
/// [`is_built`] returns `true`, and the folder `except`. Follows links.
fn files(dir: &Path, except: Option<&Path>) -> BTreeSet<PathBuf> {
    let except = except.and_then(|folder| folder.canonicalize().ok());
    let (mut found, mut folders) = (BTreeSet::new(), vec![(PathBuf::new(), Vec::new())]);
    while let Some((folder, mut above)) = folders.pop() {
        let Ok(target) = dir.join(&folder).canonicalize() else { continue };
        // Skips a folder that contains itself through a link.
        if above.contains(&target) || except.as_ref() == Some(&target) {
            continue;
        }
        above.push(target);
        for entry in fs::read_dir(dir.join(&folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            if is_hidden(&entry.file_name()) {
                continue;
            }
            if entry.path().is_file() {
                found.insert(path);
            } else if entry.path().is_dir() && !is_built(dir, &path) {
                folders.push((path, above.clone()));
            }
        }
    }
    found.retain(|file| !is_own(file));
    found
}

/// Copies the author's lock file if it has changed. Cargo later removes from the copied lock file the workspace members that were not
/// copied.
fn copy_lock(workspace: &Path, dir: &Path) -> Result<(), BuildError> {
    let Ok(lock) = fs::read(workspace.join("Cargo.lock")) else { return Ok(()) };
    if write(&dir.join(LOCK_SOURCE), &lock)? {
        write(&dir.join("Cargo.lock"), &lock)?;
    }
    Ok(())
}

/// Writes a file if its content differs. Returns `true` if the file was written.
fn write(path: &Path, content: &[u8]) -> Result<bool, BuildError> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
    }
    // Replaces a read-only copy. In all other cases keeps the permissions, because a build script may run the file.
    if fs::metadata(path).is_ok_and(|old| old.permissions().readonly()) {
        fs::remove_file(path).map_err(failed("delete", path))?;
    }
    fs::write(path, content).map_err(failed("write", path))?;
    Ok(true)
}

#[cfg(test)]
mod tests;
