//! Gate of a module's code. Every call enters the gate. The gate of an ended generation rejects calls. The gate also counts the active
//! calls, because an image is unmapped only when no call is active.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::boundary::CallError;
use crate::cells::Counted;
use crate::conjugate::hot::HotFrames;
use crate::handles::{Generation, ModuleId};

/// Identifies the module of a gate. The name is shared with the finalizer thread.
#[derive(Clone, Debug)]
pub(crate) struct ModuleTag {
    pub id: ModuleId,
    pub name: Arc<str>,
    pub generation: Generation,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Accepts every call.
    Open,
    /// Rejects calls until the gate is reopened. The values of the module are expired in this state.
    Aside,
    /// Rejects calls permanently. Values that the module owns persist until the last code of the module has run.
    Ending,
}

/// Gate of one loaded module. Game thread only.
#[derive(Debug)]
pub(crate) struct Gate {
    tag: ModuleTag,
    state: Cell<State>,
    inside: Cell<u32>,
    /// State that calls on fast paths check. Closing the gate invalidates the fast paths that were resolved while the gate was open.
    hot: Rc<HotFrames>,
}

impl Gate {
    /// Creates an open gate for a module that is being loaded.
    pub(crate) fn new(tag: ModuleTag) -> Rc<Self> {
        Self::among(tag, &Rc::default())
    }

    /// Creates an open gate. Closing this gate invalidates the fast paths of `hot`.
    pub(crate) fn among(tag: ModuleTag, hot: &Rc<HotFrames>) -> Rc<Self> {
        Rc::new(Self { tag, state: Cell::new(State::Open), inside: Cell::new(0), hot: Rc::clone(hot) })
    }

    fn set(&self, state: State) {
        self.state.set(state);
        self.hot.epoch().change();
    }

    pub(crate) fn tag(&self) -> &ModuleTag {
        &self.tag
    }

    pub(crate) fn inside(&self) -> u32 {
        self.inside.get() + self.hot.inside(self.tag.id)
    }

    /// Checks if the gate accepts calls. While the gate is open, values of the module are not expired.
    pub(crate) fn is_open(&self) -> bool {
        self.state.get() == State::Open
    }

    /// Checks if the module can access its values. The module can access its values even while it ends.
    pub(crate) fn keeps_values(&self) -> bool {
        self.state.get() != State::Aside
    }

    /// Rejects calls until the gate is reopened.
    pub(crate) fn close(&self) {
        self.set(State::Aside);
    }

    /// Accepts calls again after a rollback.
    pub(crate) fn reopen(&self) {
        debug_assert_ne!(self.state.get(), State::Ending, "an end is not taken back");
        self.set(State::Open);
    }

    pub(crate) fn end(&self) {
        self.set(State::Ending);
    }

    /// Runs `call` inside the gate. Returns `Unavailable` if the gate is closed.
    #[inline]
    pub(crate) fn through<T>(&self, call: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
        let _inside = self.enter().map_err(|error| *error)?;
        call()
    }

    /// Enters the gate until the guard is dropped. Returns the errors of [`Gate::through`].
    #[inline]
    pub(crate) fn enter(&self) -> Result<Counted<'_>, Box<CallError>> {
        if self.state.get() == State::Open { Ok(Counted::in_cell(&self.inside)) } else { Err(self.shut()) }
    }

    /// Variant of [`Gate::enter`] for a call in an open frame. Counts the call only if [`HotFrames::inside`] does not count the frame.
    #[inline]
    pub(crate) fn enter_in(&self, is_counted: bool) -> Result<Option<Counted<'_>>, Box<CallError>> {
        match is_counted {
            true if self.is_open() => Ok(None),
            true => Err(self.shut()),
            false => self.enter().map(Some),
        }
    }

    #[cold]
    fn shut(&self) -> Box<CallError> {
        let what = format!("module {} of generation {}", self.tag.name, self.tag.generation);
        Box::new(CallError::Unavailable { what })
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, ModuleTag};
    use crate::handles::{Generation, ModuleId};

    #[test]
    fn a_closed_gate_refuses_calls_and_a_reopened_one_admits_them() {
        let gate = Gate::new(ModuleTag { id: ModuleId(1), name: "m".into(), generation: Generation(1) });
        assert_eq!(gate.through(|| Ok(gate.inside())), Ok(1));
        assert_eq!(gate.inside(), 0);
        gate.close();
        assert!(gate.through(|| Ok(())).is_err());
        assert!(!gate.keeps_values());
        gate.reopen();
        assert!(gate.through(|| Ok(())).is_ok());
        gate.end();
        assert!(gate.through(|| Ok(())).is_err() && gate.keeps_values());
    }
}
