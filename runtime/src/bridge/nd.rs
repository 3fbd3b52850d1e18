//! `nd:/`: calls the delegate whose conjugate is in slot 0. Its signature says what the other slots hold: numbers, names
//! and objects as they are, every other value as a conjugate, so that no address is followed and every slot can be checked.
//! A result that has a conjugate is a new black of the calling module's, or, where the host calls, is written to the
//! conjugate that waits in its slot.

use std::rc::Weak;
use std::time::Instant;

use alcedo_abi::handles::ConjugateHandle;
use alcedo_abi::kinds::PropertyKind;

use crate::border::CallError;
use crate::bridge::conjugates::{self, give, read};
use crate::bridge::core::{Core, alive};
use crate::bridge::delegates;
use crate::bridge::dynamic_call::set_plain;
use crate::handles::ModuleId;
use crate::object::type_text::TypeText;
use crate::signature::described;
use crate::zcall::buffer::BufferMut;
use crate::zcall::call::{Call, Resolved, Slots};
use crate::zcall::chain::{Answer, Resolver};
use crate::zcall::name::ZCallName;
use crate::zcall::protocol::Protocol;
use crate::zcall::reader::{NameError, Reader};

/// The protocol of delegates: `nd:/`, since the first slot says which is meant.
pub(super) struct Nd;

impl Protocol for Nd {
    fn word(&self) -> &str {
        "nd"
    }

    fn form(&self) -> &str {
        "`nd:/`"
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        address.fixed("/")?;
        Ok("/".to_owned())
    }
}

/// Finds the one function that there is.
pub(super) struct DelegateResolver(pub(super) Weak<Core>);

impl Resolver for DelegateResolver {
    fn resolve(&self, _: &ZCallName) -> Result<Answer, CallError> {
        let core = Weak::clone(&self.0);
        // Each delegate has a signature of its own; the slots are compared with it when it is called.
        let body = move |call: Call<'_>| self::call(&*alive(&core)?, None, &mut call.into_buffer());
        Ok(Answer::Function(Resolved::new(described("", 0), body).with_slots(Slots::Delegate)))
    }
}

/// The kind of what a call of the delegate gives back; zero for nothing.
///
/// # Errors
/// When the conjugate has expired or is no delegate.
pub(crate) fn result(core: &Core, delegate: ConjugateHandle) -> Result<PropertyKind, CallError> {
    let opened = conjugates::open(core, delegate, Instant::now())?;
    let signature = core.delegates.signature(&opened.ty)?;
    Ok(signature.result.as_deref().map_or(PropertyKind(0), TypeText::kind))
}

/// Calls it, for `module` where one asks.
///
/// # Errors
/// When the conjugate has expired or is no delegate, the slots do not fit its signature, it leads nowhere, or a callee
/// fails.
pub(crate) fn call(core: &Core, module: Option<ModuleId>, buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
    let handle: ConjugateHandle = buffer.get(0)?;
    let opened = conjugates::open(core, handle, Instant::now())?;
    let signature = core.delegates.signature(&opened.ty)?;
    buffer.expect_len(1 + signature.arguments.len() + usize::from(signature.result.is_some()))?;
    let arguments = signature.arguments.iter().zip(1..).map(|(word, at)| read(core, buffer, at, word));
    let arguments: Vec<_> = arguments.collect::<Result<_, _>>()?;
    let bound = conjugates::copy(core, handle, Instant::now())?.0.read();
    let (bound, dead) = delegates::keep(bound, |binding| core.world.objects.is_alive(binding.object));
    if dead != 0 && !core.world.mode.is_before_commit() {
        // Where it may not be written now, the dead are passed over only; before a commit nobody says whose it is.
        let _may_not = conjugates::write(core, handle, &bound, Instant::now());
    }
    let mark = conjugates::mark_delegate(core, handle, Instant::now())?;
    let result = core.delegates.call_with_values(&core.world, &opened.ty, mark, &bound, &arguments)?;
    let (Some(word), Some(value)) = (signature.result.as_deref(), result) else { return Ok(()) };
    let at = buffer.len() - 1;
    match module {
        Some(module) => give(core, module, buffer, at, word, &value),
        None if word.kind().fits_slot() => set_plain(buffer, at, &value),
        None => conjugates::write(core, buffer.get(at)?, &value, Instant::now()),
    }
}
