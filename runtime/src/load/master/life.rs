//! The Master is created and unloaded.

use std::path::PathBuf;
use std::rc::Rc;

use alcedo_abi::host::mode;

use crate::bridge::core::Core;
use crate::emit::batch::emit;
use crate::handles::{Generation, ObjectHandle};
use crate::load::error::{LoadError, caught};
use crate::load::events::MasterEvent;
use crate::load::module::master::MasterModule;
use crate::object::construction::destroy;
use crate::unload::generation;
use crate::unload::steps::{UnloadCause, UnloadStep};
use crate::unload::subject::GenerationUnload;
use crate::unload::ticket::UnloadTicket;

use crate::load::master::bring_up::bring_up;
use crate::load::master::loads::{Loads, Master};
use crate::load::master::start::{declarers, make_cdos, start, undo_constructions};

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
                    let _births = undo_constructions(core);
                    core.world.types.drop_shadow();
                }
            });
            Err(error)
        }
    }
}

/// Emits, starts and makes the defaults; in a failure, whether a listener was called for the generation.
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

/// An unload of the Master: it has none any more, and the images are gone or on their way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unload {
    /// The generation that ended.
    pub generation: u64,
    /// Objects of dynamic classes that were destroyed with it.
    pub objects_ended: u64,
    /// Images that stay mapped, and why.
    pub parked: Vec<String>,
    /// Whether its images are gone, and what keeps them.
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
        // Listeners are called for all objects before the first is gone, and every object is still usable.
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

/// Calls the listeners for the end of each object of a dynamic class.
fn tell_of_end(core: &Core) {
    for object in dynamic_objects(core) {
        // A template has no listeners, and an object that another took with it is gone already.
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
