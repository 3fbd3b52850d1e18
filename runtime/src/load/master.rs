//! The Master load context: create and unload, and the steps that a reload shares with them. There is one at a time;
//! each has a generation, and everything its modules hand out ends with it.
#![expect(unsafe_code, reason = "unmaps the images of a generation that has ended")]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use alcedo_sys::{StageDir, Unmapped};

use crate::bridge::core::Core;
use crate::emit::batch::{Declarer, emit};
use crate::handles::{ClassId, Generation, ModuleId, ObjectHandle};
use crate::host_table::HostWord;
use crate::load::error::LoadError;
use crate::load::events::MasterEvent;
use crate::load::module::Module;
use crate::load::open;
use crate::load::state::{ContextEvent, ContextState};
use crate::object::birth::{destroy, make_cdo};
use crate::object::class::Class;

/// How long an unload waits for the finalizer thread before it leaves the images mapped.
const DRAIN_DEADLINE: Duration = Duration::from_secs(5);

/// The living Master load context.
#[derive(Clone)]
pub(crate) struct Master {
    /// Its generation.
    pub generation: Generation,
    /// Its modules, dependencies first.
    pub modules: Vec<Rc<Module>>,
    /// The files they came from, as the host named them.
    pub paths: Vec<PathBuf>,
}

/// Who listens to the events of the Master.
pub(crate) type Observer = Rc<dyn Fn(&MasterEvent)>;

/// What all load contexts of a runtime share. Game thread only.
pub(crate) struct Loads {
    /// Private copies of libraries.
    pub stage_dir: StageDir,
    /// What modules get as their host.
    pub word: Option<Box<HostWord>>,
    /// Arguments for the mains of startup modules.
    pub args: Vec<String>,
    /// Whether unsealed libraries are refused.
    pub require_seal: bool,
    master: RefCell<Option<Master>>,
    observers: RefCell<Vec<Observer>>,
    parked: RefCell<Vec<String>>,
    states: RefCell<BTreeMap<Generation, ContextState>>,
    last_module: Cell<u64>,
    last_generation: Cell<u64>,
}

impl Loads {
    /// Nothing is loaded yet.
    ///
    /// # Errors
    /// When the folder for private copies cannot be made.
    pub(crate) fn new(core: &Rc<Core>, args: Vec<String>, require_seal: bool) -> std::io::Result<Self> {
        Ok(Self {
            stage_dir: StageDir::new()?,
            word: Some(HostWord::new(core)),
            args,
            require_seal,
            master: RefCell::default(),
            observers: RefCell::default(),
            parked: RefCell::default(),
            states: RefCell::default(),
            last_module: Cell::default(),
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
    pub(crate) fn observe(&self, observer: Observer) {
        self.observers.borrow_mut().push(observer);
    }

    /// Tells everybody who listens.
    pub(crate) fn raise(&self, event: &MasterEvent) {
        let observers = self.observers.borrow().clone();
        for observer in observers {
            // One listener's panic is not another's, and never the reload's.
            if let Err(error) = crate::border::trap(|| {
                observer(event);
                Ok(())
            }) {
                tracing::error!(%event, %error, "a listener of the load context panicked");
            }
        }
    }

    /// Every Master that is not dead, and how far its life has come; what cannot die stays in the list.
    pub(crate) fn states(&self) -> Vec<(Generation, ContextState)> {
        self.states.borrow().iter().map(|(generation, state)| (*generation, *state)).collect()
    }

    fn step(&self, generation: Generation, event: ContextEvent) {
        let mut states = self.states.borrow_mut();
        let state = states.get(&generation).copied().unwrap_or(ContextState::Alive);
        match state.step(event) {
            Ok(ContextState::Dead) => {
                states.remove(&generation);
            }
            Ok(state) => {
                states.insert(generation, state);
            }
            Err(error) => tracing::error!(%generation, %error, "the life of a load context is out of order"),
        }
    }

    /// Images that stay mapped, and why.
    pub(crate) fn parked(&self) -> Vec<String> {
        self.parked.borrow().clone()
    }

    /// The number of the next generation.
    pub(crate) fn next_generation(&self) -> Generation {
        self.last_generation.set(self.last_generation.get() + 1);
        Generation(self.last_generation.get())
    }

    /// Gives a number back that no module has seen: the generation was refused while staging.
    pub(crate) fn give_back(&self, generation: Generation) {
        // One whose images are parked keeps its number.
        if self.last_generation.get() == generation.0 && !self.states.borrow().contains_key(&generation) {
            self.last_generation.set(generation.0 - 1);
        }
    }

    fn next_module(&self) -> ModuleId {
        self.last_module.set(self.last_module.get() + 1);
        ModuleId(self.last_module.get())
    }
}

impl Drop for Loads {
    fn drop(&mut self) {
        // A parked image may have threads that log: the word they hold stays valid for as long as they are mapped.
        if !self.parked.get_mut().is_empty() {
            std::mem::forget(self.word.take());
        }
    }
}

/// Reads, checks, copies and maps a set of libraries for `generation`, dependencies first.
///
/// # Errors
/// The first that does not fit; what was mapped until then is unmapped.
pub(crate) fn bring_up(
    core: &Rc<Core>,
    loads: &Loads,
    paths: &[PathBuf],
    generation: Generation,
) -> Result<Vec<Rc<Module>>, LoadError> {
    loads.states.borrow_mut().insert(generation, ContextState::Alive);
    let staged = open::stage(&loads.stage_dir, paths, loads.require_seal).inspect_err(|_| {
        loads.states.borrow_mut().remove(&generation);
    })?;
    let mut modules = Vec::new();
    for staged in staged {
        match open::open(core, loads.word(), staged, loads.next_module(), generation) {
            Ok(module) => modules.push(module),
            Err(error) => {
                wind_down(core, loads, generation, &modules, ExitHooks::NeverStarted);
                return Err(error);
            }
        }
    }
    Ok(modules)
}

/// The modules as far as emitting goes.
pub(crate) fn declarers(modules: &[Rc<Module>]) -> Vec<Declarer<'_>> {
    modules.iter().map(|module| Declarer { name: module.name(), gate: module.gate(), root: module.root() }).collect()
}

/// Runs the mains of a generation, dependencies first. Returns how many have run when one fails.
///
/// # Errors
/// The main that panicked, and how many before it have returned.
pub(crate) fn start(
    core: &Core,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<Module>],
) -> Result<(), (usize, LoadError)> {
    loads.raise(&MasterEvent::PreStartup(generation));
    for (at, module) in modules.iter().enumerate() {
        module
            .main(&core.red, &loads.args)
            .map_err(|error| (at, LoadError::Main { module: module.name().to_owned(), error }))?;
        loads.raise(&MasterEvent::Startup(generation, module.name().to_owned()));
    }
    loads.raise(&MasterEvent::PostStartup(generation));
    Ok(())
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
    make_cdo(&core.world, &core.plugins(), class)?;
    Ok(())
}

/// Which modules of a generation get their exit hook when it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitHooks {
    /// The main of none has run.
    NeverStarted,
    /// The first so many mains have returned.
    Started(usize),
    /// All have run.
    All,
}

