//! What the kernel reports to a process about itself and its threads: numbers go in and numbers come out.
//!
//! All of it may be asked for in a signal handler.
#![expect(unsafe_code, reason = "asks the kernel in C")]

use std::ffi::{c_int, c_long, c_uint};
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// The number of the calling thread.
#[inline]
pub(in crate::imp::linux) fn own_tid() -> i32 {
    gettid()
}

/// The handle of the calling thread, by which the C library knows it.
pub(in crate::imp::linux) fn own_handle() -> usize {
    pthread_self() as usize
}

/// Sends a signal to a thread of this process; signal zero only looks for the thread. Whether there is one.
pub(in crate::imp::linux) fn signal_thread(tid: i32, signal: c_int) -> bool {
    // SAFETY: the kernel takes three numbers, and refuses those of which it has no thread or signal.
    unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), tid, signal) == 0 }
}

/// Whether this process has a thread of that number.
pub(in crate::imp::linux) fn thread_exists(tid: i32) -> bool {
    signal_thread(tid, 0)
}

/// From now on the calling thread has a working directory and a mask for new files of its own. It cannot be undone.
pub(crate) fn unshare_folder() -> io::Result<()> {
    if unshare(libc::CLONE_FS) == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The calling thread's error number.
pub(in crate::imp::linux) fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or_default()
}

pub(in crate::imp::linux) fn set_errno(error: c_int) {
    // SAFETY: the C library has a place for every thread's error number, which only that thread writes.
    unsafe { libc::__errno_location().write(error) };
}

/// What one of the system's clocks says, since whenever it began; zero where there is no such clock.
fn time_of(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(clock, &mut now);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// The time since some moment before this process began.
pub(crate) fn clock() -> Duration {
    time_of(libc::CLOCK_MONOTONIC)
}

/// Returns [`clock`] at the last tick of the system.
pub(crate) fn coarse_clock() -> Duration {
    time_of(libc::CLOCK_MONOTONIC_COARSE)
}

/// The time since the system was started, its sleep included.
pub(in crate::imp::linux) fn since_boot() -> Duration {
    time_of(libc::CLOCK_BOOTTIME)
}

/// The short name of the calling thread, with a zero behind it.
pub(in crate::imp::linux) fn own_short_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes at most sixteen bytes, the last of them a zero.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Where the list of robust mutexes of a thread begins, and how long its head is.
pub(in crate::imp::linux) fn robust_list(tid: i32) -> Option<(usize, usize)> {
    let (mut head, mut len) = (0_usize, 0_usize);
    // SAFETY: the kernel writes a word to each of the two places. It says no where there is no such thread.
    let asked = unsafe { libc::syscall(libc::SYS_get_robust_list, c_long::from(tid), &raw mut head, &raw mut len) };
    (asked == 0).then_some((head, len))
}

/// Deletes the timer to which the kernel has given this number; whether there was one.
pub(in crate::imp::linux) fn delete_timer(number: c_int) -> bool {
    // SAFETY: the kernel takes a number, and refuses one of which it has no timer.
    unsafe { libc::syscall(libc::SYS_timer_delete, number) == 0 }
}

/// What a child has come to, as the kernel says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::imp::linux) enum Child {
    Runs,
    Ended {
        status: c_int,
        by_signal: bool,
    },
    /// It is no child of this process, or it was waited for.
    Unknown,
}

/// What a child has come to. This does not wait for it.
pub(in crate::imp::linux) fn child(pid: i32) -> Child {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the kernel writes a record to `info` or leaves it as zeroes, which are one, too; and the fields that are read
    // are those of a record about a child.
    let (asked, of, status, code) = unsafe {
        let asked = libc::waitid(libc::P_PID, pid as libc::id_t, info.as_mut_ptr(), how);
        let info = info.assume_init();
        (asked, info.si_pid(), info.si_status(), info.si_code)
    };
    match (asked, of == pid) {
        (0, true) => Child::Ended { status, by_signal: code != libc::CLD_EXITED },
        (0, false) => Child::Runs,
        _ => Child::Unknown,
    }
}

