//! Tests `alcedo new`. New projects must build and pass their own tests. A rejected request must create no files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::support::{Dev, target};
use expect_test::{Expect, expect};
use tempfile::TempDir;

/// Folder for a new workspace or plugin. Dropping this value removes the folder, and its build output in the shared target folder.
struct Folder {
    dir: TempDir,
    /// Folders of manifests, each with the packages that were built for it.
    built: Vec<(PathBuf, Vec<&'static str>)>,
    /// Lock that serializes the tests. Removal of build output would affect a second test whose packages have equal names.
    turn: Option<MutexGuard<'static, ()>>,
}

static TURN: Mutex<()> = Mutex::new(());

impl Folder {
    fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// Creates a folder inside the workspace of Alcedo. The commands of the README also create projects there.
    fn inside_the_workspace() -> Self {
        Self::of(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    fn of(dir: TempDir) -> Self {
        Self { dir, built: Vec::new(), turn: None }
    }

    /// Runs `alcedo new` in a subfolder. Returns its output.
    fn new_in(&self, dir: &str, args: &[&str]) -> Result<String, String> {
        let output = self.alcedo(dir, args, &[]);
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        // Omits a line that depends on PATH.
        let out: String =
            out.lines().filter(|line| !line.contains("cargo install")).map(|line| format!("{line}\n")).collect();
        if output.status.success() { Ok(self.without_paths(&out)) } else { Err(self.without_paths(&err)) }
    }

    fn alcedo(&self, dir: &str, args: &[&str], env: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.env_remove("ALCEDO_CHECKOUT").envs(env.iter().copied());
        command.arg("new").args(args).current_dir(self.dir.path().join(dir)).output().unwrap()
    }

    /// Replaces the parts of the output that differ between runs.
    fn without_paths(&self, text: &str) -> String {
        let here = self.dir.path().canonicalize().unwrap();
        text.trim_end().replace(&here.display().to_string(), "HERE")
    }

    /// Runs `cargo test` in the folder. Returns the number of passed tests.
    fn cargo_test(&mut self, dir: &str, packages: &[&'static str]) -> usize {
        self.lock_packages(dir, packages);
        let output = self.cargo(dir).args(["test", "--offline", "--workspace"]).output().unwrap();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{err}\n{out}");
        assert!(!err.contains("warning:"), "{err}");
        out.lines().filter(|line| line.starts_with("test ") && line.ends_with(" ... ok")).count()
    }

    /// Acquires the lock for tests that build packages. Records these packages, so that their output is removed.
    fn lock_packages(&mut self, dir: &str, packages: &[&'static str]) {
        self.turn.get_or_insert_with(|| TURN.lock().unwrap_or_else(PoisonError::into_inner));
        self.built.push((self.dir.path().join(dir), packages.to_vec()));
    }

    fn cargo(&self, dir: &str) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(self.dir.path().join(dir)).env("CARGO_TARGET_DIR", target());
        cargo
    }

    /// Returns the sorted content of the folder.
    fn listed(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        for (dir, packages) in &self.built {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.current_dir(dir).env("CARGO_TARGET_DIR", target()).args(["clean", "--offline", "--quiet"]);
            cargo.args(packages.iter().flat_map(|package| ["--package", package]));
            let _ = cargo.stderr(Stdio::null()).status();
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn refused(folder: &Folder, dir: &str, args: &[&str], expected: Expect) {
    expected.assert_eq(&folder.new_in(dir, args).unwrap_err());
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands new:: -- --ignored`, as .ci/run does"]
fn a_new_workspace_passes_its_tests_with_an_added_plugin() {
    let mut folder = Folder::inside_the_workspace();
    expect![[r#"
        made HERE/our-game
          cd our-game && alcedo dev"#]]
    .assert_eq(&folder.new_in("", &["workspace", "our-game"]).unwrap());
    // The command works in every folder of the workspace.
    expect![[r#"
        made HERE/our-game/plugins/second_one, a plugin for our-game-host: it extends Robot
          cargo test -p second_one, or start `alcedo dev` and save in it"#]]
    .assert_eq(&folder.new_in("our-game/host/src", &["plugin", "second_one"]).unwrap());
    let packages = ["our-game-glue", "our-game-host", "our-game-patrol", "second_one"];
    // The host has one test, its first plugin has three tests, and the second plugin has one test.
    assert_eq!(folder.cargo_test("our-game", &packages), 5);
    assert_eq!(folder.listed(), ["our-game"]);
    let written = fs::read_dir(folder.dir.path().join("our-game")).unwrap().count();
    assert_eq!(written, 7, "sources, and nothing that was only needed to write them");
}

/// Checks the features of all packages that the host links, because a package with other features is built a second time.
#[test]
fn a_new_host_links_the_packages_that_its_tests_have_built() {
    let folder = Folder::inside_the_workspace();
    folder.new_in("", &["workspace", "once"]).unwrap();
    let packages = |edges: &str| -> BTreeSet<String> {
        let tree = ["tree", "--offline", "--workspace", "--prefix=none", "--format={p} [{f}]", "--edges", edges];
        let output = folder.cargo("once").args(tree).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
    };
    let (linked, tested) = (packages("normal,build"), packages("normal,build,dev"));
    let again: Vec<_> = linked.difference(&tested).map(|line| line.split(' ').next().unwrap()).collect();
    // The facade, which is small, includes test worlds only for tests.
    assert_eq!(again, ["alcedo"]);
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands new:: -- --ignored`, as .ci/run does"]
fn alcedo_dev_runs_a_new_workspace_and_reloads_its_plugin() {
    let mut folder = Folder::new();
    folder.new_in("", &["workspace", "live"]).unwrap();
    folder.lock_packages("live", &["live-glue", "live-host", "live-patrol", "live-second"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").current_dir(folder.dir.path().join("live")).env("CARGO_TARGET_DIR", target());
    let mut dev = Dev::run(command);
    dev.wait_for("generation 1 is live");
    dev.wait_for("LivePatrolRobot_1 is at ");
    let path = folder.dir.path().join("live/plugins/live-patrol/src/lib.rs");
    let source = fs::read_to_string(&path).unwrap();
    // With a negative track length, the robot turns immediately, at any position.
    fs::write(&path, source.replace("const TRACK: f64 = 10.0;", "const TRACK: f64 = -1000.0;")).unwrap();
    dev.wait_for("generation 1 → 2");
    dev.wait_for("LivePatrolRobot_1 is at -");
    // The host continues without an object of an abstract class.
    let base = "#[uclass(package = \"Game\", base = Robot, abstract, blueprintable)]\n#[derive(Default)]\npub struct Base {}\n";
    fs::write(&path, source + base).unwrap();
    dev.wait_for("generation 2 → 3");
    dev.wait_for("LivePatrolRobot_1 is at ");
    // A running session builds and loads a plugin that is added to the workspace.
    folder.new_in("live", &["plugin", "live-second"]).unwrap();
    dev.wait_for("building, because Cargo.toml changed");
    dev.wait_for("generation 3 → 4");
    dev.send("q");
    dev.expect_success();
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands new:: -- --ignored`, as .ci/run does"]
fn a_new_standalone_plugin_passes_its_tests_in_the_sample_engine() {
    let mut folder = Folder::new();
    // An unrelated enclosing workspace has no effect.
    fs::write(folder.dir.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    folder.new_in("", &["plugin", "alone"]).unwrap();
    assert_eq!(folder.cargo_test("alone", &["alone", "engine-glue"]), 2);
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands new:: -- --ignored`, as .ci/run does"]
fn a_new_host_passes_its_own_tests_and_loads_a_first_plugin() {
    let mut folder = Folder::new();
    folder.new_in("", &["host", "server"]).unwrap();
    assert_eq!(folder.cargo_test("server", &["server-glue", "server-host"]), 1);
    folder.new_in("server", &["plugin", "first"]).unwrap();
    assert_eq!(folder.cargo_test("server", &["server-glue", "server-host", "first"]), 2);
    let built = folder.cargo("server").args(["build", "--offline", "--quiet", "--package", "first"]).status().unwrap();
    assert!(built.success());
    // Paths of libraries may be relative to the working directory.
    let library = target().join("debug/libfirst.so");
    fs::copy(&library, folder.dir.path().join("server/first.so")).unwrap();
    let mut host = Dev::run({
        let mut host = Command::new(target().join("debug/server-host"));
        host.arg("first.so").current_dir(folder.dir.path().join("server"));
        host
    });
    let _line = host.wait_for("FirstRobot_1");
}

#[test]
fn rejected_requests_leave_no_files() {
    let folder = Folder::new();
    refused(
        &folder,
        "",
        &["plugin", "../x"],
        expect![[r#"
        alcedo: `../x` is a path: change to its parent folder, and run `alcedo new plugin x` there"#]],
    );
    refused(
        &folder,
        "",
        &["host", "Server"],
        expect![[r#"
        alcedo: `Server` cannot be the name of a module, because of 'S': it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes; `server` would do"#]],
    );
    refused(
        &folder,
        "",
        &["workspace", "-x"],
        expect![[r#"
        alcedo: `-x` cannot be the name of a module, because of how it begins: it has lower-case letters, digits, `_` and `-`, starts with a letter, and is not longer than 48 bytes; `x` would do"#]],
    );
    refused(
        &folder,
        "",
        &["plugin", "match"],
        expect![[r#"
        alcedo: `match` is a keyword of the Rust language, and a crate cannot have that name: choose another, such as `my-match`"#]],
    );
    refused(
        &folder,
        "",
        &["plugin", "x", "--alcedo", "nowhere"],
        expect![[r#"
        alcedo: HERE/nowhere is not a checkout of Alcedo: example-plugins/engine-glue/Cargo.toml is missing in it. New projects refer to Alcedo by path until the crates are published: clone the repository again, and pass its folder with `--alcedo DIR` or ALCEDO_CHECKOUT=DIR"#]],
    );
    assert!(folder.listed().is_empty(), "{:?}", folder.listed());

    fs::write(folder.dir.path().join("there"), "mine").unwrap();
    for kind in ["plugin", "host", "workspace"] {
        let expected = expect![[r#"
            alcedo: HERE/there is there already: take another name, or move it away first"#]];
        refused(&folder, "", &[kind, "there"], expected);
    }
    assert_eq!(folder.listed(), ["there"]);
    assert_eq!(fs::read_to_string(folder.dir.path().join("there")).unwrap(), "mine");
}

#[test]
fn a_workspace_is_not_written_where_it_breaks_another() {
    let folder = Folder::new();
    let manifest = folder.dir.path().join("Cargo.toml");
    fs::write(&manifest, "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n").unwrap();
    for kind in ["host", "workspace"] {
        let expected = expect![[r#"
            alcedo: `inner` would be a member of the workspace HERE, and cargo rejects a workspace inside another: go to a folder outside of it, or add "inner" to `exclude` in its `[workspace]`"#]];
        refused(&folder, "", &[kind, "inner"], expected);
    }
    assert_eq!(folder.listed(), ["Cargo.toml"]);
    fs::write(&manifest, "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\nexclude = [\"inner\"]\n").unwrap();
    folder.new_in("", &["workspace", "inner"]).unwrap();
    let described = folder.cargo("").args(["metadata", "--no-deps", "--format-version=1"]).output().unwrap();
    assert!(described.status.success(), "{}", text(&described.stderr));
}

#[test]
fn a_request_to_quit_leaves_no_workspace_that_breaks_another() {
    let folder = Folder::new();
    fs::write(folder.dir.path().join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n").unwrap();
    // The program requests to quit at the first of two calls of cargo, which is after the workspace was written. A second request would
    // end the command immediately.
    let bin = tempfile::tempdir().unwrap();
    let (cargo, sent) = (bin.path().join("cargo"), bin.path().join("sent"));
    let send_once = format!("mkdir '{}' 2>/dev/null && kill -INT $PPID", sent.display());
    fs::write(&cargo, format!("#!/bin/sh\n{send_once}\nexec '{}' \"$@\"\n", env!("CARGO"))).unwrap();
    fs::set_permissions(&cargo, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = folder.alcedo("", &["workspace", "inner"], &[("CARGO", &cargo)]);
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(sent.is_dir(), "the command has not called cargo");
    assert_eq!(folder.listed(), ["Cargo.toml"]);
}

/// Adds a plugin to a workspace without shared keys. The host of this workspace has no robots.
#[test]
fn a_plugin_is_written_for_the_host_that_is_there() {
    let folder = Folder::new();
    let files = [
        (
            "Cargo.toml",
            "[workspace]\nmembers = [\"zoo\", \"eyes\", \"plugins/*\"]\n[workspace.metadata.alcedo]\nhost = \"zoo\"\nglue = \"eyes\"\n",
        ),
        ("zoo/Cargo.toml", "[package]\nname = \"zoo\"\nedition = \"2024\"\n"),
        (
            "zoo/src/main.rs",
            "#[uclass(package = \"Zoo\")]\nstruct Keeper {}\n#[uclass(package = \"Zoo\", blueprintable)]\nstruct Bird {}\nfn main() { Runtime::builder().package(\"Mods\"); }\n",
        ),
        ("eyes/Cargo.toml", "[package]\nname = \"zoo-eyes\"\nedition = \"2024\"\n"),
        (
            "eyes/src/lib.rs",
            "#[uclass(imported, package = \"Zoo\", base = Object)]\npub struct Keeper {}\n\n#[uclass(imported, package = \"Zoo\", base = Object)]\npub struct Bird {}\n\n#[uclass(imported)]\nimpl Bird {\n    #[ufunction(blueprint_native_event)]\n    fn on_feed(&self, by: Obj<Keeper>, grams: f64) -> bool;\n}\n",
        ),
    ];
    for (path, text) in files {
        let path = folder.dir.path().join("w").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let expected = expect![[r#"
        alcedo: `tracing-core` is also a crate on which the project depends, so `cargo test -p tracing-core` would be ambiguous: take another name, such as `tracing-core-plugin`"#]];
    // The folder `plugins` is missing, so cargo alone would reject the member `plugins/*`.
    refused(&folder, "w", &["plugin", "tracing-core"], expected);
    assert!(!folder.dir.path().join("w/plugins").exists());
    expect![[r#"
        made plugins/tame, a plugin for zoo: it extends Bird
          cargo test -p tame, or start `alcedo dev` and save in it"#]]
    .assert_eq(&folder.new_in("w", &["plugin", "tame"]).unwrap());
    let written = folder.dir.path().join("w/plugins/tame");
    let source = fs::read_to_string(written.join("src/lib.rs")).unwrap();
    for line in [
        "use zoo_eyes::{Bird, Keeper};",
        "#[uclass(package = \"Mods\", base = Bird, blueprintable)]",
        "pub struct TameBird {",
        "fn on_feed(&mut self, this: This<Self>, _by: Obj<Keeper>, _grams: f64) -> bool {",
    ] {
        assert!(source.contains(line), "{line}:\n{source}");
    }
    assert!(!source.contains("Robot") && !written.join("tests").exists(), "{source}");
    let manifest: toml::Table = fs::read_to_string(written.join("Cargo.toml")).unwrap().parse().unwrap();
    let path = |name: &str| manifest["dependencies"][name]["path"].as_str().unwrap();
    assert_eq!(path("zoo-eyes"), "../../eyes");
    assert!(path("alcedo-plugin-api").starts_with("../../../"), "{manifest}");
    assert_eq!(manifest["package"]["edition"].as_str(), Some("2024"));

    // Without metadata, the command uses the only host and its glue.
    let write = |path: &str, text: &str| fs::write(folder.dir.path().join("w").join(path), text).unwrap();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let package = |name: &str, uses: &str, dir: &str| {
        format!(
            "[package]\nname = {name:?}\nedition = \"2024\"\n[dependencies]\n{uses} = {{ path = \"{}/{dir}\" }}\n",
            real.display()
        )
    };
    write("Cargo.toml", "[workspace]\nmembers = [\"zoo\", \"eyes\", \"plugins/*\"]\n");
    write("zoo/Cargo.toml", &package("zoo", "alcedo", "runtime/alcedo"));
    write("plugins/tame/Cargo.toml", &package("tame", "alcedo-plugin-api", "plugin-api"));
    let expected = expect![[r#"
        alcedo: the host `zoo` has no glue in the workspace of HERE/w/Cargo.toml, by which plugins use its classes: make a library with `alcedo-plugin-api` as its dependency, write its source with `alcedo glue --host zoo -o glue/src/lib.rs`, and run this again"#]];
    refused(&folder, "w", &["plugin", "wild"], expected);
    write("eyes/Cargo.toml", &package("zoo-eyes", "alcedo-plugin-api", "plugin-api"));
    expect![[r#"
        made plugins/wild, a plugin for zoo: it extends Bird
          cargo test -p wild, or start `alcedo dev --host zoo` and save in it"#]]
    .assert_eq(&folder.new_in("w", &["plugin", "wild"]).unwrap());
}

#[test]
fn a_workspace_without_a_needed_line_names_it_for_a_new_plugin() {
    let folder = Folder::new();
    folder.new_in("", &["host", "h"]).unwrap();
    folder.new_in("h", &["plugin", "one-two"]).unwrap();
    refused(
        &folder,
        "h",
        &["plugin", "one-two"],
        expect![[r#"
        alcedo: `one-two` would be the module `one_two`, which package `one-two` of this workspace already is: take another name"#]],
    );
    refused(
        &folder,
        "h",
        &["plugin", "one_two"],
        expect![[r#"
        alcedo: `one_two` would be the module `one_two`, which package `one-two` of this workspace already is: take another name"#]],
    );

    let manifest = folder.dir.path().join("h/Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("\"plugins/*\"", "\"plugins/one-two\"")).unwrap();
    refused(
        &folder,
        "h",
        &["plugin", "three"],
        expect![[r#"
        alcedo: HERE/h/plugins/three would be no member of its workspace: add "plugins/*" to `members` in HERE/h/Cargo.toml, and run this again"#]],
    );
    fs::write(&manifest, text.replace("glue = \"glue\"", "glue = \"glu\"")).unwrap();
    refused(
        &folder,
        "h",
        &["plugin", "three"],
        expect![[r#"
        alcedo: HERE/h/Cargo.toml declares a workspace for Alcedo, but `glue = "glu"` in `[workspace.metadata.alcedo]` is not a folder of a package in it: correct the line"#]],
    );
    assert!(!folder.dir.path().join("h/plugins/three").exists());
}

#[test]
fn a_named_checkout_is_used() {
    let folder = Folder::new();
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    // The name of the folder must be escaped in a manifest.
    let link = folder.dir.path().join("a \"checkout\"");
    fs::create_dir(&link).unwrap();
    for dir in ["example-plugins", "plugin-api", "runtime", "tools"] {
        std::os::unix::fs::symlink(real.join(dir), link.join(dir)).unwrap();
    }
    let output = folder.alcedo("", &["plugin", "x"], &[("ALCEDO_CHECKOUT", &link)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let source = |dir: &str, key: &str| {
        let manifest: toml::Table =
            fs::read_to_string(folder.dir.path().join(dir).join("Cargo.toml")).unwrap().parse().unwrap();
        manifest["dependencies"]["alcedo-plugin-api"][key].as_str().unwrap().to_owned()
    };
    assert_eq!(source("x", "path"), "../a \"checkout\"/plugin-api");
    // Accepts the URL of a repository without a network request.
    folder.new_in("", &["plugin", "y", "--git", "https://alcedo.example/alcedo"]).unwrap();
    assert_eq!(source("y", "git"), "https://alcedo.example/alcedo");
    for file in ["y/README.md", "x/README.md"] {
        let text = fs::read_to_string(folder.dir.path().join(file)).unwrap();
        assert!(text.contains("`cargo install --") && !text.contains(&real.display().to_string()), "{text}");
    }
}
