//! Starts timers and child processes, and installs signal handlers and signal stacks, through the C library.
#![expect(unsafe_code, reason = "calls C functions, like plugins that wrap a C library")]

use std::ffi::{c_int, c_void};
use std::mem;
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

static CALLS: AtomicU64 = AtomicU64::new(0);
static ON_ALTERNATE: AtomicBool = AtomicBool::new(false);

pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::SeqCst)
}

pub(crate) fn was_on_alternate() -> bool {
    ON_ALTERNATE.load(Ordering::SeqCst)
}

pub(crate) fn called() {
    CALLS.fetch_add(1, Ordering::SeqCst);
}

/// Waits until a handler or function of this module has been called since the count `before`.
pub(crate) fn until_called(before: u64) {
    let begun = Instant::now();
    while calls() == before {
        assert!(begun.elapsed() < Duration::from_secs(60), "no handler was called");
        std::thread::yield_now();
    }
}

extern "C" fn count(_signal: c_int) {
    called();
}

pub(crate) fn handle(signal: c_int, handler: extern "C" fn(c_int), flags: c_int) {
    // SAFETY: all zeroes are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    action.sa_flags = flags;
    // SAFETY: the handlers are async-signal-safe.
    assert_eq!(unsafe { libc::sigaction(signal, &raw const action, null_mut()) }, 0);
}

pub(crate) fn count_on(signal: c_int) {
    handle(signal, count, libc::SA_RESTART);
}

const OFTEN: libc::itimerval = {
    let millisecond = libc::timeval { tv_sec: 0, tv_usec: 1000 };
    libc::itimerval { it_interval: millisecond, it_value: millisecond }
};

/// Starts a process timer that fires every millisecond.
pub(crate) fn interval() {
    let before = calls();
    count_on(libc::SIGALRM);
    // SAFETY: the timer is initialized.
    assert_eq!(unsafe { setitimer(libc::ITIMER_REAL, &OFTEN, null_mut()) }, 0);
    until_called(before);
}

pub(crate) fn stop_interval() {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let stopped = libc::itimerval { it_interval: never, it_value: never };
    // SAFETY: the timer is initialized.
    assert_eq!(unsafe { setitimer(libc::ITIMER_REAL, &stopped, null_mut()) }, 0);
}

/// Sets an alarm that fires after one second, when the module may already be unloaded.
pub(crate) fn alarm() {
    count_on(libc::SIGALRM);
    // SAFETY: `alarm` accepts any number.
    unsafe { libc::alarm(1) };
}

extern "C" fn again(_signal: c_int) {
    called();
    let once = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, ..OFTEN };
    // SAFETY: the timer is initialized, and a handler may set a timer.
    unsafe { setitimer(libc::ITIMER_REAL, &once, null_mut()) };
}

/// Starts a one-shot timer. Its handler sets the timer again.
pub(crate) fn rearming() {
    let before = calls();
    handle(libc::SIGALRM, again, libc::SA_RESTART);
    again(libc::SIGALRM);
    until_called(before + 1);
}

/// Layout of `struct sigevent` with a function to call.
#[repr(C)]
pub(crate) struct Event {
    value: usize,
    signal: c_int,
    how: c_int,
    function: Option<extern "C" fn(usize)>,
    attributes: *const c_void,
    rest: [usize; 4],
}

impl Event {
    pub(crate) const fn none() -> Self {
        Self { value: 0, signal: 0, how: libc::SIGEV_NONE, function: None, attributes: null(), rest: [0; 4] }
    }

    pub(crate) const fn signal(signal: c_int) -> Self {
        Self { value: 0, signal, how: libc::SIGEV_SIGNAL, function: None, attributes: null(), rest: [0; 4] }
    }

    pub(crate) const fn call(function: extern "C" fn(usize)) -> Self {
        Self { how: libc::SIGEV_THREAD, value: 4711, function: Some(function), ..Self::signal(0) }
    }
}

pub(crate) extern "C" fn on_event(value: usize) {
    assert_eq!(value, 4711, "another value than the event has");
    called();
}

