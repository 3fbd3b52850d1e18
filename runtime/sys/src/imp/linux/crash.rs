//! The handler of fatal signals. All it does may be done while anything else of the process is broken: system calls on
//! descriptors that were opened before, numbers written on its own stack, no lock and no memory of the heap.
#![expect(unsafe_code, reason = "signal handlers are C, and what they look at may be damaged")]

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::IntoRawFd as _;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// The signals that end a process because of what it did itself.
const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];
/// The handler's own stack, in bytes: an overflow has none of the thread's left.
const OWN_STACK: usize = 64 * 1024;
/// So much of the stack is written down: enough for hundreds of frames.
const KEPT_STACK: usize = 512 * 1024;
const PAGE: usize = 4096;

/// Where the words go.
static CRASH: AtomicI32 = AtomicI32::new(-1);
static STACK: AtomicI32 = AtomicI32::new(-1);
static MAPS: AtomicI32 = AtomicI32::new(-1);
/// The thread whose crash is told; zero while there is none.
static TELLING: AtomicI32 = AtomicI32::new(0);

/// What was done about the signals before.
struct Before(UnsafeCell<[MaybeUninit<libc::sigaction>; FATAL.len()]>);

// SAFETY: it is written before the first handler is installed, by the one thread that installs them, and only read
// afterwards.
unsafe impl Sync for Before {}

static BEFORE: Before = Before(UnsafeCell::new([const { MaybeUninit::uninit() }; FATAL.len()]));

/// Has fatal signals written into the files: the crash, its stack, its maps.
///
/// # Errors
///
/// When it was done before, or the system refuses a handler.
pub(crate) fn report_crashes(files: [File; 3]) -> io::Result<()> {
    let [crash, stack, maps] = files.map(|file| file.into_raw_fd());
    if CRASH.compare_exchange(-1, crash, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return Err(io::Error::other("crashes of this process are reported already"));
    }
    STACK.store(stack, Ordering::Release);
    MAPS.store(maps, Ordering::Release);
    give_stack()?;
    for (at, signal) in FATAL.into_iter().enumerate() {
        // SAFETY: the signal exists, and a null action only asks.
        let asked = unsafe { libc::sigaction(signal, null(), before(at)) };
        check(asked)?;
    }
    FATAL.into_iter().try_for_each(|signal| {
        let action = action();
        // SAFETY: `handle` does only what a handler may, and has the type that `SA_SIGINFO` asks for.
        check(unsafe { libc::sigaction(signal, &raw const action, null_mut()) })
    })
}

fn check(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn before(at: usize) -> *mut libc::sigaction {
    BEFORE.0.get().cast::<libc::sigaction>().wrapping_add(at)
}

fn action() -> libc::sigaction {
    // SAFETY: zeros are a whole `sigaction`: the default action, with nothing masked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = (handle as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void)) as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    action
}

/// A stack for handlers on this thread. It stays for as long as the process: a handler may run to its very end.
fn give_stack() -> io::Result<()> {
    let stack = Box::leak(vec![0_u8; OWN_STACK].into_boxed_slice());
    let given = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: stack.len() };
    // SAFETY: the memory is this thread's alone from now on, and never freed.
    check(unsafe { libc::sigaltstack(&raw const given, null_mut()) })
}

/// What the kernel hands over of the moment of the signal.
struct Moment {
    signal: c_int,
    code: c_int,
    address: usize,
    pc: usize,
    sp: usize,
    fp: usize,
    lr: usize,
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the call has no preconditions.
    let thread = unsafe { libc::gettid() };
    match TELLING.compare_exchange(0, thread, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => tell(&moment(signal, info, context), thread),
        // What was done about the signal before may end in another one, which has nothing new to tell.
        Err(other) if other == thread => {}
        // One crash is told at a time, and it ends the process.
        Err(_) => loop {
            // SAFETY: the call has no preconditions.
            unsafe { libc::pause() };
        },
    }
    // SAFETY: the kernel lends the record for this call.
    let code = unsafe { (*info).si_code };
    take_course(signal, code, thread);
}

fn moment(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) -> Moment {
    // SAFETY: the kernel lends the record for this call.
    let code = unsafe { (*info).si_code };
    // SAFETY: as above.
    let info = unsafe { &*info };
    // SAFETY: the field is an address for the signals handled here, and some number for one that was sent.
    let address = unsafe { info.si_addr() };
    // SAFETY: with `SA_SIGINFO` the third argument is the context of the interrupted code, lent for this call.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    let [pc, sp, fp, lr] = {
        let register = |which: c_int| machine.gregs[which as usize] as usize;
        [register(libc::REG_RIP), register(libc::REG_RSP), register(libc::REG_RBP), 0]
    };
    #[cfg(target_arch = "aarch64")]
    let [pc, sp, fp, lr] = [machine.pc, machine.sp, machine.regs[29], machine.regs[30]].map(|word| word as usize);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let [pc, sp, fp, lr] = {
        let _unknown = machine;
        [0; 4]
    };
    Moment { signal, code, address: address.addr(), pc, sp, fp, lr }
}

