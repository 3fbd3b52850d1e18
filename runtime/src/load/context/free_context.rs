//! Context that any thread may use, with the sequence of its generations. Callers read the current generation without a lock. A replacement
//! first installs the new generation and then seals the old generation. A caller that finds a closed gate can therefore retry with the new
//! generation.

use std::any::Any;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;

use crate::callback::{HostId, let_go};
use crate::load::context::event::Listeners;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::in_progress;
use crate::load::context::owner::{self, Above, Owner};
use crate::load::context::resolvers::{self, Resolvers};
use crate::load::context::waits::Work;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::context::{ContextError, LoadRequest};
use crate::sync::lock;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// A context with all its generations. Usable on any thread.
pub(super) struct FreeContext {
    pub(super) index: u64,
    pub(super) kind: ContextKind,
    pub(super) name: Arc<str>,
    pub(super) resolvers: Arc<Resolvers>,
    pub(super) unloading: Listeners,
    /// Number of bytes that each call into the context leaves free on the stack of the calling thread.
    stack_reserve: usize,
    current: ArcSwapOption<FreeGeneration>,
    /// Unique number of this context. Identifies the replacements of the context in [`Work`].
    scope: u64,
    life: Mutex<Generations>,
    /// Weak reference to the shared state of the handles. Dropping this state begins the unload of a Slim.
    handle: Mutex<Above>,
}

struct Generations {
    /// Generations that are not dead, oldest first.
    generations: Vec<Arc<FreeGeneration>>,
    unload: Option<(Instant, UnloadTicket)>,
}

impl FreeContext {
    /// Creates a context of `registry` with an empty first generation. Each call leaves `stack_reserve` bytes free on the stack of its
    /// thread.
    pub(super) fn new(registry: Above, index: u64, kind: ContextKind, name: &str, stack_reserve: usize) -> Arc<Self> {
        let name: Arc<str> = name.into();
        Arc::new_cyclic(|own: &Weak<Self>| {
            let resolvers = Arc::new(Resolvers::new(Owner { registry, line: Weak::clone(own) as Above }));
            let first = FreeGeneration::new(ContextId { index, generation: 1 }, kind, &name, &resolvers, stack_reserve);
            Self {
                index,
                kind,
                name,
                resolvers,
                unloading: Listeners::default(),
                stack_reserve,
                current: ArcSwapOption::new(Some(Arc::clone(&first))),
                scope: in_progress::next_scope(),
                life: Mutex::new(Generations { generations: vec![first], unload: None }),
                handle: Mutex::new(Weak::<()>::new()),
            }
        })
    }

    /// Drops the callbacks of the context. Called when the unload of the context is over, or when the host shuts down. Logs each callback
    /// that owned a handle to a context of `host`.
    pub(super) fn let_go(&self, host: HostId) {
        // Takes all callbacks first, because the drop of a captured value may remove other callbacks.
        let (modules, natives) = (resolvers::take(&self.resolvers.modules), resolvers::take(&self.resolvers.natives));
        let_go(host, self.unloading.take());
        let_go(host, modules);
        let_go(host, natives);
    }

    /// Checks if the context is unloading, and all generations are dead or parked.
    pub(super) fn is_over(&self) -> bool {
        let life = lock(&self.life);
        life.unload.is_some() && life.generations.iter().all(|generation| generation.state() == ContextState::Parked)
    }

    /// Returns the shared state of the handles to the context. Returns `None` if no handle exists.
    pub(super) fn handle<K: Any + Send + Sync>(&self) -> Option<Arc<K>> {
        owner::upgrade(&lock(&self.handle))
    }

    pub(super) fn set_handle(&self, handle: Above) {
        *lock(&self.handle) = handle;
    }

    pub(super) fn title(&self) -> String {
        title(self.kind, &self.name)
    }

    /// Returns the current generation without taking a lock or changing a reference count. Returns `None` once the context is
    /// unloading.
    pub(super) fn load_current(&self) -> arc_swap::Guard<Option<Arc<FreeGeneration>>> {
        self.current.load()
    }

    /// Returns the current generation. Returns `None` once the context is unloading.
    pub(super) fn current(&self) -> Option<Arc<FreeGeneration>> {
        self.current.load_full()
    }

