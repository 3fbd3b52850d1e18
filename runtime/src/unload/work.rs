//! What a ticket drives: what is left to do of an unload, and how far that has come.

use crate::lease::Blocker;
use crate::unload::report::{ModuleEnd, ParkedImage};

/// What is left to do of an unload, none of which needs the game thread.
pub(crate) trait UnloadWork: Send {
    /// Goes as far as it can without waiting.
    fn advance(&mut self) -> Progress;

    /// Gives up on what is not gone: those images stay mapped.
    fn park(&mut self) -> Unloaded;
}

/// How far a work has come.
pub(crate) enum Progress {
    /// It has to wait.
    Waiting {
        /// What it waits for; empty when only another look is needed.
        blockers: Vec<Blocker>,
        /// Whether every finalizer has run.
        drained: bool,
    },
    /// There is nothing left to do.
    Ended(Unloaded),
}

/// How the modules of a context ended.
#[derive(Debug, Default)]
pub(crate) struct Unloaded {
    /// What those left whose image is gone.
    pub modules: Vec<ModuleEnd>,
    /// Images that stay.
    pub parked: Vec<ParkedImage>,
}
