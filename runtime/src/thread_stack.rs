//! Stack of the calling thread. Scopes that must close in the order in which they open are allowed only there: a coroutine has its own
//! stack, can be suspended inside a scope, and outlives the frames around it.

use alcedo_abi::stack::StackSpan;

thread_local! {
    static SPAN: StackSpan = find();
}

fn find() -> StackSpan {
    let stack = alcedo_sys::process::thread_stack();
    stack.map_or(StackSpan::ANY, |stack| StackSpan { low: stack.start, len: stack.len() })
}

/// Returns the stack of the calling thread, or any stack if the platform does not report it.
pub(crate) fn span() -> StackSpan {
    // Destructors of thread-locals may call this, too.
    SPAN.try_with(|span| *span).unwrap_or_else(|_| find())
}

/// Checks if only the lowest `reserve` bytes of the thread's stack are left, or a quarter of a small stack. False on the stack of a
/// coroutine, whose size is unknown.
pub(crate) fn is_exhausted(reserve: usize) -> bool {
    let stack = span();
    stack.is_here() && !stack.above(reserve).is_here()
}

/// Returns whether the caller runs on the stack of its thread and not on that of a coroutine.
#[inline]
pub(crate) fn is_here() -> bool {
    span().is_here()
}
