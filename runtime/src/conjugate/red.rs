//! Stack of red frames, which are the active calls from the host into plugins. A safe point requires an empty stack. A value that was
//! borrowed in a frame expires when the frame closes.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use alcedo_abi::call::{Failure, Status};
use alcedo_abi::handles::ConjugateHandle;

use crate::boundary::{CallError, from_module};
use crate::cells::RefCell;
use crate::conjugate::gate::Gate;
use crate::conjugate::hot::{self, FrameName, HotFrames};
use crate::conjugate::owned_values::Opened;
use crate::conjugate::reds::Reds;
use crate::watchdog::{Activities, Entered};

/// Deferred function, which is called after the outermost frame has closed.
type Afterwards = Box<dyn FnOnce()>;

/// Active calls, oldest first. Game thread only.
pub(crate) struct RedStack {
    /// Number of all open frames, and names of the frames that calls on fast paths, hooks and methods of classes have opened.
    hot: Rc<HotFrames>,
    /// Names of all other frames.
    frames: RefCell<Vec<Rc<str>>>,
    pub(crate) reds: Reds,
    /// Publishes active calls for the watchdog, if the host has enabled the watchdog.
    pub(crate) activities: Arc<Activities>,
    afterwards: RefCell<Vec<Afterwards>>,
}

impl RedStack {
    /// Creates an empty stack that counts its frames in `hot`.
    pub(crate) fn new(hot: Rc<HotFrames>) -> Self {
        let reds = Reds::new(Rc::clone(&hot));
        Self { hot, frames: RefCell::default(), reds, activities: Arc::default(), afterwards: RefCell::default() }
    }

    pub(crate) fn hot(&self) -> &Rc<HotFrames> {
        &self.hot
    }

    /// Runs `call` in a new red frame. `call` drops values of `module`, and may therefore use the reserve of the stack. Returns
    /// [`CallError::WrongStack`] on the stack of a coroutine, and the errors of `call`.
    pub(crate) fn enter<T, E: From<CallError>>(
        &self,
        module: &str,
        what: &Rc<str>,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.hot.stack().is_here() {
            self.hot.may_open(what)?;
        }
        let _published = self.activities.call(module, what);
        let _open = self.push(what);
        call()
    }

    /// Runs code of `module` in a new red frame. Returns the errors of [`HotFrames::may_open`] and of `call`.
    pub(crate) fn enter_module<T>(
        &self,
        module: &str,
        what: &Rc<str>,
        call: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let _open = self.open(module, what)?;
        call()
    }

    /// Runs a function of a module in a new red frame, inside the gate of the module. Returns the errors of [`HotFrames::may_open`],
    /// `Unavailable` if the gate is closed, and the error of the function.
    pub(crate) fn call_module(
        &self,
        gate: &Gate,
        what: &Rc<str>,
        call: impl FnOnce(&mut Failure) -> Status,
    ) -> Result<(), CallError> {
        self.enter_module(&gate.tag().name, what, || gate.through(|| from_module(call)))
    }

    /// Variant of [`RedStack::call_module`] for a hook of a class or a method, whose frame stores the number of its name.
    pub(crate) fn call_hook(
        &self,
        gate: &Gate,
        name: &FrameName,
        call: impl FnOnce(&mut Failure) -> Status,
    ) -> Result<(), CallError> {
        let frame = self.open_hook(gate, name)?;
        let _inside = gate.enter_in(frame.is_counted()).map_err(|error| *error)?;
        from_module(call)
    }

