//! Binds delegates by name, compares delegates by signature, and calls delegates through reflection. A delegate contains an object and a
//! function name, but no address. Each call resolves the target again. A call therefore uses current overrides and reloaded code, and a
//! delegate keeps no module alive.
//!
//! A broadcast calls the bindings that existed at its start, newest first. The broadcast skips bindings that are removed during the
//! broadcast, even if the delegate has moved in memory; see [`Broadcasts`]. Bindings that are added during the broadcast are called from
//! the next broadcast on. Bindings to destroyed objects are skipped and removed. Bindings to dormant objects are skipped and kept. A failed
//! call does not stop the remaining calls. The broadcast returns the first error. Only nested broadcasts end at the error
//! [`CallError::TooDeep`] of a call inside, and at a refused call that exceeds the depth limit of delegate calls or of scripts, even if a
//! function ignores the error. Otherwise two functions that repeat the broadcast would double the number of calls with each level.

use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::call::FailureKind;
use alcedo_base::nesting::{CallPosition, DEEPEST, Limit, MOST, exceeded_limit, outer_calls};

use crate::boundary::{CallError, mismatch, not_found};
use crate::bridge::calls;
use crate::cells::RefCell;
use crate::handles::ObjectHandle;
use crate::object::World;
use crate::object::broadcasts::{Broadcasts, DelegateMark};
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::native_value::{NativeResult, ValueParams};
use crate::object::property::PropertyType;
use crate::object::type_text::SignatureText;
use crate::object::value::{Binding, Value};

/// Calls a function on an object.
pub(crate) type CallOne<'a> = dyn FnMut(&Rc<Function>, ObjectHandle) -> Result<(), CallError> + 'a;

/// Maximum number of cached signatures. A host uses fewer signatures, even after many reloads.
const MOST_SIGNATURES: usize = 1024;

/// Cached signatures of delegates. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct Delegates {
    /// Parsed signatures of calls by name. The key is the signature string.
    signatures: RefCell<BTreeMap<String, Rc<SignatureText>>>,
}

impl Delegates {
    /// Returns the signature of a delegate type. Returns [`CallError::Signature`] if the type is not a delegate.
    pub(super) fn signature(&self, ty: &PropertyType) -> Result<Rc<SignatureText>, CallError> {
        let words = signature_of(ty)?;
        if let Some(known) = self.signatures.borrow().get(words) {
            return Ok(Rc::clone(known));
        }
        let read = words.parse().map_err(|error| CallError::other(format!("`{words}`: {error}")))?;
        let mut signatures = self.signatures.borrow_mut();
        if signatures.len() == MOST_SIGNATURES {
            signatures.clear();
        }
        Ok(Rc::clone(signatures.entry(words.to_owned()).or_insert(Rc::new(read))))
    }

    /// Calls a delegate property of type `ty` with the Rust types of its signature. Returns the errors of [`broadcast`], and an error if
    /// the types do not match.
    pub(crate) fn call_by_types<A: ValueParams, R: NativeResult>(
        &self,
        world: &World,
        property: (ObjectHandle, &str),
        ty: &PropertyType,
        arguments: A,
    ) -> Result<R, CallError> {
        let signature = self.signature(ty)?;
        let (params, result) = types_of(&signature, world)?;
        R::from_value(broadcast(world, property, ty, &arguments.into_values(&params)?)?, result.as_ref())
    }
}

/// Types of the parameters and of the result of a signature.
pub(crate) type Types = (Vec<PropertyType>, Option<PropertyType>);

/// Resolves the types of a signature. Returns an error if a type does not exist.
pub(crate) fn types_of(signature: &SignatureText, world: &World) -> Result<Types, CallError> {
    let of = |word| PropertyType::resolve(word, &world.types).map_err(|error| not_found(error.to_string()));
    let params = signature.arguments.iter().map(of).collect::<Result<_, _>>()?;
    Ok((params, signature.result.as_deref().map(of).transpose()?))
}

/// Returns the signature string of a delegate type. Returns [`CallError::Signature`] if the type is not a delegate.
pub(crate) fn signature_of(ty: &PropertyType) -> Result<&str, CallError> {
    ty.signature().ok_or_else(|| mismatch(&"the value", ty, &"a delegate"))
}

/// Creates a binding to a function of an object, for a delegate of type `ty`. Returns [`CallError::Stale`] if the object is destroyed,
/// [`CallError::NotFound`] if the object has no such function, and [`CallError::Signature`] if the signature differs.
pub(crate) fn binding(
    world: &World,
    ty: &PropertyType,
    object: ObjectHandle,
    function: &str,
) -> Result<Binding, CallError> {
    binding_of(world, signature_of(ty)?, object, function)
}