impl ExitHooks {
    fn covers(self, at: usize) -> bool {
        match self {
            Self::NeverStarted => false,
            Self::Started(count) => at < count,
            Self::All => true,
        }
    }
}

/// Creates the Master from a set of libraries.
///
/// # Errors
/// Why not; nothing of the libraries is left in the process then, or it is listed as parked.
pub(crate) fn create(core: &Rc<Core>, loads: &Loads, paths: &[PathBuf]) -> Result<(), LoadError> {
    if let Some(master) = loads.master() {
        return Err(LoadError::MasterAlive { generation: master.generation.0 });
    }
    let generation = loads.next_generation();
    let modules = bring_up(core, loads, paths, generation).inspect_err(|_| loads.give_back(generation))?;
    core.pairs.set_live_generation(generation);
    core.world.types.begin_shadow();
    core.world.objects.begin_shadow();
    match go_live(core, loads, generation, &modules) {
        Ok(()) => {
            core.world.objects.commit_shadow();
            core.world.types.commit_shadow();
            loads.set_master(Some(Master { generation, modules, paths: paths.to_vec() }));
            loads.raise(&MasterEvent::Loaded(generation));
            Ok(())
        }
        Err((started, error)) => {
            undo_births(core);
            core.world.types.drop_shadow();
            end_generation(core, generation);
            core.pairs.set_live_generation(Generation::HOST);
            wind_down(core, loads, generation, &modules, started);
            Err(error)
        }
    }
}

fn go_live(
    core: &Rc<Core>,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<Module>],
) -> Result<(), (ExitHooks, LoadError)> {
    let classes = emit(core, &declarers(modules)).map_err(|error| (ExitHooks::NeverStarted, error.into()))?;
    start(core, loads, generation, modules).map_err(|(count, error)| (ExitHooks::Started(count), error))?;
    make_cdos(core, &classes).map_err(|error| (ExitHooks::All, error))
}

/// Destroys what was born since the shadow of the object store was begun, and drops the shadow.
pub(crate) fn undo_births(core: &Core) {
    let (_staged, born) = core.world.objects.drop_shadow();
    for object in born.into_iter().rev() {
        destroy(&core.world, &core.plugins(), object);
    }
}

