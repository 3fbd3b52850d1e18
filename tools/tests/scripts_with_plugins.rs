//! Tests script packages that extend classes of plugins. The tested commands do not run plugin code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::Scratch;

const FANCY: &str = "class FancyCube extends MagicCube;

var() int Hellos;

event SayHello()
{
    Hellos++;
    super.SayHello();
}

function int Greeted()
{
    return GreetingCount();
}
";

/// Creates a package in the folder of a crate. The package depends on this crate.
fn tale(scratch: &Scratch) -> PathBuf {
    let folder = scratch.plugin().join("scripts/Tale");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("FancyCube.uc"), FANCY).unwrap();
    folder
}

fn alcedo(scratch: &Scratch, within: &Path, args: &[&str]) -> (bool, String, String) {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    let Output { status, stdout, stderr } = command.args(args).current_dir(within).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.success(), text(&stdout), text(&stderr))
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands scripts_with_plugins:: -- --ignored`, as .ci/run does"]
fn packages_are_checked_with_the_plugins_next_to_them() {
    let scratch = Scratch::new();
    let tale = tale(&scratch);
    let check = |within: &Path, args: &[&str]| {
        let args: Vec<_> = ["check"].into_iter().chain(args.iter().copied()).collect();
        alcedo(&scratch, within, &args)
    };
    // Checks a folder that contains the package and the plugin crate.
    let (succeeded, output, messages) = check(&scratch.plugin(), &[]);
    assert!(succeeded && output == "Tale checked, 1 file: no errors\n", "{output}{messages}");
    // Specifies the dependency explicitly, by its crate or by its library.
    let library = find_library(&scratch).expect("it was built");
    let library = library.to_str().unwrap();
    for plugin in ["..", library] {
        let (succeeded, output, messages) = check(&scratch.plugin().join("scripts"), &["Tale", plugin]);
        assert!(succeeded && output.starts_with("Tale checked"), "{plugin}: {output}{messages}");
    }
    // Checks the package without its dependency.
    let (succeeded, output, _) = check(&scratch.plugin(), &["scripts/Tale"]);
    assert!(!succeeded && output.contains("MagicCube") && output.contains("Tale/FancyCube.uc:1"), "{output}");
    // Uses a missing member of the plugin's class.
    fs::write(tale.join("FancyCube.uc"), FANCY.replace("GreetingCount()", "GreetingCuont()")).unwrap();
    let (succeeded, output, _) = check(&scratch.plugin(), &[]);
    assert!(!succeeded && output.contains("GreetingCuont") && output.contains("Tale/FancyCube.uc:13"), "{output}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands scripts_with_plugins:: -- --ignored`, as .ci/run does"]
