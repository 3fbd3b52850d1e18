//! Creation and unload of the Master.

use std::path::PathBuf;
use std::rc::Rc;

use alcedo_abi::host::mode;
use alcedo_base::figures::counted;

use crate::bridge::core::Core;
use crate::emit::batch::emit;
use crate::handles::{Generation, ObjectHandle};
use crate::load::context::masters::Masters;
use crate::load::error::{LoadError, caught};
use crate::load::module::master::MasterModule;
use crate::object::construction::destroy;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::ticket::UnloadTicket;

use crate::load::master::bring_up::bring_up;
use crate::load::master::generation;
use crate::load::master::loads::{GenerationUnload, Loads, Master};
use crate::load::master::start::{check_uses, declarers, make_cdos, start, undo_constructions};

/// Creates the Master from a set of libraries. After an error, the libraries are unmapped or listed as parked.
pub(crate) fn create(core: &Rc<Core>, loads: &Loads, paths: &[PathBuf]) -> Result<(), LoadError> {
    if let Some(master) = loads.master() {
        return Err(LoadError::MasterAlive { generation: master.generation.0 });
    }
    loads.registry.check_budget()?;
    let generation = loads.next_generation();
    let starting = loads.mark_starting(core);
    let brought_up = bring_up(core, loads, paths, generation, None).inspect_err(|_| loads.give_back(generation))?;
    let modules = brought_up.new;
    core.world.types.begin_shadow();
    core.world.objects.begin_shadow();
    // Restricts modules to reversible changes until the commit. After a failed start, the restriction is lifted when the exit hooks of the
    // modules have run.
    let staging = core.world.mode.enter(mode::STAGING);
    match go_live(core, loads, generation, &modules) {
        Ok(()) => {
            drop((staging, starting));
            core.tasks.commit_staged();
            core.world.objects.commit_shadow();
            core.world.types.commit_shadow();
            loads.set_master(Some(Master { generation, modules, paths: paths.to_vec() }));
            loads.raise_loaded(generation);
            Ok(())
        }
        Err((is_known, error)) => {
            let unload = GenerationUnload { cause: UnloadCause::NotCreated, generation, modules: &modules, is_known };
            let _ticket = generation::unload(core, loads, &unload, &mut |step| {
                if step == UnloadStep::EndObjects {
                    let _births = undo_constructions(core);
                    core.world.types.drop_shadow();
                }
            });
            Err(error)
        }
    }
}

/// Declares the types, starts the modules and creates the class default objects. The error contains a flag that is true if a listener was
/// called for the generation.
fn go_live(
    core: &Rc<Core>,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<MasterModule>],
) -> Result<(), (bool, LoadError)> {
    let declarers = declarers(modules);
    let classes = caught(|| Ok(emit(core, &declarers, &declarers)?)).map_err(|error| (false, error))?;
    modules.iter().for_each(|module| module.record_linked_types(&core.world.types));
    start(core, loads, generation, modules, &[]).map_err(|error| (true, error))?;
    caught(|| make_cdos(core, &classes)).and_then(|()| check_uses(loads, modules)).map_err(|error| (true, error))
}

/// Result of an unload of the Master. The unload may still be in progress.
///
/// # Examples
/// ```rust,no_run
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// # let runtime = alcedo_runtime::Runtime::builder().build()?;
/// runtime.request_unload();
/// runtime.safe_point();
/// for unload in runtime.take_unloads() {
///     println!("generation {}: {} objects destroyed", unload.generation, unload.objects_ended);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unload {
    /// Number of the generation whose unload has begun.
    pub generation: u64,
    /// Number of destroyed objects. Only objects of dynamic classes are destroyed.
    pub objects_ended: u64,
    /// Images that stay mapped. Each entry contains the reason.
    pub parked: Vec<String>,
    /// Ticket of the unload. Provides the blockers, and later the report.
    pub ticket: UnloadTicket,
}

impl std::fmt::Display for Unload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { generation, objects_ended, ticket, .. } = self;
        writeln!(f, "generation {generation} unloaded · {} ended", counted(*objects_ended, "object"))?;
        match ticket.end_report() {
            Some(report) => write!(f, "{report}"),
            None => write!(f, "{}", ticket.report()),
        }
    }
}

