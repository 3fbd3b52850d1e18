//! Stack of the calling thread. Scopes that must be closed in reverse order are only allowed on this stack, and not on the separate stack
//! of a coroutine. A coroutine can be suspended inside a scope, and can outlive the frames of its caller.

use alcedo_abi::stack::StackSpan;

thread_local! {
    static SPAN: StackSpan = find();
}

#[cold]
fn find() -> StackSpan {
    let stack = alcedo_sys::process::thread_stack();
    stack.map_or(StackSpan::ANY, |stack| StackSpan { low: stack.start, len: stack.len() })
}

/// Returns the stack of the calling thread. Returns `StackSpan::ANY` if the platform does not report the stack.
// Inlined, because calls of native methods compare the stack pointer with the span, in the crates that declare the methods.
#[inline]
pub(crate) fn span() -> StackSpan {
    // Computes the span again if the thread-local variable is destroyed, for example during a call from a destructor.
    SPAN.try_with(|span| *span).unwrap_or_else(|_| find())
}

/// Checks if the thread's stack is nearly exhausted: only the lowest `reserve` bytes remain, or the lowest quarter of a small stack.
/// Returns `false` on the stack of a coroutine, because the size of this stack is unknown.
pub(crate) fn is_exhausted(reserve: usize) -> bool {
    let stack = span();
    stack.is_here() && !stack.above(reserve).is_here()
}

/// Returns `true` if the caller runs on the stack of its thread, and `false` on the stack of a coroutine.
#[inline]
pub(crate) fn is_here() -> bool {
    span().is_here()
}
