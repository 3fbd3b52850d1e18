//! Generation of a Slim, a pinned context or the Default. Contains the modules, the gate for calls, and the leases.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use semver::VersionReq;

use crate::boundary::CallError;
use crate::bridge::exports::ModuleExport;
use crate::entry_gate::{Calling, EntryGate, Inside, NoRoom};
use crate::lease::{Blocker, Lease, LeaseKind, Leases};
use crate::load::context::event::{ContextEvent, ContextEventKind, Listeners, notify};
use crate::load::context::free_module::FreeModule;
use crate::load::context::in_progress;
use crate::load::context::info::ContextInfo;
use crate::load::context::native_libs::Natives;
use crate::load::context::resolvers::{ModuleRequest, Resolvers};
use crate::load::context::waits::Work;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::context::{ContextError, LoadRequest};
use crate::load::module::Need;
use crate::load::module::info::ModuleInfo;
use crate::sync::lock;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

pub(super) struct FreeGeneration {
    pub id: ContextId,
    pub kind: ContextKind,
    pub name: Arc<str>,
    pub resolvers: Arc<Resolvers>,
    /// Leases that keep the generation loaded. Active calls are recorded in the gate instead.
    pub leases: Arc<Leases>,
    pub gate: Arc<EntryGate>,
    /// Native libraries that were found for the generation.
    pub natives: Natives,
    /// Unique number of this generation. Identifies the loads into the generation in [`Work`].
    scope: u64,
    table: Mutex<Table>,
    ticket: OnceLock<UnloadTicket>,
    /// Set before the unloading listeners are called. Prevents a second call to the listeners.
    pub is_notified: AtomicBool,
    /// Set after all unloading listeners were called. The images stay mapped until the flag is set.
    pub announced: AtomicBool,
    /// Set before the `Parked` event is raised. The state of the ticket changes only after the event.
    pub is_parked: AtomicBool,
}

#[derive(Default)]
struct Table {
    /// Modules, dependencies first. Modules are never removed, so the index of a module is permanent.
    modules: Vec<Arc<FreeModule>>,
    /// Borrowed modules. A borrowed module belongs to a different context and was returned by a resolver. Each entry holds a lease on its
    /// module.
    foreign: Vec<Foreign>,
    /// Version ranges, by module name, for which a resolver has returned a version outside of the range.
    granted: HashMap<String, Vec<VersionReq>>,
    /// Set when the unload takes over the modules. Later additions are rejected, because nothing would unload the added module.
    is_closed: bool,
}

impl Table {
    fn held(&self) -> impl Iterator<Item = &Arc<FreeModule>> {
        self.modules.iter().chain(self.foreign.iter().map(|foreign| &foreign.module))
    }
}

struct Foreign {
    module: Arc<FreeModule>,
    _need: Need,
}

/// Function of a module, with the gate and the leases of the owning generation. Does not keep the owning generation alive.
pub(super) struct Target {
    pub gate: Arc<EntryGate>,
    pub leases: Arc<Leases>,
    pub owner: ContextId,
    /// Gate number of the generation that looked up the function.
    pub resolved_in: u64,
    /// Slot of the function in the owning generation. Unset while the load of the module runs: a failed load unloads the module, although
    /// the gate is open.
    slot: OnceLock<u64>,
    /// Slot of the function in the generation that looked up the function. `None` if that generation has not borrowed the module.
    pub borrowed_slot: Option<u64>,
    pub export: ModuleExport,
}

