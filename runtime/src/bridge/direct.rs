//! Resolves fast paths: finds the target function of a call, and the direct trampoline of this function.
#![expect(unsafe_code, reason = "vouches for the trampolines that it finds")]

use std::rc::{Rc, Weak};

use alcedo_abi::direct::DirectMethod;

use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::exports::Export;
use crate::bridge::fast_paths::{MethodFastPath, StaticFastPath};
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
    if core.world.mode.is_before_commit() || !calls::is_static(function) {
        return None;
    }
    let hooks = core.hooks.borrow();
    let hooks = hooks.get(function.owner).filter(|hooks| hooks.gate.is_open())?;
    let (what, direct) = hooks.direct.get(&*function.text)?;
    let frame = core.red.hot().number(hooks.gate.tag().id, what);
    let (resolved_at, count) = (core.zcalls.epoch().count(), function.arguments().len());
    // SAFETY: `emit` stored the trampoline of this function with the hooks of its class. The function has the number of parameters in its
    // description. The gate is open.
    Some(unsafe { StaticFastPath::new(resolved_at, direct.call, count, frame) })
}

pub(super) fn parameters(export: &Export) -> Option<usize> {
    Some(export.signature.parse::<SignatureText>().ok()?.arguments.len())
}

/// Returns the fast path into a static function that a module offers. Returns `None` if no fast path is possible. `what` is the name of the
/// function in red frames.
pub(super) fn export_fast_path(core: &Core, export: &Export, what: &Rc<str>) -> Option<StaticFastPath> {
    let (trampoline, gate, count) = (export.direct?, &export.gate, parameters(export)?);
    if core.world.mode.is_before_commit() || !gate.is_open() {
        return None;
    }
    let frame = core.red.hot().number(gate.tag().id, what);
    // SAFETY: the trampoline is that of the export, and `count` is the number of parameters in its signature. The gate of the export is
    // open.
    Some(unsafe { StaticFastPath::new(core.zcalls.epoch().count(), trampoline, count, frame) })
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
        if core.world.mode.is_before_commit() || core.world.objects.waits_for(object).is_some() {
            return None;
        }
        let hooks = core.hooks.borrow();
        let hooks = hooks.get(function.owner).filter(|hooks| hooks.gate.is_open())?;
        let (what, DirectMethod { call, batch }) = hooks.direct.get(&*function.text)?;
        let batch = batch.into_option()?;
        let frame = core.red.hot().number(hooks.gate.tag().id, what);
        let (resolved_at, count) = (core.zcalls.epoch().count(), function.arguments().len());
        class.chain_ids().contains(&function.owner).then_some(())?;
        // SAFETY: `emit` stored the trampolines of this function with the hooks of its class. The function has the number of parameters in
        // its description. The gate is open. The function is the target for all objects of this object's class.
        Some(unsafe { MethodFastPath::new(resolved_at, (*call, batch), count, frame, (class.id, function.owner)) })
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
