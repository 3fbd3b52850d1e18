//! Memory that is mapped through `syscall`, and through instructions that no hook can replace.
#![expect(unsafe_code, reason = "maps memory, like crates that avoid the C library")]

use std::ffi::c_long;
use std::sync::Mutex;

const BYTES: usize = 3 * 4096;
const PROTECTION: usize = (libc::PROT_READ | libc::PROT_WRITE) as usize;
const FLAGS: usize = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as usize;

/// Addresses of the last mappings.
static KNOWN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn use_it(at: usize) {
    // SAFETY: mapped by the caller with this length, writable.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(at).write_bytes(1, BYTES) };
    KNOWN.lock().expect("the lock is not poisoned").push(at);
}

/// Maps through libc's `syscall`.
pub(crate) fn by_number() {
    // SAFETY: creates a new mapping at a free address.
    let at: c_long = unsafe { libc::syscall(libc::SYS_mmap, 0_usize, BYTES, PROTECTION, FLAGS, -1_isize, 0_usize) };
    assert!(at > 0);
    use_it(at as usize);
    // Unmaps a part of the mapping through `syscall` as well.
    // SAFETY: the last page of the new mapping.
    let result = unsafe { libc::syscall(libc::SYS_munmap, at as usize + BYTES - 4096, 4096_usize) };
    assert_eq!(result, 0);
}

/// Creates two mappings by raw system calls.
pub(crate) fn by_itself() {
    // The page between the two mappings prevents a merge.
    let (first, gap, second) = (call(), call(), call());
    unmap(gap);
    for at in [first, second] {
        // The kernel does not merge mappings that differ in this advice, so adjacent mappings of the host stay separate.
        // SAFETY: the advice has no effect on the content of the mapping.
        let advised = unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(at), BYTES, libc::MADV_DONTDUMP) };
        assert_eq!(advised, 0);
        use_it(at);
    }
}

/// Creates a mapping by a raw system call, and removes the mapping.
pub(crate) fn by_itself_undone() {
    let at = call();
    use_it(at);
    unmap(at);
}

#[cfg(target_arch = "x86_64")]
fn call() -> usize {
    let mut result = libc::SYS_mmap as usize;
    // SAFETY: creates a new mapping at a free address; the two further clobbered registers are listed.
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
    // SAFETY: mapped by `call`, and no code uses the mapping.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") result, in("rdi") at, in("rsi") BYTES, out("rcx") _, out("r11") _,
            options(nostack));
    }
    assert_eq!(result, 0);
}

#[cfg(not(target_arch = "x86_64"))]
fn call() -> usize {
    panic!("supported on x86_64 only");
}

#[cfg(not(target_arch = "x86_64"))]
fn unmap(_: usize) {}
