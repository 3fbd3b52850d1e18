//! One object's turn in a reload: its plugin part is built anew and takes its kept fields back. An object that is
//! called before its turn has it at that moment, once.

use std::collections::HashSet;

use alcedo_abi::host::mode;
use rustc_hash::FxHashMap;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::conjugate::build::Misfit;
use crate::faults::{self, ReloadStep};
use crate::handles::ObjectHandle;
use crate::object::dormant::{FieldAside, KeptField};

/// What a rebuild keeps track of while it runs.
#[derive(Debug, Default)]
pub(crate) struct Rebuild {
    /// The fields that were saved, by object; taken out when the object had its turn.
    pub kept: FxHashMap<ObjectHandle, Vec<KeptField>>,
    /// Objects whose plugin part is there already, since they were born anew: they only take their kept fields back.
    pub reborn: HashSet<ObjectHandle>,
    /// Objects that had their turn.
    pub rebuilt: u64,
    /// Fields that were put back.
    pub fields_kept: u64,
    /// Fields that were not put back, by class, field and reason, and of how many objects.
    fields_lost: Vec<(KeptField, Misfit, u64)>,
}

impl Rebuild {
    /// A line for every field that was not put back.
    pub(crate) fn lost_lines(&self) -> Vec<String> {
        let line = |(field, misfit, objects): &(KeptField, Misfit, u64)| {
            let why = match misfit {
                Misfit::Gone => "is not kept any more",
                Misfit::Failed(words) => words,
            };
            let class = field.class.strip_prefix("/Script/").unwrap_or(&field.class);
            format!("{class}.{} {why}: {objects} values put aside", field.name)
        };
        self.fields_lost.iter().map(line).collect()
    }

    fn lose(&mut self, lost: KeptField, misfit: Misfit) {
        let is_same = |(field, why, _): &&mut (KeptField, Misfit, u64)| {
            field.class == lost.class && field.name == lost.name && *why == misfit
        };
        match self.fields_lost.iter_mut().find(is_same) {
            Some((_, _, objects)) => *objects += 1,
            None => self.fields_lost.push((lost, misfit, 1)),
        }
    }
}

/// Gives `object` its turn, unless it had it.
///
/// # Errors
/// The red constructor's own error, and in which class.
pub(crate) fn rebuild_one(core: &Core, object: ObjectHandle) -> Result<(), CallError> {
    if core.world.mode.get() != mode::REBUILDING || core.world.objects.waits_for(object).is_some() {
        return Ok(());
    }
    if core.plugins().key_of(object).is_some() {
        let is_reborn = core.rebuild.borrow_mut().as_mut().is_some_and(|rebuild| rebuild.reborn.remove(&object));
        return if is_reborn { take_back(core, object) } else { Ok(()) };
    }
    // One that ended meanwhile has no turn.
    let Some(class) = core.world.objects.class(object) else { return Ok(()) };
    faults::at(ReloadStep::RebuildObject)?;
    let before = core.world.mode.rebuild_turn(object);
    let built = core.plugins().build(object, &class);
    core.world.mode.rebuild_turn(before);
    built.map_err(|unbuilt| failed(core, object, unbuilt.class.short_path(), &unbuilt.error))?;
    take_back(core, object)
}

/// The object's kept fields go into its plugin part.
fn take_back(core: &Core, object: ObjectHandle) -> Result<(), CallError> {
    let take = |rebuild: &mut Rebuild| if rebuild.kept.is_empty() { None } else { rebuild.kept.remove(&object) };
    let kept = core.rebuild.borrow_mut().as_mut().and_then(take).unwrap_or_default();
    faults::at(ReloadStep::LoadKept)?;
    let (objects, plugins) = (&core.world.objects, core.plugins());
    let (mut fields_kept, mut lost, mut aside) = (0, Vec::new(), Vec::new());
    let mut earlier = objects.replace_fields_aside(object, Vec::new());
    let mut is_loaded = |field: &KeptField, lost: &mut Vec<_>| {
        let misfit = plugins.load_kept(object, field, &kept).err();
        fields_kept += u64::from(misfit.is_none());
        let is_loaded = misfit.is_none();
        lost.extend(misfit.map(|misfit| (field.clone(), misfit)));
        is_loaded
    };
    for field in &kept {
        let found = earlier.iter().position(|aside| aside.field.is_same(field));
        let Some(FieldAside { field: before, instead }) = found.map(|at| earlier.swap_remove(at)) else {
            is_loaded(field, &mut lost);
            continue;
        };
        // A field that nothing was written to since is what it was before.
        let is_untouched = instead.as_ref() == Some(&field.data);
        let (first, second) = if is_untouched { (&before, field) } else { (field, &before) };
        let mut misfits = Vec::new();
        if is_loaded(first, &mut misfits) {
            continue;
        }
        if is_loaded(second, &mut Vec::new()) {
            // The value that does not fit is put aside only if it is the older one: the other began as a default.
            aside.extend(is_untouched.then(|| first.clone()));
        } else if is_untouched {
            aside.push(first.clone());
        } else {
            lost.extend(misfits);
        }
    }
    // Fields that the build before did not keep.
    for FieldAside { field, .. } in earlier {
        if !is_loaded(&field, &mut Vec::new()) {
            aside.push(field);
        }
    }
    aside.extend(lost.iter().map(|(field, _)| field.clone()));
    if !aside.is_empty() {
        let now = plugins.save_kept(object).unwrap_or_default();
        let instead = |field: &KeptField| now.iter().find(|now| now.is_same(field)).map(|now| now.data.clone());
        let aside = aside.into_iter().map(|field| FieldAside { instead: instead(&field), field });
        objects.replace_fields_aside(object, aside.collect());
    }
    if let Some(rebuild) = core.rebuild.borrow_mut().as_mut() {
        rebuild.rebuilt += 1;
        rebuild.fields_kept += fields_kept;
        lost.into_iter().for_each(|(field, misfit)| rebuild.lose(field, misfit));
    }
    Ok(())
}

fn failed(core: &Core, object: ObjectHandle, class: &str, error: &CallError) -> CallError {
    let name = core.world.objects.name(object).map(|name| core.world.names.text(name)).unwrap_or_default();
    CallError::other(format!("red constructor of {class} ({name}) {error}"))
}
