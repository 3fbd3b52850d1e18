//! Records the process state before an image is mapped: soft limits, timers set by direct system calls, and system call filters. If the
//! image changes this state, signals may be raised without a call of a hook. The signals are harmless while the image handles them, but
//! without its handler, the default action terminates the process. Therefore the recorded state is restored before the handler is removed.
//! Filters cannot be removed, so an image with filters stays mapped.
//!
//! Considers only signals that would have the default action after the handler is removed. State that already existed before the image was
//! mapped is not changed, because the host cannot determine which code has set it.

use std::ffi::{c_int, c_uint};
use std::fs;
use std::mem;
use std::ptr;
use std::sync::{Arc, Mutex, Weak};

use rustix::thread::SecureComputingMode;

use super::c::kernel;
use super::c::signals::{bit, signal_name};
use super::proc::{self, field};
use super::signals::Handled;
use super::{lock, timers};

/// Limits that raise a signal when they are first exceeded.
const LIMITS: [(c_uint, c_int, &str); 2] =
    [(libc::RLIMIT_CPU, libc::SIGXCPU, "RLIMIT_CPU"), (libc::RLIMIT_FSIZE, libc::SIGXFSZ, "RLIMIT_FSIZE")];

const INTERVALS: [&str; 3] = ["ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"];

/// States that were recorded before images were mapped, one for each image. A record may contain changes by images that were mapped
/// earlier. The list is locked while a state is restored, so that the states of only one image are restored at a time.
static ALL: Mutex<Vec<Weak<Before>>> = Mutex::new(Vec::new());

pub(super) struct Before {
    found: Mutex<Found>,
    /// Number of system call filters on the thread that mapped the image.
    filters: u64,
}

struct Found {
    soft: [u64; 2],
    is_armed: [bool; 3],
    timers: Vec<c_int>,
    /// Signals, one bit each, that no other image handles. The sources of these signals are checked again when no handler of this image is
    /// running any more.
    alone: u64,
}

#[derive(Default)]
pub(super) struct Undone {
    /// Signals that may be pending, one bit each.
    pub(super) raised: u64,
    /// Signals that may still be raised.
    pub(super) late: u64,
    pub(super) messages: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Leave,
    PutBack,
    /// The limit cannot be raised again, so its signal is ignored instead.
    Ignore,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Listed {
    number: c_int,
    signal: c_int,
}

impl Before {
    pub(super) fn now() -> Arc<Self> {
        let soft =
            LIMITS.map(|(resource, ..)| kernel::limits(resource).map_or(libc::RLIM_INFINITY, |limits| limits.rlim_cur));
        let timers = listed().into_iter().map(|timer| timer.number).collect();
        let found = Found { soft, is_armed: [0, 1, 2].map(timers::is_running), timers, alone: 0 };
        let before = Arc::new(Self { found: Mutex::new(found), filters: own_filters() });
        let mut all = lock(&ALL);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&before));
        before
    }

    /// Removes the sources of the handled signals. The caller must then remove the image's handlers for these signals.
    pub(super) fn restore(&self, handled: Handled) -> Undone {
        lock(&self.found).alone |= handled.alone;
        self.undo(handled)
    }

    /// Removes sources that a running handler has set after the first removal. Called once, when no handler of the image is running any
    /// more. Sources that appear later do not belong to the image.
    pub(super) fn restore_again(&self) -> Undone {
        let alone = mem::take(&mut lock(&self.found).alone);
        self.undo(Handled { all: alone, alone })
    }

    fn undo(&self, handled: Handled) -> Undone {
        if handled.all == 0 {
            return Undone::default();
        }
        let all = lock(&ALL);
        let others: Vec<_> = all.iter().filter_map(Weak::upgrade).filter(|other| !ptr::eq(&**other, self)).collect();
        let others: Vec<_> = others.iter().map(|other| &other.found).collect();
        lock(&self.found).restore(handled, &others)
    }

    pub(super) fn is_filtered_since(&self) -> bool {
        let tasks = proc::numbers("task").unwrap_or_default();
        tasks.iter().any(|tid| filters(&format!("/proc/self/task/{tid}/status")) > self.filters)
    }
}

