//! Living generation of the Master, and its listeners. Also owns the registry of all contexts.
#![expect(unsafe_code, reason = "promises that the host context outlives the modules")]

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use alcedo_sys::{StageDir, crash, uses_noted};

use crate::bridge::core::Core;
use crate::callback::Callbacks;
use crate::cells::RefCell;
use crate::emit::strings;
use crate::handles::{Generation, ModuleId};
use crate::host_api::HostContext;
use crate::load::context::event::{ContextEvent, ContextEventKind, notify};
use crate::load::context::info::ModuleSummary;
use crate::load::context::registry::{ContextRegistry, LoadSettings};
use crate::load::context_id::ContextId;
use crate::load::master::unloads::Unloads;
use crate::load::module::master::MasterModule;
use crate::load::park_reason::ReportedWarnings;
use crate::load::record::Recorder;
use crate::object::mode::Starting;
use crate::unload::policy::UnloadPolicy;
use crate::unload::steps::UnloadCause;

#[derive(Clone)]
pub(crate) struct Master {
    pub generation: Generation,
    /// Modules of the generation, dependencies first.
    pub modules: Vec<Rc<MasterModule>>,
    /// Paths of the libraries, as passed by the host.
    pub paths: Vec<PathBuf>,
}

/// Description of a generation that is unloading. If a reload replaces only some modules, contains only the replaced modules.
pub(crate) struct GenerationUnload<'a> {
    pub cause: UnloadCause,
    pub generation: Generation,
    /// Modules, dependencies first.
    pub modules: &'a [Rc<MasterModule>],
    /// Set if an event was raised for the generation. A generation that failed before its start raises no events.
    pub is_known: bool,
}

/// Listener for events of the Master.
pub(crate) type Observer = Rc<dyn Fn(&ContextEvent)>;

/// Living Master and unloads of one runtime, with the registry of its contexts. Game thread only.
pub(crate) struct Loads {
    /// Registry of the Default, the Slims and the pinned contexts. Contains records of the Master's generations, and the settings of all
    /// contexts.
    pub registry: Arc<ContextRegistry>,
    pub host_context: Option<Box<HostContext>>,
    /// Run time of the last canary. A reload clears this field.
    pub canary_time: Cell<Option<Duration>>,
    pub unloads: Unloads,
    /// Warnings about images that stay mapped, as listed in earlier reload reports.
    pub reported_warnings: ReportedWarnings,
    /// Log of irreversible effects during a reload.
    pub recorder: Recorder,
    /// Fault injection for tests: each reload runs a class constructor a second time.
    pub planted_rerun: bool,
    /// Set while unloading listeners, unloading callbacks, `suspend` or `resume` are called. During these calls, the generation is alive
    /// and may create objects.
    pub is_notifying: Cell<bool>,
    master: RefCell<Option<Master>>,
    pub observers: Callbacks<Observer>,
    /// Total number of noted resource uses at the last call to `log_uses`.
    uses_logged: Cell<u64>,
    /// Id of the last module that the Master has loaded.
    last_of_master: Cell<ModuleId>,
    last_generation: Cell<u64>,
}

impl Loads {
    /// Creates the loads of a runtime without a Master. Returns an error if the folder for private copies cannot be created.
    pub(crate) fn new(core: &Rc<Core>, mut settings: LoadSettings) -> std::io::Result<Self> {
        let stage_dir = StageDir::demanding(std::mem::take(&mut settings.demands))?;
        // Registers the folder of private copies for crash reports. After a crash of the host, the reader of the crash report removes the
        // folder.
        crash::stage(stage_dir.path());
        let registry = ContextRegistry::new(core, stage_dir, settings);
        // SAFETY: the runtime owns the core and these loads, and unloads its modules before it drops them. If an image stays
        // mapped, dropping the loads leaks the host context.
        let host_context = unsafe { HostContext::new(core) };
        Ok(Self {
            registry,
            host_context: Some(host_context),
            canary_time: Cell::default(),
            unloads: Unloads::default(),
            reported_warnings: ReportedWarnings::default(),
            recorder: Recorder::default(),
            planted_rerun: false,
            is_notifying: Cell::default(),
            master: RefCell::default(),
            observers: Callbacks::default(),
            uses_logged: Cell::default(),
            last_of_master: Cell::new(ModuleId::HOST),
            last_generation: Cell::default(),
        })
    }

    pub(super) fn host_context(&self) -> &HostContext {
        self.host_context.as_deref().expect("taken only when the loads are dropped")
    }

    pub(crate) fn master(&self) -> Option<Master> {
        self.master.borrow().clone()
    }

