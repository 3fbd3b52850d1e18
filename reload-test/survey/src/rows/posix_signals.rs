//! Starts operations of POSIX that cause signals or callbacks. The feature selects the operation, and selects whether the operation is
//! ended or left running. The rows share one file, since they differ in a few calls. Late signals and callbacks occur while the neighbor is
//! loaded, or when the next generation triggers them. At this time their handlers and functions are unmapped.
#![expect(unsafe_code, reason = "calls C functions, as crates do that wrap them")]
#![allow(dead_code, reason = "each row uses its own part")]

use std::collections::BTreeSet;
use std::ffi::{c_int, c_uint, c_void};
use std::mem;
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

static CALLS: AtomicU64 = AtomicU64::new(0);
/// Timer or descriptor that `end` must close.
static LEFT: AtomicUsize = AtomicUsize::new(0);
static QUEUE: AtomicI32 = AtomicI32::new(-1);

/// Environment variable with a descriptor that the previous generation left open. This generation uses the descriptor to trigger the signal
/// or callback of the previous generation.
const LEFT_FD: &str = "ALCEDO_SURVEY_LEFT_FD";

static IS_IN_USE: AtomicBool = AtomicBool::new(false);
static IS_ZOMBIE: AtomicBool = AtomicBool::new(false);

pub(crate) fn begin() {
    if cfg!(feature = "command-not-waited") {
        IS_ZOMBIE.store(is_alone() && is_waited_for(), Ordering::SeqCst);
    }
    let Some(left) = std::env::var(LEFT_FD).ok().and_then(|left| left.parse().ok()) else { return };
    if cfg!(feature = "posix-sigio") {
        // SAFETY: the byte is readable; the socket is still open.
        unsafe { libc::write(left, b"x".as_ptr().cast(), 1) };
    } else if cfg!(feature = "posix-mq-notify") {
        // SAFETY: the queue is open and the event initialized.
        let is_in_use = is_alone() && unsafe { mq_notify(left, &CALL) } != 0;
        IS_IN_USE.store(is_in_use, Ordering::SeqCst);
        send_and_receive(left);
        QUEUE.store(left, Ordering::SeqCst);
    }
}

/// Passes an open descriptor to the next generation.
fn leave(fd: c_int) {
    // SAFETY: no other thread of this process reads or writes the environment now.
    unsafe { std::env::set_var(LEFT_FD, fd.to_string()) };
}

/// Checks if the previous generation is unmapped.
fn is_alone() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let images =
        maps.lines().filter_map(|line| line.split_whitespace().nth(5)).filter(|path| path.contains("surveyed"));
    images.collect::<BTreeSet<_>>().len() == 1
}

/// Returns `true` if a child process has exited and was not reaped.
fn is_waited_for() -> bool {
    // SAFETY: all zeroes are a valid `siginfo_t`.
    let mut record: libc::siginfo_t = unsafe { mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the record is writable.
    let found = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut record, options) };
    // SAFETY: the record describes a process, or is all zeroes.
    found == 0 && unsafe { record.si_pid() } != 0
}

pub(crate) fn work() -> String {
    if IS_ZOMBIE.load(Ordering::SeqCst) {
        return "the process of the previous generation is a zombie".to_owned();
    }
    if IS_IN_USE.load(Ordering::SeqCst) {
        return "the queue still notifies the previous generation".to_owned();
    }
    let before = CALLS.load(Ordering::SeqCst);
    let is_called = set_going();
    let begun = Instant::now();
    while is_called && CALLS.load(Ordering::SeqCst) == before {
        if begun.elapsed() > Duration::from_secs(20) {
            return "the callback was not called".to_owned();
        }
        std::thread::yield_now();
    }
    if cfg!(feature = "posix-mq-notify") {
        // SAFETY: the queue is open and the event initialized.
        unsafe { mq_notify(QUEUE.load(Ordering::SeqCst), &CALL) };
    }
    "ok".to_owned()
}

extern "C" fn count(_signal: c_int) {
    CALLS.fetch_add(1, Ordering::SeqCst);
}

/// Callback that closes the descriptor in its argument, unless it is zero.
extern "C" fn on_notify(value: usize) {
    CALLS.fetch_add(1, Ordering::SeqCst);
    if value > 0 {
        // SAFETY: the descriptor was opened for the completed request.
        unsafe { libc::close(value as c_int) };
    }
}

fn handle(signal: c_int, handler: extern "C" fn(c_int), flags: c_int) {
    // SAFETY: all zeroes are a valid `sigaction`.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as *const () as libc::sighandler_t;
    action.sa_flags = flags;
    // SAFETY: the handlers are async-signal-safe.
    unsafe { libc::sigaction(signal, &raw const action, null_mut()) };
}

#[repr(C)]
struct Event {
    value: usize,
    signal: c_int,
    notify: c_int,
    function: Option<extern "C" fn(usize)>,
    attributes: *const c_void,
    rest: [usize; 4],
}

const fn signal(signal: c_int) -> Event {
    Event { value: 0, signal, notify: libc::SIGEV_SIGNAL, function: None, attributes: null(), rest: [0; 4] }
}