/// Nothing that a generation handed out leads anywhere any more; its plugin halves go to the finalizer thread.
pub(crate) fn end_generation(core: &Core, generation: Generation) {
    for parts in core.pairs.release_generation(generation) {
        core.finalizer.finalize(parts);
    }
    core.zcalls.end_generation(generation);
    core.explicit.end_generation(generation);
    core.exports.end_generation(generation);
    let ended: Vec<_> = {
        let hooks = core.hooks.borrow();
        hooks.iter().filter(|(_, hooks)| hooks.gate.tag().generation == generation).map(|(id, _)| *id).collect()
    };
    for class in ended {
        core.hooks.borrow_mut().remove(&class);
        core.world.types.forget(class);
    }
}

/// Ends the modules of a generation that [`end_generation`] has been called for: exit hooks, finalizers, images.
/// Returns what stays mapped, and why.
pub(crate) fn wind_down(
    core: &Core,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<Module>],
    exits: ExitHooks,
) -> Vec<String> {
    loads.step(generation, ContextEvent::BeginUnload);
    for module in modules {
        module.gate().close();
    }
    for (_, module) in modules.iter().enumerate().rev().filter(|(at, _)| exits.covers(*at)) {
        if let Err(error) = module.exit(&core.red) {
            tracing::error!(module = module.name(), %generation, %error, "an exit hook failed");
        }
    }
    core.finalizer.release();
    let drained = core.finalizer.drain(DRAIN_DEADLINE, || {});
    if exits != ExitHooks::NeverStarted {
        loads.raise(&MasterEvent::Unloaded(generation));
    }
    let is_free = drained && modules.iter().all(|module| module.gate().inside() == 0);
    loads.step(generation, if is_free { ContextEvent::LeasesGone } else { ContextEvent::LeasesRemain });
    let mut parked = Vec::new();
    for module in modules.iter().rev() {
        core.logs.forget(module.gate().tag());
        let end = if is_free {
            // SAFETY: the generation has ended: no conjugate, handle or record of it is left, its gate is shut,
            // nobody is inside, and the finalizer thread has dropped its last part.
            unsafe { module.unmap() }
        } else {
            module.park()
        };
        if let Some(Unmapped::Parked { path, reason }) = end {
            let reason = if drained { reason } else { format!("a finalizer did not end within {DRAIN_DEADLINE:?}") };
            parked.push(format!(
                "{} of generation {generation} stays mapped ({}): {reason}",
                module.name(),
                file(&path)
            ));
        }
    }
    if parked.is_empty() {
        loads.step(generation, ContextEvent::ImageGone);
    } else {
        loads.step(generation, ContextEvent::ImageStays);
        loads.step(generation, ContextEvent::Park);
    }
    loads.parked.borrow_mut().extend(parked.iter().cloned());
    if exits != ExitHooks::NeverStarted {
        loads.raise(&match parked.is_empty() {
            true => MasterEvent::Dead(generation),
            false => MasterEvent::Parked(generation, parked.clone()),
        });
    }
    parked
}

fn file(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What an unload left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unload {
    /// The generation that ended.
    pub generation: u64,
    /// Objects of dynamic classes that were destroyed with it.
    pub objects_ended: u64,
    /// Images that stay mapped, and why.
    pub parked: Vec<String>,
}

/// Unloads the Master: every object of its classes ends, then its modules.
///
/// # Errors
/// When there is none.
pub(crate) fn unload(core: &Rc<Core>, loads: &Loads) -> Result<Unload, LoadError> {
    let master = loads.set_master(None).ok_or(LoadError::NoMaster)?;
    let generation = master.generation;
    loads.raise(&MasterEvent::Unloading(generation));
    let mut unload = Unload { generation: generation.0, ..Unload::default() };
    // Without their module the objects of dynamic classes have no behavior left; their natives stay.
    let objects = &core.world.objects;
    let is_dynamic = |object: &ObjectHandle| objects.class(*object).is_some_and(|class| class.has_plugin_half());
    let ending: Vec<_> = objects.alive().into_iter().filter(is_dynamic).collect();
    // Counted before the first goes, since an object takes its subobjects with it.
    unload.objects_ended = ending.iter().filter(|object| !objects.is_template(**object)).count() as u64;
    for object in ending {
        // One that went with its owner is gone already; a template has nobody to tell.
        match objects.is_template(object) {
            true => destroy(&core.world, &core.plugins(), object),
            false => drop(core.end_object(object)),
        }
    }
    core.world.types.begin_shadow();
    let types = master.modules.iter().flat_map(|module| &module.info().types);
    core.world.types.hide_in_shadow(types.map(String::as_str));
    core.world.types.commit_shadow();
    end_generation(core, generation);
    core.pairs.set_live_generation(Generation::HOST);
    unload.parked = wind_down(core, loads, generation, &master.modules, ExitHooks::All);
    Ok(unload)
}
