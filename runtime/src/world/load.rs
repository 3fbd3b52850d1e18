//! Loads a world as a transaction. All steps that may fail run before the commit. The commit makes the new objects permanent.
//! After the commit, the old objects are destroyed one by one.

use std::path::Path;
use std::rc::Rc;

use alcedo_abi::host::mode;

use crate::boundary::catch_panics;
use crate::bridge::core::Core;
use crate::bridge::unbinding::unbind_broken;
use crate::conjugate::named_fields::NamedFields;
use crate::faults::{self, ReloadStep};
use crate::handles::ObjectHandle;
use crate::load::master::undo_constructions;
use crate::object::construction::destroy_plain;
use crate::object::path::short;
use crate::reload::changes::ClassChange;
use crate::reload::object_plan::ObjectPlan;
use crate::world::bring::Bringing;
use crate::world::disk;
use crate::world::error::WorldError;
use crate::world::plan::{ClassPlan, plan_class};
use crate::world::records::FlatFile;
use crate::world::report::WorldLoadReport;

/// Replaces the current world by the world in a file. Must be called at a safe point. After an error the world is unchanged.
pub(crate) fn load(core: &Rc<Core>, path: &Path) -> Result<WorldLoadReport, WorldError> {
    let bytes = disk::read(path)?;
    let file = FlatFile::decode(&bytes).map_err(|source| WorldError::Format { path: path.to_owned(), source })?;
    let objects = &core.world.objects;
    let mut report = WorldLoadReport::default();
    let before = objects.living();
    let ids = core.world.lazy.snapshot();
    objects.begin_shadow();
    core.world.mode.set(mode::STAGING);
    let made = catch_panics(|| Ok(bring(core, &file, &mut report)));
    let made = made.unwrap_or_else(|error| Err(WorldError::Object { object: "an object".to_owned(), error }));
    let unbuilt = match made {
        Ok(unbuilt) => unbuilt,
        Err(error) => {
            core.tasks.end_staged(&core.world, &core.red);
            let _births = undo_constructions(core);
            core.world.mode.set(mode::NORMAL);
            core.world.lazy.restore(ids);
            return Err(error);
        }
    };
    drop(objects.commit_shadow());
    // The records borrow from the bytes. Frees both before the old objects are destroyed, so that their memory is free during the destruction.
    drop(file);
    drop(bytes);
    core.pairs.settle_unbuilt(unbuilt, objects);
    core.world.mode.set(mode::NORMAL);
    core.tasks.commit_staged();
    report.replaced = before.len() as u64;
    end_all(core, &before);
    report.unresolved.extend(unbind_broken(core));
    report.objects = objects.count_living() as u64;
    Ok(report)
}

/// Runs all steps that may fail. If no step has failed, the caller then commits. Returns the kept fields of parts that are put off.
fn bring(core: &Rc<Core>, file: &FlatFile<'_>, report: &mut WorldLoadReport) -> Result<NamedFields, WorldError> {
    let plans = file.classes.iter().map(|class| plan_class(core, class, report));
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    report.classes = class_changes(file, &plans);
    let mut bringing = Bringing::new(core, file, &plans, report);
    bringing.make()?;
    core.world.mode.set(mode::REBUILDING);
    let unbuilt = bringing.build_plugin_parts()?;
    core.world.mode.set(mode::STAGING);
    bringing.add_roots();
    let ready = faults::at(ReloadStep::BeforeCommit);
    ready.map_err(|fault| WorldError::Object { object: "the last step".to_owned(), error: fault.into() })?;
    Ok(unbuilt)
}

/// Returns the classes whose objects become dormant or are constructed again, sorted by path.
fn class_changes(file: &FlatFile<'_>, plans: &[ClassPlan]) -> Vec<ClassChange> {
    if plans.iter().all(|plan| matches!(plan.object_plan, ObjectPlan::Carried)) {
        return Vec::new();
    }
    let mut counts = vec![0; plans.len()];
    file.objects.iter().for_each(|object| counts[object.class as usize] += 1);
    let line = |(class, objects): (usize, u64)| {
        let change = match &plans[class].object_plan {
            ObjectPlan::Carried => return None,
            ObjectPlan::Dormant { seen_as } => {
                format!("is not there: its objects are dormant and seen as {} until it is", short(seen_as))
            }
            ObjectPlan::Reconstructed { onto } => format!("extends {} now: its objects were recreated", short(onto)),
        };
        Some(ClassChange { class: short(&file.classes[class].path).to_owned(), change, objects })
    };
    let counts = counts.into_iter().enumerate().filter(|(_, objects)| *objects != 0);
    let mut changes: Vec<_> = counts.filter_map(line).collect();
    changes.sort_unstable_by(|one, other| one.class.cmp(&other.class));
    changes
}

/// Destroys the old objects in order of creation. A failure does not affect the new world.
fn end_all(core: &Core, objects: &[ObjectHandle]) {
    let (_batches, plugins) = (core.finalizer.batches(), core.plugins());
    let all = &core.world.objects;
    let (mut is_plain, mut left, mut rest) = (core.may_end_plainly(), Vec::new(), objects);
    loop {
        // Checks the hooks of the host only after code that can add a hook.
        if is_plain {
            rest = &rest[destroy_plain(&core.world, &plugins, rest)..];
        }
        let Some((object, others)) = rest.split_first() else { break };
        rest = others;
        if !all.is_alive(*object) {
            continue;
        }
        let ended = catch_panics(|| core.end_object(*object));
        is_plain = core.may_end_plainly();
        if let Err(error) = ended {
            let object = all.display(*object);
            log!(WARN, %object, %error, "a replaced object was not destroyed correctly");
        }
        left.extend(all.is_alive(*object).then_some(*object));
    }
    // A loaded object may have the name of an old object that is still alive, for example because a hook of the old object is suspended.
    for object in left {
        all.separate_name(object);
    }
}
