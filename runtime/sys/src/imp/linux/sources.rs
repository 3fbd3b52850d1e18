//! Removes the sources of an image's signals and callbacks: handlers, timers, descriptors, queues and requests. These sources act without a
//! thread of the image. They are removed in an order in which no source depends on a source that was already removed.

use std::time::Instant;

use super::before::Undone;
use super::c::signals as signal_sets;
use super::names::describe_thread;
use super::{async_fds, handlers, notifications, requests, signals, timers};
use crate::end_report::EndReport;
use crate::ledger::plan::Step;
use crate::ledger::repair::Repair;
use crate::ledger::{Holder, HolderKind, Ledger};

pub(super) const REPAIR: Repair = Repair {
    name: "a signal handler, or a source of its signal",
    counts: |image, counts| {
        counts.signals = signals::held(image.owner());
        counts.timers = timers::held(image.owner());
    },
    holders: |image, all| all.extend(holders(image)),
    facts: |image, facts| {
        // A source that raises a signal must be removed before the image's handlers for this signal.
        facts.locals_elsewhere = facts.locals_elsewhere || is_filtered(image);
        facts.signals |= are_held(image);
        facts.handler_runs |= signals::may_run(image.owner()) || notifications::runs(image.owner());
    },
    act: |image, step, report| {
        if step == Step::ReleaseSignals {
            release(image, report);
        }
    },
    redirect_references: |image, _, report| report.put_back.extend(release_again(image)),
    free: |gone, report| release(gone.image(), report),
    ..Repair::NONE
};

/// Checks if the image handles the signal of system call filters. Such a handler must not be removed: filters cannot be removed, so the
/// next filtered call would terminate the process.
fn is_filtered(ledger: &Ledger) -> bool {
    let bit = signal_sets::bit(libc::SIGSYS);
    signals::has(ledger.owner(), libc::SIGSYS)
        && signals::handled(ledger.owner()).all & bit != 0
        && ledger.records.before.is_filtered_since()
}

fn are_held(ledger: &Ledger) -> bool {
    let owner = ledger.owner();
    !ledger.records.is_closed() || signals::held(owner) > 0 || timers::held(owner) > 0 || async_fds::held(owner)
}

/// Removes all sources, and stores the number of handled signals in the report.
///
/// Removes the sources of each signal before the handlers of the signal. From then on, hooks reject new sources, although a handler that is
/// still running may try to create sources.
fn release(ledger: &Ledger, report: &mut EndReport) {
    let owner = ledger.owner();
    ledger.records.close();
    let raised = timers::disarm(owner) | async_fds::disarm(owner);
    notifications::remove_all(owner);
    let undone = ledger.records.before.restore(signals::handled(owner));
    report.signals += signals::release(owner, raised | undone.raised, requests::take(owner) | undone.late);
    report.put_back.extend(undone.messages);
}

/// Removes sources that a handler may have set again while it was still running. When this function is called, no handler is running.
fn release_again(ledger: &Ledger) -> Vec<String> {
    let Undone { raised, late, messages } = ledger.records.before.restore_again();
    if raised | late != 0 {
        signals::release(ledger.owner(), raised, late);
    }
    messages
}

fn holders(ledger: &Ledger) -> Vec<Holder> {
    let owner = ledger.owner();
    let mut holders = notifications::holders(owner);
    if is_filtered(ledger) {
        let signal = signal_sets::signal_name(libc::SIGSYS);
        let name = format!("the handler for {signal} of {}, which a seccomp filter may call", ledger.label());
        holders.push(Holder::new(HolderKind::Handler, name, ledger.records.created));
    }
    if signals::may_run(owner) {
        let running = signals::running(owner);
        if running.is_empty() {
            // Reports a placeholder, because the running handlers have no records: the table of runs was full.
            holders.push(Holder::new(HolderKind::Handler, "a running signal handler", Instant::now()));
        }
        holders.extend(running.into_iter().map(|running| handler(&running, ledger)));
    }
    holders
}

fn handler(running: &handlers::Running, ledger: &Ledger) -> Holder {
    let signal = signal_sets::signal_name(running.signal);
    let whose = match running.owner {
        own if own == ledger.owner() => format!("of {}", ledger.label()),
        0 => "of the process".to_owned(),
        _ => "of another module, called together with those of this one".to_owned(),
    };
    let name = format!("the handler for {signal} {whose}");
    Holder::new(HolderKind::Handler, name, running.since).on(describe_thread(running.tid))
}
