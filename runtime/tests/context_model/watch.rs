//! A program that hangs is a failure: its seed, its steps and who holds what are told, and the process is ended.

use std::process::abort;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::drive::Shared;

/// Longer than anything in a program waits for.
const LIMIT: Duration = Duration::from_secs(180);
/// So long the words about a hang may take: whoever hangs may have the locks that they need.
const WORDS: Duration = Duration::from_secs(10);

struct Running {
    title: String,
    since: Instant,
    shared: Weak<Shared>,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
static TITLE: Mutex<String> = Mutex::new(String::new());

/// Watches all programs of this process.
pub(crate) fn start() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            let hangs = running().take_if(|running| running.since.elapsed() >= LIMIT);
            if let Some(running) = hangs {
                eprintln!("it hangs: {}", running.title);
                thread::spawn(|| {
                    thread::sleep(WORDS);
                    eprintln!("and whoever hangs has what is needed to say more");
                    abort();
                });
                if let Some(shared) = running.shared.upgrade() {
                    eprintln!("{}", shared.holders());
                }
                abort();
            }
        }
    });
}

/// What the next program is called.
pub(crate) fn name(title: String) {
    *TITLE.lock().unwrap_or_else(PoisonError::into_inner) = title;
}

/// A program begins.
pub(crate) fn begin(shared: &Arc<Shared>) {
    let title = TITLE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    *running() = Some(Running { title, since: Instant::now(), shared: Arc::downgrade(shared) });
}

/// It has ended.
pub(crate) fn end() {
    *running() = None;
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
