//! Calls reflected functions, and finds the targets of virtual calls.

use std::rc::Rc;

use alcedo_abi::kinds::function_flags;

use crate::boundary::{CallError, catch_panics, mismatch, not_found};
use crate::handles::ObjectHandle;
use crate::object::World;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::thunk::ParamBlock;
use crate::object::value::Value;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dispatch {
    Virtual,
    Final,
}

/// Returns the error for an object that is not of the class `expected`. `place` is the accessed member, or empty if no member is accessed.
pub(crate) fn wrong_class(place: String, handle: ObjectHandle, class: &Class, expected: &str) -> CallError {
    let (found, expected) = (class.path.to_string(), expected.to_owned());
    CallError::WrongClass { place, handle, found, expected }
}

pub(crate) fn is_static(function: &Function) -> bool {
    function.flags & function_flags::STATIC != 0
}

/// Returns the target of a call: `function`, or the override of `function` in the class of `object`. Returns an error if the object is
/// destroyed, or is not of the class of the function.
pub(crate) fn target(
    world: &World,
    function: &Rc<Function>,
    object: ObjectHandle,
    dispatch: Dispatch,
) -> Result<Rc<Function>, CallError> {
    if is_static(function) {
        return Ok(Rc::clone(function));
    }
    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    if let Some(interface) = &function.interface {
        return implemented(world, function, interface, object, &class);
    }
    let gone = || not_found(format!("the class of {} is gone: resolve the function again", function.path));
    let owner = world.types.class(function.owner).ok_or_else(gone)?;
    if !class.is_a(&owner) {
        return Err(wrong_class(function.path.to_string(), object, &class, &owner.path));
    }
    Ok(Rc::clone(match dispatch {
        Dispatch::Virtual => class.dispatch(function),
        Dispatch::Final => function,
    }))
}

/// Returns the implementation of an interface function in a class. Interface functions have no body. The implementation is a function of
/// the class or of a base class.
fn implemented(
    world: &World,
    function: &Function,
    interface: &str,
    object: ObjectHandle,
    class: &Class,
) -> Result<Rc<Function>, CallError> {
    if !world.implements(class, interface) {
        let expected = format!("class that implements {interface}");
        return Err(wrong_class(function.path.to_string(), object, class, &expected));
    }
    let found = class.find_function(&function.text);
    match found.filter(|found| found.fingerprint == function.fingerprint) {
        Some(found) => Ok(Rc::clone(found)),
        // The interface was declared again after the function was resolved.
        None => {
            let found = found.map_or_else(|| "none of that name".to_owned(), |found| found.signature());
            Err(mismatch(&format!("{}:{}", class.path, function.text), &found, &function.signature()))
        }
    }
}

/// Calls `function` on `object` with a filled parameter block. Catches panics of host code, and returns errors of the function body. After
/// an error, the result in the block is unset.
pub(crate) fn invoke(
    world: &World,
    function: &Function,
    object: ObjectHandle,
    block: &mut ParamBlock<'_>,
) -> Result<(), CallError> {
    catch_panics(|| function.invoke(world, object, block))
}

/// Calls a function with dynamic values, for hosts, tools and tests. Returns the result, and the out parameters in order. The result is
/// `None` for a function without a result. Returns an error if the arguments do not match the signature. If the function body fails,
/// returns the error of the body.
pub(crate) fn call_with_out_parameters(
    world: &World,
    function: &Rc<Function>,
    object: ObjectHandle,
    arguments: &[Value],
    dispatch: Dispatch,
) -> Result<(Option<Value>, Vec<Value>), CallError> {
    let function = target(world, function, object, dispatch)?;
    // Trailing arguments that have defaults may be omitted.
    let left_out = function.arguments().get(arguments.len()..);
    if !left_out.is_some_and(|params| params.iter().all(|param| param.default.is_some())) {
        return Err(mismatch(&function.path, &function.signature(), &format!("{} arguments", arguments.len())));
    }
    let mut block = ParamBlock::new(&function);
    for (at, argument) in arguments.iter().enumerate() {
        world.check_objects_of(&function.params[at], argument)?;
        block.set(at, argument)?;
    }
    for (at, param) in function.arguments().iter().enumerate().skip(arguments.len()) {
        if let Some(default) = &param.default {
            block.set(at, default)?;
        }
    }
    invoke(world, &function, object, &mut block)?;
    let out_values = function.out_parameters().map(|param| block.view().read(param)).collect::<Result<_, _>>()?;
    Ok((block.result(), out_values))
}
