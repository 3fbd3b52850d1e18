//! Tests `alcedo dev` with the author's own host. This host is a package next to the plugin. A single line in its source enables
//! development support.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::MutexGuard;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::terminal::Terminal;
use crate::support::{Dev, alone, target};
use expect_test::expect_file;
use tempfile::TempDir;

/// Files of the workspace, of the host and of the plugin. `REPOSITORY` is the folder of Alcedo. `PROFILE` is the debug profile of Alcedo.
/// This profile compiles the runtime faster than the profile of a new workspace.
const FILES: [(&str, &str); 5] = [
    (
        "Cargo.toml",
        r#"
[workspace]
resolver = "3"
members = ["rig", "gadgets"]
PROFILE
"#,
    ),
    (
        "rig/Cargo.toml",
        r#"
[package]
name = "rig"
edition = "2024"
[dependencies]
alcedo = { path = "REPOSITORY/runtime/alcedo" }
"#,
    ),
    (
        "rig/src/main.rs",
        r#"
use std::time::Duration;

use alcedo::native::{NativeClass, Natives};
use alcedo::{Budget, Error, Runtime};

fn main() -> Result<(), Error> {
    alcedo::canary::run_if_child();
    let natives = Natives::in_package("Rig")
        .class(NativeClass::new("Rig", "Gadget", "/Script/Core.Object").event("turn", &[]))
        .ticker(|runtime, _seconds| {
            for object in runtime.objects().iter().filter(|object| runtime.objects().is_a(*object, "/Script/Rig.Gadget")) {
                if let Err(error) = runtime.objects().call(object, "turn", &[]) {
                    println!("{error}");
                }
            }
        });
    let runtime = Runtime::builder().package("Game").natives(natives).development().build()?;
    println!("good morning, {}", std::env::args().nth(1).unwrap_or_default());
    runtime.create_master(&[""; 0])?;
    for class in runtime.types().dynamic_classes() {
        runtime.objects().spawn(&class)?;
    }
    while !runtime.shutdown_requested() {
        runtime.wait(Duration::from_millis(16));
        runtime.tick(Budget::frame());
    }
    println!("good night");
    runtime.shutdown().into_result()
}
"#,
    ),
    (
        "gadgets/Cargo.toml",
        r#"
[package]
name = "gadgets"
edition = "2024"
[package.metadata.alcedo]
host = "../rig"
[lib]
crate-type = ["cdylib"]
[dependencies]
alcedo-plugin-api = { path = "REPOSITORY/plugin-api" }
"#,
    ),
    (
        "gadgets/src/lib.rs",
        r#"
#![forbid(unsafe_code)]
use alcedo_plugin_api::prelude::*;

module! { name: "gadgets" }

// The host's classes: what `alcedo glue --host rig` writes.
mod rig;
use rig::Gadget;

/// Counts its turns.
#[uclass(package = "Game", base = Gadget)]
pub struct Wheel {
    #[uproperty(default = 1)]
    step: u64,
    #[uproperty]
    turned: u64,
}

#[uclass]
impl Wheel {
    #[overrides(Gadget)]
    fn turn(&mut self, this: This<Self>) {
        this.set_turned(this.turned() + this.step());
    }
}
"#,
    ),
];

const TURN: &str = "this.set_turned(this.turned() + this.step());";

struct Own {
    dir: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Own {
    fn new() -> Self {
        let alone = alone();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let workspace = fs::read_to_string(repository.join("Cargo.toml")).unwrap();
        let profile =
            &workspace[workspace.find("[profile.dev]").unwrap()..workspace.find("[profile.release]").unwrap()];
        for (path, text) in FILES {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace("REPOSITORY", &repository.display().to_string()).replace("PROFILE", profile))
                .unwrap();
        }
        fs::copy(repository.join("Cargo.lock"), dir.path().join("Cargo.lock")).unwrap();
        let own = Self { dir, _alone: alone };
        let output = own
            .command(env!("CARGO_BIN_EXE_alcedo"))
            .args(["glue", "--host", "rig", "-o", "gadgets/src/rig.rs"])
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && messages.contains("building the host, package `rig`"), "{messages}");
        own
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("CARGO_TARGET_DIR", target()).current_dir(self.dir.path());
        command
    }

    fn source(&self) -> PathBuf {
        self.dir.path().join("gadgets/src/lib.rs")
    }

    fn manifest(&self) -> PathBuf {
        self.dir.path().join("gadgets/Cargo.toml")
    }

    /// Saves the plugin's source with the statement `turn` in place of [`TURN`].
    fn save(&self, turn: &str) {
        let (_, source) = FILES[4];
        assert_eq!(source.matches(TURN).count(), 1);
        fs::write(self.source(), source.replace(TURN, turn)).unwrap();
    }

    /// Saves the host after the first `from` is replaced by `to`.
    fn save_host(&self, from: &str, to: &str) {
        let path = self.dir.path().join("rig/src/main.rs");
        let source = fs::read_to_string(&path).unwrap();
        assert!(source.contains(from));
        fs::write(&path, source.replacen(from, to, 1)).unwrap();
    }

    /// Starts `alcedo dev` on the plugin.
    fn dev(&self, args: &[&str]) -> Dev {
        let mut command = self.command(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("dev").arg(self.dir.path().join("gadgets")).args(args);
        Dev::run(command)
    }

    /// Returns the output of `alcedo repl` for these lines.
    fn repl(&self, args: &[&str], lines: &str) -> String {
        let mut repl = self.command(env!("CARGO_BIN_EXE_alcedo"));
        let mut repl = repl.arg("repl").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        repl.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        String::from_utf8(repl.wait_with_output().unwrap().stdout).unwrap()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let mut cargo = self.command(env!("CARGO"));
        cargo.args(["clean", "--quiet", "--package", "rig", "--package", "gadgets", "--manifest-path"]);
        let _ = cargo.arg(self.dir.path().join("Cargo.toml")).stderr(Stdio::null()).status();
    }
}