fn invalid_libraries_and_modules_are_reported() {
    let scratch = Scratch::new();
    let tale = tale(&scratch);
    fs::write(scratch.plugin().join("broken.so"), "no library").unwrap();
    let check = |args: &[&str]| alcedo(&scratch, &scratch.plugin(), args);
    let (succeeded, _, messages) = check(&["check", "scripts/Tail"]);
    assert!(!succeeded && messages.contains("at scripts/Tail: name a folder of `.uc` files"), "{messages}");
    let (succeeded, output, _) = check(&["check", tale.to_str().unwrap(), "broken.so"]);
    assert!(!succeeded && output.contains("broken.so") && output.contains("2 of 2"), "{output}");
    let (succeeded, _, messages) = check(&["check", "src"]);
    assert!(!succeeded && messages.contains("no package of scripts and no plugin in src"), "{messages}");
    let (succeeded, _, messages) = check(&["check", "broken.so"]);
    assert!(!succeeded && messages.contains("name a folder of `.uc` files as well"), "{messages}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands scripts_with_plugins:: -- --ignored`, as .ci/run does"]
fn inspect_and_glue_use_the_named_plugins_and_show_the_version() {
    let scratch = Scratch::new();
    let tale = tale(&scratch);
    let manifest = "version = \"1.2.0\"\n\n[dependencies]\nmagic_cube = \">=0.1\"\n";
    fs::write(tale.join("package.toml"), manifest).unwrap();
    let run = |args: &[&str]| alcedo(&scratch, &scratch.plugin(), args);
    let (succeeded, output, messages) = run(&["inspect", "scripts/Tale", "--with", "."]);
    assert!(succeeded && output.starts_with("Tale 1.2.0 "), "{output}{messages}");
    assert!(output.contains("needs      magic_cube >=0.1"), "{output}");
    assert!(output.contains("class /Script/Tale.FancyCube : /Script/Game.MagicCube"), "{output}");
    let (succeeded, output, messages) = run(&["inspect", "--json", "scripts/Tale", "--with", "."]);
    let json: serde_json::Value =
        serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}{messages}"));
    assert!(succeeded && json["version"] == "1.2.0" && json["dependencies"][0]["name"] == "magic_cube", "{output}");
    let packages = ["--package", "Engine=engine_glue", "--package", "Game=cube_glue"];
    let glue: Vec<_> = ["glue", "scripts/Tale", "--with", "."].into_iter().chain(packages).collect();
    let (succeeded, output, messages) = run(&glue);
    assert!(
        succeeded && output.contains("`Tale` 1.2.0") && output.contains("base = cube_glue::MagicCube"),
        "{output}{messages}"
    );
    // Requires a missing version.
    fs::write(tale.join("package.toml"), manifest.replace(">=0.1", "^7")).unwrap();
    let (succeeded, output, _) = run(&["check"]);
    assert!(!succeeded && output.contains("`Tale` needs `magic_cube` ^7"), "{output}");
    fs::write(tale.join("package.toml"), manifest.replace("magic_cube", "Saga")).unwrap();
    let (succeeded, output, _) = run(&["check"]);
    assert!(!succeeded && output.contains("`Tale` needs `Saga` >=0.1"), "{output}");
    fs::write(tale.join("package.toml"), manifest.replace("version", "vresion")).unwrap();
    let (succeeded, output, _) = run(&["check"]);
    assert!(!succeeded && output.contains("Tale/package.toml:1: ") && output.contains("vresion"), "{output}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands scripts_with_plugins:: -- --ignored`, as .ci/run does"]
fn glue_of_names_with_capital_letters_compiles_without_a_warning() {
    let scratch = Scratch::of_test_plugins();
    let listener = scratch.other("listener");
    let folder = listener.join("scripts/Ballad");
    fs::create_dir_all(&folder).unwrap();
    let text = "class Singer extends Actor;

enum EMood { MOOD_Low, MOOD_High };

struct Verse
{
    var int LineCount;
    var string FirstLine;
};

struct Beat
{
    var int Count;
};

var int SongCount;
var EMood Mood;

function int SingTwice(int HowOften, out int InAll, Beat B)
{
    InAll = HowOften;
    return SongCount;
}

static function int Sum(int A, int B)
{
    return A + B;
}
";
    fs::write(folder.join("Singer.uc"), text).unwrap();
    let glue = ["glue", "scripts/Ballad", "-o", "src/ballad.rs", "--package", "Engine=engine_glue"];
    let (succeeded, _, messages) = alcedo(&scratch, &listener, &glue);
    assert!(succeeded, "{messages}");
    // Permits missing docs, because the package has no doc comments.
    let text = "#![deny(warnings)]\n#![allow(missing_docs)]\n\npub mod ballad;\n\n\
                alcedo_plugin_api::module! { name: \"listener\" }\n";
    fs::write(listener.join("src/lib.rs"), text).unwrap();
    let mut cargo = scratch.command(env!("CARGO"));
    let output = cargo.args(["check", "--quiet"]).current_dir(&listener).output().unwrap();
    let written = fs::read_to_string(listener.join("src/ballad.rs")).unwrap();
    assert!(output.status.success(), "{}\n{written}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the library of the plugin. An earlier command has built this library.
fn find_library(scratch: &Scratch) -> Option<PathBuf> {
    let (_, output, _) = alcedo(scratch, &scratch.plugin(), &["build"]);
    output.split_whitespace().map(PathBuf::from).find(|path| path.is_file())
}
