//! Evicts a thread of an image from a blocking system call that never returns. This is the last resort, used only if the host requests it.
//!
//! The thread receives a signal, whose handler checks the interrupted position. The thread is evicted only if it was in a system call of
//! the image's code, or of a C library function that waits without holding a lock. Between this call and the host's function that started
//! the thread, the stack may contain only code of the image. The handler then resumes the thread in the host's function, as if the start
//! routine had returned. No frame of the host is skipped, and no lock of the C library stays locked. The frames of the image are skipped
//! without running destructors.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "reads and changes the instruction pointer of a thread")
)]

use super::started::holding;
use crate::ledger::plan::Step;
use crate::ledger::repair::Repair;

#[cfg(target_arch = "x86_64")]
pub(super) use possible::{enter, is_out_of_reach, leave, signal_threads};

#[cfg(not(target_arch = "x86_64"))]
pub(super) use impossible::{enter, is_out_of_reach, leave, signal_threads};

pub(super) const REPAIR: Repair = Repair {
    name: "a thread in a blocking call",
    facts: |_, facts| facts.may_evict = cfg!(target_arch = "x86_64"),
    act: |image, step, _| {
        if step == Step::Evict {
            signal_threads(&holding(image));
        }
    },
    ..Repair::NONE
};

#[cfg(not(target_arch = "x86_64"))]
mod impossible {
    use std::sync::Arc;

    use crate::imp::linux::started::Started;

    pub(in crate::imp::linux) fn signal_threads(_threads: &[Arc<Started>]) {}

    pub(in crate::imp::linux) fn enter(_started: &Started) {}

    pub(in crate::imp::linux) fn leave() {}

    pub(in crate::imp::linux) fn is_out_of_reach(_tid: i32) -> bool {
        false
    }
}

