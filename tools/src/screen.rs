//! Output of the command `alcedo`. A terminal has rows for messages, for output of the world and for the status (`layout.rs`). A pipe
//! receives plain lines, or one JSON object per line. All output, including logs, must use this module, because other output would corrupt
//! the rows of a terminal.

mod layout;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use crossterm::terminal::{is_raw_mode_enabled, size};
use serde_json::{Value, json};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use alcedo_runtime::printable;

use crate::lock;
use crate::paint::{Paint, for_terminal};
use layout::{Layout, Size};

/// Prints a progress message to standard error, for commands that print their result to standard output.
pub(crate) fn print_progress(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// Prints an error or a report to standard error, with its colors. Ignores the error that occurs if the reader has closed the stream.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(io::stderr(), "{}", for_terminal(text));
}

/// Prints the result of a command to standard output. The result may have several lines.
pub(crate) fn print_result(text: &str) {
    write(&format!("{text}\n"));
}

/// Standard output, shared by all threads. A clone refers to the same output.
#[derive(Clone, Debug)]
pub(crate) enum Screen {
    /// A terminal in raw mode.
    Live(Arc<Mutex<Live>>),
    /// A pipe or a file.
    Lines,
    /// A program, which reads one JSON object per line.
    Json,
}

/// Minimum interval between two paintings of the pane.
const FRAME: Duration = Duration::from_millis(40);

/// The rows of a terminal.
#[derive(Debug)]
pub(crate) struct Live {
    layout: Layout,
    is_open: bool,
    /// Time of the last painting of the pane.
    painted: Instant,
    is_painted: bool,
}

impl Screen {
    /// Creates a screen that prints lines. If `live`, [`Screen::open`] reserves the rows of the terminal.
    pub(crate) fn new(live: bool) -> Self {
        if !live {
            return Self::Lines;
        }
        let layout = Layout::new(terminal_size());
        let live = Live { layout, is_open: false, painted: Instant::now(), is_painted: true };
        Self::Live(Arc::new(Mutex::new(live)))
    }

    /// Reserves the rows of a terminal. The terminal must be in raw mode, because otherwise Ctrl-C would end the process without a call of
    /// [`Screen::close`].
    pub(crate) fn open(&self) {
        if let Self::Live(live) = self {
            let mut live = lock(live);
            live.is_open = true;
            write(&live.layout.open());
        }
    }

    /// Returns true if the output is a terminal with a status line.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    pub(crate) fn is_json(&self) -> bool {
        matches!(self, Self::Json)
    }

    /// Returns true if the screen has a pane for output of the world.
    pub(crate) fn has_pane(&self) -> bool {
        self.live().is_some_and(|live| live.layout.has_pane())
    }

    pub(crate) fn print(&self, text: &str) {
        let text = &for_terminal(text);
        match self.live() {
            Some(mut live) => write(&live.layout.message(text)),
            None if self.is_json() => self.event(&json!({ "event": "note", "text": text })),
            None => write(&format!("{text}\n")),
        }
    }

    /// Prints a line to standard error. A live screen prints the line above the status instead.
    pub(crate) fn print_error(&self, line: &str) {
        match self {
            Self::Live(_) => self.print(line),
            Self::Lines => print_error(line),
            Self::Json => self.event(&json!({ "event": "log", "line": line })),
        }
    }

    /// Prints a JSON object if the output is JSON.
    pub(crate) fn event(&self, event: &Value) {
        if self.is_json() {
            write(&format!("{event}\n"));
        }
    }

    /// Prints a line of the world's output in the pane.
    pub(crate) fn output(&self, line: &str) {
        if let Some(mut live) = self.live() {
            live.layout.add(&for_terminal(line));
            live.is_painted = false;
            live.paint(FRAME);
        }
    }

    /// Paints the pane if it has new lines and the minimum interval has passed.
    pub(crate) fn refresh(&self) {
        if let Some(mut live) = self.live() {
            live.paint(FRAME);
        }
    }

    /// Prints the stored output of the world as a message.
    pub(crate) fn print_output(&self) {
        if let Some(mut live) = self.live() {
            let output = live.layout.output().join("\n");
            write(&live.layout.message(&output));
        }
    }

    /// Changes the status line if the screen has one.
    pub(crate) fn set_status(&self, status: &str) {
        let Some(mut live) = self.live() else { return };
        let (status, size) = (for_terminal(status), terminal_size());
        if size != live.layout.size {
            write(&live.layout.resize(size));
        }
        if live.layout.status != status {
            write(&live.layout.set_status(status));
        }
    }

    /// Returns the end of an input that fits into the status line.
    pub(crate) fn last_columns<'a>(&self, input: &'a str) -> &'a str {
        self.live().map_or(input, |live| live.layout.size.last_columns(input))
    }

    /// Releases the reserved rows of the terminal.
    pub(crate) fn close(&self) {
        if let Some(mut live) = self.live() {
            live.paint(Duration::ZERO);
            write(&live.layout.close());
            live.is_open = false;
        }
    }

    /// Returns the live terminal if its rows are reserved.
    fn live(&self) -> Option<MutexGuard<'_, Live>> {
        let Self::Live(live) = self else { return None };
        Some(lock(live)).filter(|live| live.is_open)
    }
}

