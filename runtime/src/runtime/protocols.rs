//! Protocols that a host adds, such as `db`, and the resolvers for names of these protocols.

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use super::functions::HostBody;
use super::kept_body::{KeptBody, ended};
use super::{Calls, Inner, Runtime};
use crate::boundary::{CallError, catch_panics};
use crate::bridge::described_protocol::DescribedProtocol;
use crate::bridge::dynamic_call::{self, Effect};
use crate::callback::{Registered, Site, drop_caught};
use crate::error::Error;
use crate::object::value::Value;
use crate::signature::Signature;
use crate::zcall::call::{Call, Dispatcher, Resolved};
use crate::zcall::chain::{Answer, Origin, Resolver};
use crate::zcall::name::ZCallName;
use crate::zcall::protocol::{PlainProtocol, Protocol};
use crate::zcall::reader::{NameErrorKind, Reader};

/// Code that the host has registered. The shutdown of the host removes and drops the code.
pub(super) trait TakeBody {
    /// Removes and returns the code, so that the caller can drop the code.
    fn take_body(&self) -> Option<Rc<dyn Any>>;
}

impl<T: ?Sized + 'static> TakeBody for KeptBody<T> {
    fn take_body(&self) -> Option<Rc<dyn Any>> {
        self.take().map(|code| Rc::new(code) as Rc<dyn Any>)
    }
}

impl Inner {
    /// Keeps registered code until the host ends, or until no function refers to the code. Each answer of a resolver is registered code,
    /// even if the answer is rejected. Searches for unused code only if the number of entries has doubled since the last search, so that a
    /// search costs little per entry.
    pub(super) fn keep(&self, code: Rc<dyn TakeBody>, site: Site) {
        let mut registered = self.registered.borrow_mut();
        registered.push(Registered { code, site });
        if registered.len() >= self.next_search.get() {
            let unused: Vec<_> = registered.extract_if(.., |kept| Rc::strong_count(&kept.code) == 1).collect();
            self.next_search.set(16.max(2 * registered.len()));
            drop(registered);
            unused.into_iter().for_each(drop_caught);
        }
    }
}

/// Resolves the names of one protocol to functions. The runtime calls resolvers on the game thread. A resolver may run before a reload
/// commits new code, and must therefore have no side effects. A resolver may call [`Calls::resolve`] for other names.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Declined, Runtime, Signature, Value, ZCallFunction, ZCallResolver};
///
/// /// Prices by name, `shop:/apple`.
/// struct Shop(Vec<(&'static str, u32)>);
///
/// impl ZCallResolver for Shop {
///     fn resolve(&self, _runtime: &Runtime, name: &str) -> Result<ZCallFunction, Declined> {
///         let Some((_, price)) = self.0.iter().find(|(goods, _)| *goods == name).copied() else {
///             return Err(format!("{name} is not sold here").into());
///         };
///         let signature = "-> u32".parse::<Signature>().map_err(|_| "an invalid signature")?;
///         Ok(ZCallFunction::pure(signature, move |_, _| Ok(Some(Value::U32(price)))))
///     }
/// }
///
/// # fn main() -> Result<(), alcedo_runtime::Error> {
/// let runtime = Runtime::builder().build()?;
/// runtime.calls().add_value_resolver("shop", Shop(vec![("apple", 2)]))?;
/// assert_eq!(runtime.calls().call("shop:/apple", &[])?, Some(Value::U32(2)));
/// let error = runtime.calls().call("shop:/pear", &[]).unwrap_err();
/// assert!(error.to_string().contains("pear is not sold here"));
/// # Ok(())
/// # }
/// ```
pub trait ZCallResolver {
    /// Returns the function for `name`. `name` is the part of the full name after `protocol:/`. The runtime caches the returned function.
    /// If the resolver declines a name, each later lookup of this name calls the resolver again.
    ///
    /// # Errors
    /// Returns [`Declined`] if the function does not exist. The error that the caller receives contains the reason.
    fn resolve(&self, runtime: &Runtime, name: &str) -> Result<ZCallFunction, Declined>;
}

impl<F: Fn(&Runtime, &str) -> Result<ZCallFunction, Declined>> ZCallResolver for F {
    fn resolve(&self, runtime: &Runtime, name: &str) -> Result<ZCallFunction, Declined> {
        self(runtime, name)
    }
}

/// Reason for which a resolver declines a name, as a short sentence.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Declined;
///
/// let declined = Declined::from(format!("the table {} does not exist", "users"));
/// assert_eq!(declined.to_string(), "the table users does not exist");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Declined(String);

impl<T: Into<String>> From<T> for Declined {
    fn from(reason: T) -> Self {
        Self(reason.into())
    }
}

