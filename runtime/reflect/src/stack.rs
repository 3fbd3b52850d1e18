//! Objects that running calls of host code hold. The garbage collector keeps these objects until the calls return, even if a called
//! function requests a garbage collection.

use std::cell::Cell;
use std::fmt;
use std::rc::Weak;

use alcedo_abi::stack::StackSpan;
use alcedo_base::boundary::CallError;
use alcedo_base::cells::{Counted, RefCell, Restore};
use alcedo_base::handles::ObjectHandle;
use alcedo_base::nesting::CallPosition;

use crate::marker::RootSource;

/// Innermost running hook of a native class, with its object.
type RunningHook = Option<(&'static str, ObjectHandle)>;

/// Objects that running calls of reflected functions hold. The objects of the outermost call are first.
#[derive(Default)]
pub struct CallStack {
    /// Objects that running calls hold, each with the serial number of its call.
    held: RefCell<Vec<(u64, ObjectHandle)>>,
    last: Cell<u64>,
    /// Sources that report further objects of running calls.
    sources: RefCell<Vec<Weak<dyn RootSource>>>,
    /// Depth of the calls that [`CallStack::enter`] counts.
    depth: Cell<u32>,
    limits: Cell<StackLimits>,
    hook: Cell<RunningHook>,
}

/// Ranges of the game thread's stack: `calls`, in which calls may start, `ends`, in which destructions may start, and the `whole` stack.
#[derive(Clone, Copy)]
struct StackLimits {
    calls: StackSpan,
    ends: StackSpan,
    whole: StackSpan,
}

impl Default for StackLimits {
    fn default() -> Self {
        Self { calls: StackSpan::ANY, ends: StackSpan::ANY, whole: StackSpan::ANY }
    }
}

/// Guard that holds the objects of one call.
#[derive(Debug)]
#[must_use = "the objects are held until this is dropped"]
pub struct Held<'a> {
    stack: &'a CallStack,
    call: u64,
    count: usize,
}

impl CallStack {
    /// Records the start of a hook that runs while an object is partly constructed or destroyed. Hooks on other stacks (coroutines) are not
    /// recorded, because a suspended hook can end after an outer hook has ended.
    #[inline]
    pub fn enter_hook(&self, hook: &'static str, object: ObjectHandle) -> Option<Restore<'_, RunningHook>> {
        let is_here = self.limits.get().whole.is_here();
        is_here.then(|| Restore::in_cell(&self.hook, Some((hook, object))))
    }

    /// Returns the innermost running hook.
    #[inline]
    pub fn running_hook(&self) -> RunningHook {
        self.hook.get()
    }

    /// Holds the objects of a call until the guard is dropped.
    #[inline]
    pub fn hold(&self, objects: impl IntoIterator<Item = ObjectHandle>) -> Held<'_> {
        let mut held = self.held.borrow_mut();
        let (before, call) = (held.len(), self.last.get() + 1);
        self.last.set(call);
        held.extend(objects.into_iter().map(|object| (call, object)));
        Held { stack: self, call, count: held.len() - before }
    }

    /// Sets the number of bytes that calls leave free on `whole`, the stack of the game thread. The destruction of objects leaves a quarter
    /// of that number free.
    pub fn keep_free(&self, bytes: usize, whole: StackSpan) {
        self.limits.set(StackLimits { calls: whole.above(bytes), ends: whole.above(bytes / 4), whole });
    }

    /// Returns the position of the caller, for [`alcedo_base::nesting::outer_calls`].
    #[inline]
    pub fn position(&self) -> CallPosition {
        CallPosition::here(self.limits.get().whole)
    }

