//! `uf` and `uf!`: call reflected functions by path. `uf` calls the override of a function. `uf!` ignores overrides.

use std::any::Any;
use std::rc::{Rc, Weak};

use crate::boundary::CallError;
use crate::bridge::callees::direct_of;
use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::{Core, alive};
use crate::bridge::described_protocol::BuiltIn;
use crate::bridge::direct::{MethodCall, class_fast_path, export_fast_path};
use crate::bridge::fast_paths::StaticFastPath;
use crate::bridge::module_code::method_code;
use crate::bridge::module_thunk::ExportDispatcher;
use crate::bridge::paths::member_path;
use crate::bridge::slots;
use crate::handles::{ModuleId, ObjectHandle};
use crate::object::function::Function;
use crate::signature::described;
use crate::zcall::call::{Call, Callee, Dispatcher, Resolved};
use crate::zcall::chain::Answer;
use crate::zcall::name::ZCallName;

/// Protocol for calls that run the override of a function.
pub(super) const UF: BuiltIn = BuiltIn {
    word: "uf",
    form: "`uf:/Script/Package.Type:Function`",
    help: "declare the function, or load the module that does",
    read: |address| member_path(address, "function"),
};

/// Protocol for calls that ignore overrides.
pub(super) const UF_FINAL: BuiltIn = BuiltIn { word: "uf!", form: "`uf!:/Script/Package.Type:Function`", ..UF };

/// Resolves a function of a class or of an interface.
pub(super) fn resolve(weak: &Weak<Core>, name: &ZCallName, dispatch: Dispatch) -> Result<Answer, CallError> {
    let core = alive(weak)?;
    let Some(function) = core.world.types.function_by_path(name.address()) else { return Ok(Answer::declined("")) };
    let module = module_of(&core, name.address(), function.tag);
    let direct = direct_of(&core, &function, dispatch);
    let direct = direct.or_else(|| method_code(&core, &function, dispatch));
    let function = function_call(weak, function, dispatch);
    Ok(Answer::Function(function.of_module(module).with_black_code(direct)))
}

/// Returns the module that invalidates a resolved member path when the module ends: the module of the class in the path. A new build of
/// this class may override an inherited member. The module that declares an inherited member never ends earlier, because the module of the
/// class depends on the declaring module.
pub(super) fn module_of(core: &Core, path: &str, tag: u64) -> ModuleId {
    let class = path.split_once(':').and_then(|(class, _)| core.world.types.class_by_path(class));
    ModuleId(class.map_or(tag, |class| class.tag))
}

/// Returns the fast path into a static function of a module or of its classes. Returns `None` if no fast path is possible.
pub(crate) fn static_fast_path(core: &Core, callee: &Callee) -> Option<StaticFastPath> {
    let found = callee.inner()?;
    match found.downcast_ref::<ExportDispatcher>() {
        Some(export) => export_fast_path(core, &export.export, &export.what),
        None => class_fast_path(core, &found.downcast_ref::<FunctionDispatcher>()?.function),
    }
}

/// Returns the method that `callee` calls. Returns `None` if `callee` is not a method.
pub(crate) fn method_call(callee: &Callee) -> Option<MethodCall> {
    let FunctionDispatcher { function, dispatch, .. } = callee.inner()?.downcast_ref::<FunctionDispatcher>()?;
    (!calls::is_static(function)).then(|| MethodCall::new(function, *dispatch))
}

pub(super) fn function_call(core: &Weak<Core>, function: Rc<Function>, dispatch: Dispatch) -> Resolved {
    let signature = described(&function.signature(), function.fingerprint);
    Resolved::new(signature, FunctionDispatcher { core: Weak::clone(core), function, dispatch })
}

struct FunctionDispatcher {
    core: Weak<Core>,
    function: Rc<Function>,
    dispatch: Dispatch,
}

impl Dispatcher for FunctionDispatcher {
    fn inner(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn call(&self, call: Call<'_>) -> Result<(), CallError> {
        let mut buffer = call.into_buffer();
        let core = alive(&self.core)?;
        let (object, first) = if calls::is_static(&self.function) {
            // Plugin code calls this protocol on an object. A static function ignores the object.
            (ObjectHandle::NONE, usize::from(buffer.len() > slots::count(&self.function)))
        } else {
            (buffer.get::<ObjectHandle>(0)?, 1)
        };
        let function = calls::target(&core.world, &self.function, object, self.dispatch)?;
        slots::call(&core.world, &function, object, &mut buffer, first)
    }
}