/// A function of the host, with its signature. Clones share the function.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Signature, Value, ZCallFunction};
///
/// let signature: Signature = "u32 -> u32".parse()?;
/// let double = ZCallFunction::pure(signature, |_, values| match values {
///     [Value::U32(number)] => Ok(Some(Value::U32(number * 2))),
///     _ => Ok(None),
/// });
/// assert_eq!(format!("{double:?}"), "(u32 -> u32), Pure");
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct ZCallFunction {
    signature: Signature,
    effect: Effect,
    body: Rc<HostBody>,
    site: Site,
}

impl ZCallFunction {
    /// Returns a function that may have side effects. During a reload, new code can call the function only after the commit.
    #[track_caller]
    pub fn new(
        signature: Signature,
        body: impl Fn(&Runtime, &[Value]) -> Result<Option<Value>, CallError> + 'static,
    ) -> Self {
        let site = Site::new("function of a resolver", &body);
        Self { signature, effect: Effect::Any, body: Rc::new(body), site }
    }

    /// Returns a function without side effects. The host guarantees that the function has no side effects. During a reload, new code can
    /// call the function before the commit. See [`Calls::register_pure`].
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
    /// Adds a protocol with a single resolver for all names `protocol:/…`. Modules and the host can call these names. Reloads, rollbacks
    /// and unloads do not affect the resolver. The handles of the resolver's functions also stay valid.
    ///
    /// ```
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// use alcedo_runtime::{Declined, Runtime, Value, ZCallFunction};
    /// let runtime = Runtime::builder().build()?;
    /// let rows = "-> u64".parse()?;
    /// runtime.calls().add_value_resolver("db", move |_: &Runtime, name: &str| match name {
    ///     "users.count" => Ok(ZCallFunction::pure(Clone::clone(&rows), |_, _| Ok(Some(Value::U64(2))))),
    ///     other => Err(Declined::from(format!("unknown table {other}"))),
    /// })?;
    /// assert_eq!(runtime.calls().call("db:/users.count", &[])?, Some(Value::U64(2)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the protocol is already used, built in or invalid. The name of a protocol has at most 32 lower-case letters, digits, `+`,
    /// `-` and `.`, begins with a letter, and may end with `!`.
    #[track_caller]
    pub fn add_value_resolver(&self, protocol: &str, resolver: impl ZCallResolver + 'static) -> Result<(), Error> {
        let site = Site::new("resolver", &resolver);
        let code: Rc<KeptBody<dyn ZCallResolver>> = Rc::new(KeptBody::new(Rc::new(resolver)));
        let (weak, kept) = (self.0.downgrade(), Rc::clone(&code));
        let resolve_name = move |name: &ZCallName| {
            let runtime = weak.upgrade().ok_or_else(ended)?;
            let resolver = kept.share()?;
            let ZCallFunction { signature, effect, body, site } = match resolver.resolve(&runtime, name.rest()) {
                Ok(function) => function,
                Err(Declined(reason)) => return Ok(Answer::Declined(reason)),
            };
            let function = Rc::new(KeptBody::new(body));
            let body = runtime.body(&name.to_string(), &signature, Rc::clone(&function));
            let resolved = dynamic_call::host_function(&runtime.inner.core, name.to_string(), signature, effect, body)?;
            runtime.inner.keep(function, site);
            Ok(Answer::Function(resolved))
        };
        let chain = &self.0.inner.core.chain;
        chain.add_protocol(Rc::new(PlainProtocol::new(protocol)), Origin::Host)?;
        chain.add(protocol, Origin::Host, 0, &format!("the host's `{protocol}`"), Rc::new(resolve_name))?;
        self.0.inner.keep(code, site);
        Ok(())
    }

