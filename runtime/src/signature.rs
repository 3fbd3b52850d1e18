//! Signature strings, and the comparison of caller and callee signatures in calls by name. The signature string of a callee is parsed once,
//! when its name is resolved. The parsed signature is cached with the resolved name, so calls parse no strings.
#![expect(unsafe_code, reason = "vouches that slots hold the types of the signature that callers are compared with")]

use std::fmt;
use std::str::FromStr;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_abi::kinds::PropertyKind;

use crate::boundary::{CallError, not_found};
use crate::object::type_text::{SignatureText, TypeText};
use crate::zcall::call::Callee;
use crate::zcall::signature::{CallSignature, Kinds};

/// A signature, parsed from a string such as `i32, String -> bool`. An object type is written as `Object(/Script/Package.Class)`, a struct
/// type as its path, and an array type as `Array(f64)`. `Object` without a path accepts objects of any class.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::Signature;
///
/// let signature: Signature = "i32, String -> bool".parse()?;
/// assert_eq!(signature.to_string(), "i32, String -> bool");
/// assert!("i32 -> nothing".parse::<Signature>().is_err());
/// # Ok::<(), alcedo_runtime::CallError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature(pub(crate) SignatureText);

impl FromStr for Signature {
    type Err = CallError;

    fn from_str(text: &str) -> Result<Self, CallError> {
        #[cfg(test)]
        READ.set(READ.get() + 1);
        text.parse().map(Self).map_err(|error| {
            not_found(format!("{error}; write `f64, Array(String), Object(/Script/P.C) -> /Script/P.S`"))
        })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Signature {
    /// Computes the fingerprint of the signature. Host and modules compute equal fingerprints for equal signatures.
    pub(crate) fn fingerprint(&self) -> u64 {
        let arguments = self.0.arguments.iter().enumerate();
        let print = arguments.fold(Fingerprint::START, |print, (at, word)| {
            print.param(self.0.out_parameters.contains(&at), word.kind(), &word.path())
        });
        self.0.result.as_ref().map_or(print, |word| print.result(word.kind(), &word.path())).finish()
    }

    /// Checks that a function with this signature can be called on any thread. All parameters and the result must be strings or fit in
    /// slots. Otherwise returns [`CallError::Buffer`] with the first type that is not allowed.
    pub(crate) fn needs_no_runtime(&self, name: &str) -> Result<(), CallError> {
        match self.words().find(|word| matches!(travel(word.kind()), Travel::Address)) {
            None => Ok(()),
            Some(word) => Err(CallError::Buffer {
                message: format!(
                    "`{name}` ({self}): a {word} is in memory whose layout the Master's types define, and they belong to the game \
                     thread: pass numbers, `bool`, `String`, `Name` and `Object` instead"
                ),
            }),
        }
    }

    fn words(&self) -> impl Iterator<Item = &TypeText> {
        self.0.arguments.iter().chain(self.0.result.as_deref())
    }
}

/// Form in which a slot passes a value.
pub(crate) enum Travel {
    /// The slot contains the value.
    Slot,
    /// The slot of an argument refers to a borrowed string. The slot of a result refers to a sink, which receives the string.
    Text,
    /// The slot contains the address of the value.
    Address,
}

pub(crate) fn travel(kind: PropertyKind) -> Travel {
    match kind {
        PropertyKind::STRING => Travel::Text,
        kind if kind.fits_slot() => Travel::Slot,
        _ => Travel::Address,
    }
}

#[cfg(test)]
thread_local! {
    /// Number of signature strings that were parsed on this thread.
    pub(crate) static READ: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Parsed signature of a callee. Cached when the name of the callee is resolved.
type Types = Result<Signature, CallError>;

/// Returns the signature of a callee without the kinds of its slots. Only the dispatcher of this callee then reads the slots of a call. If
/// the string is invalid, callers with dynamic values receive an error.
pub(crate) fn described(words: &str, fingerprint: u64) -> CallSignature {
    CallSignature::new(words.to_owned(), fingerprint, Types::from(words.parse()))
}

/// Returns the signature string of a module if the string matches the fingerprint. Otherwise, for example if the plugin uses type aliases,
/// returns the string in parentheses. Callers with static types can still call the function, while callers with dynamic values receive an
/// error.
pub(crate) fn honest_words(signature: &str, fingerprint: u64) -> String {
    let is_true = signature.parse::<Signature>().is_ok_and(|parsed| parsed.fingerprint() == fingerprint);
    if is_true { signature.to_owned() } else { format!("({signature})") }
}

/// Returns the signature of a module's function, as in [`described`].
pub(crate) fn described_by_module(words: &str, fingerprint: u64) -> CallSignature {
    described(&honest_words(words, fingerprint), fingerprint)
}

/// Returns the parsed signature of a callee. Returns an error if the signature string is invalid, or if only the dispatcher of the callee
/// can determine the types.
#[inline]
pub(crate) fn types(callee: &Callee) -> Result<&Signature, CallError> {
    match callee.types::<Types>() {
        Some(Ok(signature)) => Ok(signature),
        Some(Err(error)) => Err(error.clone()),
        None => Err(CallError::other(format!("only its dispatcher knows the types of `{}`", callee.name()))),
    }
}

impl From<Signature> for CallSignature {
    fn from(signature: Signature) -> Self {
        let kinds = Kinds {
            arguments: signature.0.arguments.iter().map(TypeText::kind).collect(),
            result: signature.0.result.as_deref().map(TypeText::kind),
        };
        let (words, fingerprint) = (signature.to_string(), signature.fingerprint());
        let described = Self::new(words, fingerprint, Types::Ok(signature));
        // SAFETY: the fingerprint is computed from these types. A module fills slots according to the fingerprint, and `dynamic_call`
        // checks each value. In both cases, a string argument is passed as a view, and a string result is written to a sink.
        unsafe { described.with_kinds(kinds) }
    }
}
