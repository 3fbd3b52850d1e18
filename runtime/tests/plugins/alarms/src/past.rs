//! Operations that no hook intercepts: limits, timers set by raw system calls, filters, and mutexes held by a host thread.
#![expect(unsafe_code, reason = "calls C functions and the kernel, like plugins that wrap a C library")]

use std::ffi::{c_int, c_long, c_uint};
use std::mem;
use std::ptr::from_ref;

use crate::raw::{Event, calls, count_on, until_called};

/// Sets the soft limit of a resource. With `for_good`, also sets the hard limit.
fn limit(resource: c_uint, soft: libc::rlim_t, for_good: bool) {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limits` is valid for one `rlimit`.
    assert_eq!(unsafe { libc::getrlimit(resource, &raw mut limits) }, 0);
    limits.rlim_cur = soft;
    if for_good {
        limits.rlim_max = soft;
    }
    // SAFETY: the limits are initialized.
    assert_eq!(unsafe { libc::setrlimit(resource, &raw const limits) }, 0);
}

/// Limits the CPU time to slightly more than the process has used. Installs a handler for the signal that the limit raises.
pub(crate) fn cpu_limit() {
    count_on(libc::SIGXCPU);
    // SAFETY: all zeroes are a valid `rusage`.
    let mut used: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: `used` is valid for one `rusage`.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut used) }, 0);
    limit(libc::RLIMIT_CPU, (used.ru_utime.tv_sec + used.ru_stime.tv_sec + 60) as libc::rlim_t, false);
}

/// Limits files to one byte. Installs a handler for the signal of this limit.
pub(crate) fn size_limit() {
    count_on(libc::SIGXFSZ);
    limit(libc::RLIMIT_FSIZE, 1, false);
}

/// Limits files to one byte permanently. The process cannot raise this limit again.
pub(crate) fn size_limit_for_good() {
    count_on(libc::SIGXFSZ);
    limit(libc::RLIMIT_FSIZE, 1, true);
}

/// Makes a system call without a call into libc. No hook can intercept this system call.
///
/// # Safety
///
/// The arguments must be valid for the system call.
#[cfg(target_arch = "x86_64")]
unsafe fn bare(number: c_long, first: usize, second: usize, third: usize, fourth: usize) -> isize {
    let result;
    // SAFETY: the caller promises valid arguments; the listed registers are the ones that the kernel changes.
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

/// Makes a system call through libc, because this target has no raw variant in this file.
///
/// # Safety
///
/// The arguments must be valid for the system call.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn bare(number: c_long, first: usize, second: usize, third: usize, fourth: usize) -> isize {
    // SAFETY: the caller promises valid arguments.
    unsafe { libc::syscall(number, first, second, third, fourth) as isize }
}

const MILLISECOND: c_long = 1_000_000;

/// Starts a process timer that fires every millisecond.
pub(crate) fn interval() {
    let before = calls();
    count_on(libc::SIGALRM);
    let often = libc::timeval { tv_sec: 0, tv_usec: 1000 };
    let timer = libc::itimerval { it_interval: often, it_value: often };
    // SAFETY: the timer is initialized, and the kernel copies the timer.
    let result = unsafe { bare(libc::SYS_setitimer, libc::ITIMER_REAL as usize, from_ref(&timer).addr(), 0, 0) };
    assert_eq!(result, 0);
    until_called(before);
}

/// Starts a repeating timer that has a real-time signal of its own.
pub(crate) fn timer() {
    let before = calls();
    let signal = libc::SIGRTMIN() + 3;
    count_on(signal);
    let (event, mut timer): (_, c_int) = (Event::signal(signal), 0);
    let (clock, timer_address) = (libc::CLOCK_MONOTONIC as usize, &raw mut timer);
    // SAFETY: the event is initialized and copied by the kernel, and `timer_address` is valid for one timer id.
    let result =
        unsafe { bare(libc::SYS_timer_create, clock, from_ref(&event).addr(), timer_address.expose_provenance(), 0) };
    assert_eq!(result, 0);
    let often = libc::timespec { tv_sec: 0, tv_nsec: MILLISECOND };
    let when = libc::itimerspec { it_interval: often, it_value: often };
    // SAFETY: the timer was created by `SYS_timer_create`.
    let result = unsafe { bare(libc::SYS_timer_settime, timer as usize, 0, from_ref(&when).addr(), 0) };
    assert_eq!(result, 0);
    until_called(before);
}

const STACK: usize = 64 * 1024;

/// Returns an alternate stack in the module's heap.
fn memory_for_stack() -> libc::stack_t {
    libc::stack_t { ss_sp: vec![0_u8; STACK].leak().as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK }
}

/// Sets an alternate signal stack through libc's `syscall`.
pub(crate) fn stack_by_number() {
    let stack = memory_for_stack();
    // SAFETY: the memory is valid as long as this module is loaded.
    assert_eq!(unsafe { libc::syscall(libc::SYS_sigaltstack, from_ref(&stack), 0_usize) }, 0);
}

/// Sets an alternate signal stack by a raw system call, which no hook can intercept.
pub(crate) fn stack() {
    let stack = memory_for_stack();
    // SAFETY: the memory is valid as long as this module is loaded.
    assert_eq!(unsafe { bare(libc::SYS_sigaltstack, from_ref(&stack).addr(), 0, 0, 0) }, 0);
}

/// Installs a filter that answers `getppid` with a signal. Installs a handler for this signal.
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
    // SAFETY: all arguments are plain numbers.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: the program is initialized, and the kernel copies the program.
    let result = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    let before = calls();
    // SAFETY: returns a number and raises a handled signal.
    unsafe { libc::getppid() };
    assert_eq!(calls(), before + 1);
}

/// Locks a robust mutex on the calling thread. Writes the address of the mutex to the file that `ALARMS_RELEASE` names.
fn hold(mutex: *mut libc::pthread_mutex_t) {
    let mut attributes = mem::MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
    let attributes_address = attributes.as_mut_ptr();
    // SAFETY: `attributes_address` is valid for one attributes object.
    assert_eq!(unsafe { libc::pthread_mutexattr_init(attributes_address) }, 0);
    // SAFETY: `pthread_mutexattr_init` has initialized the attributes.
    assert_eq!(unsafe { libc::pthread_mutexattr_setrobust(attributes_address, libc::PTHREAD_MUTEX_ROBUST) }, 0);
    // SAFETY: the mutex is valid as long as this module is loaded, and no other code has its address yet.
    assert_eq!(unsafe { libc::pthread_mutex_init(mutex, attributes_address) }, 0);
    // SAFETY: `pthread_mutex_init` has initialized the mutex.
    assert_eq!(unsafe { libc::pthread_mutex_lock(mutex) }, 0);
    let name = std::env::var_os("ALARMS_RELEASE").expect("the test sets the path");
    std::fs::write(name, mutex.expose_provenance().to_string()).expect("the file is writable");
}

/// Locks a mutex in the module's image, and leaves it locked.
pub(crate) fn held_mutex() {
    static mut MUTEX: libc::pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;
    hold(&raw mut MUTEX);
}

/// Locks a mutex in the module's heap, and leaves it locked.
pub(crate) fn held_mutex_in_heap() {
    hold(Box::leak(Box::new(libc::PTHREAD_MUTEX_INITIALIZER)));
}
