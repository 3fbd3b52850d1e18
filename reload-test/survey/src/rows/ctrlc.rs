//! Sets a handler for Ctrl-C, and simulates Ctrl-C. Checks that handlers of earlier generations were removed. The crate has no function to
//! remove its handler, and its thread never ends.
#![expect(unsafe_code, reason = "reads a disposition, and sends itself a signal")]

use std::mem;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static PRESSED: AtomicU64 = AtomicU64::new(0);
static IS_IN_USE: AtomicBool = AtomicBool::new(false);

pub(crate) fn begin() {
    IS_IN_USE.store(is_handled(), Ordering::SeqCst);
    let set = ctrlc::set_handler(|| {
        PRESSED.fetch_add(1, Ordering::SeqCst);
    });
    if let Err(error) = set {
        eprintln!("could not set the handler: {error}");
    }
}

/// Returns `true` if a handler is set. Such a handler belongs to an earlier generation, because the host has no handler.
fn is_handled() -> bool {
    // SAFETY: all zeroes are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: no action is set, and the pointer is writable.
    unsafe { libc::sigaction(libc::SIGINT, null(), &raw mut action) };
    ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction)
}

pub(crate) fn work() -> String {
    if IS_IN_USE.load(Ordering::SeqCst) {
        return "the handler of an earlier generation is in sight".to_owned();
    }
    let before = PRESSED.load(Ordering::SeqCst);
    // SAFETY: sends this process a signal, as the terminal does; a handler is installed.
    unsafe { libc::kill(libc::getpid(), libc::SIGINT) };
    let begun = Instant::now();
    while PRESSED.load(Ordering::SeqCst) == before {
        if begun.elapsed() > Duration::from_secs(10) {
            return "the handler was not called".to_owned();
        }
        thread::sleep(Duration::from_millis(1));
    }
    "ok".to_owned()
}

pub(crate) fn end() {}