const CALL: Event = Event { notify: libc::SIGEV_THREAD, function: Some(on_notify), ..signal(0) };

const TICK: libc::timeval = libc::timeval { tv_sec: 0, tv_usec: 1000 };
const NEVER: libc::timeval = libc::timeval { tv_sec: 0, tv_usec: 0 };

fn interval(which: c_int, tick: libc::timeval) {
    let timer = libc::itimerval { it_interval: tick, it_value: tick };
    // SAFETY: the timer is initialized.
    unsafe { setitimer(which, &timer, null_mut()) };
}

fn timer(event: &Event) {
    let mut timer = 0;
    // SAFETY: the event is initialized, and `timer` is writable.
    unsafe { timer_create(libc::CLOCK_MONOTONIC, event, &raw mut timer) };
    let tick = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    let often = libc::itimerspec { it_interval: tick, it_value: tick };
    // SAFETY: the timer was created just now.
    unsafe { timer_settime(timer, 0, &often, null_mut()) };
    LEFT.store(timer, Ordering::SeqCst);
}

extern "C" fn spacious(_signal: c_int) {
    let mut space = [0_u8; 8 * 1024];
    // SAFETY: the byte is readable.
    unsafe { (&raw mut space[17]).write_volatile(1) };
    std::hint::black_box(&mut space);
    CALLS.fetch_add(1, Ordering::SeqCst);
}

fn raise(signal: c_int) {
    // SAFETY: the signal has a handler.
    unsafe { libc::raise(signal) };
}

struct Stack(*mut c_void);

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length.
        unsafe { libc::munmap(self.0, 65536) };
    }
}

thread_local! {
    static STACK: Stack = {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address chosen by the kernel.
        let memory = unsafe { libc::mmap(null_mut(), 65536, protection, flags, -1, 0) };
        let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: 65536 };
        // SAFETY: the memory stays mapped until this thread's locals are destroyed.
        unsafe { libc::sigaltstack(&raw const stack, null_mut()) };
        Stack(memory)
    };
}

static mut BACK: [u128; 32] = [0; 32];

extern "C" fn leap(_signal: c_int) {
    CALLS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the buffer was filled in a frame that still exists.
    unsafe { siglongjmp((&raw mut BACK).cast(), 1) };
}

fn notifying_socket() {
    handle(libc::SIGIO, count, libc::SA_RESTART);
    let mut pair = [0; 2];
    // SAFETY: `pair` has space for two descriptors.
    unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr()) };
    // SAFETY: `getpid` has no preconditions.
    let own = unsafe { libc::getpid() };
    // SAFETY: 8 is `F_SETOWN`; the descriptor was created just now.
    unsafe { libc::fcntl(pair[0], 8, own) };
    // SAFETY: as above.
    unsafe { libc::fcntl(pair[0], libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) };
    // SAFETY: as above.
    unsafe { libc::write(pair[1], b"x".as_ptr().cast(), 1) };
    leave(pair[1]);
}

/// Sends a message and receives the message again. The message triggers the notification of the queue.
fn send_and_receive(queue: c_int) {
    // SAFETY: the message is a byte.
    unsafe { libc::mq_send(queue, b"x".as_ptr().cast(), 1, 0) };
    let mut byte = 0;
    // SAFETY: messages of the queue have one byte, and the buffer has space for it.
    unsafe { libc::mq_receive(queue, &raw mut byte, 1, null_mut()) };
}

/// Returns the queue of the previous generation, or a new queue.
fn queue() -> c_int {
    let left = QUEUE.load(Ordering::SeqCst);
    if left >= 0 && cfg!(feature = "posix-mq-notify") {
        return left;
    }
    let name = std::ffi::CString::new(format!("/alcedo-survey-{}", std::process::id())).expect("no zeroes");
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_NONBLOCK;
    // SAFETY: all zeroes are valid `mq_attr`.
    let mut attributes: libc::mq_attr = unsafe { mem::zeroed() };
    // Creates a small queue, because all queues of a user may have at most 800 KiB, which permits only nine queues of the default size.
    (attributes.mq_maxmsg, attributes.mq_msgsize) = (1, 1);
    // SAFETY: the name is a C string, and the attributes are initialized.
    let queue = unsafe { mq_open(name.as_ptr(), flags, 0o600, &raw const attributes) };
    // SAFETY: the name is a C string; the queue is deleted with its last descriptor.
    unsafe { libc::mq_unlink(name.as_ptr()) };
    queue
}

fn notifying_queue() {
    let queue = queue();
    // SAFETY: the queue is open and the event initialized.
    unsafe { mq_notify(queue, &CALL) };
    send_and_receive(queue);
    QUEUE.store(queue, Ordering::SeqCst);
    leave(queue);
}

