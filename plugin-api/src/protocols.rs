//! Name protocols that a module registers, for example `db`, and resolvers for the names of a protocol. Protocols and resolvers are removed
//! when the generation of their module ends. Available only to modules of the Master, on the game thread.
//!
//! ```
//! use alcedo_plugin_api::prelude::*;
//! use alcedo_plugin_api::protocols::{Answer, PlainProtocol, add_protocol, add_resolver};
//!
//! fn started() {
//!     let registered = add_protocol(PlainProtocol::new("db")).and_then(|()| add_resolver("db", 0, "tables", tables));
//!     if let Err(error) = registered {
//!         panic!("{error}");
//!     }
//! }
//!
//! /// `db:/users.count` is a function without parameters that returns a number.
//! fn tables(name: &str) -> Result<Answer, CallError> {
//!     match name.strip_suffix(".count") {
//!         Some("users") => Ok(Answer::function(|()| 2_u64)),
//!         Some(other) => Ok(Answer::declined(format!("unknown table {other}"))),
//!         None => Ok(Answer::declined("only `TABLE.count` is known")),
//!     }
//! }
//! ```

use std::rc::Rc;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_rt::CallError;

use crate::__private::{Returned, SourceLocation};
use crate::host::host;
use crate::protocols::trampolines::{Body, FunctionBody};
use crate::registered;
use crate::signature::{Params, ValueType};

mod trampolines;

/// Protocol for calls by name. A [`Resolver`] resolves the names of a protocol.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::protocols::Protocol;
///
/// /// Accepts `level:/NUMBER`.
/// struct Levels;
///
/// impl Protocol for Levels {
///     fn word(&self) -> &str {
///         "level"
///     }
///
///     fn form(&self) -> &str {
///         "`level:/NUMBER`"
///     }
///
///     fn read(&self, address: &str) -> Result<String, String> {
///         let number: u32 = address.parse().map_err(|_| format!("{address:?} is not a number"))?;
///         Ok(number.to_string())
///     }
/// }
///
/// assert_eq!(Levels.read("007"), Ok("7".to_owned()));
/// assert_eq!(Levels.read("boss"), Err("\"boss\" is not a number".to_owned()));
/// ```
pub trait Protocol {
    /// Returns the protocol's prefix: the part of a name before the colon. The prefix has up to 32 lower-case letters, digits, `+`, `-` and
    /// `.`, starts with a letter, and may end with `!`.
    fn word(&self) -> &str;

    /// Returns the syntax of the protocol's names for error messages, such as `` `db:/table.column` ``.
    fn form(&self) -> &str;

    /// Returns a hint for error messages about unknown names. Empty by default.
    fn help(&self) -> &str {
        ""
    }

    /// Parses the address of a name, which is the part after `:/` and contains no spaces, and returns its canonical form. For an address in
    /// canonical form, this function must return an equal string. The function must have no side effects, since
    /// the host may call it at any time, for example to explain a name.
    ///
    /// # Errors
    /// Returns a short description of the problem.
    fn read(&self, address: &str) -> Result<String, String>;

    /// Returns true if every address is valid and canonical. The host then does not call [`Self::read`].
    #[doc(hidden)]
    fn is_plain(&self) -> bool {
        false
    }
}

/// Protocol that accepts any text without spaces after `word:/`.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::protocols::{PlainProtocol, Protocol};
///
/// let assets = PlainProtocol::new("asset");
/// assert_eq!(assets.word(), "asset");
/// assert_eq!(assets.read("trees/oak"), Ok("trees/oak".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainProtocol {
    word: String,
}

impl PlainProtocol {
    /// Creates a protocol with the prefix `word`.
    #[must_use]
    pub fn new(word: &str) -> Self {
        Self { word: word.to_owned() }
    }
}

impl Protocol for PlainProtocol {
    fn word(&self) -> &str {
        &self.word
    }

