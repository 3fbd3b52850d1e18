//! The state of the Master: which generation is alive, its listeners, what its modules share with all contexts.
#![expect(unsafe_code, reason = "promises that the host context outlives the modules")]

use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use alcedo_sys::{Demands, StageDir, crash};

use crate::bridge::core::Core;
use crate::callback::Callbacks;
use crate::cells::RefCell;
use crate::emit::texts;
use crate::handles::{Generation, ModuleId};
use crate::host_api::HostContext;
use crate::load::canary::Rehearsal;
use crate::load::context::info::ModuleSummary;
use crate::load::context::registry::ContextRegistry;
use crate::load::context_id::ContextId;
use crate::load::error::LoadError;
use crate::load::events::MasterEvent;
use crate::load::module::master::MasterModule;
use crate::load::record::Recorder;
use crate::load::stays::Told;
use crate::object::mode::ComingUp;
use crate::unload::subject::UnloadHost;
use crate::unload::ticket::UnloadTicket;
use crate::unload::unloads::Unloads;

/// The living Master load context.
#[derive(Clone)]
pub(crate) struct Master {
    /// Its generation.
    pub generation: Generation,
    /// Its modules, dependencies first.
    pub modules: Vec<Rc<MasterModule>>,
    /// The files they came from, as the host named them.
    pub paths: Vec<PathBuf>,
}

/// A listener to the events of the Master.
pub(crate) type Observer = Rc<dyn Fn(&MasterEvent)>;

/// What all load contexts of a runtime share. Game thread only.
pub(crate) struct Loads {
    /// Private copies of libraries.
    pub stage_dir: Arc<StageDir>,
    /// The contexts that belong to no thread, and what they may know of the Master.
    pub registry: Arc<ContextRegistry>,
    /// What modules get as their host.
    pub host_context: Option<Box<HostContext>>,
    /// Arguments for the mains of startup modules.
    pub args: Vec<String>,
    /// Whether unsealed libraries are refused.
    pub require_seal: bool,
    /// How long the last canary took, until it is read.
    pub(super) canary_took: Cell<Option<Duration>>,
    /// Generations on their way out.
    pub unloads: Unloads,
    /// What reports of reloads have said of images that will stay.
    pub told: Told,
    /// What a reload does that cannot be taken back.
    pub recorder: Recorder,
    /// Whether a class constructor runs again in each reload: a fault that a test plants.
    pub planted_rerun: bool,
    is_telling: Cell<bool>,
    master: RefCell<Option<Master>>,
    /// The listeners to its events.
    pub observers: Callbacks<Observer>,
    /// The modules of the generation that comes up whose mains have returned, in the order of their start.
    started: RefCell<Vec<String>>,
    last_module: Arc<AtomicU64>,
    /// The last of those that was one of the Master's.
    last_of_master: Cell<ModuleId>,
    last_generation: Cell<u64>,
}

impl Loads {
    /// Nothing is loaded yet.
    ///
    /// # Errors
    /// When the folder for private copies cannot be made.
    pub(crate) fn new(
        core: &Rc<Core>,
        args: Vec<String>,
        require_seal: bool,
        rehearsal: Rehearsal,
        demands: Demands,
    ) -> std::io::Result<Self> {
        let (stage_dir, last_module) = (Arc::new(StageDir::demanding(demands)?), Arc::new(AtomicU64::new(0)));
        // A host that crashes cannot remove it, so the reader of the crash report has to.
        crash::stage(stage_dir.path());
        let registry = ContextRegistry::new(core, &stage_dir, args.clone(), require_seal, rehearsal, &last_module);
        // SAFETY: the runtime, which has the core and these loads, ends its modules before either goes; where an image stays, the
        // loads leave the context in place.
        let host_context = unsafe { HostContext::new(core) };
        Ok(Self {
            stage_dir,
            registry,
            host_context: Some(host_context),
            args,
            require_seal,
            canary_took: Cell::default(),
            unloads: Unloads::default(),
            told: Told::default(),
            recorder: Recorder::default(),
            planted_rerun: false,
            is_telling: Cell::default(),
            master: RefCell::default(),
            observers: Callbacks::default(),
            started: RefCell::default(),
            last_module,
            last_of_master: Cell::new(ModuleId::HOST),
            last_generation: Cell::default(),
        })
    }

    /// What modules get as their host.
    pub(super) fn host_context(&self) -> &HostContext {
        self.host_context.as_deref().expect("taken only when the loads are dropped")
    }

    /// The living Master.
    pub(crate) fn master(&self) -> Option<Master> {
        self.master.borrow().clone()
    }

    /// Makes `master` the living one; hands out the one before.
    pub(crate) fn set_master(&self, master: Option<Master>) -> Option<Master> {
        self.master.replace(master)
    }

    /// Calls every listener.
    pub(crate) fn raise(&self, event: &MasterEvent) {
        if !self.observers.is_empty() {
            self.recorder.note(|record| record.events.push(event.to_string()));
        }
        self.observers.each(|_priority, observer| {
            // One listener's panic is not another's, and never the reload's.
            if let Err(error) = crate::border::trap(|| {
                (observer.code)(event);
                Ok(())
            }) {
                let callback = &observer.site;
                tracing::error!(%event, %callback, %error, "a listener of the load context panicked");
            }
        });
        let started = match event {
            MasterEvent::Loaded(_) => self.started.take(),
            _ => Vec::new(),
        };
        match event {
            MasterEvent::PreStartup(_) => drop(self.started.take()),
            MasterEvent::Startup(_, module) => self.started.borrow_mut().push(module.clone()),
            _ => {}
        }
        let (generation, events) = event.events(started);
        events.into_iter().for_each(|event| self.registry.tell_of_master(generation, event));
    }