    /// Variant of [`RedStack::open`] for a hook or a method of a class in the module of `gate`. The frame stores the number of its name.
    #[inline(always)]
    pub(crate) fn open_hook(&self, gate: &Gate, name: &FrameName) -> Result<OpenFrame<'_>, CallError> {
        let tag = gate.tag();
        let pop = match self.hot.open(name.number(&self.hot, tag.id)) {
            Some(opened) => Pop { stack: self, opened },
            None => self.open_listed(name.text())?,
        };
        Ok(OpenFrame { pop, _published: self.activities.call(&tag.name, name.text()) })
    }

    /// Opens a frame that [`HotFrames::open`] has rejected. Returns the errors of [`HotFrames::may_open`].
    #[cold]
    fn open_listed(&self, what: &Rc<str>) -> Result<Pop<'_>, CallError> {
        self.hot.may_open(what)?;
        Ok(self.push(what))
    }

    /// Opens a red frame for code of `module`. Dropping the guard closes the frame. Returns the errors of [`HotFrames::may_open`].
    #[inline]
    pub(crate) fn open(&self, module: &str, what: &Rc<str>) -> Result<OpenFrame<'_>, CallError> {
        self.hot.may_open(what)?;
        let published = self.activities.call(module, what);
        Ok(OpenFrame { pop: self.push(what), _published: published })
    }

    #[inline]
    fn push(&self, what: &Rc<str>) -> Pop<'_> {
        self.frames.borrow_mut().push(Rc::clone(what));
        Pop { stack: self, opened: self.hot.open_unnamed() }
    }

    /// Removes the name of the latest frame in `frames`. Not inlined, because frames of hooks have no name in `frames`.
    #[inline(never)]
    fn unlist(&self) {
        let _closed = self.frames.borrow_mut().pop();
    }

    /// Ends the borrows above `height` in the stack of borrows. If no frame is open, also runs deferred operations.
    #[cold]
    pub(crate) fn clean_up(&self, height: usize) {
        self.reds.cut(height);
        if self.depth() == 0 && self.hot.waits() {
            self.hot.set_waits(false);
            let waiting = self.afterwards.take();
            waiting.into_iter().for_each(|work| work());
        }
    }

    /// Defers the call to `work` until the outermost frame has closed.
    pub(crate) fn afterwards(&self, work: Afterwards) {
        self.hot.set_waits(true);
        self.afterwards.borrow_mut().push(work);
    }

    /// Borrows a value until the innermost frame closes. Returns an error if no frame is open.
    pub(crate) fn borrow_red(&self, value: Opened, now: Instant) -> Result<ConjugateHandle, CallError> {
        match self.depth() {
            0 => Err(CallError::other(format!(
                "a red {} is valid only during a call, and no call is active: read the value, or clone it",
                value.ty
            ))),
            _ => Ok(self.reds.borrow_red(value, now)),
        }
    }

    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.hot.depth()
    }

    /// Returns the names of the active calls, oldest first.
    pub(crate) fn snapshot(&self) -> Vec<Rc<str>> {
        let elsewhere = self.frames.borrow();
        let mut elsewhere = elsewhere.iter().cloned();
        let frames = self.hot.open_frames().into_iter();
        frames.filter_map(|name| name.or_else(|| elsewhere.next())).collect()
    }
}

/// Guard of an open red frame.
#[must_use]
pub(crate) struct OpenFrame<'a> {
    pop: Pop<'a>,
    _published: Entered<'a>,
}

impl OpenFrame<'_> {
    /// Returns `true` if [`HotFrames::inside`] counts the frame for its module.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        !self.pop.is_listed()
    }
}

struct Pop<'a> {
    stack: &'a RedStack,
    opened: hot::Opened,
}

impl Pop<'_> {
    /// Checks if the name of the frame is in `frames`. A flag in this value would take several nanoseconds per hook: a copy of the value
    /// would read the flag and its padding at once, and wait for the separate writes.
    #[inline]
    fn is_listed(&self) -> bool {
        self.stack.hot.is_unnamed(self.opened)
    }
}

