//! Calls functions of a module. The thunk of a reflected function finds the plugin part, opens a red frame, enters the module's gate, and
//! passes the parameter block to the module. The dispatcher of a static function passes the slot buffer.
#![expect(unsafe_code, reason = "enters module code through the function pointers of its descriptions")]

use std::any::Any;
use std::rc::{Rc, Weak};

use alcedo_abi::call::{self, Failure, Invoke};
use alcedo_abi::kinds::function_flags;

use crate::boundary::{CallError, from_module};
use crate::bridge::calls::is_static;
use crate::bridge::core::Core;
use crate::bridge::exports::Export;
use crate::bridge::module_code::static_code;
use crate::bridge::rebuild::find_or_build;
use crate::conjugate::gate::Gate;
use crate::conjugate::hot::FrameName;
use crate::handles::ObjectHandle;
use crate::object::mode::Reach;
use crate::object::thunk::{Frame, Thunk, function_of, hand_over};
use crate::signature::described;
use crate::zcall::call::{Call, Dispatcher, Resolved};

pub(crate) fn module_thunk(core: Weak<Core>, gate: Rc<Gate>, invoke: Invoke, what: Rc<str>) -> Thunk {
    let name = FrameName::new(what);
    Rc::new(move |_context, frame| {
        let core = core.upgrade().ok_or_else(|| CallError::Unavailable { what: name.text().to_string() })?;
        enter(&core, &gate, invoke, &name, frame)
    })
}

/// Creates the thunk of a script function for calls from outside of the script package. Each call opens a red frame and passes the gate of
/// the package.
#[cfg(feature = "script")]
pub(crate) fn script_thunk(core: Weak<Core>, gate: Rc<Gate>, thunk: Thunk, what: Rc<str>) -> Thunk {
    Rc::new(move |context, frame| {
        let core = core.upgrade().ok_or_else(|| CallError::Unavailable { what: what.to_string() })?;
        core.red.enter_module(&gate.tag().name, &what, || gate.through(|| thunk(context, frame)))
    })
}

/// Calls a custom thunk that the module provides. The thunk receives a frame number.
fn enter_custom(
    core: &Core,
    gate: &Gate,
    invoke: Invoke,
    what: &Rc<str>,
    frame: &mut Frame<'_>,
) -> Result<(), CallError> {
    let object = frame.object();
    core.red.enter_module(&gate.tag().name, what, || {
        gate.through(|| {
            core.frames.with_number(frame, |number| {
                from_module(|failure| {
                    let (memory, part) = (std::ptr::null_mut(), std::ptr::null_mut());
                    let params = std::ptr::without_provenance_mut(number as usize);
                    let mut call = call::Call { object, memory, part, params, failure };
                    // SAFETY: the gate is open, so the image is mapped. A function with this flag receives a frame number in `call`, and
                    // dereferences no address of the call.
                    unsafe { (invoke.0)(&mut call) }
                })
            })
        })
    })?;
    check_balanced(frame, what)
}

/// Checks that a custom thunk has taken all parameters of its call and has returned the result.
pub(crate) fn check_balanced(frame: &Frame<'_>, function: &str) -> Result<(), CallError> {
    match frame.is_balanced() {
        true => Ok(()),
        false => Err(CallError::other(format!(
            "the thunk of {function} returned before its call was done: take all parameters, then call `finish`, then store the \
             result, if any"
        ))),
    }
}

fn enter(core: &Core, gate: &Gate, invoke: Invoke, name: &FrameName, frame: &mut Frame<'_>) -> Result<(), CallError> {
    let what = name.text();
    if function_of(frame).flags & function_flags::CUSTOM_THUNK != 0 {
        return enter_custom(core, gate, invoke, what, frame);
    }
    let (object, params) = (frame.object(), hand_over(frame));
    let (memory, part) = if is_static(function_of(frame)) {
        (std::ptr::null_mut(), std::ptr::null_mut())
    } else {
        let stale = || CallError::Stale { handle: object };
        let find = || core.pairs.find_part(&core.world.objects, object, function_of(frame).owner);
        let part = find_or_build(core, object, &format_args!("{what} of {object}"), find)?;
        let memory = core.world.objects.memory(object).ok_or_else(stale)?;
        (memory, part.ok_or_else(|| no_plugin_part(core, object, what))?.0)
    };
    let run = |failure: &mut Failure| {
        let mut call = call::Call { object, memory, part, params, failure };
        // SAFETY: the gate is open, so the image is mapped. Memory and part were resolved for this object and this function's class just
        // now. The block has the layout in the description from which the module's trampoline was built. This description was compared when
        // the module was loaded.
        unsafe { (invoke.0)(&mut call) }
    };
    let called = core.zcalls.watched("method", what, || core.red.call_hook(gate, name, run));
    called.map_err(|error| match error {
        // Adds the object to the error, because the name of the frame does not contain the object.
        CallError::TooDeep { what: called, limit } if *called == **what => {
            CallError::TooDeep { what: format!("{what} of {object}"), limit }
        }
        error => error,
    })
}

#[cold]
fn no_plugin_part(core: &Core, object: ObjectHandle, what: &str) -> CallError {
    let plugin_part = format!("the plugin part of {}", core.world.objects.display(object));
    let what = match core.world.objects.waits_for(object) {
        Some(class) => format!("{plugin_part}, which is dormant until {class} returns, that `{what}` needs"),
        None => format!("{plugin_part} that `{what}` needs"),
    };
    CallError::Unavailable { what }
}

/// Creates the resolved callee for a module's static function. `core` provides the red stack while the runtime exists.
pub(crate) fn export_call(export: Export, core: &Weak<Core>) -> Resolved {
    let what: Rc<str> = format!("{}:{}:{}", export.gate.tag().name, export.type_path, export.name).into();
    let (signature, module) = (described(&export.signature, export.fingerprint), export.gate.tag().id);
    let black_code = core.upgrade().and_then(|core| static_code(&core, &export, &what));
    let resolved = Resolved::new(signature, ExportDispatcher { export, what, core: Weak::clone(core) });
    resolved.by_module(module).with_black_code(black_code)
}

pub(super) struct ExportDispatcher {
    pub(super) export: Export,
    pub(super) what: Rc<str>,
    core: Weak<Core>,
}

impl Dispatcher for ExportDispatcher {
    fn inner(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn call(&self, call: Call<'_>) -> Result<(), CallError> {
        let mut buffer = call.into_buffer();
        let core = self.core.upgrade().ok_or_else(|| CallError::Unavailable { what: self.what.to_string() })?;
        core.world.mode.may_call(&self.export.full, || Reach::Static(self.export.gate.tag().id))?;
        core.red.call_module(&self.export.gate, &self.what, |failure| {
            // SAFETY: the gate is open, so the image is mapped. The buffer is borrowed for the call. Its pointer slots match the
            // fingerprint, which was compared when the name was resolved.
            unsafe { (self.export.invoke.0)(buffer.raw(), failure) }
        })
    }
}
