//! Functions of images that the C library calls on threads of its own: when a timer has run out, a message has come, a
//! request is done. The C library knows a function of the host's and a number instead; the host calls the image's as
//! long as that is there, and knows which of them run.
#![expect(unsafe_code, reason = "calls functions of modules")]

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use super::c::kernel;
use super::lock;
use super::names::thread_in_words;
use crate::ledger::{Holder, HolderKind};

/// `struct sigevent`, the part of it that is a function and its argument included.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Event {
    pub(super) value: usize,
    pub(super) signal: c_int,
    pub(super) how: c_int,
    pub(super) function: usize,
    pub(super) attributes: usize,
    rest: [usize; 4],
}

/// The function of an event, which is called with its value.
type Function = unsafe extern "C-unwind" fn(usize);

struct Notification {
    /// The address of the ledger of the image that is to be called.
    owner: usize,
    function: usize,
    value: usize,
    /// What it is about, in words.
    what: &'static str,
    /// It is struck out when it has been called.
    is_for_once: bool,
}

struct Running {
    owner: usize,
    what: &'static str,
    tid: i32,
    since: Instant,
    serial: usize,
}

#[derive(Default)]
struct Book {
    notifications: HashMap<usize, Notification>,
    running: Vec<Running>,
}

static BOOK: LazyLock<Mutex<Book>> = LazyLock::new(Mutex::default);

/// Numbers are never used again: one that comes late names none.
static SERIAL: AtomicUsize = AtomicUsize::new(1);

impl Event {
    /// What was asked for, where C takes null for a default.
    ///
    /// # Safety
    ///
    /// It is an event, or null.
    pub(super) unsafe fn read(event: *const c_void) -> Option<Self> {
        // SAFETY: our caller promises it; only what C defines for its kind is looked at.
        (!event.is_null()).then(|| unsafe { event.cast::<Self>().read() })
    }

    pub(super) fn calls(&self) -> bool {
        self.how == libc::SIGEV_THREAD
    }

    /// The signal that it raises.
    pub(super) fn raises(&self) -> Option<c_int> {
        [libc::SIGEV_SIGNAL, libc::SIGEV_THREAD_ID].contains(&self.how).then_some(self.signal)
    }

    /// The same event, with the host's function in the place of the image's; and the number of that notification.
    pub(super) fn through_host(self, owner: usize, what: &'static str, is_for_once: bool) -> (Self, Option<usize>) {
        if !self.calls() {
            return (self, None);
        }
        let serial = SERIAL.fetch_add(1, Ordering::SeqCst);
        let notification = Notification { owner, function: self.function, value: self.value, what, is_for_once };
        lock(&BOOK).notifications.insert(serial, notification);
        (Self { value: serial, function: notify as *const () as usize, ..self }, Some(serial))
    }

    /// The event as the image knows it.
    pub(super) fn as_image_knows_it(self) -> Self {
        if !self.calls() || self.function != notify as *const () as usize {
            return self;
        }
        match lock(&BOOK).notifications.get(&self.value) {
            Some(notification) => Self { value: notification.value, function: notification.function, ..self },
            None => self,
        }
    }
}

/// No function is to be called any more.
pub(super) fn strike(serial: usize) {
    lock(&BOOK).notifications.remove(&serial);
}

/// No function of an image is to be called any more.
pub(super) fn strike_all(owner: usize) {
    lock(&BOOK).notifications.retain(|_, notification| notification.owner != owner);
}

/// Whether the one of this number is still waited for.
pub(super) fn is_open(serial: usize) -> bool {
    lock(&BOOK).notifications.contains_key(&serial)
}

pub(super) fn runs(owner: usize) -> bool {
    let mut book = lock(&BOOK);
    book.running.retain(|running| running.owner != owner || kernel::thread_exists(running.tid));
    book.running.iter().any(|running| running.owner == owner)
}

pub(super) fn holders(owner: usize) -> Vec<Holder> {
    let holder = |running: &Running| {
        let name = format!("the function that hears of {}", running.what);
        Holder::new(HolderKind::Handler, name, running.since).on(thread_in_words(running.tid))
    };
    lock(&BOOK).running.iter().filter(|running| running.owner == owner).map(holder).collect()
}

/// What the C library calls. The image's function may leave by `pthread_exit`, which takes this frame away.
unsafe extern "C-unwind" fn notify(serial: usize) {
    let (function, value, running) = {
        let mut book = lock(&BOOK);
        let Some(notification) = book.notifications.get(&serial) else { return };
        let (function, value, is_for_once) = (notification.function, notification.value, notification.is_for_once);
        let tid = kernel::own_tid();
        let number = SERIAL.fetch_add(1, Ordering::SeqCst);
        let running =
            Running { owner: notification.owner, what: notification.what, tid, since: Instant::now(), serial: number };
        // In the same moment as it is taken off its list: in between, nothing would hold the image.
        book.running.push(running);
        if is_for_once {
            book.notifications.remove(&serial);
        }
        (function, value, number)
    };
    let function = std::ptr::with_exposed_provenance::<()>(function);
    // SAFETY: the image gave it as the function of an event, which is of this type: a `sigval` goes where a word goes. It
    // promised that it may be called with this value on a thread of its own, and is kept meanwhile.
    unsafe { std::mem::transmute::<*const (), Function>(function)(value) };
    lock(&BOOK).running.retain(|known| known.serial != running);
}
