//! Warns about a runtime that still has a handle when its thread ends. Such a handle is owned by a callback of the runtime, or was on the
//! stack when the process called `exit`. The runtime is not shut down at this point, because thread-local variables that the runtime needs
//! may already be destroyed. Also keeps runtimes whose last handle was dropped on the stack of a coroutine, where no runtime can end.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::{Runtime, WeakRuntime};
use crate::callback::Site;
use crate::panic_guard;

/// Maximum time for which the thread that ends waits until the warning is logged.
const LONGEST: Duration = Duration::from_secs(2);

thread_local! {
    static HERE: Runtimes = const { Runtimes(RefCell::new(Vec::new())) };
    /// Last handles of runtimes that end later. Only used once a handle exists: the platform may destroy thread-local variables in reverse
    /// order of their first use, and a runtime needs other such variables to end.
    static LAST: RefCell<Vec<Runtime>> = const { RefCell::new(Vec::new()) };
    /// Set if `LAST` contains a handle.
    static HAS_LAST: Cell<bool> = const { Cell::new(false) };
}

struct Runtimes(RefCell<Vec<WeakRuntime>>);

impl Drop for Runtimes {
    fn drop(&mut self) {
        for left in self.0.take().iter().filter_map(WeakRuntime::upgrade) {
            let callbacks: Vec<_> = left.inner.sites().iter().map(Site::to_string).collect();
            if !callbacks.is_empty() {
                log_warning(callbacks.join(", "), left.stage_dir());
            }
        }
    }
}

/// Logs the warning on another thread, because thread-local variables of the subscriber may already be destroyed on this thread. Waits for
/// the logging thread at most for `LONGEST`, because the current thread may hold a lock that the subscriber needs. On Windows, logs on the
/// current thread, because no thread can start while another thread ends.
fn log_warning(callbacks: String, folder: PathBuf) {
    let warn = move || {
        log!(
            WARN,
            callbacks,
            folder = %folder.display(),
            "the thread of a runtime has ended and a handle to it is left, so the runtime was not ended: one of these callbacks \
             owns it, or the process exits without a shutdown; a callback can use the handle that is passed to it, or own the result of \
             `downgrade`"
        );
    };
    if cfg!(windows) {
        return warn();
    }
    let (done, is_done) = channel();
    let thread = thread::Builder::new().name("alcedo-last-words".into()).spawn(move || {
        warn();
        let _disconnected = done.send(());
    });
    if thread.is_ok() {
        let _timed_out = is_done.recv_timeout(LONGEST);
    }
}

/// Keeps the last handle of a runtime until [`end_kept`], or until this thread ends. Drops the handle and returns `false` if the
/// thread-local variables of this thread are already destroyed.
pub(super) fn end_later(last: Runtime) -> bool {
    let is_kept = LAST.try_with(|kept| kept.borrow_mut().push(last)).is_ok();
    HAS_LAST.set(is_kept);
    is_kept
}

/// Ends the runtimes of [`end_later`]. On the stack of a coroutine, these runtimes are kept again.
pub(super) fn end_kept() {
    if HAS_LAST.replace(false) {
        // The list is not borrowed while its runtimes end, because their callbacks may build runtimes.
        for last in LAST.try_with(RefCell::take).unwrap_or_default() {
            // Catches the panic of a host that ends, because the caller is a different host.
            if let Err(message) = panic_guard::caught(|| drop(last)) {
                log!(ERROR, message, "a host whose last handle a coroutine dropped panicked at its end");
            }
        }
    }
}

/// Registers a runtime of this thread. The end of the thread then logs the warning if a handle of the runtime remains. Also ends the
/// runtimes of [`end_later`].
pub(super) fn watch(runtime: &Runtime) {
    end_kept();
    let weak = runtime.downgrade();
    // Fails if the runtime is built while its thread ends. No warning is logged for such a runtime.
    let _unwatched = HERE.try_with(|here| {
        let mut here = here.0.borrow_mut();
        here.retain(WeakRuntime::is_there);
        here.push(weak);
    });
}