    /// Returns the modules of the living generation, dependencies first. Returns no modules without a Master.
    pub(crate) fn modules(&self) -> Vec<Rc<MasterModule>> {
        self.master().map(|master| master.modules).unwrap_or_default()
    }

    pub(crate) fn set_master(&self, master: Option<Master>) -> Option<Master> {
        self.master.replace(master)
    }

    /// Calls the listeners of the game thread for an event of the Master, then the listeners of all contexts.
    pub(crate) fn raise(&self, generation: Generation, kind: ContextEventKind) {
        if !self.observers.is_empty() {
            self.recorder.note(|record| record.events.push(kind.text(&generation)));
        }
        let event = self.registry.master_event(generation, kind);
        // `notify` has already logged the problems.
        let _problems = notify(&self.observers, &event);
        let _problems = notify(&self.registry.listeners, &event);
    }

    /// Calls the listeners for the `Loaded` event of the living generation. The event lists the new modules in the order of their mains.
    pub(crate) fn raise_loaded(&self, generation: Generation) {
        let modules = self.modules();
        let new = modules.iter().filter(|module| module.tag().generation == generation);
        self.raise(generation, ContextEventKind::Loaded(new.map(|module| module.name().to_owned()).collect()));
    }

    /// Calls the listeners for the `Unloading` event of a generation. Then calls the unloading callbacks by priority.
    pub(crate) fn notify_unloading(&self, generation: Generation) {
        self.while_living(|| {
            self.raise(generation, ContextEventKind::Unloading);
            let called = self.unloads.call_back(&self.registry.masters, generation);
            self.recorder.note(|record| record.unloading_callbacks = called);
        });
    }

    /// Runs code as part of the living generation. A rollback does not undo the effects of the code. The code must not panic.
    pub(crate) fn while_living<T>(&self, code: impl FnOnce() -> T) -> T {
        self.is_notifying.set(true);
        let done = code();
        self.is_notifying.set(false);
        done
    }

    pub(crate) fn next_generation(&self) -> Generation {
        self.last_generation.set(self.last_generation.get() + 1);
        Generation(self.last_generation.get())
    }

    /// Logs new uses of undeclared resources. If no image has a new use, only compares a counter.
    pub(crate) fn log_uses(&self) {
        let noted = uses_noted();
        if self.uses_logged.replace(noted) != noted {
            self.modules().iter().for_each(|module| self.registry.log_uses(module));
            self.registry.log_uses_of_contexts();
        }
    }

    /// Releases the number of a generation that was rejected during staging. The next generation reuses the number.
    pub(crate) fn give_back(&self, generation: Generation) {
        // A generation with parked images keeps its number.
        if self.last_generation.get() == generation.0 && !self.registry.masters.is_known(generation) {
            self.last_generation.set(generation.0 - 1);
        }
    }

    /// Stores summaries of the generation's modules for all threads.
    pub(crate) fn show<'a>(&self, generation: Generation, modules: impl Iterator<Item = &'a Rc<MasterModule>>) {
        let context = ContextId::master(generation.0);
        let summary = |module: &Rc<MasterModule>| {
            let summary = ModuleSummary::new(module.info(), context, module.code().path().to_owned());
            // Checks the strings of the module here, because the summary is published before the types are declared.
            let summary = match strings::check(module.name(), module.described()) {
                Ok(()) => summary.offering(module.described().exports.iter().map(|export| export.type_path.as_str())),
                Err(_) => summary,
            };
            (module.gate().tag().id, summary)
        };
        self.registry.masters.set_modules(generation, modules.map(summary).collect());
    }

    /// Returns a guard. While the guard exists, all modules that are loaded after this call count as starting.
    pub(crate) fn mark_starting(&self, core: &Core) -> Starting {
        core.world.mode.mark_starting(self.registry.upcoming_module())
    }

    pub(super) fn next_module(&self, core: &Core) -> ModuleId {
        let module = self.registry.next_module();
        let before = self.last_of_master.replace(module);
        // Skips the ids of modules outside of the Master, because both tables below contain only modules of the Master.
        core.zcalls.pass_over(before, module);
        core.value_types.pass_over(before, module);
        module
    }

    pub(crate) fn policy(&self) -> &UnloadPolicy {
        &self.registry.settings.unloads
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        // Leaks the host context if an image is parked or unloading. Threads of a mapped image may log through the host context, and may
        // read its memory.
        if !self.registry.masters.unloads().is_empty() {
            std::mem::forget(self.host_context.take());
        }
    }
}

pub(crate) fn ids(modules: &[Rc<MasterModule>]) -> impl Iterator<Item = ModuleId> {
    modules.iter().map(|module| module.gate().tag().id)
}
