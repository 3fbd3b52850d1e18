//! Registry of one runtime's load contexts. Contains the Default, every Slim, and every pinned context. For the Master, contains the
//! modules and tickets that any thread may read. The runtime and all handles share the registry.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use alcedo_abi::names::{Excerpt, shows_itself};
use alcedo_sys::{Demands, StageDir};

use crate::bridge::core::Core;
use crate::callback::{HostId, let_go};
use crate::handles::{Generation, ModuleId};
use crate::host_api::SharedHostContext;
use crate::load::canary::Rehearsal;
use crate::load::context::event::{ContextEvent, ContextEventKind, Listeners};
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::FreeModule;
use crate::load::context::host_functions::HostFunctions;
use crate::load::context::info::{ContextInfo, ModuleSummary};
use crate::load::context::masters::Masters;
use crate::load::context::native_libs::RetainedNative;
use crate::load::context::owner::{Above, Owner};
use crate::load::context::waits::DEEPEST;
use crate::load::context_id::{ContextId, ContextKind};
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::module::Module;
use crate::load::module::info::ModuleInfo;
use crate::load::park_reason::ReportedWarnings;
use crate::load::permissions::{self, PermissionPolicy};
use crate::load::tables::HostTables;
use crate::logs::Logs;
use crate::panic_guard;
use crate::sync::lock;
use crate::unload::background::BackgroundUnloader;
use crate::unload::policy::UnloadPolicy;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

const RESERVED: [&str; 2] = ["Default", "Master"];

const LONGEST_NAME: usize = 255;

const NAME: &str = "a name is 1 to 255 bytes of printable letters, without `:` and `/`";

/// Checks the characters and the length of a context name. The name appears in calls, errors, logs and console output.
fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(|c| shows_itself(c) && c != ':' && c != '/')
}

/// Settings of a host for the loads of all contexts.
#[derive(Default)]
pub(crate) struct LoadSettings {
    /// Arguments for the mains of modules.
    pub args: Vec<String>,
    pub require_seal: bool,
    /// Policy for the use of undeclared resources.
    pub permissions: PermissionPolicy,
    /// Requirements for library files.
    pub demands: Demands,
    /// Settings of the canary. The canary process loads new modules before the host does.
    pub rehearsal: Rehearsal,
    /// Policy for blocked unloads.
    pub unloads: UnloadPolicy,
}

pub(crate) struct ContextRegistry {
    own: Weak<Self>,
    /// Host context for modules outside of the Master. Each module receives a copy with a separate table of calls by name.
    pub(super) host_context: Arc<SharedHostContext>,
    /// Receives log records of modules.
    pub(super) logs: Arc<Logs>,
    pub(crate) stage_dir: StageDir,
    pub(crate) settings: LoadSettings,
    pub(in crate::load) listeners: Listeners,
    /// Host functions that modules outside of the Master call.
    pub(crate) functions: HostFunctions,
    pub(crate) tables: HostTables,
    pub(super) unloader: Arc<BackgroundUnloader>,
    /// Number of bytes that each call into a context leaves free on the stack of the calling thread.
    stack_reserve: usize,
    last_module: AtomicU64,
    default: Arc<FreeContext>,
    slims: Mutex<Slims>,
    pub(crate) masters: Masters,
    retained: Mutex<Vec<RetainedNative>>,
    /// Descriptions of the parked images of all contexts, including the Master.
    parked: Mutex<Vec<String>>,
    /// Unloads of the modules of failed loads. See [`Self::failed_loads`].
    failed_loads: Mutex<Vec<(ContextId, UnloadTicket)>>,
    /// Logged warnings about images that stay mapped.
    reported_warnings: ReportedWarnings,
    /// Logged warnings about undeclared uses.
    reported_uses: ReportedWarnings,
    /// Set by the first call to `close`. A second call returns without waiting.
    pub(super) has_closed: AtomicBool,
}

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Guard of a load or of a nested unload on this thread. The guards count the nesting depth, because the main of a module or a listener may
/// begin further loads and unloads.
pub(super) struct Inside;

