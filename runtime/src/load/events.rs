//! What a load context tells while it lives: the events of design section 5, in their order.

use crate::handles::Generation;
use crate::load::context::notice::ContextHappening;

/// A step in the life of the Master load context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MasterEvent {
    /// A generation is about to start; none of its mains has run.
    PreStartup(Generation),
    /// The main of a module has returned.
    Startup(Generation, String),
    /// All mains have returned.
    PostStartup(Generation),
    /// The generation is complete and live.
    Loaded(Generation),
    /// The generation takes no new calls; raised once.
    Unloading(Generation),
    /// These modules of older generations stay, and belong to the one that comes up: raised before `PreStartup`, where a
    /// reload replaces no more than it must.
    Kept(Generation, Vec<String>),
    /// A reload did not come to pass: the generation goes on as it was.
    Resumed(Generation),
    /// Every conjugate and finalizer of the generation has ended.
    Unloaded(Generation),
    /// Something keeps images of the generation: who. Raised once; it is looked at again in every safe point.
    Blocked(Generation, Vec<String>),
    /// The images of the generation left the process.
    Dead(Generation),
    /// Images of the generation stay mapped: which, and why.
    Parked(Generation, Vec<String>),
}

impl MasterEvent {
    /// The same in the words that are told of every context: to which generation, and what. `Loaded` says it once for each
    /// of the modules that have come up.
    pub(super) fn notices(&self, started: Vec<String>) -> (Generation, Vec<ContextHappening>) {
        let (generation, happening) = match self {
            Self::Loaded(generation) => {
                return (*generation, started.into_iter().map(ContextHappening::Loaded).collect());
            }
            Self::PreStartup(generation) => (generation, ContextHappening::PreStartup),
            Self::Startup(generation, module) => (generation, ContextHappening::Startup(module.clone())),
            Self::PostStartup(generation) => (generation, ContextHappening::PostStartup),
            Self::Unloading(generation) => (generation, ContextHappening::Unloading),
            Self::Kept(generation, modules) => (generation, ContextHappening::Kept(modules.clone())),
            Self::Resumed(generation) => (generation, ContextHappening::Resumed),
            Self::Unloaded(generation) => (generation, ContextHappening::Unloaded),
            Self::Blocked(generation, blockers) => (generation, ContextHappening::Blocked(blockers.clone())),
            Self::Dead(generation) => (generation, ContextHappening::Dead),
            Self::Parked(generation, images) => (generation, ContextHappening::Parked(images.clone())),
        };
        (*generation, vec![happening])
    }
}

impl std::fmt::Display for MasterEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::PreStartup(generation) => write!(f, "PreStartup {generation}"),
            Self::Startup(generation, module) => write!(f, "Startup {generation} {module}"),
            Self::PostStartup(generation) => write!(f, "PostStartup {generation}"),
            Self::Loaded(generation) => write!(f, "Loaded {generation}"),
            Self::Unloading(generation) => write!(f, "Unloading {generation}"),
            Self::Kept(generation, modules) => write!(f, "Kept {generation}: {}", modules.join(", ")),
            Self::Resumed(generation) => write!(f, "Resumed {generation}"),
            Self::Unloaded(generation) => write!(f, "Unloaded {generation}"),
            Self::Blocked(generation, blockers) => write!(f, "Blocked {generation}: {}", blockers.join(", ")),
            Self::Dead(generation) => write!(f, "Dead {generation}"),
            Self::Parked(generation, images) => write!(f, "Parked {generation}: {}", images.join(", ")),
        }
    }
}
