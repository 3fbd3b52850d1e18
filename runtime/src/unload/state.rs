//! Where a load context stands between its construction and the proof that its image is gone. This file decides; the
//! unloader drains, counts leases and unmaps, and reports here what it found.

use thiserror::Error;

/// How far a context's life has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextState {
    /// Takes calls, loads and leases.
    Alive,
    /// Sealed: its callbacks, finalizers and exit hooks run, then its leases are counted and its image is unmapped.
    Unloading,
    /// Something keeps the image: a lease, or the platform's loader. It can be tried again.
    Blocked,
    /// The image stays mapped on purpose and for ever.
    Parked,
    /// The image is gone.
    Dead,
}

/// A generation of the Master that is not dead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct GenerationInfo {
    /// Its number.
    pub number: u64,
    /// How far its life has come.
    pub state: ContextState,
}

/// What happens to a context.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StateChange {
    /// An unload was requested.
    BeginUnload,
    /// Leases were counted, and some are held.
    LeasesRemain,
    /// Leases were counted, and none is held: the image may be unmapped.
    LeasesGone,
    /// The image was looked for and is no longer mapped.
    ImageGone,
    /// The image was unmapped, looked for, and is still there.
    ImageStays,
    /// The host gives up on unmapping it.
    Park,
}

/// An event that may not happen to a context in this state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the context is {state} and cannot {event}: {}", state.way_out())]
pub struct ContextStateError {
    /// Where it stood, and still stands.
    pub state: ContextState,
    /// What was tried.
    pub event: StateChange,
}

impl ContextState {
    /// The state after `event`, or why there is none.
    ///
    /// # Errors
    /// `ContextStateError`; the state stays as it was.
    pub fn step(self, event: StateChange) -> Result<Self, ContextStateError> {
        match (self, event) {
            (Self::Alive, StateChange::BeginUnload) => Ok(Self::Unloading),
            (Self::Unloading, StateChange::LeasesRemain | StateChange::ImageStays) => Ok(Self::Blocked),
            // The last lease went: go on with unmapping, or begin with it.
            (Self::Unloading | Self::Blocked, StateChange::LeasesGone) => Ok(Self::Unloading),
            // A blocked context is looked at again and again, and mostly nothing has changed.
            (Self::Blocked, StateChange::LeasesRemain | StateChange::ImageStays) => Ok(Self::Blocked),
            (Self::Unloading | Self::Blocked, StateChange::ImageGone) => Ok(Self::Dead),
            (Self::Blocked, StateChange::Park) => Ok(Self::Parked),
            (state, event) => Err(ContextStateError { state, event }),
        }
    }

    fn way_out(self) -> &'static str {
        match self {
            Self::Alive => "it has to begin its unload first",
            Self::Unloading => "it is unloading; wait on the ticket that was given for it",
            Self::Blocked => "the blocker report says what keeps it; end that, or park it",
            Self::Parked => "its image stays mapped for good; create a new context",
            Self::Dead => "its image is gone; create a new context",
        }
    }
}

impl std::fmt::Display for ContextState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Alive => "alive",
            Self::Unloading => "unloading",
            Self::Blocked => "blocked",
            Self::Parked => "parked",
            Self::Dead => "dead",
        })
    }
}

impl std::fmt::Display for StateChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::BeginUnload => "begin to unload",
            Self::LeasesRemain => "be held by leases",
            Self::LeasesGone => "lose its last lease",
            Self::ImageGone => "lose its image",
            Self::ImageStays => "be held by its image",
            Self::Park => "be parked",
        })
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
        StateChange::ImageStays,
        StateChange::Park,
    ];

    /// Rows are states, columns events, in the order above; `-` is refused.
    const TABLE: [&str; 5] = [
        "unloading - - - - -",
        "- blocked unloading dead blocked -",
        "- blocked unloading dead blocked parked",
        "- - - - - -",
        "- - - - - -",
    ];

    #[test]
    fn every_state_takes_its_events_and_refuses_the_others() {
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
