//! The Master load context: create and unload, and the steps that a reload shares with them. There is one at a time;
//! each has a generation, and everything its modules hand out ends with it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alcedo_abi::host::mode;
use alcedo_sys::{Demands, StageDir, crash};

use crate::bridge::core::Core;
use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::emit::batch::{Declarer, emit};
use crate::emit::texts;
use crate::faults::{self, ReloadStep};
use crate::handles::{ClassId, Generation, ModuleId, ObjectHandle};
use crate::host_api::HostWord;
use crate::lease::LeaseKind;
use crate::load::canary::Rehearsal;
use crate::load::context::hub::Hub;
use crate::load::context::id::{ContextId, ModuleSummary};
use crate::load::context::lookup::{Lent, lend_to_master};
use crate::load::error::{LoadError, caught};
use crate::load::events::MasterEvent;
use crate::load::master_module::MasterModule;
use crate::load::module::info::ModuleInfo;
use crate::load::open::{self, Inspected};
use crate::load::order::{list, needs_beyond};
use crate::load::record::Recorder;
use crate::load::replace::{Build, Why, replaced};
use crate::load::stays::Told;
use crate::object::birth::{destroy, make_cdo};
use crate::object::class::Class;
use crate::object::mode::ComingUp;
use crate::unload::generation;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::subject::{GenerationUnload, UnloadEvent, UnloadHost};
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

/// Who listens to the events of the Master.
pub(crate) type Observer = Rc<dyn Fn(&MasterEvent)>;