impl Target {
    /// Enters the gate of the generation that owns the function. Returns `None` if the gate is closed or the load of the module still runs,
    /// and [`CallError::TooDeep`] if the stack of the thread is nearly exhausted.
    pub(super) fn enter(&self, from: Option<&'static Location<'static>>) -> Result<Option<Inside<'_>>, CallError> {
        self.slot.get().map_or(Ok(None), |slot| self.enter_gate(&self.gate, *slot, from))
    }

    /// Returns `true` if the owning generation has the module. Otherwise the load of the module still runs.
    pub(super) fn is_complete(&self) -> bool {
        self.slot.get().is_some()
    }

    /// Enters the gate of `searching`, the generation that looked up the function. While a call is inside the gate, the generation keeps
    /// its borrowed modules. Returns `None` if the module is not borrowed or the gate is closed. Returns the errors of [`Target::enter`].
    pub(super) fn enter_borrowed<'a>(
        &self,
        searching: &'a FreeGeneration,
        from: Option<&'static Location<'static>>,
    ) -> Result<Option<Inside<'a>>, CallError> {
        self.borrowed_slot.map_or(Ok(None), |slot| self.enter_gate(&searching.gate, slot, from))
    }

    fn enter_gate<'a>(
        &self,
        gate: &'a EntryGate,
        slot: u64,
        from: Option<&'static Location<'static>>,
    ) -> Result<Option<Inside<'a>>, CallError> {
        let inside = gate.enter(Calling { function: slot, from }, || Arc::clone(&self.export.full));
        inside.map_err(|no_room| self.too_deep(&no_room))
    }

    /// Begins a call under `lease`, even if the gate is closed. Returns [`CallError::TooDeep`] if the stack of the thread is nearly
    /// exhausted.
    pub(super) fn enter_by(&self, lease: Lease) -> Result<Inside<'_>, CallError> {
        self.gate.enter_by(lease).map_err(|no_room| self.too_deep(&no_room))
    }

    #[cold]
    fn too_deep(&self, no_room: &NoRoom) -> CallError {
        let limit = u32::try_from(no_room.depth).unwrap_or(u32::MAX);
        CallError::TooDeep { what: self.export.full.to_string(), limit }
    }
}

impl FreeGeneration {
    /// Creates an empty generation. Each call into the generation leaves `stack_reserve` bytes free on the stack of the calling thread.
    pub(super) fn new(
        id: ContextId,
        kind: ContextKind,
        name: &Arc<str>,
        resolvers: &Arc<Resolvers>,
        stack_reserve: usize,
    ) -> Arc<Self> {
        let leases = Leases::new(title(kind, name));
        Arc::new(Self {
            id,
            kind,
            name: Arc::clone(name),
            resolvers: Arc::clone(resolvers),
            gate: Arc::new(EntryGate::new(Arc::clone(&leases), stack_reserve)),
            leases,
            natives: Natives::default(),
            scope: in_progress::next_scope(),
            table: Mutex::default(),
            ticket: OnceLock::new(),
            is_notified: AtomicBool::new(false),
            announced: AtomicBool::new(false),
            is_parked: AtomicBool::new(false),
        })
    }

    pub(super) fn title(&self) -> String {
        title(self.kind, &self.name)
    }

    /// Returns the title of the context with the number of the generation, for reports about several generations.
    pub(super) fn full_title(&self) -> String {
        format!("{} generation {}", self.title(), self.id.generation)
    }

    /// Returns the [`Work`] of resolving or loading the module `name` in this generation.
    pub(super) fn module_work(&self, name: &str) -> Work {
        Work::new(self.scope, self.title(), LoadRequest::Module(name.to_owned()))
    }

    /// Returns the [`Work`] of resolving the native library `name`, optionally for one module.
    pub(super) fn native_work(&self, name: &str, for_module: Option<&str>) -> Work {
        let request = LoadRequest::Native { name: name.to_owned(), for_module: for_module.map(str::to_owned) };
        Work::new(self.scope, self.title(), request)
    }

    /// Creates a request from this context for a module.
    pub(super) fn request(&self, name: &str, range: &VersionReq, needed_by: Option<&str>) -> ModuleRequest {
        ModuleRequest {
            name: name.to_owned(),
            range: range.clone(),
            needed_by: needed_by.map(str::to_owned),
            context: self.title(),
            owner: self.resolvers.owner.clone(),
        }
    }

    /// Takes a lease on the generation for an operation, so that an unload waits until the operation has completed.
    pub(super) fn busy(&self, action: &str) -> Result<Lease, ContextError> {
        let lease = self.leases.take_inside(LeaseKind::Call, action);
        lease.map_err(|sealed| ContextError::sealed(sealed, action))
    }

    pub(super) fn state(&self) -> ContextState {
        match self.is_parked.load(Ordering::Acquire) {
            true => ContextState::Parked,
            false => self.ticket.get().map_or(ContextState::Alive, UnloadTicket::state),
        }
    }

    /// Returns a snapshot of the generation.
    pub(super) fn info(&self) -> ContextInfo {
        let modules = self.modules().iter().map(|module| module.summary()).collect();
        ContextInfo { id: self.id, kind: self.kind, name: self.name.to_string(), state: self.state(), modules }
    }

