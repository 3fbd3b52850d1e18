//! The functions of the host, with plain errors. Each checks its thread and its handles itself; without a host each
//! answers that there is none.
#![expect(unsafe_code, reason = "calls the host's functions")]

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::handles::{ClassId, Name, ObjectHandle, PartPtr, ZCallHandle};
use alcedo_abi::host::{ModuleContext, mode};
use alcedo_abi::task::{Errand, ErrandId};
use alcedo_abi::value::{TextRaw, TextSink, TextView};
use alcedo_abi::zcall::{Slot, ZCallBuffer, ZCallStatus};
use alcedo_rt::CallError;

use crate::kinds::lending;

pub(crate) mod values;

/// The host, unless this module holds a slice of its memory on this thread: what a call may do to that memory nobody
/// knows beforehand.
fn context(action: &str) -> Result<&'static ModuleContext, CallError> {
    lending::allows_calls(action)?;
    alcedo_rt::context().ok_or_else(|| CallError::no_host(action))
}

fn check(call: impl FnOnce(&mut Failure) -> Status) -> Result<(), CallError> {
    let mut failure = Failure::none();
    if call(&mut failure) == Status::OK { Ok(()) } else { Err(CallError::from_failure(failure)) }
}

/// The memory of a living object of `class`.
pub(crate) fn object_memory(object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    object_memory_of(context("get")?, object, class)
}

/// The same, also while memory is lent: it runs nobody's code and changes nothing.
pub(crate) fn object_lives(object: ObjectHandle) -> bool {
    alcedo_rt::context().is_some_and(|context| object_memory_of(context, object, ClassId::NONE).is_ok())
}

fn object_memory_of(context: &ModuleContext, object: ObjectHandle, class: ClassId) -> Result<*mut u8, CallError> {
    let resolve = context.table.object_resolve();
    let mut memory = core::ptr::null_mut();
    // SAFETY: the host is the word of this module's context; the references are live for the call.
    check(|failure| unsafe { resolve(context.host, object, class, &mut memory, failure) })?;
    Ok(memory)
}

/// The plugin half that this module made.
pub(crate) fn part(object: ObjectHandle, class: ClassId) -> Result<PartPtr, CallError> {
    let context = context("lend")?;
    let object_part = context.table.object_part();
    let mut part = PartPtr::NONE;
    // SAFETY: host and module are the words of this module's context; the references are live for the call.
    check(|failure| unsafe { object_part(context.host, context.module, object, class, &mut part, failure) })?;
    Ok(part)
}

/// Whether a property of `object` may be written now. In the normal mode the host is not asked. Nor is it of concern that
/// a slice is lent: a property lies in its object, what is lent in a container, and what writes into containers asks.
///
/// A collection that is marking wants to hear of references only: `names_objects` says whether what is written could be one.
#[inline]
pub(crate) fn may_write(object: ObjectHandle, names_objects: bool) -> Result<(), CallError> {
    match alcedo_rt::mode() {
        mode::NORMAL => Ok(()),
        mode::MARKING if !names_objects => Ok(()),
        _ => ask_may_write(object),
    }
}

#[cold]
#[inline(never)]
fn ask_may_write(object: ObjectHandle) -> Result<(), CallError> {
    let context = context("a property write")?;
    let may_write = context.table.may_write();
    // SAFETY: the host is the word of this module's context; the reference is live for the call.
    check(|failure| unsafe { may_write(context.host, object, failure) })
}

/// A new object.
pub(crate) fn spawn(class: ClassId, outer: ObjectHandle) -> Result<ObjectHandle, CallError> {
    let context = context("spawn")?;
    let spawn = context.table.spawn();
    let mut object = ObjectHandle::NONE;
    // SAFETY: the host is the word of this module's context; the references are live for the call.
    check(|failure| unsafe { spawn(context.host, class, outer, &mut object, failure) })?;
    Ok(object)
}

/// Destroys an object.
pub(crate) fn destroy(object: ObjectHandle) -> Result<(), CallError> {
    let context = context("destroy")?;
    let destroy = context.table.destroy();
    // SAFETY: the host is the word of this module's context; the reference is live for the call.
    check(|failure| unsafe { destroy(context.host, object, failure) })
}

/// The object's name; empty when it is gone.
pub(crate) fn object_name(object: ObjectHandle) -> String {
    let Some(context) = alcedo_rt::context() else { return String::new() };
    let object_name = context.table.object_name();
    // SAFETY: the host is the word of this module's context; the sink is live for the call.
    collect(|sink| unsafe { object_name(context.host, object, sink) })
}

/// The path of the object's class; empty when it is gone.
pub(crate) fn object_class(object: ObjectHandle) -> String {
    let Some(context) = alcedo_rt::context() else { return String::new() };
    let object_class = context.table.object_class();
    // SAFETY: the host is the word of this module's context; the sink is live for the call.
    collect(|sink| unsafe { object_class(context.host, object, sink) })
}

/// The name of a text.
pub(crate) fn intern(text: &str) -> Result<Name, CallError> {
    let context = context("UName::of")?;
    let name_intern = context.table.name_intern();
    let mut name = Name::default();
    // SAFETY: the host is the word of this module's context; text and reference are live for the call.
    match unsafe { name_intern(context.host, TextView::of(text), &mut name) } {
        Status::OK => Ok(name),
        _ => Err(CallError::new(FailureKind::WRONG_THREAD, "interning a name")),
    }
}

/// The text of a name; empty when there is no such name.
pub(crate) fn name_text(name: Name) -> String {
    let Some(context) = alcedo_rt::context() else { return String::new() };
    let name_text = context.table.name_text();
    // SAFETY: the host is the word of this module's context; the sink is live for the call.
    collect(|sink| unsafe { name_text(context.host, name, sink) })
}

