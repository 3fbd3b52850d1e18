//! Address range of a thread's stack. Scopes that must be closed in reverse order of opening may begin only on the game thread's stack: a
//! coroutine on its own stack could be suspended inside a scope, and the scope would then outlive the surrounding frame.
#![expect(unsafe_code, reason = "reads the stack pointer")]

use abi_stable::StableAbi;

/// Address range of a stack.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackSpan {
    /// Lowest address of the stack.
    pub low: usize,
    /// Length in bytes.
    pub len: usize,
}

impl StackSpan {
    /// Span that contains every address. Used if the platform reports no range for a stack, or if no scope depends on the stack.
    pub const ANY: Self = Self { low: 0, len: usize::MAX };

    /// Returns true if the caller's stack pointer is in the span. The check costs one comparison.
    #[inline(always)]
    #[must_use]
    pub fn is_here(self) -> bool {
        stack_pointer().wrapping_sub(self.low) < self.len
    }

    /// Returns the span without the lowest `bytes` bytes. Removes at most three quarters of the span.
    #[inline]
    #[must_use]
    pub const fn above(self, bytes: usize) -> Self {
        if self.len == usize::MAX {
            return self;
        }
        let most = self.len / 4 * 3;
        let reserve = if bytes < most { bytes } else { most };
        Self { low: self.low + reserve, len: self.len - reserve }
    }
}

/// Returns the caller's stack pointer. Of two running functions on one stack, the function that was called later has the lower stack
/// pointer, unless the compiler has inlined this function into the other function.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
#[must_use]
pub fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reads a register and no memory. The address of a local is not usable, because a sanitizer may allocate locals elsewhere.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}

/// Returns an address on the caller's stack.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
#[must_use]
pub fn stack_pointer() -> usize {
    let local = 0_u8;
    (&raw const local).addr()
}

#[cfg(test)]
mod tests {
    use super::{StackSpan, stack_pointer};

    #[test]
    fn a_span_holds_the_stack_pointer_and_its_reserve_does_not() {
        let low = stack_pointer() - 4096;
        let span = StackSpan { low, len: 8192 };
        assert!(span.is_here() && StackSpan::ANY.is_here() && StackSpan::ANY.above(1).is_here());
        assert_eq!(span.above(1024), StackSpan { low: low + 1024, len: 7168 });
        assert!(!span.above(1 << 20).is_here() && span.above(1 << 20).len == 2048);
    }
}
