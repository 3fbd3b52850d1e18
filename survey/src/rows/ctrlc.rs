//! A handler for Ctrl-C, which is pressed, set only where there is none: that of an earlier generation must be out of sight.
//! The crate has no way to take it off again, and its thread never ends.
#![expect(unsafe_code, reason = "sends itself a signal")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

static PRESSED: AtomicU64 = AtomicU64::new(0);

pub(crate) fn begin() {
    let set = ctrlc::try_set_handler(|| {
        PRESSED.fetch_add(1, Ordering::SeqCst);
    });
    if let Err(error) = set {
        eprintln!("could not set the handler: {error}");
    }
}

pub(crate) fn work() -> String {
    let before = PRESSED.load(Ordering::SeqCst);
    // SAFETY: sends this process a signal, as the terminal does; somebody has a handler for it.
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
