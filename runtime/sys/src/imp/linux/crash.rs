//! Handles fatal signals. The handler performs only operations that are valid in a damaged process: system calls on descriptors that were
//! opened earlier, and formatting on its own stack. It uses neither locks nor heap memory.
#![expect(unsafe_code, reason = "signal handlers are C, and the memory they read may be damaged")]

use std::ffi::c_int;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Cursor, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{Mode, OFlags};

use super::c::peek::PAGE;
use super::c::signals::{self, Stack};
use super::c::{descriptors, kernel};
use super::{fence, fork, locals};

/// Fatal signals of faults and of `abort`.
const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];
/// Size of the handler's own stack in bytes. The handler needs its own stack, because a stack overflow leaves no space on the thread's
/// stack.
const OWN_STACK: usize = 64 * 1024;
/// Recorded bytes of the crashing stack: enough for hundreds of frames.
const KEPT_STACK: usize = 512 * 1024;

static FILES: OnceLock<[File; 3]> = OnceLock::new();
/// Id of the thread whose crash is reported, zero before the first crash.
static WRITING: AtomicI32 = AtomicI32::new(0);

static BEFORE: OnceLock<[libc::sigaction; FATAL.len()]> = OnceLock::new();

/// Reports fatal signals to these files, in the order crash, stack, maps.
///
/// # Errors
///
/// Fails if reporting was started before, or if the system rejects a handler. Fails with [`io::ErrorKind::WouldBlock`] if another process
/// reports into these files.
pub(crate) fn report_crashes(files: [File; 3]) -> io::Result<()> {
    // The files belong to one process. A process that this process starts inherits the folder in its environment.
    if FILES.get().is_none() && matches!(files[0].try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    if FILES.set(files).is_err() {
        return Err(io::Error::other("crashes of this process are reported already"));
    }
    fork::listen();
    // The stack is leaked, because a handler may run until the end of the process.
    let stack = Stack::of(Box::leak(vec![0_u8; OWN_STACK].into_boxed_slice()));
    stack.put().map_err(io::Error::from_raw_os_error)?;
    let mut before = [signals::nothing(); FATAL.len()];
    for (before, signal) in before.iter_mut().zip(FATAL) {
        *before = signals::action(signal).map_err(io::Error::from_raw_os_error)?;
    }
    BEFORE.get_or_init(|| before);
    let mut action = signals::nothing();
    action.sa_sigaction = (handle as extern "C" fn(c_int, &libc::siginfo_t, &libc::ucontext_t)) as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    FATAL.into_iter().try_for_each(|signal| {
        // SAFETY: `handle` is async-signal-safe and has the type for `SA_SIGINFO`.
        unsafe { signals::act(signal, &action) }.map_err(io::Error::from_raw_os_error)
    })
}

/// Handler for `SA_SIGINFO`. The kernel passes the record and the context of the signal. Both are valid during the call.
extern "C" fn handle(signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t) {
    let thread = kernel::own_tid();
    match WRITING.compare_exchange(0, thread, Ordering::AcqRel, Ordering::Acquire) {
        // The files of a forked child are the files of its parent, which may still run.
        _ if fork::is_child() => {}
        Ok(_) => write_report(signal, info, context, thread),
        // Ignores a second fatal signal on this thread, which the restored action of the first signal may raise.
        Err(other) if other == thread => {}
        // Waits for the end of the process. Only the first crash is reported, and it terminates the process.
        Err(_) => loop {
            rustix::event::pause();
        },
    }
    pass_on(signal, info.si_code, thread);
}

/// Writes the report. Failed writes are skipped, because they cannot be reported.
fn write_report(signal: c_int, info: &libc::siginfo_t, context: &libc::ucontext_t, thread: libc::pid_t) {
    let Some([crash, stack, maps]) = FILES.get().map(|files| files.each_ref().map(File::as_fd)) else { return };
    let (address, [pc, sp, fp, lr]) = (signals::fault(info), kernel::interrupted_registers(context));
    let mut buffer = Buffer::default();
    buffer.line("signal", signal);
    // A positive signal code means that a fault has caused the signal, and any other code means that a process has sent it.
    buffer.line("sent", u8::from(info.si_code <= 0));
    buffer.line("thread", thread);
    buffer.line("time", kernel::clock().as_millis());
    for (name, word) in [("address", address), ("pc", pc), ("sp", sp), ("fp", fp), ("lr", lr)] {
        buffer.line(name, format_args!("{word:x}"));
    }
    buffer.thread_name();
    buffer.write(crash);
    write_fence(crash, address);
    locals::with_dropped_here(|image| {
        let mut buffer = Buffer::default();
        buffer.push(b"local ");
        buffer.push_line(image.as_bytes());
        buffer.write(crash);
    });
    let maps = write_maps(maps);
    let begin = write_stack(stack, sp);
    let mut end = Buffer::default();
    end.line("stack", format_args!("{begin:x}"));
    // Writes the total size last, so that readers can detect a truncated list.
    end.line("maps", maps);
    end.push(b"end\n");
    end.write(crash);
}

/// Writes the label of the fenced buffer if the address is in a fence.
fn write_fence(to: BorrowedFd<'_>, address: usize) {
    let Some((side, label)) = fence::at(address) else { return };
    let mut buffer = Buffer::default();
    buffer.push(match side {
        fence::Side::Before => b"fence before the start of ",
        fence::Side::Behind => b"fence past the end of ",
    });
    let label = label.split(|byte| *byte == 0).next().unwrap_or_default();
    buffer.push_line(label);
    buffer.write(to);
}

/// Writes the memory mappings of the process. Returns the size of the list in bytes, including bytes that were not written.
pub(super) fn write_maps(to: BorrowedFd<'_>) -> usize {
    let Ok(from) = rustix::fs::open(c"/proc/self/maps", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else {
        return 0;
    };
    let mut bytes = [0_u8; 2048];
    let mut all = 0;
    while let Ok(count @ 1..) = rustix::io::read(&from, &mut bytes) {
        all += count;
        write_all(to, &bytes[..count]);
    }
    all
}

/// Writes the mapped part of the stack from `sp` upwards. Returns the address of the first written byte. The kernel reads the memory, and
/// rejects unmapped parts. After a stack overflow, `sp` is in the guard pages below the stack.
pub(super) fn write_stack(to: BorrowedFd<'_>, sp: usize) -> usize {
    let (mut begin, mut at) = (sp & !7, sp & !7);
    while at < begin + KEPT_STACK {
        let len = PAGE - at % PAGE;
        match descriptors::write_memory(to, at, len) {
            Some(count) if count == len => {}
            // Skips unmapped pages until the first byte is written, because the mapped stack may begin at a higher address.
            None if at == begin && begin < sp.saturating_add(KEPT_STACK) => begin += len,
            _ => break,
        }
        at += len;
    }
    begin
}

fn pass_on(signal: c_int, code: c_int, thread: libc::pid_t) {
    let before = FATAL.into_iter().zip(BEFORE.get().into_iter().flatten()).find(|(fatal, _)| *fatal == signal);
    if let Some((_, before)) = before {
        // SAFETY: the system has returned this action, so the code that set the action has promised that the action is valid. An error is
        // ignored, because it cannot be handled here.
        let _set = unsafe { signals::act(signal, before) };
    }
    if code <= 0 {
        // Raises the signal again. A fault recurs by itself, because its instruction is repeated, but a signal that was sent does not
        // recur. The raised signal is pending until this handler returns.
        kernel::signal_thread(thread, signal);
    }
}

pub(super) fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match descriptors::write_memory(to, bytes.as_ptr().addr(), bytes.len()) {
            Some(0) | None => return,
            Some(count) => bytes = bytes.get(count..).unwrap_or_default(),
        }
    }
}

