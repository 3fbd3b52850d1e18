//! Tests `alcedo doctor` on small workspaces. The command must report each problem with its fix, and no further problems.

use std::fs;
use std::path::Path;
use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::Value;
use tempfile::TempDir;

/// Profile that hosts require.
const PROFILE: &str = r#"
[profile.dev.package]
abi_stable = { opt-level = 2 }
alcedo-base = { opt-level = 1 }
alcedo-reflect = { opt-level = 1 }
alcedo-runtime = { opt-level = 1 }
alcedo-sys = { opt-level = 3 }
alcedo-zcall = { opt-level = 1 }
curve25519-dalek = { opt-level = 3 }
memchr = { opt-level = 3 }
object = { opt-level = 3 }
sha2 = { opt-level = 3 }
xxhash-rust = { opt-level = 3 }
"#;

/// Creates a workspace with these packages. Each package is a pair of its name and additional manifest content. The packages need not
/// build.
fn workspace(root: &str, packages: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let members: Vec<_> = packages.iter().map(|(name, _)| format!("{name:?}")).collect();
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [{}]\n{root}", members.join(", "));
    fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
    for (name, more) in packages {
        let source = dir.path().join(name).join("src/lib.rs");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(source, "").unwrap();
        let manifest = format!("[package]\nname = {name:?}\nedition = \"2024\"\n{more}");
        // Cargo reads the manifests of path dependencies.
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let manifest = manifest.replace("ALCEDO", &repository.display().to_string());
        fs::write(dir.path().join(name).join("Cargo.toml"), manifest).unwrap();
    }
    dir
}

const HOST: (&str, &str) = ("host", "[dependencies]\nalcedo = { path = \"ALCEDO/runtime/alcedo\" }\n");

fn plugin(more: &'static str) -> String {
    format!(
        "[lib]\ncrate-type = [\"cdylib\"]\n[dependencies]\nalcedo-plugin-api = {{ path = \"ALCEDO/plugin-api\" }}\n{more}"
    )
}

fn doctor(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.args(["doctor", "--json"]).arg(dir).env("CARGO", env!("CARGO"));
    command
}

/// Returns the findings of the state `state` with their fixes. The flag is true if the command failed.
fn lines_of_state(mut command: Command, state: &str) -> (String, bool) {
    let output = command.output().unwrap();
    let lines: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let matching = lines.iter().filter(|line| line["state"] == state);
    let text: String = matching
        .map(|line| format!("{}\n{}", line["what"].as_str().unwrap(), indented(line["copy"].as_str().unwrap())))
        .collect();
    (text, !output.status.success())
}

fn indented(copy: &str) -> String {
    copy.lines().map(|line| format!("    {line}\n")).collect()
}

fn wrong(dir: &TempDir, expected: Expect) {
    let (text, failed) = lines_of_state(doctor(dir.path()), "wrong");
    let here = dir.path().display().to_string();
    expected.assert_eq(&text.replace(&here, "HERE"));
    assert_eq!(failed, !text.is_empty(), "the exit code matches");
}

#[test]
fn a_workspace_as_alcedo_new_writes_it_has_nothing_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let mut new = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    assert!(new.args(["new", "workspace", "x"]).current_dir(dir.path()).output().unwrap().status.success());
    let (text, failed) = lines_of_state(doctor(&dir.path().join("x")), "wrong");
    assert_eq!((text.as_str(), failed), ("", false));
    let (fine, _) = lines_of_state(doctor(&dir.path().join("x")), "fine");
    for line in [
        "plugin `x-patrol`",
        "host `x-host`",
        "debug builds optimize the runtime",
        "`alcedo dev` runs the host `x-host`",
    ] {
        assert!(fine.contains(line), "{fine}");
    }
    let (notes, _) = lines_of_state(doctor(&dir.path().join("x")), "note");
    assert!(!notes.contains("absolute"), "{notes}");
    let mut new = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    assert!(new.args(["new", "plugin", "y"]).current_dir(dir.path()).output().unwrap().status.success());
    assert_eq!(lines_of_state(doctor(&dir.path().join("y")), "wrong"), (String::new(), false));
}

