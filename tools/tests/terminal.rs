//! `alcedo dev` on a terminal: single keys, completion of lines, and a status line that output of the world does not break.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::Scratch;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Same timeout as in the other tests.
const PATIENCE: Duration = Duration::from_secs(600);

struct Terminal {
    child: Child,
    keys: File,
    output: Receiver<Vec<u8>>,
    /// Output so far, and the length of its checked part.
    written: Vec<u8>,
    checked: usize,
}

impl Terminal {
    fn run(mut command: Command) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        tcsetwinsize(&controller, Winsize { ws_row: 50, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let terminal = || OpenOptions::new().read(true).write(true).open(path).unwrap();
        let child = command.stdin(terminal()).stdout(terminal()).stderr(terminal()).spawn().unwrap();
        let keys = File::from(controller);
        let mut from = keys.try_clone().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Linux returns an error at the end of a terminal.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keys, output, written: Vec::new(), checked: 0 }
    }

    /// Waits for a text after the text of the last wait.
    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        loop {
            let found = self.written[self.checked..].windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.checked += at + text.len();
                return;
            }
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(more) => self.written.extend(more),
                Err(_) => panic!("`{text}` was not printed; all output:\n{}", self.all()),
            }
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn all(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Kills the process, since a failed test must not leave it running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_and_status_line_work_in_every_state_of_the_world() {
    let scratch = Scratch::new();
    let mut command = scratch.command(env!("CARGO_BIN_EXE_alcedo"));
    command.arg("dev").arg(scratch.plugin()).args(["--objects", "5"]).env("TERM", "xterm");
    let mut terminal = Terminal::run(command);
    // A world, five cubes and their visible components.
    terminal.wait_for("11 objects");
    let healthy = scratch.source();

    // Only the last letter of the property and of the answer could be guessed.
    terminal.press(":get MagicCube_3 rotation_sp\t");
    terminal.wait_for(": get MagicCube_3 rotation_speed_");
    terminal.press("\r");
    terminal.wait_for("18");

    // Repeated output of a plugin is folded and escaped, so it cannot move the cursor.
    let tick = "let delta = f64::from(delta);";
    assert_eq!(healthy.matches(tick).count(), 1, "the cube ticks");
    scratch.save(&healthy.replace(tick, &format!("println!(\"\\x1b[2Jsplash\"); {tick}")));
    terminal.wait_for("generation 1 → 2");
    terminal.wait_for("\\u{1b}[2Jsplash");
    terminal.wait_for("… the same line ");
    terminal.wait_for(" times more");

    // The status line reports the hang, by itself and on request.
    scratch.save(&healthy.replace(tick, &format!("if true {{ loop {{}} }} {tick}")));
    terminal.wait_for("it hangs:");
    terminal.wait_for("HANGS: save or press k");
    terminal.press("s");
    terminal.wait_for("HANGS: save or press k");
    terminal.press("k");
    terminal.wait_for("the process that hung was ended");
    terminal.wait_for("the last build that did not crash or hang");
    terminal.wait_for("the world is back as it was");

    terminal.press("q");
    assert!(terminal.child.wait().unwrap().success());
    assert!(!terminal.all().contains("\x1b[2J"), "nothing clears the screen");
}