/// Text of at most 512 bytes. Drops bytes that exceed the buffer.
pub(super) struct Buffer(Cursor<[u8; 512]>);

impl Default for Buffer {
    fn default() -> Self {
        Self(Cursor::new([0; 512]))
    }
}

impl Buffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let _is_complete = self.0.write_all(bytes);
    }

    /// Appends bytes up to the end of a line, with `?` for control bytes.
    pub(super) fn push_line(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.push(if byte.is_ascii_control() { b"?" } else { std::slice::from_ref(byte) }));
        self.push(b"\n");
    }

    pub(super) fn line(&mut self, name: &str, value: impl fmt::Display) {
        let _is_complete = writeln!(self.0, "{name} {value}");
    }

    pub(super) fn thread_name(&mut self) {
        self.push(b"name ");
        let name = kernel::own_short_name();
        let short = name.split(|byte| *byte == 0).next().unwrap_or_default();
        super::names::with_own(short, |name| self.push_line(name));
    }

    pub(super) fn write(&self, to: BorrowedFd<'_>) {
        write_all(to, self.bytes());
    }

    fn bytes(&self) -> &[u8] {
        &self.0.get_ref()[..self.0.position() as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn numbers_are_written_without_the_heap_and_full_buffers_stay_full() {
        let mut buffer = Buffer::default();
        buffer.line("zero", 0);
        buffer.line("most", format_args!("{:x}", usize::MAX));
        buffer.line("ten", 10);
        assert_eq!(buffer.bytes(), b"zero 0\nmost ffffffffffffffff\nten 10\n");
        buffer.push(&[b'x'; 1000]);
        assert_eq!(buffer.bytes().len(), 512);
    }
}
