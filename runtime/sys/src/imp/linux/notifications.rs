//! Functions of images that the C library calls on its own threads when a timer expires, a message arrives or a request completes. The
//! hooks pass a function of the host and an id to the C library instead. The host's function calls the image's function as long as the
//! image exists, and records which functions are running.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use super::c::callbacks::{Event, Target};
use super::c::kernel;
use super::lock;
use super::names::describe_thread;
use crate::ledger::{Holder, HolderKind};

struct Notification {
    owner: usize,
    target: Target,
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
    /// Replaces the image's function in the event by the host's function. Returns the new event and the id of the notification.
    pub(super) fn through_host(self, owner: usize, what: &'static str, is_for_once: bool) -> (Self, Option<usize>) {
        let Some(target) = self.target() else { return (self, None) };
        let serial = SERIAL.fetch_add(1, Ordering::SeqCst);
        lock(&RECORDS).notifications.insert(serial, Notification { owner, target, what, is_for_once });
        (self.with(Target::of_host(notify, serial)), Some(serial))
    }

    /// Reverses [`Self::through_host`]: returns the event with the image's function.
    pub(super) fn for_image(self) -> Self {
        let serial = self.value();
        if self.target() != Some(Target::of_host(notify, serial)) {
            return self;
        }
        match lock(&RECORDS).notifications.get(&serial) {
            Some(notification) => self.with(notification.target),
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
extern "C-unwind" fn notify(serial: usize) {
    let (target, running) = {
        let mut records = lock(&RECORDS);
        let Some(notification) = records.notifications.get(&serial) else { return };
        let (target, is_for_once) = (notification.target, notification.is_for_once);
        let tid = kernel::own_tid();
        let number = SERIAL.fetch_add(1, Ordering::SeqCst);
        let running =
            Running { owner: notification.owner, what: notification.what, tid, since: Instant::now(), serial: number };
        // Adds the function to `running` under the lock that a removal takes, so that the image stays mapped from here on.
        records.running.push(running);
        if is_for_once {
            records.notifications.remove(&serial);
        }
        (target, number)
    };
    target.call();
    lock(&RECORDS).running.retain(|known| known.serial != running);
}