/// What all load contexts of a runtime share. Game thread only.
pub(crate) struct Loads {
    /// Private copies of libraries.
    pub stage_dir: Arc<StageDir>,
    /// The contexts that belong to no thread, and what they may know of the Master.
    pub hub: Arc<Hub>,
    /// What modules get as their host.
    pub word: Option<Box<HostWord>>,
    /// Arguments for the mains of startup modules.
    pub args: Vec<String>,
    /// Whether unsealed libraries are refused.
    pub require_seal: bool,
    /// How long the last canary took, until it is asked for.
    canary_took: Cell<Option<Duration>>,
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
    observers: RefCell<Vec<Registered<Observer>>>,
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
        // A host that crashes cannot remove it, so whoever reads of the crash has to.
        crash::stage(stage_dir.path());
        let hub = Hub::new(core, &stage_dir, args.clone(), require_seal, rehearsal, &last_module);
        Ok(Self {
            stage_dir,
            hub,
            word: Some(HostWord::new(core)),
            args,
            require_seal,
            canary_took: Cell::default(),
            unloads: Unloads::default(),
            told: Told::default(),
            recorder: Recorder::default(),
            planted_rerun: false,
            is_telling: Cell::default(),
            master: RefCell::default(),
            observers: RefCell::default(),
            started: RefCell::default(),
            last_module,
            last_of_master: Cell::new(ModuleId::HOST),
            last_generation: Cell::default(),
        })
    }

    fn word(&self) -> &HostWord {
        self.word.as_deref().expect("taken only when the loads are dropped")
    }

    /// The living Master.
    pub(crate) fn master(&self) -> Option<Master> {
        self.master.borrow().clone()
    }

    /// Makes `master` the living one; hands out the one before.
    pub(crate) fn set_master(&self, master: Option<Master>) -> Option<Master> {
        self.master.replace(master)
    }

    /// Adds a listener.
    pub(crate) fn observe(&self, observer: Registered<Observer>) {
        self.observers.borrow_mut().push(observer);
    }

    /// Where the listeners come from.
    pub(crate) fn observer_sites(&self) -> Vec<Site> {
        self.observers.borrow().iter().map(|observer| observer.site).collect()
    }

    /// Takes all listeners out.
    pub(crate) fn take_observers(&self) -> Vec<Registered<Observer>> {
        self.observers.take()
    }

    /// Tells everybody who listens.
    pub(crate) fn raise(&self, event: &MasterEvent) {
        let observers = self.observers.borrow().clone();
        if !observers.is_empty() {
            self.recorder.note(|record| record.events.push(event.to_string()));
        }
        for observer in observers {
            // One listener's panic is not another's, and never the reload's.
            if let Err(error) = crate::border::trap(|| {
                (observer.code)(event);
                Ok(())
            }) {
                let callback = &observer.site;
                tracing::error!(%event, %callback, %error, "a listener of the load context panicked");
            }
        }
        let started = match event {
            MasterEvent::Loaded(_) => self.started.take(),
            _ => Vec::new(),
        };
        match event {
            MasterEvent::PreStartup(_) => drop(self.started.take()),
            MasterEvent::Startup(_, module) => self.started.borrow_mut().push(module.clone()),
            _ => {}
        }
        let (generation, happenings) = event.notices(started);
        happenings.into_iter().for_each(|happening| self.hub.tell_of_master(generation, happening));
    }

    /// Tells everybody that a generation is about to end, first those who listen, then the callbacks by priority.
    pub(crate) fn tell_unloading(&self, generation: Generation) {
        self.while_living(|| {
            self.raise(&MasterEvent::Unloading(generation));
            let called = self.unloads.call_back(generation);
            self.recorder.note(|record| record.callbacks = called);
        });
    }

    /// What is done in here is done for good, by a generation that lives as if nothing were under way. It stops its panics.
    pub(crate) fn while_living<T>(&self, code: impl FnOnce() -> T) -> T {
        self.is_telling.set(true);
        let done = code();
        self.is_telling.set(false);
        done
    }

    /// Whether a generation is being told that it is about to end, or that it goes on: meanwhile it lives as before, and
    /// objects may be made.
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
        self.hub.set_master_modules(generation, modules.map(summary).collect());
    }

    /// Nothing of the generation was mapped.
    pub(crate) fn never_was(&self, generation: Generation) {
        self.unloads.forget(generation);
        self.hub.master_never_was(generation);
    }

    /// How long the last canary took, once; nothing if there was none.
    pub(crate) fn take_canary_time(&self) -> Option<Duration> {
        self.canary_took.take()
    }

    /// From now on modules come up: those that are not numbered yet.
    pub(crate) fn come_up(&self, core: &Core) -> ComingUp {
        core.world.mode.come_up(ModuleId(self.last_module.load(Ordering::Relaxed) + 1))
    }

    fn next_module(&self, core: &Core) -> ModuleId {
        let module = ModuleId(self.last_module.fetch_add(1, Ordering::Relaxed) + 1);
        let before = self.last_of_master.replace(module);
        // Those in between are of contexts that belong to no thread, which have none of what the Master's have.
        core.zcalls.pass_over(before, module);
        core.explicit.pass_over(before, module);
        core.value_types.pass_over(before, module);
        module
    }
}

impl Loads {
    /// Whether the host wants to pay for another image that may stay.
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
        self.hub.master_unloads(generation, ticket);
    }

    fn is_gone(&self, generation: Generation) {
        self.hub.master_is_gone(generation);
    }

    fn raise(&self, generation: Generation, event: UnloadEvent) {
        Self::raise(
            self,
            &match event {
                UnloadEvent::Unloaded => MasterEvent::Unloaded(generation),
                UnloadEvent::Blocked(blockers) => MasterEvent::Blocked(generation, blockers),
                UnloadEvent::Dead => MasterEvent::Dead(generation),
                UnloadEvent::Parked(images) => MasterEvent::Parked(generation, images),
            },
        );
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        // A parked image may have threads that log: the word they hold stays valid for as long as they are mapped.
        if !self.unloads.parked().is_empty() || self.unloads.is_busy() {
            std::mem::forget(self.word.take());
        }
    }
}

/// What a set of libraries became.
pub(crate) struct BroughtUp {
    /// The modules that were mapped, dependencies first.
    pub new: Vec<Rc<MasterModule>>,
    /// Modules of the Master before that stay as they are, dependencies first.
    pub staying: Vec<Rc<MasterModule>>,
    /// Why each of the others is replaced; empty when all are, whether they must or not.
    pub why: BTreeMap<String, Why>,
    /// Names of the modules that they need and the Default has.
    pub elsewhere: Vec<String>,
}