/// Writes everything down. What cannot be written is left out: nobody is there to be told.
fn tell(moment: &Moment, thread: libc::pid_t) {
    let crash = CRASH.load(Ordering::Acquire);
    let mut text = Text::default();
    text.line("signal", moment.signal as usize, 10);
    // Those that were sent, rather than caused, have a code that is not positive.
    text.line("sent", usize::from(moment.code <= 0), 10);
    text.line("thread", thread as usize, 10);
    text.line("time", usize::try_from(clock().as_millis()).unwrap_or_default(), 10);
    for (name, word) in
        [("address", moment.address), ("pc", moment.pc), ("sp", moment.sp), ("fp", moment.fp), ("lr", moment.lr)]
    {
        text.line(name, word, 16);
    }
    text.thread_name();
    text.write(crash);
    let maps = tell_maps(MAPS.load(Ordering::Acquire));
    let begin = tell_stack(STACK.load(Ordering::Acquire), moment.sp);
    let mut end = Text::default();
    end.line("stack", begin, 16);
    // Of a list that is cut short nobody can say what is not on it.
    end.line("maps", maps, 10);
    end.push(b"end\n");
    end.write(crash);
}

/// The time since some moment before this process began, the same for all that is written down. May be asked for in a signal
/// handler.
pub(crate) fn clock() -> Duration {
    // SAFETY: zeros are a whole time.
    let mut now: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: the time is ours to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

/// Writes what is mapped; gives how many bytes that takes, written or not.
pub(super) fn tell_maps(to: c_int) -> usize {
    // SAFETY: the path is a C string.
    let from = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    let mut bytes = [0_u8; 2048];
    let mut all = 0;
    loop {
        // SAFETY: as many bytes are ours to be written to. A descriptor that could not be opened only fails.
        let read = unsafe { libc::read(from, bytes.as_mut_ptr().cast(), bytes.len()) };
        match usize::try_from(read) {
            Ok(0) | Err(_) => break,
            Ok(count) => {
                all += count;
                write_all(to, &bytes[..count]);
            }
        }
    }
    // SAFETY: it is ours, and closed once.
    unsafe { libc::close(from) };
    all
}

/// Writes the stack from `sp` upwards, as far as there is any; gives the address of the first byte. The kernel reads it,
/// and says so where nothing is mapped: after an overflow the pointer stands in the guard pages below.
pub(super) fn tell_stack(to: c_int, sp: usize) -> usize {
    let (mut begin, mut at) = (sp & !7, sp & !7);
    while at < begin + KEPT_STACK {
        let len = PAGE - at % PAGE;
        // SAFETY: the kernel checks what it reads, and nobody else is told of it.
        let written = unsafe { libc::write(to, std::ptr::without_provenance(at), len) };
        match usize::try_from(written) {
            Ok(count) if count == len => {}
            // Nothing was written so far: the stack begins higher, if it begins at all.
            Err(_) if at == begin && begin < sp.saturating_add(KEPT_STACK) => begin += len,
            _ => break,
        }
        at += len;
    }
    begin
}

/// Lets the signal do what it would have done without us.
fn take_course(signal: c_int, code: c_int, thread: libc::pid_t) {
    if let Some(at) = FATAL.into_iter().position(|fatal| fatal == signal) {
        // SAFETY: what was done before was asked of the system, so it may be done again.
        unsafe { libc::sigaction(signal, before(at), null_mut()) };
    }
    if code <= 0 {
        // Nobody will cause it again, as the instruction of a fault does that is repeated after this.
        // SAFETY: the call has no preconditions.
        let process = unsafe { libc::getpid() };
        // SAFETY: as above; the signal waits until this handler has returned.
        unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
    }
}

pub(super) fn write_all(to: c_int, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: as many bytes are there to be read.
        let written = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written) {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
        }
    }
}

/// A short text on the stack.
pub(super) struct Text {
    bytes: [u8; 512],
    len: usize,
}

impl Default for Text {
    fn default() -> Self {
        Self { bytes: [0; 512], len: 0 }
    }
}

impl Text {
    /// What is too much is left out.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for (to, from) in self.bytes[self.len..].iter_mut().zip(bytes) {
            *to = *from;
            self.len += 1;
        }
    }

    pub(super) fn line(&mut self, name: &str, mut number: usize, base: usize) {
        let mut digits = [0_u8; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b"0123456789abcdef"[number % base];
            number /= base;
            if number == 0 {
                break;
            }
        }
        self.push(name.as_bytes());
        self.push(b" ");
        self.push(&digits[first..]);
        self.push(b"\n");
    }

    /// The name of this thread, as a line.
    pub(super) fn thread_name(&mut self) {
        self.push(b"name ");
        let mut name = [0_u8; 16];
        // SAFETY: the call writes at most sixteen bytes, the last of them a zero.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        let short = name.split(|byte| *byte == 0).next().unwrap_or_default();
        // A line is a line, whatever the name is.
        super::names::with_own(short, |name| {
            name.iter()
                .for_each(|byte| self.push(if byte.is_ascii_control() { b"?" } else { std::slice::from_ref(byte) }));
        });
        self.push(b"\n");
    }

    pub(super) fn write(&self, to: c_int) {
        write_all(to, &self.bytes[..self.len]);
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn numbers_are_written_without_the_heap_and_a_text_that_is_full_takes_no_more() {
        let mut text = Text::default();
        text.line("zero", 0, 10);
        text.line("most", usize::MAX, 16);
        text.line("ten", 10, 10);
        assert_eq!(&text.bytes[..text.len], b"zero 0\nmost ffffffffffffffff\nten 10\n");
        text.push(&[b'x'; 1000]);
        assert_eq!(text.len, 512);
    }
}
