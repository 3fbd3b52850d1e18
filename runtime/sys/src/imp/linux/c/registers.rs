//! Registers of the calling thread.
#![expect(unsafe_code, reason = "registers are read in assembly")]

use std::arch::asm;

/// Returns the program counter, stack pointer, frame pointer and link register of the enclosing function. The link register is zero on
/// machines without this register.
#[inline(always)]
pub(in crate::imp::linux) fn registers() -> [usize; 4] {
    let (pc, sp, fp, lr): (usize, usize, usize, usize);
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: registers are only read.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!(
            "lea {pc}, [rip]", "mov {sp}, rsp", "mov {fp}, rbp", "xor {lr:e}, {lr:e}",
            pc = out(reg) pc, sp = out(reg) sp, fp = out(reg) fp, lr = out(reg) lr, options(nostack, nomem)
        );
        #[cfg(target_arch = "aarch64")]
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

/// Returns the word with which the C library encodes the addresses that it stores. Returns `None` if the encoding is unknown.
pub(in crate::imp::linux) fn pointer_guard() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        let guard: usize;
        // SAFETY: this word of every thread's control block is the guard according to the platform's ABI.
        unsafe { asm!("mov {}, fs:0x30", out(reg) guard, options(nostack, readonly, preserves_flags)) };
        Some(guard)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}