impl BroughtUp {
    /// All modules of the Master to be, dependencies first.
    ///
    /// # Errors
    /// None: their needs were looked at before they were mapped.
    pub(crate) fn all(&self) -> Result<Vec<Rc<MasterModule>>, LoadError> {
        let modules = || self.new.iter().chain(&self.staying);
        let row = open::start_order(modules().map(|module| module.info()), &self.elsewhere)?;
        Ok(row.iter().filter_map(|name| modules().find(|module| module.name() == name).cloned()).collect())
    }
}

/// Reads, checks, copies and maps a set of libraries for `generation`, dependencies first. With a Master to `keep` as far
/// as possible, only what has changed since and what uses it.
///
/// # Errors
/// The first that does not fit; what was mapped until then is unmapped.
pub(crate) fn bring_up(
    core: &Rc<Core>,
    loads: &Loads,
    paths: &[PathBuf],
    generation: Generation,
    keep: Option<&Master>,
) -> Result<BroughtUp, LoadError> {
    loads.unloads.begin_life(generation);
    loads.hub.master_begins(generation);
    let stage = || {
        let mut inspected = open::inspect_all(paths, &loads.stage_dir, loads.require_seal)?;
        let (mut staying, mut why) = (Vec::new(), BTreeMap::new());
        if let Some(master) = keep {
            why = to_replace(master, &inspected);
            staying.extend(master.modules.iter().filter(|module| !why.contains_key(module.name())).cloned());
            inspected.retain(|(_, info)| why.contains_key(&info.name));
        }
        let infos: Vec<_> = staying.iter().map(|module| module.info()).collect();
        let lent = ask_default(loads, inspected.iter().map(|(_, info)| info).chain(infos.iter().copied()))?;
        let elsewhere: Vec<_> = lent.iter().map(|lent| lent.name.clone()).collect();
        let staged = open::stage(&loads.stage_dir, inspected, &infos, &elsewhere)?;
        staged.iter().for_each(|staged| loads.hub.announce(&staged.info));
        loads.canary_took.set(None);
        faults::at(ReloadStep::Canary)?;
        let _published = core.red.lane().phase("canary");
        let begun = Instant::now();
        let rehearsed = loads.hub.rehearsal.run(&staged);
        // One that was refused took its time as well.
        let took = rehearsed.as_ref().map_or_else(|_| Some(begun.elapsed()), |took| *took);
        loads.canary_took.set(took);
        rehearsed?;
        Ok((staged, staying, why, lent))
    };
    let (staged, staying, why, lent) = caught(stage).inspect_err(|_| loads.never_was(generation))?;
    let mut new = Vec::new();
    for staged in staged {
        let id = loads.next_module(core);
        match caught(|| open::open(core, loads.word(), staged, id, generation)) {
            Ok(module) => new.push(module),
            Err(error) => {
                core.zcalls.end_module(id);
                core.explicit.end_module(id);
                core.value_types.end_module(id);
                let unload =
                    GenerationUnload { cause: UnloadCause::NotStaged, generation, modules: &new, is_known: false };
                let _ticket = generation::unload(core, loads, &unload, &mut |_| {});
                return Err(error);
            }
        }
    }
    loads.show(generation, new.iter().chain(&staying));
    hold_dependencies(&new, &staying, &lent);
    let elsewhere = lent.into_iter().map(|lent| lent.name).collect();
    Ok(BroughtUp { new, staying, why, elsewhere })
}

/// What modules need that is none of them: of the Default, which stays whatever becomes of them.
fn ask_default<'a>(
    loads: &Loads,
    modules: impl Iterator<Item = &'a ModuleInfo> + Clone,
) -> Result<Vec<Lent>, LoadError> {
    let beyond = needs_beyond(modules.clone().map(|info| (&*info.name, &*info.dependencies)));
    let ask = |(by, name, range): (&str, &str, _)| {
        let others = modules.clone().filter(|info| info.name != by).map(|info| info.name.clone());
        let own = format!("did not know it, and {} offered", list(&others.collect::<Vec<_>>()));
        lend_to_master(&loads.hub, by, name, range, own)
    };
    beyond.into_iter().map(ask).collect()
}