    /// Announces that a generation is about to end, first to the listeners, then to the callbacks by priority.
    pub(crate) fn tell_unloading(&self, generation: Generation) {
        self.while_living(|| {
            self.raise(&MasterEvent::Unloading(generation));
            let called = self.unloads.call_back(generation);
            self.recorder.note(|record| record.callbacks = called);
        });
    }

    /// What is done in here is done for good, by a generation that is alive as if nothing were under way. It stops its
    /// panics.
    pub(crate) fn while_living<T>(&self, code: impl FnOnce() -> T) -> T {
        self.is_telling.set(true);
        let done = code();
        self.is_telling.set(false);
        done
    }

    /// Whether listeners are being called for the end of a generation, or because it goes on: meanwhile it is alive as
    /// before, and objects may be made.
    pub(crate) fn is_telling(&self) -> bool {
        self.is_telling.get()
    }

    /// The number of the next generation.
    pub(crate) fn next_generation(&self) -> Generation {
        self.last_generation.set(self.last_generation.get() + 1);
        Generation(self.last_generation.get())
    }

    /// Gives a number back that no module has seen: the generation was refused while staging.
    pub(crate) fn give_back(&self, generation: Generation) {
        // One whose images are parked keeps its number.
        if self.last_generation.get() == generation.0 && !self.unloads.is_known(generation) {
            self.last_generation.set(generation.0 - 1);
        }
    }

    /// Other threads see that the generation has these modules.
    pub(crate) fn show<'a>(&self, generation: Generation, modules: impl Iterator<Item = &'a Rc<MasterModule>>) {
        let context = ContextId::master(generation.0);
        let summary = |module: &Rc<MasterModule>| {
            let summary = ModuleSummary::new(module.info(), context, module.code().path().to_owned());
            // It is shown before its types are made, which checks its texts for all.
            let summary = match texts::check(module.name(), module.described()) {
                Ok(()) => summary.offering(module.described().exports.iter().map(|export| export.type_path.as_str())),
                Err(_) => summary,
            };
            (module.gate().tag().id, summary)
        };
        self.registry.set_master_modules(generation, modules.map(summary).collect());
    }

    /// Nothing of the generation was mapped.
    pub(crate) fn never_was(&self, generation: Generation) {
        self.unloads.forget(generation);
        self.registry.master_is_gone(generation);
    }

    /// How long the last canary took, once; nothing if there was none.
    pub(crate) fn take_canary_time(&self) -> Option<Duration> {
        self.canary_took.take()
    }

    /// From now on modules come up: those that are not numbered yet.
    pub(crate) fn come_up(&self, core: &Core) -> ComingUp {
        core.world.mode.come_up(ModuleId(self.last_module.load(Ordering::Relaxed) + 1))
    }

    /// The number of the next module.
    pub(super) fn next_module(&self, core: &Core) -> ModuleId {
        let module = ModuleId(self.last_module.fetch_add(1, Ordering::Relaxed) + 1);
        let before = self.last_of_master.replace(module);
        // Those in between are of contexts that belong to no thread, which have none of what the Master's have.
        core.zcalls.pass_over(before, module);
        core.explicit.pass_over(before, module);
        core.chain.pass_over(before, module);
        core.value_types.pass_over(before, module);
        module
    }
}

impl Loads {
    /// Whether the host's limit allows another image that may stay.
    ///
    /// # Errors
    /// When too many have stayed.
    pub(crate) fn check_budget(&self) -> Result<(), LoadError> {
        match self.unloads.beyond_budget() {
            Some(parked) => Err(LoadError::ParkedBudget { budget: self.unloads.policy.parked_budget, parked }),
            None => Ok(()),
        }
    }
}

impl UnloadHost for Loads {
    fn unloads(&self) -> &Unloads {
        &self.unloads
    }

    fn tell_unloading(&self, generation: Generation) {
        Self::tell_unloading(self, generation);
    }

    fn runs_exit_hook(&self, module: &str) {
        self.recorder.note(|record| record.exit_hooks.push(module.to_owned()));
    }

    fn begins(&self, generation: Generation, ticket: &UnloadTicket) {
        self.registry.master_unloads(generation, ticket);
    }

    fn is_gone(&self, generation: Generation) {
        self.registry.master_is_gone(generation);
    }

    fn raise(&self, event: &MasterEvent) {
        Self::raise(self, event);
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        // A parked image may have threads that log: the host context they hold stays valid for as long as they are mapped.
        if !self.unloads.parked().is_empty() || self.unloads.is_busy() {
            std::mem::forget(self.host_context.take());
        }
    }
}

/// The numbers of modules.
pub(crate) fn ids(modules: &[Rc<MasterModule>]) -> impl Iterator<Item = ModuleId> {
    modules.iter().map(|module| module.gate().tag().id)
}
