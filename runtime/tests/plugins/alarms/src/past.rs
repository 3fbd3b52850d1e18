//! What no hook sees: limits, timers set by bare system calls, filters, and mutexes that a thread of the host holds.
#![expect(unsafe_code, reason = "calls C functions and the kernel, as plugins do that wrap a C library")]

use std::ffi::{c_int, c_long, c_uint};
use std::mem;
use std::ptr::from_ref;

use crate::raw::{Event, calls, count_on, until_called};

/// The soft limit becomes this, and the hard one too if `for_good`.
fn limit(resource: c_uint, soft: libc::rlim_t, for_good: bool) {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is one for two limits.
    assert_eq!(unsafe { libc::getrlimit(resource, &raw mut limits) }, 0);
    limits.rlim_cur = soft;
    if for_good {
        limits.rlim_max = soft;
    }
    // SAFETY: the limits are whole ones.
    assert_eq!(unsafe { libc::setrlimit(resource, &raw const limits) }, 0);
}

/// As much time of the processor as the process has used, and some more, with a handler for when it is over.
pub(crate) fn cpu_limit() {
    count_on(libc::SIGXCPU);
    // SAFETY: all zeroes are a record.
    let mut used: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: the place is one for a record.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut used) }, 0);
    limit(libc::RLIMIT_CPU, (used.ru_utime.tv_sec + used.ru_stime.tv_sec + 60) as libc::rlim_t, false);
}

/// Files of one byte, with a handler for longer ones.
pub(crate) fn size_limit() {
    count_on(libc::SIGXFSZ);
    limit(libc::RLIMIT_FSIZE, 1, false);
}

/// The same, and nobody may undo it.
pub(crate) fn size_limit_for_good() {
    count_on(libc::SIGXFSZ);
    limit(libc::RLIMIT_FSIZE, 1, true);
}

/// A system call by which no hook can come.
///
/// # Safety
///
/// What the call demands.
#[cfg(target_arch = "x86_64")]
unsafe fn bare(number: c_long, first: usize, second: usize, third: usize, fourth: usize) -> isize {
    let result;
    // SAFETY: our caller promises the call; the registers are those that the kernel changes.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") first, in("rsi") second, in("rdx") third, in("r10") fourth,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// As far past the hooks as it goes here.
///
/// # Safety
///
/// What the call demands.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn bare(number: c_long, first: usize, second: usize, third: usize, fourth: usize) -> isize {
    // SAFETY: our caller promises the call.
    unsafe { libc::syscall(number, first, second, third, fourth) as isize }
}

const MILLISECOND: c_long = 1_000_000;

/// A timer of the process that strikes all the time.
pub(crate) fn interval() {
    let before = calls();
    count_on(libc::SIGALRM);
    let often = libc::timeval { tv_sec: 0, tv_usec: 1000 };
    let timer = libc::itimerval { it_interval: often, it_value: often };
    // SAFETY: the timer is a whole one, which the kernel copies.
    let result = unsafe { bare(libc::SYS_setitimer, libc::ITIMER_REAL as usize, from_ref(&timer).addr(), 0, 0) };
    assert_eq!(result, 0);
    until_called(before);
}

/// A timer with a signal of its own, likewise.
pub(crate) fn timer() {
    let before = calls();
    let signal = libc::SIGRTMIN() + 3;
    count_on(signal);
    let (event, mut timer): (_, c_int) = (Event::signal(signal), 0);
    let (clock, place) = (libc::CLOCK_MONOTONIC as usize, &raw mut timer);
    // SAFETY: the event is a whole one, which the kernel copies, and `place` is one for the number of a timer.
    let result = unsafe { bare(libc::SYS_timer_create, clock, from_ref(&event).addr(), place.expose_provenance(), 0) };
    assert_eq!(result, 0);
    let often = libc::timespec { tv_sec: 0, tv_nsec: MILLISECOND };
    let when = libc::itimerspec { it_interval: often, it_value: often };
    // SAFETY: the timer was made just now.
    let result = unsafe { bare(libc::SYS_timer_settime, timer as usize, 0, from_ref(&when).addr(), 0) };
    assert_eq!(result, 0);
    until_called(before);
}

const STACK: usize = 64 * 1024;

/// An alternate stack in the module's heap.
fn memory_for_stack() -> libc::stack_t {
    libc::stack_t { ss_sp: vec![0_u8; STACK].leak().as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK }
}

/// Set through the C library's function for all calls of the system.
pub(crate) fn stack_by_number() {
    let stack = memory_for_stack();
    // SAFETY: the memory is there as long as this module is.
    assert_eq!(unsafe { libc::syscall(libc::SYS_sigaltstack, from_ref(&stack), 0_usize) }, 0);
}

/// Set so that no hook can come by.
pub(crate) fn stack() {
    let stack = memory_for_stack();
    // SAFETY: the memory is there as long as this module is.
    assert_eq!(unsafe { bare(libc::SYS_sigaltstack, from_ref(&stack).addr(), 0, 0, 0) }, 0);
}

/// A filter that answers `getppid` with a signal, and a handler for that.
pub(crate) fn filter() {
    const ALLOW: u32 = 0x7fff_0000;
    const TRAP: u32 = 0x0003_0000;
    const LOAD: u16 = 0x20;
    const IS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    count_on(libc::SIGSYS);
    let rule = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut rules = [
        rule(LOAD, 0, 0, 0),
        rule(IS_EQUAL, 0, 1, libc::SYS_getppid as u32),
        rule(RETURN, 0, 0, TRAP),
        rule(RETURN, 0, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
    // SAFETY: plain numbers.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program is a whole one, which the kernel copies.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    let before = calls();
    // SAFETY: asks for a number, and gets a signal.
    unsafe { libc::getppid() };
    assert_eq!(calls(), before + 1);
}

/// Locks a robust mutex for the calling thread and leaves it so. Its address goes into the file that `ALARMS_RELEASE` names.
fn hold(mutex: *mut libc::pthread_mutex_t) {
    let mut attributes = mem::MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
    let place = attributes.as_mut_ptr();
    // SAFETY: a place for attributes.
    assert_eq!(unsafe { libc::pthread_mutexattr_init(place) }, 0);
    // SAFETY: initialised above.
    assert_eq!(unsafe { libc::pthread_mutexattr_setrobust(place, libc::PTHREAD_MUTEX_ROBUST) }, 0);
    // SAFETY: the mutex lives as long as this module, and nobody else knows it yet.
    assert_eq!(unsafe { libc::pthread_mutex_init(mutex, place) }, 0);
    // SAFETY: initialised above.
    assert_eq!(unsafe { libc::pthread_mutex_lock(mutex) }, 0);
    let name = std::env::var_os("ALARMS_RELEASE").expect("somebody says where");
    std::fs::write(name, mutex.expose_provenance().to_string()).expect("a file");
}

/// In the module itself.
pub(crate) fn held_mutex() {
    static mut MUTEX: libc::pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;
    hold(&raw mut MUTEX);
}

/// In the module's heap.
pub(crate) fn held_mutex_in_heap() {
    hold(Box::leak(Box::new(libc::PTHREAD_MUTEX_INITIALIZER)));
}
