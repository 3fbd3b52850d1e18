//! Stack of the calling thread. Scopes that must close in reverse order of opening are allowed only on this stack. A coroutine
//! has its own stack, can be suspended inside a scope, and outlives the frames around it.

use alcedo_abi::stack::StackSpan;

thread_local! {
    static SPAN: StackSpan = find();
}

fn find() -> StackSpan {
    let stack = alcedo_sys::process::thread_stack();
    stack.map_or(StackSpan::ANY, |stack| StackSpan { low: stack.start, len: stack.len() })
}

/// Returns the stack of the calling thread. If the platform does not report it, returns `StackSpan::ANY`.
pub(crate) fn span() -> StackSpan {
    // Destructors of thread-locals may also call this function.
    SPAN.try_with(|span| *span).unwrap_or_else(|_| find())
}

/// Checks if the thread's stack is nearly exhausted: only the lowest `reserve` bytes are left, or the lowest quarter of a small
/// stack. Returns false on the stack of a coroutine, whose size is unknown.
pub(crate) fn is_exhausted(reserve: usize) -> bool {
    let stack = span();
    stack.is_here() && !stack.above(reserve).is_here()
}

/// Returns whether the caller runs on the stack of its thread and not on the stack of a coroutine.
#[inline]
pub(crate) fn is_here() -> bool {
    span().is_here()
}
