//! One generation of a context that belongs to no thread: its modules, the gate for calls, and the leases that keep it.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use semver::VersionReq;

use crate::entry_gate::EntryGate;
use crate::lease::{Blocker, Leases};
use crate::load::context::free_module::{FreeExport, FreeModule};
use crate::load::context::info::ContextInfo;
use crate::load::context::native_libs::Natives;
use crate::load::context::resolvers::Resolvers;
use crate::load::context::under_way;
use crate::load::context::waits::Work;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::context::{ContextError, Wanted};
use crate::load::module::Need;
use crate::load::module::info::ModuleInfo;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// One generation. Any thread.
pub(super) struct FreeGeneration {
    /// Which.
    pub id: ContextId,
    /// What sort of context it is of.
    pub kind: ContextKind,
    /// The context's name.
    pub name: Arc<str>,
    /// Its resolvers.
    pub resolvers: Arc<Resolvers>,
    /// Everything that keeps it, but calls that found a place.
    pub leases: Arc<Leases>,
    /// The gate of its calls.
    pub gate: Arc<EntryGate>,
    /// Native libraries it looked up.
    pub natives: Natives,
    /// Distinguishes its loads from those of others.
    place: u64,
    table: Mutex<Table>,
    ticket: OnceLock<UnloadTicket>,
    /// Whether the telling that it unloads has begun: that is done once.
    pub is_told: AtomicBool,
    /// Whether every listener was called for its unload, so that its images may go.
    pub announced: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// Dependencies first; modules are added and never taken out, so that a place in here is a name.
    modules: Vec<Arc<FreeModule>>,
    /// What a resolver found in another context, and what keeps it there.
    foreign: Vec<Foreign>,
    /// Ranges that a resolver has answered, by module, though the version is another.
    granted: HashMap<String, Vec<VersionReq>>,
    /// Whether its modules were taken to be ended. One that came in afterwards would never end, and neither would what it
    /// depends on.
    is_closed: bool,
}

struct Foreign {
    module: Arc<FreeModule>,
    home: ContextId,
    _need: Need,
}

impl FreeGeneration {
    /// An empty generation.
    pub(super) fn new(id: ContextId, kind: ContextKind, name: &Arc<str>, resolvers: &Arc<Resolvers>) -> Arc<Self> {
        let leases = Leases::new(title(kind, name));
        Arc::new(Self {
            id,
            kind,
            name: Arc::clone(name),
            resolvers: Arc::clone(resolvers),
            gate: Arc::new(EntryGate::new(Arc::clone(&leases))),
            leases,
            natives: Natives::default(),
            place: under_way::next_place(),
            table: Mutex::default(),
            ticket: OnceLock::new(),
            is_told: AtomicBool::new(false),
            announced: AtomicBool::new(false),
        })
    }

    /// How errors and reports name it.
    pub(super) fn title(&self) -> String {
        title(self.kind, &self.name)
    }

    /// The same with its generation, where several may be meant.
    pub(super) fn full_title(&self) -> String {
        format!("{} generation {}", self.title(), self.id.generation)
    }

    /// Looking for a module of that name, or loading it, here.
    pub(super) fn module_work(&self, name: &str) -> Work {
        Work::new(self.place, self.title(), Wanted::Module(name.to_owned()))
    }

    /// Looking for a native library of that name, for a module where one is named.
    pub(super) fn native_work(&self, name: &str, for_module: Option<&str>) -> Work {
        let wanted = Wanted::Native { name: name.to_owned(), for_module: for_module.map(str::to_owned) };
        Work::new(self.place, self.title(), wanted)
    }

    /// How far its life has come.
    pub(super) fn state(&self) -> ContextState {
        self.ticket.get().map_or(ContextState::Alive, UnloadTicket::state)
    }

