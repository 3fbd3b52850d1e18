//! Treats a hang as a failure: prints the seed, the steps and the holders, and aborts the process.

use std::process::abort;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::drive::Shared;

/// Time limit of a program. Every wait in a program is shorter.
const LIMIT: Duration = Duration::from_secs(180);
/// Time limit for reporting a hang. The hanging threads may hold locks that the report needs.
const WORDS: Duration = Duration::from_secs(10);

struct Running {
    title: String,
    since: Instant,
    shared: Weak<Shared>,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);
static TITLE: Mutex<String> = Mutex::new(String::new());

/// Starts a thread that watches all programs of this process.
pub(crate) fn start() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_secs(1));
            let hangs = running().take_if(|running| running.since.elapsed() >= LIMIT);
            if let Some(running) = hangs {
                eprintln!("hang: {}", running.title);
                thread::spawn(|| {
                    thread::sleep(WORDS);
                    eprintln!("the hanging thread holds a lock that the report of the holders needs");
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

pub(crate) fn name(title: String) {
    *TITLE.lock().unwrap_or_else(PoisonError::into_inner) = title;
}

pub(crate) fn begin(shared: &Arc<Shared>) {
    let title = TITLE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    *running() = Some(Running { title, since: Instant::now(), shared: Arc::downgrade(shared) });
}

pub(crate) fn end() {
    *running() = None;
}

fn running() -> MutexGuard<'static, Option<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
