//! Performs ZCalls for callers without static types. A value that does not fit in a slot is passed as the handle of a conjugate. The
//! signature of the callee determines the slots. Inputs are copied, because the callee may release the conjugates that contain the inputs.
//! Outputs become owned values of the calling module.

use alcedo_abi::kinds::PropertyKind;

use crate::boundary::{CallError, mismatch};
use crate::bridge::conjugates::{give, read};
use crate::bridge::core::Core;
use crate::bridge::dynamic_call::{self, RECEIVER};
use crate::bridge::nd;
use crate::bridge::uf::{UF, UF_FINAL};
use crate::handles::{ModuleId, ZCallHandle};
use crate::object::type_text::{SignatureText, TypeText};
use crate::signature;
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::{Callee, Slots};

/// Argument slots and result slot of a call, with their types.
struct Plan<'a> {
    arguments: Vec<(usize, &'a TypeText)>,
    result: Option<(usize, &'a TypeText)>,
}

/// Calls a function through a handle, on behalf of `module`. The module then owns the results. Returns an error if the handle is invalid,
/// the slots do not match the signature, a conjugate has expired, or the callee fails. After an error, the slots are unchanged.
pub(crate) fn call(
    core: &Core,
    module: ModuleId,
    handle: ZCallHandle,
    mut buffer: BufferMut<'_>,
) -> Result<(), CallError> {
    let Some(callee) = core.zcalls.callee(handle) else {
        // The handle is invalid, so this dynamic call accesses no slot, and returns the error for the handle.
        return dynamic_call::call(core, handle, &[]).map(drop);
    };
    call_of(core, module, (handle, &callee), &mut buffer).map_err(|error| match error {
        // Adds the name of the call, because errors of slot accesses do not contain this name.
        CallError::Buffer { message } if !message.starts_with('`') => {
            CallError::Buffer { message: format!("`{}`: {message}", callee.name()) }
        }
        error => error,
    })
}

fn call_of(
    core: &Core,
    module: ModuleId,
    (handle, callee): (ZCallHandle, &Callee),
    buffer: &mut BufferMut<'_>,
) -> Result<(), CallError> {
    let plan = match callee.slots() {
        Slots::Delegate => {
            let call = || nd::call(core, Some(module), buffer);
            return core.zcalls.watched(callee.name().protocol(), "nd:/", call);
        }
        Slots::Property => plan_property(buffer, &signature::types(callee)?.0)?,
        Slots::Function => {
            // Modules call this protocol on an object, also for a static function.
            let fewest_receivers = usize::from([UF.word, UF_FINAL.word].contains(&callee.name().protocol()));
            plan_function(buffer.len(), fewest_receivers, &signature::types(callee)?.0).ok_or_else(|| {
                let (name, words) = (callee.name(), callee.signature().text());
                let message =
                    format!("`{name}` ({words}) does not take {} slots, object and result included", buffer.len());
                CallError::Buffer { message }
            })?
        }
    };
    let arguments = plan.arguments.iter().map(|(at, word)| read(core, buffer, *at, word));
    let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
    let result = dynamic_call::call(core, handle, &arguments)?;
    match (plan.result, result) {
        (Some((at, word)), Some(value)) => give(core, module, buffer, at, word, &value),
        _ => Ok(()),
    }
}

/// Returns the kind of the result of a call through a handle. Returns zero if the callee has no result. Returns an error if the handle is
/// invalid, or the callee has no parsed signature.
pub(crate) fn result(core: &Core, handle: ZCallHandle) -> Result<PropertyKind, CallError> {
    let Some(callee) = core.zcalls.callee(handle) else {
        // The handle is invalid, so this dynamic call returns the error for the handle.
        return dynamic_call::call(core, handle, &[]).map(|_| PropertyKind(0));
    };
    let unknown = || mismatch(callee.name(), &callee.signature().text(), &"types that the host knows");
    let SignatureText { arguments, result, .. } = &signature::types(&callee).map_err(|_words| unknown())?.0;
    let value = match callee.slots() {
        Slots::Delegate => return Err(unknown()),
        Slots::Property => arguments.first(),
        Slots::Function => result.as_deref(),
    };
    Ok(value.map_or(PropertyKind(0), TypeText::kind))
}

/// Assigns the slots in order: first the receiver, if the function has a receiver, then the parameters, and then the result. Returns `None`
/// if the number of receivers is neither `fewest_receivers` nor 1.
fn plan_function(slots: usize, fewest_receivers: usize, signature: &SignatureText) -> Option<Plan<'_>> {
    let (parameters, results) = (signature.arguments.len(), usize::from(signature.result.is_some()));
    let receivers =
        slots.checked_sub(parameters + results).filter(|receivers| (fewest_receivers..=1).contains(receivers))?;
    let words = std::iter::repeat_n(&RECEIVER, receivers).chain(&signature.arguments);
    let result = signature.result.as_deref().map(|word| (slots - 1, word));
    Some(Plan { arguments: words.enumerate().collect(), result })
}

/// Assigns the slots of a property access: object, operation, value.
fn plan_property<'a>(buffer: &BufferMut<'_>, signature: &'a SignatureText) -> Result<Plan<'a>, CallError> {
    buffer.expect_len(3)?;
    let is_write = buffer.get::<u8>(1)? != 0;
    let value = signature.arguments.first().map(|word| (2, word));
    let mut arguments = vec![(0, &RECEIVER)];
    let result = if is_write { None } else { value };
    arguments.extend(value.filter(|_| is_write));
    Ok(Plan { arguments, result })
}

#[cfg(test)]
mod tests {
    use super::{Plan, plan_function};

    /// Checks the planned input slots and their types, and the output slot.
    fn check(signature: &str, slots: usize, expected: Option<&str>) {
        let signature_text = signature.parse().expect("a signature");
        let plan = plan_function(slots, 0, &signature_text);
        let formatted = plan.map(|Plan { arguments, result }| {
            let slot = |(at, word): &(usize, &_)| format!("{at}: {word}");
            let arguments: Vec<_> = arguments.iter().map(slot).collect();
            format!("{} -> {}", arguments.join(", "), result.iter().map(slot).collect::<String>())
        });
        assert_eq!(formatted.as_deref(), expected, "{signature} in {slots} slots");
    }

    #[test]
    fn call_slots_follow_the_signature_with_or_without_an_object() {
        check("Array(f64), i32 -> String", 3, Some("0: Array(f64), 1: i32 -> 2: String"));
        check("Array(f64) -> String", 3, Some("0: Object(), 1: Array(f64) -> 2: String"));
        check("Map(Name, f64)", 1, Some("0: Map(Name, f64) -> "));
        check("", 0, Some(" -> "));
        check("", 1, Some("0: Object() -> "));
        check("", 2, None);
        check("f64 -> f64", 1, None);
    }
}