    /// Returns the modules, dependencies first.
    pub(super) fn modules(&self) -> Vec<Arc<FreeModule>> {
        lock(&self.table).modules.clone()
    }

    /// Finds a module by name among the generation's own modules and the borrowed modules.
    pub(super) fn find(&self, name: &str) -> Option<Arc<FreeModule>> {
        lock(&self.table).held().find(|module| module.name() == name).cloned()
    }

    /// Returns the generation's own modules, followed by the borrowed modules.
    pub(super) fn held(&self) -> Vec<Arc<FreeModule>> {
        lock(&self.table).held().cloned().collect()
    }

    /// Returns the version ranges of a module that `grant` has recorded.
    pub(super) fn granted(&self, name: &str) -> Vec<VersionReq> {
        lock(&self.table).granted.get(name).cloned().unwrap_or_default()
    }

    /// Records that a resolver has returned a version of `name` outside of `range`.
    pub(super) fn grant(&self, name: &str, range: &VersionReq) {
        let mut table = lock(&self.table);
        let granted = table.granted.entry(name.to_owned()).or_default();
        if !granted.contains(range) {
            granted.push(range.clone());
        }
    }

    /// Adds modules that are completely loaded. Returns an error if the generation was closed during the load. After an error, the caller
    /// must unload the modules.
    pub(super) fn add(&self, modules: &[Arc<FreeModule>]) -> Result<(), ContextError> {
        let names = || modules.iter().map(|module| module.name()).collect::<Vec<_>>().join(", ");
        self.open_table(|| format!("loading {}", names()))?.modules.extend(modules.iter().cloned());
        Ok(())
    }

    /// Closes the generation, so that no module can be added afterwards. Returns the modules, dependencies first. The caller must unload
    /// the returned modules.
    pub(super) fn close(&self) -> Vec<Arc<FreeModule>> {
        let mut table = lock(&self.table);
        table.is_closed = true;
        table.modules.clone()
    }

    /// Returns an error if the generation was closed and no longer accepts modules.
    pub(super) fn expect_open(&self, action: &str) -> Result<(), ContextError> {
        self.open_table(|| action.to_owned()).map(drop)
    }

