//! Tests of copies of packages. Each test copies a package of a temporary workspace.

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
    check("[package]\nname = \"x-y\"\nworkspace = \"../..\"", "[package]\nname = \"x-y\"\n[lib]\nname = \"x_y_copy\"");
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
    assert_eq!(copy(&[("src/new.rs", "")]), ("one".to_owned(), "a/Cargo.toml a/src/lib.rs a/src/new.rs".to_owned()));
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
    put(dir.path(), &[("out/.rustc_info.json", "{}"), ("out/debug/x", ""), ("old/CACHEDIR.TAG", ""), ("old/x", "")]);
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