/// Starts an asynchronous read from a descriptor. The notification of its completion closes the descriptor.
fn notifying_read(fd: c_int) {
    let file = Box::leak(Box::new([0_u8; 16]));
    // SAFETY: all zeroes are a valid `aiocb`.
    let block: &'static mut libc::aiocb = Box::leak(Box::new(unsafe { mem::zeroed() }));
    block.aio_fildes = fd;
    block.aio_buf = file.as_mut_ptr().cast();
    block.aio_nbytes = file.len();
    let event = (&raw mut block.aio_sigevent).cast::<Event>();
    // SAFETY: `Event` has the layout of `sigevent`.
    unsafe { event.write(Event { value: fd as usize, ..CALL }) };
    // SAFETY: the block and its buffer are never freed.
    unsafe { libc::aio_read(block) };
}

/// Returns a descriptor that becomes readable in a tenth of a second.
fn late() -> c_int {
    // SAFETY: creates a timer.
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_CLOEXEC) };
    let once = libc::itimerspec {
        it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
        it_value: libc::timespec { tv_sec: 0, tv_nsec: 100_000_000 },
    };
    // SAFETY: the time is initialized.
    unsafe { libc::timerfd_settime(fd, 0, &raw const once, null_mut()) };
    fd
}

/// Returns the reading end of a pipe, whose writing end is left open.
fn silent() -> c_int {
    let mut pair = [0; 2];
    // SAFETY: `pair` has space for two descriptors.
    unsafe { libc::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC) };
    pair[0]
}

/// Starts the row's operation. Returns `true` if a callback will follow.
fn set_going() -> bool {
    if cfg!(any(feature = "posix-itimer", feature = "posix-itimer-ended")) {
        handle(libc::SIGALRM, count, libc::SA_RESTART);
        interval(libc::ITIMER_REAL, TICK);
        true
    } else if cfg!(feature = "posix-alarm") {
        handle(libc::SIGALRM, count, libc::SA_RESTART);
        // SAFETY: `alarm` accepts any number.
        unsafe { libc::alarm(1) };
        false
    } else if cfg!(any(feature = "posix-timer", feature = "posix-timer-ended")) {
        handle(libc::SIGRTMIN() + 6, count, libc::SA_RESTART);
        timer(&signal(libc::SIGRTMIN() + 6));
        true
    } else if cfg!(any(feature = "posix-timer-thread", feature = "posix-timer-thread-ended")) {
        timer(&CALL);
        true
    } else if cfg!(feature = "posix-sigio") {
        notifying_socket();
        true
    } else if cfg!(any(feature = "posix-mq-notify", feature = "posix-mq-notify-ended")) {
        notifying_queue();
        true
    } else if cfg!(any(feature = "posix-aio", feature = "posix-aio-unanswered")) {
        // SAFETY: the name is a C string.
        notifying_read(unsafe { libc::open(c"/proc/self/stat".as_ptr(), libc::O_RDONLY) });
        true
    } else if cfg!(feature = "posix-altstack") {
        STACK.with(|_| {});
        false
    } else if cfg!(feature = "posix-siglongjmp") {
        handle(libc::SIGUSR2, leap, 0);
        // SAFETY: the second return is into this frame, which has no changed locals.
        if unsafe { sigsetjmp((&raw mut BACK).cast(), 1) } == 0 {
            raise(libc::SIGUSR2);
        }
        false
    } else if cfg!(feature = "onstack-frame") {
        handle(libc::SIGPROF, spacious, libc::SA_RESTART);
        raise(libc::SIGPROF);
        false
    } else if cfg!(feature = "command-not-waited") {
        let child = Command::new("sleep").arg("0.05").stdin(Stdio::null()).spawn();
        drop(child);
        false
    } else {
        let status = Command::new("true").stdin(Stdio::null()).status();
        drop(status);
        false
    }
}

pub(crate) fn end() {
    if cfg!(feature = "posix-itimer-ended") {
        interval(libc::ITIMER_REAL, NEVER);
    } else if cfg!(any(feature = "posix-timer-ended", feature = "posix-timer-thread-ended")) {
        // SAFETY: the timer was created and not deleted.
        unsafe { timer_delete(LEFT.load(Ordering::SeqCst)) };
    } else if cfg!(feature = "posix-mq-notify-ended") {
        // SAFETY: the queue was opened and not closed.
        unsafe { mq_close(QUEUE.load(Ordering::SeqCst)) };
    } else if cfg!(feature = "posix-aio") {
        notifying_read(late());
    } else if cfg!(feature = "posix-aio-unanswered") {
        notifying_read(silent());
    }
}

unsafe extern "C" {
    fn setitimer(which: c_int, new: &libc::itimerval, old: *mut libc::itimerval) -> c_int;
    fn timer_create(clock: c_int, event: &Event, timer: *mut usize) -> c_int;
    fn timer_settime(timer: usize, flags: c_int, new: &libc::itimerspec, old: *mut libc::itimerspec) -> c_int;
    fn timer_delete(timer: usize) -> c_int;
    fn mq_open(name: *const libc::c_char, flags: c_int, mode: c_uint, attributes: *const libc::mq_attr) -> c_int;
    fn mq_notify(queue: c_int, event: &Event) -> c_int;
    fn mq_close(queue: c_int) -> c_int;
    #[link_name = "__sigsetjmp"]
    fn sigsetjmp(buffer: *mut c_void, mask: c_int) -> c_int;
    fn siglongjmp(buffer: *mut c_void, value: c_int) -> !;
}
