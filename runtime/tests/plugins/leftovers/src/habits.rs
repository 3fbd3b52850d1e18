//! Habits of safe code: functions that leave resources behind.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use alcedo_plugin_api::thread::StopToken;

use crate::{note, raw};

/// Value that records the thread on which it was created.
struct Guest {
    owner: u64,
}

impl Drop for Guest {
    fn drop(&mut self) {
        note(if self.owner == raw::thread_number() { "ended at home" } else { "ended on a foreign thread" });
    }
}

thread_local! {
    static GUEST: Guest = {
        note("began");
        Guest { owner: raw::thread_number() }
    };
}

pub(crate) fn thread_local() {
    GUEST.with(|_| {});
}

/// Creates the thread-local on a new thread, which is joined immediately.
pub(crate) fn thread_local_there() {
    std::thread::spawn(thread_local).join().expect("the thread does not panic");
}

#[expect(clippy::print_stdout, reason = "tests a plugin that prints")]
pub(crate) fn print_line() {
    println!("leftovers prints a line");
}

#[expect(clippy::print_stdout, reason = "tests a plugin that prints")]
pub(crate) fn print_part() {
    print!("leftovers prints a part;");
}

pub(crate) fn tracing() {
    let span = tracing::info_span!("leftovers", habit = "tracing");
    let _inside = span.enter();
    tracing::info!("leftovers logs");
}

pub(crate) fn rand() {
    let number: u64 = rand::random();
    note(if number == 0 { "an unlikely number" } else { "a number" });
}

pub(crate) fn current_thread() {
    let name = std::thread::current().name().map(str::to_owned);
    note(name.as_deref().unwrap_or("a thread without a name"));
}

static MEGABYTE: OnceLock<Vec<u8>> = OnceLock::new();

pub(crate) fn megabyte() {
    let megabyte = MEGABYTE.get_or_init(|| vec![1; 1024 * 1024]);
    assert_eq!(megabyte.iter().map(|byte| u64::from(*byte)).sum::<u64>(), 1024 * 1024);
}

static TEXTS: OnceLock<Vec<String>> = OnceLock::new();

pub(crate) fn once_lock() {
    let texts = TEXTS.get_or_init(|| (0..1000).map(|number| format!("text number {number}")).collect());
    assert_eq!(texts.len(), 1000);
}

pub(crate) fn joined_thread() {
    std::thread::spawn(|| note("a thread ran")).join().expect("the thread does not panic");
}

static FINISHED: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Leaves the handle of a finished thread. This thread is never joined.
pub(crate) fn finished_thread() {
    let thread = std::thread::spawn(|| note("a thread ran"));
    while !thread.is_finished() {
        std::thread::yield_now();
    }
    *FINISHED.lock().expect("the lock is not poisoned") = Some(thread);
}

/// Starts a thread that still runs when the unload begins, and that ends shortly afterwards.
pub(crate) fn detached_thread() {
    named("detached", || {
        std::thread::sleep(Duration::from_millis(20));
        thread_local();
    });
}

/// Starts a thread that ends when the unload requests the module's threads to stop.
pub(crate) fn polite_thread() {
    named("polite", || {
        while !StopToken::new().wait(Duration::from_secs(60)) {}
        note("was asked to stop");
    });
}

/// Starts a thread that runs until the test creates a file.
pub(crate) fn stubborn_thread() {
    let file = std::env::var_os("LEFTOVERS_RELEASE").expect("the test sets the file");
    named("stubborn", move || {
        while !Path::new(&file).exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

/// Starts a thread whose name is longer than the system stores. The name contains characters that logs must escape.
pub(crate) fn long_name() {
    let file = std::env::var_os("LEFTOVERS_RELEASE").expect("the test sets the file");
    let name = format!("an \"exporter\"\nof everything, {}", "in many parts ".repeat(12));
    named(&name, move || {
        while !Path::new(&file).exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

/// Starts two unnamed threads. A third thread, which has a long name, starts and joins one of them.
pub(crate) fn nameless_threads() {
    let file = std::env::var_os("LEFTOVERS_RELEASE").expect("the test sets the file");
    let wait = move || {
        while !Path::new(&file).exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    drop(std::thread::spawn(wait.clone()));
    named("the long name of an exporter", move || std::thread::spawn(wait).join().expect("waiting does not panic"));
}

fn named(name: &str, code: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(code);
    drop(thread.expect("a thread can be started"));
}

/// Panics on a new thread. The module itself catches the panic.
pub(crate) fn panic() {
    let outcome = std::thread::spawn(|| panic!("a panic of leftovers")).join();
    note(if outcome.is_err() { "panicked" } else { "did not panic" });
}

pub(crate) fn backtrace() {
    let text = std::backtrace::Backtrace::force_capture().to_string();
    note(if text.contains("leftovers") { "a backtrace with names" } else { "a backtrace without names" });
}

pub(crate) fn leaked_box() {
    let leaked = Box::leak(Box::new([1_u8; 100_000]));
    assert_eq!(leaked.iter().filter(|byte| **byte == 1).count(), 100_000);
}

/// Leaks an open file and its buffer.
pub(crate) fn forgotten_file() {
    let file = std::fs::File::open("/dev/null").expect("available on every Linux");
    let mut file = std::io::BufWriter::new(file);
    file.flush().expect("there is nothing to write");
    std::mem::forget(file);
}
