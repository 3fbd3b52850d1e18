use crate::lease::Blocker;
use crate::unload::report::{ModuleEnd, ParkedImage};

/// Remaining steps of an unload. These steps do not need the game thread.
pub(crate) trait UnloadWork: Send {
    /// Continues the unload as far as possible without blocking.
    fn advance(&mut self) -> Progress;

    /// Checks if the unload makes progress on a different thread, such as the finalizer thread. An unload with progress does not count as
    /// blocked.
    fn is_moving(&self) -> bool {
        false
    }

    /// Parks the unload. The remaining images stay mapped.
    fn park(&mut self) -> Unloaded;
}

pub(crate) enum Progress {
    Waiting {
        /// Blockers of the unload. Empty if the next poll can continue the unload.
        blockers: Vec<Blocker>,
        /// Set if every finalizer has run.
        drained: bool,
    },
    Ended(Unloaded),
}

#[derive(Debug, Default)]
pub(crate) struct Unloaded {
    /// Resources that the unmapped modules have left.
    pub modules: Vec<ModuleEnd>,
    pub parked: Vec<ParkedImage>,
}
