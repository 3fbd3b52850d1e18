//! Editable copy of one package at a fixed path. Cargo compiles an edit of it incrementally, and the author's files never change.
//!
//! The copy has a workspace root with what a package inherits: shared keys, profiles, patches, the lock file. Paths that leave the
//! package become absolute, so the copy is built with the author's dependencies. A file is written only if its content differs,
//! since cargo compares times.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use crate::error::BuildError;
use crate::find::{metadata, same};
use crate::request::BuildRequest;
use crate::variants::{failed, lock};

/// The author's lock file, from which cargo's lock file of the copy was made.
const LOCK_SOURCE: &str = ".Cargo.lock.source";

/// Copy of a package that other code may edit and build. Holds a lock until it is dropped.
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
    /// Root of the author's workspace.
    workspace: PathBuf,
    _lock: File,
}

impl SourceCopy {
    /// Copies the package of `manifest` below `dir`, without its `target` folder and hidden files. `edits` replace or add files, by their
    /// paths in the package. An earlier copy in `dir` becomes equal to this one. Waits while another thread or process holds a copy there.
    ///
    /// # Errors
    /// [`BuildError::Metadata`] if cargo cannot read the manifest, or it has no package; [`BuildError::Store`].
    pub fn new(manifest: &Path, dir: &Path, edits: &BTreeMap<PathBuf, String>) -> Result<Self, BuildError> {
        let metadata = metadata(&BuildRequest::new(manifest))?;
        let no_package = || unread(manifest, "it is the manifest of a workspace: name that of a package".to_owned());
        let package = metadata.packages.iter().find(|package| same(package.manifest_path.as_std_path(), manifest));
        let from = package.and_then(|package| package.manifest_path.as_std_path().parent()).ok_or_else(no_package)?;
        let workspace = metadata.workspace_root.as_std_path();
        let lock = lock(dir, ".alcedo-copy.lock")?;
        // A member outside of its root has its own name as folder.
        let of_member = from.strip_prefix(workspace).unwrap_or(Path::new(from.file_name().unwrap_or_default()));
        let to = dir.join(of_member);
        if of_member != Path::new("") {
            let root = read_manifest(&workspace.join("Cargo.toml"), None)?;
            write(&dir.join("Cargo.toml"), root_manifest(root, workspace, of_member).as_bytes())?;
        }
        let manifest = to.join("Cargo.toml");
        let own = read_manifest(&from.join("Cargo.toml"), edits.get(Path::new("Cargo.toml")))?;
        write(&manifest, package_manifest(own, from, of_member == Path::new("")).as_bytes())?;
        copy_files(from, &to, edits)?;
        copy_lock(workspace, dir)?;
        Ok(Self { manifest, workspace: workspace.to_owned(), _lock: lock })
    }

    /// Returns the folder of the package in the copy.
    pub fn package(&self) -> &Path {
        self.manifest.parent().unwrap_or(&self.manifest)
    }

    /// Returns a debug build of the copy, with the cargo configuration of the author's workspace.
    pub fn request(&self) -> BuildRequest<'_> {
        BuildRequest::new(&self.manifest).run_in(&self.workspace)
    }
}

fn unread(manifest: &Path, message: String) -> BuildError {
    BuildError::Metadata { manifest: manifest.to_owned(), message }
}

fn read_manifest(path: &Path, edited: Option<&String>) -> Result<Table, BuildError> {
    let text = match edited {
        Some(text) => text.clone(),
        None => fs::read_to_string(path).map_err(failed("read", path))?,
    };
    text.parse().map_err(|error: toml::de::Error| unread(path, error.to_string()))
}

/// Returns the root manifest for one member: only what the member inherits.
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

/// Returns the manifest of the package in `dir`, which may be the root of its workspace as well.
fn package_manifest(mut manifest: Table, dir: &Path, is_root: bool) -> String {
    make_absolute(&mut manifest, dir, leaves);
    if let Some(Value::Table(package)) = manifest.get_mut("package") {
        package.remove("workspace");
    }
    if is_root {
        // A manifest without this table would belong to a workspace above the copy.
        let workspace = manifest.entry("workspace").or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(workspace) = workspace {
            for key in ["members", "default-members", "exclude"] {
                workspace.remove(key);
            }
        }
    }
    manifest.to_string()
}

/// Makes the paths of a manifest in `dir` absolute for which `is_outside` returns `true`.
fn make_absolute(manifest: &mut Table, dir: &Path, is_outside: fn(&Path) -> bool) {
    for (key, value) in manifest {
        match value {
            Value::Table(table) => make_absolute(table, dir, is_outside),
            Value::String(path) if key == "path" && is_outside(Path::new(path.as_str())) => {
                *path = dir.join(&*path).display().to_string();
            }
            _ => {}
        }
    }
}

/// Returns `true` for a relative path out of its folder.
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

