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
        let (object, first) = if !calls::is_static(&self.function) {
            (buffer.get::<ObjectHandle>(0)?, 1)
        } else if buffer.len() > slots::count(&self.function) {
            // Plugin code calls this protocol on an object. A static function ignores the object.
            let _ignored: ObjectHandle = buffer.get(0)?;
            (ObjectHandle::NONE, 1)
        } else {
            (ObjectHandle::NONE, 0)
        };
        let function = calls::target(&core.world, &self.function, object, self.dispatch)?;
        slots::call(&core.world, &function, object, &mut buffer, first)
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::{PropertyKind, function_flags};

    use crate::boundary::CallError;
    use crate::bridge::conjugate_calls;
    use crate::bridge::core::Core;
    use crate::handles::{ModuleId, ObjectHandle};
    use crate::object::World;
    use crate::object::decl::{ClassDecl, FunctionDecl, PropertyDecl};
    use crate::object::origin::Origin;
    use crate::object::testing::{declare, native_thunk};
    use crate::object::thunk::Frame;
    use crate::zcall::owned::DynBuffer;

    /// Returns its argument.
    fn same(_: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        let object = frame.take::<ObjectHandle>()?;
        frame.finish()?;
        frame.set_result(object)
    }

    #[test]
    fn a_static_function_ignores_only_an_object_before_its_arguments() {
        let core = Core::new().expect("a finalizer thread");
        core.world.types.declare_package("Game");
        let argument = PropertyDecl::new("object", PropertyKind::OBJECT).of_type("/Script/Game.Thing");
        let result = PropertyDecl::result(PropertyKind::OBJECT).of_type("/Script/Game.Thing");
        let same = FunctionDecl {
            flags: function_flags::STATIC,
            params: vec![argument, result],
            ..FunctionDecl::new("same", native_thunk(same))
        };
        let thing = ClassDecl { functions: vec![same], ..ClassDecl::new("Game", "Thing", "", Origin::Native) };
        let class = declare(&core.world, [thing]).remove(0);
        let [one, other] = [(); 2].map(|()| core.world.objects.allocate(&class, None, ObjectHandle::NONE, 0));
        let handle = core.zcalls.resolve(&core.chain, "uf:/Script/Game.Thing:same", 0).expect("it is declared");
        let dispatch = |buffer: &mut DynBuffer<'_>| core.zcalls.dispatch(core.here(), handle, buffer.as_buffer_mut()).1;
        let plugin_call =
            |buffer: &mut DynBuffer<'_>| conjugate_calls::call(&core, ModuleId(1), handle, buffer.as_buffer_mut());
        let call_by = |code: &dyn Fn(&mut DynBuffer<'_>) -> Result<(), CallError>,
                       objects: &[ObjectHandle]|
         -> Result<ObjectHandle, CallError> {
            let mut buffer = DynBuffer::with_len(objects.len() + 1);
            for (at, object) in objects.iter().enumerate() {
                buffer.set(at, *object)?;
            }
            code(&mut buffer)?;
            buffer.get(objects.len())
        };
        let call = |objects: &[ObjectHandle]| call_by(&dispatch, objects);
        assert_eq!(call(&[one]), Ok(one), "the object is the argument");
        assert_eq!(call(&[one, other]), Ok(other), "the first object is ignored");
        assert!(matches!(call(&[one, one, other]), Err(CallError::Buffer { .. })));
        let mut buffer = DynBuffer::with_len(3);
        buffer.set(0, 1_u32).expect("there is a slot");
        buffer.set(1, one).expect("there is a slot");
        assert_eq!(dispatch(&mut buffer).is_err(), alcedo_abi::SLOT_TYPES, "a number is not an object");
        // Plugin code without static types always passes the object that is ignored.
        assert_eq!(call_by(&plugin_call, &[one, other]), Ok(other));
        assert!(matches!(call_by(&plugin_call, &[one]), Err(CallError::Buffer { .. })), "an argument is missing");
    }
}
