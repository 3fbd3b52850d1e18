//! Descriptors for which images have requested signals, and message queues with notifications. The open files of these descriptors and
//! queues may outlive the image, and may raise signals even after the descriptor is closed.

use std::ffi::c_int;
use std::ptr;
use std::sync::Mutex;

use super::c::callbacks::Event;
use super::c::descriptors::{self, Command, Identity, identity};
use super::c::kernel::fail;
use super::c::signals::bit;
use super::{fds, lock, notifications};
use crate::ledger::Ledger;

static RECORDS: Mutex<Vec<Request>> = Mutex::new(Vec::new());

struct Request {
    owner: usize,
    fd: c_int,
    identity: Identity,
    how: How,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Signals of a descriptor, requested by `O_ASYNC`, an owner, a signal number, a lease, or folder notifications.
    Signals,
    /// Notification of a message queue, requested by `mq_notify`: the id of the notification function, or the signal.
    Message { notification: Option<usize>, signal: Option<c_int> },
}

/// Records that an image has changed the signals of a descriptor.
pub(super) fn record_change(ledger: &Ledger, fd: c_int) {
    let Some(identity) = identity(fd) else { return };
    let owner = ledger.owner();
    if ledger.records.is_closed() {
        disable_signals(fd);
        return;
    }
    let mut records = lock(&RECORDS);
    records.retain(|request| !(request.identity == identity && request.how == How::Signals));
    records.push(Request { owner, fd, identity, how: How::Signals });
}

/// Calls `notify`, which executes `mq_notify` for one image, with the event that describes the notification.
pub(super) fn notify_of_message(
    ledger: &Ledger,
    queue: c_int,
    event: Option<Event>,
    notify: impl FnOnce(*const libc::sigevent) -> c_int,
) -> c_int {
    let owner = ledger.owner();
    let mut records = lock(&RECORDS);
    if event.is_some() && ledger.records.is_closed() {
        return fail(libc::EBUSY, -1);
    }
    let host = event.map(|event| event.through_host(owner, "a message queue", true));
    let notification = host.and_then(|(_, notification)| notification);
    let address = host.as_ref().map_or(ptr::null(), |(event, _)| ptr::from_ref(event));
    let result = notify(address.cast());
    if result != 0 {
        notification.into_iter().for_each(notifications::remove);
        return result;
    }
    let Some(identity) = identity(queue) else { return result };
    records.retain(|request| request.identity != identity || request.how == How::Signals);
    if let Some(event) = event {
        let how = How::Message { notification, signal: event.raises() };
        records.push(Request { owner, fd: queue, identity, how });
    }
    result
}

pub(super) fn held(owner: usize) -> bool {
    lock(&RECORDS).iter().any(|request| request.owner == owner)
}

/// Disables all notifications of an image. Returns the signals that these notifications raise, one bit each.
pub(super) fn disarm(owner: usize) -> u64 {
    let own: Vec<_> = lock(&RECORDS).extract_if(.., |request| request.owner == owner).collect();
    let mut raised = 0;
    for Request { fd, identity: identified, how, .. } in own {
        match how {
            // Disables the signals on all descriptors of the file, because all descriptors of one file share these settings.
            How::Signals => {
                let same = fds::open_now().into_iter().filter(|fd| identity(*fd) == Some(identified));
                same.for_each(|fd| raised |= disable_signals(fd));
                raised |= bit(libc::SIGIO) | bit(libc::SIGURG);
            }
            How::Message { notification, signal } => {
                raised |= signal.map_or(0, bit);
                let is_open = notification.is_none_or(notifications::is_open);
                notification.into_iter().for_each(notifications::remove);
                if is_open && identity(fd) == Some(identified) {
                    descriptors::forget_requester(fd);
                }
            }
        }
    }
    raised
}

/// Disables the signals of a descriptor. Returns the signals that were enabled before, one bit each.
fn disable_signals(fd: c_int) -> u64 {
    let control = |command, argument: c_int| descriptors::control(fd, command, argument);
    let raised = match control(Command::SIGNAL, 0) {
        signal @ 1..=64 => bit(signal),
        _ => 0,
    };
    let flags = control(Command::FLAGS, 0);
    if flags >= 0 && flags & libc::O_ASYNC != 0 {
        control(Command::SET_FLAGS, flags & !libc::O_ASYNC);
    }
    control(Command::NOTIFY, 0);
    if [libc::F_RDLCK, libc::F_WRLCK].contains(&control(Command::LEASE, 0)) {
        control(Command::SET_LEASE, libc::F_UNLCK);
    }
    control(Command::SET_OWNER, 0);
    control(Command::SET_SIGNAL, 0);
    raised
}
