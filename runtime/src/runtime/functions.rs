//! Functions by name: calls with values, and what the host itself registers.

use std::rc::Rc;
use std::sync::Arc;

use super::Runtime;
use crate::border::CallError;
use crate::bridge::dynamic_call::{self, Effect};
use crate::bridge::protocols::built_in;
use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::error::Error;
use crate::handles::ZCallHandle;
use crate::object::value::Value;
use crate::signature::Signature;
use crate::zcall::explain::Explanation;
use crate::zcall::observe::{CallTimes, Observed};

/// The body of a function that the host has registered, until the host ends.
pub(super) type HostFunction = RefCell<Option<Rc<HostBody>>>;

pub(super) type HostBody = dyn Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError>;

/// Functions by name: [`Runtime::calls`]. Game thread only.
///
/// ```
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// use alcedo_runtime::{Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// runtime.calls().register_pure("host.double", "i64 -> i64".parse()?, |_, values| match values {
///     [Value::I64(number)] => Ok(Some(Value::I64(number * 2))),
///     _ => Ok(None),
/// })?;
/// // Looked up once, called every frame.
/// let double = runtime.calls().resolve("ex:/host.double")?;
/// assert_eq!(runtime.calls().call_handle(double, &[Value::I64(21)])?, Some(Value::I64(42)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Calls<'a>(pub(super) &'a Runtime);