/// A workspace of a plugin and a host without dependencies. The host does not compile.
#[test]
fn an_error_before_the_session_is_an_event_before_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let package = |name: &str| format!("[package]\nname = {name:?}\nedition = \"2024\"\n");
    for (path, text) in [
        ("Cargo.toml", "[workspace]\nmembers = [\"rig\", \"gadgets\"]\nresolver = \"3\"\n".to_owned()),
        ("rig/Cargo.toml", package("rig")),
        ("rig/src/main.rs", "fn main() { never() }\n".to_owned()),
        ("gadgets/Cargo.toml", package("gadgets") + "[lib]\ncrate-type = [\"cdylib\"]\n"),
        ("gadgets/src/lib.rs", String::new()),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let check = |args: &[&str], expected: &str, part: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_alcedo"));
        command.args(["dev", "--json"]).args(args).current_dir(dir.path()).env_remove("CARGO_TARGET_DIR");
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let events: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let [.., event, end] = &events[..] else { panic!("two events: {text}") };
        assert_eq!((&event["event"], &end["event"]), (&expected.into(), &"end".into()), "{text}");
        assert!(event.to_string().contains(part), "{text}");
        assert_eq!(output.status.code(), Some(1));
    };
    check(&["--host", "rig"], "not_built", "cannot find function `never`");
    check(&["--host", "absent"], "not_built", "the host package `absent` does not exist");
    check(&["absent"], "failed", "no file and no folder at absent");
    // A host would silently ignore an option of another host.
    let of_sample = ["--host", "rig", "--objects", "3", "--package", "P", "--user-code", ".", "--arg", "a"];
    check(&of_sample, "failed", "cannot use --objects, --package, --user-code, --arg with the host `rig`");
    let of_host = ["--restart-host", "--host-arg=a"];
    check(&of_host, "failed", "cannot use --host-arg, --restart-host with the sample engine");
    check(&["--host", "/bin/false", "--restart-host"], "failed", "its sources are unknown");
}

/// A program that is not a host ends before the first line is evaluated.
#[test]
fn repl_prints_how_its_host_has_ended() {
    let mut repl = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    repl.args(["repl", "--host", "/bin/ls", "--host-arg=--absent"]);
    let output = repl.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("--absent") && errors.contains("by itself, with exit code 2"), "{errors}");
    assert_eq!(output.status.code(), Some(1));
    let mut terminal = Terminal::run_built(repl);
    terminal.wait_for("by itself, with exit code 2");
    // The editor enables bracketed paste together with raw mode.
    assert!(!terminal.all().contains("\x1b[?2004h"), "{}", terminal.all());
}

