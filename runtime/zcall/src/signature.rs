//! The signature of a callee, read once: what callers are compared with, the kinds that its slots hold, and the types as
//! whoever resolved the name knows them. So no call reads words.
#![expect(unsafe_code, reason = "declares the function by which a resolver vouches for what lies in slots")]

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

/// A signature. A clone is the same one.
#[derive(Clone)]
pub struct CallSignature(Rc<Read>);

#[derive(Clone)]
struct Read {
    words: String,
    fingerprint: u64,
    types: Rc<dyn Any>,
    kinds: Option<Kinds>,
}

/// What the slots of a function hold that has no object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kinds {
    /// Its parameters.
    pub arguments: Box<[PropertyKind]>,
    /// Its result.
    pub result: Option<PropertyKind>,
}

impl CallSignature {
    /// One whose slots only its dispatcher knows. `types` is what [`Self::types`] gives: the words as a caller with values
    /// reads them. A `fingerprint` of zero is compared with no caller's: see
    /// [`ZCallTable::resolve`](crate::table::ZCallTable::resolve).
    pub fn new(words: String, fingerprint: u64, types: impl Any) -> Self {
        Self(Rc::new(Read { words, fingerprint, types: Rc::new(types), kinds: None }))
    }

    /// The same with slots that a [`Call`](crate::call::Call) may read.
    ///
    /// # Safety
    /// Callers of this fingerprint, and callers that look at each value, lend in the slots of a call what `kinds` says, if
    /// there are as many slots: for a text that goes in the address of a view, and for one that comes out that of a sink.
    #[must_use]
    pub unsafe fn with_kinds(self, kinds: Kinds) -> Self {
        Self(Rc::new(Read { kinds: Some(kinds), ..(*self.0).clone() }))
    }

    /// The same with slots that only its dispatcher knows.
    #[must_use]
    pub fn without_kinds(self) -> Self {
        match self.0.kinds {
            None => self,
            Some(_) => Self(Rc::new(Read { kinds: None, ..(*self.0).clone() })),
        }
    }

    /// The signature in words, for errors.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.0.words
    }

    /// What callers are compared by; zero is not compared.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.0.fingerprint
    }

    /// The types that it was given; `None` where it was given none of that sort.
    #[must_use]
    #[inline]
    pub fn types<T: Any>(&self) -> Option<&T> {
        self.0.types.downcast_ref()
    }

    /// The kinds that its slots hold, as [`Self::with_kinds`] was promised; `None` where only its dispatcher knows.
    #[inline]
    pub(crate) fn kinds(&self) -> Option<&Kinds> {
        self.0.kinds.as_ref()
    }
}

impl fmt::Debug for CallSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})", self.words())
    }
}
