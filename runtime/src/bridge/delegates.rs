//! Delegates: bound by name, compared by signature, called through reflection. A delegate keeps an object and the name of a
//! function, and no address: what that leads to is looked up at every call, so an override answers, a reload changes what
//! runs, and nothing of a module is kept alive.
//!
//! What a broadcast means: it calls those that were bound when it began, the last one first. One that is taken out
//! meanwhile, also by another callee and wherever the delegate has moved to by then, is not called any more; one that is
//! added is called the next time. Objects that are gone are passed over and taken out; so are those that sleep, but they
//! stay bound. A callee that fails does not stop the calls of the others; the caller gets the first failure.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::rc::Rc;

use crate::border::CallError;
use crate::bridge::calls;
use crate::cells::RefCell;
use crate::handles::ObjectHandle;
use crate::object::World;
use crate::object::function::Function;
use crate::object::native_value::{NativeResult, ValueParams};
use crate::object::property::PropertyType;
use crate::object::type_text::SignatureText;
use crate::object::value::{Binding, Value};

/// Calls one function on one object.
pub(crate) type CallOne<'a> = dyn FnMut(&Rc<Function>, ObjectHandle) -> Result<(), CallError> + 'a;

/// How many calls of delegates may be inside each other.
pub(crate) const DEEPEST: usize = 64;

/// How many signatures are kept: more than a host has, whatever becomes of it in a life of reloads.
const MOST_SIGNATURES: usize = 1024;

/// The delegates that are being called, the innermost last. Game thread only.
#[derive(Debug, Default)]
pub(crate) struct Delegates {
    running: RefCell<Vec<Running>>,
    /// The last mark that was given out.
    marked: Cell<u32>,
    /// Signatures in words that calls by name have met, read once.
    signatures: RefCell<BTreeMap<String, Rc<SignatureText>>>,
}

impl Delegates {
    /// The signature of a type of delegates.
    ///
    /// # Errors
    /// [`CallError::Signature`] for a type of something else.
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
}

/// One that is being called.
#[derive(Debug)]
struct Running {
    /// Which one it is, if it can be bound to several.
    mark: DelegateMark,
    /// The bindings still to be called, the next one last.
    left: Vec<Binding>,
}

/// Which delegate is meant, wherever it has been moved to: the number that lies in it. None for one that has never been
/// called, and for a single one.
pub(crate) type DelegateMark = Option<NonZeroU32>;

/// Ends a call, however it ends.
struct Ended<'a>(&'a Delegates);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.running.borrow_mut().pop();
    }
}

/// The signature of a type of delegates, in words.
///
/// # Errors
/// [`CallError::Signature`] for a type of something else.
pub(crate) fn signature_of(ty: &PropertyType) -> Result<&str, CallError> {
    ty.signature().ok_or_else(|| CallError::Signature {
        name: "the value".to_owned(),
        found: ty.to_string(),
        wanted: "a delegate".to_owned(),
    })
}

/// The binding of a delegate of this type to a function of an object.
///
/// # Errors
/// [`CallError::Stale`] when the object is gone, [`CallError::NotFound`] when it has no such function,
/// [`CallError::Signature`] when that takes or gives something else.
pub(crate) fn binding(
    world: &World,
    ty: &PropertyType,
    object: ObjectHandle,
    function: &str,
) -> Result<Binding, CallError> {
    binding_of(world, signature_of(ty)?, object, function)
}

/// The same for a signature in words.
///
/// # Errors
/// As for [`binding`].
pub(crate) fn binding_of(
    world: &World,
    signature: &str,
    object: ObjectHandle,
    function: &str,
) -> Result<Binding, CallError> {
    let class = world.objects.class(object).ok_or(CallError::Stale { handle: object })?;
    let found = class.find_function(function).ok_or_else(|| CallError::NotFound {
        message: format!("{} has no function {function} to be bound: look at what the class declares", class.path),
    })?;
    if found.words() != signature {
        let (found, wanted) = (found.signature(), signature.to_owned());
        return Err(CallError::Signature { name: format!("{}:{function}", class.path), found, wanted });
    }
    Ok(Binding { object, function: world.names.intern(function) })
}

/// What a delegate calls, in the order in which it was added; nothing for a value that is none.
pub(crate) fn bindings(value: &Value) -> &[Binding] {
    match value {
        Value::Delegate(Binding { object, .. }) if object.is_none() => &[],
        Value::Delegate(binding) => std::slice::from_ref(binding),
        Value::Multicast(bindings) | Value::Sparse(bindings) => bindings,
        _ => &[],
    }
}

