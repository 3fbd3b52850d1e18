//! Watches the real file system. Actions of editors and checkouts must be reported as changes. Builds must not be reported.

use crate::scratch::{LIB, Scratch};
use alcedo_build::{BuildError, Builder, Debounce, SourceWatch, build};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum wait for a change, long enough for a busy machine. The wait ends as soon as the change arrives.
const PATIENCE: Duration = Duration::from_secs(20);
/// Time without events after which no further event is expected.
const SILENCE: Duration = Duration::from_millis(400);

/// Returns the changed paths after the changes have settled. Returns an empty list if no change settles within `patience`.
fn settled_change(watch: &SourceWatch, debounce: &mut Debounce, patience: Duration) -> Vec<PathBuf> {
    let started = Instant::now();
    loop {
        let rest = patience.saturating_sub(started.elapsed());
        let wait = match debounce.due(started.elapsed()) {
            Some(Duration::ZERO) => return debounce.take(),
            _ if rest.is_zero() => return Vec::new(),
            wait => wait.map_or(rest, |wait| wait.min(rest)),
        };
        match watch.receiver().recv_timeout(wait) {
            // Ignores the lock file, because builds by cargo write it.
            Ok(event) if !event.path.ends_with("Cargo.lock") => {
                debounce.add(event.at.saturating_duration_since(started), &event.path);
            }
            _ => {}
        }
    }
}

/// Runs `act` and checks the changed paths, relative to the scratch folder.
fn check(scratch: &Scratch, watch: &SourceWatch, act: impl FnOnce(), expected: &[&str]) {
    let mut debounce = Debounce::new(Duration::from_millis(300), Duration::from_secs(2));
    act();
    let root = scratch.path("").canonicalize().unwrap();
    let found = settled_change(watch, &mut debounce, if expected.is_empty() { SILENCE } else { PATIENCE });
    let found: Vec<_> = found.iter().map(|path| path.strip_prefix(&root).unwrap()).collect();
    assert_eq!(found, expected.iter().map(PathBuf::from).collect::<Vec<_>>());
}

#[test]
fn saves_are_changes_and_builds_are_not() {
    let scratch = Scratch::plugin();
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    let check = |act: &dyn Fn(), expected: &[&str]| check(&scratch, &watch, act, expected);

    check(&|| drop(build(&alcedo_build::BuildRequest::new(scratch.manifest())).unwrap()), &[]);
    check(&|| scratch.write("src/lib.rs", LIB), &["src/lib.rs"]);
    check(&|| drop(build(&scratch.request()).unwrap()), &[]);
    check(&|| scratch.write("src/.lib.rs.swp", ""), &[]);
    let rename = || {
        scratch.write("src/lib.rs~", LIB);
        fs::rename(scratch.path("src/lib.rs~"), scratch.path("src/lib.rs")).unwrap();
    };
    check(&rename, &["src/lib.rs"]);
    check(&|| scratch.write("build.rs", "fn main() {}"), &["build.rs"]);
    check(&|| fs::remove_file(scratch.path("build.rs")).unwrap(), &["build.rs"]);
    check(&|| fs::create_dir(scratch.path("src/deep")).unwrap(), &["src/deep"]);
    check(&|| scratch.write("src/deep/mod.rs", ""), &["src/deep/mod.rs"]);
}

#[test]
fn a_project_below_a_folder_named_target_is_watched() {
    let manifest = crate::scratch::manifest("plug", "[workspace]");
    let scratch = Scratch::new(&[("target/my-game/Cargo.toml", &manifest), ("target/my-game/src/lib.rs", LIB)]);
    let watch = SourceWatch::new(&[scratch.path("target/my-game/src")]).unwrap();
    for path in ["target/my-game/src/lib.rs", "target/my-game/Cargo.toml"] {
        check(&scratch, &watch, || scratch.write(path, ""), &[path]);
    }
    watch.add_inputs([scratch.path("target/my-game/names.txt")]);
    check(&scratch, &watch, || scratch.write("target/my-game/names.txt", ""), &["target/my-game/names.txt"]);
}

