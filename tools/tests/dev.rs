//! The dev loop as a program on a pipe, with a plugin whose sources are edited while it runs.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Long enough for a first build on a busy machine; what comes ends the wait.
const PATIENCE: Duration = Duration::from_secs(600);

/// A copy of the example plugins, swept out of the target folder again at the end.
struct Scratch {
    dir: TempDir,
    target: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("dev-test");
        let dir = tempfile::tempdir().unwrap();
        copy(&repository.join("example-plugins"), dir.path());
        for manifest in manifests(dir.path()) {
            let text = fs::read_to_string(&manifest).unwrap();
            let whole = format!("\"{}/plugin-api", repository.display());
            fs::write(&manifest, text.replace("\"../../plugin-api", &whole).replace("\"../plugin-api", &whole))
                .unwrap();
        }
        Self { dir, target }
    }

    fn plugin(&self) -> PathBuf {
        self.dir.path().join("magic-cube")
    }

    fn edit(&self, from: &str, to: &str) {
        let path = self.plugin().join("src/lib.rs");
        let source = fs::read_to_string(&path).unwrap();
        assert_eq!(source.matches(from).count(), 1, "{from}");
        fs::write(&path, source.replace(from, to)).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("CARGO_TARGET_DIR", &self.target);
        command
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut cargo = self.command(env!("CARGO"));
        cargo.args(["clean", "--quiet", "--package", "magic-cube", "--package", "engine-glue", "--manifest-path"]);
        let _ = cargo.arg(self.dir.path().join("Cargo.toml")).stderr(Stdio::null()).status();
    }
}

/// That of the workspace and those of its members.
fn manifests(dir: &Path) -> Vec<PathBuf> {
    let members = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path().join("Cargo.toml"));
    members.chain([dir.join("Cargo.toml")]).filter(|path| path.is_file()).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != "target") {
        let copied = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &copied);
        } else {
            fs::copy(entry.path(), copied).unwrap();
        }
    }
}

/// A running `alcedo dev`.
struct Dev {
    child: Child,
    wishes: Option<ChildStdin>,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Dev {
    fn start(scratch: &Scratch) -> Self {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("dev").arg(scratch.plugin()).args(["--objects", "20"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { wishes: child.stdin.take(), child, lines, heard: Vec::new() }
    }

    /// Waits for a line that contains `text`.
    fn hears(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.heard.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
        panic!("`{text}` did not come; all that came:\n{}", self.heard.join("\n"));
    }

    fn wishes(&mut self, line: &str) {
        writeln!(self.wishes.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for the end.
    fn ends_well(mut self) {
        drop(self.wishes.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}:\n{}", self.heard.join("\n"));
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // A test that failed must not leave a world behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_session_from_the_first_build_to_the_end() {
    let scratch = Scratch::new();
    let mut dev = Dev::start(&scratch);
    dev.hears("generation 1 is live");
    dev.hears("20 objects of Game.MagicCube");

    scratch.edit("default = 180.0", "default = 240.0");
    dev.hears("building, because lib.rs changed");
    assert!(dev.hears("generation 1 → 2").contains("live after "));
    assert!(dev.hears("stage ").trim_start().starts_with("build "));
    dev.hears("20 conjugates rebuilt · 0 class constructors rerun");
    dev.hears("default 180 → 240: 20 followed");

    // What does not compile is shown once, and the old code goes on.
    scratch.edit("default = 240.0", "default = \"fast\"");
    dev.hears("error");
    dev.hears("the old code keeps running");
    dev.wishes("s");
    assert!(dev.hears("ticks/s").starts_with("generation 2 · "));

    scratch.edit("default = \"fast\"", "default = 300.0");
    dev.hears("generation 2 → 3");

    dev.wishes("b 1");
    dev.hears("generation 3 → 4");
    dev.hears("default 300 → 180: 20 followed");
    dev.hears("this is the code of generation 1");
    dev.wishes("b 9");
    dev.hears("there is no code of generation 9");

    dev.wishes("p");
    dev.hears("paused");
    scratch.edit("default = 300.0", "default = 310.0");
    dev.hears("lib.rs changed (paused");
    dev.wishes("r");
    dev.hears("generation 4 → 5");
    dev.hears("default 180 → 310: 20 followed");
    scratch.edit("default = 310.0", "default = 320.0");
    dev.hears("lib.rs changed (paused");
    dev.wishes("a");
    dev.hears("generation 5 → 6");

    dev.wishes("nonsense");
    dev.hears("`nonsense` is no command");
    dev.wishes("q");
    dev.ends_well();

    if cfg!(unix) {
        an_interrupt_ends_it_in_order_even_during_a_build(&scratch);
    }
}

fn an_interrupt_ends_it_in_order_even_during_a_build(scratch: &Scratch) {
    let mut dev = Dev::start(scratch);
    dev.hears("building");
    let kill = Command::new("kill").args(["-INT", &dev.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let status = dev.child.wait().unwrap(); // Its input is still open.
    assert!(status.success(), "{status}");
}
