//! Exit handlers of images. The handlers of an image are called before the image is unmapped. At process exit, the host's own exit handler
//! calls the handlers of all images that are still mapped.

use std::ffi::{c_int, c_void};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};

use super::c::callbacks::{self, Destructor, OnExit, Promised};
use super::lock;
use crate::ledger::plan::Step;
use crate::ledger::repair::Repair;

pub(super) const REPAIR: Repair = Repair {
    name: "an exit handler",
    before: listen,
    counts: |image, counts| counts.exit_handlers = held(image.owner()),
    facts: |image, facts| {
        facts.process_exits |= LEAVING.load(Ordering::SeqCst);
        facts.exit_handlers |= held(image.owner()) > 0;
    },
    act: |image, step, report| {
        if step == Step::RunExitHandlers {
            report.exit_handlers += run(image.owner());
        }
    },
    // Drops handlers that the image's finalizers registered while the image was being closed. The code of these handlers is already
    // unmapped.
    free: |gone, _| forget(gone.image().owner()),
    ..Repair::NONE
};

/// Pending handlers of all images, in order of registration.
static HANDLERS: Mutex<Vec<Exit>> = Mutex::new(Vec::new());

/// Set when process exit begins. Afterwards, no image may be unmapped, because the main thread may be running an exit handler of the
/// image.
static LEAVING: AtomicBool = AtomicBool::new(false);

pub(super) enum Handler {
    Plain(Promised<Destructor>),
    WithStatus(Promised<OnExit>),
}

struct Exit {
    owner: usize,
    handler: Handler,
}

fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _made = callbacks::on_exit(at_process_exit);
    });
}

pub(crate) fn at_exit(handler: extern "C" fn()) -> io::Result<()> {
    if callbacks::at_exit(handler) { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
}

pub(super) fn register(owner: usize, handler: Handler) {
    lock(&HANDLERS).push(Exit { owner, handler });
}

/// Calls the current handlers of an image in reverse order of registration, and returns their number. The handlers may register further
/// handlers, which this call does not run.
fn run(owner: usize) -> u64 {
    let count = held(owner);
    for _ in 0..count {
        let last = {
            let mut handlers = lock(&HANDLERS);
            let at = handlers.iter().rposition(|exit| exit.owner == owner);
            at.map(|at| handlers.remove(at))
        };
        let Some(last) = last else { break };
        call(last, 0);
    }
    count
}

pub(super) fn held(owner: usize) -> u64 {
    lock(&HANDLERS).iter().filter(|exit| exit.owner == owner).count() as u64
}

fn forget(owner: usize) {
    lock(&HANDLERS).retain(|exit| exit.owner != owner);
}

extern "C" fn at_process_exit(status: c_int, _argument: *mut c_void) {
    LEAVING.store(true, Ordering::SeqCst);
    loop {
        let Some(last) = lock(&HANDLERS).pop() else { return };
        call(last, status);
    }
}

fn call(exit: Exit, status: c_int) {
    match exit.handler {
        Handler::Plain(handler) => handler.call(),
        Handler::WithStatus(handler) => handler.call(status),
    }
}
