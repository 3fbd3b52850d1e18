//! The gate into a module's code. Every call goes through it, so a module whose generation is over is never
//! entered, and how many calls are inside is known before its image may go.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use crate::border::CallError;
use crate::cells::Counted;
use crate::conjugate::hot::HotFrames;
use crate::handles::{Generation, ModuleId};

/// The module behind a gate. The name is shared with the finalizer thread.
#[derive(Clone, Debug)]
pub(crate) struct ModuleTag {
    /// The module.
    pub id: ModuleId,
    /// Its name.
    pub name: Arc<str>,
    /// Its generation.
    pub generation: Generation,
}

/// Which calls get through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Every call.
    Open,
    /// None, and what the module has built counts as expired, until it is reopened.
    Aside,
    /// None any more. What the module owns stays until the last of its own code has run.
    Ending,
}

/// The gate of one loaded module. Game thread only.
#[derive(Debug)]
pub(crate) struct Gate {
    tag: ModuleTag,
    state: Cell<State>,
    inside: Cell<u32>,
    /// The calls that pass it by a way that was looked up while it was open.
    hot: Rc<HotFrames>,
}

impl Gate {
    /// A gate that is open: its module is being loaded.
    pub(crate) fn new(tag: ModuleTag) -> Rc<Self> {
        Self::among(tag, &Rc::default())
    }

    /// A gate that is open, among the calls of a host: what these have looked up is wrong when it is shut.
    pub(crate) fn among(tag: ModuleTag, hot: &Rc<HotFrames>) -> Rc<Self> {
        Rc::new(Self { tag, state: Cell::new(State::Open), inside: Cell::new(0), hot: Rc::clone(hot) })
    }

    fn set(&self, state: State) {
        self.state.set(state);
        self.hot.stamp().change();
    }

    /// Whose gate it is.
    pub(crate) fn tag(&self) -> &ModuleTag {
        &self.tag
    }

    /// Calls that have not returned.
    pub(crate) fn inside(&self) -> u32 {
        self.inside.get() + self.hot.inside(self.tag.id)
    }

    /// Whether calls get in, and what the module has built is not expired.
    pub(crate) fn is_open(&self) -> bool {
        self.state.get() == State::Open
    }

    /// Whether the values that the module owns are its own still: what it drops in its end may look at them.
    pub(crate) fn keeps_values(&self) -> bool {
        self.state.get() != State::Aside
    }

    /// From now on no call gets in, until it is reopened.
    pub(crate) fn close(&self) {
        self.set(State::Aside);
    }

    /// Lets calls in again: a reload was rolled back.
    pub(crate) fn reopen(&self) {
        debug_assert_ne!(self.state.get(), State::Ending, "an end is not taken back");
        self.set(State::Open);
    }

    /// From now on no call gets in, for ever.
    pub(crate) fn end(&self) {
        self.set(State::Ending);
    }

    /// Runs `call` behind the gate.
    ///
    /// # Errors
    /// `Unavailable` when the gate is shut.
    #[inline]
    pub(crate) fn through<T>(&self, call: impl FnOnce() -> Result<T, CallError>) -> Result<T, CallError> {
        let _inside = self.enter().map_err(|error| *error)?;
        call()
    }

    /// Goes in, until what is given back is dropped.
    ///
    /// # Errors
    /// As [`Gate::through`].
    #[inline]
    pub(crate) fn enter(&self) -> Result<Counted<'_>, Box<CallError>> {
        if self.state.get() != State::Open {
            return Err(self.shut());
        }
        Ok(Counted::in_cell(&self.inside))
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
    fn a_shut_gate_lets_nobody_in_and_a_reopened_one_does() {
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