/// Waits for a child that has ended.
pub(in crate::imp::linux) fn reap(pid: i32) {
    waitpid(pid, None, libc::WNOHANG);
}

/// A limit of this process.
pub(in crate::imp::linux) fn limits(resource: libc::__rlimit_resource_t) -> Option<libc::rlimit> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    (getrlimit(resource, &mut limits) == 0).then_some(limits)
}

/// Sets a limit of this process; whether that was granted.
pub(in crate::imp::linux) fn set_limits(resource: libc::__rlimit_resource_t, limits: &libc::rlimit) -> bool {
    setrlimit(resource, limits) == 0
}

/// A timer of the C library's that an image has made and not deleted.
pub(in crate::imp::linux) struct Timer(usize);

impl Timer {
    /// # Safety
    ///
    /// The C library has given this number to a timer, and the code that deletes that drops this.
    pub(in crate::imp::linux) unsafe fn new(number: usize) -> Self {
        Self(number)
    }

    pub(in crate::imp::linux) fn number(&self) -> usize {
        self.0
    }

    pub(in crate::imp::linux) fn delete(self) {
        // SAFETY: the maker of this has promised that the timer is there as long as this is.
        unsafe { c_timer_delete(self.0) };
    }
}

/// Sets the alarm of this process, in seconds; what was left of the one before.
pub(in crate::imp::linux) fn alarm(seconds: c_uint) -> c_uint {
    c_alarm(seconds)
}

/// The same in microseconds, and again every so many.
pub(in crate::imp::linux) fn ualarm(first: c_uint, then: c_uint) -> c_uint {
    c_ualarm(first, then)
}

/// Stops one of the interval timers of this process.
pub(in crate::imp::linux) fn stop_timer(which: c_int) {
    // SAFETY: the kernel reads a whole timer, and writes nothing.
    unsafe { c_setitimer(which, &STOPPED, std::ptr::null_mut()) };
}

/// An interval timer that does not run.
const STOPPED: libc::itimerval = {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    libc::itimerval { it_interval: never, it_value: never }
};

/// The state of one of the interval timers of this process.
pub(in crate::imp::linux) fn timer(which: c_int) -> Option<libc::itimerval> {
    let mut now = STOPPED;
    (getitimer(which, &mut now) == 0).then_some(now)
}

// SAFETY: these take any numbers, and places that are borrowed for the call, where whole records are read or written.
unsafe extern "C" {
    safe fn gettid() -> libc::pid_t;
    safe fn pthread_self() -> libc::pthread_t;
    safe fn clock_gettime(clock: libc::clockid_t, now: &mut libc::timespec) -> c_int;
    safe fn waitpid(pid: libc::pid_t, status: Option<&mut c_int>, how: c_int) -> libc::pid_t;
    safe fn getrlimit(resource: libc::__rlimit_resource_t, limits: &mut libc::rlimit) -> c_int;
    safe fn setrlimit(resource: libc::__rlimit_resource_t, limits: &libc::rlimit) -> c_int;
    #[link_name = "alarm"]
    safe fn c_alarm(seconds: c_uint) -> c_uint;
    #[link_name = "ualarm"]
    safe fn c_ualarm(first: c_uint, then: c_uint) -> c_uint;
    safe fn getitimer(which: c_int, now: &mut libc::itimerval) -> c_int;
    // No memory depends on what a thread has for itself then: its working directory and the like.
    safe fn unshare(what: c_int) -> c_int;
}

unsafe extern "C" {
    #[link_name = "setitimer"]
    pub(in crate::imp::linux) fn c_setitimer(
        which: c_int,
        new: *const libc::itimerval,
        old: *mut libc::itimerval,
    ) -> c_int;
    #[link_name = "timer_delete"]
    pub(in crate::imp::linux) fn c_timer_delete(timer: usize) -> c_int;
}
