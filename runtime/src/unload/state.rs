//! State machine of a load context, from the construction of the context until its images are unmapped. The caller counts leases, unmaps
//! images, and reports the results to the state machine as events.

use thiserror::Error;

named! {
    /// State of a load context.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{ContextState, Runtime};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let reports = runtime.contexts().create_slim("reports")?;
    /// assert_eq!(reports.state(), ContextState::Alive);
    /// assert_eq!(reports.state().to_string(), "alive");
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ContextState {
        /// The context accepts calls, loads and leases.
        Alive = "alive",
        /// The context is sealed. Callbacks, finalizers and exit hooks run. Then the leases must end, and the image is unmapped.
        Unloading = "unloading",
        /// A lease or the dynamic linker keeps the image mapped. The unload is retried later.
        Blocked = "blocked",
        /// The host no longer tries to unload the context. The image stays mapped permanently.
        Parked = "parked",
        /// The image is unmapped.
        Dead = "dead",
    }
}

named! {
    /// Event of a load context.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum StateChange {
        /// An unload was requested.
        BeginUnload = "begin to unload",
        /// At least one lease is held.
        LeasesRemain = "be held by leases",
        /// All leases have ended. The image may be unmapped.
        LeasesGone = "lose its last lease",
        /// A check has confirmed that the image is unmapped.
        ImageGone = "lose its image",
        /// An attempt to unmap the image has failed.
        ImageRemains = "be held by its image",
        /// The host stops trying to unmap the image.
        Park = "be parked",
    }
}

/// Error for an event that is invalid in the current state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the context is {state} and cannot {event}: {}", state.help())]
pub struct ContextStateError {
    /// State of the context. A rejected event does not change the state.
    pub state: ContextState,
    /// Rejected event.
    pub event: StateChange,
}

impl ContextState {
    /// Returns the state after `event`.
    ///
    /// # Errors
    /// Returns an error if the event is invalid in this state.
    pub fn step(self, event: StateChange) -> Result<Self, ContextStateError> {
        match (self, event) {
            (Self::Alive, StateChange::BeginUnload) => Ok(Self::Unloading),
            (Self::Unloading, StateChange::LeasesRemain | StateChange::ImageRemains) => Ok(Self::Blocked),
            // The last lease has ended. A blocked context continues, and an unloading context starts to unmap its image.
            (Self::Unloading | Self::Blocked, StateChange::LeasesGone) => Ok(Self::Unloading),
            // A blocked context is polled repeatedly, and usually remains blocked.
            (Self::Blocked, StateChange::LeasesRemain | StateChange::ImageRemains) => Ok(Self::Blocked),
            (Self::Unloading | Self::Blocked, StateChange::ImageGone) => Ok(Self::Dead),
            (Self::Blocked, StateChange::Park) => Ok(Self::Parked),
            (state, event) => Err(ContextStateError { state, event }),
        }
    }

    /// Checks if the unload has ended. The context is then dead or parked.
    pub(crate) fn is_over(self) -> bool {
        matches!(self, Self::Dead | Self::Parked)
    }

    fn help(self) -> &'static str {
        match self {
            Self::Alive => "it has to begin its unload first",
            Self::Unloading => "it is unloading; wait on its ticket",
            Self::Blocked => "the blocker report lists its blockers; release them, or park it",
            Self::Parked => "its image stays mapped for good; create a new context",
            Self::Dead => "its image is gone; create a new context",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ContextState, ContextStateError, StateChange};

    const STATES: [ContextState; 5] =
        [ContextState::Alive, ContextState::Unloading, ContextState::Blocked, ContextState::Parked, ContextState::Dead];
    const EVENTS: [StateChange; 6] = [
        StateChange::BeginUnload,
        StateChange::LeasesRemain,
        StateChange::LeasesGone,
        StateChange::ImageGone,
        StateChange::ImageRemains,
        StateChange::Park,
    ];

    /// Transition table with one row per entry of `STATES` and one column per entry of `EVENTS`. `-` marks a rejected event.
    const TABLE: [&str; 5] = [
        "unloading - - - - -",
        "- blocked unloading dead blocked -",
        "- blocked unloading dead blocked parked",
        "- - - - - -",
        "- - - - - -",
    ];

    #[test]
    fn every_state_accepts_its_events_and_refuses_the_others() {
        for (state, row) in STATES.into_iter().zip(TABLE) {
            let cells: Vec<_> = row.split_whitespace().collect();
            assert_eq!(cells.len(), EVENTS.len());
            for (event, cell) in EVENTS.into_iter().zip(cells) {
                let found = state.step(event);
                match cell {
                    "-" => assert_eq!(found, Err(ContextStateError { state, event })),
                    next => assert_eq!(found.map(|state| state.to_string()), Ok(next.to_owned()), "{state} {event}"),
                }
            }
        }
    }

    #[test]
    fn an_unload_may_block_go_on_and_end() {
        let events =
            [StateChange::BeginUnload, StateChange::LeasesRemain, StateChange::LeasesGone, StateChange::ImageGone];
        let end = events.into_iter().try_fold(ContextState::Alive, ContextState::step);
        assert_eq!(end, Ok(ContextState::Dead));
    }

    #[test]
    fn an_error_names_state_and_event() {
        let error = ContextState::Dead.step(StateChange::BeginUnload).expect_err("it is dead");
        assert_eq!(
            error.to_string(),
            "the context is dead and cannot begin to unload: its image is gone; create a new context"
        );
    }
}
