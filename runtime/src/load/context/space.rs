//! One generation of a context that belongs to no thread: its modules, the door for calls, and the leases that keep it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use semver::VersionReq;

use crate::lease::{Blocker, Lease, LeaseKind, Leases};
use crate::load::context::calls::CallDoor;
use crate::load::context::error::ContextError;
use crate::load::context::free_module::{FreeExport, FreeModule};
use crate::load::context::guides::Guides;
use crate::load::context::id::{ContextId, ContextInfo, ContextKind, title};
use crate::load::context::native_libs::Natives;
use crate::load::context::turn::Turn;
use crate::load::state::ContextState;
use crate::load::ticket::UnloadTicket;

/// One generation. Any thread.
pub(super) struct Space {
    /// Which.
    pub id: ContextId,
    /// What sort of context it is of.
    pub kind: ContextKind,
    /// The context's name.
    pub name: Arc<str>,
    /// Whom it asks.
    pub guides: Arc<Guides>,
    /// Everything that keeps it, but calls that found a place.
    pub leases: Arc<Leases>,
    /// Who calls it.
    pub door: CallDoor,
    /// Native libraries it looked up.
    pub natives: Natives,
    /// One load at a time.
    pub turn: Turn,
    table: Mutex<Table>,
    ticket: OnceLock<UnloadTicket>,
    /// Whether everybody has heard that it unloads, so that its images may go.
    announced: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// Dependencies first; modules are added and never taken out, so that a place in here is a name.
    modules: Vec<Arc<FreeModule>>,
    /// What a resolver found in another context, and the lease that keeps it there.
    foreign: HashMap<String, Foreign>,
    /// Ranges that a resolver has answered, by module, though the version is another.
    granted: HashMap<String, Vec<VersionReq>>,
}

struct Foreign {
    module: Arc<FreeModule>,
    home: ContextId,
    _lease: Lease,
}

impl Space {
    /// An empty generation.
    pub(super) fn new(id: ContextId, kind: ContextKind, name: &Arc<str>, guides: &Arc<Guides>) -> Arc<Self> {
        let leases = Leases::new(title(kind, name));
        Arc::new(Self {
            id,
            kind,
            name: Arc::clone(name),
            guides: Arc::clone(guides),
            door: CallDoor::new(Arc::clone(&leases)),
            leases,
            natives: Natives::default(),
            turn: Turn::default(),
            table: Mutex::default(),
            ticket: OnceLock::new(),
            announced: AtomicBool::new(false),
        })
    }

    /// How errors and reports name it.
    pub(super) fn title(&self) -> String {
        title(self.kind, &self.name)
    }

    /// How far its life has come.
    pub(super) fn state(&self) -> ContextState {
        self.ticket.get().map_or(ContextState::Alive, UnloadTicket::state)
    }

    /// A copy for whoever asks.
    pub(super) fn info(&self) -> ContextInfo {
        let modules = self.modules().iter().map(|module| module.summary()).collect();
        ContextInfo { id: self.id, kind: self.kind, name: self.name.to_string(), state: self.state(), modules }
    }

    /// Its modules, dependencies first.
    pub(super) fn modules(&self) -> Vec<Arc<FreeModule>> {
        self.table().modules.clone()
    }

    /// The module of that name, its own or one of another context that it depends on, and where that is.
    pub(super) fn find(&self, name: &str) -> Option<(Arc<FreeModule>, ContextId)> {
        let table = self.table();
        let own = table.modules.iter().find(|module| module.name() == name);
        let foreign = || table.foreign.get(name).map(|foreign| (Arc::clone(&foreign.module), foreign.home));
        own.map(|module| (Arc::clone(module), self.id)).or_else(foreign)
    }

    /// The ranges of that module which a resolver has answered though the version is another.
    pub(super) fn granted(&self, name: &str) -> Vec<VersionReq> {
        self.table().granted.get(name).cloned().unwrap_or_default()
    }

    /// A resolver has answered this range.
    pub(super) fn grant(&self, name: &str, range: &VersionReq) {
        self.table().granted.entry(name.to_owned()).or_default().push(range.clone());
    }

    /// Modules that are complete belong to it from now on.
    pub(super) fn add(&self, modules: &[Arc<FreeModule>]) {
        self.table().modules.extend(modules.iter().cloned());
    }

