//! Tests `alcedo inspect`. The command describes a library as text and as JSON. For a file that is not an Alcedo library, the command
//! prints the reason.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::expect;
use serde_json::Value;

use crate::support::plugin;

fn inspect(file: &Path, json: bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("inspect").arg(file);
    if json {
        command.arg("--json");
    }
    command.output().unwrap()
}

#[test]
fn output_that_cannot_be_written_is_an_error_unless_its_reader_has_closed_it() {
    let library = plugin("magic-cube", &[]);
    let to = |stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("inspect").arg(&library).stdout(stdout).output().unwrap()
    };
    let full = to(fs::File::options().write(true).open("/dev/full").unwrap().into());
    let errors = String::from_utf8(full.stderr).unwrap();
    assert!(errors.starts_with("alcedo: could not write the output: No space left on device"), "{errors}");
    assert_eq!(full.status.code(), Some(1));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let closed = to(writer.into());
    assert!(closed.status.success() && closed.stderr.is_empty(), "{closed:?}");
}

#[test]
fn options_of_scripts_are_refused_for_a_library() {
    let library = plugin("magic-cube", &[]);
    for (name, options, expected) in [
        ("inspect", &["--with", ".", "--host", "rig"][..], "cannot use --with, --host with the library"),
        ("glue", &["--with", "."], "cannot use --with with the library"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        let output = command.arg(name).arg(&library).args(options).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(expected) && !output.status.success(), "{errors}");
    }
}

#[test]
fn a_library_is_printed_with_its_types_and_imports() {
    let library = plugin("magic-cube", &[]);
    let output = inspect(&library, false);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("magic_cube 0.1.0   "), "{text}");
    assert!(text.contains("  seal       sealed\n") && text.contains("  compiler   rustc "), "{text}");
    let types = text.split_once("\n\n").unwrap().1.split_once("\nuses\n").unwrap().0;
    expect![[r#"
        class /Script/Game.MagicCube : /Script/Engine.Actor   blueprintable
          /// A cube that rotates and bobs.
          /// Rotation in degrees per second.
          rotation_speed: f64 = 180.0   edit_anywhere, blueprint_read, blueprint_write
          /// Visible part of the cube.
          mesh: Object(/Script/Engine.SceneComponent)   default_subobject, root_component
          /// Returns the number of greetings.
          fn greeting_count() -> u32   blueprint_pure, const
          fn receive_tick(delta: f32)   overrides /Script/Engine.Actor
          /// Greets.
          fn say_hello()   blueprint_callable, blueprint_native_event

        functions by name
          nm:/magic_cube:/Script/Game.MagicCube:build_tag   -> u64
    "#]]
    .assert_eq(types);
    assert!(text.contains("\n  /Script/Engine.Actor:receive_tick   overridden function\n"), "{text}");

    let json: Value = serde_json::from_slice(&inspect(&library, true).stdout).unwrap();
    assert_eq!(
        (&json["name"], &json["sealed"], &json["will_park"]),
        (&"magic_cube".into(), &true.into(), &Value::Null)
    );
    let class = &json["declared"]["classes"][0];
    assert_eq!(class["properties"][0]["name"], "rotation_speed");
    assert_eq!(class["properties"][0]["type"], "f64");
    assert_eq!(class["properties"][0]["flags"][0], "edit_anywhere");
    let uses = json["declared"]["imports"].as_array().unwrap();
    assert!(uses.iter().any(|used| used["path"] == "/Script/Engine.Actor:receive_tick"), "{uses:?}");
}

#[test]
fn declared_permissions_are_printed() {
    let library = plugin("modest", &[]);
    let text = String::from_utf8(inspect(&library, false).stdout).unwrap();
    assert!(text.contains("\n  may use    files\n"), "{text}");
    let json: Value = serde_json::from_slice(&inspect(&library, true).stdout).unwrap();
    assert_eq!(json["permissions"], serde_json::json!(["files"]));
}

#[test]
fn functions_that_may_fail_are_printed_with_a_result() {
    let library = plugin("lamps", &[]);
    let text = String::from_utf8(inspect(&library, false).stdout).unwrap();
    for line in [
        "\n  fn flicker(times: u32) -> Result<u32>   blueprint_callable, blueprint_native_event\n",
        "\n  fn dim(by: f64) -> Result<()>   blueprint_callable\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn delegates_are_printed_with_their_parameters() {
    let library = plugin("delegates", &[]);
    let text = String::from_utf8(inspect(&library, false).stdout).unwrap();
    for lines in [
        "\ndelegate /Script/Game.OnScored(points: i32, by: Object(/Script/Game.Player))   multicast\n  /// Broadcast after a score.\n",
        "\ndelegate /Script/Game.Player:MayScore(points: i32) -> bool   single\n",
        "\ndelegate /Script/Game.Player:OnQuiet()   sparse\n",
        "\n  on_scored: MulticastDelegate(/Script/Game.OnScored(i32, Object(/Script/Game.Player)))\n",
    ] {
        assert!(text.contains(lines), "{text}");
    }
    let json: Value = serde_json::from_slice(&inspect(&library, true).stdout).unwrap();
    let found = &json["declared"]["delegates"][1];
    assert_eq!((&found["path"], &found["sort"]), (&"/Script/Game.Player:MayScore".into(), &"single".into()));
    assert_eq!((&found["params"][0]["name"], &found["result"]), (&"points".into(), &"bool".into()));
}

#[test]
#[cfg(target_os = "linux")]
fn libraries_of_the_system_are_reported_as_no_modules() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let mut libraries: Vec<_> = mapped.filter(|path| path.contains(".so")).collect();
    libraries.dedup();
    assert!(libraries.iter().any(|path| path.contains("libc.so")), "{maps}");
    for library in libraries {
        let output = inspect(Path::new(library), false);
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(messages.contains("is a library, but no Alcedo module: it has no manifest section"), "{messages}");
    }
}

#[test]
fn files_other_than_plugin_libraries_are_rejected_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("libnote.so");
    fs::write(&file, "only words").unwrap();
    for (path, reason) in [
        (file.as_path(), "libnote.so"),
        (&dir.path().join("nowhere.so"), "nowhere.so"),
        (dir.path(), "is a folder with no `.uc` files in it"),
        (Path::new(env!("CARGO_BIN_EXE_alcedo")), "not a shared library"),
    ] {
        let output = inspect(path, false);
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{messages}");
        assert!(messages.starts_with("alcedo: ") && messages.contains(reason), "{messages}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn control_characters_of_a_file_name_are_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lib\u{1b}[31mred\nline.so");
    fs::write(&file, "only words").unwrap();
    let messages = String::from_utf8(inspect(&file, false).stderr).unwrap();
    assert!(messages.contains("lib\\u{1b}[31mred\\nline.so") && messages.lines().count() == 1, "{messages}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    let messages = String::from_utf8(command.arg("check-abi").args([&file, &file]).output().unwrap().stderr).unwrap();
    assert!(messages.contains("lib\\u{1b}[31mred\\nline.so") && messages.lines().count() == 1, "{messages}");
}
