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
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use toml::Table;

    use super::{SourceCopy, leaves, package_manifest, root_manifest};

    fn parsed(manifest: &str) -> Table {
        manifest.parse().unwrap()
    }

    #[test]
    fn paths_that_leave_a_package_become_absolute() {
        let check = |manifest: &str, expected: &str| {
            let found = package_manifest(parsed(manifest), Path::new("/r/plugins/cube"), "_copy", false);
            assert_eq!(parsed(&found), parsed(expected));
        };
        check("api = { path = \"../../api\" }", "api = { path = \"/r/plugins/cube/../../api\" }");
        check("x.path=\"../x\"", "x.path=\"/r/plugins/cube/../x\"");
        check("own = { path = \"parts/own\" }", "own = { path = \"parts/own\" }");
        check("[lib]\npath = \"src/../src/lib.rs\"", "[lib]\npath = \"src/../src/lib.rs\"");
        check("[[bin]]\nname = \"x\"\npath = \"../x.rs\"", "[[bin]]\nname = \"x\"\npath = \"/r/plugins/cube/../x.rs\"");
        let script = "\nlib.name = \"x_copy\"\npackage.name = \"x\"\npackage.build = \"/r/plugins/cube/../build.rs\"";
        check("package.name = \"x\"\npackage.build = \"../build.rs\"", script);
        check("[dependencies]\nbuild = \"1\"", "[dependencies]\nbuild = \"1\"");
        check("subpath = \"../../x\"\npath-like = 1", "subpath = \"../../x\"\npath-like = 1");
        check(
            "[package]\nname = \"x-y\"\nworkspace = \"../..\"",
            "[package]\nname = \"x-y\"\n[lib]\nname = \"x_y_copy\"",
        );
        check("[package]\nname = \"x\"\n[lib]\nname = \"z\"", "[package]\nname = \"x\"\n[lib]\nname = \"z_copy\"");
        assert!(leaves(Path::new("a/../../b")) && !leaves(Path::new("a/../b")));
    }

    #[test]
    fn a_root_manifest_has_one_member_and_inherited_keys() {
        let root = "[workspace]\nmembers = [\"*\"]\nexclude = [\"x\"]\nresolver = \"3\"\n[workspace.dependencies]\n\
                    api = { path = \"api\" }\n[package]\nname = \"host\"\n[dependencies]\nlog = \"0.4\"\n[profile.dev]\ndebug = 1\n";
        let expected = "[workspace]\nmembers = [\"plugins/cube\"]\nresolver = \"3\"\n[workspace.dependencies]\n\
                        api = { path = \"/r/api\" }\n[profile.dev]\ndebug = 1\n";
        let found = root_manifest(parsed(root), Path::new("/r"), Path::new("plugins/cube"));
        assert_eq!(parsed(&found), parsed(expected));
    }

    fn put(dir: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn edits(edits: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
        edits.iter().map(|(file, text)| (file.into(), (*text).to_owned())).collect()
    }

    /// Returns the sorted paths of the files below `dir`, separated by spaces.
    fn names(dir: &Path) -> String {
        let names: Vec<_> = super::files(dir, None).iter().map(|file| file.display().to_string()).collect();
        names.join(" ")
    }

    /// Returns a temporary folder with the workspace `w` of the packages `a` and `b`, and the manifest of `a`.
    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = "[workspace]\nmembers = [\"a\", \"b\"]\n[workspace.package]\nversion = \"0.2.0\"\n";
        put(dir.path(), &[("w/Cargo.toml", root)]);
        for name in ["a", "b"] {
            let manifest = format!("[package]\nname = \"{name}\"\nversion.workspace = true\n");
            put(&dir.path().join("w").join(name), &[("Cargo.toml", &manifest), ("src/lib.rs", "one")]);
        }
        let manifest = dir.path().join("w/a/Cargo.toml");
        (dir, manifest)
    }

    #[test]
    fn a_copy_follows_its_source_and_the_edits() {
        let (dir, manifest) = workspace();
        let (source, copied) = (manifest.parent().unwrap(), dir.path().join("copy"));
        put(source, &[("src/old.rs", ""), ("target/x", "")]);
        let copy = |changed: &[(&str, &str)]| {
            let copy = SourceCopy::new(&manifest, &copied, &edits(changed)).unwrap_or_else(|error| panic!("{error}"));
            (fs::read_to_string(copy.package().join("src/lib.rs")).unwrap(), names(&copied))
        };
        let written = || fs::metadata(copied.join("a/src/lib.rs")).unwrap().modified().unwrap();
        assert_eq!(copy(&[]), ("one".to_owned(), "a/Cargo.toml a/src/lib.rs a/src/old.rs".to_owned()));
        let before = written();
        fs::remove_file(source.join("src/old.rs")).unwrap();
        assert_eq!(
            copy(&[("src/new.rs", "")]),
            ("one".to_owned(), "a/Cargo.toml a/src/lib.rs a/src/new.rs".to_owned())
        );
        assert_eq!(written(), before, "an equal file is not written again");
        assert_eq!(copy(&[("src/lib.rs", "two")]), ("two".to_owned(), "a/Cargo.toml a/src/lib.rs".to_owned()));
        assert_eq!(fs::read_to_string(source.join("src/lib.rs")).unwrap(), "one");
        put(source, &[("src/lib.rs", "three")]);
        assert_eq!(copy(&[]).0, "three");
        assert!(fs::read_to_string(copied.join("Cargo.toml")).unwrap().contains("members = [\"a\"]"));
    }

    #[cfg(unix)]
    #[test]
    fn an_edited_copy_is_writable_and_remains_executable() {
        use std::os::unix::fs::PermissionsExt as _;
        let (dir, manifest) = workspace();
        let source = manifest.with_file_name("src").join("lib.rs");
        let check = |changed: &[(&str, &str)], expected: u32| {
            let copy = SourceCopy::new(&manifest, &dir.path().join("copy"), &edits(changed)).unwrap();
            let copied = fs::metadata(copy.package().join("src/lib.rs")).unwrap();
            assert_eq!(copied.permissions().mode() & 0o700, expected, "{changed:?}");
        };
        for (mode, edited) in [(0o400, 0o600), (0o700, 0o700)] {
            fs::set_permissions(&source, fs::Permissions::from_mode(mode)).unwrap();
            check(&[], mode);
            check(&[("src/lib.rs", "two")], edited);
        }
    }

    #[test]
    fn an_edit_by_a_path_out_of_the_package_is_refused() {
        let (dir, manifest) = workspace();
        let source = manifest.with_file_name("src").join("lib.rs");
        for file in [source.to_str().unwrap(), "../b/src/lib.rs", "src/../../b/src/lib.rs", "./src/lib.rs", ".hidden"] {
            let copy = SourceCopy::new(&manifest, &dir.path().join("copy"), &edits(&[(file, "two")]));
            let error = copy.expect_err(file).to_string();
            assert!(error.contains(file) && error.contains("relative to the folder"), "{error}");
        }
        assert_eq!(fs::read_to_string(source).unwrap(), "one");
        assert_eq!(names(dir.path()), "w/Cargo.toml w/a/Cargo.toml w/a/src/lib.rs w/b/Cargo.toml w/b/src/lib.rs");
    }

    #[test]
    fn a_copy_over_its_workspace_is_refused() {
        let (dir, manifest) = workspace();
        let before = names(dir.path());
        for folder in ["", "w", "w/a", "w/b/../a"] {
            let error = SourceCopy::new(&manifest, &dir.path().join(folder), &BTreeMap::new()).expect_err(folder);
            assert!(error.to_string().contains("contains the package"), "{error}");
        }
        let root = fs::read_to_string(dir.path().join("w/Cargo.toml")).unwrap();
        assert!(root.contains("\"b\"") && names(dir.path()) == before, "{root}");
    }

    #[test]
    fn a_workspace_root_is_copied_without_builds_and_itself() {
        let dir = tempfile::tempdir().unwrap();
        let root =
            "[workspace]\nmembers = [\"part\"]\n[package]\nname = \"a\"\n[dependencies]\npart = { path = \"part\" }\n";
        put(dir.path(), &[("Cargo.toml", root), ("src/lib.rs", "one"), ("src/target/mod.rs", ""), ("target/x", "")]);
        put(&dir.path().join("part"), &[("Cargo.toml", "[package]\nname = \"part\""), ("src/lib.rs", "")]);
        put(
            dir.path(),
            &[("out/.rustc_info.json", "{}"), ("out/debug/x", ""), ("old/CACHEDIR.TAG", ""), ("old/x", "")],
        );
        let copied = dir.path().join("copies/a");
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(".", dir.path().join("around")).unwrap();
            symlink("missing", dir.path().join("src/dangling.rs")).unwrap();
            symlink("../part/src", dir.path().join("src/shared")).unwrap();
        }
        let shared = if cfg!(unix) { "src/shared/lib.rs " } else { "" };
        for _ in 0..2 {
            let copy = SourceCopy::new(&dir.path().join("Cargo.toml"), &copied, &BTreeMap::new()).unwrap();
            assert_eq!(copy.package(), copied);
            assert_eq!(names(&copied), format!("part/Cargo.toml part/src/lib.rs src/lib.rs {shared}src/target/mod.rs"));
        }
        let manifest: Table = fs::read_to_string(copied.join("Cargo.toml")).unwrap().parse().unwrap();
        assert!(manifest["workspace"].as_table().unwrap().is_empty(), "cargo adds `part`, as a dependency by a path");
        assert_eq!(manifest["dependencies"]["part"]["path"].as_str(), Some("part"));
    }

    #[test]
    fn a_member_outside_of_its_root_is_copied_by_its_name() {
        let (dir, _) = workspace();
        let manifest = "[package]\nname = \"far\"\nworkspace = \"../w\"\n";
        put(dir.path(), &[("far/Cargo.toml", manifest), ("far/src/lib.rs", "")]);
        put(dir.path(), &[("w/Cargo.toml", "[workspace]\nmembers = [\"../far\"]\n")]);
        let (manifest, copied) = (dir.path().join("far/Cargo.toml"), dir.path().join("w/target/copy"));
        let copy = SourceCopy::new(&manifest, &copied, &BTreeMap::new()).unwrap();
        assert_eq!(names(&copied), "far/Cargo.toml far/src/lib.rs");
        assert!(fs::read_to_string(copied.join("Cargo.toml")).unwrap().contains("members = [\"far\"]"));
        // Checks that cargo runs in the author's folder, where it finds the author's configuration.
        assert_eq!(copy.request().folder().canonicalize().unwrap(), dir.path().join("far").canonicalize().unwrap());
    }
}