/// What of a Master has to go for these libraries, and why.
fn to_replace(master: &Master, inspected: &[Inspected]) -> BTreeMap<String, Why> {
    let build = |info: &ModuleInfo| Build { name: info.name.clone(), digest: info.digest };
    let old: Vec<_> = master.modules.iter().map(|module| build(module.info())).collect();
    let new: Vec<_> = inspected.iter().map(|(_, info)| build(info)).collect();
    let mut uses = BTreeSet::new();
    for module in &master.modules {
        let named = module.named_types();
        let dependencies = module.info().dependencies.iter().map(|(name, _)| name.clone());
        let owners = master.modules.iter().filter(|other| other.info().types.iter().any(|path| named.contains(path)));
        let used = dependencies.chain(owners.map(|other| other.name().to_owned()));
        uses.extend(used.filter(|used| used != module.name()).map(|used| (module.name().to_owned(), used)));
    }
    replaced(&old, &new, &uses)
}

/// A module keeps those it depends on: what it was given of them may be code.
fn hold_dependencies(modules: &[Rc<MasterModule>], staying: &[Rc<MasterModule>], lent: &[Lent]) {
    for module in modules {
        for (name, _) in &module.info().dependencies {
            let found = modules.iter().chain(staying).find(|other| other.name() == name).map(|other| other.leases());
            let found = found.or_else(|| lent.iter().find(|lent| lent.name == *name).map(|lent| &lent.leases));
            // Neither one that was mapped just now nor one that stays is sealed, nor one of the Default.
            let lease = found.map(|leases| leases.take_at(LeaseKind::Dependent, module.name(), None));
            lease.into_iter().flatten().for_each(|lease| module.keep(lease));
        }
    }
}

/// The modules as far as emitting goes.
pub(crate) fn declarers(modules: &[Rc<MasterModule>]) -> Vec<Declarer<'_>> {
    modules
        .iter()
        .map(|module| Declarer {
            name: module.name(),
            title: module.info().title(),
            gate: module.gate(),
            described: module.described(),
        })
        .collect()
}

/// Has modules of a living generation give up what their next one may need, dependents first. Those that were called, in
/// that order: the last one may have failed.
pub(crate) fn suspend(
    core: &Core,
    loads: &Loads,
    modules: &[Rc<MasterModule>],
) -> (Vec<Rc<MasterModule>>, Result<(), LoadError>) {
    let mut called = Vec::new();
    let all = modules.iter().rev().filter(|module| module.suspends()).try_for_each(|module| {
        caught(|| {
            faults::at(ReloadStep::Suspend)?;
            loads.recorder.note(|record| record.suspended.push(module.name().to_owned()));
            called.push(Rc::clone(module));
            let suspended = loads.while_living(|| module.suspend(&core.red));
            suspended.map_err(|error| LoadError::Suspend { module: module.name().to_owned(), error })
        })
    });
    (called, all)
}

/// Has those modules take it again, in the opposite order. What went wrong: each goes on all the same.
pub(crate) fn resume(core: &Core, loads: &Loads, suspended: &[Rc<MasterModule>]) -> Vec<String> {
    let mut problems = Vec::new();
    for module in suspended.iter().rev() {
        loads.recorder.note(|record| record.resumed.push(module.name().to_owned()));
        if let Err(error) = loads.while_living(|| module.resume(&core.red)) {
            let name = module.name();
            tracing::error!(module = name, %error, "a resume failed");
            problems.push(format!("resume of {name} failed, and {name} goes on as that left it: {error}"));
        }
    }
    problems
}

