//! Functions of images that the C library calls on its own threads when a timer expires, a message arrives or a request completes. The
//! hooks pass a function of the host and an id to the C library instead. The host's function calls the image's function as long as the
//! image exists, and records which functions are running.
#![expect(unsafe_code, reason = "calls functions of modules")]

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use super::c::kernel;
use super::lock;
use super::names::describe_thread;
use crate::ledger::{Holder, HolderKind};

/// `struct sigevent`, including its function and attributes.
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

/// Function of an event, called with the value of the event.
type Function = unsafe extern "C-unwind" fn(usize);

struct Notification {
    owner: usize,
    function: usize,
    value: usize,
    what: &'static str,
    /// `true` if the C library calls the function only once. The first call then removes the entry.
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
struct RecordTable {
    notifications: HashMap<usize, Notification>,
    running: Vec<Running>,
}

static RECORDS: LazyLock<Mutex<RecordTable>> = LazyLock::new(Mutex::default);

/// Next id. Ids are never reused, so that a call after the removal of a notification finds no function.
static SERIAL: AtomicUsize = AtomicUsize::new(1);

impl Event {
    /// Reads an event. Returns `None` for a null pointer. The meaning of a null pointer depends on the C function: `timer_create` then
    /// raises `SIGALRM`, `mq_notify` removes the registration, and `lio_listio` does not notify.
    ///
    /// # Safety
    ///
    /// The pointer is null or points to an event.
    pub(super) unsafe fn read(event: *const c_void) -> Option<Self> {
        // SAFETY: promised by our caller; only fields defined for the kind of event are used.
        (!event.is_null()).then(|| unsafe { event.cast::<Self>().read() })
    }

    pub(super) fn calls(&self) -> bool {
        self.how == libc::SIGEV_THREAD
    }

    pub(super) fn raises(&self) -> Option<c_int> {
        [libc::SIGEV_SIGNAL, libc::SIGEV_THREAD_ID].contains(&self.how).then_some(self.signal)
    }

    /// Replaces the image's function in the event by the host's function. Returns the new event and the id of the notification.
    pub(super) fn through_host(self, owner: usize, what: &'static str, is_for_once: bool) -> (Self, Option<usize>) {
        if !self.calls() {
            return (self, None);
        }
        let serial = SERIAL.fetch_add(1, Ordering::SeqCst);
        let notification = Notification { owner, function: self.function, value: self.value, what, is_for_once };
        lock(&RECORDS).notifications.insert(serial, notification);
        (Self { value: serial, function: notify as *const () as usize, ..self }, Some(serial))
    }

    /// Returns the event with the image's function.
    pub(super) fn for_image(self) -> Self {
        if !self.calls() || self.function != notify as *const () as usize {
            return self;
        }
        match lock(&RECORDS).notifications.get(&self.value) {
            Some(notification) => Self { value: notification.value, function: notification.function, ..self },
            None => self,
        }
    }
}

pub(super) fn remove(serial: usize) {
    lock(&RECORDS).notifications.remove(&serial);
}

pub(super) fn remove_all(owner: usize) {
    lock(&RECORDS).notifications.retain(|_, notification| notification.owner != owner);
}

pub(super) fn is_open(serial: usize) -> bool {
    lock(&RECORDS).notifications.contains_key(&serial)
}

pub(super) fn runs(owner: usize) -> bool {
    let mut records = lock(&RECORDS);
    records.running.retain(|running| running.owner != owner || kernel::thread_exists(running.tid));
    records.running.iter().any(|running| running.owner == owner)
}

pub(super) fn holders(owner: usize) -> Vec<Holder> {
    let holder = |running: &Running| {
        let name = format!("the handler of {}", running.what);
        Holder::new(HolderKind::Handler, name, running.since).on(describe_thread(running.tid))
    };
    lock(&RECORDS).running.iter().filter(|running| running.owner == owner).map(holder).collect()
}

/// Function that the C library calls instead of the image's function. If the image's function exits by `pthread_exit`, the rest of this
/// function is skipped.
unsafe extern "C-unwind" fn notify(serial: usize) {
    let (function, value, running) = {
        let mut records = lock(&RECORDS);
        let Some(notification) = records.notifications.get(&serial) else { return };
        let (function, value, is_for_once) = (notification.function, notification.value, notification.is_for_once);
        let tid = kernel::own_tid();
        let number = SERIAL.fetch_add(1, Ordering::SeqCst);
        let running =
            Running { owner: notification.owner, what: notification.what, tid, since: Instant::now(), serial: number };
        // Adds the function to `running` under the lock that a removal takes, so that the image stays mapped from here on.
        records.running.push(running);
        if is_for_once {
            records.notifications.remove(&serial);
        }
        (function, value, number)
    };
    let function = std::ptr::with_exposed_provenance::<()>(function);
    // SAFETY: the image provided the address as the function of an event, which has this type: a `sigval` is passed like a machine word.
    // The image promised that the function may be called with this value on a separate thread, and is held during the call.
    unsafe { std::mem::transmute::<*const (), Function>(function)(value) };
    lock(&RECORDS).running.retain(|known| known.serial != running);
}