#[test]
fn an_immediate_exit_kills_a_host_that_has_not_joined() {
    let dir = tempfile::tempdir().unwrap();
    let (begun, part) = (dir.path().join("begun"), dir.path().join("part"));
    let script = format!("echo $$ > {}; mv {} {}; exec sleep 60", part.display(), part.display(), begun.display());
    let mut repl = Command::new(env!("CARGO_BIN_EXE_alcedo"));
    repl.args(["repl", "--host", "/bin/sh", "--host-arg=-c"]).arg(format!("--host-arg={script}"));
    let mut repl = repl.stdin(Stdio::piped()).spawn().unwrap();
    let within = |seconds, is_over: &mut dyn FnMut() -> bool| {
        let end = Instant::now() + Duration::from_secs(seconds);
        while !is_over() {
            assert!(Instant::now() < end);
            thread::sleep(Duration::from_millis(20));
        }
    };
    within(30, &mut || begun.exists());
    // Without a session, the first signal exits immediately.
    assert!(Command::new("kill").args(["-INT", &repl.id().to_string()]).status().unwrap().success());
    assert_eq!(repl.wait().unwrap().code(), Some(130));
    let process = fs::read_to_string(begun).unwrap();
    // The command line of an ended process is empty.
    let command_line = Path::new("/proc").join(process.trim()).join("cmdline");
    within(10, &mut || fs::read(&command_line).unwrap_or_default().is_empty());
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands own_host:: -- --ignored`, as .ci/run does"]
fn the_authors_host_survives_an_edit_a_crash_and_a_hang() {
    let own = Own::new();
    let mut dev = own.dev(&["--host-arg", "rig"]);
    dev.wait_for("building the host, package `rig`");
    dev.wait_for("good morning, rig");
    dev.wait_for("generation 1 is live");
    dev.send(": objects Game.Wheel");
    let wheel = dev.wait_for("Game.Wheel   #");
    let wheel = wheel.split_whitespace().next().unwrap();
    // After this save, the wheel does not turn, so its value identifies the saved state.
    let expect_unchanged = |dev: &mut Dev| {
        dev.send(&format!(": get {wheel} turned"));
        while dev.wait_for("1000000") != "1000000" {}
    };
    dev.send(&format!(": set {wheel} step 0"));
    dev.send(&format!(": set {wheel} turned 1000000"));
    expect_unchanged(&mut dev);

    own.save("this.set_turned(this.turned() + 2 * this.step());");
    dev.wait_for("generation 1 → 2");
    expect_unchanged(&mut dev);

    own.save("std::process::abort();");
    assert!(dev.wait_for("the host crashed:").contains("SIGABRT"));
    assert!(dev.wait_for("  in ").contains("gadgets::Wheel::turn   module gadgets, generation 3"));
    dev.wait_for("good morning, rig");
    dev.wait_for("generation 1 is live   the last build that did not crash or hang");
    assert!(dev.wait_for("the world is back as it was").contains(": 1 object"));
    expect_unchanged(&mut dev);

    own.save("loop {}");
    assert!(dev.wait_for("it hangs:").contains("Game.Wheel:turn of module gadgets for "));
    own.save(TURN);
    dev.wait_for("the process that hung was ended");
    dev.wait_for("the world is back as it was");
    dev.wait_for("generation 1 → 2");
    expect_unchanged(&mut dev);

    // A manual restart first saves the world.
    let turned = |dev: &mut Dev, value: &str| {
        dev.send(&format!(": set {wheel} turned {value}"));
        while dev.wait_for(value) != value {}
    };
    turned(&mut dev, "1000002");
    dev.send("k");
    dev.wait_for("the world is back as it was");
    dev.send(&format!(": get {wheel} turned"));
    while dev.wait_for("100000") != "1000002" {}
    turned(&mut dev, "1000000");

    own.save_host("&[])", "&[]).event(\"rest\", &[])");
    dev.wait_for("the host changed (main.rs)");
    dev.send("k");
    dev.wait_for("glue written again, rig.rs");
    dev.wait_for("good morning, rig");
    dev.wait_for("generation 1 is live");
    dev.wait_for("the world is back as it was");
    expect_unchanged(&mut dev);
    let glue = fs::read_to_string(own.dir.path().join("gadgets/src/rig.rs")).unwrap();
    assert!(glue.contains("fn rest(&self);"), "{glue}");

    // A build of the host that ends before it answers does not replace the running host.
    const RUN: &str = "alcedo::canary::run_if_child();";
    own.save_host(RUN, "panic!(\"not yet\");");
    dev.wait_for("the host changed (main.rs)");
    dev.send("k");
    dev.wait_for("was queried for its native types and ended without an answer");
    dev.wait_for("generation 1 stays");
    expect_unchanged(&mut dev);
    own.save_host("panic!(\"not yet\");", RUN);
    dev.wait_for("the host changed (main.rs)");
    dev.send("k");
    dev.wait_for("good morning, rig");
    dev.wait_for("the world is back as it was");
    expect_unchanged(&mut dev);
    dev.send("q");
    dev.expect_success();

    // With `--no-guard`, only the sample engine is available.
    let mut dev = own.dev(&["--no-guard"]);
    dev.wait_for("the host of these plugins is left out");
    dev.send("q");
    dev.expect_success();

    // Without a path, `repl` runs the host that the manifest in the working directory specifies.
    assert!(own.repl(&[], ":help\n").contains("good morning"));

    // Without the key `host` in the manifest, the host is the sample engine, which does not have the class `Rig.Gadget`.
    let manifest = fs::read_to_string(own.manifest()).unwrap();
    fs::write(own.manifest(), manifest.replace("host = \"../rig\"", "")).unwrap();
    let mut dev = own.dev(&[]);
    assert!(dev.wait_for("not loaded:").contains("Rig.Gadget"));
    assert!(dev.wait_for("--host").contains("the sample engine's"));
    dev.send("q");
    dev.expect_success();

    // A program that always ends is not restarted repeatedly.
    let mut dev = own.dev(&["--host", "/bin/false"]);
    dev.wait_for("the host ended: by itself, with exit code 1");
    dev.wait_for("needs the line `.development()`");
    assert_eq!(dev.child.wait().unwrap().code(), Some(1));

    // Selects the host by the name of its package in the workspace of the plugin. The session also queries a host without glue.
    let glue = own.dir.path().join("gadgets/src/rig.rs");
    let source = fs::read_to_string(&glue).unwrap();
    fs::write(&glue, source.split_once('\n').unwrap().1).unwrap();
    let mut dev = own.dev(&["--host", "rig", "--restart-host"]);
    dev.wait_for("generation 1 is live");
    own.save_host(RUN, "panic!(\"not yet\");");
    dev.wait_for("was queried for its native types and ended without an answer");
    own.save_host("panic!(\"not yet\");", RUN);
    own.save_host("good morning", "good evening");
    dev.wait_for("good evening");
    dev.wait_for("generation 1 is live");
    dev.wait_for("the world is back as it was");
    dev.send("q");
    dev.wait_for("good night");
    dev.expect_success();

    // A signal cancels the first build of the host, and the next build finds its target folder unlocked.
    let (script, begun) = (own.dir.path().join("rig/build.rs"), own.dir.path().join("rig/begun"));
    let waiting = "fn main() {\n    std::fs::write(\"begun\", \"\").unwrap();\n    \
                   while !std::fs::exists(\"may-end\").unwrap() {\n        \
                   std::thread::sleep(std::time::Duration::from_millis(20));\n    }\n}\n";
    fs::write(&script, waiting).unwrap();
    let signal = |name: &str, child: &Child| {
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    };
    let wait_until_begun = || {
        while !begun.exists() {
            thread::sleep(Duration::from_millis(20));
        }
        fs::remove_file(&begun).unwrap();
    };
    let mut dev = own.dev(&["--host", "rig"]);
    wait_until_begun();
    signal("-INT", &dev.child);
    assert_eq!(dev.child.wait().unwrap().code(), Some(1));
    // A signal also ends the build of a command without a session.
    let mut glue = own.command(env!("CARGO_BIN_EXE_alcedo")).args(["glue", "--host", "rig"]).spawn().unwrap();
    wait_until_begun();
    signal("-TERM", &glue);
    assert_eq!(glue.wait().unwrap().code(), Some(1));
    // Commands on a pipe are executed after the first build of the host.
    let may_end = own.dir.path().join("rig/may-end");
    let mut dev = own.dev(&["--host", "rig"]);
    wait_until_begun();
    dev.send("q");
    fs::write(&may_end, "").unwrap();
    dev.expect_success();
    fs::remove_file(&may_end).unwrap();
    // A save during the first build of the host is reported, and so are files that the host includes.
    own.save_host("println!(\"good", "println!(\"{}\", include_str!(\"../word.txt\"));\n    println!(\"good");
    let word = own.dir.path().join("rig/word.txt");
    fs::write(&word, "first word").unwrap();
    let mut dev = own.dev(&["--host", "rig"]);
    wait_until_begun();
    own.save_host("use std::time::Duration;", "use std::time::Duration; // saved");
    fs::write(&may_end, "").unwrap();
    dev.wait_for("the host changed (main.rs)");
    fs::write(&word, "second word").unwrap();
    dev.wait_for("the host changed (word.txt)");
    dev.send("q");
    dev.expect_success();
    fs::remove_file(script).unwrap();

    // `repl` prints the output of the host, including the output at its end.
    let printed = own.repl(&["gadgets", "--host", "rig"], ":objects Wheel\n");
    let at = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text} is missing: {printed}"));
    assert!(at("good evening") < at("Game.Wheel   #") && at("Game.Wheel   #") < at("good night"), "{printed}");
}

#[test]
#[ignore = "builds for minutes: `cargo test --test commands own_host:: -- --ignored`, as .ci/run does"]
fn an_edited_host_is_built_again_on_a_small_terminal() {
    let own = Own::new();
    let mut command = own.command(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg("gadgets").env("TERM", "xterm").env("NO_COLOR", "1");
    let mut terminal = Terminal::run(command, 24, 80);
    terminal.wait_for("generation 1 is live");
    own.save_host("good morning", "good evening");
    terminal.check(&["the host changed"], own.dir.path(), &expect_file!["screens/host_edited.txt"]);
    terminal.press("k");
    terminal.check(&["the world is back"], own.dir.path(), &expect_file!["screens/host_restarted.txt"]);
    terminal.press("q");
    assert_eq!(terminal.ended(), Some(0));
}