#[test]
fn a_source_folder_that_comes_back_is_still_watched() {
    let scratch = Scratch::plugin();
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    let replace = || {
        fs::rename(scratch.path("src"), scratch.path("gone")).unwrap();
        scratch.write("src/lib.rs", LIB);
    };
    replace();
    assert!(!settled_change(&watch, &mut Debounce::default(), PATIENCE).is_empty());
    while !settled_change(&watch, &mut Debounce::default(), SILENCE).is_empty() {}
    check(&scratch, &watch, || scratch.write("src/lib.rs", "// new"), &["src/lib.rs"]);
}

/// Waits for an event about a file in the scratch folder.
fn wait_for(scratch: &Scratch, watch: &SourceWatch, path: &str) {
    let path = scratch.path("").canonicalize().unwrap().join(path);
    while watch.receiver().recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{} is not watched", path.display())).path
        != path
    {}
}

#[test]
fn files_of_cargo_next_to_a_manifest_are_watched_from_their_first_save() {
    let scratch = Scratch::plugin();
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    for path in ["rust-toolchain", "Cargo.lock"] {
        scratch.write(path, "");
        wait_for(&scratch, &watch, path);
    }
    for _ in 0..2 {
        scratch.write(".cargo/config.toml", "");
        wait_for(&scratch, &watch, ".cargo");
        // If a folder is created again immediately after its removal, the folder may be reported more than once.
        while watch.receiver().recv_timeout(SILENCE).is_ok() {}
        scratch.write(".cargo/config.toml", "[env]");
        wait_for(&scratch, &watch, ".cargo/config.toml");
        fs::remove_dir_all(scratch.path(".cargo")).unwrap();
    }
}

#[test]
fn existing_files_of_cargo_above_the_manifests_are_watched() {
    let manifest = crate::scratch::manifest("plug", "");
    let scratch = Scratch::new(&[
        (".cargo/config.toml", "include = [\"../shared/all.toml\"]"),
        ("shared/all.toml", ""),
        ("rust-toolchain", ""),
        ("plug/Cargo.toml", &manifest),
        ("plug/src/lib.rs", LIB),
        ("plug/.cargo/config.toml", ""),
    ]);
    let watch = SourceWatch::new(&[scratch.path("plug/src")]).unwrap();
    for path in [".cargo/config.toml", "shared/all.toml", "rust-toolchain", "plug/.cargo/config.toml"] {
        scratch.write(path, "");
        wait_for(&scratch, &watch, path);
    }
}

#[test]
fn a_workspace_that_a_manifest_names_is_watched() {
    let manifest = crate::scratch::manifest("plug", "");
    let scratch = Scratch::new(&[("plug/Cargo.toml", &manifest), ("plug/src/lib.rs", LIB), ("all/Cargo.toml", "")]);
    let watch = SourceWatch::new(&[scratch.path("plug/src")]).unwrap();
    scratch.write("plug/Cargo.toml", &manifest.replace("edition", "workspace = \"../all\"\nedition"));
    watch.add_inputs([]);
    scratch.write("all/Cargo.toml", "[workspace]");
    wait_for(&scratch, &watch, "all/Cargo.toml");
}

#[test]
fn a_new_package_next_to_a_package_of_a_workspace_is_reported() {
    let manifest = crate::scratch::manifest("plug", "");
    let scratch = Scratch::new(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"plugins/*\"]"),
        ("plugins/plug/Cargo.toml", &manifest),
        ("plugins/plug/src/lib.rs", LIB),
    ]);
    let watch = SourceWatch::new(&[scratch.path("plugins/plug/src")]).unwrap();
    scratch.write("scratch/Cargo.toml", &manifest);
    fs::rename(scratch.path("scratch"), scratch.path("plugins/moved")).unwrap();
    wait_for(&scratch, &watch, "plugins/moved/Cargo.toml");
    fs::create_dir(scratch.path("plugins/written")).unwrap();
    thread::sleep(SILENCE);
    scratch.write("plugins/written/Cargo.toml", &manifest);
    wait_for(&scratch, &watch, "plugins/written/Cargo.toml");
}

