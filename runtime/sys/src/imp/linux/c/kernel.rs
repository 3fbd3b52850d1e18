//! Queries the kernel and the processor about this process and its threads. Arguments and results are numbers.
//!
//! All functions are async-signal-safe.
#![expect(unsafe_code, reason = "calls the kernel in C, and reads registers in assembly")]

use std::ffi::{c_int, c_long, c_uint};
use std::io;
use std::ptr;
use std::time::Duration;

pub(in crate::imp::linux) fn own_handle() -> usize {
    pthread_self() as usize
}

/// Returns the program counter, stack pointer, frame pointer and link register of the enclosing function. The link register is zero on
/// machines without this register.
#[inline(always)]
pub(in crate::imp::linux) fn registers() -> [usize; 4] {
    let (pc, sp, fp, lr): (usize, usize, usize, usize);
    // SAFETY: registers are only read.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!(
            "lea {pc}, [rip]", "mov {sp}, rsp", "mov {fp}, rbp", "xor {lr:e}, {lr:e}",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr, options(nostack, nomem)
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!(
            "adr {pc}, .", "mov {sp}, sp", "mov {fp}, x29", "mov {lr}, x30",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr, options(nostack, nomem)
        );
    }
    [pc, sp, fp, lr]
}

/// Returns the registers of interrupted code, in the order of [`registers`].
pub(in crate::imp::linux) fn interrupted_registers(context: &libc::ucontext_t) -> [usize; 4] {
    let machine = &context.uc_mcontext;
    #[cfg(target_arch = "x86_64")]
    let [pc, sp, fp, lr] = {
        let register = |which: c_int| machine.gregs[which as usize] as usize;
        [register(libc::REG_RIP), register(libc::REG_RSP), register(libc::REG_RBP), 0]
    };
    #[cfg(target_arch = "aarch64")]
    let [pc, sp, fp, lr] = [machine.pc, machine.sp, machine.regs[29], machine.regs[30]].map(|word| word as usize);
    [pc, sp, fp, lr]
}

/// Sends a signal to a thread of this process. Signal zero only checks that the thread exists. Returns `false` if it does not exist.
pub(in crate::imp::linux) fn signal_thread(tid: i32, signal: c_int) -> bool {
    tgkill(std::process::id().cast_signed(), tid, signal) == 0
}

pub(in crate::imp::linux) fn thread_exists(tid: i32) -> bool {
    signal_thread(tid, 0)
}

/// Separates the working directory and the file mode mask of the calling thread from those of the process. The change is irreversible.
pub(crate) fn unshare_folder() -> io::Result<()> {
    if unshare(libc::CLONE_FS) == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(in crate::imp::linux) fn errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or_default()
}

pub(in crate::imp::linux) fn set_errno(error: c_int) {
    // SAFETY: the C library has a variable for every thread's `errno`, which only that thread writes.
    unsafe { libc::__errno_location().write(error) };
}

/// Sets `errno` and returns the result by which a C function reports the error.
pub(in crate::imp::linux) fn fail<T>(error: c_int, result: T) -> T {
    set_errno(error);
    result
}

/// Returns the time of a system clock, or zero if the clock does not exist.
fn time_of(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    clock_gettime(clock, &mut now);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// Returns the time since a fixed moment before the start of this process.
pub(crate) fn clock() -> Duration {
    time_of(libc::CLOCK_MONOTONIC)
}

/// Returns the time since a fixed moment before the start of this process. The precision is some milliseconds. A call is five times faster
/// than reading an exact clock.
#[must_use]
pub fn coarse_clock() -> Duration {
    time_of(libc::CLOCK_MONOTONIC_COARSE)
}

pub(in crate::imp::linux) fn since_boot() -> Duration {
    time_of(libc::CLOCK_BOOTTIME)
}

/// Returns the zero-terminated short name of the calling thread.
pub(in crate::imp::linux) fn own_short_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // SAFETY: the kernel writes at most sixteen bytes; the last byte is zero.
    unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
    name
}

