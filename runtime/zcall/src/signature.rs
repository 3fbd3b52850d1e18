//! Signature of a callee, parsed once. A signature contains the kinds of the slots, the types that the resolver has parsed, and a
//! fingerprint that is compared with the fingerprints of callers. Calls therefore never parse the signature string.
#![expect(unsafe_code, reason = "declares the function by which a resolver vouches for the contents of slots")]

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

/// Signature of a callee. Clones share the data.
///
/// # Examples
/// ```
/// use alcedo_zcall::signature::CallSignature;
///
/// let signature = CallSignature::new("-> u64".into(), 0x5c0e, ["u64"]);
/// assert_eq!((signature.text(), signature.fingerprint()), ("-> u64", 0x5c0e));
/// assert_eq!(signature.types::<[&str; 1]>(), Some(&["u64"]));
/// assert!(signature.types::<String>().is_none());
/// ```
#[derive(Clone)]
pub struct CallSignature(Rc<Read>);

#[derive(Clone)]
struct Read {
    words: String,
    fingerprint: u64,
    types: Rc<dyn Any>,
    kinds: Option<Kinds>,
}

/// Kinds of the slots for a function that is called without an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kinds {
    /// Kinds of the parameters.
    pub arguments: Box<[PropertyKind]>,
    /// Kind of the result.
    pub result: Option<PropertyKind>,
}

impl CallSignature {
    /// Creates a signature without the kinds of the slots. Only the dispatcher can then interpret the slots. `types` is the parsed form of
    /// `words`, and is returned by [`Self::types`]. A `fingerprint` of zero does not match any caller that has a fingerprint, see
    /// [`ZCallTable::resolve`](crate::table::ZCallTable::resolve).
    pub fn new(words: String, fingerprint: u64, types: impl Any) -> Self {
        Self(Rc::new(Read { words, fingerprint, types: Rc::new(types), kinds: None }))
    }

    /// Adds the kinds of the slots. A [`Call`](crate::call::Call) needs the kinds to read the slots.
    ///
    /// # Safety
    /// In every call with as many slots as `kinds`, the slots match `kinds`. This holds for callers that pass this fingerprint, and for
    /// callers that check each value themselves. The slot of a string argument contains the address of a view. The slot of a string result
    /// contains the address of a sink.
    #[must_use]
    pub unsafe fn with_kinds(self, kinds: Kinds) -> Self {
        Self(Rc::new(Read { kinds: Some(kinds), ..(*self.0).clone() }))
    }

    /// Removes the kinds. Only the dispatcher can then interpret the slots.
    #[must_use]
    pub fn without_kinds(self) -> Self {
        match self.0.kinds {
            None => self,
            Some(_) => Self(Rc::new(Read { kinds: None, ..(*self.0).clone() })),
        }
    }

    /// Returns the signature string, for errors.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.words
    }

    /// Returns the fingerprint. The call table compares this fingerprint with the fingerprint of each caller.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.0.fingerprint
    }

    /// Returns the parsed form of the signature. Returns `None` if the parsed form is not of type `T`.
    #[must_use]
    #[inline]
    pub fn types<T: Any>(&self) -> Option<&T> {
        self.0.types.downcast_ref()
    }

    /// Returns the kinds that [`Self::with_kinds`] added. Returns `None` if only the dispatcher can interpret the slots.
    #[inline]
    pub(crate) fn kinds(&self) -> Option<&Kinds> {
        self.0.kinds.as_ref()
    }
}

impl fmt::Debug for CallSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})", self.text())
    }
}