#[test]
fn a_new_package_next_to_a_package_of_scripts_is_reported() {
    let scratch = Scratch::new(&[("scripts/Tale/Hero.uc", ""), ("Moved/A.uc", "")]);
    let watch = SourceWatch::new(&[scratch.path("scripts/Tale")]).unwrap();
    fs::create_dir(scratch.path("scripts/Notes")).unwrap();
    assert!(watch.receiver().recv_timeout(SILENCE).is_err(), "an empty folder causes no build");
    fs::rename(scratch.path("Moved"), scratch.path("scripts/Moved")).unwrap();
    wait_for(&scratch, &watch, "scripts/Moved");
    scratch.write("scripts/Notes/A.uc", "");
    wait_for(&scratch, &watch, "scripts/Notes/A.uc");
    scratch.write("scripts/Moved/Classes/B.uc", "");
    wait_for(&scratch, &watch, "scripts/Moved/Classes");
}

#[test]
fn a_target_folder_of_cargo_is_not_a_package_of_scripts() {
    let scratch = Scratch::new(&[("target/Tale/Hero.uc", "")]);
    let watch = SourceWatch::new(&[scratch.path("target/Tale")]).unwrap();
    fs::create_dir(scratch.path("target/debug")).unwrap();
    thread::sleep(SILENCE);
    check(&scratch, &watch, || scratch.write("target/debug/libplug.d", ""), &[]);
    fs::create_dir(scratch.path("target/Saga")).unwrap();
    thread::sleep(SILENCE);
    scratch.write("target/Saga/Knight.uc", "");
    wait_for(&scratch, &watch, "target/Saga/Knight.uc");
}

#[test]
fn a_folder_that_is_moved_away_is_reported() {
    let manifest = crate::scratch::manifest("plug", "");
    let scratch = Scratch::new(&[
        ("plugins/plug/Cargo.toml", &manifest),
        ("plugins/plug/src/lib.rs", LIB),
        ("plugins/plug/src/deep/mod.rs", ""),
        ("plugins/plug/.cargo/config.toml", ""),
        ("data/names.txt", ""),
    ]);
    let watch = SourceWatch::new(&[scratch.path("plugins/plug/src")]).unwrap();
    watch.add_inputs([scratch.path("data/names.txt")]);
    for (folder, reported) in [
        ("data", "data/names.txt"),
        ("plugins/plug/.cargo", "plugins/plug/.cargo"),
        ("plugins/plug/src/deep", "plugins/plug/src/deep"),
        ("plugins/plug/src", "plugins/plug/src"),
        ("plugins/plug", "plugins/plug/Cargo.toml"),
    ] {
        fs::rename(scratch.path(folder), scratch.path("away")).unwrap();
        wait_for(&scratch, &watch, reported);
        fs::rename(scratch.path("away"), scratch.path(folder)).unwrap();
        // Waits longer than the interval at which the watch checks the folders.
        while watch.receiver().recv_timeout(Duration::from_millis(1500)).is_ok() {}
    }
}

#[test]
fn files_of_a_failed_build_are_watched() {
    let scratch = Scratch::plugin();
    let builder = Builder::new();
    builder.build(&scratch.request()).unwrap();
    for (name, is_direct) in [("cargo.in", false), ("direct.in", true)] {
        scratch.write("src/lib.rs", &format!("{LIB}include!(\"{name}\");\n"));
        let included = format!("src/{name}");
        // The first build does not find the file, and the second build finds an error in it.
        for text in ["pub fn number() -> u8 { \"\" }\n", "pub fn number() -> u8 { 1 }\n"] {
            let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
            let request = scratch.request();
            let result = if is_direct { builder.build(&request) } else { build(&request) };
            match result {
                Err(BuildError::DoesNotCompile { inputs, .. }) => watch.add_inputs(inputs),
                other => panic!("{other:?}"),
            }
            scratch.write(&included, text);
            wait_for(&scratch, &watch, &included);
        }
    }
}