/// Runs the mains of a generation, dependencies first. `before` are the modules that it replaces.
///
/// # Errors
/// The main that panicked.
pub(crate) fn start(
    core: &Core,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<MasterModule>],
    before: &[Rc<MasterModule>],
) -> Result<(), LoadError> {
    loads.raise(&MasterEvent::PreStartup(generation));
    let fault = |step| caught(|| Ok(faults::at(step)?));
    fault(ReloadStep::PreStartup)?;
    for module in modules {
        let main = || {
            faults::at(ReloadStep::Main)?;
            loads.recorder.note(|record| record.mains.push(module.name().to_owned()));
            let main = module.main(&core.red, &loads.args);
            main.map_err(|error| {
                let beside = before.iter().find(|old| old.name() == module.name() && !old.suspends());
                let beside = beside.map(|old| old.gate().tag().generation.0);
                LoadError::Main { module: module.name().to_owned(), error, beside }
            })
        };
        caught(main)?;
        loads.raise(&MasterEvent::Startup(generation, module.name().to_owned()));
    }
    loads.raise(&MasterEvent::PostStartup(generation));
    fault(ReloadStep::PostStartup)
}

/// Makes the class default objects of new classes: bases before what is derived, classes of subobjects before what has
/// them.
///
/// # Errors
/// The step of the birth that failed.
pub(crate) fn make_cdos(core: &Core, classes: &[Rc<Class>]) -> Result<(), LoadError> {
    classes.iter().try_for_each(|class| make_after_parts(core, class, &mut Vec::new()))
}

fn make_after_parts(core: &Core, class: &Rc<Class>, under_way: &mut Vec<ClassId>) -> Result<(), LoadError> {
    // A class that contains itself is refused where its object is made.
    if core.world.objects.is_alive(class.cdo.get()) || under_way.contains(&class.id) {
        return Ok(());
    }
    under_way.push(class.id);
    for subobject in class.chain().iter().flat_map(|class| &class.subobjects) {
        if let Some(part) = core.world.types.class_by_path(&class.subobject_class(subobject)) {
            make_after_parts(core, &part, under_way)?;
        }
    }
    faults::at(ReloadStep::ClassDefault)?;
    make_cdo(&core.world, &core.plugins(), class)?;
    Ok(())
}

/// Creates the Master from a set of libraries.
///
/// # Errors
/// Why not; nothing of the libraries is left in the process then, or it is listed as parked.
pub(crate) fn create(core: &Rc<Core>, loads: &Loads, paths: &[PathBuf]) -> Result<(), LoadError> {
    if let Some(master) = loads.master() {
        return Err(LoadError::MasterAlive { generation: master.generation.0 });
    }
    loads.check_budget()?;
    let generation = loads.next_generation();
    let coming_up = loads.come_up(core);
    let brought_up = bring_up(core, loads, paths, generation, None).inspect_err(|_| loads.give_back(generation))?;
    let modules = brought_up.new;
    core.world.types.begin_shadow();
    core.world.objects.begin_shadow();
    // Until the commit, and in a failure until their exit hooks have run, they change nothing that could not be taken back.
    let staging = core.world.mode.enter(mode::STAGING);
    match go_live(core, loads, generation, &modules) {
        Ok(()) => {
            drop((staging, coming_up));
            core.tasks.commit_staged();
            core.world.objects.commit_shadow();
            core.world.types.commit_shadow();
            loads.set_master(Some(Master { generation, modules, paths: paths.to_vec() }));
            loads.raise(&MasterEvent::Loaded(generation));
            Ok(())
        }
        Err((is_known, error)) => {
            let unload = GenerationUnload { cause: UnloadCause::NotCreated, generation, modules: &modules, is_known };
            let _ticket = generation::unload(core, loads, &unload, &mut |step| {
                if step == UnloadStep::EndObjects {
                    let _births = undo_births(core);
                    core.world.types.drop_shadow();
                }
            });
            Err(error)
        }
    }
}

/// Emits, starts and makes the defaults; in a failure, whether anybody has heard of the generation.
fn go_live(
    core: &Rc<Core>,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<MasterModule>],
) -> Result<(), (bool, LoadError)> {
    let declarers = declarers(modules);
    let classes = caught(|| Ok(emit(core, &declarers, &declarers)?)).map_err(|error| (false, error))?;
    start(core, loads, generation, modules, &[]).map_err(|error| (true, error))?;
    caught(|| make_cdos(core, &classes)).map_err(|error| (true, error))
}

