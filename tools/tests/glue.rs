//! `alcedo glue`: what it writes compiles, and leads a plugin to the types of another module with no mirror written by hand.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use alcedo_runtime::{Runtime, Value};
use expect_test::expect;

use crate::support::{Scratch, target};

fn alcedo(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alcedo")).args(args).output().unwrap()
}

fn built(scratch: &Scratch, plugin: &str) -> std::path::PathBuf {
    let mut build = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    let output = build.arg("build").arg(scratch.other(plugin)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target().join(format!("debug/lib{}.so", plugin.replace('-', "_")))
}

fn written(library: &Path, more: &[&str]) -> String {
    let library = library.to_string_lossy();
    let output = alcedo(&[&["glue", &*library], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The hand-written mirror of `lamps` in `lamps-plus` is taken out, and what the tool writes takes its place.
#[test]
fn a_plugin_uses_another_one_by_what_the_tool_writes() {
    let scratch = Scratch::new();
    let lamps = built(&scratch, "lamps");
    let folder = scratch.other("lamps-plus").join("src");
    let out = folder.join("lamps.rs");
    let args = ["glue", &*lamps.to_string_lossy(), "--out", &*out.to_string_lossy()].map(str::to_owned);
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    assert!(alcedo(&args).status.success());
    let first = fs::read_to_string(&out).unwrap();
    let changed = fs::metadata(&out).unwrap().modified().unwrap();
    assert!(alcedo(&args).status.success());
    assert_eq!(fs::read_to_string(&out).unwrap(), first, "the same declarations give the same bytes");
    assert_eq!(fs::metadata(&out).unwrap().modified().unwrap(), changed, "and a file that has them is left alone");

    let source = fs::read_to_string(folder.join("lib.rs")).unwrap();
    let (before, rest) = source.split_once("/// The classes of the module `lamps`").unwrap();
    let (_mirror, after) = rest.split_once("\n}\n").unwrap();
    fs::write(folder.join("lib.rs"), format!("{before}mod lamps;\n{after}")).unwrap();
    let plus = built(&scratch, "lamps-plus");

    let runtime = Runtime::builder().package("Game").package("Test").build().unwrap();
    runtime.create_master(&[lamps, plus]).unwrap();
    let twin = runtime.objects().spawn("/Script/Game.TwinLamp").unwrap();
    assert_eq!(runtime.objects().call(twin, "flicker", &[Value::U32(3)]).unwrap(), Some(Value::U32(6)));
    runtime.shutdown().into_result().unwrap();
}

#[test]
fn what_is_written_has_the_docs_and_the_signatures_of_the_original() {
    let scratch = Scratch::new();
    let cube = built(&scratch, "magic-cube");
    let refused = alcedo(&["glue", &cube.to_string_lossy()]);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("--package Engine=some_crate"), "{said}");
    expect![[r#"
        // What the module `magic_cube` 0.1.0 declares, for plugins that use it. Written by `alcedo glue`: change the module
        // and write it again. While a plugin is loaded each type, member and signature is compared with the module's own.

        use alcedo_plugin_api::prelude::*;

        /// A cube that turns and bobs.
        #[uclass(imported, package = "Game", base = engine_glue::Actor)]
        pub struct MagicCube {
            /// Degrees a second.
            #[uproperty]
            rotation_speed: f64,
            /// What is seen of it.
            #[uproperty]
            mesh: Obj<engine_glue::SceneComponent>,
        }

        #[uclass(imported)]
        impl MagicCube {
            /// How often it said hello.
            #[ufunction]
            fn greeting_count(&self) -> u32;
            /// Says hello.
            #[ufunction(blueprint_native_event)]
            fn say_hello(&self);
        }
    "#]]
    .assert_eq(&written(&cube, &["--package", "Engine=engine_glue"]));
}

/// Every kind of member of the plugin that has them all.
#[test]
fn glue_of_every_kind_compiles() {
    let scratch = Scratch::new();
    let values = built(&scratch, "values");
    let text = written(&values, &["--package", "Engine=engine_glue", "--package", "Test=crate::test"]);
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
    built(&scratch, "lamps");
}

/// The sample engine, which is a host like any other.
fn engine(more: &[&str]) -> Output {
    let host = ["glue", "--host", env!("CARGO_BIN_EXE_alcedo"), "--host-arg", "dev-world"];
    alcedo(&[&host, more].concat())
}

#[test]
fn a_host_says_what_it_declares_and_the_bytes_are_the_same_each_time() {
    let first = engine(&["--only", "Engine"]);
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(first.status.success(), "{said}");
    let text = String::from_utf8(first.stdout.clone()).unwrap();
    for part in [
        "// What the host `alcedo` declares in package `Engine`, for plugins",
        "/// A place or a direction, in centimeters.\n#[ustruct(pod, imported, package = \"Engine\")]",
        "    /// Where it is.\n    #[uproperty]\n    location: Vector,",
        "    #[ufunction(blueprint_native_event)]\n    fn receive_tick(&self, delta_seconds: f32);",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(engine(&["--only", "Engine"]).stdout, first.stdout);
    let none = engine(&["--only", "Motor"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(!none.status.success() && said.contains("`Motor`") && said.contains("`Engine`"), "{said}");
}

/// Programs that are no host, or none that answers.
#[test]
fn a_host_that_gives_no_answer_is_an_error_that_says_what_was_tried_and_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let check = |script: &str, expected: &[&str]| {
        let host = folder.path().join("host");
        // Another file each time: the last one may still be open where it ran.
        let _ = fs::remove_file(&host);
        fs::write(&host, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&host, mode).unwrap();
        let host = host.to_string_lossy();
        let output = alcedo(&["glue", "--host", &host, "--patience", "1"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&*host), "{said}");
        expected.iter().for_each(|part| assert!(said.contains(part), "{script}: {part} in\n{said}"));
        assert!(output.stdout.is_empty(), "{script}");
    };
    check("exit 0", &["without an answer", "exit status: 0", "Builder::build"]);
    check("echo no display >&2; exit 7", &["exit status: 7", "no display", "--host-arg"]);
    check("kill -SEGV $$", &["crashed before it answered", "signal: 11", "alcedo guard"]);
    check("sleep 1000", &["after 1 s", "--patience"]);
    // What it starts goes with it, and does not keep the answer waiting.
    check("sleep 1000 & exit 0", &["without an answer"]);
    check("echo nonsense > \"$ALCEDO_GLUE_REQUEST\"", &["is broken", "one checkout"]);
    check(": > \"$ALCEDO_GLUE_REQUEST\"", &["is broken"]);
    check("printf '\\033[2J' >&2", &["\\u{1b}[2J"]);
    let none = alcedo(&["glue", "--host", "no-such-host"]);
    let said = String::from_utf8(none.stderr).unwrap();
    assert!(said.contains("no-such-host"), "{said}");
}
