//! What the addresses of reflection lead to: `uf` and `uf!` to functions, `up` to properties, `nm` to the functions of
//! a module, `nd` to the delegate that the first slot names. Nothing is registered by hand: the name itself says where to look.

#![expect(unsafe_code, reason = "views the memory of an object while a text is copied out of it")]

use std::rc::{Rc, Weak};

use crate::border::CallError;
use crate::bridge::calls::{self, Dispatch};
use crate::bridge::core::Core;
use crate::bridge::nd;
use crate::bridge::nm::{ExportDispatcher, is_type};
use crate::bridge::slots;
use crate::conjugate::gate::Gate;
use crate::game_thread::GameThread;
use crate::handles::{ModuleId, ObjectHandle};
use crate::object::function::Function;
use crate::object::property::Property;
use crate::object::storage::View;
use crate::object::thunk::ParamBlock;
use crate::zcall::buffer::BufferMut;
use crate::zcall::chain::{Dispatcher, Implementer, Resolved, Resolver};
use crate::zcall::name::{Virtuality, ZCallName};

/// Priorities of the built-in resolvers; an embedder's own may stand before, between or after.
const EXPLICIT: i32 = 100;
const FUNCTIONS: i32 = 200;
const PROPERTIES: i32 = 300;
const METHODS: i32 = 400;
const DELEGATES: i32 = 500;

/// Puts the built-in resolvers into the chain.
pub(crate) fn install(core: &Rc<Core>) {
    let weak = Rc::downgrade(core);
    core.chain.add(EXPLICIT, "ex", Rc::clone(&core.explicit));
    core.chain.add(FUNCTIONS, "uf", Rc::new(FunctionResolver(Weak::clone(&weak))));
    core.chain.add(PROPERTIES, "up", Rc::new(PropertyResolver(Weak::clone(&weak))));
    core.chain.add(METHODS, "nm", Rc::new(MethodResolver(Weak::clone(&weak))));
    core.chain.add(DELEGATES, "nd", Rc::new(DelegateResolver(weak)));
}

fn alive(core: &Weak<Core>) -> Result<Rc<Core>, CallError> {
    core.upgrade().ok_or_else(|| CallError::Unavailable { what: "the runtime".into() })
}

struct DelegateResolver(Weak<Core>);

impl Resolver for DelegateResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Option<Resolved>, CallError> {
        let ZCallName::Nd = name else { return Ok(None) };
        Ok(Some(Resolved {
            side: Implementer::Host,
            module: ModuleId::HOST,
            // Each delegate has its own; the slots are compared with it when it is called.
            fingerprint: 0,
            signature: String::new(),
            dispatcher: Rc::new(DelegateDispatcher(Weak::clone(&self.0))),
        }))
    }
}

/// Slot 0 is the delegate's conjugate.
struct DelegateDispatcher(Weak<Core>);

impl Dispatcher for DelegateDispatcher {
    fn call(&self, _gt: GameThread<'_>, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        nd::call(&*alive(&self.0)?, None, &mut buffer)
    }
}

struct FunctionResolver(Weak<Core>);

impl Resolver for FunctionResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Option<Resolved>, CallError> {
        let ZCallName::Uf { path, virtuality } = name else { return Ok(None) };
        let core = alive(&self.0)?;
        let Some(function) = core.world.types.function_by_path(path) else { return Ok(None) };
        let dispatch = match virtuality {
            Virtuality::Virtual => Dispatch::Virtual,
            Virtuality::Final => Dispatch::Final,
        };
        let module = module_of(&core, path, function.tag);
        Ok(Some(function_call(&self.0, function, dispatch, Implementer::Host, module)))
    }
}

/// What a member's path leads to ends with the class it names: its next build may override there what this one inherits.
/// Whoever declared the member does not end before that, since the class is built on it.
fn module_of(core: &Core, path: &str, tag: u64) -> ModuleId {
    let class = path.split_once(':').and_then(|(class, _)| core.world.types.class_by_path(class));
    ModuleId(class.map_or(tag, |class| class.tag))
}

fn function_call(
    core: &Weak<Core>,
    function: Rc<Function>,
    dispatch: Dispatch,
    side: Implementer,
    module: ModuleId,
) -> Resolved {
    Resolved {
        side,
        module,
        fingerprint: function.fingerprint,
        signature: function.signature(),
        dispatcher: Rc::new(FunctionDispatcher { core: Weak::clone(core), function, dispatch }),
    }
}

