//! Starts, suspends and resumes the modules of a generation, and creates class default objects.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bridge::core::Core;
use crate::emit::batch::Declarer;
use crate::faults::{self, ReloadStep};
use crate::handles::{ClassId, Generation};
use crate::load::context::event::ContextEventKind;
use crate::load::error::{LoadError, caught};
use crate::load::module::master::MasterModule;
use crate::object::class::Class;
use crate::object::construction::{destroy, leave_classes, make_cdo};

use crate::load::master::loads::Loads;

pub(crate) fn declarers(modules: &[Rc<MasterModule>]) -> Vec<Declarer<'_>> {
    modules
        .iter()
        .map(|module| Declarer {
            name: module.name(),
            title: module.info().title(),
            gate: module.gate(),
            leases: module.leases(),
            described: module.described(),
            #[cfg(feature = "script")]
            scripts: module.code().scripts(),
            needs: module.info().dependencies.iter().map(|(name, _)| &**name).collect(),
        })
        .collect()
}

/// Suspends modules of a living generation, dependents first. In `suspend`, the modules release resources for their successors. Returns the
/// called modules in the order of the calls, even after an error. If a `suspend` has failed, its module is the last returned module.
pub(crate) fn suspend(
    core: &Core,
    loads: &Loads,
    modules: &[Rc<MasterModule>],
) -> (Vec<Rc<MasterModule>>, Result<(), LoadError>) {
    let mut called = Vec::new();
    let all = modules.iter().rev().filter(|module| module.code().suspends()).try_for_each(|module| {
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

/// Resumes the suspended modules in reverse order. Returns a message for each failure. A module whose `resume` fails continues to run.
pub(crate) fn resume(core: &Core, loads: &Loads, suspended: &[Rc<MasterModule>]) -> Vec<String> {
    let mut problems = Vec::new();
    for module in suspended.iter().rev() {
        loads.recorder.note(|record| record.resumed.push(module.name().to_owned()));
        if let Err(error) = loads.while_living(|| module.resume(&core.red)) {
            let name = module.name();
            log!(ERROR, module = name, %error, "a resume failed");
            problems.push(format!("resume of {name} failed, and {name} continues in that state: {error}"));
        }
    }
    problems
}

/// Runs the mains of a generation, dependencies first. `before` contains the modules that this generation replaces. Stops at the first main
/// that fails, and returns its error.
pub(crate) fn start(
    core: &Core,
    loads: &Loads,
    generation: Generation,
    modules: &[Rc<MasterModule>],
    before: &[Rc<MasterModule>],
) -> Result<(), LoadError> {
    loads.raise(generation, ContextEventKind::PreStartup);
    let fault = |step| caught(|| Ok(faults::at(step)?));
    fault(ReloadStep::PreStartup)?;
    for module in modules {
        let main = || {
            faults::at(ReloadStep::Main)?;
            loads.recorder.note(|record| record.mains.push(module.name().to_owned()));
            let main = module.main(&core.red, &loads.registry.settings.args);
            main.map_err(|error| {
                let live_generation = before.iter().find(|old| old.name() == module.name() && !old.code().suspends());
                let live_generation = live_generation.map(|old| old.gate().tag().generation.0);
                LoadError::Main { module: module.name().to_owned(), error, live_generation }
            })
        };
        caught(main)?;
        loads.raise(generation, ContextEventKind::Startup(module.name().to_owned()));
    }
    loads.raise(generation, ContextEventKind::PostStartup);
    fault(ReloadStep::PostStartup)?;
    check_uses(loads, modules)
}

/// Checks that the modules declare permissions for all resource uses that their hooks have noted.
pub(crate) fn check_uses(loads: &Loads, modules: &[Rc<MasterModule>]) -> Result<(), LoadError> {
    modules.iter().try_for_each(|module| loads.registry.check_uses(module))
}

/// Creates the class default objects of new classes. Base classes precede derived classes. Classes of subobjects precede the classes of
/// their owners. Returns an error if a construction fails.
pub(crate) fn make_cdos(core: &Core, classes: &[Rc<Class>]) -> Result<(), LoadError> {
    classes.iter().try_for_each(|class| make_after_parts(core, class, &mut Vec::new()))
}

fn make_after_parts(core: &Core, class: &Rc<Class>, in_progress: &mut Vec<ClassId>) -> Result<(), LoadError> {
    // Skips a class that declares itself as the class of a subobject. The construction of the class default object reports this error.
    if core.world.objects.is_alive(class.cdo.get()) || in_progress.contains(&class.id) {
        return Ok(());
    }
    in_progress.push(class.id);
    for subobject in class.chain().iter().flat_map(|class| &class.subobjects) {
        if let Some(part) = core.world.types.class_by_path(&class.subobject_class(subobject)) {
            make_after_parts(core, &part, in_progress)?;
        }
    }
    faults::at(ReloadStep::ClassDefault)?;
    make_cdo(&core.world, &core.plugins(), class)?;
    Ok(())
}

/// Drops the shadow of the object store, and destroys all objects that were created during the shadow. Returns the number of destroyed
/// objects per class path.
pub(crate) fn undo_constructions(core: &Core) -> BTreeMap<String, u64> {
    let (replaced, created) = core.world.objects.drop_shadow();
    core.end_replaced(&replaced);
    let mut constructions = BTreeMap::new();
    for class in created.iter().filter_map(|object| core.world.objects.class(*object)) {
        *constructions.entry(class.path.to_string()).or_default() += 1;
    }
    for object in created.into_iter().rev() {
        destroy(&core.world, &core.plugins(), object);
    }
    leave_classes(&core.world);
    constructions
}