#[cfg(target_arch = "x86_64")]
mod possible {
    use std::cell::Cell;
    use std::ffi::{CStr, c_int, c_void};
    use std::ops::Range;
    use std::ptr;
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, OnceLock};

    use crate::imp::linux::c::kernel::{self, errno, set_errno};
    use crate::imp::linux::c::{loader, signals};
    use crate::imp::linux::started::Started;
    use crate::imp::linux::{ranges_around, tail_calls};

    /// Functions of the C library that wait in the kernel without holding a resource that another thread needs. Excludes waits on a
    /// condition variable, because its destruction waits for all waiters.
    const WAITING: [&CStr; 54] = [
        c"accept",
        c"accept4",
        c"clock_nanosleep",
        c"connect",
        c"epoll_pwait",
        c"epoll_pwait2",
        c"epoll_wait",
        c"flock",
        c"mq_receive",
        c"mq_send",
        c"mq_timedreceive",
        c"mq_timedsend",
        c"msgrcv",
        c"msgsnd",
        c"nanosleep",
        c"pause",
        c"poll",
        c"ppoll",
        c"pread",
        c"pread64",
        c"preadv",
        c"preadv2",
        c"pselect",
        c"pwrite",
        c"pwrite64",
        c"pwritev",
        c"pwritev2",
        c"read",
        c"readv",
        c"recv",
        c"recvfrom",
        c"recvmmsg",
        c"recvmsg",
        c"select",
        c"sem_clockwait",
        c"sem_timedwait",
        c"sem_wait",
        c"semop",
        c"semtimedop",
        c"send",
        c"sendmmsg",
        c"sendmsg",
        c"sendto",
        c"sigsuspend",
        c"sigtimedwait",
        c"sigwaitinfo",
        c"sleep",
        c"syscall",
        c"thrd_sleep",
        c"usleep",
        c"wait4",
        c"waitpid",
        c"write",
        c"writev",
    ];

    /// Maximum number of frames. A thread with a deeper stack is not evicted.
    const DEEPEST: usize = 256;

    struct Ready {
        signal: c_int,
        /// Code ranges of the C library.
        library: Vec<Range<usize>>,
        /// Start addresses of the functions of [`WAITING`] and of the functions that these call in tail calls, sorted.
        waiting: Vec<usize>,
    }

    /// Data for evictions, prepared before the first eviction. `None` if no real-time signal is free.
    static READY: OnceLock<Option<Ready>> = OnceLock::new();

    thread_local! {
        /// [`Started`] record of the calling thread, while the thread is in its start routine. Null otherwise.
        static HERE: Cell<*const Started> = const { Cell::new(ptr::null()) };
    }

    /// Marks the calling thread as inside its start routine.
    pub(in crate::imp::linux) fn enter(started: &Started) {
        HERE.set(started);
        // Allows a further signal, because an earlier signal arrived outside of the start routine and had no effect.
        started.is_signaled.store(false, Ordering::SeqCst);
    }

    /// Marks the calling thread as outside its start routine.
    pub(in crate::imp::linux) fn leave() {
        HERE.set(ptr::null());
    }

    /// Sends the eviction signal to all threads without a pending eviction signal.
    pub(in crate::imp::linux) fn signal_threads(threads: &[Arc<Started>]) {
        let mut is_first = false;
        let ready = READY.get_or_init(|| {
            is_first = true;
            prepare()
        });
        let Some(ready) = ready else {
            // Logs after the initialization, because a log subscriber may evict threads itself.
            if is_first {
                log!(WARN, "no real-time signal is free: threads cannot be evicted from blocking calls");
            }
            return;
        };
        for started in threads {
            let tid = started.tid.load(Ordering::SeqCst);
            if tid != 0 && !started.is_signaled.swap(true, Ordering::SeqCst) {
                // The handler of this signal is `at_signal`. If the thread has exited, the kernel rejects the call.
                kernel::signal_thread(tid, ready.signal);
            }
        }
    }

    /// Checks if a thread blocks the eviction signal and can therefore not be evicted.
    pub(in crate::imp::linux) fn is_out_of_reach(tid: c_int) -> bool {
        let Some(Some(ready)) = READY.get() else { return false };
        let status = std::fs::read_to_string(format!("/proc/self/task/{tid}/status")).unwrap_or_default();
        let blocked =
            status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigBlk:")?.trim(), 16).ok());
        blocked.is_some_and(|blocked| blocked >> (ready.signal - 1) & 1 != 0)
    }

    fn prepare() -> Option<Ready> {
        let mut waiting: Vec<_> = WAITING.iter().filter_map(|name| Some(loader::address_of(name)?.addr())).collect();
        let library = waiting.first().map(|address| ranges_around(*address))?;
        let callers: Vec<_> = waiting.iter().flat_map(|function| tail_calls::of(*function, &library)).collect();
        waiting.extend(callers);
        waiting.sort_unstable();
        waiting.dedup();
        // Uses the unwinder once, because its first use loads data, which is not allowed in a handler.
        walk(&mut |_, _| false);
        let signal = (libc::SIGRTMIN()..=libc::SIGRTMAX()).rev().find(|signal| take(*signal))?;
        Some(Ready { signal, library, waiting })
    }

    fn take(signal: c_int) -> bool {
        let Ok(mut action) = signals::action(signal) else { return false };
        if action.sa_sigaction != libc::SIG_DFL {
            return false;
        }
        action.sa_sigaction = at_signal as *const () as usize;
        // Omits `SA_RESTART`, so that the signal interrupts the system call instead of restarting it.
        action.sa_flags = libc::SA_SIGINFO;
        (1..signals::COUNT as c_int).for_each(|other| signals::add(&mut action.sa_mask, other));
        // SAFETY: `at_signal` is async-signal-safe and has the type for `SA_SIGINFO`.
        unsafe { signals::act(signal, &action).is_ok() }
    }

    unsafe extern "C" fn at_signal(_signal: c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
        let error = errno();
        let here = HERE.get();
        if !here.is_null() {
            // SAFETY: the record of this thread keeps the target of `HERE` while the thread is in its start routine, and the context
            // is live during this call.
            let (started, context) = unsafe { (&*here, &mut *context.cast::<libc::ucontext_t>()) };
            if may_leave(started, &context.uc_mcontext.gregs) {
                // Evicts the thread only once, because the skipped frames must not be skipped again.
                leave();
                started.is_evicted.store(true, Ordering::SeqCst);
                return_to_host(started, &mut context.uc_mcontext.gregs);
            } else {
                started.is_signaled.store(false, Ordering::SeqCst);
            }
        }
        set_errno(error);
    }

    fn return_to_host(started: &Started, registers: &mut [libc::greg_t]) {
        registers[libc::REG_RIP as usize] = started.return_point.code.load(Ordering::SeqCst) as i64;
        registers[libc::REG_RSP as usize] = started.return_point.stack.load(Ordering::SeqCst) as i64;
        registers[libc::REG_RAX as usize] = 0;
    }

    /// Checks if the thread was in an interrupted system call, with only code of the image below the host's function.
    fn may_leave(started: &Started, registers: &[libc::greg_t]) -> bool {
        const SYSCALL: [u8; 2] = [0x0f, 0x05];
        let Some(Some(ready)) = READY.get() else { return false };
        let at = registers[libc::REG_RIP as usize] as usize;
        if registers[libc::REG_RAX as usize] != -i64::from(libc::EINTR) {
            return false;
        }
        // SAFETY: the thread was executing at this address, so its code is readable; the two bytes before it are the system call
        // instruction or other code of the mapping.
        if unsafe { ptr::with_exposed_provenance::<[u8; 2]>(at - 2).read_unaligned() } != SYSCALL {
            return false;
        }
        let back = started.return_point.code.load(Ordering::SeqCst);
        let image = started.code();
        let within = |ranges: &[Range<usize>], address| ranges.iter().any(|range| range.contains(&address));
        // Skips the frames of this handler, which precede the interrupted frame.
        let (mut was_interrupted, mut in_image, mut last_of_library, mut is_free) = (false, false, None, false);
        walk(&mut |address, function| {
            was_interrupted |= address == at;
            if !was_interrupted {
                return true;
            }
            if address == back && in_image {
                is_free = true;
                return false;
            }
            if within(image, address) {
                // The C library function that the image has called determines if a resource is held.
                let waits = last_of_library.is_none_or(|function| ready.waiting.binary_search(&function).is_ok());
                in_image = true;
                return waits;
            }
            last_of_library = Some(function);
            !in_image && within(&ready.library, address)
        });
        is_free
    }

    /// Walks up the stack of this thread. Passes the return address and the start of the function of each frame to `see`, until `see`
    /// returns `false`.
    fn walk(see: &mut dyn FnMut(usize, usize) -> bool) {
        let mut left = DEEPEST;
        let mut see: &mut dyn FnMut(usize, usize) -> bool = &mut |address, function| {
            left -= 1;
            see(address, function) && left > 0
        };
        // SAFETY: `step` interprets its last argument as a reference of this type, which lives until the call returns.
        unsafe { _Unwind_Backtrace(step, (&raw mut see).cast()) };
    }

    /// # Safety
    ///
    /// `frame` is the unwinder's frame for this call. `see` is the reference of [`walk`], which does not use it during this call.
    unsafe extern "C" fn step(frame: *mut c_void, see: *mut c_void) -> c_int {
        const CONTINUE: c_int = 0;
        const STOP: c_int = 4;
        // SAFETY: promised by our caller.
        let see = unsafe { &mut *see.cast::<&mut dyn FnMut(usize, usize) -> bool>() };
        // SAFETY: the unwinder's frame is live during this call.
        let (address, function) = unsafe { (_Unwind_GetIP(frame), _Unwind_GetRegionStart(frame)) };
        if see(address, function) { CONTINUE } else { STOP }
    }

    unsafe extern "C" {
        fn _Unwind_Backtrace(step: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int, with: *mut c_void)
        -> c_int;
        fn _Unwind_GetIP(frame: *mut c_void) -> usize;
        fn _Unwind_GetRegionStart(frame: *mut c_void) -> usize;
    }
}
