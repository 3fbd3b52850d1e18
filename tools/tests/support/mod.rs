//! Runs `alcedo dev` as a program on a pipe. Provides editable copies of the example plugins and the test plugins.

#[path = "../../../runtime/tests/support/builds.rs"]
#[allow(dead_code, reason = "tests of other crates use the rest of it")]
mod builds;
pub(crate) mod terminal;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempDir;

/// Returns the library of a plugin as the runtime's tests load it. Not built again, unlike the plugins of a [`Scratch`].
pub(crate) use builds::plugin;

/// Maximum wait for a first build on a busy machine. The wait ends as soon as the output arrives.
const PATIENCE: Duration = Duration::from_secs(600);

/// Copy of the plugin workspaces. A test builds and edits plugins of one workspace. Dropping this value removes their build output.
pub(crate) struct Scratch {
    dir: TempDir,
    target: PathBuf,
    /// Packages that tests of this workspace edit.
    edited: &'static [&'static str],
    /// Lock that excludes other copies of this workspace, because the libraries of all copies have equal names.
    _turn: File,
}

/// Workspaces of plugins, relative to the root of the repository.
const WORKSPACES: [&str; 2] = ["example-plugins", "runtime/tests/plugins"];

/// Returns the folder of a plugin in one of the workspaces below `root`.
pub(crate) fn folder(root: &Path, plugin: &str) -> PathBuf {
    let mut folders = WORKSPACES.iter().map(|workspace| root.join(workspace).join(plugin));
    folders.find(|folder| folder.is_dir()).unwrap_or_else(|| panic!("no workspace of {WORKSPACES:?} has {plugin}"))
}

/// Returns the target folder that the tests of this package and the demo share.
pub(crate) fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("demo")
}

/// Returns the build folder of plugins. The tests of the runtime share this folder, so dependencies are compiled only once.
pub(crate) fn compiled_plugins() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins")
}

/// Serializes tests of this process whose packages have equal names. Their builds would write to common files.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE_COPY: Mutex<()> = Mutex::new(());
    ONE_COPY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the libraries of the examples in the target folder. Tests in further processes and the demo also use these libraries.
pub(crate) fn turn() -> File {
    turn_of(".alcedo-demo.lock")
}

fn turn_of(lock: &str) -> File {
    let target = target();
    fs::create_dir_all(&target).unwrap();
    let turn = File::create(target.join(lock)).unwrap();
    turn.lock().unwrap();
    turn
}

impl Scratch {
    /// Copies the workspaces for a test of example plugins.
    pub(crate) fn new() -> Self {
        Self::with(turn(), &["magic-cube", "glue-base", "glue-derived"])
    }

    /// Copies the workspaces for a test of test plugins only. Such a test runs concurrently with tests of example plugins.
    pub(crate) fn of_test_plugins() -> Self {
        Self::with(turn_of(".test-plugins.lock"), &["lamps", "lamps-plus", "renames"])
    }

    fn with(turn: File, edited: &'static [&'static str]) -> Self {
        // Copies the files with new modification times. Cargo would not compile files that are older than the library of another copy.
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let dir = tempfile::tempdir().unwrap();
        for workspace in WORKSPACES {
            let (from, to) = (repository.join(workspace), dir.path().join(workspace));
            copy(&from, &to);
            // Only the manifests of the workspaces contain paths. Paths between two workspaces refer to the copies.
            let manifest = to.join("Cargo.toml");
            let (text, up) =
                (fs::read_to_string(&manifest).unwrap(), "../".repeat(Path::new(workspace).iter().count()));
            let whole = |text: String, crates: &str| {
                text.replace(&format!("\"{up}{crates}"), &format!("\"{}/{crates}", repository.display()))
            };
            fs::write(&manifest, whole(whole(text, "plugin-api"), "runtime/alcedo")).unwrap();
        }
        Self { dir, target: target(), edited, _turn: turn }
    }

    pub(crate) fn plugin(&self) -> PathBuf {
        self.other("magic-cube")
    }

    pub(crate) fn other(&self, name: &str) -> PathBuf {
        folder(self.root(), name)
    }

    /// Returns the folder that contains the copy in the layout of a checkout.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn source(&self) -> String {
        fs::read_to_string(self.plugin().join("src/lib.rs")).unwrap()
    }

    pub(crate) fn save(&self, source: &str) {
        fs::write(self.plugin().join("src/lib.rs"), source).unwrap();
    }

    pub(crate) fn edit(&self, from: &str, to: &str) {
        self.edit_in("magic-cube", from, to);
    }

    pub(crate) fn edit_in(&self, plugin: &str, from: &str, to: &str) {
        let path = self.other(plugin).join("src/lib.rs");
        let source = fs::read_to_string(&path).unwrap();
        assert_eq!(source.matches(from).count(), 1, "{from}");
        fs::write(&path, source.replace(from, to)).unwrap();
    }

    /// Builds a plugin with the command. Returns its library. The next build overwrites this file.
    pub(crate) fn build(&self, plugin: &str) -> PathBuf {
        let mut build = self.command(env!("CARGO_BIN_EXE_alcedo"));
        let output = build.arg("build").arg(self.other(plugin)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.target.join(format!("debug/lib{}.so", plugin.replace('-', "_")))
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        // Also sets RUST_BACKTRACE, because crash reports must not depend on this variable.
        command
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_BUILD_BUILD_DIR", compiled_plugins())
            .env("RUST_BACKTRACE", "1");
        command
    }
}

