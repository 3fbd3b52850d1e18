//! One object's turn in a reload: its plugin half is built anew and takes its kept fields back. An object that is
//! called before its turn has it at that moment, once.

use std::collections::HashMap;

use alcedo_abi::host::mode;

use crate::border::CallError;
use crate::bridge::core::Core;
use crate::conjugate::build::KeptField;
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
    /// Fields that no longer fit.
    pub fields_lost: Vec<String>,
}

/// Gives `object` its turn, unless it had it.
///
/// # Errors
/// The red constructor's own error, and in which class.
pub(crate) fn rebuild_one(core: &Core, object: ObjectHandle) -> Result<(), CallError> {
    if core.world.mode.get() != mode::REBUILDING || core.plugins().key_of(object).is_some() {
        return Ok(());
    }
    let Some(class) = core.world.objects.class(object) else { return Err(CallError::Stale { handle: object }) };
    let before = core.world.mode.rebuild_turn(object);
    let built = core.plugins().build(object, &class);
    core.world.mode.rebuild_turn(before);
    built.map_err(|(class, error)| failed(core, object, class.short_path(), &error))?;
    let kept = core.rebuild.borrow_mut().as_mut().and_then(|rebuild| rebuild.kept.remove(&object)).unwrap_or_default();
    let lost = core.plugins().load_kept(object, &kept);
    if let Some(rebuild) = core.rebuild.borrow_mut().as_mut() {
        rebuild.rebuilt += 1;
        rebuild.fields_kept += (kept.len() - lost.len()) as u64;
        rebuild.fields_lost.extend(
            lost.iter().map(|field| format!("{}.{} of {object} no longer fits and starts anew", field.class, field.name)),
        );
    }
    Ok(())
}

fn failed(core: &Core, object: ObjectHandle, class: &str, error: &CallError) -> CallError {
    let name = core.world.objects.name(object).map(|name| core.world.names.text(name)).unwrap_or_default();
    CallError::other(format!("red constructor of {class} ({name}) {error}"))
}
