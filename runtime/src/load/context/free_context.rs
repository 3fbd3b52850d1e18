//! A context as it is found by its name: generation follows generation, one of them is the current one. Callers read
//! which without a lock; a replacement puts the new one there first and seals the old one then, so that a caller that
//! finds a shut gate looks again and finds an open one.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;

use crate::callback::{HostId, let_go};
use crate::load::context::event::Listeners;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::home::{Home, Opaque};
use crate::load::context::resolvers::Resolvers;
use crate::load::context::under_way;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::context::ContextError;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// One context through all its generations. Any thread.
pub(super) struct FreeContext {
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
    /// The current generation; none once the context unloads.
    pub(super) current: ArcSwapOption<FreeGeneration>,
    /// The number of the last one that was the current one.
    pub(super) generation: AtomicU64,
    /// Distinguishes its replacements from those of others.
    pub(super) place: u64,
    life: Mutex<Generations>,
    /// The handles that keep it from unloading.
    handle: Mutex<Opaque>,
}

/// How far the life of a context has come.
pub(super) struct Generations {
    /// Generations that are not dead, oldest first.
    pub generations: Vec<Arc<FreeGeneration>>,
    /// The unload of the whole context.
    pub unload: Option<(Instant, UnloadTicket)>,
}

impl FreeContext {
    /// A context with an empty first generation.
    pub(super) fn new(registry: Opaque, index: u64, kind: ContextKind, name: &str) -> Arc<Self> {
        let name: Arc<str> = name.into();
        Arc::new_cyclic(|own| {
            let resolvers = Arc::new(Resolvers::new(Home { registry, line: Weak::<Self>::clone(own) }));
            let first = FreeGeneration::new(ContextId { index, generation: 1 }, kind, &name, &resolvers);
            Self {
                index,
                kind,
                name,
                resolvers,
                unloading: Listeners::default(),
                current: ArcSwapOption::new(Some(Arc::clone(&first))),
                generation: AtomicU64::new(1),
                place: under_way::next_place(),
                life: Mutex::new(Generations { generations: vec![first], unload: None }),
                handle: Mutex::new(Weak::<()>::new()),
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
    pub(super) fn handle(&self) -> Opaque {
        Weak::clone(&self.handle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on these handles keep it.
    pub(super) fn set_handle(&self, handle: Opaque) {
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

    /// Whether it can be unloaded.
    ///
    /// # Errors
    /// [`ContextError::NotCollectible`] for the Default and pinned ones.
    pub(super) fn expect_collectible(&self) -> Result<(), ContextError> {
        match self.kind {
            ContextKind::Slim => Ok(()),
            ContextKind::Default | ContextKind::Master | ContextKind::Pinned => {
                Err(ContextError::NotCollectible { context: self.title() })
            }
        }
    }

    pub(super) fn life(&self) -> MutexGuard<'_, Generations> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
