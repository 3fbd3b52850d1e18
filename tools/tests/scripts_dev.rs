//! Tests a script package under `alcedo dev`. Like an editor, the test saves, replaces, partially writes, adds, removes and breaks files.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Dev;

/// Time limit for a save to become live. An idle machine needs about a second.
const PROMPT: Duration = Duration::from_secs(10);

struct Tale {
    _dir: tempfile::TempDir,
    folder: PathBuf,
}

impl Tale {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("scripts/Tale");
        fs::create_dir_all(&folder).unwrap();
        let tale = Self { _dir: dir, folder };
        tale.save("Hero.uc", &hero(1));
        tale
    }

    fn save(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).unwrap();
    }

    /// Replaces a file atomically, like an editor that never leaves a partial file.
    fn replace(&self, file: &str, text: &str) {
        let temporary = self.folder.join(format!(".{file}.tmp"));
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, self.folder.join(file)).unwrap();
    }

    /// Starts `alcedo dev` with the parent folder of the package.
    fn dev(&self) -> Dev {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("dev").arg(self.folder.parent().unwrap()).args(["--objects", "1"]);
        let mut dev = Dev::run(command);
        dev.wait_for("generation 1 is live");
        dev.wait_for("1 object of Tale.Hero");
        dev
    }
}

/// Returns a class whose function returns a number.
fn hero(number: i32) -> String {
    format!("class Hero extends Actor;\n\nfunction int Number()\n{{\n    return {number};\n}}\n")
}

/// Evaluates an expression in the world. Waits for the expected result.
fn eval(dev: &mut Dev, text: &str, expected: &str) {
    dev.send(&format!(": eval {text}"));
    while dev.wait_for("") != expected {}
}

#[test]
fn every_method_of_saving_a_file_makes_it_live() {
    let tale = Tale::new();
    let mut dev = tale.dev();
    let begun = Instant::now();
    tale.save("Hero.uc", &hero(2));
    dev.wait_for("generation 1 → 2");
    eval(&mut dev, "Hero'Hero_1'.Number()", "2");
    tale.replace("Hero.uc", &hero(3));
    dev.wait_for("generation 2 → 3");
    eval(&mut dev, "Hero'Hero_1'.Number()", "3");
    // Backup files next to a source do not belong to the package.
    tale.save("Hero.uc~", "nonsense");
    tale.save(".Hero.uc.swp", "nonsense");
    tale.save("Hero.uc", &hero(4));
    dev.wait_for("generation 3 → 4");
    eval(&mut dev, "Hero'Hero_1'.Number()", "4");
    assert!(begun.elapsed() < 3 * PROMPT, "{:?}", begun.elapsed());
    dev.send("q");
    dev.expect_success();
}

#[test]
fn an_edit_of_equal_length_and_time_becomes_live() {
    let tale = Tale::new();
    let mut dev = tale.dev();
    let [file, part] = ["Hero.uc", ".Hero.uc.tmp"].map(|name| tale.folder.join(name));
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&part, hero(2)).unwrap();
    fs::File::options().append(true).open(&part).unwrap().set_modified(before).unwrap();
    fs::rename(part, file).unwrap();
    dev.wait_for("generation 1 → 2");
    eval(&mut dev, "Hero'Hero_1'.Number()", "2");
    dev.send("q");
    dev.expect_success();
}