/// Overwrites a text in host memory.
///
/// # Safety
/// `target` is a text in host memory.
pub(crate) unsafe fn assign_text(target: *mut TextRaw, text: &str) -> Result<(), CallError> {
    let context = context("a text")?;
    let text_assign = context.table.text_assign();
    // SAFETY: the host is the word of this module's context; `target` is a host text by contract, and the new text
    // is live for the call.
    match unsafe { text_assign(context.host, target, TextView::of(text)) } {
        Status::OK => Ok(()),
        _ => Err(CallError::new(FailureKind::WRONG_THREAD, "writing a text")),
    }
}

/// Gives an errand to the host, which owns it from then on.
///
/// # Safety
/// `errand` is whole: its functions are those of its data; and of a posted one the data may change threads.
///
/// # Errors
/// Why the host does not take it; it is still the caller's then.
pub(crate) unsafe fn errand_take(errand: &Errand<'_>) -> Result<ErrandId, CallError> {
    let context = context("a task, a timer or a posted closure")?;
    let errand_take = context.table.errand_take();
    let mut id = ErrandId::NONE;
    // SAFETY: host and module are the words of this module's context; the references are live for the call; what the
    // errand consists of is promised by the caller.
    check(|failure| unsafe { errand_take(context.host, context.module, errand, &mut id, failure) })?;
    Ok(id)
}

/// Ends an errand. Any thread.
pub(crate) fn errand_cancel(errand: ErrandId) {
    if let Some(context) = alcedo_rt::context() {
        let errand_cancel = context.table.errand_cancel();
        // SAFETY: the host is the word of this module's context, and it accepts any number.
        unsafe { errand_cancel(context.host, errand) };
    }
}

/// Whether an errand has not ended.
pub(crate) fn errand_lives(errand: ErrandId) -> bool {
    alcedo_rt::context().is_some_and(|context| {
        let errand_lives = context.table.errand_lives();
        // SAFETY: the host is the word of this module's context, and it accepts any number.
        unsafe { errand_lives(context.host, errand) != 0 }
    })
}

/// Nanoseconds of game time.
pub(crate) fn game_time() -> u64 {
    alcedo_rt::context().map_or(0, |context| {
        let game_time = context.table.game_time();
        // SAFETY: the host is the word of this module's context.
        unsafe { game_time(context.host) }
    })
}

/// Finds what a ZCall name stands for.
pub(crate) fn zcall_resolve(name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
    let context = context(name)?;
    let zcall_resolve = context.table.zcall_resolve();
    let mut handle = ZCallHandle::NONE;
    let mut failure = Failure::none();
    // SAFETY: the host is the word of this module's context; name and references are live for the call.
    let status = unsafe { zcall_resolve(context.host, RStr::from_str(name), fingerprint, &mut handle, &mut failure) };
    outcome(status, failure, name).map(|()| handle)
}

/// Calls through a handle.
///
/// # Safety
/// The pointer slots among `slots` are what the signature of the callee says, and live for the call.
pub(crate) unsafe fn zcall(handle: ZCallHandle, what: &str, slots: &mut [Slot]) -> Result<(), CallError> {
    let context = context(what)?;
    let zcall = context.table.zcall();
    let mut buffer = ZCallBuffer { slots: slots.as_mut_ptr(), len: slots.len() };
    let mut failure = Failure::none();
    // SAFETY: the host is the word of this module's context; the buffer lends `slots`, whose pointers are right by
    // contract.
    let status = unsafe { zcall(context.host, handle, &mut buffer, &mut failure) };
    outcome(status, failure, what)
}

fn outcome(status: ZCallStatus, failure: Failure, what: &str) -> Result<(), CallError> {
    if status == ZCallStatus::SUCCESS {
        return Ok(());
    }
    if failure.kind != FailureKind::NONE {
        return Err(CallError::from_failure(failure));
    }
    Err(match status {
        ZCallStatus::CONTEXT_UNAVAILABLE | ZCallStatus::DISPATCHER_NOT_FOUND => {
            CallError::new(FailureKind::UNAVAILABLE, what)
        }
        ZCallStatus::BUFFER_ERROR => CallError::new(FailureKind::BUFFER, format!("{what}: the slots do not fit")),
        _ => CallError::other(format!("{what}: the call ended with status {} and no reason", status.0)),
    })
}

fn collect(call: impl FnOnce(&TextSink) -> Status) -> String {
    let mut text = String::new();
    let sink = TextSink { context: (&raw mut text).cast(), put: put_text };
    // Without success nothing was put, and the empty text is the answer for what is gone.
    let _gone = call(&sink);
    text
}

/// The `put` of a sink that ends in a `String` of this module.
///
/// # Safety
/// `context` points to a live `String` that nobody else uses; `data` lends `len` bytes.
pub(crate) unsafe extern "C" fn put_text(context: *mut (), data: *const u8, len: usize) {
    // SAFETY: promised by the caller, who was given the sink with just this context.
    let text = unsafe { &mut *context.cast::<String>() };
    // SAFETY: promised by the caller.
    *text = unsafe { lent_text(TextView { data, len }) };
}

/// Copies a text that was lent. What is not UTF-8 is replaced.
///
/// # Safety
/// The view's bytes are readable.
pub(crate) unsafe fn lent_text(view: TextView) -> String {
    if view.len == 0 {
        return String::new();
    }
    // SAFETY: promised by the caller.
    let bytes = unsafe { core::slice::from_raw_parts(view.data, view.len) };
    String::from_utf8_lossy(bytes).into_owned()
}