/// Returns the path of this checkout, relative to a folder.
fn checkout_from(dir: &Path) -> String {
    let up = "../".repeat(dir.canonicalize().unwrap().components().count() - 1);
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    format!("{up}{}", checkout.strip_prefix("/").unwrap().display())
}

#[test]
fn absolute_or_dangling_paths_and_a_missing_command_get_lines_to_copy() {
    let one = plugin("two = { path = \"../two\" }\n");
    let dir = workspace(
        "[workspace.dependencies]\nalcedo-runtime = { path = \"../old/runtime\" }\n",
        &[("one", &one), ("two", "")],
    );
    let mut command = doctor(dir.path());
    command.env("PATH", "/usr/bin:/bin").env("RUSTC", Path::new(env!("CARGO")).with_file_name("rustc"));
    let (notes, failed) = lines_of_state(command, "note");
    let checkout = checkout_from(dir.path());
    assert!(failed && notes.contains("shells find no `alcedo` in PATH\n    cargo install --path /"), "{notes}");
    let line = format!(
        "absolute paths, which no other machine has: name them from its folder, or by `git`\n    [dependencies]\n    \
                        alcedo-plugin-api = {{ path = \"../{checkout}/plugin-api\" }}\n"
    );
    assert!(notes.contains("the package `one` has dependencies by ") && notes.contains(&line), "{notes}");
    assert!(!notes.contains("two = "), "{notes}");
    let (wrong, _) = lines_of_state(doctor(dir.path()), "wrong");
    assert_eq!(
        wrong,
        format!(
            "the workspace has dependencies by paths without a package: the checkout of this `alcedo` is elsewhere\n    \
             [workspace.dependencies]\n    alcedo-runtime = {{ path = \"{checkout}/runtime\" }}\n"
        )
    );
}

#[test]
fn dangling_paths_get_lines_to_copy_although_cargo_rejects_the_workspace() {
    let plugin = "[lib]\ncrate-type = [\"cdylib\"]\n[dependencies]\nalcedo-plugin-api.workspace = true\n";
    let dir = workspace(
        "[workspace.dependencies]\nalcedo-plugin-api = { path = \"../old/plugin-api\" }\n",
        &[("one", plugin)],
    );
    let checkout = checkout_from(dir.path());
    let line =
        format!("    [workspace.dependencies]\n    alcedo-plugin-api = {{ path = \"{checkout}/plugin-api\" }}\n");
    for folder in ["", "one"] {
        let (wrong, _) = lines_of_state(doctor(&dir.path().join(folder)), "wrong");
        assert!(wrong.starts_with("cargo cannot read ") && wrong.ends_with(&line), "{wrong}");
    }
}

#[test]
fn absolute_paths_are_found_in_all_sections_of_dependencies() {
    let one = plugin(
        "[dev-dependencies]\nalcedo-runtime = { path = \"ALCEDO/runtime\" }\n\
         [build-dependencies]\nalcedo-build = { path = \"ALCEDO/tools/build\" }\n",
    );
    let (notes, _) = lines_of_state(doctor(workspace("", &[("one", &one)]).path()), "note");
    for section in ["[dev-dependencies]\n    alcedo-runtime = ", "[build-dependencies]\n    alcedo-build = "] {
        assert!(notes.contains(section), "{notes}");
    }
}