/// Creates a binding like [`binding`], for a signature string. Returns the same errors.
pub(crate) fn binding_of(
    world: &World,
    signature: &str,
    object: ObjectHandle,
    function: &str,
) -> Result<Binding, CallError> {
    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    let found = class.find_function(function).ok_or_else(|| {
        not_found(format!("{} has no function {function} to bind: check the declarations of the class", class.path))
    })?;
    if found.signature_text() != signature {
        return Err(mismatch(&format!("{}:{function}", class.path), &found.signature(), &signature));
    }
    Ok(Binding { object, function: world.names.intern(function) })
}

/// Checks that the bound functions in a value match the signatures of their delegates. Accepts bindings to destroyed and dormant objects.
/// Returns the errors of [`binding`].
pub(crate) fn check(world: &World, ty: &PropertyType, value: &Value) -> Result<(), CallError> {
    let Some(signature) = ty.signature() else {
        let mut checked = Ok(());
        if holds_delegates(ty) {
            drop(value.clone().map_parts(ty, &mut |ty, part| {
                if checked.is_ok() {
                    checked = check(world, ty, &part);
                }
                part
            }));
        }
        return checked;
    };
    for binding in bindings(value).iter().filter(|binding| class_of(world, binding).is_some()) {
        binding_of(world, signature, binding.object, &bound_name(world, binding))?;
    }
    Ok(())
}

/// Checks if values of a type contain delegates.
pub(crate) fn holds_delegates(ty: &PropertyType) -> bool {
    ty.any(&|ty| ty.signature().is_some())
}

/// Returns the bindings of a delegate in the order in which they were added. Returns no bindings for other values.
pub(crate) fn bindings(value: &Value) -> &[Binding] {
    match value {
        Value::Delegate(Binding { object, .. }) if object.is_none() => &[],
        Value::Delegate(binding) => std::slice::from_ref(binding),
        Value::Multicast(bindings) | Value::Sparse(bindings) => bindings,
        _ => &[],
    }
}

/// Adds a binding to a delegate. A single delegate replaces its binding. A multicast delegate ignores a duplicate.
pub(crate) fn with(delegate: Value, added: Binding) -> Value {
    let add = |mut bindings: Vec<Binding>| {
        if !bindings.contains(&added) {
            bindings.push(added);
        }
        bindings
    };
    match delegate {
        Value::Delegate(_) => Value::Delegate(added),
        Value::Multicast(bindings) => Value::Multicast(add(bindings)),
        Value::Sparse(bindings) => Value::Sparse(add(bindings)),
        other => other,
    }
}

/// Removes the bindings for which `is_kept` returns `false`. Returns the delegate and the number of removed bindings.
pub(crate) fn keep(delegate: Value, is_kept: impl Fn(&Binding) -> bool) -> (Value, u32) {
    let before = bindings(&delegate).len();
    let left = map_bindings(delegate, |binding| is_kept(&binding).then_some(binding));
    let removed = before - bindings(&left).len();
    (left, removed as u32)
}

/// Removes the bindings to destroyed objects from a multicast delegate. Returns the delegate and the number of removed bindings. A single
/// delegate keeps its binding, so that the error of its call reports the destroyed object.
pub(crate) fn without_dead(world: &World, ty: &PropertyType, delegate: Value) -> (Value, u32) {
    match ty {
        PropertyType::Delegate(_) => (delegate, 0),
        _ => keep(delegate, |binding| world.objects.is_alive(binding.object)),
    }
}

/// Replaces each binding of a delegate with the result of `map`. Removes the binding if the result is `None`.
pub(super) fn map_bindings(delegate: Value, mut map: impl FnMut(Binding) -> Option<Binding>) -> Value {
    match delegate {
        Value::Delegate(binding) => Value::Delegate(map(binding).unwrap_or_default()),
        Value::Multicast(all) => Value::Multicast(all.into_iter().filter_map(map).collect()),
        Value::Sparse(all) => Value::Sparse(all.into_iter().filter_map(map).collect()),
        other => other,
    }
}

/// Checks if `object` and `function` match a binding. The object `NONE` matches all bindings. An empty function name matches all functions
/// of the object.
pub(crate) fn is_meant(world: &World, binding: &Binding, object: ObjectHandle, function: &str) -> bool {
    let is_object = object.is_none() || binding.object == object;
    is_object && (object.is_none() || function.is_empty() || *world.names.text(binding.function) == *function)
}