#[test]
fn a_link_that_replaces_the_link_to_an_included_file_is_reported() {
    let scratch = Scratch::plugin();
    ["data/one.txt", "data/two.txt"].iter().for_each(|path| scratch.write(path, ""));
    let link_to = |target: &str| {
        std::os::unix::fs::symlink(scratch.path(target), scratch.path("src/new.txt")).unwrap();
        fs::rename(scratch.path("src/new.txt"), scratch.path("src/text.txt")).unwrap();
    };
    link_to("data/one.txt");
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    watch.add_inputs([scratch.path("src/text.txt")]);
    check(&scratch, &watch, || link_to("data/two.txt"), &["src/text.txt"]);
    check(&scratch, &watch, || scratch.write("data/one.txt", "new"), &["data/one.txt"]);
}

#[test]
fn a_link_that_replaces_the_link_to_the_folder_of_an_included_file_is_reported() {
    let scratch = Scratch::plugin();
    ["old/deep/a.txt", "new/deep/a.txt"].iter().for_each(|path| scratch.write(path, ""));
    let link_to = |target: &str| {
        std::os::unix::fs::symlink(scratch.path(target), scratch.path("link")).unwrap();
        fs::rename(scratch.path("link"), scratch.path("data/link")).unwrap();
    };
    fs::create_dir(scratch.path("data")).unwrap();
    link_to("old");
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    watch.add_inputs([scratch.path("data/link/deep/a.txt")]);
    check(&scratch, &watch, || scratch.write("old/deep/a.txt", "new"), &["old/deep/a.txt"]);
    check(&scratch, &watch, || link_to("new"), &["data/link"]);
}

#[test]
fn a_built_file_is_not_watched_through_a_link() {
    let scratch = Scratch::plugin();
    scratch.write("target/debug/data.txt", "");
    std::os::unix::fs::symlink(scratch.path("target/debug/data.txt"), scratch.path("src/data.txt")).unwrap();
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    watch.add_inputs([scratch.path("src/data.txt")]);
    check(&scratch, &watch, || scratch.write("target/debug/data.txt", "new"), &[]);
}

#[test]
fn a_built_file_in_a_target_folder_of_any_name_is_not_watched() {
    let scratch = Scratch::plugin();
    let (built, other) = ("out/debug/build/plug-1/out/a.rs", "data/a.txt");
    ["out/CACHEDIR.TAG", built, other].iter().for_each(|path| scratch.write(path, ""));
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    watch.add_inputs([built, other].map(|path| scratch.path(path)));
    check(&scratch, &watch, || [built, other].iter().for_each(|path| scratch.write(path, "new")), &[other]);
}

