//! What makes signals arrive at an image, or has its functions called, without anybody of it being there: its handlers,
//! timers, descriptors, queues and requests. They go in an order in which none of them finds the others gone.

use std::ptr;

use super::before::Undone;
use super::c::signals as signal_sets;
use super::locals::thread_in_words;
use super::{async_fds, handlers, notifications, requests, signals, timers};
use crate::ledger::{Holder, HolderKind, Ledger};

/// What has to be over before the image's handlers may go: it will raise a signal, or call, when it is done.
pub(super) fn must_end_first(ledger: &Ledger) -> bool {
    requests::are_under_way(owner(ledger)) || is_filtered(ledger)
}

/// Whether the image handles what a filter of system calls raises: such a filter cannot be taken back, and without the
/// handler the next call that it catches ends the process.
fn is_filtered(ledger: &Ledger) -> bool {
    let bit = signal_sets::bit(libc::SIGSYS);
    signals::has(owner(ledger), libc::SIGSYS)
        && signals::handled(owner(ledger)).all & bit != 0
        && ledger.records.before.is_filtered_since()
}

/// Whether any of it is there.
pub(super) fn are_held(ledger: &Ledger) -> bool {
    let owner = owner(ledger);
    !ledger.records.is_closed() || signals::held(owner) > 0 || timers::held(owner) > 0 || async_fds::held(owner)
}

/// Takes all of it down; how many signals led to the image, and what else was put right.
///
/// What raises signals goes before what handles them, and from now on nothing of the image can be made to raise one: a
/// handler that still runs may well try.
pub(super) fn release(ledger: &Ledger) -> (u64, Vec<String>) {
    let owner = owner(ledger);
    ledger.records.close();
    let raised = timers::disarm(owner) | async_fds::disarm(owner);
    notifications::strike_all(owner);
    let undone = ledger.records.before.put_back(signals::handled(owner));
    let count = signals::release(owner, raised | undone.raised, requests::take(owner) | undone.late);
    (count, undone.words)
}

/// The same for what a handler that still ran may have set again: none runs any more.
pub(super) fn release_again(ledger: &Ledger) -> Vec<String> {
    let Undone { raised, late, words } = ledger.records.before.put_back_again();
    if raised | late != 0 {
        signals::release(owner(ledger), raised, late);
    }
    words
}

/// Whether a function of the image may still be running that a signal or the C library has called.
pub(super) fn may_call(owner: usize) -> bool {
    signals::may_run(owner) || notifications::runs(owner)
}

/// All of the above that keeps the image now.
pub(super) fn holders(ledger: &Ledger) -> Vec<Holder> {
    let owner = owner(ledger);
    let mut holders = requests::holders(owner);
    holders.extend(notifications::holders(owner));
    holders.extend(super::altstack::holders(ledger));
    if is_filtered(ledger) {
        let signal = signal_sets::in_words(libc::SIGSYS);
        holders.push(Holder {
            kind: HolderKind::Handler,
            name: format!("the handler for {signal} of {}, to which a seccomp filter may lead", ledger.label()),
            thread: String::new(),
            since: ledger.records.born(),
            place: None,
        });
    }
    if signals::may_run(owner) {
        let running = signals::running(owner);
        if running.is_empty() {
            holders.push(unknown());
        }
        holders.extend(running.into_iter().map(|running| handler(&running, ledger)));
    }
    holders
}

fn handler(running: &handlers::Running, ledger: &Ledger) -> Holder {
    let signal = signal_sets::in_words(running.signal);
    let whose = match running.owner {
        own if own == owner(ledger) => format!("of {}", ledger.label()),
        0 => "of the process".to_owned(),
        _ => "of another module, called together with those of this one".to_owned(),
    };
    Holder {
        kind: HolderKind::Handler,
        name: format!("the handler for {signal} {whose}"),
        thread: thread_in_words(running.tid),
        since: running.since,
        place: None,
    }
}

/// More run at once than are known one by one.
fn unknown() -> Holder {
    Holder {
        kind: HolderKind::Handler,
        name: "a running signal handler".to_owned(),
        thread: String::new(),
        since: std::time::Instant::now(),
        place: None,
    }
}

fn owner(ledger: &Ledger) -> usize {
    ptr::from_ref(ledger).addr()
}
