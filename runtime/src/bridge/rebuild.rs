//! One object's turn in a reload: its plugin half is built anew and takes its kept fields back. An object that is
//! called before its turn has it at that moment, once.

use std::collections::HashMap;

use alcedo_abi::host::mode;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::conjugate::build::{KeptField, Misfit};
use crate::handles::ObjectHandle;

/// What a rebuild keeps track of while it runs.
#[derive(Debug, Default)]
pub(crate) struct Rebuild {
    /// The fields that were saved, by object; taken out when the object had its turn.
    pub kept: HashMap<ObjectHandle, Vec<KeptField>>,
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
                Misfit::OtherType => "is of another type",
                Misfit::Failed(words) => words,
            };
            let class = field.class.strip_prefix("/Script/").unwrap_or(&field.class);
            format!("{class}.{} {why}: {objects} values dropped", field.name)
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
    if core.world.mode.get() != mode::REBUILDING || core.plugins().key_of(object).is_some() {
        return Ok(());
    }
    // One that ended meanwhile has no turn.
    let Some(class) = core.world.objects.class(object) else { return Ok(()) };
    let before = core.world.mode.rebuild_turn(object);
    let built = core.plugins().build(object, &class);
    core.world.mode.rebuild_turn(before);
    built.map_err(|(class, error)| failed(core, object, class.short_path(), &error))?;
    let kept = core.rebuild.borrow_mut().as_mut().and_then(|rebuild| rebuild.kept.remove(&object)).unwrap_or_default();
    let lost = core.plugins().load_kept(object, &kept);
    if let Some(rebuild) = core.rebuild.borrow_mut().as_mut() {
        rebuild.rebuilt += 1;
        rebuild.fields_kept += (kept.len() - lost.len()) as u64;
        lost.into_iter().for_each(|(field, misfit)| rebuild.lose(field, misfit));
    }
    Ok(())
}

fn failed(core: &Core, object: ObjectHandle, class: &str, error: &CallError) -> CallError {
    let name = core.world.objects.name(object).map(|name| core.world.names.text(name)).unwrap_or_default();
    CallError::other(format!("red constructor of {class} ({name}) {error}"))
}