    /// Adds a protocol with a custom parser for the names that begin with the protocol's [keyword](Protocol::word). [`Self::add_resolver`]
    /// adds resolvers for these names. [`Self::add_value_resolver`] is simpler for functions with dynamic values.
    ///
    /// ```
    /// use alcedo_runtime::zcall::{Answer, Call, NameError, Protocol, Reader, Resolved, Resolver, ZCallName};
    /// use alcedo_runtime::{CallError, Runtime, Signature, Value};
    ///
    /// /// Commands: `console:/say`. They are written in any case.
    /// struct Console;
    ///
    /// impl Protocol for Console {
    ///     fn word(&self) -> &str {
    ///         "console"
    ///     }
    ///     fn form(&self) -> &str {
    ///         "`console:/command`"
    ///     }
    ///     fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
    ///         address.fixed("/")?;
    ///         Ok(format!("/{}", address.word("command")?.to_lowercase()))
    ///     }
    /// }
    ///
    /// struct Commands {
    ///     text: Signature,
    /// }
    ///
    /// impl Resolver for Commands {
    ///     fn resolve(&self, name: &ZCallName) -> Result<Answer, CallError> {
    ///         let say = |mut call: Call<'_>| {
    ///             let reply = format!("{}!", call.text(0)?);
    ///             call.set_text_result(&reply)
    ///         };
    ///         Ok(match name.rest() {
    ///             "say" => Answer::Function(Resolved::new(self.text.clone(), say).pure()),
    ///             other => Answer::declined(format!("unknown command {other}")),
    ///         })
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), alcedo_runtime::Error> {
    /// let runtime = Runtime::builder().build()?;
    /// runtime.calls().add_protocol(Console)?;
    /// runtime.calls().add_resolver("console", 0, "commands", Commands { text: "String -> String".parse()? })?;
    /// let reply = runtime.calls().call("console:/Say", &[Value::Text("hello".into())])?;
    /// assert_eq!(reply, Some(Value::Text("hello!".into())));
    /// let error = runtime.calls().call("console:/sing", &[]).unwrap_err().to_string();
    /// assert_eq!(error, "`console:/sing` does not resolve: tried commands (declined: unknown command sing)");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the keyword is invalid, built in or used by another protocol of the host or of a module, or if `protocol` panics.
    #[track_caller]
    pub fn add_protocol(&self, protocol: impl Protocol + 'static) -> Result<(), Error> {
        let site = Site::new("protocol", &protocol);
        let code: Rc<KeptBody<dyn Protocol>> = Rc::new(KeptBody::new(Rc::new(protocol)));
        self.0.inner.core.chain.add_protocol(described(Rc::clone(&code))?, Origin::Host)?;
        self.0.inner.keep(code, site);
        Ok(())
    }

    /// Adds a resolver for the names of a protocol of the host. The resolvers of a protocol are called in ascending order of priority. The
    /// runtime uses the first function that a resolver returns. Error messages name each resolver by its `label`. Reloads, rollbacks and
    /// unloads do not affect the resolver.
    ///
    /// Uncommitted code can only call [`pure`](crate::zcall::Resolved::pure) functions. A panic in the resolver, or in a function that the
    /// resolver returned, is returned to the caller as an error.
    ///
    /// # Errors
    /// Fails if the host has added no such protocol, or if the protocol already has a resolver with this label.
    #[track_caller]
    pub fn add_resolver(
        &self,
        protocol: &str,
        priority: i32,
        label: &str,
        resolver: impl Resolver + 'static,
    ) -> Result<(), Error> {
        let site = Site::new("resolver", &resolver);
        let code: Rc<KeptBody<dyn Resolver>> = Rc::new(KeptBody::new(Rc::new(resolver)));
        let (weak, kept) = (self.0.downgrade(), Rc::clone(&code));
        let resolve_name = move |name: &ZCallName| {
            let runtime = weak.upgrade().ok_or_else(ended)?;
            let resolver = kept.share()?;
            match resolver.resolve(name)? {
                Answer::Function(function) => Ok(Answer::Function(runtime.guarded(name.to_string(), function, site))),
                declined @ Answer::Declined(_) => Ok(declined),
            }
        };
        self.0.inner.core.chain.add(protocol, Origin::Host, priority, label, Rc::new(resolve_name))?;
        self.0.inner.keep(code, site);
        Ok(())
    }
}

impl Runtime {
    /// Wraps a function with two checks. Before a commit, a call of a function with side effects fails. After the host has shut down, every
    /// call fails.
    pub(super) fn guarded(&self, name: String, function: Resolved, site: Site) -> Resolved {
        let mode = self.core().world.mode.clone();
        let effect = function.effect();
        function.within(|body| {
            let code: Rc<KeptBody<dyn Dispatcher>> = Rc::new(KeptBody::new(body));
            let kept = Rc::clone(&code);
            self.inner.keep(kept, site);
            move |call: Call<'_>| {
                mode.may_call(&name, || dynamic_call::reach(effect))?;
                code.share()?.call(call)
            }
        })
    }
}

/// Wraps a protocol of the host for the resolver chain, and caches the strings that describe the protocol. After the host has ended,
/// parsing a name of the protocol fails.
fn described(code: Rc<KeptBody<dyn Protocol>>) -> Result<Rc<dyn Protocol>, CallError> {
    let protocol = code.share()?;
    let read = move |address: &mut Reader<'_>| {
        let Ok(protocol) = code.share() else { return Err(address.error(NameErrorKind::Protocol)) };
        protocol.read(address)
    };
    catch_panics(|| {
        let [word, form, help] = [protocol.word(), protocol.form(), protocol.help()].map(str::to_owned);
        Ok(Rc::new(DescribedProtocol { word, form, help, read }) as Rc<dyn Protocol>)
    })
}
