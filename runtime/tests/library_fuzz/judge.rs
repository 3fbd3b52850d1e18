//! Observes the loader from outside: a child process maps a library. The checks are correct if the child survives every file that they
//! accept.
#![expect(unsafe_code, reason = "a child maps files that pass the checks, to show that they are harmless")]

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use alcedo_abi::module::ROOT_SYMBOL;
use alcedo_sys::{Image, ImageFile, StageDir};

/// Environment variable that marks the child process.
const JUDGE: &str = "ALCEDO_FUZZ_IS_JUDGE";
/// Prefixes of the child's output lines.
const MAPPED: &str = "judge: mapped";
const REFUSED: &str = "judge: refused";
/// Maximum number of cases per child. Parked images accumulate in a child.
const MOST_CASES: u32 = 256;
/// Timeout for a child. The loader needs only milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Outcome of the child that mapped a library.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The library was mapped and unmapped.
    Mapped,
    Refused,
    /// The child crashed or did not finish.
    Died(String),
}

/// Child process that maps the files that it receives.
pub(crate) struct Judge {
    running: Option<Running>,
    test: String,
}

struct Running {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    cases: u32,
}

impl Judge {
    /// Creates a judge. `test` is the full name of a test in this program that calls [`serve`].
    pub(crate) fn new(test: String) -> Self {
        Self { running: None, test }
    }

    pub(crate) fn judge(&mut self, library: &Path) -> Verdict {
        let mut running = match self.running.take() {
            Some(running) if running.cases < MOST_CASES => running,
            worn => {
                worn.into_iter().for_each(Running::end);
                Running::start(&self.test)
            }
        };
        running.cases += 1;
        let written = writeln!(running.input, "{}", library.display());
        written.and_then(|()| running.input.flush()).expect("the child waits for cases");
        loop {
            match running.lines.recv_timeout(PATIENCE) {
                Ok(line) if line.starts_with(MAPPED) => break self.keep(running, Verdict::Mapped),
                Ok(line) if line.starts_with(REFUSED) => break self.keep(running, Verdict::Refused),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    running.child.kill().expect("it can be killed");
                    running.end();
                    break Verdict::Died("did not come to an end".to_owned());
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = running.child.wait().expect("it has ended");
                    break Verdict::Died(status.to_string());
                }
            }
        }
    }

    fn keep(&mut self, running: Running, verdict: Verdict) -> Verdict {
        self.running = Some(running);
        verdict
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        self.running.take().into_iter().for_each(Running::end);
    }
}

impl Running {
    fn start(test: &str) -> Self {
        let mut child = Command::new(env::current_exe().expect("this program"));
        child.args([test, "--exact", "--nocapture"]).env(JUDGE, "1").env("RUST_BACKTRACE", "0");
        let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("this program runs");
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, input, lines, cases: 0 }
    }

    fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().expect("it ends with its input");
    }
}

/// Runs in the child process. In any other process, returns immediately.
pub(crate) fn serve() {
    if env::var_os(JUDGE).is_none() {
        return;
    }
    let stage = StageDir::new().expect("a stage directory");
    for line in std::io::stdin().lines() {
        let path = PathBuf::from(line.expect("the parent writes text"));
        let image = ImageFile::read(&path).expect("the parent found it whole");
        let staged = stage.stage(&image, "case").expect("the copy can be written");
        // SAFETY: all code of the library was replaced by returns, so called functions have no effect. This process exists to observe
        // faults of the loader itself.
        let line = match unsafe { Image::map(staged, None) } {
            Ok(image) => {
                for name in [ROOT_SYMBOL, c"answer", c"resolved", c"local"] {
                    // SAFETY: the address is never dereferenced.
                    let _address = unsafe { image.symbol::<*const ()>(name) };
                }
                // SAFETY: no code, data or address of the image is used after this call.
                let _gone = unsafe { image.unmap() };
                MAPPED
            }
            Err(_) => REFUSED,
        };
        println!("\n{line}");
    }
}