fn start_timer(event: &Event) {
    let mut timer = 0_usize;
    // SAFETY: the event is initialized, and `timer` is valid for one timer id.
    assert_eq!(unsafe { timer_create(libc::CLOCK_MONOTONIC, event, &raw mut timer) }, 0);
    let millisecond = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let often = libc::itimerspec { it_interval: millisecond, it_value: millisecond };
    // SAFETY: `timer_create` has created the timer.
    assert_eq!(unsafe { timer_settime(timer, 0, &often, null_mut()) }, 0);
}

/// Starts a repeating timer that has a real-time signal of its own.
pub(crate) fn timer() {
    let (before, signal) = (calls(), libc::SIGRTMIN() + 5);
    count_on(signal);
    start_timer(&Event::signal(signal));
    until_called(before);
}

/// Starts a repeating timer that calls a function.
pub(crate) fn timer_call() {
    let before = calls();
    start_timer(&Event::call(on_event));
    until_called(before);
}

extern "C" fn on_event_slowly(_value: usize) {
    called();
    let file = std::env::var_os("ALARMS_RELEASE").expect("the test sets the file");
    while !std::path::Path::new(&file).exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a timer whose function returns only when the release file exists.
pub(crate) fn timer_call_slow() {
    let before = calls();
    let mut timer = 0_usize;
    // SAFETY: the event is initialized, and `timer` is valid for one timer id.
    assert_eq!(unsafe { timer_create(libc::CLOCK_MONOTONIC, &Event::call(on_event_slowly), &raw mut timer) }, 0);
    let millisecond = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let once = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: millisecond };
    // SAFETY: `timer_create` has created the timer.
    assert_eq!(unsafe { timer_settime(timer, 0, &once, null_mut()) }, 0);
    until_called(before);
}

/// Opens a socket pair that raises a signal when data can be read. Leaves the pair open.
pub(crate) fn descriptor() {
    let before = calls();
    count_on(libc::SIGIO);
    let mut pair = [0; 2];
    // SAFETY: `pair` is valid for two descriptors.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()) }, 0);
    // SAFETY: returns the process id.
    let own = unsafe { libc::getpid() };
    // SAFETY: `socketpair` has opened the descriptor.
    assert_eq!(unsafe { libc::fcntl(pair[0], F_SETOWN, own) }, 0);
    // SAFETY: `socketpair` has opened the descriptor.
    assert_eq!(unsafe { libc::fcntl(pair[0], libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) }, 0);
    // SAFETY: `socketpair` has opened the descriptor.
    assert_eq!(unsafe { libc::write(pair[1], b"x".as_ptr().cast(), 1) }, 1);
    until_called(before);
}

const F_SETOWN: c_int = 8;

/// Uses 8 KiB of stack, as a sampling profiler does.
extern "C" fn spacious(_signal: c_int) {
    let mut space = [0_u8; 8 * 1024];
    for (at, byte) in space.iter_mut().enumerate() {
        // SAFETY: the pointer is derived from a valid reference.
        unsafe { std::ptr::from_mut(byte).write_volatile(at as u8) };
    }
    note_stack(space.as_ptr().addr());
}

extern "C" fn noting(_signal: c_int) {
    let here = 0_u8;
    note_stack((&raw const here).addr());
}

fn note_stack(here: usize) {
    // SAFETY: all zeroes are a valid `stack_t`.
    let mut stack: libc::stack_t = unsafe { mem::zeroed() };
    // SAFETY: the call only reads the current stack.
    unsafe { libc::sigaltstack(null(), &raw mut stack) };
    let (start, size) = (stack.ss_sp.addr(), stack.ss_size);
    let is_there = stack.ss_flags & libc::SS_DISABLE == 0;
    ON_ALTERNATE.store(is_there && (start..start + size).contains(&here), Ordering::SeqCst);
    called();
}

/// Sets a handler without `SA_ONSTACK`. The handler needs more stack than a small alternate stack provides.
pub(crate) fn plain_handler() {
    handle(libc::SIGPROF, spacious, libc::SA_RESTART);
}