/// Returns the class of a bound object. Returns `None` while the object is dormant, because its class is then its nearest existing base,
/// which may have a function of the bound name.
pub(super) fn class_of(world: &World, binding: &Binding) -> Option<Rc<Class>> {
    world.objects.awake_class(binding.object)
}

/// Returns the function of a binding in the class of its object. Also finds a function that was renamed after the binding: a reload updates
/// the bindings in objects, but not in delegates that a plugin or a host owns.
pub(crate) fn bound_function<'c>(world: &World, class: &'c Rc<Class>, binding: &Binding) -> Option<&'c Rc<Function>> {
    world.types.function_of(class, &world.names.text(binding.function))
}

/// Returns the current name of the function of a binding. Returns the name in the binding if the object has no such function.
pub(crate) fn bound_name(world: &World, binding: &Binding) -> Rc<str> {
    let class = world.objects.class(binding.object);
    let found = class.as_ref().and_then(|class| bound_function(world, class, binding));
    found.map_or_else(|| world.names.text(binding.function), |function| Rc::clone(&function.text))
}

/// Returns the current target of a binding. Returns `None` while the object is dormant, or if its class has no such function.
fn target(world: &World, signature: &str, binding: &Binding) -> Option<Rc<Function>> {
    let class = class_of(world, binding)?;
    let function = bound_function(world, &class, binding)?;
    (function.signature_text() == signature).then(|| Rc::clone(class.dispatch(function)))
}

/// Binds a delegate property of type `ty`. Returns the errors of [`binding`], and an error if the property cannot currently be written.
pub(crate) fn bind(
    world: &World,
    (object, property): (ObjectHandle, &str),
    ty: &PropertyType,
    target: ObjectHandle,
    function: &str,
) -> Result<(), CallError> {
    let added = binding(world, ty, target, function)?;
    world.write(object, property, &with(world.read(object, property)?, added))
}

/// Returns the reason for which a binding has no target. Returns `None` if the target exists, or if the object is destroyed or dormant.
pub(crate) fn broken(world: &World, signature: &str, binding: &Binding) -> Option<String> {
    let class = class_of(world, binding)?;
    let name = world.names.text(binding.function);
    match bound_function(world, &class, binding) {
        None => Some(format!("{} no longer has a function {name}", class.short_path())),
        Some(function) if function.signature_text() != signature => {
            Some(format!("{}:{name} is ({}) now, not ({signature})", class.short_path(), function.signature_text()))
        }
        Some(_) => None,
    }
}

/// Calls the bindings of a delegate: passes the function and the object of each binding to `call`. During the calls, the delegate is not
/// accessed. Returns [`CallError::NotFound`] if a single delegate has no target, and [`CallError::TooDeep`] if delegate calls are nested
/// too deeply. Returns an error if [`MOST`] delegate calls are in progress. Returns the first error of a callee.
pub(crate) fn call(
    world: &World,
    ty: &PropertyType,
    mark: DelegateMark,
    delegate: &Value,
    call: &mut CallOne<'_>,
) -> Result<(), CallError> {
    let signature = signature_of(ty)?;
    let position = world.stack.position();
    if let Some(limit) = limit_exceeded_by(&world.broadcasts, position) {
        if limit == Limit::Depth {
            // Ends the nested broadcasts here, because a function may ignore the error.
            world.broadcasts.end_nested(position);
        }
        return Err(too_many(format!("a delegate ({signature})"), limit));
    }
    if let PropertyType::Delegate(_) = ty {
        return call_one(world, signature, bindings(delegate), call);
    }
    let broadcast = world.broadcasts.enter(mark, bindings(delegate).to_vec(), position);
    let mut outcome = Ok(());
    while let Some(binding) = broadcast.next_binding() {
        let Some(function) = target(world, signature, &binding) else { continue };
        let called = call(&function, binding.object);
        if called.as_ref().is_err_and(|error| error.kind() == FailureKind::TOO_DEEP) {
            world.broadcasts.end_nested(position);
        }
        outcome = outcome.and(called);
    }
    outcome
}

/// Calls a delegate with dynamic values, for hosts, tools and tests. Returns the result of a single delegate, if the delegate has a result.
/// Returns the errors of [`call`], and an error if the arguments do not match.
pub(crate) fn call_with_values(
    world: &World,
    ty: &PropertyType,
    mark: DelegateMark,
    delegate: &Value,
    arguments: &[Value],
) -> Result<Option<Value>, CallError> {
    let mut result = None;
    call(world, ty, mark, delegate, &mut |function, object| {
        let dispatch = calls::Dispatch::Final;
        (result, _) = calls::call_with_out_parameters(world, function, object, arguments, dispatch)?;
        Ok(())
    })?;
    Ok(result)
}