impl Inside {
    /// Returns a guard. Returns `None` if the nesting depth is at its maximum.
    pub(super) fn enter() -> Option<Self> {
        let depth = DEPTH.get();
        (depth < DEEPEST).then(|| {
            DEPTH.set(depth + 1);
            Self
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Slims and pinned contexts, with unique names.
#[derive(Default)]
struct Slims {
    last: u64,
    lines: BTreeMap<u64, Arc<FreeContext>>,
}

impl ContextRegistry {
    /// Creates a registry with an empty Default and without Slims.
    pub(crate) fn new(core: &Core, stage_dir: StageDir, settings: LoadSettings) -> Arc<Self> {
        let stack_reserve = core.red.hot().reserve();
        Arc::new_cyclic(|own: &Weak<Self>| Self {
            own: Weak::clone(own),
            host_context: SharedHostContext::without_core(core),
            logs: Arc::clone(&core.logs),
            stage_dir,
            settings,
            listeners: Listeners::default(),
            functions: HostFunctions::default(),
            tables: HostTables::default(),
            unloader: Arc::default(),
            stack_reserve,
            last_module: AtomicU64::new(0),
            default: FreeContext::new(
                Weak::clone(own) as Above,
                ContextId::DEFAULT.index,
                ContextKind::Default,
                "Default",
                stack_reserve,
            ),
            slims: Mutex::new(Slims { last: 1, lines: BTreeMap::new() }),
            masters: Masters::default(),
            retained: Mutex::default(),
            parked: Mutex::default(),
            failed_loads: Mutex::default(),
            reported_warnings: ReportedWarnings::default(),
            reported_uses: ReportedWarnings::default(),
            has_closed: AtomicBool::new(false),
        })
    }

    /// Logs the warnings of a module that will be mapped next. Skips warnings that were already logged.
    pub(crate) fn announce(&self, info: &ModuleInfo) {
        for warning in self.reported_warnings.unreported(&info.name, info.warnings(self.settings.permissions, &[])) {
            log!(WARN, "{} {warning}", info.name);
        }
    }

    /// Checks that the module declares the permissions that the imports of its file require. Called before the file is mapped.
    pub(crate) fn check_file(&self, info: &ModuleInfo) -> Result<(), LoadError> {
        permissions::check(self.settings.permissions, &info.name, &info.permissions, &[])
    }

    /// Checks that the module declares permissions for all resource uses that its hooks have noted. Called after the file is mapped.
    pub(crate) fn check_uses(&self, module: &Module) -> Result<(), LoadError> {
        permissions::check(self.settings.permissions, module.name(), &module.info().permissions, &module.code().uses())
    }

    /// Logs the undeclared resource uses that the hooks of a module have noted. Skips uses that were already logged for a module with this
    /// name.
    pub(crate) fn log_uses(&self, module: &Module) {
        let warnings =
            permissions::warnings_of_uses(self.settings.permissions, &module.info().permissions, &module.code().uses());
        for warning in self.reported_uses.never_reported(module.name(), warnings) {
            log!(WARN, "{} {warning}", module.name());
        }
    }

    /// Logs the undeclared resource uses of all modules outside of the Master. See [`Self::log_uses`].
    pub(crate) fn log_uses_of_contexts(&self) {
        for generation in self.lines().iter().flat_map(|line| line.generations()) {
            generation.modules().iter().for_each(|module| self.log_uses(module));
        }
    }

    /// Creates a Slim or a pinned context with a unique name. Returns an error if the name is invalid, or if a living context uses the
    /// name.
    pub(super) fn create(&self, kind: ContextKind, name: &str) -> Result<Arc<FreeContext>, ContextError> {
        let refuse = |reason: String| ContextError::Name { kind, name: name.to_owned(), reason };
        if RESERVED.contains(&name) {
            return Err(refuse("that is the name of a context of another kind".into()));
        }
        if !is_name(name) {
            return Err(ContextError::Name { kind, name: Excerpt::of(name).text().to_owned(), reason: NAME.into() });
        }
        let mut slims = lock(&self.slims);
        // A dead or parked context no longer occupies a name.
        let has_name = |line: &&Arc<FreeContext>| *line.name == *name && !line.state().is_over();
        if let Some(living) = slims.lines.values().find(has_name) {
            let help = match living.state() {
                ContextState::Alive => "take another, or `replace` what is in it",
                _ => "take another, wait on its ticket (`Contexts::unloads_of`), or park it (`Contexts::park`)",
            };
            return Err(refuse(format!("one is {} under this name: {help}", living.state())));
        }
        slims.last += 1;
        let line = FreeContext::new(self.weak(), slims.last, kind, name, self.stack_reserve);
        slims.lines.insert(line.index, Arc::clone(&line));
        Ok(line)
    }

    pub(super) fn default_context(&self) -> &Arc<FreeContext> {
        &self.default
    }

    pub(super) fn default_generation(&self) -> Arc<FreeGeneration> {
        self.default.current().expect("the Default has one generation, which never ends")
    }

    /// Finds the living Slim, the pinned context or the Default with this name.
    pub(super) fn named(&self, name: &str) -> Option<Arc<FreeContext>> {
        let slims = lock(&self.slims);
        slims.lines.values().chain([&self.default]).find(|line| *line.name == *name && line.is_open()).cloned()
    }

    /// Lists the generations of all contexts. Omits dead generations.
    pub(super) fn all(&self) -> Vec<ContextInfo> {
        let generations = self.lines().into_iter().flat_map(|line| line.generations());
        let infos = generations.map(|generation| generation.info()).filter(|info| info.state != ContextState::Dead);
        let mut all: Vec<_> = infos.chain(self.masters.infos()).collect();
        all.sort_by_key(|info| info.id.index);
        all
    }

    /// Returns the module that a summary describes. Returns `None` for an unloaded module, and for a module of the Master.
    pub(super) fn module(&self, summary: &ModuleSummary) -> Option<Arc<FreeModule>> {
        let generation = self.generation(summary.context)?;
        generation
            .modules()
            .into_iter()
            // Compares the paths of the private copies, because each path is unique in this process. The remaining fields may be equal for
            // a module of a different runtime.
            .find(|module| module.name() == summary.name && module.summary().image == summary.image)
    }

    pub(super) fn generation(&self, id: ContextId) -> Option<Arc<FreeGeneration>> {
        self.line(id)?.generations().into_iter().find(|generation| generation.id == id)
    }

    /// Returns the context of a generation. Returns `None` for the Master.
    pub(super) fn line(&self, id: ContextId) -> Option<Arc<FreeContext>> {
        match id.index == self.default.index {
            true => Some(Arc::clone(&self.default)),
            false => lock(&self.slims).lines.get(&id.index).cloned(),
        }
    }

    pub(super) fn title_of(&self, id: ContextId) -> String {
        let known = self.generation(id).map(|generation| generation.title());
        known.unwrap_or_else(|| if id.index == 1 { "Master".into() } else { format!("a context that is gone ({id})") })
    }

    /// Returns the lowest id that a later module can receive.
    pub(crate) fn upcoming_module(&self) -> ModuleId {
        ModuleId(self.last_module.load(Ordering::Relaxed) + 1)
    }

    /// Returns a new module id. All contexts share the sequence of ids.
    pub(crate) fn next_module(&self) -> ModuleId {
        ModuleId(self.last_module.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Creates an event for a generation of the Master.
    pub(in crate::load) fn master_event(&self, generation: Generation, event: ContextEventKind) -> ContextEvent {
        let owner = Owner { registry: self.weak(), ..Owner::default() };
        let (id, kind) = (ContextId::master(generation.0), ContextKind::Master);
        ContextEvent { id, kind, name: kind.to_string(), event, owner }
    }

    /// Continues an unload as far as possible without waiting. If the unload is not complete, passes the ticket to the background unloader.
    ///
    /// Unloads may nest, because a context drops its callbacks when its unload is over. A callback may own the last handle to a second
    /// context. Dropping the callback then starts the unload of the second context. To limit the stack depth, deeply nested unloads are
    /// passed to the background unloader.
    pub(super) fn drive(&self, ticket: UnloadTicket) {
        // Catches a panic of a host callback. The background unloader polls the ticket again.
        let polled = Inside::enter().map(|_inside| panic_guard::caught(|| ticket.poll().is_over()));
        if let Some(Err(message)) = &polled {
            log!(ERROR, message, "an unload panicked; it is polled again");
        }
        if polled != Some(Ok(true)) {
            self.unloader.watch(ticket);
        }
    }

    /// Returns the parked images of all contexts, including the Master. Each entry contains the reason.
    pub(crate) fn parked(&self) -> Vec<String> {
        lock(&self.parked).clone()
    }

    /// Adds descriptions of parked images.
    pub(crate) fn note_parked(&self, parked: &[String]) {
        lock(&self.parked).extend_from_slice(parked);
    }

    /// Adds and logs descriptions of images that a failed load has left mapped.
    pub(crate) fn note_left(&self, parked: &[String]) {
        self.note_parked(parked);
        parked.iter().for_each(|image| log!(WARN, image, "a failed load leaves an image mapped"));
    }

    /// Returns an error if the number of parked images exceeds the host's limit.
    pub(crate) fn check_budget(&self) -> Result<(), LoadError> {
        let (policy, parked) = (&self.settings.unloads, self.parked());
        match policy.is_spent(parked.len()) {
            true => Err(LoadError::ParkedBudget { budget: policy.parked_budget, parked }),
            false => Ok(()),
        }
    }

    pub(super) fn ended(&self, generation: &Arc<FreeGeneration>, parked: Vec<String>) {
        // Keeps the libraries of a parked generation open, because its active calls may use them.
        if parked.is_empty() {
            // Closes libraries without a lock, because closing a library runs its destructors.
            let retired = generation.natives.retire(generation.id);
            lock(&self.retained).extend(retired);
        }
        self.note_parked(&parked);
        // Changes the state before the event, because a listener may create a context with the same name.
        generation.is_parked.store(!parked.is_empty(), Ordering::Release);
        let line = lock(&self.slims).lines.get(&generation.id.index).cloned();
        if let Some(line) = line.as_ref().filter(|_| parked.is_empty())
            && line.forget(generation)
        {
            lock(&self.slims).lines.remove(&line.index);
        }
        let line = line.filter(|line| line.is_over());
        let event = if parked.is_empty() { ContextEventKind::Dead } else { ContextEventKind::Parked(parked) };
        generation.notify(&self.listeners, event);
        // Drops the callbacks. Otherwise a callback that owns a handle to the context would keep the context in memory
        // permanently.
        line.iter().for_each(|line| line.let_go(self.id()));
    }

    /// Drops all callbacks when the host shuts down.
    pub(crate) fn let_go(&self) {
        self.lines().iter().for_each(|line| line.let_go(self.id()));
        let_go(self.id(), self.listeners.take());
        self.functions.let_go(self.id());
    }

    pub(super) fn weak(&self) -> Weak<Self> {
        Weak::clone(&self.own)
    }

    pub(crate) fn id(&self) -> HostId {
        HostId::of(&self.own)
    }

    /// Lists the native libraries that contexts hold or have left open.
    pub(super) fn natives(&self) -> Vec<RetainedNative> {
        lock(&self.retained).retain(RetainedNative::is_open);
        let mut natives = lock(&self.retained).clone();
        for generation in self.lines().iter().flat_map(|line| line.generations()) {
            natives.extend(generation.natives.list(generation.id));
        }
        natives
    }

    /// Lists every unload that is unfinished or parked.
    pub(super) fn unloads(&self) -> Vec<(ContextId, UnloadTicket)> {
        let generations = self.lines().into_iter().flat_map(|line| line.generations());
        let slims = generations.filter_map(|generation| Some((generation.id, generation.ticket()?.clone())));
        let slims = slims.filter(|(_, ticket)| ticket.state() != ContextState::Dead);
        self.masters.unloads().into_iter().chain(slims).collect()
    }

    /// Returns the unfinished and the parked unloads of the modules of failed loads, each with the generation of the load.
    pub(super) fn failed_loads(&self) -> MutexGuard<'_, Vec<(ContextId, UnloadTicket)>> {
        let mut failed = lock(&self.failed_loads);
        failed.retain(|(_, ticket)| ticket.state() != ContextState::Dead);
        failed
    }

    /// Parks the modules of failed loads into the context `index`. Returns true if the unload of such a module was unfinished.
    pub(super) fn park_failed_loads(&self, index: u64) -> bool {
        let is_meant = |id: ContextId, ticket: &UnloadTicket| id.index == index && !ticket.state().is_over();
        let failed = self.failed_loads().clone();
        let failed: Vec<_> = failed.into_iter().filter(|(id, ticket)| is_meant(*id, ticket)).collect();
        failed.iter().for_each(|(_, ticket)| ticket.park());
        !failed.is_empty()
    }

    /// Returns all contexts except the Master. The Default is last.
    pub(super) fn lines(&self) -> Vec<Arc<FreeContext>> {
        lock(&self.slims).lines.values().chain([&self.default]).cloned().collect()
    }
}
