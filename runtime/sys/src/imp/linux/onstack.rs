//! Calls handlers on the interrupted stack. Used if one handler of a signal requests the alternate stack and a second handler does not. The
//! second handler then runs on the interrupted stack, as it would if it were the only handler.
#![expect(unsafe_code, reason = "switches to another stack during a call")]

use std::ffi::{c_int, c_void};

use super::handlers::Frame;

/// Bytes below the stack pointer that a function may use implicitly.
#[cfg(target_arch = "x86_64")]
const RED_ZONE: usize = 128;
#[cfg(not(target_arch = "x86_64"))]
const RED_ZONE: usize = 0;

/// Maximum distance of a fault from the stack pointer that counts as a stack overflow.
const NEAR: usize = 64 * 1024;

/// Returns the address on the interrupted stack below which a handler that does not request the alternate stack can run. Returns `None` if
/// the dispatcher runs on the interrupted stack, or if the signal indicates that the interrupted stack is full.
pub(super) fn below(frame: &Frame, signal: c_int, fault: usize) -> Option<usize> {
    if !frame.has_come_to_alternate() {
        return None;
    }
    let is_fault = signal == libc::SIGSEGV || signal == libc::SIGBUS;
    let is_full = is_fault && fault.abs_diff(frame.interrupted) < NEAR;
    (!is_full).then(|| frame.interrupted.saturating_sub(RED_ZONE) & !15)
}

/// Calls the handler with its arguments on the stack returned by [`below`]. Unwinding from the handler continues in the dispatcher.
///
/// # Safety
///
/// The handler may be called with these arguments, and the memory below the address is unused.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call(
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
    handler: usize,
    stack: usize,
) {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, r8",
        "call rcx",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset x29, -16",
        ".cfi_offset x30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register x29",
        "mov sp, x4",
        "blr x3",
        "mov sp, x29",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa sp, 0",
        "ret",
        ".cfi_endproc",
    );
}

#[cfg(test)]
mod tests {
    use super::{NEAR, below};
    use crate::imp::linux::handlers::Frame;

    #[test]
    fn a_handler_returns_to_the_interrupted_stack_if_it_fits() {
        let arrived = Frame { top: 1_900, interrupted: 1_000_000, alternate: 1_000..2_000, is_switched: false };
        let stack = below(&arrived, libc::SIGPROF, 0).expect("there is one");
        assert!(stack <= 1_000_000 - super::RED_ZONE && stack.is_multiple_of(16));
        assert_eq!(below(&arrived, libc::SIGSEGV, 0), Some(stack), "a null pointer");
        assert_eq!(below(&arrived, libc::SIGSEGV, 1_000_000 - NEAR / 2), None, "the end of the stack");
        let plain = Frame { top: 900_000, ..arrived.clone() };
        assert_eq!(below(&plain, libc::SIGPROF, 0), None, "it is there already");
        let was_there = Frame { interrupted: 1_950, ..arrived };
        assert_eq!(below(&was_there, libc::SIGPROF, 0), None, "and so was the thread");
    }
}
