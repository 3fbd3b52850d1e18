//! Names of the host's own: a protocol like `db`, and who says what its names stand for.

use std::fmt;
use std::rc::Rc;

use super::{Calls, HostBody, HostFunction, Runtime};
use crate::border::CallError;
use crate::callback::{Registered, Site};
use crate::cells::RefCell;
use crate::dynamic_call::{self, Effect, Signature};
use crate::error::Error;
use crate::object::value::Value;
use crate::zcall::protocols::Answer;

/// A resolver of the host's, until the host ends.
pub(super) type HostResolver = RefCell<Option<Rc<dyn ZCallResolver>>>;

/// Says what the names of one protocol stand for. Asked on the game thread, also before the commit of code that comes up:
/// so it changes nothing itself. It may look other names up.
pub trait ZCallResolver {
    /// The function that `name` stands for, which is what stands behind `protocol:/`. A function is kept under its handle
    /// and asked for once; what is declined is asked again each time.
    ///
    /// # Errors
    /// When there is no such function: the reason stands in the caller's error.
    fn resolve(&self, runtime: &Runtime, name: &str) -> Result<ZCallFunction, Declined>;
}

impl<F: Fn(&Runtime, &str) -> Result<ZCallFunction, Declined>> ZCallResolver for F {
    fn resolve(&self, runtime: &Runtime, name: &str) -> Result<ZCallFunction, Declined> {
        self(runtime, name)
    }
}

/// Why a resolver has no function for a name: a short sentence.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Declined(String);

impl<T: Into<String>> From<T> for Declined {
    fn from(reason: T) -> Self {
        Self(reason.into())
    }
}

/// A function of the host's, with its signature. A clone is the same function.
#[derive(Clone)]
pub struct ZCallFunction {
    signature: Signature,
    effect: Effect,
    body: Rc<HostBody>,
    site: Site,
}

impl ZCallFunction {
    /// A function that may change something: code of a generation that comes up calls it only after the commit.
    #[track_caller]
    pub fn new(
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Self {
        let site = Site::new("function of a resolver", &body);
        Self { signature, effect: Effect::Any, body: Rc::new(body), site }
    }

    /// A function that changes nothing, by the host's word: code that comes up may call it before the commit. See
    /// [`Calls::register_pure`](crate::Calls::register_pure).
    #[track_caller]
    pub fn pure(
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Self {
        Self { effect: Effect::Pure, ..Self::new(signature, body) }
    }
}

impl fmt::Debug for ZCallFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}), {:?}", self.signature, self.effect)
    }
}

impl Calls<'_> {
    /// From now on `resolver` says what the names `protocol:/…` stand for, for modules and for the host alike. A protocol
    /// has one resolver, and stays, as all that the host registers, whatever becomes of modules: a reload, a rollback and
    /// an unload leave it and the handles of its functions as they are.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::{Declined, Runtime, Value, ZCallFunction};
    /// let runtime = Runtime::builder().build()?;
    /// let rows = "-> u64".parse()?;
    /// runtime.calls().add_resolver("db", move |_: &Runtime, name: &str| match name {
    ///     "users.count" => Ok(ZCallFunction::pure(Clone::clone(&rows), |_, _| Ok(Some(Value::U64(2))))),
    ///     other => Err(Declined::from(format!("there is no table {other}"))),
    /// })?;
    /// assert_eq!(runtime.calls().call("db:/users.count", &[])?, Some(Value::U64(2)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the protocol is taken, is one of those that are built in, or is none: up to 32 lower-case letters, digits, `+`,
    /// `-` and `.`, a letter first.
    #[track_caller]
    pub fn add_resolver(&self, protocol: &str, resolver: impl ZCallResolver + 'static) -> Result<(), Error> {
        let site = Site::new("resolver", &resolver);
        let code: Rc<HostResolver> = Rc::new(RefCell::new(Some(Rc::new(resolver))));
        let (weak, of, kept) = (self.0.downgrade(), protocol.to_owned(), Rc::clone(&code));
        let ask = move |name: &str| {
            let ended = || CallError::Unavailable { what: "the runtime".into() };
            let runtime = weak.upgrade().ok_or_else(ended)?;
            let resolver = kept.borrow().clone().ok_or_else(ended)?;
            let ZCallFunction { signature, effect, body, site } = match resolver.resolve(&runtime, name) {
                Ok(function) => function,
                Err(Declined(reason)) => return Ok(Answer::Declined(reason)),
            };
            let path = format!("{of}:/{name}");
            let function: Rc<HostFunction> = Rc::new(RefCell::new(Some(body)));
            let body = runtime.body(&path, &signature, Rc::clone(&function));
            let resolved = dynamic_call::host_function(runtime.core(), path, &signature, effect, body)?;
            runtime.inner.functions.borrow_mut().push(Registered { code: function, site });
            Ok(Answer::Function(resolved))
        };
        self.0.inner.core.chain.protocols.add(protocol, Rc::new(ask))?;
        self.0.inner.resolvers.borrow_mut().push(Registered { code, site });
        Ok(())
    }
}