/// Returns the address of a thread's robust mutex list, and the size of the list head.
pub(in crate::imp::linux) fn robust_list(tid: i32) -> Option<(usize, usize)> {
    let (mut head, mut len) = (0_usize, 0_usize);
    // SAFETY: the kernel writes a word to each of the two variables, and fails for an invalid thread.
    let result = unsafe { libc::syscall(libc::SYS_get_robust_list, c_long::from(tid), &raw mut head, &raw mut len) };
    (result == 0).then_some((head, len))
}

/// Deletes a timer by the kernel's id. Returns `false` if the timer does not exist.
pub(in crate::imp::linux) fn delete_timer(number: c_int) -> bool {
    // SAFETY: the call takes only a number, and the kernel rejects an invalid number.
    unsafe { libc::syscall(libc::SYS_timer_delete, c_long::from(number)) == 0 }
}

/// Copies memory of this process at `address` to `into`. Returns the number of bytes before the first unmapped page, or the error of the
/// kernel.
pub(in crate::imp::linux) fn copy_memory(address: usize, into: &mut [u8]) -> Result<usize, c_int> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec { iov_base: ptr::without_provenance_mut(address), iov_len: into.len() };
    // SAFETY: the kernel writes at most `local`, which is `into`, and checks the memory that it reads.
    let copied =
        unsafe { libc::process_vm_readv(std::process::id() as i32, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied).map_err(|_| errno())
}

pub(in crate::imp::linux) fn limits(resource: libc::__rlimit_resource_t) -> Option<libc::rlimit> {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    (getrlimit(resource, &mut limits) == 0).then_some(limits)
}

/// Timer of the C library that an image has created and that still exists.
pub(in crate::imp::linux) struct Timer(usize);

impl Timer {
    /// # Safety
    ///
    /// The C library has assigned this number to a timer, and the code that deletes the timer drops this value.
    pub(in crate::imp::linux) unsafe fn new(number: usize) -> Self {
        Self(number)
    }

    pub(in crate::imp::linux) fn number(&self) -> usize {
        self.0
    }

    pub(in crate::imp::linux) fn delete(self) {
        // SAFETY: the creator of this value has promised that the timer exists as long as this value.
        unsafe { libc::timer_delete(ptr::with_exposed_provenance_mut(self.0)) };
    }
}

pub(in crate::imp::linux) fn stop_timer(which: c_int) {
    // SAFETY: the kernel reads a whole timer, and writes nothing.
    unsafe { libc::setitimer(which, &STOPPED, ptr::null_mut()) };
}

const STOPPED: libc::itimerval = {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    libc::itimerval { it_interval: never, it_value: never }
};

pub(in crate::imp::linux) fn timer(which: c_int) -> Option<libc::itimerval> {
    let mut now = STOPPED;
    (getitimer(which, &mut now) == 0).then_some(now)
}

// SAFETY: these functions accept any numbers, and variables that are borrowed for the call and read or written as whole records.
unsafe extern "C" {
    #[link_name = "gettid"]
    pub(in crate::imp::linux) safe fn own_tid() -> libc::pid_t;
    safe fn tgkill(process: libc::pid_t, tid: libc::pid_t, signal: c_int) -> c_int;
    safe fn pthread_self() -> libc::pthread_t;
    safe fn clock_gettime(clock: libc::clockid_t, now: &mut libc::timespec) -> c_int;
    safe fn getrlimit(resource: libc::__rlimit_resource_t, limits: &mut libc::rlimit) -> c_int;
    pub(in crate::imp::linux) safe fn setrlimit(resource: libc::__rlimit_resource_t, limits: &libc::rlimit) -> c_int;
    /// Sets the alarm of this process in microseconds, with an interval for repetition.
    pub(in crate::imp::linux) safe fn ualarm(first: c_uint, then: c_uint) -> c_uint;
    safe fn getitimer(which: c_int, now: &mut libc::itimerval) -> c_int;
    // Safe, because the call changes only per-thread state such as the working directory, on which memory safety does not depend.
    safe fn unshare(what: c_int) -> c_int;
}
