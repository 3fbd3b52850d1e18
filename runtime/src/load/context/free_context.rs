//! A context as it is found by its name: generation follows generation, one of them is the current one. Callers read
//! which without a lock; a replacement puts the new one there first and seals the old one then, so that a caller that
//! finds a shut gate looks again and finds an open one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;

use crate::callback::{HostId, let_go};
use crate::lease::LeaseKind;
use crate::load::context::free_module::FreeModule;
use crate::load::context::handle::Kept;
use crate::load::context::home::Home;
use crate::load::context::resolvers::Resolvers;
use crate::load::context::unloading::SpaceUnload;
use crate::load::error::context::{ContextError, Wanted};
use alcedo_sys::StageDir;

use crate::load::context::event::{ContextEvent, ContextEventKind, Listeners, tell};
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::loading::{self, Library};
use crate::load::context::registry::ContextRegistry;
use crate::load::context::under_way;
use crate::load::context::waits::{Sort, Work};
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// One context through all its generations. Any thread.
pub(super) struct FreeContext {
    registry: Weak<ContextRegistry>,
    /// The number of the context.
    pub(super) index: u64,
    /// What sort of context it is.
    pub(super) kind: ContextKind,
    /// Its name.
    pub(super) name: Arc<str>,
    /// Its resolvers.
    pub(super) resolvers: Arc<Resolvers>,
    /// The listeners for its unload.
    pub(super) unloading: Listeners,
    current: ArcSwapOption<FreeGeneration>,
    generation: AtomicU64,
    /// Distinguishes its replacements from those of others.
    place: u64,
    life: Mutex<Generations>,
    /// The handles that keep it from unloading.
    handle: Mutex<Weak<Kept>>,
}

struct Generations {
    /// Generations that are not dead, oldest first.
    generations: Vec<Arc<FreeGeneration>>,
    /// The unload of the whole context.
    unload: Option<(Instant, UnloadTicket)>,
}

impl FreeContext {
    /// A context with an empty first generation.
    pub(super) fn new(registry: &Weak<ContextRegistry>, index: u64, kind: ContextKind, name: &str) -> Arc<Self> {
        let name: Arc<str> = name.into();
        Arc::new_cyclic(|own| {
            let resolvers = Arc::new(Resolvers::new(Home::new(registry, own)));
            let first = FreeGeneration::new(ContextId { index, generation: 1 }, kind, &name, &resolvers);
            Self {
                registry: Weak::clone(registry),
                index,
                kind,
                name,
                resolvers,
                unloading: Listeners::default(),
                current: ArcSwapOption::new(Some(Arc::clone(&first))),
                generation: AtomicU64::new(1),
                place: under_way::next_place(),
                life: Mutex::new(Generations { generations: vec![first], unload: None }),
                handle: Mutex::default(),
            }
        })
    }

    /// Lets its callbacks go: it has ended, or its host has. `host` is what they may own handles to.
    pub(super) fn let_go(&self, host: HostId) {
        let (modules, natives) = self.resolvers.take();
        let_go(host, self.unloading.take());
        let_go(host, modules);
        let_go(host, natives);
    }

    /// Whether nothing is left of it but what stays for ever, once `ended` has come to its end.
    pub(super) fn is_over(&self, ended: &Arc<FreeGeneration>) -> bool {
        let stays = |generation: &FreeGeneration| {
            generation.ticket().is_some_and(|ticket| ticket.state() == ContextState::Parked)
        };
        let life = self.life();
        life.unload.is_some()
            && life.generations.iter().all(|generation| Arc::ptr_eq(generation, ended) || stays(generation))
    }

