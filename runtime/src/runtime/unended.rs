//! What is said of a runtime that never ends. When its thread has ended, no handle to it is in use any more: those that are
//! left are owned by its own callbacks, or `exit` was called while one was on the stack. Nothing is ended here, since what that
//! takes may have gone with the thread.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::{Runtime, WeakRuntime};
use crate::callback::Site;
use crate::trap;

/// How long the end of a thread waits for the line.
const LONGEST: Duration = Duration::from_secs(2);

thread_local! {
    static HERE: Runtimes = const { Runtimes(RefCell::new(Vec::new())) };
}

/// The runtimes of one thread.
struct Runtimes(RefCell<Vec<WeakRuntime>>);

impl Drop for Runtimes {
    fn drop(&mut self) {
        for left in self.0.take().iter().filter_map(WeakRuntime::upgrade) {
            let callbacks: Vec<_> = left.callbacks_that_own().iter().map(Site::to_string).collect();
            if !callbacks.is_empty() {
                say(callbacks.join(", "), left.stage_dir());
            }
        }
    }
}

/// What a subscriber keeps for this thread may have gone before this, so another one says it. It is not waited for without
/// end: this thread may have a lock that the subscriber needs. On Windows no thread begins while another one ends.
fn say(callbacks: String, folder: PathBuf) {
    let say = move || {
        tracing::warn!(
            callbacks,
            folder = %folder.display(),
            "the thread of a runtime has ended and a handle to it is left, so nothing of it was ended: one of these callbacks \
             owns it, or the process exits without a shutdown; a callback can use the handle that it is given, or own what \
             `downgrade` gives"
        );
    };
    if cfg!(windows) {
        let _lost = trap::caught(say);
        return;
    }
    let (done, is_done) = channel();
    let thread = thread::Builder::new().name("alcedo-last-words".into()).spawn(move || {
        let _lost = trap::caught(say);
        let _nobody = done.send(());
    });
    if thread.is_ok() {
        let _said = is_done.recv_timeout(LONGEST);
    }
}

/// From now on a runtime of this thread is named when the thread ends and it has not.
pub(super) fn watch(runtime: &Runtime) {
    let weak = runtime.downgrade();
    // One that is built while its thread ends is not watched.
    let _unwatched = HERE.try_with(|here| {
        let mut here = here.0.borrow_mut();
        here.retain(WeakRuntime::is_there);
        here.push(weak);
    });
}