/// Sets a handler with `SA_ONSTACK` for the signal of [`plain_handler`].
pub(crate) fn alternate_handler() {
    handle(libc::SIGPROF, noting, libc::SA_RESTART | libc::SA_ONSTACK);
}

/// Buffer at least as large as any platform's `sigjmp_buf`.
#[repr(C, align(16))]
struct JumpBuffer([usize; 64]);

static mut BACK: JumpBuffer = JumpBuffer([0; 64]);

extern "C" fn leap(_signal: c_int) {
    called();
    // SAFETY: the buffer was filled in the frame that raised the signal, which is still on the stack.
    unsafe { siglongjmp(&raw mut BACK, 1) };
}

/// Raises a signal. Its handler leaves by a jump and does not return.
pub(crate) fn jump() {
    handle(libc::SIGUSR2, leap, 0);
    // SAFETY: the second return enters this frame, which holds no changed variable.
    if unsafe { sigsetjmp(&raw mut BACK, 1) } == 0 {
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGUSR2) };
        unreachable!("the handler jumps past this line");
    }
}

/// Memory of a signal stack. A thread-local destructor unmaps this memory, as in wasmtime.
struct Stack(*mut c_void);

const SIZE: usize = 64 * 1024;

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: mapped with this length, and owned by this value.
        unsafe { libc::munmap(self.0, SIZE) };
    }
}

thread_local! {
    static STACK: Stack = {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: creates a new mapping at a free address.
        let memory = unsafe { libc::mmap(null_mut(), SIZE, protection, flags, -1, 0) };
        assert_ne!(memory, libc::MAP_FAILED);
        let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: SIZE };
        // SAFETY: the memory remains mapped until this thread ends.
        assert_eq!(unsafe { libc::sigaltstack(&raw const stack, null_mut()) }, 0);
        Stack(memory)
    };
}

/// Sets an alternate stack for the current thread.
pub(crate) fn stack() {
    STACK.with(|_| {});
}

/// Sets an alternate stack for the current thread, which belongs to the host. The stack is in the module's image.
pub(crate) fn stack_there() {
    static mut MEMORY: [u128; SIZE / 16] = [0; SIZE / 16];
    let memory = (&raw mut MEMORY).cast();
    let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: SIZE };
    // SAFETY: the memory is valid as long as this module is loaded.
    assert_eq!(unsafe { libc::sigaltstack(&raw const stack, null_mut()) }, 0);
}

/// Starts a process that ends immediately, and does not wait for it. The process therefore remains as a zombie.
#[expect(clippy::zombie_processes, reason = "the test needs a zombie process")]
pub(crate) fn child() {
    let child = Command::new("true").stdin(Stdio::null()).spawn().expect("available on every Linux");
    let mut info = mem::MaybeUninit::<libc::siginfo_t>::uninit();
    // SAFETY: `info` is valid for one record; `WNOWAIT` leaves the child waitable.
    unsafe { libc::waitid(libc::P_PID, child.id(), info.as_mut_ptr(), libc::WEXITED | libc::WNOWAIT) };
}

/// Starts a process and waits until it has ended.
pub(crate) fn waited() {
    let status = Command::new("true").stdin(Stdio::null()).status().expect("available on every Linux");
    assert!(status.success());
}

/// Starts a process that runs until the other end of its standard input is closed.
pub(crate) fn running_child() {
    let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
    mem::forget(child.expect("available on every Linux"));
}

unsafe extern "C" {
    fn setitimer(which: c_int, new: &libc::itimerval, old: *mut libc::itimerval) -> c_int;
    fn timer_create(clock: c_int, event: &Event, timer: *mut usize) -> c_int;
    fn timer_settime(timer: usize, flags: c_int, new: &libc::itimerspec, old: *mut libc::itimerspec) -> c_int;
    #[link_name = "__sigsetjmp"]
    fn sigsetjmp(buffer: *mut JumpBuffer, mask: c_int) -> c_int;
    fn siglongjmp(buffer: *mut JumpBuffer, value: c_int) -> !;
}
