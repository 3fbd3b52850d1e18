//! The signature of a callee, read once: what callers are compared with, the kinds that its slots hold, and the types as
//! whoever resolved the name knows them. So no call reads words.
#![expect(unsafe_code, reason = "follows the addresses of texts where the signature says that there are some")]

use std::any::Any;
use std::fmt;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use crate::border::CallError;
use crate::buffer::{BufferMut, buffer_error};

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

    /// The kinds of a call with as many slots as there should be.
    fn kinds(&self, buffer: &BufferMut<'_>) -> Result<&Kinds, CallError> {
        let kinds = self.0.kinds.as_ref();
        let kinds = kinds.ok_or_else(|| buffer_error("only its dispatcher knows what its slots hold".into()))?;
        buffer.expect_len(kinds.arguments.len() + usize::from(kinds.result.is_some()))?;
        Ok(kinds)
    }

    pub(crate) fn check(
        &self,
        buffer: &BufferMut<'_>,
        at: usize,
        is_wanted: impl Fn(PropertyKind) -> bool,
    ) -> Result<(), CallError> {
        match self.kinds(buffer)?.arguments.get(at) {
            Some(kind) if is_wanted(*kind) => Ok(()),
            Some(kind) => Err(self.other("argument", at, *kind)),
            None => Err(buffer_error(format!("there is no argument {at}: the signature is ({})", self.words()))),
        }
    }

    pub(crate) fn check_result(
        &self,
        buffer: &BufferMut<'_>,
        is_wanted: impl Fn(PropertyKind) -> bool,
    ) -> Result<usize, CallError> {
        let kinds = self.kinds(buffer)?;
        let at = kinds.arguments.len();
        match kinds.result {
            Some(kind) if is_wanted(kind) => Ok(at),
            Some(kind) => Err(self.other("result", at, kind)),
            None => Err(buffer_error(format!("there is no result: the signature is ({})", self.words()))),
        }
    }

    pub(crate) fn text<'b>(&self, buffer: &'b BufferMut<'_>, at: usize) -> Result<&'b str, CallError> {
        self.check(buffer, at, is_text)?;
        // SAFETY: whoever gave the kinds promised in `with_kinds` that the caller lends a view of a text in this slot, which
        // was not written to since, because a `Call` writes to the slot of the result only.
        unsafe { buffer.text(at) }
    }

    pub(crate) fn give_text(&self, buffer: &mut BufferMut<'_>, text: &str) -> Result<(), CallError> {
        let at = self.check_result(buffer, is_text)?;
        // SAFETY: whoever gave the kinds promised in `with_kinds` that the caller waits with a sink in this slot, which a
        // `Call` does not write to where the result is a text.
        unsafe { buffer.give_text(at, text) }
    }

    fn other(&self, what: &str, at: usize, found: PropertyKind) -> CallError {
        let found = found.text().unwrap_or("?");
        buffer_error(format!(
            "the {what} in slot {at} is of {found}, and another type was requested: the signature is ({})",
            self.words()
        ))
    }
}

/// Whether a value of that kind goes as a text.
fn is_text(kind: PropertyKind) -> bool {
    kind == PropertyKind::STRING
}

impl fmt::Debug for CallSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({})", self.words())
    }
}
