//! Runs a world in a separate process: the author's host or the sample engine. Separate threads convert messages on the socket, lines of
//! output, and the end of the process to events. `conversation.rs` handles the socket.

mod conversation;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::development::leave_out;
use alcedo_runtime::development::link::{SOCKET, Status, ToHost};
use crossbeam_channel::{Receiver, Sender, bounded, select, unbounded};

use self::conversation::{Conversation, listen};
use super::{Printed, Shutdown, World, WorldEvent};
use crate::error::{Error, file};
use crate::guard::{End, Guard, Watched, wants_panics};
use crate::input::kill_at_exit;
use crate::lock;
use crate::paint::Paint;

/// Time limit within which a host must end normally after a request. Shorter in unit tests, in which a program exceeds the limit.
const GRACE: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 5 });
/// Maximum interval between two checks for the end of a host.
const GLANCE: Duration = Duration::from_millis(50);
/// Maximum length of a line in bytes, with its line feed. A longer line is split into several lines. A split character is replaced.
const LONGEST_LINE: u64 = 16 << 10;
/// Capacity of the channel of printed lines. A full channel blocks the host.
const LINES: usize = 256;
/// Time limit for reading the last lines of an ended host, because the child processes of the host may continue to print.
const LAST_LINES: Duration = Duration::from_millis(500);
/// Beginning of the message that a Rust program prints before it aborts for lack of memory.
const OUT_OF_MEMORY: &str = "memory allocation of ";

#[derive(Clone, Debug)]
pub(crate) struct HostProgram {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
}

/// The process and the channels to and from it.
pub(crate) struct Remote {
    guard: Guard,
    host: HostProgram,
    paint: Paint,
    /// Number of processes started.
    starts: u32,
    current: Option<Process>,
    events: (Sender<WorldEvent>, Receiver<WorldEvent>),
    printed: (Sender<Printed>, Receiver<Printed>),
}

struct Process {
    watched: Watched,
    orders: Sender<ToHost>,
    known: Arc<Known>,
}

/// State of a process, which the threads of the process update.
#[derive(Default)]
struct Known {
    status: Mutex<Status>,
    /// Modules that could not be unloaded. `None` before the host announces its normal end.
    left: Mutex<Option<Vec<String>>>,
    /// Last message about exhausted memory.
    memory: Mutex<Option<String>>,
    has_ended: AtomicBool,
    /// Set after the event about the end of the process was sent. This event follows all messages of the process.
    is_over: AtomicBool,
}

impl Remote {
    /// Starts the host.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub(crate) fn start(host: HostProgram, paint: Paint) -> Result<Self, Error> {
        let mut remote = Self {
            guard: Guard::new()?,
            host,
            paint,
            starts: 0,
            current: None,
            events: unbounded(),
            printed: bounded(LINES),
        };
        remote.begin()?;
        Ok(remote)
    }

    fn saved_world(&self) -> PathBuf {
        self.guard.dir().join("world")
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.starts += 1;
        let socket = self.guard.dir().join(format!("dev-{}", self.starts));
        let listener = listen(&socket)?;
        let mut command = Command::new(&self.host.program);
        command.args(&self.host.args).env(SOCKET, &socket);
        self.paint.pass_on(&mut command);
        // Passes an open pipe as standard input, because a host may exit at the end of its input.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Starts a separate process group, so that signals of the terminal reach only this process, which then ends the host normally.
        command.process_group(0);
        let known = Arc::new(Known::default());
        let (ending, events) = (Arc::clone(&known), self.events.0.clone());
        let (reading, all_read) = bounded::<()>(0);
        let panics = self.events.0.clone();
        let on_panic = wants_panics(true).then_some(move |panic| drop(panics.send(WorldEvent::Panicked(panic))));
        let mut watched = self.guard.start(command, on_panic, move |end| {
            ending.has_ended.store(true, Ordering::Release);
            let _all_read = all_read.recv_timeout(LAST_LINES);
            let end = end.unwrap_or_else(|error| End::Lost(error.to_string()));
            // Requires the announcement of a normal end in addition to a successful status, because a plugin may have called `exit`.
            let is_done = end.is_orderly() && lock(&ending.left).is_some();
            let text = lock(&ending.memory).take();
            let _sent = events.send(match text {
                _ if is_done => WorldEvent::Done,
                Some(text) => WorldEvent::Ended(end.out_of_memory(&text)),
                None => WorldEvent::Ended(end),
            });
            ending.is_over.store(true, Ordering::Release);
        })?;
        watched.process.iter().for_each(kill_at_exit);
        if let Some(stdout) = watched.stdout.take() {
            read_lines(stdout, false, self.printed.0.clone(), Arc::clone(&known), reading.clone());
        }
        if let Some(stderr) = watched.stderr.take() {
            read_lines(stderr, true, self.printed.0.clone(), Arc::clone(&known), reading.clone());
        }
        let (orders, requests) = unbounded();
        // Sends the settings before all requests.
        let _read = orders.send(ToHost::Settings { autosave: Some(self.saved_world()) });
        let conversation = Conversation {
            events: self.events.0.clone(),
            known: Arc::clone(&known),
            program: self.host.program.clone(),
            process: watched.process.as_ref().map(Arc::downgrade).unwrap_or_default(),
            _reading: reading,
        };
        thread::spawn(move || conversation.hold(listener, &socket, requests));
        self.current = Some(Process { watched, orders, known });
        Ok(())
    }
}

