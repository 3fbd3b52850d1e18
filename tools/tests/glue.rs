//! Tests `alcedo glue`. The output must compile. Through this output, a plugin uses the types of another module without handwritten
//! declarations.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use alcedo_glue::{Glue, Origin};
use alcedo_runtime::{Runtime, Value};
use expect_test::{expect, expect_file};

use crate::support::{Scratch, folder, plugin};

fn alcedo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alcedo")).args(args).output().unwrap()
}

fn written(library: &Path, more: &[&str]) -> String {
    let library = library.to_string_lossy();
    let output = alcedo(&[&["glue", &*library], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the path of generated glue in a plugin of the repository.
fn in_repository(plugin: &str, file: &str) -> PathBuf {
    folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), plugin).join("src").join(file)
}

/// Checks that plugins contain no handwritten declarations of types of a host or another module. `UPDATE_EXPECT=1` writes the files.
#[test]
fn the_glue_of_the_example_plugins_is_what_the_tool_writes() {
    let engine = engine(&["--only", "Engine"]);
    assert!(engine.status.success(), "{}", String::from_utf8_lossy(&engine.stderr));
    expect_file![in_repository("engine-glue", "engine.rs")].assert_eq(&String::from_utf8(engine.stdout).unwrap());
    let base = written(&plugin("glue-base", &[]), &["--package", "Engine=engine_glue"]);
    expect_file![in_repository("glue-derived", "glue_base.rs")].assert_eq(&base);
    let lamps = written(&plugin("lamps", &[]), &[]);
    expect_file![in_repository("lamps-plus", "lamps.rs")].assert_eq(&lamps);
}

/// Checks the glue through which tests of hosts use plugins.
#[test]
fn the_glue_for_hosts_is_what_the_tool_writes() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/tests/host_glue");
    for name in ["chores", "lamps", "moods", "parcels", "delegates", "migration"] {
        let text = written(&plugin(name, &[]), &["--for-host", "--package", "Engine=alcedo_engine"]);
        expect_file![tests.join(format!("{name}.rs"))].assert_eq(&text);
    }
    let plus = written(&plugin("lamps-plus", &[]), &["--for-host", "--package", "Game=super::lamps"]);
    expect_file![tests.join("lamps_plus.rs")].assert_eq(&plus);
    // Glue for a host has Rust types for most kinds, and `Value` for the remaining kinds.
    let values = written(&plugin("values", &[]), &["--for-host"]);
    assert!(values.contains("host_class! {"), "{values}");
}

