//! What the process had when an image was mapped of all that raises a signal by itself and that no hook sees: soft limits,
//! timers set by bare system calls, filters of system calls. An image that handles such a signal lives well with it; once the
//! handler is gone, what the system does by itself is to end the process. So what raises the signal goes first, and is put
//! back as it was. A filter cannot be taken back: then the image stays.
//!
//! Only signals are looked at of which nothing but the default action would remain. Who else may have set the limit or the
//! timer meanwhile cannot be found out, so what was there before the image is left alone.

use std::ffi::{c_int, c_uint};
use std::fs;
use std::mem;
use std::ptr;
use std::sync::{Arc, Mutex, Weak};

use rustix::thread::SecureComputingMode;

use super::c::kernel;
use super::c::signals::{bit, in_words};
use super::proc::{self, field};
use super::signals::Handled;
use super::{lock, timers};

/// Limits of which the first excess is reported by a signal.
const LIMITS: [(c_uint, c_int, &str); 2] =
    [(libc::RLIMIT_CPU, libc::SIGXCPU, "RLIMIT_CPU"), (libc::RLIMIT_FSIZE, libc::SIGXFSZ, "RLIMIT_FSIZE")];

/// The interval timers, as reports name them.
const INTERVALS: [&str; 3] = ["ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"];

/// What images found that are mapped: one that goes first may leave another what it has changed itself. Held while
/// anything is put back, so that two of them do not do it at once.
static ALL: Mutex<Vec<Weak<Before>>> = Mutex::new(Vec::new());

/// What one image found.
pub(super) struct Before {
    found: Mutex<Found>,
    /// Filters of system calls of the thread that has mapped it.
    filters: u64,
}

struct Found {
    soft: [u64; 2],
    is_armed: [bool; 3],
    /// The numbers that the kernel has given to timers.
    timers: Vec<c_int>,
    /// Signals (one bit each) whose handlers were taken out, with nobody else there: what raises them is looked for once more
    /// when no handler of the image runs.
    alone: u64,
}

/// What was done about what raises signals.
#[derive(Default)]
pub(super) struct Undone {
    /// Signals that may be under way, one bit each.
    pub(super) raised: u64,
    /// Those that can still come.
    pub(super) late: u64,
    pub(super) words: Vec<String>,
}

/// What to do about a soft limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Leave,
    PutBack,
    /// Nobody may raise it any more, so its signal must do no harm.
    Ignore,
}

/// One line of what the kernel reports of timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Listed {
    number: c_int,
    signal: c_int,
}

impl Before {
    /// What there is now.
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

    /// The image handles these, and its handlers go next.
    pub(super) fn put_back(&self, handled: Handled) -> Undone {
        lock(&self.found).alone |= handled.alone;
        self.undo(handled)
    }

    /// No handler of the image runs any more: what one may have set again since its signal was given up. Once; whatever comes
    /// later belongs to other code.
    pub(super) fn put_back_again(&self) -> Undone {
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
        lock(&self.found).put_back(handled, &others)
    }

    /// Whether a filter was set since the image was mapped, on any thread.
    pub(super) fn is_filtered_since(&self) -> bool {
        let tasks = proc::numbers("task").unwrap_or_default();
        tasks.iter().any(|tid| filters(&format!("/proc/self/task/{tid}/status")) > self.filters)
    }
}

