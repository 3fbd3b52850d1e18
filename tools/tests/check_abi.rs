//! Tests `alcedo check-abi` with builds of one plugin: a compatible build, breaking builds, a build with a different ABI, and unreadable
//! files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use alcedo_abi::ABI_NUMBER;
use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::manifest::SECTION;
use object::{Object as _, ObjectSection as _};
use serde_json::Value;

use crate::support::Scratch;

/// Size of the seal at the end of a file. The seal detects each change of the file.
const SEAL: usize = 24;

fn check_abi(old: &Path, new: &Path, more: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_alcedo")).arg("check-abi").args([old, new]).args(more).output().unwrap()
}

/// Runs the command, checks its exit code, and returns the output.
fn printed(old: &Path, new: &Path, code: i32) -> String {
    let output = check_abi(old, new, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Builds a plugin, and copies the library, because the next build overwrites the file.
fn built(scratch: &Scratch, plugin: &str, copy: &str) -> PathBuf {
    let copy = scratch.root().join(copy);
    fs::copy(scratch.build(plugin), &copy).unwrap();
    copy
}

/// Writes a copy of a library whose manifest has a different ABI number. The copy has no seal.
fn with_other_abi(library: &Path) -> PathBuf {
    let mut bytes = fs::read(library).unwrap();
    bytes.truncate(bytes.len() - SEAL);
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let (start, _) = file.section_by_name(SECTION).unwrap().file_range().unwrap();
    let manifest = &mut bytes[usize::try_from(start).unwrap()..];
    manifest[16..20].copy_from_slice(&(ABI_NUMBER + 1).to_le_bytes());
    let len = u32::from_le_bytes(manifest[12..16].try_into().unwrap()) as usize;
    let sum = Fingerprint::START.bytes(&manifest[..len - 8]).finish();
    manifest[len - 8..len].copy_from_slice(&sum.to_le_bytes());
    let copy = library.with_extension("abi.so");
    fs::write(&copy, bytes).unwrap();
    copy
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands check_abi:: -- --ignored`, as .ci/run does"]
fn a_build_is_compatible_until_members_are_removed_or_changed() {
    let scratch = Scratch::new();
    let old = built(&scratch, "magic-cube", "old.so");
    assert_eq!(printed(&old, &old, 0), "host\n  no changes\nother plugins and scripts\n  no changes\nnothing breaks\n");

    let mesh = "    /// Visible part of the cube.\n";
    let mass = "    /// Mass in kilograms.\n    #[uproperty(default = 2.0)]\n    mass: f64,\n";
    scratch.edit(mesh, &format!("{mass}{mesh}"));
    let compatible = built(&scratch, "magic-cube", "compatible.so");
    let text = printed(&old, &compatible, 0);
    let added = "  compatible  /Script/Game.MagicCube:mass: added; living objects get its default\n";
    assert!(text.contains(added) && text.ends_with("\nnothing breaks\n"), "{text}");

    let text = printed(&compatible, &old, 1);
    let removed = "  breaks      /Script/Game.MagicCube:mass: removed; ";
    assert_eq!(text.matches(removed).count(), 2, "once for the host, and once for other plugins:\n{text}");
    assert!(text.ends_with("\n2 changes break a host, other plugins or scripts\n"), "{text}");

    scratch.edit(
        "fn greeting_count(&self) -> u32 {\n        self.greetings",
        "fn greeting_count(&self) -> u64 {\n        self.greetings.into()",
    );
    let changed = built(&scratch, "magic-cube", "changed.so");
    let output = check_abi(&old, &changed, &["--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["breaking"], 2, "{json}");
    let found = &json["plugins"][0];
    assert_eq!(
        (&found["item"], &found["change"], &found["effect"]),
        (&"/Script/Game.MagicCube:greeting_count".into(), &"() -> u32 → () -> u64".into(), &"breaks".into())
    );

    let refused = printed(&old, &with_other_abi(&old), 1);
    let reason = format!("magic_cube: refused before it is mapped; magic_cube has ABI {}", ABI_NUMBER + 1);
    assert!(refused.contains(&reason), "{refused}");
    let output = check_abi(&with_other_abi(&old), &old, &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("use the `alcedo` of that host"), "{output:?}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands check_abi:: -- --ignored`, as .ci/run does"]
fn renamed_types_and_members_are_followed() {
    let scratch = Scratch::of_test_plugins();
    let build = |feature: &str| {
        let manifest = scratch.other("renames").join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text.replace("[features]\n", &format!("[features]\ndefault = [{feature:?}]\n"))).unwrap();
        let library = built(&scratch, "renames", &format!("{feature}.so"));
        fs::write(&manifest, text).unwrap();
        library
    };
    let old = built(&scratch, "renames", "old.so");
    let text = printed(&old, &build("renamed"), 1);
    for line in [
        "  compatible  /Script/Game.Merchant: renamed to /Script/Game.Trader; ",
        "  breaks      /Script/Game.Merchant: renamed to /Script/Game.Trader; ",
        "  compatible  /Script/Game.Merchant:weight: renamed to mass; its values are kept\n",
        "  compatible  /Script/Game.Mood:Lost: renamed; its values are kept\n",
        "  compatible  /Script/Game.Purse:gold: renamed to coins; its values are kept\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = printed(&old, &build("unlisted"), 1);
    for line in [
        "  breaks      /Script/Game.Scale:weight: removed; its values are put aside",
        "  compatible  /Script/Game.Scale:mass: added; living objects get its default\n",
        "  compatible  /Script/Game.Scale:stamp: u32 → u64; each value is converted, by a function of `#[migrate]` if there is one\n",
        "  breaks      /Script/Game.Scale:press: removed; calls by name fail",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn unreadable_files_are_reported_with_exit_code_2() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("libnote.so");
    fs::write(&file, "only words").unwrap();
    for (path, reason) in [
        (file.as_path(), "libnote.so"),
        (&dir.path().join("nowhere.so"), "nowhere.so"),
        (Path::new(env!("CARGO_BIN_EXE_alcedo")), "not a shared library"),
    ] {
        let output = check_abi(path, &file, &[]);
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{messages}");
        assert!(messages.starts_with("alcedo: could not read OLD: ") && messages.contains(reason), "{messages}");
        assert!(output.stdout.is_empty());
    }
}