impl Drop for Pop<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_listed() {
            self.stack.unlist();
        }
        if !self.stack.hot.close(self.opened) {
            self.stack.clean_up(self.opened.borrowed_height());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::{Duration, Instant};

    use alcedo_abi::call::Status;
    use alcedo_abi::handles::{ConjugateHandle, TypeNumber};
    use alcedo_abi::kinds::PropertyKind;

    use super::RedStack;
    use crate::boundary::CallError;
    use crate::conjugate::gate::{Gate, ModuleTag};
    use crate::conjugate::hot::FrameName;
    use crate::conjugate::owned_values::Opened;
    use crate::conjugate::serials::{Age, Facts};
    use crate::handles::{Generation, ModuleId, ObjectHandle};
    use crate::object::property::PropertyType;
    use crate::watchdog::Published;

    impl Default for RedStack {
        fn default() -> Self {
            Self::new(std::rc::Rc::default())
        }
    }

    /// Runs `work` in a red frame.
    fn enter<T>(stack: &RedStack, what: &str, work: impl FnOnce() -> T) -> T {
        stack.enter("m", &what.into(), || Ok::<_, CallError>(work())).expect("a frame may be opened")
    }

    #[test]
    fn a_drop_of_values_is_an_activity_of_their_module() {
        let stack = RedStack::default();
        stack.activities.turn_on();
        let published = enter(&stack, "timer of m", || stack.activities.snapshot());
        assert_eq!(published, [Published::call(1, "m", "timer of m")]);
        assert_eq!(stack.activities.snapshot(), []);
    }

    #[test]
    fn frames_are_listed_in_order_and_queued_work_runs_after_the_outermost() {
        let stack = RedStack::default();
        let number = stack.hot().number(ModuleId(1), &"hot".into());
        let done = std::rc::Rc::new(std::cell::Cell::new(0));
        let seen = std::rc::Rc::clone(&done);
        enter(&stack, "outer", || {
            let frame = stack.hot().open(number).expect("there is room");
            stack.afterwards(Box::new(move || seen.set(seen.get() + 1)));
            enter(&stack, "inner", || {
                let names: Vec<_> = stack.snapshot().into_iter().map(|frame| frame.to_string()).collect();
                assert_eq!(names, ["outer", "hot", "inner"]);
            });
            assert!(!stack.hot().close(frame), "something waits since it was opened");
            stack.clean_up(0);
            assert_eq!(done.get(), 0);
        });
        assert_eq!(done.get(), 1);
        enter(&stack, "again", || ());
        assert_eq!(done.get(), 1);
    }

    #[test]
    fn frames_nest_and_leave_in_order() {
        let stack = RedStack::default();
        enter(&stack, "a", || {
            enter(&stack, "b", || {
                let names: Vec<_> = stack.snapshot().into_iter().map(|frame| frame.to_string()).collect();
                assert_eq!(names, ["a", "b"]);
            });
            assert_eq!(stack.depth(), 1);
        });
        assert_eq!(stack.depth(), 0);
    }

    #[test]
    fn a_frame_of_a_hook_is_listed_in_order_and_counts_once_at_any_depth() {
        let (stack, name) = (RedStack::default(), FrameName::new("hook"));
        let tag = ModuleTag { id: ModuleId(1), name: "m".into(), generation: Generation(1) };
        let gate = Gate::among(tag, stack.hot());
        let check = |depth: usize| {
            let called = stack.call_hook(&gate, &name, |_failure| {
                assert_eq!(gate.inside(), 1);
                enter(&stack, "inner", || {
                    let names: Vec<_> = stack.snapshot().into_iter().map(|frame| frame.to_string()).collect();
                    assert_eq!(names.len(), depth + 2);
                    assert_eq!(names[depth..], ["hook", "inner"]);
                });
                Status::OK
            });
            assert_eq!((called, gate.inside(), stack.depth()), (Ok(()), 0, depth));
        };
        let mut outer = Vec::new();
        // The deepest frames have no place for a number.
        for depth in 0..100 {
            check(depth);
            outer.push(stack.open("m", &"outer".into()).expect("there is room"));
        }
        while outer.pop().is_some() {}
        gate.close();
        assert!(matches!(stack.call_hook(&gate, &name, |_failure| Status::OK), Err(CallError::Unavailable { .. })));
        assert_eq!((stack.depth(), stack.snapshot().len()), (0, 0));
    }

    fn borrow_red(stack: &RedStack, now: Instant) -> ConjugateHandle {
        let ty = PropertyType::Text;
        let (owner, number) = (ObjectHandle::NONE, TypeNumber::NONE);
        stack.borrow_red(Opened { owner, at: std::ptr::null_mut(), ty, number }, now).expect("a frame is open")
    }

    fn lives(stack: &RedStack, handles: &[ConjugateHandle]) -> Vec<bool> {
        handles.iter().map(|handle| stack.reds.open(*handle).is_some()).collect()
    }

    #[test]
    fn borrows_end_with_their_frame() {
        let (stack, now) = (RedStack::default(), Instant::now());
        let outer = enter(&stack, "a", || {
            let first = borrow_red(&stack, now);
            let inner = enter(&stack, "b", || {
                let inner = [borrow_red(&stack, now), borrow_red(&stack, now)];
                assert_eq!(lives(&stack, &[first, inner[0], inner[1]]), [true; 3]);
                inner
            });
            assert_eq!(lives(&stack, &[first, inner[0], inner[1]]), [true, false, false]);
            let second = borrow_red(&stack, now);
            assert_eq!(lives(&stack, &[first, inner[0], inner[1], second]), [true, false, false, true]);
            [first, second]
        });
        assert_eq!(lives(&stack, &outer), [false; 2]);
        let facts = stack.reds.facts(outer[0], now + Duration::from_secs(1));
        let age = Age { at_least: Duration::from_secs(1), is_exact: true };
        let expected = Facts { kind: PropertyKind::STRING, age, lives: false };
        assert_eq!(facts, Some(expected));
    }

    #[test]
    fn a_call_that_unwinds_ends_its_borrows() {
        let (stack, now) = (RedStack::default(), Instant::now());
        let mut borrowed = None;
        let call = AssertUnwindSafe(|| {
            enter(&stack, "a", || {
                borrowed = Some(borrow_red(&stack, now));
                panic!("on purpose");
            })
        });
        assert!(catch_unwind(call).is_err());
        assert_eq!(lives(&stack, borrowed.as_slice()), [false]);
        assert_eq!((stack.depth(), stack.reds.height()), (0, 0));
    }

    #[test]
    fn outside_of_every_call_nothing_is_borrowed() {
        let (owner, number, ty) = (ObjectHandle::NONE, TypeNumber::NONE, PropertyType::Text);
        let value = Opened { owner, at: std::ptr::null_mut(), ty, number };
        let refused = RedStack::default().borrow_red(value, Instant::now()).expect_err("no frame is open").to_string();
        assert!(refused.starts_with("a red String is valid only during a call, and no call is active"), "{refused}");
    }
}