/// Removes the bindings of a delegate property of type `ty` that [`is_meant`] matches. Returns the number of removed bindings, or an error
/// if the property cannot currently be written.
pub(crate) fn unbind(
    world: &World,
    (object, property): (ObjectHandle, &str),
    ty: &PropertyType,
    target: ObjectHandle,
    function: &str,
) -> Result<u32, CallError> {
    signature_of(ty)?;
    let is_kept = |binding: &_| !is_meant(world, binding, target, function);
    let (left, removed) = keep(world.read(object, property)?, is_kept);
    world.write(object, property, &left)?;
    Ok(removed)
}

/// Calls a delegate property of type `ty`, and removes its bindings to destroyed objects. Returns the errors of [`call_with_values`].
pub(crate) fn broadcast(
    world: &World,
    (object, property): (ObjectHandle, &str),
    ty: &PropertyType,
    arguments: &[Value],
) -> Result<Option<Value>, CallError> {
    let (now, dead) = without_dead(world, ty, world.read(object, property)?);
    if dead != 0 {
        // If the property cannot currently be written, bindings to destroyed objects remain in the property, and later calls skip them.
        let _may_not = world.write(object, property, &now);
    }
    let mark = world.objects.delegate_mark(object, property, || world.broadcasts.fresh_mark())?;
    call_with_values(world, ty, mark, &now, arguments)
}

fn call_one(world: &World, signature: &str, bindings: &[Binding], call: &mut CallOne<'_>) -> Result<(), CallError> {
    let nothing = |why: &str| not_found(format!("a delegate ({signature}) {why}: bind it first"));
    let binding = bindings.first().ok_or_else(|| nothing("is bound to nothing"))?;
    if !world.objects.is_alive(binding.object) {
        return Err(nothing("is bound to a destroyed object"));
    }
    let function = target(world, signature, binding).ok_or_else(|| match broken(world, signature, binding) {
        Some(why) => nothing(&format!("does not resolve: {why}")),
        None => nothing("is bound to a dormant object"),
    })?;
    let _running = world.broadcasts.enter(None, Vec::new(), world.stack.position());
    call(&function, binding.object)
}

/// Returns the limit that a call at this position would exceed.
fn limit_exceeded_by(broadcasts: &Broadcasts, position: CallPosition) -> Option<Limit> {
    if broadcasts.count() < DEEPEST {
        return None;
    }
    let running = broadcasts.positions();
    let count = running.len();
    exceeded_limit(outer_calls(running, |outer| *outer, position).len(), count)
}

/// Returns the error of a call that would exceed this limit.
fn too_many(what: String, limit: Limit) -> CallError {
    match limit {
        Limit::Depth => CallError::TooDeep { what, limit: DEEPEST as u32 },
        Limit::Count => CallError::other(format!(
            "{what} is called during {MOST} other calls of delegates: complete calls of suspended coroutines first"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::{Broadcasts, CallPosition, DEEPEST, Limit, MOST, limit_exceeded_by, too_many};

    /// Checks the exceeded limit of a call on the stack of the thread, during calls at these stack pointers of coroutines.
    fn check(running: impl Iterator<Item = Option<usize>>, expected: Option<Limit>) {
        let broadcasts = Broadcasts::default();
        let enter = |pointer| broadcasts.enter(None, Vec::new(), CallPosition::new(pointer));
        let _running: Vec<_> = running.map(enter).collect();
        assert_eq!(limit_exceeded_by(&broadcasts, CallPosition::new(None)), expected);
    }

    #[test]
    fn a_refused_call_names_the_limit_that_it_exceeds() {
        let suspended = |count: usize| (1..=count).map(|at| Some(at << 20));
        check((1..DEEPEST).map(|_| None), None);
        check((0..DEEPEST).map(|_| None), Some(Limit::Depth));
        check(suspended(MOST - 1), None);
        check(suspended(MOST), Some(Limit::Count));
    }

    #[test]
    fn only_nested_calls_are_reported_as_a_recursion() {
        let [depth, count] =
            [Limit::Depth, Limit::Count].map(|limit| too_many("a delegate".to_owned(), limit).to_string());
        assert!(depth.contains("calls itself through other functions"), "{depth}");
        assert!(count.starts_with("a delegate is called during 4096 other calls of delegates"), "{count}");
    }
}
