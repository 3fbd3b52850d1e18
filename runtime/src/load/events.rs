//! The events of a load context: see `docs/load-contexts.md` for their order.

use crate::handles::Generation;
use crate::load::context::event::ContextEventKind;

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
    /// Something keeps images of the generation: these. Raised once; it is looked at again in every safe point.
    Blocked(Generation, Vec<String>),
    /// The images of the generation left the process.
    Dead(Generation),
    /// Images of the generation stay mapped: which, and why.
    Parked(Generation, Vec<String>),
}

impl MasterEvent {
    /// The same as the events that every context has: of which generation, and what. `Loaded` says it once for each
    /// of the modules that have come up.
    pub(super) fn events(&self, started: Vec<String>) -> (Generation, Vec<ContextEventKind>) {
        let (generation, event) = match self {
            Self::Loaded(generation) => {
                return (*generation, started.into_iter().map(ContextEventKind::Loaded).collect());
            }
            Self::PreStartup(generation) => (generation, ContextEventKind::PreStartup),
            Self::Startup(generation, module) => (generation, ContextEventKind::Startup(module.clone())),
            Self::PostStartup(generation) => (generation, ContextEventKind::PostStartup),
            Self::Unloading(generation) => (generation, ContextEventKind::Unloading),
            Self::Kept(generation, modules) => (generation, ContextEventKind::Kept(modules.clone())),
            Self::Resumed(generation) => (generation, ContextEventKind::Resumed),
            Self::Unloaded(generation) => (generation, ContextEventKind::Unloaded),
            Self::Blocked(generation, blockers) => (generation, ContextEventKind::Blocked(blockers.clone())),
            Self::Dead(generation) => (generation, ContextEventKind::Dead),
            Self::Parked(generation, images) => (generation, ContextEventKind::Parked(images.clone())),
        };
        (*generation, vec![event])
    }
}

impl std::fmt::Display for MasterEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loaded(generation) => write!(f, "Loaded {generation}"),
            event => {
                let (generation, events) = event.events(Vec::new());
                events.iter().try_for_each(|event| event.show(f, &generation))
            }
        }
    }
}