/// A delegate with one binding more. A single one has no other then; the others have none twice.
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

/// A delegate with those bindings that are to stay, and how many that leaves out.
pub(crate) fn keep(delegate: Value, stays: impl Fn(&Binding) -> bool) -> (Value, u32) {
    let before = bindings(&delegate).len();
    let left = match delegate {
        Value::Delegate(binding) if stays(&binding) => Value::Delegate(binding),
        Value::Delegate(_) => Value::Delegate(Binding::default()),
        Value::Multicast(all) => Value::Multicast(all.into_iter().filter(stays).collect()),
        Value::Sparse(all) => Value::Sparse(all.into_iter().filter(stays).collect()),
        other => other,
    };
    let removed = before - bindings(&left).len();
    (left, removed as u32)
}

/// Whether a binding is one of those meant: of this object, or of any when it is none; to this function, or to any when the
/// name is empty.
pub(crate) fn is_meant(world: &World, binding: &Binding, object: ObjectHandle, function: &str) -> bool {
    let is_object = object.is_none() || binding.object == object;
    is_object && (object.is_none() || function.is_empty() || *world.names.text(binding.function) == *function)
}

/// What a binding leads to now; nothing while the object sleeps, or when its class has no such function any more.
fn target(world: &World, signature: &str, binding: &Binding) -> Option<Rc<Function>> {
    let class = world.objects.class(binding.object)?;
    let function = class.find_function(&world.names.text(binding.function))?;
    (function.words() == signature).then(|| Rc::clone(class.dispatch(function)))
}

/// Binds a delegate property of type `ty`.
///
/// # Errors
/// Those of [`binding`]; when the property may not be written now.
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

/// Why a binding leads nowhere though its object is alive and awake; nothing where it leads somewhere.
pub(crate) fn broken(world: &World, signature: &str, binding: &Binding) -> Option<String> {
    if !world.objects.is_alive(binding.object) || world.objects.waits_for(binding.object).is_some() {
        return None;
    }
    let class = world.objects.class(binding.object)?;
    let name = world.names.text(binding.function);
    match class.find_function(&name) {
        None => Some(format!("{} has no function {name} any more", class.short_path())),
        Some(function) if function.words() != signature => {
            Some(format!("{}:{name} is ({}) now, not ({signature})", class.short_path(), function.words()))
        }
        Some(_) => None,
    }
}

impl Delegates {
    /// Calls what a delegate is bound to, by `call`, which is given each function and object. The delegate itself is not
    /// touched while that runs.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when a single delegate leads nowhere, [`CallError::TooDeep`], and what the callee says; of
    /// several the first that failed.
    pub(crate) fn call(
        &self,
        world: &World,
        ty: &PropertyType,
        mark: DelegateMark,
        delegate: &Value,
        call: &mut CallOne<'_>,
    ) -> Result<(), CallError> {
        let signature = signature_of(ty)?;
        let left: Vec<_> = bindings(delegate).to_vec();
        if self.running.borrow().len() >= DEEPEST {
            return Err(CallError::TooDeep { what: format!("a delegate ({signature})"), limit: DEEPEST as u32 });
        }
        if let PropertyType::Delegate(_) = ty {
            return self.call_one(world, signature, &left, call);
        }
        self.running.borrow_mut().push(Running { mark, left });
        let _ended = Ended(self);
        let mut outcome = Ok(());
        while let Some(binding) = self.next() {
            let Some(function) = target(world, signature, &binding) else { continue };
            let called = call(&function, binding.object);
            if outcome.is_ok() {
                outcome = called;
            }
        }
        outcome
    }

    fn call_one(
        &self,
        world: &World,
        signature: &str,
        bindings: &[Binding],
        call: &mut CallOne<'_>,
    ) -> Result<(), CallError> {
        let nothing =
            |why: &str| CallError::NotFound { message: format!("a delegate ({signature}) {why}: bind it first") };
        let binding = bindings.first().ok_or_else(|| nothing("is bound to nothing"))?;
        if !world.objects.is_alive(binding.object) {
            return Err(nothing("is bound to an object that is gone"));
        }
        let function = target(world, signature, binding).ok_or_else(|| match broken(world, signature, binding) {
            Some(why) => nothing(&format!("leads nowhere: {why}")),
            None => nothing("is bound to an object that sleeps"),
        })?;
        self.running.borrow_mut().push(Running { mark: None, left: Vec::new() });
        let _ended = Ended(self);
        call(&function, binding.object)
    }

