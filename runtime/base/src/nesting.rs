//! Nesting of calls in progress. A call of a coroutine is in progress while the coroutine is suspended, but contains no later call outside
//! of this coroutine. Depth limits and checks for cycles must therefore ignore the calls of suspended coroutines.

use alcedo_abi::stack::{StackSpan, stack_pointer};

/// Maximum number of calls in progress, including calls of suspended coroutines.
pub const MOST: usize = 4096;

/// Maximum depth of nested calls, excluding calls of suspended coroutines.
pub const DEEPEST: usize = 64;

/// Limit of the calls in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// [`DEEPEST`].
    Depth,
    /// [`MOST`].
    Count,
}

/// Limit in bytes for the stack between a call and a directly nested call in a coroutine. Calls with a larger distance count as calls of
/// different coroutines, because the bounds of coroutine stacks are unknown. An unoptimized host uses up to 64 KiB per call.
const NEAR: usize = 1 << 17;

/// Position of a call on the stack of the thread or of a coroutine.
///
/// # Examples
/// ```
/// use alcedo_abi::stack::StackSpan;
/// use alcedo_base::nesting::{CallPosition, outer_calls};
///
/// let (outer, inner) = (CallPosition::here(StackSpan::ANY), CallPosition::here(StackSpan::ANY));
/// assert_eq!(outer_calls(vec![outer], |call| *call, inner), [outer]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallPosition {
    /// Stack pointer, if the call runs on the stack of a coroutine.
    coroutine: Option<usize>,
}

impl CallPosition {
    /// Creates a position. `coroutine` contains the stack pointer if the call runs on the stack of a coroutine.
    #[inline]
    #[must_use]
    pub const fn new(coroutine: Option<usize>) -> Self {
        Self { coroutine }
    }

    /// Returns the position of the caller. `thread` is the stack of the thread.
    #[inline]
    #[must_use]
    pub fn here(thread: StackSpan) -> Self {
        Self::new((!thread.is_here()).then(stack_pointer))
    }
}

/// Returns the calls that contain a call at `inner`, outermost first, including a running call at `inner` itself. `running` contains all
/// calls in progress, oldest first.
pub fn outer_calls<T>(running: Vec<T>, position_of: impl Fn(&T) -> CallPosition, inner: CallPosition) -> Vec<T> {
    let mut inner = inner.coroutine;
    let is_outer = |call: &T| match (position_of(call).coroutine, inner) {
        // The stack of the thread waits for the running coroutine.
        (None, _) => true,
        // While code runs on the stack of the thread, all coroutines are suspended.
        (Some(_), None) => false,
        (Some(outer), Some(here)) => {
            let is_near = (0..NEAR).contains(&outer.wrapping_sub(here));
            if is_near {
                inner = Some(outer);
            }
            is_near
        }
    };
    let mut outer: Vec<_> = running.into_iter().rev().filter(is_outer).collect();
    outer.reverse();
    outer
}

/// Returns the limit that a new call would exceed, if `outer` of the `running` calls contain the new call.
#[must_use]
pub fn exceeded_limit(outer: usize, running: usize) -> Option<Limit> {
    match outer >= DEEPEST {
        true => Some(Limit::Depth),
        false => (running >= MOST).then_some(Limit::Count),
    }
}

#[cfg(test)]
mod tests {
    use super::{CallPosition, NEAR, outer_calls};

    /// Checks the outer calls of a call with this stack pointer. Zero denotes a call on the stack of the thread.
    fn check(running: &[(&str, usize)], inner: usize, expected: &[&str]) {
        let position = |pointer: usize| CallPosition::new(Some(pointer).filter(|pointer| *pointer != 0));
        let outer = outer_calls(running.to_vec(), |(_, pointer)| position(*pointer), position(inner));
        assert_eq!(outer.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn calls_of_other_coroutines_are_not_outer_calls() {
        let (first, second) = (100 * NEAR, 90 * NEAR);
        let running = [("thread", 0), ("a", first), ("b", second), ("c", first - 500), ("d", second - 700)];
        check(&running, first - 1000, &["thread", "a", "c"]);
        check(&running, second - 1000, &["thread", "b", "d"]);
        check(&running, first - 500, &["thread", "a", "c"]);
        check(&running, 80 * NEAR, &["thread"]);
        check(&running, first + 1, &["thread"]);
        check(&running, 0, &["thread"]);
    }

    #[test]
    fn a_deep_nesting_in_a_coroutine_is_complete() {
        let running: Vec<_> = (0..10).map(|at| ("a", 100 * NEAR - at * (NEAR - 1))).collect();
        check(&running, 100 * NEAR - 10 * (NEAR - 1), &["a"; 10]);
    }
}
