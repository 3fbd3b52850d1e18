//! What a panic leaves for whoever wants its calls: the same as a crash does, of a thread that goes on. It is written while
//! the stack is whole, before anything unwinds, from inside a panic hook. Who panics there may be in the middle of anything,
//! so no lock is waited for and no memory of the heap is asked for.
#![expect(unsafe_code, reason = "reads registers, and does system calls on descriptors that are only numbers")]

use std::arch::asm;
use std::ffi::{CStr, c_int};
use std::fs::File;
use std::os::fd::IntoRawFd as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

use super::crash::{Text, clock, tell_maps, tell_stack, write_all};
use crate::crash;
use crate::panics::{At, Slots};

/// The folder that they are written into; none as long as nobody wants them.
static FOLDER: AtomicI32 = AtomicI32::new(-1);
/// The list of those that are written.
static LIST: AtomicI32 = AtomicI32::new(-1);
/// Held while one is written: a panic at the same moment is left out.
static WRITING: Mutex<Slots> = Mutex::new(Slots::new());

/// From now on [`tell_panic`] writes into `folder`, and names what it wrote in `list`.
pub(crate) fn report_panics(folder: File, list: File) {
    LIST.store(list.into_raw_fd(), Ordering::Release);
    FOLDER.store(folder.into_raw_fd(), Ordering::Release);
}

/// Whether they are written. One load.
pub(crate) fn panics_are_told() -> bool {
    FOLDER.load(Ordering::Acquire) >= 0
}

/// Writes down the calls of this thread, if somebody wants them and there is room.
// A frame of its own: the registers are those of a call that has not returned when the stack is written.
#[inline(never)]
pub(crate) fn tell_panic(at: &At<'_>) {
    let folder = FOLDER.load(Ordering::Acquire);
    if folder < 0 {
        return;
    }
    let Ok(mut slots) = WRITING.try_lock() else { return };
    let Some((slot, number)) = slots.claim(at.number(crash::notes()), clock()) else { return };
    let [pc, sp, fp, lr] = registers();
    let (Some(crash), Some(maps), Some(stack)) =
        (create(folder, b"crash-", slot), create(folder, b"maps-", slot), create(folder, b"stack-", slot))
    else {
        return;
    };
    let mut text = Text::default();
    text.line("number", number, 10);
    for (name, word) in [("pc", pc), ("sp", sp), ("fp", fp), ("lr", lr)] {
        text.line(name, word, 16);
    }
    text.thread_name();
    text.line("stack", tell_stack(stack.0, sp), 16);
    text.push(b"place ");
    text.write(crash.0);
    write_all(crash.0, at.file.as_bytes());
    let mut end = Text::default();
    end.push(b"\n");
    end.line("line", at.line as usize, 10);
    end.line("column", at.column as usize, 10);
    end.push(b"end\n");
    end.write(crash.0);
    let _all = tell_maps(maps.0);
    // Only now is there something to be read.
    let mut list = Text::default();
    list.line("panic", slot, 10);
    list.write(LIST.load(Ordering::Acquire));
}

/// Program counter, stack pointer, frame pointer and, where there is one, link register, all of the function that this is
/// inlined into.
#[inline(always)]
fn registers() -> [usize; 4] {
    let (pc, sp, fp, lr): (usize, usize, usize, usize);
    #[cfg(target_arch = "x86_64")]
    // SAFETY: registers are only read.
    unsafe {
        asm!(
            "lea {pc}, [rip]", "mov {sp}, rsp", "mov {fp}, rbp", "xor {lr:e}, {lr:e}",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr, options(nostack, nomem)
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: registers are only read.
    unsafe {
        asm!(
            "adr {pc}, .", "mov {sp}, sp", "mov {fp}, x29", "mov {lr}, x30",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr, options(nostack, nomem)
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        (pc, sp, fp, lr) = (0, 0, 0, 0);
    }
    [pc, sp, fp, lr]
}

/// A descriptor that is closed again.
struct Open(c_int);

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: it is ours, and closed once.
        unsafe { libc::close(self.0) };
    }
}

/// An empty file of the folder.
fn create(folder: c_int, what: &[u8], slot: usize) -> Option<Open> {
    let mut name = [0_u8; 16];
    let digits = [b'0' + (slot / 10 % 10) as u8, b'0' + (slot % 10) as u8];
    for (to, from) in name.iter_mut().zip(what.iter().chain(&digits)) {
        *to = *from;
    }
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    let flags = libc::O_CREAT | libc::O_TRUNC | libc::O_WRONLY | libc::O_CLOEXEC;
    // SAFETY: the name is a C string.
    let opened = unsafe { libc::openat(folder, name.as_ptr(), flags, 0o600) };
    (opened >= 0).then_some(Open(opened))
}