    /// Returns the table of a generation that is not closed. `action` describes the refused action in the error.
    fn open_table(&self, action: impl FnOnce() -> String) -> Result<MutexGuard<'_, Table>, ContextError> {
        let table = lock(&self.table);
        if table.is_closed { Err(self.unloading_error(action())) } else { Ok(table) }
    }

    /// Returns an error if the unload of the generation has begun.
    pub(super) fn expect_unsealed(&self, action: impl FnOnce() -> String) -> Result<(), ContextError> {
        self.ticket.get().map_or(Ok(()), |_| Err(self.unloading_error(action())))
    }

    /// Borrows a module of a different context that a resolver has returned. The unload of this generation releases the borrowed module
    /// after the last active call. From then on, only dependent modules keep the module loaded. If this generation is parked during a call
    /// or a lease, the module stays loaded permanently. Returns an error if the context of the module is unloading, or if this generation
    /// was closed.
    pub(super) fn borrow(&self, module: &Arc<FreeModule>) -> Result<(), ContextError> {
        let name = module.name();
        let need = module.add_dependent(&format!("{}, which was given {name}", self.full_title()));
        let action = || format!("lending {name} to {}", self.title());
        let need = need.map_err(|sealed| ContextError::sealed(sealed, action()))?;
        let foreign = Foreign { module: Arc::clone(module), _need: need };
        self.open_table(|| format!("borrowing {name}"))?.foreign.push(foreign);
        Ok(())
    }

    pub(super) fn return_borrowed(&self) {
        let foreign = std::mem::take(&mut lock(&self.table).foreign);
        drop(foreign);
    }

    /// Keeps the borrowed modules loaded and the native libraries open permanently, because active calls and pointers of a parked
    /// generation may use their code.
    pub(super) fn leak_borrowed(&self) {
        self.natives.leak();
        let foreign = std::mem::take(&mut lock(&self.table).foreign);
        if !foreign.is_empty() {
            let title = self.full_title();
            log!(WARN, "{title} is parked while it is in use: the modules that it has borrowed stay loaded");
        }
        std::mem::forget(foreign);
    }

    /// Returns the target of calls from this generation to a function in a module of `owner`. If the load of the module still runs, the
    /// target is not complete. Returns `None` if the module does not have the function.
    pub(super) fn target(&self, owner: &Self, module: &Arc<FreeModule>, export: usize) -> Option<Target> {
        let borrowed_slot = lock(&self.table).foreign.iter().position(|known| Arc::ptr_eq(&known.module, module));
        let target = Target {
            gate: Arc::clone(&owner.gate),
            leases: Arc::clone(&owner.leases),
            owner: owner.id,
            resolved_in: self.gate.number(),
            slot: OnceLock::new(),
            borrowed_slot: borrowed_slot.map(|at| BORROWED | join(at, export)),
            export: module.exports.get(export)?.clone(),
        };
        owner.complete(&target, &module.users);
        Some(target)
    }

    /// Completes the target of a function in a module of this generation, if the load of the module has ended. `users` are the leases of
    /// the module's users.
    pub(super) fn complete(&self, target: &Target, users: &Arc<Leases>) {
        let table = lock(&self.table);
        let Some(at) = table.modules.iter().position(|module| Arc::ptr_eq(&module.users, users)) else { return };
        let is_its = |export: &ModuleExport| Arc::ptr_eq(&export.full, &target.export.full);
        if let Some(export) = table.modules[at].exports.iter().position(is_its) {
            let _first = target.slot.set(join(at, export));
        }
    }

    fn function(&self, slot: u64) -> Option<ModuleExport> {
        let (at, export) = split(slot & !BORROWED);
        let table = lock(&self.table);
        let module = match slot & BORROWED {
            0 => table.modules.get(at)?,
            _ => &table.foreign.get(at)?.module,
        };
        module.exports.get(export).cloned()
    }

    /// Returns all active calls and all lease holders. The oldest call or lease is listed first.
    pub(super) fn held_by(&self) -> Vec<Blocker> {
        let name = |slot| self.function(slot).map_or_else(|| "a call".into(), |export| export.full);
        let mut blockers = self.gate.inside(name);
        blockers.extend(self.leases.report());
        blockers.sort_by_key(|blocker| std::cmp::Reverse(blocker.age));
        blockers
    }

    /// Returns the blockers of `held_by`, and all modules and contexts that depend on this generation's modules. Omits dependents in this
    /// generation.
    pub(super) fn kept_by(&self) -> Vec<Blocker> {
        let mut blockers = self.held_by();
        let (modules, owner) = (self.modules(), self.full_title());
        for module in &modules {
            let is_own =
                |by: &Blocker| modules.iter().any(|other| dependent(other.info(), &owner, module.name()) == by.owner);
            blockers.extend(module.users.report().into_iter().filter(|by| !is_own(by)));
        }
        blockers
    }

    /// Returns the ticket of the unload. Returns `None` if the unload has not begun.
    pub(super) fn ticket(&self) -> Option<&UnloadTicket> {
        self.ticket.get()
    }

    /// Seals the generation and returns the ticket of its unload. The returned flag is true for the first call. The first caller must
    /// announce the unload.
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

    fn unloading_error(&self, action: String) -> ContextError {
        let since = self.ticket.get().map_or(Duration::ZERO, UnloadTicket::age);
        ContextError::ContextUnloading { context: self.title(), since, action }
    }

    /// Calls listeners for an event of the generation. Logs each failure. If the unload has begun, also records the failure in the ticket.
    pub(super) fn notify(&self, listeners: &Listeners, event: ContextEventKind) {
        let (name, owner) = (self.name.to_string(), self.resolvers.owner.clone());
        for problem in notify(listeners, &ContextEvent { id: self.id, kind: self.kind, name, event, owner }) {
            self.ticket().into_iter().for_each(|ticket| ticket.note(problem.clone()));
        }
    }
}

/// Formats a dependent module for reports. `owner` is the generation of the dependent module, and `needs` is the name of the dependency.
pub(super) fn dependent(info: &ModuleInfo, owner: &str, needs: &str) -> String {
    format!("{} of {owner}, which needs {needs}", info.title())
}

/// Bit that marks the slot of a function in a borrowed module.
const BORROWED: u64 = 1 << 63;

/// Combines the index of a module in its generation and the index of a function in the module into one slot.
fn join(module: usize, export: usize) -> u64 {
    (module as u64) << 32 | export as u64
}

fn split(slot: u64) -> (usize, usize) {
    ((slot >> 32) as usize, (slot & 0xffff_ffff) as usize)
}
