//! What a call can leave behind on its thread: a thread-local whose destructor says in the log that it ran.

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

/// Makes this thread have one.
pub(crate) fn touch() {
    LINGERING.with_borrow_mut(|lingering| lingering.0.push(1));
}