#[test]
fn files_of_a_folder_that_a_build_script_lists_are_watched() {
    let scratch = Scratch::plugin();
    ["data/deep/a.txt", "data/cache/CACHEDIR.TAG"].iter().for_each(|path| scratch.write(path, ""));
    let watch = SourceWatch::new(&[scratch.path("src")]).unwrap();
    watch.add_inputs([scratch.path("data")]);
    let check = |act: &dyn Fn(), expected: &[&str]| check(&scratch, &watch, act, expected);

    check(&|| scratch.write("data/deep/a.txt", "new"), &["data/deep/a.txt"]);
    check(&|| scratch.write("data/b.txt", ""), &["data/b.txt"]);
    check(&|| fs::create_dir(scratch.path("data/deep/new")).unwrap(), &["data/deep/new"]);
    let others = ["data/cache/a.txt", "data/.a.txt.swp", "other.txt"];
    check(&|| others.iter().for_each(|path| scratch.write(path, "")), &[]);

    // Skips a listed package, because its program may write there.
    watch.add_inputs([scratch.path("")]);
    check(&|| ["log.txt", "saves/a.txt"].iter().for_each(|path| scratch.write(path, "")), &[]);
    check(&|| fs::rename(scratch.path("data"), scratch.path("away")).unwrap(), &["data"]);
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_names_it() {
    let scratch = Scratch::plugin();
    let error = SourceWatch::new(&[scratch.path("absent")]).unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
}

#[test]
fn a_recreated_folder_without_a_parent_manifest_is_still_watched() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let package = root.join("Tale");
    let make = |text: &str| {
        fs::create_dir(&package).unwrap();
        fs::write(package.join("Hero.uc"), text).unwrap();
    };
    make("class Hero extends Actor;");
    let watch = SourceWatch::new(std::slice::from_ref(&package)).unwrap();
    let settled_change = |patience| settled_change(&watch, &mut Debounce::default(), patience);
    for _ in 0..2 {
        fs::remove_dir_all(&package).unwrap();
        make("class Hero extends Actor; // again");
        assert!(!settled_change(PATIENCE).is_empty());
        while !settled_change(SILENCE).is_empty() {}
        fs::write(package.join("Hero.uc"), "class Hero extends Actor; // saved").unwrap();
        assert_eq!(settled_change(PATIENCE), [package.join("Hero.uc")]);
        while !settled_change(SILENCE).is_empty() {}
    }
    fs::write(root.join("Beside.uc"), "class Beside extends Actor;").unwrap();
    assert!(settled_change(SILENCE).is_empty(), "files next to it are not its sources");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let path = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &path);
        } else {
            fs::copy(entry.path(), path).unwrap();
        }
    }
}

/// Recreates `plugins/plug` twice, and checks that each recreation and later saves are reported.
fn check_recreation(recreate: impl Fn(&Path)) {
    let scratch = Scratch::new(&[("plugins/plug/Cargo.toml", "[package]"), ("plugins/plug/src/deep/lib.rs", LIB)]);
    let root = scratch.path("").canonicalize().unwrap();
    copy(&root.join("plugins"), &root.join("backup"));
    let source = root.join("plugins/plug/src/deep/lib.rs");
    let watch = SourceWatch::new(&[root.join("plugins/plug/src")]).unwrap();
    let settled_change = |patience| settled_change(&watch, &mut Debounce::default(), patience);
    for _ in 0..2 {
        recreate(&root);
        assert!(!settled_change(PATIENCE).is_empty());
        // Waits longer than the interval at which the watch checks the folders.
        while !settled_change(Duration::from_millis(1500)).is_empty() {}
        for text in ["// first", "// second"] {
            fs::write(&source, text).unwrap();
            assert_eq!(settled_change(PATIENCE), [&*source]);
            while !settled_change(SILENCE).is_empty() {}
        }
    }
}

#[test]
fn a_plugin_that_is_deleted_and_copied_back_is_still_watched() {
    check_recreation(|root| {
        fs::remove_dir_all(root.join("plugins/plug")).unwrap();
        copy(&root.join("backup/plug"), &root.join("plugins/plug"));
    });
}

#[test]
fn a_plugin_whose_parent_is_absent_for_a_time_is_still_watched() {
    check_recreation(|root| {
        fs::remove_dir_all(root.join("plugins")).unwrap();
        thread::sleep(SILENCE);
        copy(&root.join("backup"), &root.join("plugins"));
    });
}

#[test]
fn a_plugin_that_is_swapped_by_moves_is_still_watched() {
    check_recreation(|root| {
        let plugin = root.join("plugins/plug");
        let (new, old) = (root.join("new"), root.join("old"));
        copy(&root.join("backup/plug"), &new);
        fs::rename(&plugin, &old).unwrap();
        fs::rename(&new, &plugin).unwrap();
        fs::remove_dir_all(old).unwrap();
    });
}

#[test]
fn a_plugin_whose_distant_parent_is_swapped_is_still_watched() {
    check_recreation(|root| {
        let (new, old) = (root.join("new"), root.join("old"));
        copy(&root.join("backup"), &new);
        fs::rename(root.join("plugins"), &old).unwrap();
        fs::rename(new, root.join("plugins")).unwrap();
        fs::remove_dir_all(old).unwrap();
    });
}
