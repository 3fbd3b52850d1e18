//! Events of a load context; see `docs/load-contexts.md` for their order.

use crate::handles::Generation;
use crate::load::context::event::ContextEventKind;

pub use crate::unload::subject::MasterEvent;

impl MasterEvent {
    /// Converts an event of the Master to events of the type that all contexts share, and returns its generation. `Loaded`
    /// becomes one event per module in `started`.
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
