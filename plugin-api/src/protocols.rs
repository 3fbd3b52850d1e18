//! Names of a module's own: a protocol like `db`, and resolvers that say what the names of a protocol stand for. Both end with the
//! generation of the module that has registered them. For modules of the Master; game thread only.
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
//! /// `db:/users.count` is a function without parameters that gives a number.
//! fn tables(name: &str) -> Result<Answer, CallError> {
//!     match name.strip_suffix(".count") {
//!         Some("users") => Ok(Answer::function(|()| 2_u64)),
//!         Some(other) => Ok(Answer::declined(format!("there is no table {other}"))),
//!         None => Ok(Answer::declined("only `TABLE.count` is known")),
//!     }
//! }
//! ```

use std::rc::Rc;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_rt::CallError;

use crate::host::host;
use crate::plumbing::{Place, Returned};
use crate::protocols::shells::{Body, FunctionBody};
use crate::registered;
use crate::signature::{Params, ValueType};

mod shells;

/// A protocol of calls by name. A [`Resolver`] says what its names stand for.
pub trait Protocol {
    /// The word before the colon: up to 32 lower-case letters, digits, `+`, `-` and `.`, a letter first; `!` may end it.
    fn word(&self) -> &str;

    /// How its names look, for errors: `` `db:/table.column` ``.
    fn form(&self) -> &str;

    /// What can be done about a name that leads nowhere, for errors. Empty by default.
    fn way_out(&self) -> &str {
        ""
    }

    /// Reads the address, which is what stands behind the colon and has no spaces, and gives it in the one spelling that it has,
    /// which reads back as itself. It changes nothing: it may be called at any time, also to explain a name.
    ///
    /// # Errors
    /// What is wrong with it, in a few words.
    fn read(&self, address: &str) -> Result<String, String>;

    /// Whether [`Self::read`] need not be called.
    #[doc(hidden)]
    fn is_plain(&self) -> bool {
        false
    }
}

/// A protocol with a word only: behind `word:/` stands any text without spaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainProtocol {
    word: String,
}

impl PlainProtocol {
    /// The protocol of that word.
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

/// Resolves names of a protocol.
pub trait Resolver {
    /// What a name stands for; `name` is what stands behind `protocol:/`, in its one spelling. A function is kept under its handle,
    /// so it is looked up once; a name that was declined is looked up again each time. It changes nothing itself: names are also
    /// looked up to be explained.
    ///
    /// # Errors
    /// The name is this resolver's, and something is wrong with it: no further resolver is called.
    fn resolve(&self, name: &str) -> Result<Answer, CallError>;
}

impl<F: Fn(&str) -> Result<Answer, CallError>> Resolver for F {
    fn resolve(&self, name: &str) -> Result<Answer, CallError> {
        self(name)
    }
}

/// What a resolver answers to a name.
pub struct Answer(pub(crate) Said);

pub(crate) enum Said {
    Function(Function),
    Declined(String),
}

/// A function that a resolver answers with.
pub(crate) struct Function {
    pub(crate) body: Body,
    pub(crate) words: String,
    pub(crate) fingerprint: u64,
}

impl Answer {
    /// This function is meant, which takes a tuple of parameters and gives a value, nothing, or a `Result` of these. What it owns is
    /// dropped with the generation, before the exit hook, or when no call of it is kept any more.
    #[must_use]
    #[track_caller]
    pub fn function<A: Params + 'static, X: Returned + 'static>(body: impl Fn(A) -> X + 'static) -> Self {
        const {
            assert!(
                has_no_out(A::TYPES),
                "a function called by name gives all that it gives as its result: take the plain type, and give it back"
            );
        }
        let place = core::panic::Location::caller();
        let place = Place { file: place.file(), line: place.line(), column: place.column() };
        Self(Said::Function(Function {
            words: crate::signature::words(A::TYPES, &<X::Value as crate::ReturnValue>::VALUE).as_str().to_owned(),
            fingerprint: crate::signature::fingerprint::<A, X::Value>(),
            body: Rc::new(FunctionBody::new(body, place)),
        }))
    }

    /// It has none of that name: a short sentence says why. The next resolver is called.
    #[must_use]
    pub fn declined(reason: impl Into<String>) -> Self {
        Self(Said::Declined(reason.into()))
    }
}

impl core::fmt::Debug for Answer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.0 {
            Said::Function(function) => write!(f, "Function({})", function.words),
            Said::Declined(reason) => write!(f, "Declined({reason:?})"),
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

/// From now on names that begin with the word of `protocol` are read by it, for modules and for the host, until this generation
/// of the module ends. A word has one owner at a time; the next generation registers its own.
///
/// # Errors
/// When the word is taken or is none; when it panics; off the game thread, and in a module that is not the Master's.
pub fn add_protocol(protocol: impl Protocol + 'static) -> Result<(), CallError> {
    let (word, form, way_out) = (protocol.word().to_owned(), protocol.form().to_owned(), protocol.way_out().to_owned());
    let is_plain = protocol.is_plain();
    let protocol: Rc<dyn Protocol> = Rc::new(protocol);
    let number = registered::keep(Rc::new(protocol));
    let texts = [&word, &form, &way_out].map(|text| RStr::from_str(text));
    let added = host("registering a protocol").and_then(|host| shells::add_protocol(host, number, texts, is_plain));
    if added.is_err() {
        registered::drop_one(number);
    }
    added
}

/// From now on `resolver` is called for the names of a protocol, which is one of this module's or of the host's, until this
/// generation of the module ends. Where a protocol has several, the one of the smallest priority number is called first, and the
/// first answer wins; errors name each by its `label`.
///
/// # Errors
/// When there is no such protocol, it is built in or another module's, or it has a resolver of that label; off the game thread, and
/// in a module that is not the Master's.
pub fn add_resolver(
    protocol: &str,
    priority: i32,
    label: &str,
    resolver: impl Resolver + 'static,
) -> Result<(), CallError> {
    let resolver: Rc<dyn Resolver> = Rc::new(resolver);
    let number = registered::keep(Rc::new(resolver));
    let texts = [protocol, label].map(RStr::from_str);
    let added = host("registering a resolver").and_then(|host| shells::add_resolver(host, number, texts, priority));
    if added.is_err() {
        registered::drop_one(number);
    }
    added
}