/// Copies changed files, and deletes files that neither the source nor the edits have.
fn copy_files(from: &Path, to: &Path, edits: &BTreeMap<PathBuf, String>) -> Result<(), BuildError> {
    let sources = files(from);
    for file in sources.iter().filter(|file| !edits.contains_key(*file)) {
        let (source, copy) = (from.join(file), to.join(file));
        let content = fs::read(&source).map_err(failed("read", &source))?;
        if write(&copy, &content)? {
            let permissions = fs::metadata(&source).and_then(|source| fs::set_permissions(&copy, source.permissions()));
            permissions.map_err(failed("copy", &copy))?;
        }
    }
    for (file, text) in edits.iter().filter(|(file, _)| !is_own(file)) {
        write(&to.join(file), text.as_bytes())?;
    }
    for file in files(to).iter().filter(|file| !sources.contains(*file) && !edits.contains_key(*file)) {
        fs::remove_file(to.join(file)).map_err(failed("delete", &to.join(file)))?;
    }
    Ok(())
}

/// Returns `true` for the files of a package's folder that are not copied as they are.
fn is_own(file: &Path) -> bool {
    file == Path::new("Cargo.toml") || file == Path::new("Cargo.lock")
}

/// Returns the files below a folder by their relative paths, without those of [`is_own`], `target` folders and hidden files.
fn files(dir: &Path) -> BTreeSet<PathBuf> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(dir.join(&folder)).into_iter().flatten().flatten() {
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            if name.to_string_lossy().starts_with('.') {
                continue;
            }
            if !entry.path().is_dir() {
                found.insert(path);
            } else if name != "target" {
                folders.push(path);
            }
        }
    }
    found.retain(|file| !is_own(file));
    found
}

/// Copies the author's lock file if it has changed. Cargo removes the other members from the copy.
fn copy_lock(workspace: &Path, dir: &Path) -> Result<(), BuildError> {
    let Ok(lock) = fs::read(workspace.join("Cargo.lock")) else { return Ok(()) };
    if write(&dir.join(LOCK_SOURCE), &lock)? {
        write(&dir.join("Cargo.lock"), &lock)?;
    }
    Ok(())
}

/// Writes a file if its content differs, and returns `true` if it did.
fn write(path: &Path, content: &[u8]) -> Result<bool, BuildError> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed("create", folder))?;
    }
    fs::write(path, content).map_err(failed("write", path))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use toml::Table;

    use super::{SourceCopy, leaves, package_manifest, root_manifest};

    fn parsed(manifest: &str) -> Table {
        manifest.parse().unwrap()
    }

    #[test]
    fn paths_that_leave_a_package_become_absolute() {
        let check = |manifest: &str, expected: &str| {
            let found = package_manifest(parsed(manifest), Path::new("/r/plugins/cube"), false);
            assert_eq!(parsed(&found), parsed(expected));
        };
        check("api = { path = \"../../api\" }", "api = { path = \"/r/plugins/cube/../../api\" }");
        check("x.path=\"../x\"", "x.path=\"/r/plugins/cube/../x\"");
        check("own = { path = \"parts/own\" }", "own = { path = \"parts/own\" }");
        check("[lib]\npath = \"src/../src/lib.rs\"", "[lib]\npath = \"src/../src/lib.rs\"");
        check("subpath = \"../../x\"\npath-like = 1", "subpath = \"../../x\"\npath-like = 1");
        check("[package]\nname = \"x\"\nworkspace = \"../..\"", "[package]\nname = \"x\"");
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

    #[test]
    fn a_copy_follows_its_source_and_the_edits() {
        let dir = tempfile::tempdir().unwrap();
        let (source, copied) = (dir.path().join("w"), dir.path().join("copy"));
        let put = |file: &str, text: &str| {
            let path = source.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n[workspace.package]\nversion = \"0.2.0\"\n");
        for name in ["a", "b"] {
            put(&format!("{name}/Cargo.toml"), &format!("[package]\nname = \"{name}\"\nversion.workspace = true\n"));
            put(&format!("{name}/src/lib.rs"), "one");
        }
        put("a/src/old.rs", "");
        put("a/target/x", "");
        let manifest = source.join("a/Cargo.toml");
        let copy = |edits: &[(&str, &str)]| {
            let edits: BTreeMap<_, _> = edits.iter().map(|(file, text)| (file.into(), (*text).to_owned())).collect();
            let copy = SourceCopy::new(&manifest, &copied, &edits).unwrap_or_else(|error| panic!("{error}"));
            let files: Vec<_> = super::files(&copied).into_iter().map(|file| file.display().to_string()).collect();
            (fs::read_to_string(copy.package().join("src/lib.rs")).unwrap(), files.join(" "))
        };
        let written = || fs::metadata(copied.join("a/src/lib.rs")).unwrap().modified().unwrap();
        assert_eq!(copy(&[]), ("one".to_owned(), "a/Cargo.toml a/src/lib.rs a/src/old.rs".to_owned()));
        let before = written();
        fs::remove_file(source.join("a/src/old.rs")).unwrap();
        assert_eq!(
            copy(&[("src/new.rs", "")]),
            ("one".to_owned(), "a/Cargo.toml a/src/lib.rs a/src/new.rs".to_owned())
        );
        assert_eq!(written(), before, "an equal file is not written again");
        assert_eq!(copy(&[("src/lib.rs", "two")]), ("two".to_owned(), "a/Cargo.toml a/src/lib.rs".to_owned()));
        assert_eq!(fs::read_to_string(source.join("a/src/lib.rs")).unwrap(), "one");
        put("a/src/lib.rs", "three");
        assert_eq!(copy(&[]).0, "three");
        assert!(fs::read_to_string(copied.join("Cargo.toml")).unwrap().contains("members = [\"a\"]"));
    }
}