    /// Begins a call of host code. Rejects infinite recursion before the stack overflows.
    ///
    /// # Errors
    /// Returns [`CallError::TooDeep`] if the stack of the game thread is almost exhausted.
    #[inline]
    pub fn enter(&self, what: &dyn fmt::Display) -> Result<Counted<'_>, CallError> {
        self.enter_in(self.limits.get().calls, what)
    }

    /// Begins the destruction of an object. A destruction may also use three quarters of the bytes that [`CallStack::enter`] leaves free.
    ///
    /// # Errors
    /// Returns [`CallError::TooDeep`] if the stack of the game thread is almost exhausted.
    #[inline]
    pub fn enter_end(&self, what: &dyn fmt::Display) -> Result<Counted<'_>, CallError> {
        self.enter_in(self.limits.get().ends, what)
    }

    #[inline]
    fn enter_in(&self, span: StackSpan, what: &dyn fmt::Display) -> Result<Counted<'_>, CallError> {
        if !span.is_here() {
            self.no_room(what)?;
        }
        Ok(Counted::in_cell(&self.depth))
    }

    /// Rejects a call that is outside the allowed range of the game thread's stack. The size of other stacks (coroutines) is unknown. Calls
    /// on other stacks are therefore always allowed.
    #[cold]
    fn no_room(&self, what: &dyn fmt::Display) -> Result<(), CallError> {
        match self.limits.get().whole.is_here() {
            true => Err(CallError::TooDeep { what: what.to_string(), limit: self.depth.get() }),
            false => Ok(()),
        }
    }

    /// Registers a source of further held objects. The objects are held as long as the source exists. For example, the virtual machine of
    /// scripts reports the references in its variables.
    pub fn add_source(&self, source: Weak<dyn RootSource>) {
        let mut sources = self.sources.borrow_mut();
        sources.retain(|source| source.strong_count() != 0);
        sources.push(source);
    }

    pub(super) fn each_object(&self, visit: &mut dyn FnMut(ObjectHandle)) {
        self.held.borrow().iter().for_each(|(_call, object)| visit(*object));
        self.sources.borrow().iter().filter_map(Weak::upgrade).for_each(|source| source.each_object(visit));
    }
}

impl fmt::Debug for CallStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallStack").field("held", &self.held).finish_non_exhaustive()
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        let mut held = self.stack.held.borrow_mut();
        let rest = held.len().saturating_sub(self.count);
        match held[rest..].iter().all(|(call, _object)| *call == self.call) {
            true => held.truncate(rest),
            // A call in a coroutine may return later than the call that started the coroutine.
            false => held.retain(|(call, _object)| *call != self.call),
        }
    }
}

#[cfg(test)]
mod tests {
    use alcedo_base::handles::ObjectHandle;

    use super::CallStack;

    #[test]
    fn references_of_a_call_are_released_on_return() {
        let (stack, object) = (CallStack::default(), |index| ObjectHandle::new(index, 1));
        let held = || {
            let mut held = Vec::new();
            stack.each_object(&mut |object| held.push(object.index()));
            held
        };
        let outer = stack.hold([object(1)]);
        {
            let _inner = stack.hold([object(2), object(3)]);
            assert_eq!(held(), [1, 2, 3]);
        }
        assert_eq!(held(), [1]);
        let later = stack.hold([object(4)]);
        drop(outer);
        assert_eq!(held(), [4], "a call that outlives the call around it keeps its own objects");
        drop(later);
        assert_eq!(held(), Vec::<u32>::new());
    }

    #[test]
    fn root_sources_are_visited_until_they_are_dropped() {
        use std::rc::{Rc, Weak};

        use crate::marker::RootSource;

        let stack = CallStack::default();
        let source: Rc<dyn RootSource> = Rc::new(|visit: &mut dyn FnMut(ObjectHandle)| visit(ObjectHandle::new(5, 1)));
        let weak: Weak<dyn RootSource> = Rc::downgrade(&source);
        stack.add_source(weak);
        let roots = || {
            let mut roots = Vec::new();
            stack.each_object(&mut |object| roots.push(object.index()));
            roots
        };
        assert_eq!(roots(), [5]);
        drop(source);
        assert_eq!(roots(), Vec::<u32>::new());
    }
}