impl Live {
    fn paint(&mut self, interval: Duration) {
        if !self.is_painted && self.painted.elapsed() >= interval {
            write(&self.layout.paint_output());
            (self.painted, self.is_painted) = (Instant::now(), true);
        }
    }
}

/// First error of standard output, for example of a full disk. A closed pipe is not an error, because its reader needs no more output.
static OUTPUT_ERROR: OnceLock<String> = OnceLock::new();

/// Writes to standard output. Continues after an error, because a session does not end with its output.
fn write(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Some(error) = written.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe) {
        let _later = OUTPUT_ERROR.set(error.to_string());
    }
}

/// Returns the first error of standard output.
pub(crate) fn output_error() -> Option<&'static str> {
    OUTPUT_ERROR.get().map(String::as_str)
}

/// Releases the reserved rows of a terminal in raw mode. Called if the program ends without a call of [`Screen::close`].
pub(crate) fn release_terminal() {
    if is_raw_mode_enabled().unwrap_or(false) {
        write("\x1b[r\x1b[999;1H\r\n");
    }
}

fn terminal_size() -> Size {
    // Uses a default size if the terminal reports no size, for example a terminal inside another program.
    let (columns, rows) = size().ok().filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or((80, 24));
    Size { rows: rows.max(4), columns: columns.max(20) }
}

/// A line of the log. A complete line is printed above the status line of a live screen, or to standard error.
#[derive(Debug)]
struct LogLine {
    screen: Screen,
    text: Vec<u8>,
}

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        let text = text.trim_end();
        match text {
            "" => {}
            // Prints logs in the pane, because a world in this process has written them.
            text if self.screen.has_pane() => self.screen.output(text),
            text => self.screen.print_error(text),
        }
    }
}

/// Sends logs of the host and its plugins to `screen`. ALCEDO_LOG specifies the filter. By default, keeps messages of `level` and above.
pub(crate) fn log_to(screen: &Screen, level: &str, color: bool) {
    let requested = std::env::var("ALCEDO_LOG").ok().and_then(|requested| requested.parse::<Targets>().ok());
    let filter = requested.unwrap_or_else(|| level.parse().expect("the filter of levels is valid"));
    let logs = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(color).without_time();
    // Ignores the error that occurs if a test calls this function twice.
    let screen = screen.clone();
    let _ =
        logs.with_writer(move || LogLine { screen: screen.clone(), text: Vec::new() }).finish().with(filter).try_init();
}

/// Sends logs of this process to standard error. Called in child processes whose output `alcedo` prints.
pub(crate) fn log_to_stderr(level: &str, paint: Paint) {
    // Hides log messages about hangs, which `alcedo` itself reports, and about completed unloads.
    let level = format!("{level},alcedo_runtime::watchdog=off,alcedo_runtime::unload=warn");
    log_to(&Screen::new(false), &level, paint.is_on());
}