#[test]
fn an_unchanged_file_remains_and_a_plugin_uses_another_through_it() {
    let lamps = plugin("lamps", &[]);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("lamps.rs");
    fs::copy(in_repository("lamps-plus", "lamps.rs"), &out).unwrap();
    let args = ["glue", &*lamps.to_string_lossy(), "--out", &*out.to_string_lossy()].map(str::to_owned);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    let before = fs::metadata(&out).unwrap().modified().unwrap();
    let output = alcedo(&args);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("the glue is in "), "{output:?}");
    assert_eq!(fs::metadata(&out).unwrap().modified().unwrap(), before);
    // This plugin was compiled with the file that the test has just compared.
    let plus = plugin("lamps-plus", &[]);

    let runtime = Runtime::builder().package("Game").package("Test").build().unwrap();
    runtime.create_master(&[lamps, plus]).unwrap();
    let twin = runtime.objects().spawn("/Script/Game.TwinLamp").unwrap();
    assert_eq!(runtime.objects().call(twin, "flicker", &[Value::U32(3)]).unwrap(), Some(Value::U32(6)));
    runtime.shutdown().into_result().unwrap();
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands glue:: -- --ignored`, as .ci/run does"]
fn glue_without_arguments_is_written_again_for_the_workspace() {
    let scratch = Scratch::new();
    let glue = scratch.other("glue-derived").join("src/glue_base.rs");
    let current = fs::read_to_string(&glue).unwrap();
    let old = format!(
        "// What the module `glue_base` 0.1.0 declares, for plugins that use it. Written by `alcedo glue`: change the module\n{}",
        current
            .lines()
            .skip(1)
            .map(|line| format!("{line}\n"))
            .collect::<String>()
            .replace("    max_health: f64,\n", "")
    );
    fs::write(&glue, old.replace("    /// Upper limit of `health`.\n    #[uproperty]\n", "")).unwrap();
    let run = |expected: &str| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
        let output = command.arg("glue").current_dir(scratch.other("glue-derived").join("src")).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && messages.contains(expected), "{messages}");
        assert_eq!(fs::read_to_string(&glue).unwrap(), current);
    };
    run("glue written again: ");
    run("all glue is up to date");
}

#[test]
fn a_workspace_without_glue_gets_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = |expected: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        let output = command.arg("glue").current_dir(folder.path()).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{messages}");
        expected.iter().for_each(|part| assert!(messages.contains(part), "{part} in\n{messages}"));
    };
    run(&["`alcedo glue --host HOST -o glue/src/host.rs`", "`alcedo glue target/debug/libPLUGIN.so -o src/plugin.rs`"]);
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    let manifest = "[package]\nname = \"one-two\"\nedition = \"2024\"\n[lib]\ncrate-type = [\"cdylib\"]\n";
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    run(&["`alcedo glue target/debug/libone_two.so -o src/one_two.rs`"]);
}

/// Compares the glue in the template of `alcedo new` with generated glue.
#[test]
fn the_glue_of_new_workspaces_equals_the_output_of_the_tool() {
    let declared = robots::builder().declared().unwrap();
    let text = Glue::default().for_plugins(&Origin::host("{{name}}-host"), &declared).unwrap();
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/new/templates/glue/src/host.rs");
    expect_file![template].assert_eq(&text);
}

/// Host from the template of new workspaces.
#[allow(dead_code, unreachable_pub, reason = "this file is also a separate crate")]
#[path = "../src/new/templates/host/src/lib.rs"]
mod robots;

#[test]
fn the_output_has_docs_and_signatures_of_the_original() {
    let cube = plugin("magic-cube", &[]);
    let refused = alcedo(&["glue", &cube.to_string_lossy()]);
    assert_eq!(refused.status.code(), Some(1));
    let messages = String::from_utf8(refused.stderr).unwrap();
    assert!(messages.contains("--package Engine=some_crate"), "{messages}");
    expect![[r#"
        // Declarations of the module `magic_cube` 0.1.0 for plugins, written by `alcedo glue`.
        // Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.
        // Types of other packages: Engine=engine_glue

        use alcedo_plugin_api::prelude::*;

        /// A cube that rotates and bobs.
        #[uclass(imported, package = "Game", base = engine_glue::Actor)]
        pub struct MagicCube {
            /// Rotation in degrees per second.
            #[uproperty]
            rotation_speed: f64,
            /// Visible part of the cube.
            #[uproperty]
            mesh: Obj<engine_glue::SceneComponent>,
        }

        #[uclass(imported)]
        impl MagicCube {
            /// Returns the number of greetings.
            #[ufunction]
            fn greeting_count(&self) -> u32;
            /// Greets.
            #[ufunction(blueprint_native_event)]
            fn say_hello(&self);
        }
    "#]]
    .assert_eq(&written(&cube, &["--package", "Engine=engine_glue"]));
}

/// Covers every kind of member. The plugin of this test declares all kinds.
#[test]
#[ignore = "builds for minutes: `cargo test --test commands glue:: -- --ignored`, as .ci/run does"]
fn glue_of_every_kind_compiles() {
    let scratch = Scratch::of_test_plugins();
    let text = written(&plugin("values", &[]), &["--package", "Engine=engine_glue", "--package", "Test=crate::test"]);
    let user = scratch.other("lamps");
    fs::write(user.join("src/values.rs"), &text).unwrap();
    let lib = user.join("src/lib.rs");
    let source = fs::read_to_string(&lib).unwrap();
    let at = source.find("module!").unwrap();
    let (before, after) = source.split_at(at);
    fs::write(&lib, format!("{before}#[allow(dead_code, missing_docs)]\nmod values;\n{after}")).unwrap();
    let manifest = user.join("Cargo.toml");
    let words = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, words.replace("[dependencies]\n", "[dependencies]\nengine-glue.workspace = true\n")).unwrap();
    scratch.build("lamps");
}

/// Runs the sample engine, which is a usual host.
fn engine(more: &[&str]) -> Output {
    let host = ["glue", "--host", env!("CARGO_BIN_EXE_alcedo"), "--host-arg", "dev-world"];
    alcedo(&[&host, more].concat())
}

#[test]
fn a_host_reports_its_declarations_with_equal_bytes_each_time() {
    let first = engine(&["--only", "Engine"]);
    let messages = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(first.status.success(), "{messages}");
    let text = String::from_utf8(first.stdout.clone()).unwrap();
    for part in [
        "// Declarations of the host `alcedo` in package `Engine` for plugins, ",
        "/// A point or a direction, in centimeters.\n#[ustruct(pod, imported, package = \"Engine\")]",
        "    /// Location in the world.\n    #[uproperty]\n    location: Vector,",
        "    #[ufunction(blueprint_native_event)]\n    fn receive_tick(&self, delta_seconds: f32);",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(engine(&["--only", "Engine"]).stdout, first.stdout);
    let none = engine(&["--only", "Motor"]);
    let messages = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success() && messages.contains("`Motor`") && messages.contains("`Engine`"), "{messages}");
}

/// Covers programs that are not hosts, and programs that do not respond.
#[test]
fn a_host_without_an_answer_is_an_error_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let check = |script: &str, expected: &[&str]| {
        let host = folder.path().join("host");
        // Creates a new file each time, because the previous program may still be running.
        let _ = fs::remove_file(&host);
        fs::write(&host, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&host, mode).unwrap();
        let host = host.to_string_lossy();
        let output = alcedo(&["glue", "--host", &host, "--patience", "1"]);
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(messages.contains(&*host), "{messages}");
        expected.iter().for_each(|part| assert!(messages.contains(part), "{script}: {part} in\n{messages}"));
        assert!(output.stdout.is_empty(), "{script}");
    };
    check("exit 0", &["without an answer", "exit status: 0", "Builder::build"]);
    check("echo no display >&2; exit 7", &["exit status: 7", "no display", "--host-arg"]);
    check("kill -SEGV $$", &["crashed before it answered", "signal: 11", "alcedo guard"]);
    check("sleep 1000", &["after 1 s", "--patience"]);
    // Child processes of the program are killed and do not delay the response.
    check("sleep 1000 & exit 0", &["without an answer"]);
    check("echo nonsense > \"$ALCEDO_GLUE_REQUEST\"", &["is broken", "one checkout"]);
    check(": > \"$ALCEDO_GLUE_REQUEST\"", &["is broken"]);
    check("printf '\\033[2J' >&2", &["\\u{1b}[2J"]);
    let none = alcedo(&["glue", "--host", "no-such-host"]);
    let messages = String::from_utf8(none.stderr).unwrap();
    assert!(messages.contains("no-such-host"), "{messages}");
}

/// Checks that the host which the plugins of a package of scripts name has time to respond, and receives its arguments.
#[test]
fn the_host_of_scripts_has_its_arguments_and_the_stated_time_to_respond() {
    let dir = tempfile::tempdir().unwrap();
    let package = |name: &str, more: &str, file: &str, source: &str| {
        let folder = dir.path().join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        let manifest = format!("[package]\nname = {name:?}\nedition = \"2024\"\n{more}[workspace]\n");
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("src").join(file), source).unwrap();
    };
    let plugin = "[package.metadata.alcedo]\nhost = \"../rig\"\n[lib]\ncrate-type = [\"cdylib\"]\n";
    package("cube", plugin, "lib.rs", "");
    let late = "std::thread::sleep(std::time::Duration::from_secs(1000))";
    let main = format!("fn main() {{ if std::env::args().any(|arg| arg == \"late\") {{ {late} }} }}");
    package("rig", "", "main.rs", &main);
    fs::create_dir(dir.path().join("Tale")).unwrap();
    fs::write(dir.path().join("Tale/Hero.uc"), "class Hero extends Object;").unwrap();
    let [tale, cube] = ["Tale", "cube"].map(|name| dir.path().join(name).display().to_string());
    let check = |args: &[&str], expected: &str| {
        let output = alcedo(&[args, &["--host-arg=late"]].concat());
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(messages.contains(expected) && !output.status.success(), "{args:?}: {messages}");
    };
    check(&["glue", &tale, "--with", &cube, "--patience", "1"], "had not answered after 1 s");
    check(&["check", &tale, &cube, "--patience", "1"], "had not answered after 1 s");
    for command in ["glue", "check", "repl"] {
        check(&[command, &tale], "cannot use --host-arg with the sample engine");
    }
}

/// Checks the help for a plugin whose `Cargo.toml` links another plugin for its classes.
#[test]
#[ignore = "builds for minutes: `cargo test --test commands glue:: -- --ignored`, as .ci/run does"]
fn a_plugin_that_links_another_gets_a_hint_to_glue() {
    let scratch = Scratch::of_test_plugins();
    let change = |plugin: &str, from: &str, to: &str| {
        let manifest = scratch.other(plugin).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&manifest, text.replace(from, to)).unwrap();
    };
    change("lamps", "[\"cdylib\"]", "[\"cdylib\", \"rlib\"]");
    change("lamps-plus", "[dependencies]\n", "[dependencies]\nlamps = { path = \"../lamps\" }\n");
    let mut build = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    let output = build.arg("build").arg(scratch.other("lamps-plus")).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{messages}");
    for words in ["`lamps` is a plugin itself, and one library is one module", "alcedo glue target/debug/liblamps.so"] {
        assert!(messages.contains(words), "{words} in\n{messages}");
    }
}