    /// A resolver has found a module in another context; it stays there while this generation lives.
    ///
    /// # Errors
    /// When that context is unloading.
    pub(super) fn borrow(&self, module: &Arc<FreeModule>, home: ContextId) -> Result<(), ContextError> {
        let lease = module.leases().take(LeaseKind::Dependent, self.title());
        let action = || format!("lending {} to {}", module.name(), self.title());
        let lease = lease.map_err(|sealed| ContextError::sealed(sealed, action()))?;
        let foreign = Foreign { module: Arc::clone(module), home, _lease: lease };
        self.table().foreign.insert(module.name().to_owned(), foreign);
        Ok(())
    }

    /// What it has of other contexts may go.
    pub(super) fn return_borrowed(&self) {
        let foreign = std::mem::take(&mut self.table().foreign);
        drop(foreign);
    }

    /// The function at a place that [`Space::look_up`] gave.
    pub(super) fn function(&self, place: u64) -> Option<FreeExport> {
        let (module, export) = split(place);
        self.table().modules.get(module)?.exports().get(export).cloned()
    }

    /// Everybody who is inside or holds a lease, longest first.
    pub(super) fn held_by(&self) -> Vec<Blocker> {
        let name = |place| self.function(place).map_or_else(|| "a call".into(), |export| export.full);
        let mut blockers = self.door.inside(name);
        blockers.extend(self.leases.report());
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }

    /// Finds a function by type and method. The type may be given as its path, as `Package.Type`, as its bare name, or
    /// behind the name of its module: `reports:Report`.
    ///
    /// # Errors
    /// When nobody or more than one module offers it.
    pub(super) fn look_up(&self, type_path: &str, method: &str) -> Result<(u64, FreeExport), ContextError> {
        let (wanted_module, wanted_type) = match type_path.split_once(':') {
            Some((module, ty)) => (Some(module), ty),
            None => (None, type_path),
        };
        let table = self.table();
        let mut found = Vec::new();
        let mut offered = Vec::new();
        for (at, module) in table.modules.iter().enumerate() {
            for (number, export) in module.exports().iter().enumerate() {
                let is_meant = *export.name == *method
                    && crate::bridge::nm::is_type(&export.type_path, wanted_type)
                    && wanted_module.is_none_or(|name| module.name() == name);
                if is_meant {
                    found.push((join(at, number), export.clone()));
                }
                offered.push(Arc::clone(&export.full));
            }
        }
        let no_such = |offered: String| ContextError::NoSuchFunction {
            context: self.title(),
            function: format!("{type_path}:{method}"),
            offered,
        };
        match found.len() {
            1 => Ok(found.remove(0)),
            0 if offered.is_empty() => Err(no_such("it has no module that offers any".into())),
            0 => Err(no_such(format!("it offers {}", offered.join(", ")))),
            _ => {
                let full: Vec<_> = found.iter().map(|(_, export)| &*export.full).collect();
                Err(no_such(format!("say which of {} is meant, as `module:Type`", full.join(", "))))
            }
        }
    }

    /// Its unload, once that has begun.
    pub(super) fn ticket(&self) -> Option<&UnloadTicket> {
        self.ticket.get()
    }

    /// From now on it takes nothing new. True for the one call that began it, which owes the announcement.
    pub(super) fn seal(&self, ticket: impl FnOnce() -> UnloadTicket) -> (UnloadTicket, bool) {
        let mut is_first = false;
        let ticket = self.ticket.get_or_init(|| {
            is_first = true;
            self.door.shut();
            self.leases.seal();
            ticket()
        });
        (ticket.clone(), is_first)
    }

    /// Everybody has heard that it unloads.
    pub(super) fn set_announced(&self) {
        self.announced.store(true, Ordering::Release);
    }

    /// Whether everybody has heard that it unloads.
    pub(super) fn is_announced(&self) -> bool {
        self.announced.load(Ordering::Acquire)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A function's place: its module's in the context, and its own in the module.
fn join(module: usize, export: usize) -> u64 {
    (module as u64) << 32 | export as u64
}

fn split(place: u64) -> (usize, usize) {
    ((place >> 32) as usize, (place & 0xffff_ffff) as usize)
}