/// Destroys what was born since the shadow of the object store was begun, and drops the shadow. How many were born, by
/// the path of their class.
pub(crate) fn undo_births(core: &Core) -> BTreeMap<String, u64> {
    let (_staged, born) = core.world.objects.drop_shadow();
    let mut births = BTreeMap::new();
    for class in born.iter().filter_map(|object| core.world.objects.class(*object)) {
        *births.entry(class.path.to_string()).or_default() += 1;
    }
    for object in born.into_iter().rev() {
        destroy(&core.world, &core.plugins(), object);
    }
    births
}

/// The numbers of modules.
pub(crate) fn ids(modules: &[Rc<MasterModule>]) -> impl Iterator<Item = ModuleId> {
    modules.iter().map(|module| module.gate().tag().id)
}

/// An unload of the Master: it has none any more, and the images are gone or on their way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unload {
    /// The generation that ended.
    pub generation: u64,
    /// Objects of dynamic classes that were destroyed with it.
    pub objects_ended: u64,
    /// Images that stay mapped, and why.
    pub parked: Vec<String>,
    /// Whether its images are gone, and who keeps them.
    pub ticket: UnloadTicket,
}

impl std::fmt::Display for Unload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { generation, objects_ended, ticket, .. } = self;
        writeln!(f, "generation {generation} unloaded · {objects_ended} objects ended")?;
        match ticket.end_report() {
            Some(report) => write!(f, "{report}"),
            None => write!(f, "{}", ticket.report()),
        }
    }
}

/// Unloads the Master: every object of its classes ends, then its modules.
///
/// # Errors
/// When there is none.
pub(crate) fn unload(core: &Rc<Core>, loads: &Loads) -> Result<Unload, LoadError> {
    let Master { generation, modules, .. } = loads.set_master(None).ok_or(LoadError::NoMaster)?;
    let mut objects_ended = 0;
    let unload = GenerationUnload { cause: UnloadCause::Unloaded, generation, modules: &modules, is_known: true };
    let ticket = generation::unload(core, loads, &unload, &mut |step| match step {
        // All are told before the first is gone, and every one of them still answers.
        UnloadStep::Tell => tell_of_end(core),
        UnloadStep::EndObjects => objects_ended = end_objects(core, &modules),
        _ => {}
    });
    Ok(Unload { generation: generation.0, objects_ended, parked: ticket.parked_lines(), ticket })
}

/// The objects of dynamic classes: without their module they have no behavior left.
fn dynamic_objects(core: &Core) -> Vec<ObjectHandle> {
    let objects = &core.world.objects;
    objects.alive().into_iter().filter(|object| objects.needs_module(*object)).collect()
}

/// Tells whoever wants to know of the end of each object of a dynamic class.
fn tell_of_end(core: &Core) {
    for object in dynamic_objects(core) {
        // A template has nobody to tell, and one that another took with it is gone already.
        if core.world.objects.is_alive(object) && !core.world.objects.is_template(object) {
            core.tell_before_end(object);
        }
    }
}

/// Destroys the objects of dynamic classes, whose natives stay, and hides the types of the modules. How many there were.
fn end_objects(core: &Core, modules: &[Rc<MasterModule>]) -> u64 {
    let (objects, ending) = (&core.world.objects, dynamic_objects(core));
    // Counted before the first goes, since an object takes its subobjects with it.
    let count = ending.iter().filter(|object| !objects.is_template(**object)).count() as u64;
    for object in ending {
        if objects.is_alive(object) {
            destroy(&core.world, &core.plugins(), object);
        }
    }
    core.world.types.begin_shadow();
    let types = modules.iter().flat_map(|module| &module.info().types);
    core.world.types.hide_in_shadow(types.map(String::as_str));
    core.world.types.commit_shadow();
    count
}