/// Unloads the Master. Destroys every object of the Master's classes, then unloads the modules. Returns an error if no Master is loaded.
pub(crate) fn unload(core: &Rc<Core>, loads: &Loads) -> Result<Unload, LoadError> {
    let Master { generation, modules, .. } = loads.set_master(None).ok_or(LoadError::NoMaster)?;
    let mut objects_ended = 0;
    let unload = GenerationUnload { cause: UnloadCause::Unloaded, generation, modules: &modules, is_known: true };
    let ticket = generation::unload(core, loads, &unload, &mut |step| match step {
        // Calls the listeners for the destruction of objects before the first object is destroyed. The listeners can use every object.
        UnloadStep::Notify => call_end_listeners(core, &loads.registry.masters, generation),
        UnloadStep::EndObjects => objects_ended = end_objects(core, &modules),
        _ => {}
    });
    Ok(Unload { generation: generation.0, objects_ended, parked: ticket.parked_lines(), ticket })
}

/// Returns the objects of dynamic classes. A dynamic class requires the code of a module.
fn dynamic_objects(core: &Core) -> Vec<ObjectHandle> {
    let objects = &core.world.objects;
    objects.alive().into_iter().filter(|object| objects.needs_module(*object)).collect()
}

/// Maximum number of passes over all objects in an unload. The listeners of each pass may create objects.
const MOST_PASSES: usize = 16;

/// Listeners of created objects may create [`MOST_PASSES`] objects for each object that existed before the unload. A smaller world counts as
/// this number of objects.
const LEAST_OBJECTS: usize = 256;

/// Calls the destruction listeners of each object of a dynamic class and of its subobjects, including objects that listeners create. If the
/// listeners create too many objects, records a problem of the generation, and calls no more listeners.
fn call_end_listeners(core: &Core, masters: &Masters, generation: Generation) {
    let Err(created) = announce_ends(core, masters, generation) else { return };
    let objects = &core.world.objects;
    let class = objects.living().last().and_then(|last| objects.class(*last));
    let class = class.map_or_else(|| "a destroyed class".to_owned(), |class| class.short_path().to_owned());
    let problem = format!(
        "in an unload, `before_destroy` hooks have created {created}, most recently an object of {class}; the last objects are \
         destroyed without hooks: create no objects in these hooks"
    );
    masters.note(generation, problem);
}

/// Calls the destruction listeners in passes, until a pass creates no objects. Records a panic of a listener as a problem of the
/// generation. If the listeners create too many objects, returns a description of these objects.
fn announce_ends(core: &Core, masters: &Masters, generation: Generation) -> Result<(), String> {
    let (objects, constructions) = (&core.world.objects, &core.world.counters.constructions);
    let (mut ending, first) = (dynamic_objects(core), constructions.get());
    let most = (ending.len().max(LEAST_OBJECTS) * MOST_PASSES) as u64;
    // The first pass has no limit, so that the listeners of all existing objects are called.
    let mut limit = u64::MAX;
    for _pass in 0..MOST_PASSES {
        let before = constructions.get();
        for object in ending {
            if constructions.get() > limit {
                return Err(counted(constructions.get() - first, "object"));
            }
            // Skips templates, because templates have no listeners. Also skips objects that an earlier listener has destroyed, and objects
            // of an earlier pass. After `announce_end`, a listener cannot destroy the object, because the unload destroys the object.
            if !objects.is_template(object) {
                core.announce_end(object, |object, message| {
                    let object = objects.display(object);
                    masters.note(generation, format!("the hook before the destroy of {object} panicked: {message}"));
                });
            }
        }
        if constructions.get() == before {
            return Ok(());
        }
        limit = limit.min(constructions.get().saturating_add(most));
        ending = dynamic_objects(core);
    }
    Err(format!("objects {MOST_PASSES} times"))
}

/// Destroys the objects of dynamic classes and hides the types of the modules. Native objects remain. Returns the number of destroyed
/// objects, not counting templates.
fn end_objects(core: &Core, modules: &[Rc<MasterModule>]) -> u64 {
    let (objects, ending) = (&core.world.objects, dynamic_objects(core));
    // Counts the objects in advance, because destroying an object also destroys its subobjects.
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
