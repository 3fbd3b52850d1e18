//! Events of a load context; see `docs/load-contexts.md` for their order.

use crate::handles::Generation;
use crate::load::context::event::ContextEventKind;

/// Event of the Master load context.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{MasterEvent, Runtime};
///
/// fn watch_memory(event: &MasterEvent) {
///     if let MasterEvent::Parked(generation, images) = event {
///         eprintln!("generation {generation} stays mapped: {}", images.join(", "));
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().on_event(watch_memory).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MasterEvent {
    /// A generation is about to start. No main has run.
    PreStartup(Generation),
    /// The main of a module has returned.
    Startup(Generation, String),
    /// The mains of all modules have returned.
    PostStartup(Generation),
    /// The generation is complete and live.
    Loaded(Generation),
    /// The generation accepts no new calls. This event is raised once.
    Unloading(Generation),
    /// The new generation reuses these modules of older generations. Raised only by a reload of changed modules, before `PreStartup`.
    Kept(Generation, Vec<String>),
    /// A reload failed. The old generation continues to run.
    Resumed(Generation),
    /// All conjugates of the generation are destroyed, and its finalizers have run.
    Unloaded(Generation),
    /// The unload waits for these blockers. This event is raised once. The unload is polled at every safe point.
    Blocked(Generation, Vec<String>),
    /// The images of the generation are unmapped.
    Dead(Generation),
    /// These images of the generation stay mapped, with the reasons.
    Parked(Generation, Vec<String>),
}

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