impl Found {
    fn restore(&mut self, handled: Handled, others: &[&Mutex<Self>]) -> Undone {
        let mut undone = Undone::default();
        for (at, (resource, signal, name)) in LIMITS.into_iter().enumerate() {
            if handled.all & bit(signal) == 0 {
                continue;
            }
            let (Some(mut now), before) = (kernel::limits(resource), self.soft[at]) else { continue };
            let verdict = judge(before, now.rlim_cur, now.rlim_max);
            if verdict == Verdict::Leave {
                continue;
            }
            // Corrects each record of another image whose limit is at most the lowered limit. The recorded limit may be lower, because the
            // system raises the CPU time limit in steps.
            let was = now.rlim_cur;
            for other in others {
                let soft = &mut lock(other).soft[at];
                if *soft <= was {
                    *soft = before;
                }
            }
            if handled.alone & bit(signal) == 0 {
                continue;
            }
            undone.raised |= bit(signal);
            now.rlim_cur = before;
            if verdict == Verdict::PutBack && kernel::setrlimit(resource, &now) == 0 {
                let limit = if before == libc::RLIM_INFINITY { "unlimited".to_owned() } else { before.to_string() };
                undone.messages.push(format!("{name} of {was} put back to {limit}"));
            } else {
                undone.late |= bit(signal);
                let signal = signal_name(signal);
                undone.messages.push(format!("{name} of {was}, which cannot be raised: {signal} ignored"));
            }
        }
        for (which, signal) in timers::SIGNALS.into_iter().enumerate().filter(|(which, _)| !self.is_armed[*which]) {
            if handled.alone & bit(signal) != 0 {
                if timers::stop_unowned(which) {
                    undone.raised |= bit(signal);
                    undone.messages.push(format!("{} set without its hooks: stopped", INTERVALS[which]));
                }
            } else if handled.all & bit(signal) != 0 {
                others.iter().for_each(|other| lock(other).is_armed[which] = false);
            }
        }
        // Skips the timers if none of the handled signals is one that timers raise.
        if handled.all & !OTHERWISE == 0 {
            return undone;
        }
        for Listed { number, signal } in listed() {
            if self.timers.contains(&number) || handled.all & bit(signal) == 0 || timers::is_known(number) {
                continue;
            }
            others.iter().for_each(|other| lock(other).timers.retain(|known| *known != number));
            // The timer was created after the image was mapped. Without the handler of the image, its signal terminates the process.
            if handled.alone & bit(signal) != 0 && kernel::delete_timer(number) {
                undone.raised |= bit(signal);
                undone.messages.push(format!("timer with {} created without its hooks: deleted", signal_name(signal)));
            }
        }
        undone
    }
}

/// Signals that timers do not raise. Most handlers are for these signals, which faults raise.
const OTHERWISE: u64 = 1 << (libc::SIGSEGV - 1)
    | 1 << (libc::SIGBUS - 1)
    | 1 << (libc::SIGILL - 1)
    | 1 << (libc::SIGFPE - 1)
    | 1 << (libc::SIGSYS - 1)
    | 1 << (libc::SIGCHLD - 1)
    | 1 << (libc::SIGXCPU - 1)
    | 1 << (libc::SIGXFSZ - 1);

/// Selects the treatment of a limit that may have changed. A raised limit is harmless, and a lowered limit is restored. If the hard limit
/// does not permit the previous value, the signal of the limit is ignored.
fn judge(before: u64, now: u64, hard: u64) -> Verdict {
    match (now < before, before <= hard) {
        (false, _) => Verdict::Leave,
        (true, true) => Verdict::PutBack,
        (true, false) => Verdict::Ignore,
    }
}

/// Returns the timers of this process that raise a signal. Returns an empty list if the kernel does not list timers.
fn listed() -> Vec<Listed> {
    fs::read_to_string("/proc/self/timers").map_or_else(|_| Vec::new(), |text| read_list(&text))
}

/// Parses the list of timers, four lines each. The first three lines are the id, the signal and the notification method of the timer.
fn read_list(text: &str) -> Vec<Listed> {
    let mut found = Vec::new();
    let (mut number, mut signal) = (None, None);
    for line in text.lines() {
        if let Some(text) = line.strip_prefix("ID: ") {
            (number, signal) = (text.trim().parse().ok(), None);
        } else if let Some(text) = line.strip_prefix("signal: ") {
            signal = text.split('/').next().and_then(|text| text.trim().parse().ok());
        } else if line.starts_with("notify: signal/")
            && let (Some(number), Some(signal)) = (number, signal)
        {
            found.push(Listed { number, signal });
        }
    }
    found
}

fn own_filters() -> u64 {
    match rustix::thread::secure_computing_mode() {
        Ok(SecureComputingMode::Disabled) => 0,
        _ => filters("/proc/thread-self/status"),
    }
}

/// Returns the number of filters that a status file states. On old kernels, the result is nonzero if any filters exist.
fn filters(status: &str) -> u64 {
    let Ok(text) = fs::read_to_string(status) else { return 0 };
    field(&text, "Seccomp_filters:").or_else(|| field(&text, "Seccomp:")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Listed, Verdict, judge, read_list};

    #[test]
    fn a_lowered_limit_is_restored_up_to_the_hard_limit() {
        const NONE: u64 = libc::RLIM_INFINITY;
        for (before, now, hard, expected) in [
            (NONE, 5, NONE, Verdict::PutBack),
            (10, 5, NONE, Verdict::PutBack),
            (10, 5, 10, Verdict::PutBack),
            (NONE, 5, 10, Verdict::Ignore),
            (10, 5, 5, Verdict::Ignore),
            (5, 5, 5, Verdict::Leave),
            (5, 10, NONE, Verdict::Leave),
            (NONE, NONE, NONE, Verdict::Leave),
        ] {
            assert_eq!(judge(before, now, hard), expected, "{before} {now} {hard}");
        }
    }

    #[test]
    fn timers_are_parsed_from_kernel_output() {
        let text = "ID: 0\nsignal: 37/00007ffc\nnotify: signal/pid.4711\nClockID: 1\n\
                    ID: 1\nsignal: 32/00007ffd\nnotify: thread/tid.4712\nClockID: 1\n\
                    ID: 7\nsignal: 10/0000\nnotify: signal/tid.4712\nClockID: 0\n\
                    ID: 8\nsignal: 0/0000\nnotify: none/pid.0\nClockID: 0\n";
        let expected = [Listed { number: 0, signal: 37 }, Listed { number: 7, signal: 10 }];
        assert_eq!(read_list(text), expected);
        assert_eq!(read_list("ID: \nsignal: \nnotify: signal/pid.1\nno list"), []);
    }
}