impl World for Remote {
    fn request(&mut self, request: ToHost) {
        if let Some(process) = &self.current {
            let _read = process.orders.send(request);
        }
    }

    fn events(&self) -> &Receiver<WorldEvent> {
        &self.events.1
    }

    fn printed(&self) -> &Receiver<Printed> {
        &self.printed.1
    }

    fn rest(&self) -> Duration {
        Duration::MAX
    }

    fn attend(&mut self) {}

    fn status(&mut self) -> Status {
        self.current.as_ref().map(|process| lock(&process.known.status).clone()).unwrap_or_default()
    }

    fn kill(&mut self) -> bool {
        self.current.as_ref().is_some_and(|process| process.watched.kill())
    }

    fn has_ended(&self) -> bool {
        // Without a pidfd, the guard does not know the process.
        self.current.as_ref().is_some_and(|process| process.watched.process.is_some()) && self.guard.is_idle()
    }

    fn restart(&mut self, saved: bool) -> Result<(), Error> {
        self.current = None;
        let world = self.saved_world();
        let is_saved = world.exists();
        if is_saved && !saved {
            leave_out(&world).map_err(file("rename", &world))?;
        }
        self.begin()?;
        if is_saved && saved {
            self.request(ToHost::Restore { world });
        }
        Ok(())
    }

    fn set_program(&mut self, program: &Path) {
        self.host.program = program.to_owned();
    }

    fn shutdown(mut self, print: &mut dyn FnMut(&Printed)) -> Shutdown {
        self.request(ToHost::End);
        let Some(process) = self.current.take() else { return Shutdown::default() };
        let (until, mut rest, mut crash) = (Instant::now() + GRACE, GRACE, None);
        let is_over = || process.known.is_over.load(Ordering::Acquire);
        // Checks the time after each line, because the host or its child processes may print without end.
        while !rest.is_zero() && (!is_over() || !self.printed.1.is_empty()) {
            select! {
                recv(self.printed.1) -> printed => if let Ok(printed) = printed {
                    print(&printed);
                },
                recv(self.events.1) -> event => if let Ok(event) = event {
                    crash = crash.or(crash_in(event));
                },
                default(rest.min(GLANCE)) => {}
            }
            rest = until.saturating_duration_since(Instant::now());
        }
        let crash = crash.or_else(|| self.events.1.try_iter().find_map(crash_in));
        if !is_over() {
            process.watched.kill();
            let program = self.host.program.display();
            let left = vec![format!("{program} did not end within {} s and was killed", GRACE.as_secs())];
            return Shutdown { left, crash };
        }
        Shutdown { left: lock(&process.known.left).take().unwrap_or_default(), crash }
    }
}

/// Returns the end of the host if the event is a crash.
fn crash_in(event: WorldEvent) -> Option<End> {
    match event {
        WorldEvent::Ended(end @ End::Crashed(_)) => Some(end),
        _ => None,
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Kills the process even if the session ends with an error.
        self.kill();
    }
}

/// Forwards printed lines on a separate thread, and records an error about exhausted memory. Drops `reading` at the end of the stream.
fn read_lines(
    from: impl Read + Send + 'static,
    is_error: bool,
    printed: Sender<Printed>,
    known: Arc<Known>,
    reading: Sender<()>,
) {
    thread::spawn(move || {
        let _reading = reading;
        let mut from = BufReader::new(from);
        loop {
            let mut bytes = Vec::new();
            match from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let line = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
            if is_error && line.starts_with(OUT_OF_MEMORY) {
                *lock(&known.memory) = Some(line.clone());
            }
            if printed.send(Printed { line, is_error }).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use crossbeam_channel::{bounded, unbounded};

    use super::{HostProgram, LONGEST_LINE, Paint, Remote, World, read_lines};

    #[test]
    fn a_host_that_prints_without_end_is_ended() {
        let host = HostProgram { program: "yes".into(), args: Vec::new() };
        let ended = Remote::start(host, Paint::off()).unwrap().shutdown(&mut |_| {});
        assert_eq!(ended.left, ["yes did not end within 2 s and was killed"]);
    }

    #[test]
    fn a_crash_at_the_end_of_a_session_is_reported() {
        let host = HostProgram { program: "sh".into(), args: vec!["-c".into(), "kill -SEGV $$".into()] };
        let ended = Remote::start(host, Paint::off()).unwrap().shutdown(&mut |_| {});
        assert!(ended.left.is_empty(), "{ended:?}");
        let report = ended.crash.map(|end| end.report(Paint::off())).unwrap_or_default();
        assert!(report.starts_with("the host crashed: SIGSEGV"), "{report}");
    }

    #[test]
    fn a_long_line_is_split_without_loss() {
        let long = "x".repeat(LONGEST_LINE as usize);
        let ((printed, lines), reading) = (unbounded(), bounded(0).0);
        read_lines(io::Cursor::new(format!("{long}yes\nlast")), false, printed, Arc::default(), reading);
        let lines: Vec<_> = lines.iter().map(|printed| printed.line).collect();
        assert_eq!(lines, [&*long, "yes", "last"]);
    }
}
