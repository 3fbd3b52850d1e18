use crate::lease::Blocker;
use crate::unload::report::{ModuleEnd, ParkedImage};

/// Remaining work of an unload. Does not need the game thread.
pub(crate) trait UnloadWork: Send {
    /// Continues the unload as far as possible without blocking.
    fn advance(&mut self) -> Progress;

    /// Checks if other threads make progress for the unload. An unload with progress waits, but does not count as blocked.
    fn is_moving(&self) -> bool {
        false
    }

    /// Parks the unload. The remaining images stay mapped.
    fn park(&mut self) -> Unloaded;
}

pub(crate) enum Progress {
    Waiting {
        /// Blockers of the unload. Empty if the unload only needs another poll.
        blockers: Vec<Blocker>,
        /// Set if every finalizer has run.
        drained: bool,
    },
    Ended(Unloaded),
}

#[derive(Debug, Default)]
pub(crate) struct Unloaded {
    /// Resources left by modules whose images are unmapped.
    pub modules: Vec<ModuleEnd>,
    pub parked: Vec<ParkedImage>,
}