impl Found {
    fn put_back(&mut self, handled: Handled, others: &[&Mutex<Self>]) -> Undone {
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
            // It is with the others now to put it back. The system itself raises the one for time by and by.
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
            if verdict == Verdict::PutBack && kernel::set_limits(resource, &now) {
                undone.words.push(format!("{name} of {was} put back to {}", limit_in_words(before)));
            } else {
                undone.late |= bit(signal);
                undone.words.push(format!("{name} of {was}, which cannot be raised: {} ignored", in_words(signal)));
            }
        }
        for (which, signal) in timers::SIGNALS.into_iter().enumerate().filter(|(which, _)| !self.is_armed[*which]) {
            if handled.alone & bit(signal) != 0 {
                if timers::stop_stray(which) {
                    undone.raised |= bit(signal);
                    undone.words.push(format!("{} set past its hooks stopped", INTERVALS[which]));
                }
            } else if handled.all & bit(signal) != 0 {
                others.iter().for_each(|other| lock(other).is_armed[which] = false);
            }
        }
        // Those of the interval timers and the limits are no timers of this sort.
        if handled.all & !OTHERWISE == 0 {
            return undone;
        }
        for Listed { number, signal } in listed() {
            if self.timers.contains(&number) || handled.all & bit(signal) == 0 || timers::is_known(number) {
                continue;
            }
            others.iter().for_each(|other| lock(other).timers.retain(|known| *known != number));
            // The timer was made since the image was mapped, and its signal ends the process when the image's handler is gone.
            if handled.alone & bit(signal) != 0 && kernel::delete_timer(number) {
                undone.raised |= bit(signal);
                undone.words.push(format!("timer with {} made past its hooks deleted", in_words(signal)));
            }
        }
        undone
    }
}

/// Signals of faults, which most handlers are for: no timer is made with them.
const OTHERWISE: u64 = 1 << (libc::SIGSEGV - 1)
    | 1 << (libc::SIGBUS - 1)
    | 1 << (libc::SIGILL - 1)
    | 1 << (libc::SIGFPE - 1)
    | 1 << (libc::SIGSYS - 1)
    | 1 << (libc::SIGCHLD - 1)
    | 1 << (libc::SIGXCPU - 1)
    | 1 << (libc::SIGXFSZ - 1);

/// A limit that was raised since does no harm. One that was lowered and cannot be raised again does, whatever is done.
fn judge(before: u64, now: u64, hard: u64) -> Verdict {
    match (now < before, before <= hard) {
        (false, _) => Verdict::Leave,
        (true, true) => Verdict::PutBack,
        (true, false) => Verdict::Ignore,
    }
}

fn limit_in_words(limit: u64) -> String {
    if limit == libc::RLIM_INFINITY { "unlimited".to_owned() } else { limit.to_string() }
}

/// The timers of this process that raise a signal; none where the kernel does not list them.
fn listed() -> Vec<Listed> {
    fs::read_to_string("/proc/self/timers").map_or_else(|_| Vec::new(), |text| read_list(&text))
}

/// Of each timer there are four lines, of which the first three are its number, its signal and how that is sent.
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

/// Filters of system calls of the calling thread.
fn own_filters() -> u64 {
    match rustix::thread::secure_computing_mode() {
        Ok(SecureComputingMode::Disabled) => 0,
        _ => filters("/proc/thread-self/status"),
    }
}

/// Those of the thread that the file describes. An old kernel reports only whether there are any.
fn filters(status: &str) -> u64 {
    let Ok(text) = fs::read_to_string(status) else { return 0 };
    field(&text, "Seccomp_filters:").or_else(|| field(&text, "Seccomp:")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Listed, Verdict, judge, read_list};

    #[test]
    fn a_limit_that_was_lowered_is_put_back_where_the_hard_one_allows() {
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
    fn timers_are_read_from_what_the_kernel_says() {
        let text = "ID: 0\nsignal: 37/00007ffc\nnotify: signal/pid.4711\nClockID: 1\n\
                    ID: 1\nsignal: 32/00007ffd\nnotify: thread/tid.4712\nClockID: 1\n\
                    ID: 7\nsignal: 10/0000\nnotify: signal/tid.4712\nClockID: 0\n\
                    ID: 8\nsignal: 0/0000\nnotify: none/pid.0\nClockID: 0\n";
        let expected = [Listed { number: 0, signal: 37 }, Listed { number: 7, signal: 10 }];
        assert_eq!(read_list(text), expected);
        assert_eq!(read_list("ID: \nsignal: \nnotify: signal/pid.1\nno list"), []);
    }
}
