//! The stack of red frames: host-to-plugin calls that have not returned. An empty stack is what makes a safe point.

use std::cell::RefCell;
use std::rc::Rc;

/// One host-to-plugin call.
#[derive(Clone, Debug)]
pub(crate) struct RedFrame {
    /// What was called.
    pub what: Rc<str>,
}

/// The calls that have not returned, oldest first. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct RedStack {
    frames: RefCell<Vec<RedFrame>>,
}

impl RedStack {
    /// Runs `call` in a red frame of its own.
    pub(crate) fn enter<T>(&self, what: &Rc<str>, call: impl FnOnce() -> T) -> T {
        self.frames.borrow_mut().push(RedFrame { what: Rc::clone(what) });
        let _pop = Pop(self);
        call()
    }

    /// Open frames.
    pub(crate) fn depth(&self) -> usize {
        self.frames.borrow().len()
    }

    /// The calls that have not returned, oldest first.
    pub(crate) fn snapshot(&self) -> Vec<RedFrame> {
        self.frames.borrow().clone()
    }
}

struct Pop<'a>(&'a RedStack);

impl Drop for Pop<'_> {
    fn drop(&mut self) {
        self.0.frames.borrow_mut().pop();
    }
}

#[cfg(test)]
mod tests {
    use super::RedStack;

    #[test]
    fn frames_nest_and_leave_in_order() {
        let stack = RedStack::default();
        stack.enter(&"a".into(), || {
            stack.enter(&"b".into(), || {
                let names: Vec<_> = stack.snapshot().into_iter().map(|frame| frame.what.to_string()).collect();
                assert_eq!(names, ["a", "b"]);
            });
            assert_eq!(stack.depth(), 1);
        });
        assert_eq!(stack.depth(), 0);
    }
}
