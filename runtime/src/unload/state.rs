//! State machine of a load context, from the construction of the context until its images are unmapped. The caller counts leases, unmaps
//! images, and passes the resulting state to the state machine.

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

/// Error for an invalid next state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the context is {state} and cannot become {next}: {}", state.help())]
pub(crate) struct ContextStateError {
    /// State of the context. A rejected state does not change the state of the context.
    pub state: ContextState,
    /// Rejected state.
    pub next: ContextState,
}

impl ContextState {
    /// Returns `next`, or an error if `next` cannot follow this state.
    pub(crate) fn step(self, next: Self) -> Result<Self, ContextStateError> {
        match (self, next) {
            // An unload is polled repeatedly, and usually remains in its state.
            (Self::Unloading | Self::Blocked, Self::Unloading | Self::Blocked | Self::Dead | Self::Parked) => Ok(next),
            (state, next) => Err(ContextStateError { state, next }),
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
    use super::{ContextState, ContextStateError};

    const STATES: [ContextState; 5] =
        [ContextState::Alive, ContextState::Unloading, ContextState::Blocked, ContextState::Parked, ContextState::Dead];

    /// Transition table with one row per entry of `STATES`, which lists the states that can follow.
    const TABLE: [&[ContextState]; 5] = [
        &[],
        &[ContextState::Unloading, ContextState::Blocked, ContextState::Parked, ContextState::Dead],
        &[ContextState::Unloading, ContextState::Blocked, ContextState::Parked, ContextState::Dead],
        &[],
        &[],
    ];

    #[test]
    fn every_state_accepts_its_next_states_and_refuses_the_others() {
        for (state, accepted) in STATES.into_iter().zip(TABLE) {
            for next in STATES {
                let expected = if accepted.contains(&next) { Ok(next) } else { Err(ContextStateError { state, next }) };
                assert_eq!(state.step(next), expected, "{state} {next}");
            }
        }
    }

    #[test]
    fn an_error_names_both_states() {
        let error = ContextState::Dead.step(ContextState::Blocked).expect_err("it is dead");
        assert_eq!(
            error.to_string(),
            "the context is dead and cannot become blocked: its image is gone; create a new context"
        );
    }
}
