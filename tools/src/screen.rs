//! Output of the tool. On a terminal the last line is the status and other output scrolls above it; a pipe gets plain
//! lines. All output, including logs, must use this module, else the status line would be corrupted.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossterm::cursor::MoveToColumn;
use crossterm::queue;
use crossterm::terminal::{Clear, ClearType, size};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use alcedo_runtime::printable;

use crate::paint::{Paint, for_terminal};

/// Prints a line to standard error, for commands whose standard output is their result.
pub(crate) fn print_progress(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// Standard output, shared by all threads. A clone is another handle to it.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    inner: Arc<Mutex<Inner>>,
    live: bool,
}

/// Resets all colors.
const RESET: &str = "\x1b[0m";

#[derive(Debug, Default)]
struct Inner {
    status: String,
}

impl Screen {
    /// A live screen has a status line and expects the terminal in raw mode.
    pub(crate) fn new(live: bool) -> Self {
        Self { inner: Arc::default(), live }
    }

    /// Returns true if there is a status line.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Prints one or more lines.
    pub(crate) fn print(&self, text: &str) {
        let text = &for_terminal(text);
        let inner = self.lock();
        let mut out = io::stdout().lock();
        // The reader may have closed the output; the loop continues without it.
        let _ = if self.live { print_above(&mut out, text, &inner.status) } else { writeln!(out, "{text}") };
        let _ = out.flush();
    }

    /// Prints a line to standard error; on a live screen all lines are printed above the status.
    pub(crate) fn print_error(&self, line: &str) {
        match self.live {
            true => self.print(line),
            // The reader may have closed the stream, too.
            false => drop(writeln!(io::stderr(), "{}", for_terminal(line))),
        }
    }

    /// Changes the status line, if there is one.
    pub(crate) fn set_status(&self, status: String) {
        let status = for_terminal(&status);
        let mut inner = self.lock();
        if !self.live || inner.status == status {
            return;
        }
        inner.status = status;
        let mut out = io::stdout().lock();
        let _ = wipe(&mut out).and_then(|()| write_status(&mut out, &inner.status));
        let _ = out.flush();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn print_above(out: &mut impl Write, text: &str, status: &str) -> io::Result<()> {
    wipe(out)?;
    for line in text.lines() {
        // In raw mode a line feed does not return to the first column.
        write!(out, "{line}\r\n")?;
    }
    write_status(out, status)
}

fn wipe(out: &mut impl Write) -> io::Result<()> {
    queue!(out, MoveToColumn(0), Clear(ClearType::FromCursorDown))
}

/// Leaves one column free: a full line would scroll on some terminals.
fn write_status(out: &mut impl Write, status: &str) -> io::Result<()> {
    let columns = size().map_or(80, |(columns, _)| usize::from(columns));
    let visible: String = status.chars().take(columns.saturating_sub(1)).collect();
    // Resets colors that a line above may have left on.
    write!(out, "{RESET}{visible}")
}

/// A line of the log, printed when it is complete: above the status line of a live screen, else to standard error, so that reports
/// can be piped.
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
            text => self.screen.print_error(text),
        }
    }
}

/// Sends logs of the host and its plugins to `screen`: filtered by ALCEDO_LOG, by default `level` and above.
pub(crate) fn log_to(screen: &Screen, level: &str, color: bool) {
    let requested = std::env::var("ALCEDO_LOG").ok().and_then(|requested| requested.parse::<Targets>().ok());
    let filter = requested.unwrap_or_else(|| level.parse().expect("the filter of levels is valid"));
    let logs = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(color).without_time();
    // A subscriber exists already if a test runs this twice.
    let screen = screen.clone();
    let _ =
        logs.with_writer(move || LogLine { screen: screen.clone(), text: Vec::new() }).finish().with(filter).try_init();
}

/// Sends logs of this process to standard error, for a process whose output the tool prints.
pub(crate) fn log_to_stderr(level: &str, paint: Paint) {
    // The tool reports hangs itself.
    log_to(&Screen::new(false), &format!("{level},alcedo_runtime::watchdog=off"), paint.is_on());
}

#[cfg(test)]
mod tests {
    use super::print_above;

    #[test]
    fn lines_scroll_above_the_status_and_start_at_the_first_column() {
        let mut out = Vec::new();
        print_above(&mut out, "one\ntwo", "fine").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("one\r\ntwo\r\n\x1b[0mfine"), "{text:?}");
        assert!(text.starts_with("\x1b["), "{text:?}");
    }
}