    /// Returns the current generation. Returns [`ContextError::ContextUnloading`] once the context is unloading.
    pub(super) fn open(&self, action: impl Into<String>) -> Result<Arc<FreeGeneration>, ContextError> {
        self.current().ok_or_else(|| self.unloading(action))
    }

    /// Returns the error for an operation on an unloading context.
    pub(super) fn unloading(&self, action: impl Into<String>) -> ContextError {
        let since = lock(&self.life).unload.as_ref().map_or(Duration::ZERO, |(since, _)| since.elapsed());
        ContextError::ContextUnloading { context: self.title(), since, action: action.into() }
    }

    /// Checks if the context accepts loads and calls. An unloading context accepts neither.
    pub(super) fn is_open(&self) -> bool {
        lock(&self.life).unload.is_none()
    }

    pub(super) fn state(&self) -> ContextState {
        let life = lock(&self.life);
        let Some((_, ticket)) = &life.unload else { return ContextState::Alive };
        // A missing generation is dead, because a dead generation is removed from the list before the state of its ticket changes.
        let last = life.generations.iter().find(|generation| generation.ticket() == Some(ticket));
        last.map_or(ContextState::Dead, |generation| generation.state())
    }

    /// Returns the generations that are not dead, oldest first.
    pub(super) fn generations(&self) -> Vec<Arc<FreeGeneration>> {
        lock(&self.life).generations.clone()
    }

    /// Returns the [`Work`] of a replacement. Only one replacement of a context can be in progress.
    pub(super) fn replacement_work(&self) -> Work {
        Work::new(self.scope, self.title(), LoadRequest::Replacement)
    }

    /// Creates an empty generation that will replace `current`.
    pub(super) fn next_to(&self, current: &FreeGeneration) -> Arc<FreeGeneration> {
        let id = ContextId { index: self.index, generation: current.id.generation + 1 };
        FreeGeneration::new(id, self.kind, &self.name, &self.resolvers, self.stack_reserve)
    }

    /// Makes `next` the current generation, and returns the previous generation. Returns `None` if the context is unloading. Even then,
    /// adds `next` to the list of generations. `next` remains in the list until its images are unmapped.
    pub(super) fn set_current(&self, next: &Arc<FreeGeneration>) -> Option<Arc<FreeGeneration>> {
        let mut life = lock(&self.life);
        life.generations.push(Arc::clone(next));
        life.unload.is_none().then(|| self.current.swap(Some(Arc::clone(next)))).flatten()
    }

    /// Removes the current generation. Stores and returns the unload ticket that `begin` creates for this generation. If the unload has
    /// already begun, returns the existing ticket as an error.
    pub(super) fn take_current(
        &self,
        begin: impl FnOnce(&Arc<FreeGeneration>) -> (UnloadTicket, bool),
    ) -> Result<(Arc<FreeGeneration>, (UnloadTicket, bool)), UnloadTicket> {
        let mut life = lock(&self.life);
        if let Some((_, ticket)) = &life.unload {
            return Err(ticket.clone());
        }
        // Only this function removes the current generation, and holds the lock of `life` during the removal.
        let generation = self.current.swap(None).expect("a context that does not unload has a current generation");
        let begun = begin(&generation);
        life.unload = Some((Instant::now(), begun.0.clone()));
        Ok((generation, begun))
    }

    /// Removes a generation whose images are unmapped. Returns true if the context is unloading and no generation remains.
    pub(super) fn forget(&self, generation: &Arc<FreeGeneration>) -> bool {
        let mut life = lock(&self.life);
        life.generations.retain(|known| !Arc::ptr_eq(known, generation));
        life.unload.is_some() && life.generations.is_empty()
    }

    /// Checks that the context can be replaced and unloaded. Returns [`ContextError::NotCollectible`] for the Default and for pinned
    /// contexts.
    pub(super) fn expect_collectible(&self) -> Result<(), ContextError> {
        match self.kind {
            ContextKind::Slim => Ok(()),
            ContextKind::Default | ContextKind::Master | ContextKind::Pinned => {
                Err(ContextError::NotCollectible { context: self.title() })
            }
        }
    }
}
