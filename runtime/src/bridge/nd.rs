//! `nd:/`: calls the delegate whose conjugate is in slot 0. Its signature says what the other slots hold: numbers, names
//! and objects as they are, every other value as a conjugate, so that no address is followed and every slot can be checked.
//! A result that has a conjugate is a new black of the calling module's, or, where the host calls, is written to the
//! conjugate that waits in its slot.

use std::time::Instant;

use alcedo_abi::handles::ConjugateHandle;

use crate::border::CallError;
use crate::bridge::conjugate_calls::{give, read};
use crate::bridge::conjugates;
use crate::bridge::core::Core;
use crate::bridge::delegates;
use crate::dynamic_call::set_plain;
use crate::handles::ModuleId;
use crate::object::type_text::SignatureText;
use crate::zcall::buffer::BufferMut;

/// The name, in its shorter spelling.
pub(crate) const NAME: &str = "nd:/";

/// Calls it, for `module` where one asks.
///
/// # Errors
/// When the conjugate has expired or is no delegate, the slots do not fit its signature, it leads nowhere, or a callee
/// fails.
pub(crate) fn call(core: &Core, module: Option<ModuleId>, buffer: &mut BufferMut<'_>) -> Result<(), CallError> {
    let handle: ConjugateHandle = buffer.get(0)?;
    let opened = conjugates::open(core, handle, Instant::now())?;
    let words = delegates::signature_of(&opened.ty)?.to_owned();
    let signature: SignatureText = words.parse().map_err(|error| CallError::other(format!("`{NAME}`: {error}")))?;
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
    let (Some(word), Some(value)) = (signature.result, result) else { return Ok(()) };
    let at = buffer.len() - 1;
    match module {
        Some(module) => give(core, module, buffer, at, &word, &value),
        None if word.kind().fits_slot() => set_plain(buffer, at, &value),
        None => conjugates::write(core, buffer.get(at)?, &value, Instant::now()),
    }
}
