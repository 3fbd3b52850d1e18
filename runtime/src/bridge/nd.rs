//! `nd:/`: calls the delegate whose conjugate is in slot 0. The signature of the delegate determines the remaining slots. Numbers, names
//! and objects are passed by value. Values of all other types are passed as conjugates. Because no slot contains an address, the host can
//! check every slot. A result that needs a conjugate becomes an owned value of the calling module. For calls by the host, the result is
//! written to the conjugate in the result slot.

use std::rc::Weak;

use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::kinds::PropertyKind;

use crate::boundary::CallError;
use crate::bridge::conjugates::{self, give, read};
use crate::bridge::core::{Core, alive};
use crate::bridge::delegates;
use crate::bridge::described_protocol::BuiltIn;
use crate::bridge::dynamic_call::set_plain;
use crate::handles::ModuleId;
use crate::object::type_text::TypeText;
use crate::signature::described;
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::{Call, Resolved, Slots};
use crate::zcall::chain::Answer;
use crate::zcall::name::ZCallName;

pub(super) const ND: BuiltIn = BuiltIn {
    word: "nd",
    form: "`nd:/`",
    help: "",
    read: |address| {
        address.fixed("/")?;
        Ok("/".to_owned())
    },
};

/// Resolves the only name of the protocol.
pub(super) fn resolve(core: &Weak<Core>, _: &ZCallName) -> Result<Answer, CallError> {
    let core = Weak::clone(core);
    // Compares the slots in each call, because each delegate may have a different signature.
    let body = move |call: Call<'_>| self::call(&*alive(&core)?, None, &mut call.into_buffer());
    Ok(Answer::Function(Resolved::new(described("", 0), body).with_slots(Slots::Delegate)))
}

/// Returns the kind of the delegate's result. Returns zero if the delegate has no result. Returns an error if the conjugate has expired or
/// is not a delegate.
pub(crate) fn result(core: &Core, delegate: ConjugateHandle) -> Result<PropertyKind, CallError> {
    let opened = conjugates::open(core, delegate)?;
    let signature = core.delegates.signature(&opened.ty)?;
    Ok(signature.result.as_deref().map_or(PropertyKind(0), TypeText::kind))
}

/// Calls the delegate on behalf of `module`, or of the host. Returns an error if the conjugate has expired or is not a delegate, the slots
/// do not match the delegate's signature, the delegate has no target, or a callee fails.
pub(crate) fn call(core: &Core, module: Option<ModuleId>, buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
    let handle: ConjugateHandle = buffer.get(0)?;
    let opened = conjugates::open(core, handle)?;
    let signature = core.delegates.signature(&opened.ty)?;
    buffer.expect_len(1 + signature.arguments.len() + usize::from(signature.result.is_some()))?;
    let arguments = signature.arguments.iter().zip(1..).map(|(word, at)| read(core, buffer, at, word));
    let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
    let bound = conjugates::copy(core, handle)?.0.read();
    let (bound, dead) = delegates::without_dead(&core.world, &opened.ty, bound);
    if dead != 0 && !core.world.mode.is_before_commit() {
        // Before a commit, the owner of the delegate is unknown, so this write is skipped. After a skipped or failed write, bindings to
        // destroyed objects remain in the delegate, and later calls skip them.
        let _may_not = conjugates::write(core, handle, &bound);
    }
    let mark = conjugates::mark_delegate(core, handle)?;
    let result = delegates::call_with_values(&core.world, &opened.ty, mark, &bound, &arguments)?;
    let (Some(word), Some(value)) = (signature.result.as_deref(), result) else { return Ok(()) };
    let at = buffer.len() - 1;
    match module {
        Some(module) => give(core, module, buffer, at, word, &value),
        None if word.kind().fits_slot() => set_plain(buffer, at, &value),
        None => conjugates::write(core, buffer.get(at)?, &value),
    }
}
