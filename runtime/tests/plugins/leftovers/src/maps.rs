//! Memory that is asked for by the number of the system call, and by instructions that no hook can replace.
#![expect(unsafe_code, reason = "maps memory as crates do that go without the C library")]

use std::ffi::c_long;
use std::sync::Mutex;

const BYTES: usize = 3 * 4096;
const PROTECTION: usize = (libc::PROT_READ | libc::PROT_WRITE) as usize;
const FLAGS: usize = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;

/// Where the last of them are, as a crate knows its memory.
static KNOWN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn use_it(at: usize) {
    // SAFETY: mapped just now with this length, to be written to.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(at).write_bytes(1, BYTES) };
    KNOWN.lock().expect("nobody panics here").push(at);
}

/// Through the C library's function for all calls of the system.
pub(crate) fn by_number() {
    // SAFETY: a fresh mapping wherever there is room.
    let at: c_long = unsafe { libc::syscall(libc::SYS_mmap, 0_usize, BYTES, PROTECTION, FLAGS, -1_isize, 0_usize) };
    assert!(at > 0);
    use_it(at as usize);
    // A part is given back the same way.
    // SAFETY: the last page of what was mapped just now.
    let result = unsafe { libc::syscall(libc::SYS_munmap, at as usize + BYTES - 4096, 4096_usize) };
    assert_eq!(result, 0);
}

/// Two mappings of which only instructions of this module know.
pub(crate) fn by_itself() {
    // A page in between keeps them apart.
    let (first, gap, second) = (call(), call(), call());
    unmap(gap);
    use_it(first);
    use_it(second);
}

/// The same, given back.
pub(crate) fn by_itself_undone() {
    let at = call();
    use_it(at);
    unmap(at);
}

#[cfg(target_arch = "x86_64")]
fn call() -> usize {
    let mut result = libc::SYS_mmap as usize;
    // SAFETY: a fresh mapping wherever there is room; the kernel uses two registers more.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") result, in("rdi") 0, in("rsi") BYTES, in("rdx") PROTECTION,
            in("r10") FLAGS, in("r8") -1_isize, in("r9") 0, out("rcx") _, out("r11") _, options(nostack));
    }
    assert!(result.cast_signed() > 0);
    result
}

#[cfg(target_arch = "x86_64")]
fn unmap(at: usize) {
    let mut result = libc::SYS_munmap as usize;
    // SAFETY: mapped by `call`, and nobody uses it.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") result, in("rdi") at, in("rsi") BYTES, out("rcx") _, out("r11") _,
            options(nostack));
    }
    assert_eq!(result, 0);
}

#[cfg(not(target_arch = "x86_64"))]
fn call() -> usize {
    panic!("written for one machine only");
}

#[cfg(not(target_arch = "x86_64"))]
fn unmap(_: usize) {}