    /// The handles that keep it from unloading.
    pub(super) fn handle(&self) -> Weak<Kept> {
        Weak::clone(&self.handle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on these handles keep it.
    pub(super) fn set_handle(&self, handle: Weak<Kept>) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }

    /// How errors and reports name it.
    pub(super) fn title(&self) -> String {
        title(self.kind, &self.name)
    }

    /// The current generation, without a lock and without a share of it; none once the context unloads.
    pub(super) fn load_current(&self) -> arc_swap::Guard<Option<Arc<FreeGeneration>>> {
        self.current.load()
    }

    /// The current generation; none once the context unloads.
    pub(super) fn current(&self) -> Option<Arc<FreeGeneration>> {
        self.current.load_full()
    }

    /// The current generation.
    ///
    /// # Errors
    /// [`ContextError::ContextUnloading`] once the context unloads.
    pub(super) fn open(&self, action: impl Into<String>) -> Result<Arc<FreeGeneration>, ContextError> {
        self.current().ok_or_else(|| self.unloading(action))
    }

    /// The error for what came too late.
    pub(super) fn unloading(&self, action: impl Into<String>) -> ContextError {
        let since = self.life().unload.as_ref().map_or(Duration::ZERO, |(since, _)| since.elapsed());
        ContextError::ContextUnloading { context: self.title(), since, action: action.into() }
    }

    /// Whether it takes loads and calls.
    pub(super) fn is_open(&self) -> bool {
        self.life().unload.is_none()
    }

    /// Whether its name is taken: until it is dead, or given up.
    pub(super) fn has_name(&self) -> bool {
        !matches!(self.state(), ContextState::Dead | ContextState::Parked)
    }

    /// How far the life of the whole context has come.
    pub(super) fn state(&self) -> ContextState {
        self.life().unload.as_ref().map_or(ContextState::Alive, |(_, ticket)| ticket.state())
    }

    /// The generations that are not dead, oldest first.
    pub(super) fn generations(&self) -> Vec<Arc<FreeGeneration>> {
        self.life().generations.clone()
    }

    /// The tickets of generations that were replaced and are not dead.
    pub(super) fn old_tickets(&self) -> Vec<UnloadTicket> {
        self.life().generations.iter().filter_map(|generation| generation.ticket().cloned()).collect()
    }

    /// Loads a library into the current generation.
    ///
    /// # Errors
    /// Why not; nothing of it is in the context then.
    pub(super) fn load(&self, library: Library) -> Result<Arc<FreeModule>, ContextError> {
        let name = library.info.name.clone();
        let generation = self.open(format!("loading {name}"))?;
        loading::load(&*self.registry()?, &generation, library, None)
    }

    /// Loads what a name stands for into the current generation.
    ///
    /// # Errors
    /// Why not; nothing of it is in the context then.
    pub(super) fn load_name(&self, name: &str, range: &semver::VersionReq) -> Result<Arc<FreeModule>, ContextError> {
        let generation = self.open(format!("loading {name}"))?;
        loading::load_name(&*self.registry()?, &generation, name, range)
    }

    /// Makes a new generation of `library` and what it needs, and lets the old one go. Until the new one is complete the
    /// old one answers, and it goes on answering when the new one does not come up.
    ///
    /// # Errors
    /// Why the new one did not come up, or that the context is unloading.
    pub(super) fn replace(&self, library: Library) -> Result<UnloadTicket, ContextError> {
        self.expect_collectible()?;
        let _one_at_a_time =
            under_way::begin(Sort::Claiming, &[Work::new(self.place, self.title(), Wanted::Replacement)])?;
        let action = format!("replacing it by {}", library.info.name);
        let current = self.open(action.as_str())?;
        // An unload that begins meanwhile waits until the new generation is in its place, or is known as one that ends.
        let busy = current.leases.take_inside(LeaseKind::Call, action.as_str());
        let busy = busy.map_err(|sealed| ContextError::sealed(sealed, action.as_str()))?;
        let registry = self.registry()?;
        let id = ContextId { index: self.index, generation: self.generation.load(Ordering::Relaxed) + 1 };
        let next = FreeGeneration::new(id, self.kind, &self.name, &self.resolvers);
        loading::load(&registry, &next, library, Some(&current))?;
        let old = {
            let mut life = self.life();
            if life.unload.is_some() {
                // It never was the current one, and is listed until it has ended.
                life.generations.push(Arc::clone(&next));
                drop(life);
                let _ticket = self.seal(&registry, &next, format!("{} generation {}", self.title(), id.generation));
                return Err(self.unloading(action));
            }
            self.generation.store(id.generation, Ordering::Relaxed);
            life.generations.push(Arc::clone(&next));
            self.current.swap(Some(next))
        };
        drop(busy);
        let old = old.ok_or_else(|| self.unloading(action))?;
        Ok(self.seal(&registry, &old, format!("{} generation {}", self.title(), old.id.generation)))
    }

    /// Begins to unload the context. A second call gives the same ticket. It does not wait; exit hooks run in here when
    /// nothing is inside.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default and pinned ones.
    pub(super) fn begin_unload(&self, why: &str) -> Result<UnloadTicket, ContextError> {
        self.expect_collectible()?;
        let registry = self.registry()?;
        let (generation, ticket) = {
            let mut life = self.life();
            if let Some((_, ticket)) = &life.unload {
                return Ok(ticket.clone());
            }
            let generation = self.current.swap(None);
            // The current generation is taken away only here, under this lock.
            let Some(generation) = generation else { return Err(self.unloading("unloading it")) };
            let ticket = self.begin(&registry, &generation, self.title());
            life.unload = Some((Instant::now(), ticket.0.clone()));
            (generation, ticket)
        };
        // Not under the lock: a subscriber may look at contexts.
        tracing::debug!(context = self.title(), why, "a load context begins to unload");
        Ok(self.announce(&registry, &generation, ticket))
    }

    /// Gives up on whatever is unloading: those images stay mapped.
    pub(super) fn park(&self) {
        self.old_tickets().iter().for_each(UnloadTicket::park);
    }

    /// A generation is gone. Whether that was the last of a context that unloads.
    pub(super) fn forget(&self, generation: &Arc<FreeGeneration>) -> bool {
        let mut life = self.life();
        life.generations.retain(|known| !Arc::ptr_eq(known, generation));
        life.unload.is_some() && life.generations.is_empty()
    }

    fn seal(&self, registry: &ContextRegistry, generation: &Arc<FreeGeneration>, subject: String) -> UnloadTicket {
        let begun = self.begin(registry, generation, subject);
        self.announce(registry, generation, begun)
    }

    fn begin(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        subject: String,
    ) -> (UnloadTicket, bool) {
        generation.seal(|| registry.ticket(subject, SpaceUnload::new(&self.registry, generation, registry.policy())))
    }

    /// Calls every listener once, then takes the unload as far as it goes.
    fn announce(
        &self,
        registry: &ContextRegistry,
        generation: &Arc<FreeGeneration>,
        (ticket, is_first): (UnloadTicket, bool),
    ) -> UnloadTicket {
        if is_first {
            self.tell_unloading(registry, generation);
            generation.modules().iter().for_each(|module| module.ask_to_stop());
            generation.set_announced();
            registry.drive(ticket.clone());
        }
        ticket
    }

    /// Calls every listener when a generation takes nothing new any more, or its process ends: once, whichever comes
    /// first.
    pub(super) fn tell_unloading(&self, registry: &ContextRegistry, generation: &FreeGeneration) {
        if !generation.begin_telling() {
            return;
        }
        registry.tell(generation, ContextEventKind::Unloading);
        let event = ContextEventKind::Unloading;
        let home = self.resolvers.home();
        let event = ContextEvent { id: generation.id, kind: self.kind, name: self.name.to_string(), event, home };
        for problem in tell(&self.unloading, &event) {
            generation.ticket().into_iter().for_each(|ticket| ticket.note(problem.clone()));
        }
    }

    fn expect_collectible(&self) -> Result<(), ContextError> {
        match self.kind {
            ContextKind::Slim => Ok(()),
            ContextKind::Default | ContextKind::Master | ContextKind::Pinned => {
                Err(ContextError::NotCollectible { context: self.title() })
            }
        }
    }

    /// Where its libraries are copied to before they are looked at.
    pub(super) fn stage_dir(&self) -> Result<Arc<StageDir>, ContextError> {
        Ok(Arc::clone(&self.registry()?.stage_dir))
    }

    /// Where all contexts of its runtime meet.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub(super) fn registry(&self) -> Result<Arc<ContextRegistry>, ContextError> {
        self.registry.upgrade().ok_or_else(|| self.unloading("using it after its runtime"))
    }

    fn life(&self) -> MutexGuard<'_, Generations> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