impl Calls<'_> {
    /// Calls by ZCall name with values. For tools and tests: static callers resolve once and build slots themselves. A function of
    /// an object has the object before its parameters; a property the object, and behind it what is written; `nd:/` the delegate.
    ///
    /// # Errors
    /// As [`Calls::resolve`]; when the arguments do not fit, or the callee fails.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        self.call_handle(self.resolve(name)?, arguments)
    }

    /// The same, and what the out parameters hold then, in their order.
    ///
    /// # Errors
    /// As [`Calls::call`].
    pub fn call_with_outs(&self, name: &str, arguments: &[Value]) -> Result<(Option<Value>, Vec<Value>), Error> {
        Ok(dynamic_call::call_with_outs(&self.0.inner.core, self.resolve(name)?, arguments)?)
    }

    /// Looks a ZCall name up, to call it by handle from then on. A handle dies with the generation of what it calls,
    /// and is never another one.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when the name leads nowhere, with the resolvers that were called;
    /// [`CallError::NoMaster`] when there is no Master either, whose modules might have it.
    pub fn resolve(&self, name: &str) -> Result<ZCallHandle, Error> {
        Ok(dynamic_call::resolve(&self.0.inner.core, name).map_err(|error| match error {
            // A text that is no name at all fails whichever modules are loaded.
            CallError::NotFound { message }
                if self.0.inner.loads.master().is_none() && built_in().read(name).is_ok() =>
            {
                let message = format!("{message}; and there is no Master: load its modules with `create_master`");
                CallError::NoMaster { message }
            }
            other => other,
        })?)
    }

    /// Calls by handle with values.
    ///
    /// # Errors
    /// [`CallError::DeadHandle`] when the generation of the handle is over; when the arguments do not fit, or the callee fails.
    pub fn call_handle(&self, handle: ZCallHandle, arguments: &[Value]) -> Result<Option<Value>, Error> {
        Ok(dynamic_call::call(&self.0.inner.core, handle, arguments)?)
    }

    /// What becomes of a name, for people and tools: which resolvers are called for it, in which order, who registered each, and
    /// what each says. Nothing is kept of it, and no function is called.
    ///
    /// # Errors
    /// When the text is no name, and what [`Calls::resolve`] fails with before it calls a resolver.
    pub fn explain(&self, name: &str) -> Result<Explanation, Error> {
        Ok(self.0.inner.core.chain.explain(name)?)
    }

    /// From now on calls by name are counted and timed, or are `tracing` spans, or both, or neither, which is how it begins: then a
    /// call pays one comparison for this. Both are for tools: a call that is watched takes about a microsecond longer.
    ///
    /// A span is named `call`, of the target `alcedo::calls` and the level trace, with the fields `kind` (the protocol) and `name`.
    /// Where it is turned on from inside of a call, what has begun before stays as it was: the rest of the calls that a module makes on
    /// several objects at once, of a batch, and of [`TypedFunction::hot`](crate::host::TypedFunction::hot), is not watched.
    /// Calls that modules of Slims, pinned contexts and the Default make of each other go past the game thread, and are not watched.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::zcall::Observed;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_typed("host.double", |_, (number,): (i64,)| number * 2)?;
    /// runtime.calls().observe(Observed { counts: true, spans: false });
    /// let double = runtime.function::<(i64,), i64>("ex:/host.double")?;
    /// double.call((21,))?;
    /// let times = runtime.calls().times();
    /// assert_eq!((&*times[0].name, times[0].calls), ("ex:/host.double", 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn observe(&self, what: Observed) {
        self.0.inner.core.zcalls.observe(what);
    }

    /// What is watched of calls.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.0.inner.core.zcalls.observed()
    }

    /// How many calls of each name there were while they were counted, and how long they took, by kind and name.
    #[must_use]
    pub fn times(&self) -> Vec<CallTimes> {
        self.0.inner.core.zcalls.times()
    }

    /// Forgets what was counted.
    pub fn clear_times(&self) {
        self.0.inner.core.zcalls.clear_times();
    }

    /// Registers a host function under `ex:/name`. Modules and the host call it alike; code of a generation that comes up
    /// not before its commit, since a rollback could not take back what the function does. After [`Runtime::shutdown`] it
    /// is there no more.
    ///
    /// # Errors
    /// When the name is taken or is no name.
    #[track_caller]
    pub fn register(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        self.register_as(name, signature, Effect::Any, body)
    }

    /// Registers a host function that changes nothing: it computes, or says what is there. So code of a generation that
    /// comes up may call it before the commit, in a main or a red constructor. That it changes nothing is the host's word;
    /// the report of a rollback names it all the same.
    ///
    /// # Errors
    /// As [`Calls::register`].
    #[track_caller]
    pub fn register_pure(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        self.register_as(name, signature, Effect::Pure, body)
    }

    /// Registers a host function that any thread may call, so its body has no access to the runtime. Modules of Slims, pinned contexts
    /// and the Default call it as well, on any thread and several at once: after what modules offer under that name.
    /// Otherwise it is as one of [`Calls::register`]. Functions of [`Calls::register_leaf`] are there for these modules, too.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let last = AtomicU64::new(0);
    /// runtime.calls().register_shared("host.next", "-> u64".parse()?, move |_| {
    ///     Ok(Some(Value::U64(last.fetch_add(1, Ordering::Relaxed) + 1)))
    /// })?;
    /// assert_eq!(runtime.calls().call("ex:/host.next", &[])?, Some(Value::U64(1)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the name is taken or invalid; when a value of the signature does not fit into a slot. Accepted are
    /// numbers, `bool`, `String`, `Name` and `Object`.
    #[track_caller]
    pub fn register_shared(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&[Value]) -> Result<Option<Value>, CallError> + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let (site, body) = (Site::new("registered function", &body), Arc::new(body));
        let shared = Arc::clone(&body);
        let plain = dynamic_call::plain_body(&format!("ex:/{name}"), &signature, move |values| shared(values))?;
        self.register(name, signature.clone(), move |_, values| body(values))?;
        self.0.inner.loads.registry.functions.add(name, &signature, site, plain, None);
        Ok(())
    }

    #[track_caller]
    fn register_as(
        &self,
        name: &str,
        signature: Signature,
        effect: Effect,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        if !signature.0.outs.is_empty() {
            let message = format!("`ex:/{name}` ({signature}): such a function gives all that it gives as its result");
            return Err(CallError::Buffer { message }.into());
        }
        let site = Site::new("registered function", &body);
        let function: Rc<HostFunction> = Rc::new(RefCell::new(Some(Rc::new(body))));
        let body = self.0.body(name, &signature, Rc::clone(&function));
        dynamic_call::register(&self.0.inner.core, name, signature, effect, body)?;
        self.0.inner.functions.borrow_mut().push(Registered { code: function, site });
        Ok(())
    }
}

impl Runtime {
    /// A function with values that is given its runtime; objects it is called with stay while it runs. What it gives back
    /// is checked; `path` is its name in errors.
    pub(super) fn body(&self, path: &str, signature: &Signature, function: Rc<HostFunction>) -> dynamic_call::Body {
        let (weak, path, signature) = (self.downgrade(), path.to_owned(), signature.clone());
        Rc::new(move |values: &[Value]| {
            let ended = || CallError::Unavailable { what: "the runtime".into() };
            let runtime = weak.upgrade().ok_or_else(ended)?;
            let body = function.borrow().clone().ok_or_else(ended)?;
            let objects = values.iter().filter_map(|value| match value {
                Value::Object(object) => Some(*object),
                _ => None,
            });
            let core = &runtime.inner.core;
            let _held = core.world.stack.hold(objects);
            let result = body(&runtime, values)?;
            result.iter().try_for_each(|value| dynamic_call::check_result(core, &path, &signature, value))?;
            Ok(result)
        })
    }
}