    fn form(&self) -> &str {
        "`protocol:/what its module knows`, without spaces"
    }

    fn read(&self, address: &str) -> Result<String, String> {
        Ok(address.to_owned())
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// Resolver for the names of a protocol.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::CallError;
/// use alcedo_plugin_api::protocols::{Answer, Resolver};
///
/// /// Resolves the names of constants.
/// struct Constants(Vec<(&'static str, f64)>);
///
/// impl Resolver for Constants {
///     fn resolve(&self, name: &str) -> Result<Answer, CallError> {
///         let known = self.0.iter().find(|(known, _)| *known == name);
///         let declined = || Answer::declined(format!("{name:?} is not a constant"));
///         Ok(known.map_or_else(declined, |&(_, value)| Answer::function(move |()| value)))
///     }
/// }
///
/// assert!(Constants(vec![("pi", 3.14)]).resolve("pi").is_ok());
/// ```
pub trait Resolver {
    /// Resolves `name`, the canonical part of a full name after `protocol:/`. The host caches a returned function under a handle, so it
    /// resolves such a name only once. A declined name is resolved again in each call. This function must have no side effects, because the
    /// host may also resolve a name without a call, to explain the name.
    ///
    /// # Errors
    /// Fails if the name belongs to this resolver but is invalid. The host then calls no further resolver.
    fn resolve(&self, name: &str) -> Result<Answer, CallError>;
}

impl<F: Fn(&str) -> Result<Answer, CallError>> Resolver for F {
    fn resolve(&self, name: &str) -> Result<Answer, CallError> {
        self(name)
    }
}

/// Result that a resolver returns for a name.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::protocols::Answer;
///
/// let area = Answer::function(|(width, height): (f64, f64)| width * height);
/// assert!(format!("{area:?}").starts_with("Function("));
/// let none = Answer::declined("only `area` is known");
/// assert_eq!(format!("{none:?}"), "Declined(\"only `area` is known\")");
/// ```
pub struct Answer(pub(crate) Resolved);

pub(crate) enum Resolved {
    Function(Function),
    Declined(String),
}

pub(crate) struct Function {
    pub(crate) body: Body,
    pub(crate) signature: String,
    pub(crate) fingerprint: u64,
}

impl Answer {
    /// Creates a result with a function. The function receives a tuple of parameters, and returns a value, `()`, or a `Result` of a value
    /// or `()`. Data that the function captures is dropped when the host removes the function's last cached call. At the end of the
    /// generation, all remaining data is dropped before the exit hook runs.
    ///
    /// # Examples
    /// ```
    /// use alcedo_plugin_api::protocols::Answer;
    ///
    /// /// Resolves a name to a function that may fail.
    /// fn lookup(names: Vec<String>) -> Answer {
    ///     Answer::function(move |(index,): (u32,)| {
    ///         names.get(index as usize).cloned().ok_or_else(|| format!("no name {index}"))
    ///     })
    /// }
    /// let answer = lookup(vec!["Ada".to_owned()]);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn function<A: Params + 'static, X: Returned + 'static>(body: impl Fn(A) -> X + 'static) -> Self {
        const {
            assert!(
                has_no_out(A::TYPES),
                "a function called by name has no out parameters: use the plain type, and return the value"
            );
        }
        let location = core::panic::Location::caller();
        let location = SourceLocation { file: location.file(), line: location.line(), column: location.column() };
        Self(Resolved::Function(Function {
            signature: crate::signature::words(A::TYPES, &<X::Value as crate::ReturnValue>::VALUE, true)
                .as_str()
                .to_owned(),
            fingerprint: crate::signature::fingerprint::<A, X::Value>(),
            body: Rc::new(FunctionBody::new(body, location)),
        }))
    }

    /// Creates a result that declines the name for a `reason`, a short sentence. The host then calls the next resolver.
    ///
    /// # Examples
    /// ```
    /// use alcedo_plugin_api::CallError;
    /// use alcedo_plugin_api::protocols::Answer;
    ///
    /// fn resolve(name: &str) -> Result<Answer, CallError> {
    ///     Ok(Answer::declined(format!("{name:?} is not an asset")))
    /// }
    /// assert!(resolve("tree").is_ok(), "the next resolver is called");
    /// ```
    #[must_use]
    pub fn declined(reason: impl Into<String>) -> Self {
        Self(Resolved::Declined(reason.into()))
    }
}

impl core::fmt::Debug for Answer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.0 {
            Resolved::Function(function) => write!(f, "Function({})", function.signature),
            Resolved::Declined(reason) => write!(f, "Declined({reason:?})"),
        }
    }
}