    /// A copy of its public data.
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
        let foreign = || {
            let found = table.foreign.iter().find(|foreign| foreign.module.name() == name);
            found.map(|foreign| (Arc::clone(&foreign.module), foreign.home))
        };
        own.map(|module| (Arc::clone(module), self.id)).or_else(foreign)
    }

    /// All that it has: its own modules, and those of other contexts that it depends on. With where each is.
    pub(super) fn held(&self) -> Vec<(Arc<FreeModule>, ContextId)> {
        let table = self.table();
        let own = table.modules.iter().map(|module| (Arc::clone(module), self.id));
        own.chain(table.foreign.iter().map(|foreign| (Arc::clone(&foreign.module), foreign.home))).collect()
    }

    /// The ranges of that module which a resolver has answered though the version is another.
    pub(super) fn granted(&self, name: &str) -> Vec<VersionReq> {
        self.table().granted.get(name).cloned().unwrap_or_default()
    }

    /// A resolver has answered this range.
    pub(super) fn grant(&self, name: &str, range: &VersionReq) {
        let mut table = self.table();
        let granted = table.granted.entry(name.to_owned()).or_default();
        if !granted.contains(range) {
            granted.push(range.clone());
        }
    }

    /// Modules that are complete belong to it from now on.
    ///
    /// # Errors
    /// When it was given up while they were loaded: the caller has to end them.
    pub(super) fn add(&self, modules: &[Arc<FreeModule>]) -> Result<(), ContextError> {
        let mut table = self.table();
        if table.is_closed {
            let names: Vec<_> = modules.iter().map(|module| module.name()).collect();
            return Err(self.given_up(format!("loading {}", names.join(", "))));
        }
        table.modules.extend(modules.iter().cloned());
        Ok(())
    }

    /// Its modules, dependencies first, for the caller to end. None is added afterwards.
    pub(super) fn close(&self) -> Vec<Arc<FreeModule>> {
        let mut table = self.table();
        table.is_closed = true;
        table.modules.clone()
    }

    /// Whether what is loaded can still belong to it.
    ///
    /// # Errors
    /// When it was given up.
    pub(super) fn expect_open(&self, action: &str) -> Result<(), ContextError> {
        let is_closed = self.table().is_closed;
        if is_closed { Err(self.given_up(action.to_owned())) } else { Ok(()) }
    }

    /// Checks that its unload has not begun.
    ///
    /// # Errors
    /// When it is sealed.
    pub(super) fn expect_unsealed(&self, action: impl FnOnce() -> String) -> Result<(), ContextError> {
        self.ticket.get().map_or(Ok(()), |_| Err(self.given_up(action())))
    }

    /// A resolver has found a module in another context; it stays there until this generation is on its way out and
    /// no call is inside. From then on only the modules count that depend on it.
    ///
    /// # Errors
    /// When that context is unloading, or this generation was given up meanwhile.
    pub(super) fn borrow(&self, module: &Arc<FreeModule>, home: ContextId) -> Result<(), ContextError> {
        let name = module.name();
        let need = module.lend(&format!("{}, which was given {name}", self.full_title()));
        let action = || format!("lending {name} to {}", self.title());
        let need = need.map_err(|sealed| ContextError::sealed(sealed, action()))?;
        let foreign = Foreign { module: Arc::clone(module), home, _need: need };
        let mut table = self.table();
        if table.is_closed {
            return Err(self.given_up(format!("borrowing {name}")));
        }
        table.foreign.push(foreign);
        Ok(())
    }

    /// What it has of other contexts may go.
    pub(super) fn return_borrowed(&self) {
        let foreign = std::mem::take(&mut self.table().foreign);
        drop(foreign);
    }

    /// The place of a function of one of its modules.
    pub(super) fn place(&self, module: &Arc<FreeModule>, export: usize) -> Option<u64> {
        let at = self.table().modules.iter().position(|known| Arc::ptr_eq(known, module))?;
        Some(join(at, export))
    }

    /// The place of a function of a module that it was lent.
    pub(super) fn lent_place(&self, module: &Arc<FreeModule>, export: usize) -> Option<u64> {
        let at = self.table().foreign.iter().position(|known| Arc::ptr_eq(&known.module, module))?;
        Some(LENT | join(at, export))
    }

    /// The function at a place that [`FreeGeneration::place`] or [`FreeGeneration::lent_place`] gave.
    pub(super) fn function(&self, place: u64) -> Option<FreeExport> {
        let (at, export) = split(place & !LENT);
        let table = self.table();
        let module = match place & LENT {
            0 => table.modules.get(at)?,
            _ => &table.foreign.get(at)?.module,
        };
        module.exports().get(export).cloned()
    }

    /// Every call inside and every holder of a lease, longest first.
    pub(super) fn held_by(&self) -> Vec<Blocker> {
        let name = |place| self.function(place).map_or_else(|| "a call".into(), |export| export.full);
        let mut blockers = self.gate.inside(name);
        blockers.extend(self.leases.report());
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }

    /// The same, and the modules of other generations, and the contexts, that depend on modules of it.
    pub(super) fn kept_by(&self) -> Vec<Blocker> {
        let mut blockers = self.held_by();
        let (modules, home) = (self.modules(), self.full_title());
        for module in &modules {
            let is_own =
                |by: &Blocker| modules.iter().any(|other| dependent(other.info(), &home, module.name()) == by.owner);
            blockers.extend(module.users().report().into_iter().filter(|by| !is_own(by)));
        }
        blockers
    }

    /// Its unload, once that has begun.
    pub(super) fn ticket(&self) -> Option<&UnloadTicket> {
        self.ticket.get()
    }

    /// From now on it takes nothing new. True for the one call that began this, which must announce it.
    pub(super) fn seal(&self, ticket: impl FnOnce() -> UnloadTicket) -> (UnloadTicket, bool) {
        let mut is_first = false;
        let ticket = self.ticket.get_or_init(|| {
            is_first = true;
            self.gate.shut();
            self.leases.seal();
            ticket()
        });
        (ticket.clone(), is_first)
    }

    fn given_up(&self, action: String) -> ContextError {
        let since = self.ticket.get().map_or(Duration::ZERO, UnloadTicket::age);
        ContextError::ContextUnloading { context: self.title(), since, action }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How reports name a module of the generation `home` that needs another one.
pub(super) fn dependent(info: &ModuleInfo, home: &str, needs: &str) -> String {
    let ModuleInfo { name, version, build_id, .. } = info;
    format!("{name} {version} (build {build_id:032x}) of {home}, which needs {needs}")
}

/// Marks the place of a function of a lent module.
const LENT: u64 = 1 << 63;

/// A function's place: its module's in the context, and its own in the module.
fn join(module: usize, export: usize) -> u64 {
    (module as u64) << 32 | export as u64
}

fn split(place: u64) -> (usize, usize) {
    ((place >> 32) as usize, (place & 0xffff_ffff) as usize)
}