    /// Calls with values: for hosts, tools and tests. The result is that of a single delegate, where it has one.
    ///
    /// # Errors
    /// As for [`Delegates::call`], and when the arguments do not fit.
    pub(crate) fn call_with_values(
        &self,
        world: &World,
        ty: &PropertyType,
        mark: DelegateMark,
        delegate: &Value,
        arguments: &[Value],
    ) -> Result<Option<Value>, CallError> {
        let mut result = None;
        self.call(world, ty, mark, delegate, &mut |function, object| {
            result = calls::call_with_values(world, function, object, arguments, calls::Dispatch::Final)?;
            Ok(())
        })?;
        Ok(result)
    }

    /// Takes bindings out of a delegate property of type `ty`, as [`is_meant`] selects them. Returns their number.
    ///
    /// # Errors
    /// When the property may not be written now.
    pub(crate) fn unbind(
        &self,
        world: &World,
        (object, property): (ObjectHandle, &str),
        ty: &PropertyType,
        target: ObjectHandle,
        function: &str,
    ) -> Result<u32, CallError> {
        signature_of(ty)?;
        let is_out = |binding: &_| is_meant(world, binding, target, function);
        let (left, removed) = keep(world.read(object, property)?, |binding| !is_out(binding));
        // Before the write: a sparse one without bindings has no mark any more.
        let mark = world.objects.delegate_mark(object, property, || None)?;
        world.write(object, property, &left)?;
        self.taken_out(mark, is_out);
        Ok(removed)
    }

    /// Calls a delegate property of type `ty`. Bindings to objects that are gone are taken out.
    ///
    /// # Errors
    /// Those of [`Delegates::call_with_values`].
    pub(crate) fn broadcast(
        &self,
        world: &World,
        (object, property): (ObjectHandle, &str),
        ty: &PropertyType,
        arguments: &[Value],
    ) -> Result<Option<Value>, CallError> {
        let mut now = world.read(object, property)?;
        if !matches!(ty, PropertyType::Delegate(_)) {
            let (left, dead) = keep(now, |binding| world.is_alive(binding.object));
            if dead != 0 {
                // The dead are skipped where the property may not be written now.
                let _may_not = world.write(object, property, &left);
            }
            now = left;
        }
        let mark = world.objects.delegate_mark(object, property, || self.fresh_mark())?;
        self.call_with_values(world, ty, mark, &now, arguments)
    }

    /// Calls a delegate property of type `ty` by the Rust types of its signature.
    ///
    /// # Errors
    /// Those of [`Delegates::broadcast`]; when the arguments have other types.
    pub(crate) fn call_by_types<A: ValueParams, R: NativeResult>(
        &self,
        world: &World,
        property: (ObjectHandle, &str),
        ty: &PropertyType,
        arguments: A,
    ) -> Result<R, CallError> {
        let words = self.signature(ty)?;
        let of = |word| {
            PropertyType::resolve(word, &world.types)
                .map_err(|error| CallError::NotFound { message: error.to_string() })
        };
        let params = words.arguments.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let result = words.result.as_deref().map(of).transpose()?;
        R::from_value(self.broadcast(world, property, ty, &arguments.into_values(&params)?)?, result.as_ref())
    }

    /// A mark for a delegate that is about to be called for the first time. The numbers begin anew after the last, which
    /// those that are called at the same time do not live to see.
    pub(crate) fn fresh_mark(&self) -> DelegateMark {
        let mark = NonZeroU32::new(self.marked.get().wrapping_add(1)).unwrap_or(NonZeroU32::MIN);
        self.marked.set(mark.get());
        Some(mark)
    }

    /// Those that were taken out are not called any more by calls that are under way.
    pub(crate) fn taken_out(&self, mark: DelegateMark, is_out: impl Fn(&Binding) -> bool) {
        let mut running = self.running.borrow_mut();
        for running in running.iter_mut().filter(|running| mark.is_some() && running.mark == mark) {
            running.left.retain(|binding| !is_out(binding));
        }
    }

    fn next(&self) -> Option<Binding> {
        self.running.borrow_mut().last_mut()?.left.pop()
    }
}
