//! Exit handlers of images. The handlers of an image are called before the image is unmapped. At process exit, the host's own exit handler
//! calls the handlers of all images that are still mapped.

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};

use super::c::callbacks;
use super::lock;
use crate::ledger::plan::Step;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "an exit handler",
    before: listen,
    counts: |image, counts| counts.exit_handlers = held(image.owner()),
    facts: |image, facts| {
        facts.exit_handlers |= held(image.owner()) > 0;
        // Reads the flag last. If the exiting thread has removed the image's last handler from the list, the flag is already set.
        facts.process_exits |= LEAVING.load(Ordering::SeqCst);
    },
    act: |image, step, report| {
        if step == Step::RunExitHandlers {
            report.exit_handlers += run(image.owner());
        }
    },
    // Drops handlers that the image's finalizers registered while the image was being closed. The code of these handlers is already
    // unmapped.
    free: |gone, _| lock(&HANDLERS).retain(|(other, _)| *other != gone.image().owner()),
    ..Repair::NONE
};

/// Call of an exit handler with the exit status.
type Handler = Box<dyn FnOnce(c_int) + Send>;

/// Pending handlers of all images, each with its owner, in order of registration.
static HANDLERS: Mutex<Vec<(usize, Handler)>> = Mutex::new(Vec::new());

/// Set when process exit begins. Afterwards, no image may be unmapped, because the main thread may be running an exit handler of the
/// image.
static LEAVING: AtomicBool = AtomicBool::new(false);

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _made = callbacks::on_exit(at_process_exit);
    });
}

/// Registers a handler for process exit through `exit` or the return of `main`. The handler runs on the exiting thread, after the
/// thread-local destructors of that thread. Handlers run in reverse order of registration.
///
/// # Errors
///
/// Fails if the platform does not support exit handlers, or rejects the handler.
pub fn at_exit(handler: extern "C" fn()) -> io::Result<()> {
    if callbacks::atexit(handler) == 0 { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
}

pub(super) fn register(owner: usize, handler: impl FnOnce(c_int) + Send + 'static) {
    lock(&HANDLERS).push((owner, Box::new(handler)));
}

/// Calls the current handlers of an image in reverse order of registration, and returns their number. The handlers may register further
/// handlers, which this call does not run.
fn run(owner: usize) -> u64 {
    let count = held(owner);
    for _ in 0..count {
        let last = {
            let mut handlers = lock(&HANDLERS);
            let at = handlers.iter().rposition(|(other, _)| *other == owner);
            at.map(|at| handlers.remove(at))
        };
        let Some((_, handler)) = last else { break };
        handler(0);
    }
    count
}

pub(super) fn held(owner: usize) -> u64 {
    lock(&HANDLERS).iter().filter(|(other, _)| *other == owner).count() as u64
}

extern "C" fn at_process_exit(status: c_int, _argument: *mut c_void) {
    LEAVING.store(true, Ordering::SeqCst);
    loop {
        let Some((_, handler)) = lock(&HANDLERS).pop() else { return };
        handler(status);
    }
}