struct FunctionDispatcher {
    core: Weak<Core>,
    function: Rc<Function>,
    dispatch: Dispatch,
}

impl Dispatcher for FunctionDispatcher {
    fn call(&self, _gt: GameThread<'_>, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        let core = alive(&self.core)?;
        let (object, first) = if calls::is_static(&self.function) {
            (ObjectHandle::NONE, 0)
        } else {
            (buffer.get::<ObjectHandle>(0)?, 1)
        };
        let function = calls::target(&core.world, &self.function, object, self.dispatch)?;
        let mut block = ParamBlock::new(&function);
        slots::read_parameters(&buffer, first, &function, &block)?;
        calls::invoke(&core.world, &function, object, &mut block)?;
        slots::write_result(&mut buffer, &function, &block)
    }
}

struct PropertyResolver(Weak<Core>);

impl Resolver for PropertyResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Option<Resolved>, CallError> {
        let ZCallName::Up { path } = name else { return Ok(None) };
        let core = alive(&self.0)?;
        let Some(property) = core.world.types.property_by_path(path) else { return Ok(None) };
        let Some(owner) = core.world.types.class_by_path(&property.owner) else { return Ok(None) };
        Ok(Some(Resolved {
            side: Implementer::Host,
            module: module_of(&core, path, owner.tag),
            fingerprint: property.ty.fingerprint(),
            signature: property.ty.to_string(),
            dispatcher: Rc::new(PropertyDispatcher { core: Weak::clone(&self.0), property }),
        }))
    }
}

/// Slot 0 is the object, slot 1 says read (0) or write (1), slot 2 is the value.
struct PropertyDispatcher {
    core: Weak<Core>,
    property: Rc<Property>,
}

impl Dispatcher for PropertyDispatcher {
    fn call(&self, _gt: GameThread<'_>, mut buffer: BufferMut<'_>) -> Result<(), CallError> {
        let core = alive(&self.core)?;
        buffer.expect_len(3)?;
        let object: ObjectHandle = buffer.get(0)?;
        let class = core.world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
        if !class.chain().iter().any(|class| class.path == self.property.owner) {
            return Err(CallError::WrongClass {
                place: format!("{}:{}", self.property.owner, self.property.text),
                handle: object,
                found: class.path.to_string(),
                wanted: self.property.owner.to_string(),
            });
        }
        let memory = core.world.objects.memory(object).ok_or(CallError::Stale { handle: object })?;
        // SAFETY: the memory is that of the living object, laid out as its class's schema says. A sink that takes a
        // text only copies it, so nothing frees the object while the view is used.
        let view = unsafe { View::from_raw(memory, class.schema()) };
        match buffer.get::<u8>(1)? {
            0 => slots::write_slot(&mut buffer, 2, &self.property, view),
            1 => {
                core.world.objects.may_write(object)?;
                slots::read_slot(&buffer, 2, &self.property, view)
            }
            other => Err(CallError::Buffer {
                message: format!("slot 1 of `up` says 0 to read or 1 to write, it is {other}"),
            }),
        }
    }
}

struct MethodResolver(Weak<Core>);

impl Resolver for MethodResolver {
    fn resolve(&self, name: &ZCallName) -> Result<Option<Resolved>, CallError> {
        let ZCallName::Nm { module, type_path, method } = name else { return Ok(None) };
        let core = alive(&self.0)?;
        if let Some(export) = core.exports.find(module, type_path, method) {
            let id = export.gate.tag().id;
            return Ok(Some(Resolved {
                side: Implementer::Module(id),
                module: id,
                fingerprint: export.fingerprint,
                signature: export.signature.to_string(),
                dispatcher: Rc::new(ExportDispatcher::new(export, Weak::clone(&self.0))),
            }));
        }
        let hooks = core.hooks.borrow();
        let is_meant = |gate: &Gate| gate.is_open() && *gate.tag().name == **module;
        let owner = hooks
            .iter()
            .filter(|(_, hooks)| is_meant(&hooks.gate))
            .filter_map(|(id, hooks)| Some((core.world.types.class(id)?, hooks.gate.tag().id)))
            .filter(|(class, _)| is_type(&class.path, type_path))
            .min_by_key(|(_, module)| *module);
        Ok(owner.and_then(|(class, module)| {
            let function = class.own_functions.iter().find(|function| *function.text == **method).cloned()?;
            Some(function_call(&self.0, function, Dispatch::Final, Implementer::Module(module), module))
        }))
    }
}
