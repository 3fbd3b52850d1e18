//! Thread-local that a call creates on its thread. The destructor of this thread-local writes a log line.

use std::cell::RefCell;

struct Lingering(Vec<u8>);

impl Drop for Lingering {
    fn drop(&mut self) {
        tracing::info!(target: "reports", "a thread-local of {} bytes ends", self.0.len());
    }
}

thread_local! {
    static LINGERING: RefCell<Lingering> = const { RefCell::new(Lingering(Vec::new())) };
}

/// Initializes the thread-local of this thread.
pub(crate) fn touch() {
    LINGERING.with_borrow_mut(|lingering| lingering.0.push(1));
}