const fn has_no_out(types: &[ValueType]) -> bool {
    let mut at = 0;
    while at < types.len() {
        if types[at].is_out {
            return false;
        }
        at += 1;
    }
    true
}

/// Registers `protocol` for all names that begin with its prefix. Modules and the host can use these names until this generation of the
/// module ends; the next generation must register its protocol again. A prefix can be registered only once.
///
/// # Errors
/// Fails if the prefix is already registered or is invalid, or if the protocol panics. Also fails on threads except the game thread, and in
/// a module outside the Master.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::FailureKind;
/// use alcedo_plugin_api::protocols::{PlainProtocol, add_protocol};
///
/// // In a plugin's tests, no host accepts the protocol.
/// let error = add_protocol(PlainProtocol::new("asset")).expect_err("no host");
/// assert_eq!(error.kind(), FailureKind::UNAVAILABLE);
/// ```
pub fn add_protocol(protocol: impl Protocol + 'static) -> Result<(), CallError> {
    let (word, form, help) = (protocol.word().to_owned(), protocol.form().to_owned(), protocol.help().to_owned());
    let is_plain = protocol.is_plain();
    let protocol: Rc<dyn Protocol> = Rc::new(protocol);
    let number = registered::keep(Rc::new(protocol));
    let strings = [&word, &form, &help].map(|text| RStr::from_str(text));
    host("registering a protocol")
        .and_then(|host| trampolines::add_protocol(host, number, strings, is_plain))
        .inspect_err(|_error| registered::drop_one(number))
}

/// Registers `resolver` for the names of a protocol of this module or of the host, until this generation of the module ends.
/// The host calls the resolvers of a protocol in ascending order of priority, and uses the first result that is not declined.
/// Errors list each resolver by its `label`.
///
/// # Errors
/// Fails if the protocol is unknown or built in, or if another module has registered the protocol. Fails if the protocol already has a
/// resolver with this label. Also fails on threads except the game thread, and in a module outside the Master.
///
/// # Examples
/// ```
/// use alcedo_plugin_api::CallError;
/// use alcedo_plugin_api::protocols::{Answer, PlainProtocol, add_protocol, add_resolver};
///
/// /// Main of a module: `asset:/NAME` returns the length of the name.
/// fn started() {
///     let added = add_protocol(PlainProtocol::new("asset"))
///         .and_then(|()| add_resolver("asset", 10, "lengths", lengths));
///     if let Err(error) = added {
///         panic!("no assets: {error}");
///     }
/// }
///
/// fn lengths(name: &str) -> Result<Answer, CallError> {
///     let length = name.len() as u64;
///     Ok(Answer::function(move |()| length))
/// }
/// ```
pub fn add_resolver(
    protocol: &str,
    priority: i32,
    label: &str,
    resolver: impl Resolver + 'static,
) -> Result<(), CallError> {
    let resolver: Rc<dyn Resolver> = Rc::new(resolver);
    let number = registered::keep(Rc::new(resolver));
    let strings = [protocol, label].map(RStr::from_str);
    host("registering a resolver")
        .and_then(|host| trampolines::add_resolver(host, number, strings, priority))
        .inspect_err(|_error| registered::drop_one(number))
}
