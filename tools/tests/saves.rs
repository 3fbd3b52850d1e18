//! Saves files in many ways, and checks the reports of `alcedo dev --json`. Only the final content may become live.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::{Dev, Scratch};
use serde_json::Value;

/// A method of saving a file.
type Save = fn(&Path, &str);

/// Writes in two parts with a pause between them, like a slow program.
fn in_parts(path: &Path, text: &str) {
    let mut file = File::create(path).unwrap();
    let (first, second) = text.split_at(text.len() / 2);
    file.write_all(first.as_bytes()).unwrap();
    file.sync_all().unwrap();
    thread::sleep(Duration::from_millis(60));
    file.write_all(second.as_bytes()).unwrap();
}

fn by_truncation(path: &Path, text: &str) {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn by_rename(path: &Path, text: &str) {
    let new = path.with_extension("rs.new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

fn by_unlink(path: &Path, text: &str) {
    fs::remove_file(path).unwrap();
    thread::sleep(Duration::from_millis(30));
    fs::write(path, text).unwrap();
}

/// First renames the old file, as vim does with `backup`.
fn with_backup(path: &Path, text: &str) {
    fs::rename(path, path.with_extension("rs~")).unwrap();
    fs::write(path, text).unwrap();
}

/// Saves different content immediately before the final content.
fn twice(path: &Path, text: &str) {
    fs::write(path, text.replace("default = ", "default = 7")).unwrap();
    fs::write(path, text).unwrap();
}

/// First saves unformatted content. Saves the final content after the build has begun, as a formatter does.
fn formatted(path: &Path, text: &str) {
    fs::write(path, text.replace("    fn ", "        fn ")).unwrap();
    thread::sleep(Duration::from_millis(150));
    fs::write(path, text).unwrap();
}

fn event(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Waits for code with this default value to be live.
fn wait_for_default(dev: &mut Dev, speed: &str) {
    for _ in 0..600 {
        dev.send(": get Default__MagicCube rotation_speed");
        if event(&dev.wait_for(r#""event":"answer""#))["text"] == *speed {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    panic!("{speed} is not live; all output:\n{}", dev.all_since("\0"));
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands saves:: -- --ignored`, as .ci/run does"]
fn the_final_content_is_live_for_each_way_to_save() {
    let scratch = Scratch::new();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg(scratch.plugin()).args(["--objects", "3", "--json"]);
    let mut dev = Dev::run(command);
    let live = event(&dev.wait_for(r#""event":"live""#));
    assert_eq!(live["generation"], 1);
    let (healthy, path) = (scratch.source(), scratch.plugin().join("src/lib.rs"));
    let with = |speed: &str| healthy.replace("default = 180.0", &format!("default = {speed}.0"));
    let ways: [Save; 7] = [in_parts, by_truncation, by_rename, by_unlink, with_backup, twice, formatted];
    for (at, save) in ways.into_iter().enumerate() {
        let speed = format!("{}", 200 + at);
        save(&path, &with(&speed));
        wait_for_default(&mut dev, &speed);
    }

    // A switch to a different branch changes many files.
    let modules: String = (0..40).map(|at| format!("mod part_{at};\n")).collect();
    for at in 0..40 {
        fs::write(path.with_file_name(format!("part_{at}.rs")), format!("pub(crate) const PART: u32 = {at};\n"))
            .unwrap();
    }
    let source =
        with("300").replace("use alcedo_plugin_api", &format!("#[allow(unused)]\n{modules}use alcedo_plugin_api"));
    by_rename(&path, &source.replace("mod part_", "#[allow(unused)] mod part_"));
    wait_for_default(&mut dev, "300");

    // Saves equal content.
    let source = fs::read_to_string(&path).unwrap();
    let seen = dev.all_since("\0").lines().count();
    by_rename(&path, &source);
    event(&dev.wait_for(r#""event":"unchanged""#));
    dev.send("s");
    assert_eq!(event(&dev.wait_for(r#""event":"status""#))["status"]["running"], true);
    dev.send("q");
    event(&dev.wait_for(r#""event":"end""#));
    let output = dev.all_since("\0");
    assert!(output.lines().count() > seen);
    for line in output.lines().map(event) {
        assert!(line["event"].is_string(), "{line}");
        if line["event"] == "live" && line["report"].is_object() {
            assert!(line["timings"].as_array().is_some_and(|parts| parts.len() >= 4), "{line}");
        }
        assert_ne!(line["event"], "not_confirmed", "{line}");
    }
    // No intermediate content became live.
    let changes = |line: &Value| line["changes"].to_string();
    let others = output.lines().map(event).filter(|line| line["event"] == "live" && changes(line).contains("→ 7"));
    assert_eq!(others.count(), 0, "{output}");
    dev.expect_success();
}
