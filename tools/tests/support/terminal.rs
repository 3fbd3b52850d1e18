//! Runs a program on a terminal: sends keys, reads its output, and emulates the screen.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use expect_test::ExpectFile;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::PATIENCE;

/// Maximum wait for an expected screen. The first build has already ended.
const EXPECTED: Duration = Duration::from_secs(150);

/// Maximum wait for each output of a command that builds nothing.
const BUILT: Duration = Duration::from_secs(60);

/// Time without a change after which the screen is compared.
const QUIET: Duration = Duration::from_millis(700);

pub(crate) struct Terminal {
    pub(crate) child: Child,
    /// Maximum wait for a string.
    patience: Duration,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// Output so far. `checked` is the length of its checked part.
    written: Vec<u8>,
    checked: usize,
    size: (u16, u16),
    screen: vt100::Parser,
}

impl Terminal {
    /// Runs the command on a terminal with this number of rows and columns.
    pub(crate) fn run(mut command: Command, rows: u16, columns: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        tcsetwinsize(&controller, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let terminal = || OpenOptions::new().read(true).write(true).open(path).unwrap();
        let child = command.stdin(terminal()).stdout(terminal()).stderr(terminal()).spawn().unwrap();
        let keys = File::from(controller);
        let mut from = keys.try_clone().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // On Linux, a read returns an error after the terminal is closed.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let nonzero = |number| NonZero::new(number).unwrap();
        let screen = vt100::Parser::new(nonzero(rows), nonzero(columns), 0);
        Self { child, patience: PATIENCE, keys, output, written: Vec::new(), checked: 0, size: (rows, columns), screen }
    }

    /// Runs a command that builds nothing, on a terminal with 24 rows and 80 columns.
    pub(crate) fn run_built(command: Command) -> Self {
        let mut terminal = Self::run(command, 24, 80);
        terminal.patience = BUILT;
        terminal
    }

    /// Waits for a string in the output that follows the string of the previous wait.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + self.patience;
        loop {
            let found = self.written[self.checked..].windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.checked += at + text.len();
                return;
            }
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(more) => self.wrote(&more),
                Err(_) => panic!("`{text}` was not printed; all output:\n{}", self.all()),
            }
        }
    }

    fn wrote(&mut self, more: &[u8]) {
        self.screen.process(more);
        self.written.extend(more);
    }

    /// Waits for a screen that contains these parts and in which only numbers change.
    fn settled(&mut self, parts: &[&str]) -> String {
        let end = Instant::now() + EXPECTED;
        let (mut last, mut since) = (String::new(), Instant::now());
        loop {
            let wait = Duration::from_millis(50);
            while let Ok(more) = self.output.recv_timeout(wait) {
                self.wrote(&more);
                if since.elapsed() > wait {
                    break;
                }
            }
            let screen = without_numbers(&self.rows());
            if screen != last {
                (last, since) = (screen, Instant::now());
            } else if since.elapsed() >= QUIET && parts.iter().all(|text| self.rows().contains(text)) {
                self.checked = self.written.len();
                return last;
            }
            assert!(Instant::now() < end, "{parts:?} is not on the screen:\n{}", self.rows());
        }
    }

    /// Compares the screen as soon as it contains these parts. Replaces the paths of the sources in `root`.
    pub(crate) fn check(&mut self, parts: &[&str], root: &Path, expected: &ExpectFile) {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let whole = root.canonicalize().unwrap();
        let mut screen = self.settled(parts);
        for (folder, name) in [(whole.as_path(), ""), (root, ""), (&repository, "alcedo/")] {
            screen = screen.replace(&format!("{}/", folder.display()), name);
        }
        expected.assert_eq(&screen);
    }

    /// Returns the screen. If a row continues in the next row, joins the two rows.
    fn rows(&self) -> String {
        let (screen, (rows, columns)) = (self.screen.screen(), self.size);
        let mut text = String::new();
        for (row, line) in (0..rows).zip(screen.rows(0, columns)) {
            text.push_str(&line);
            if !screen.row_wrapped(row) {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
        }
        text
    }

    /// Returns true if the terminal passes single keys to the program, instead of lines.
    pub(crate) fn is_raw(&self) -> bool {
        !tcgetattr(&self.keys).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Sends SIGINT to the program from outside of the terminal.
    pub(crate) fn interrupt(&self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end of the program, and returns its exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let end = Instant::now() + EXPECTED.min(self.patience);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the program does not end; all output:\n{}", self.all());
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn all(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Kills the process, because it must not continue after a failed test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Replaces numbers that differ between runs: durations, counts of repeats and frames, and addresses.
fn without_numbers(screen: &str) -> String {
    let lines = screen.lines().map(|line| {
        let mut words: Vec<_> = line.split(' ').map(str::to_owned).collect();
        for at in 0..words.len() {
            let next = words.get(at + 1).cloned().unwrap_or_default();
            // The number of objects in the status line depends on the time of its last update.
            let is_of_status =
                ["object", "objects"].contains(&&*next) && words.get(at + 2).is_some_and(|word| word == "·");
            let word = &words[at];
            let is_number = word.trim_end_matches([',', ')']).parse::<f64>().is_ok()
                || word.replace(',', "").parse::<u64>().is_ok();
            // The number of a frame depends on the inlined functions that precede it.
            let is_of_frame = at > 0 && words[..at].iter().all(String::is_empty) && next.contains("::");
            let word = &mut words[at];
            let counts = ["ms", "ms)", "s", "s:", "s,", "ticks/s", "lines", "other", "times"];
            if is_number && (is_of_status || is_of_frame || counts.contains(&next.as_str())) {
                "…".clone_into(word);
                // The unit of a duration and the number of the noun depend on the value.
                words[at + 1] = if is_of_status { "objects".to_owned() } else { next.replace("ms", "s") };
            } else if word.starts_with('×') {
                "×…".clone_into(word);
            } else if word.starts_with("0x") {
                "0x…".clone_into(word);
            }
        }
        let mut line = words.join(" ");
        // Removes the characters that draw a line after the title of the pane.
        if line.starts_with("── ") {
            line.truncate(line.trim_end_matches('─').len());
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