#[test]
fn a_partial_or_broken_file_keeps_the_old_class_and_is_reported() {
    let tale = Tale::new();
    let mut dev = tale.dev();
    // Saves the first half of a file, like an editor that is still writing.
    let whole = hero(2);
    tale.save("Hero.uc", &whole[..whole.len() / 2]);
    dev.wait_for("Tale/Hero.uc:");
    eval(&mut dev, "Hero'Hero_1'.Number()", "1");
    tale.save("Hero.uc", &whole);
    dev.wait_for("generation 1 → 2");
    eval(&mut dev, "Hero'Hero_1'.Number()", "2");
    tale.save("Hero.uc", &hero(3).replace("return 3;", "return Nmuber;"));
    dev.wait_for("error");
    dev.wait_for("--> Tale/Hero.uc:5:12");
    dev.wait_for("return Nmuber;");
    dev.wait_for("^^^^^^");
    eval(&mut dev, "Hero'Hero_1'.Number()", "2");
    tale.save("package.toml", "version = \"one\"\n");
    tale.save("Hero.uc", &hero(4));
    dev.wait_for("Tale/package.toml:1: ");
    tale.save("package.toml", "version = \"1.0.0\"\n");
    dev.wait_for("generation 2 → ");
    eval(&mut dev, "Hero'Hero_1'.Number()", "4");
    dev.send("q");
    dev.expect_success();
}

#[test]
fn a_new_package_is_announced_and_causes_no_build() {
    let tale = Tale::new();
    let mut dev = tale.dev();
    let saga = tale.folder.with_file_name("Saga");
    fs::create_dir(&saga).unwrap();
    fs::write(saga.join("Knight.uc"), "class Knight extends Actor;").unwrap();
    let line = dev.wait_for("Saga");
    assert!(line.starts_with("Saga is a new package of scripts"), "{line}");
    tale.save("Hero.uc", &hero(2));
    dev.wait_for("building, because Hero.uc changed");
    dev.wait_for("generation 1 → 2");
    dev.send("q");
    dev.expect_success();
}

#[test]
fn a_crash_of_the_host_at_the_end_fails_the_session() {
    let tale = Tale::new();
    for args in [&[][..], &["--json"]] {
        let mut dev = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        dev.arg("dev").arg(&tale.folder).args(["--host", "/bin/sh", "--host-arg=-c"]).args(args);
        // The end of the input ends the session before the crash.
        let output = dev.arg("--host-arg=sleep 1; kill -SEGV $$").stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let crash = if args.is_empty() { "the host crashed: SIGSEGV" } else { "\"event\":\"world_ended\"" };
        assert!(text.contains(crash) && !text.contains("could not be ended"), "{text}");
        assert_eq!(output.status.code(), Some(1));
    }
}

#[test]
fn files_that_come_and_go_are_classes_that_come_and_go() {
    let tale = Tale::new();
    let mut dev = tale.dev();
    tale.save(
        "Elder.uc",
        "class Elder extends Hero;\n\nfunction int Number()\n{\n    return super.Number() + 10;\n}\n",
    );
    dev.wait_for("1 object of Tale.Elder");
    eval(&mut dev, "Elder'Elder_1'.Number()", "11");
    fs::remove_file(tale.folder.join("Elder.uc")).unwrap();
    dev.wait_for("generation 2 → 3");
    dev.send(": classes");
    while dev.wait_for("Tale.") != "Tale.Hero" {}
    fs::rename(tale.folder.join("Hero.uc"), tale.folder.join("Moved.uc")).unwrap();
    // The name of a file is the name of its class.
    tale.save("Moved.uc", &hero(5));
    fs::remove_file(tale.folder.join("Moved.uc")).unwrap();
    tale.save("Hero.uc", &hero(6));
    eval_until(&mut dev, "Hero'Hero_1'.Number()", "6");
    dev.send("q");
    dev.expect_success();
}

/// Evaluates an expression repeatedly until the world returns this result. The number of reloads depends on timing.
fn eval_until(dev: &mut Dev, text: &str, expected: &str) {
    let begun = Instant::now();
    loop {
        dev.send(&format!(": eval {text}"));
        // The result is the line with a number. All remaining lines contain text.
        let line = loop {
            let line = dev.wait_for("");
            if line.parse::<i64>().is_ok() {
                break line;
            }
        };
        if line == expected {
            return;
        }
        assert!(begun.elapsed() < 3 * PROMPT, "{line}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