#[test]
fn a_host_without_the_profile_gets_the_missing_lines() {
    wrong(
        &workspace("", &[HOST]),
        expect![[r#"
        debug builds do not optimize abi_stable, alcedo-base, alcedo-reflect, alcedo-runtime, alcedo-sys, alcedo-zcall, curve25519-dalek, memchr, object, sha2, xxhash-rust: each reload takes several times as long
            [profile.dev.package]
            abi_stable = { opt-level = 2 }
            alcedo-base = { opt-level = 1 }
            alcedo-reflect = { opt-level = 1 }
            alcedo-runtime = { opt-level = 1 }
            alcedo-sys = { opt-level = 3 }
            alcedo-zcall = { opt-level = 1 }
            curve25519-dalek = { opt-level = 3 }
            memchr = { opt-level = 3 }
            object = { opt-level = 3 }
            sha2 = { opt-level = 3 }
            xxhash-rust = { opt-level = 3 }
    "#]],
    );
    let some = "[profile.dev.package.\"*\"]\nopt-level = 1\n[profile.dev.package.object]\nopt-level = 0\n";
    wrong(
        &workspace(some, &[HOST]),
        expect![[r#"
        debug builds do not optimize object: each reload takes several times as long
            [profile.dev.package]
            object = { opt-level = 3 }
    "#]],
    );
    for enough in [PROFILE, "[profile.dev]\nopt-level = 1\n", "[profile.dev.package.\"*\"]\nopt-level = \"s\"\n"] {
        wrong(&workspace(enough, &[HOST]), expect![""]);
    }
}

#[test]
fn a_plugin_that_links_a_plugin_or_host_gets_a_hint() {
    let one = plugin("two = { path = \"../two\" }\nalcedo = { path = \"ALCEDO/runtime/alcedo\" }\n");
    let two = plugin("").replace("[\"cdylib\"]", "[\"cdylib\", \"rlib\"]");
    wrong(
        &workspace("", &[("one", &one), ("two", &two)]),
        expect![[r#"
            plugin `one` depends on alcedo: it would link a second host, which has none of the objects. Only its tests may use it
                [dev-dependencies]
                alcedo.workspace = true
            plugin `one` depends on plugin `two`: each has a heap of its own, and one library cannot have two ("the `#[global_allocator]` in this crate conflicts"). Put what both use into a library without `module!`; classes of the other one are used by what `alcedo glue` writes of its library
        "#]],
    );
    let (notes, _) = lines_of_state(doctor(workspace("", &[("two", &two)]).path()), "note");
    assert!(notes.contains("plugin `two` is a library for other crates as well: its tests may link it"), "{notes}");
    let tests = plugin("[dev-dependencies]\nalcedo-runtime = { path = \"ALCEDO/runtime\" }\n");
    wrong(
        &workspace(
            "",
            &[("one", &tests), ("glue", "[dependencies]\nalcedo-plugin-api = { path = \"ALCEDO/plugin-api\" }\n")],
        ),
        expect![""],
    );
}

#[test]
fn a_plugin_without_a_cdylib_is_reported_unlike_a_glue_crate() {
    let uses = "[dependencies]\nalcedo-plugin-api = { path = \"ALCEDO/plugin-api\" }\n";
    let dir = workspace("", &[("one", uses), ("glue", uses), ("two", &plugin(""))]);
    fs::write(dir.path().join("one/src/lib.rs"), "//! A plugin.\nalcedo_plugin_api::module! { name: \"one\" }\n")
        .unwrap();
    fs::write(dir.path().join("glue/src/lib.rs"), "// No plugin, and so without\n// module! { name: \"glue\" }\n")
        .unwrap();
    wrong(
        &dir,
        expect![[r#"
            package `one` has a `module!` in lib.rs and builds no `cdylib`: no library of this plugin is built
                [lib]
                crate-type = ["cdylib"]
        "#]],
    );
    // An rlib for other crates is not a plugin either.
    let rlib = format!("[lib]\ncrate-type = [\"rlib\"]\n{uses}");
    let dir = workspace("", &[("one", &rlib)]);
    fs::write(dir.path().join("one/src/lib.rs"), "module!(name: \"one\");\n").unwrap();
    let (text, _) = lines_of_state(doctor(dir.path()), "wrong");
    assert!(text.starts_with("package `one` has a `module!` in lib.rs and builds no `cdylib`"), "{text}");
}

#[test]
fn a_host_with_the_plugin_api_and_aborting_profiles_are_wrong() {
    let host = format!("{}alcedo-plugin-api = {{ path = \"ALCEDO/plugin-api\" }}\n", HOST.1);
    wrong(
        &workspace(PROFILE, &[("host", &host)]),
        expect![[r#"
        host `host` depends on alcedo-plugin-api, which is for plugins: a host declares its classes with `native::NativeClass`. Take the dependency out
    "#]],
    );
    let plugin = plugin("");
    wrong(
        &workspace("[profile.release]\npanic = \"abort\"\n", &[("one", &plugin)]),
        expect![[r#"
        `panic = "abort"` in `[profile.release]`: a host refuses plugins built so, since a panic in them would end it. Take the line out
    "#]],
    );
}

#[test]
fn folders_without_plugins_and_missing_hosts_are_named() {
    wrong(
        &workspace("", &[("one", "")]),
        expect![[r#"
        no package here uses alcedo-plugin-api or alcedo: name the folder of a plugin or a host, or make one
            alcedo new workspace my-game
    "#]],
    );
    let (text, failed) = lines_of_state(doctor(Path::new("/nowhere")), "wrong");
    assert!(text.starts_with("/nowhere/Cargo.toml is not there") && failed, "{text}");
    let plugin = plugin("");
    let (text, _) = lines_of_state(
        doctor(workspace("[workspace.metadata.alcedo]\nhost = \"nobody\"\n", &[("one", &plugin)]).path()),
        "wrong",
    );
    assert!(text.contains("nobody"), "{text}");
}

#[test]
fn missing_tools_are_reported_with_install_commands() {
    let plugin = plugin("");
    let dir = workspace("", &[("one", &plugin)]);
    let rustc = Path::new(env!("CARGO")).with_file_name("rustc");
    let mut command = doctor(dir.path());
    command.env("PATH", "/nowhere").env("RUSTC", rustc);
    let (text, failed) = lines_of_state(command, "wrong");
    expect![[r#"
        cc cannot be run, and rustc links with it: install a C compiler, or name a linker in .cargo/config.toml
            sudo apt-get install gcc
    "#]]
    .assert_eq(&text);
    assert!(failed);

    let mut command = doctor(dir.path());
    command.env("TMPDIR", dir.path().join("gone"));
    let (text, failed) = lines_of_state(command, "wrong");
    assert!(text.starts_with("no host can start here: ") && failed, "{text}");

    // Creates a program that reports an older version of the compiler.
    let old = dir.path().join("old-rustc");
    fs::write(&old, "#!/bin/sh\necho 'rustc 1.60.0 (old)'\n").unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = doctor(dir.path());
    command.env("RUSTC", &old);
    let (text, _) = lines_of_state(command, "wrong");
    assert!(text.starts_with("rustc 1.60.0 (old): Alcedo needs 1."), "{text}");

    // Prints the folder in which the program runs.
    fs::write(&old, "#!/bin/sh\necho \"rustc 1.999.0 (in ${PWD##*/})\"\n").unwrap();
    let mut command = doctor(Path::new("one/Cargo.toml"));
    command.env("RUSTC", "./old-rustc").current_dir(dir.path());
    let (text, _) = lines_of_state(command, "fine");
    assert!(text.contains("rustc 1.999.0 (in one)"), "{text}");
}

#[test]
fn folders_of_hosts_that_were_killed_are_removed_and_counted() {
    let plugin = plugin("");
    let dir = workspace("", &[("one", &plugin)]);
    let temporary = tempfile::tempdir().unwrap();
    // A killed host leaves an unlocked lock file behind.
    let stage = temporary.path().join("alcedo-stage-x");
    fs::create_dir(&stage).unwrap();
    fs::set_permissions(&stage, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(stage.join("lock"), "").unwrap();
    fs::set_permissions(stage.join("lock"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut command = doctor(dir.path());
    command.env("TMPDIR", temporary.path());
    let (text, failed) = lines_of_state(command, "note");
    assert!(text.contains("1 folders of killed hosts"), "{text}");
    assert!(!failed && !stage.exists());
}
