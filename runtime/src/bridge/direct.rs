//! Resolves fast paths: finds the target function of a call, and the direct trampoline of this function.
#![expect(unsafe_code, reason = "vouches for the trampolines that it finds")]

use std::rc::{Rc, Weak};

use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::exports::Export;
use crate::bridge::fast_paths::{MethodFastPath, OnClass, StaticFastPath};
use crate::handles::ObjectHandle;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::type_text::SignatureText;

/// Function of a method call, with its dispatch. Does not keep the function alive, because the function may keep a C library open.
#[derive(Clone)]
pub(crate) struct MethodCall {
    function: Weak<Function>,
    dispatch: Dispatch,
}

/// Returns the fast path into a static function of a module's class. Returns `None` if no fast path is possible.
pub(super) fn class_fast_path(core: &Core, function: &Function) -> Option<StaticFastPath> {
    if !calls::is_static(function) {
        return None;
    }
    let hooks = core.hooks.borrow();
    let hooks = hooks.get(function.owner)?;
    let (what, direct) = hooks.direct.get(&*function.text)?;
    // SAFETY: `emit` stored the trampoline of this function with the hooks of its class. The function has the number of parameters in its
    // description.
    unsafe { core.fast_paths.find(&hooks.gate, what, (direct.call, function.arguments().len()), ()) }
}

pub(super) fn parameters(export: &Export) -> Option<usize> {
    Some(export.signature.parse::<SignatureText>().ok()?.arguments.len())
}

/// Returns the fast path into a static function that a module offers. Returns `None` if no fast path is possible. `what` is the name of the
/// function in red frames.
pub(super) fn export_fast_path(core: &Core, export: &Export, what: &Rc<str>) -> Option<StaticFastPath> {
    // SAFETY: the trampoline is that of the export, and the number of parameters is that of its signature.
    unsafe { core.fast_paths.find(&export.gate, what, (export.direct?, parameters(export)?), ()) }
}

impl MethodCall {
    pub(crate) fn new(function: &Rc<Function>, dispatch: Dispatch) -> Self {
        Self { function: Rc::downgrade(function), dispatch }
    }

    /// Returns the fast path into the function that a call on `object` runs. The fast path is valid for all objects of the class of
    /// `object`. Returns `None` if no fast path is possible.
    pub(crate) fn fast_path(&self, core: &Core, object: ObjectHandle) -> Option<MethodFastPath> {
        let function = self.target(core, object)?;
        let class = core.world.objects.class(object)?;
        if core.world.objects.waits_for(object).is_some() || !class.chain_ids().contains(&function.owner) {
            return None;
        }
        let hooks = core.hooks.borrow();
        let hooks = hooks.get(function.owner)?;
        let (what, direct) = hooks.direct.get(&*function.text)?;
        let on = OnClass { batch: direct.batch.into_option()?, class: class.id, owner: function.owner };
        // SAFETY: `emit` stored the trampolines of this function with the hooks of its class. The function has the number of parameters in
        // its description. The function is the target for all objects of this object's class.
        unsafe { core.fast_paths.find(&hooks.gate, what, (direct.call, function.arguments().len()), on) }
    }

    pub(super) fn target(&self, core: &Core, object: ObjectHandle) -> Option<Rc<Function>> {
        calls::target(&core.world, &self.function.upgrade()?, object, self.dispatch).ok()
    }

    /// Returns `true` if a call on objects of `class` runs an override of the function.
    pub(crate) fn is_overridden(&self, class: &Class) -> bool {
        match (self.dispatch, self.function.upgrade()) {
            (Dispatch::Virtual, Some(function)) => !Rc::ptr_eq(class.dispatch(&function), &function),
            _ => false,
        }
    }
}