impl Drop for Scratch {
    /// Removes the libraries of the packages that tests edit. Cargo then builds these packages again. `cargo clean` has this effect too,
    /// but first reads the whole workspace.
    fn drop(&mut self) {
        let units = fs::read_dir(compiled_plugins().join("debug/.fingerprint")).into_iter().flatten();
        for unit in units.filter_map(Result::ok) {
            let name = unit.file_name().to_string_lossy().into_owned();
            if name.rsplit_once('-').is_some_and(|(package, _)| self.edited.contains(&package)) {
                let _ = fs::remove_dir_all(unit.path());
            }
        }
        for package in self.edited {
            for end in ["d", "rlib", "so"] {
                let _ = fs::remove_file(self.target.join(format!("debug/lib{}.{end}", package.replace('-', "_"))));
            }
        }
    }
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

pub(crate) struct Dev {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    /// Output lines. Each line has the time at which it was read, since the Unix epoch.
    lines: Receiver<(Duration, String)>,
    received: Vec<String>,
}

impl Dev {
    pub(crate) fn start(scratch: &Scratch) -> Self {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
        command.arg("dev").arg(scratch.plugin()).args(["--objects", "20"]);
        Self::run(command)
    }

    /// Starts the command on a pipe.
    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send((now(), line))));
        Self { stdin: child.stdin.take(), child, lines, received: Vec::new() }
    }

    pub(crate) fn wait_until_live(&mut self) {
        self.wait_until_live_with("objects of Game.MagicCube");
    }

    /// Waits for the first generation, and for the objects that the host prints. These two lines may arrive in any order.
    pub(crate) fn wait_until_live_with(&mut self, objects: &str) {
        let from = self.received.len();
        self.wait_for("generation 1 is live");
        if !self.received[from..].iter().any(|line| line.contains(objects)) {
            self.wait_for(objects);
        }
    }

    pub(crate) fn wait_for(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        while let Some((_, line)) = self.line(end.saturating_duration_since(Instant::now())) {
            if line.contains(text) {
                return line;
            }
        }
        panic!("`{text}` was not printed; all output:\n{}", self.received.join("\n"));
    }

    /// Returns the next line and the time of its arrival. Returns `None` after the time limit, or at the end of the output.
    pub(crate) fn line(&mut self, within: Duration) -> Option<(Duration, String)> {
        let (at, line) = self.lines.recv_timeout(within).ok()?;
        self.received.push(line.clone());
        Some((at, line))
    }

    /// Returns all lines since the last line that contains `text`.
    pub(crate) fn all_since(&self, text: &str) -> String {
        let from = self.received.iter().rposition(|line| line.contains(text)).unwrap_or(0);
        self.received[from..].join("\n")
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    pub(crate) fn expect_success(mut self) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}:\n{}", self.received.join("\n"));
    }
}

/// Returns the time since the Unix epoch. All processes share this clock.
pub(crate) fn now() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap()
}

impl Drop for Dev {
    fn drop(&mut self) {
        // Kills the process, because it must not continue after a failed test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
