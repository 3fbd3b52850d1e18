//! Calls functions by name with dynamic values, and registers host functions.

use std::rc::Rc;
use std::sync::Arc;

use super::Runtime;
use super::kept_body::{KeptBody, ended};
use crate::boundary::CallError;
use crate::bridge::dynamic_call::{self, Effect};
use crate::bridge::protocols::built_in;
use crate::callback::Site;
use crate::error::Error;
use crate::handles::ZCallHandle;
use crate::object::value::Value;
use crate::signature::Signature;
use crate::zcall::explain::Explanation;
use crate::zcall::observe::{CallTimes, Observed};

pub(super) type HostBody = dyn Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError>;

/// Calls functions by name, and registers host functions; see [`Runtime::calls`]. Game thread only.
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
/// // Resolves the name once, and calls the function in every frame.
/// let double = runtime.calls().resolve("ex:/host.double")?;
/// assert_eq!(runtime.calls().call_handle(double, &[Value::I64(21)])?, Some(Value::I64(42)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Calls<'a>(pub(super) &'a Runtime);

impl Calls<'_> {
    /// Calls a function by its ZCall name with dynamic values. Intended for tools and tests. [`Runtime::function`] is faster for code with
    /// static types. For a function of an object and for a property, the first argument is the object. For `nd:/`, the first argument is
    /// the delegate. If the name is a property, an optional second argument is the value to write.
    ///
    /// # Errors
    /// Returns the errors of [`Calls::resolve`]. Returns an error if the arguments do not match the parameters, or if the callee fails.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Error, Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_leaf("host.area", |(width, height): (f64, f64)| width * height)?;
    /// let area = runtime.calls().call("ex:/host.area", &[Value::F64(2.0), Value::F64(3.0)])?;
    /// assert_eq!(area, Some(Value::F64(6.0)));
    /// // The number of arguments is checked.
    /// assert!(matches!(runtime.calls().call("ex:/host.area", &[]), Err(Error::Call(_))));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, Error> {
        self.call_handle(self.resolve(name)?, arguments)
    }

    /// Calls a function like [`Calls::call`], and also returns the values of its out parameters in order.
    ///
    /// # Errors
    /// Returns the errors of [`Calls::call`].
    pub fn call_with_out_parameters(
        &self,
        name: &str,
        arguments: &[Value],
    ) -> Result<(Option<Value>, Vec<Value>), Error> {
        Ok(dynamic_call::call_with_out_parameters(&self.0.inner.core, self.resolve(name)?, arguments)?)
    }

    /// Resolves a ZCall name to a handle for repeated calls. The handle is valid until the generation of its callee ends. Handles are never
    /// reused.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the name cannot be resolved. This error lists the resolvers that were called. Returns
    /// [`CallError::NoMaster`] if the name cannot be resolved and no Master is loaded.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// assert!(runtime.calls().resolve("ex:/host.tax").is_err());
    /// runtime.calls().register_leaf("host.tax", |(price,): (u32,)| price / 5)?;
    /// let tax = runtime.calls().resolve("ex:/host.tax")?;
    /// for price in [10, 20] {
    ///     assert_eq!(runtime.calls().call_handle(tax, &[Value::U32(price)])?, Some(Value::U32(price / 5)));
    /// }
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn resolve(&self, name: &str) -> Result<ZCallHandle, Error> {
        Ok(dynamic_call::resolve(&self.0.inner.core, name).map_err(|error| match error {
            // An invalid name cannot be resolved even with a Master, so the error stays `NotFound`.
            CallError::NotFound { message }
                if self.0.inner.loads.master().is_none() && built_in().read(name).is_ok() =>
            {
                let message = format!("{message}; no Master exists: load its modules with `create_master`");
                CallError::NoMaster { message }
            }
            other => other,
        })?)
    }

    /// Calls a function by its handle with dynamic values.
    ///
    /// # Errors
    /// Returns [`CallError::DeadHandle`] if the generation of the callee has ended. Returns an error if the arguments do not match the
    /// parameters, or if the callee fails.
    pub fn call_handle(&self, handle: ZCallHandle, arguments: &[Value]) -> Result<Option<Value>, Error> {
        Ok(dynamic_call::call(&self.0.inner.core, handle, arguments)?)
    }

    /// Explains the resolution of a name. Lists the resolvers in call order. For each resolver, the list contains the code that registered
    /// the resolver, and the returned result. Does not call the function, and caches no result.
    ///
    /// # Errors
    /// Fails if the name is invalid, or if [`Calls::resolve`] fails before it calls a resolver.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_leaf("host.tax", |(price,): (u32,)| price / 5)?;
    /// assert!(runtime.calls().explain("ex:/host.tax")?.is_found());
    /// let explanation = runtime.calls().explain("ex:/host.taxes")?;
    /// println!("{explanation}");
    /// assert!(!explanation.is_found());
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    pub fn explain(&self, name: &str) -> Result<Explanation, Error> {
        Ok(self.0.inner.core.chain.explain(name)?)
    }

    /// Sets whether calls by name are counted and timed, and whether they create `tracing` spans. Counting and spans are off by default,
    /// and cost one comparison per call while they are off. Observation is intended for tools, because an observed call takes about a
    /// microsecond longer.
    ///
    /// A span has the name `call`, the target `alcedo::calls`, the level trace, and the fields `kind` (the protocol) and `name`. Three
    /// kinds of operations remain unobserved if they were in progress when observation was turned on: calls that a module makes on several
    /// objects, batches, and [`TypedFunction::hot`](crate::host::TypedFunction::hot). Calls between modules of Slims, pinned contexts and
    /// the Default bypass the game thread and are never observed.
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

    /// Returns the current setting of [`Calls::observe`].
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.0.inner.core.zcalls.observed()
    }

    /// Returns the counts and durations of observed calls, by kind and name.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::Runtime;
    /// use alcedo_runtime::zcall::Observed;
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_typed("host.double", |_, (number,): (i64,)| number * 2)?;
    /// runtime.calls().observe(Observed { counts: true, spans: false });
    /// runtime.function::<(i64,), i64>("ex:/host.double")?.call((21,))?;
    /// for times in runtime.calls().times() {
    ///     println!("{times}");
    /// }
    /// runtime.calls().clear_times();
    /// assert!(runtime.calls().times().iter().all(|times| times.calls == 0));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[must_use]
    pub fn times(&self) -> Vec<CallTimes> {
        self.0.inner.core.zcalls.times()
    }

    /// Resets the counts and durations of observed calls.
    pub fn clear_times(&self) {
        self.0.inner.core.zcalls.clear_times();
    }

    /// Registers a host function as `ex:/name`, for modules and for the host. During a reload, new code cannot call the function before the
    /// commit, because a rollback could not undo the effects of the function. After [`Runtime::shutdown`], calls of the function return an
    /// error.
    ///
    /// # Errors
    /// Fails if the name is used or invalid.
    ///
    /// # Examples
    /// ```rust
    /// use std::cell::RefCell;
    /// use std::rc::Rc;
    ///
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let chat = Rc::new(RefCell::new(Vec::new()));
    /// let lines = Rc::clone(&chat);
    /// runtime.calls().register("host.say", "String -> u32".parse()?, move |_, values| {
    ///     let [Value::Text(line)] = values else { return Ok(None) };
    ///     lines.borrow_mut().push(line.clone());
    ///     Ok(Some(Value::U32(lines.borrow().len() as u32)))
    /// })?;
    /// let count = runtime.calls().call("ex:/host.say", &[Value::Text("hello".into())])?;
    /// assert_eq!(count, Some(Value::U32(1)));
    /// assert_eq!(chat.borrow().len(), 1);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn register(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        self.register_as(name, signature, Effect::Any, body)
    }

    /// Registers a host function without side effects. During a reload, new code can call the function before the commit, in a main or a
    /// red constructor. The caller guarantees that the function has no side effects. If a reload is rolled back, the report still lists the
    /// calls of the function.
    ///
    /// # Errors
    /// Returns the errors of [`Calls::register`].
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().register_pure("host.version", "-> u32".parse()?, |_, _| Ok(Some(Value::U32(3))))?;
    /// // New code can call the function in its `main`, before the commit of the reload.
    /// assert_eq!(runtime.calls().call("ex:/host.version", &[])?, Some(Value::U32(3)));
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[track_caller]
    pub fn register_pure(
        &self,
        name: &str,
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Result<(), Error> {
        self.register_as(name, signature, Effect::Pure, body)
    }

    /// Registers a host function that any thread may call. The body of the function has no access to the runtime. Modules of Slims, pinned
    /// contexts and the Default can also call the function, on any thread and concurrently. If a module offers a function with an equal
    /// name, the function of the module takes precedence. In all other respects, the function works like a function registered with
    /// [`Calls::register`]. Modules of Slims, pinned contexts and the Default can also call functions registered with
    /// [`Calls::register_leaf`].
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
    /// Fails if the name is used or invalid, or if a type of the signature does not fit in a slot. The allowed types are numbers, `bool`,
    /// `String`, `Name` and `Object`.
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
        if !signature.0.out_parameters.is_empty() {
            let message = format!("`ex:/{name}` ({signature}): such a function returns all values as its result");
            return Err(CallError::Buffer { message }.into());
        }
        let site = Site::new("registered function", &body);
        let function: Rc<KeptBody<HostBody>> = Rc::new(KeptBody::new(Rc::new(body)));
        let body = self.0.body(&format!("ex:/{name}"), &signature, Rc::clone(&function));
        dynamic_call::register(&self.0.inner.core, name, signature, effect, body)?;
        self.0.inner.keep(function, site);
        Ok(())
    }
}

impl Runtime {
    /// Wraps `function` as the body of a dynamic call. The body passes the runtime, keeps argument objects alive during the call, and
    /// checks the result. Error messages contain `path` as the name of the function.
    pub(super) fn body(
        &self,
        path: &str,
        signature: &Signature,
        function: Rc<KeptBody<HostBody>>,
    ) -> dynamic_call::Body {
        let (weak, path, signature) = (self.downgrade(), path.to_owned(), signature.clone());
        Rc::new(move |values: &[Value]| {
            let runtime = weak.upgrade().ok_or_else(ended)?;
            let body = function.share()?;
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
