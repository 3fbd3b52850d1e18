//! How a name is read, from left to right, and what the error of a wrong one says.

use alcedo_abi::names::shows_itself;
use thiserror::Error;

use crate::border::CallError;
use crate::shown::line;

/// A text that is no name of a call.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{}` is no ZCall name: {flaw} at byte {at}; write {}", line(text), line(form))]
pub struct NameError {
    /// The whole text.
    pub text: String,
    /// Where it goes wrong, in bytes from its start.
    pub at: usize,
    /// What is wrong there.
    pub flaw: NameFlaw,
    /// The form that was expected.
    pub form: String,
}

/// What is wrong with a name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NameFlaw {
    /// It starts with no protocol that exists.
    #[error("no known protocol")]
    Protocol,
    /// A fixed part is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A part that must hold something is empty.
    #[error("the {0} is missing")]
    Empty(&'static str),
    /// A character that may not stand there.
    #[error("{0:?} is unexpected")]
    Unexpected(char),
    /// What else a protocol finds wrong, in its own words.
    #[error("{}", line(.0))]
    Other(String),
}

impl From<NameError> for CallError {
    fn from(error: NameError) -> Self {
        Self::NotFound { message: error.to_string() }
    }
}

/// The address of a name, read from left to right by its protocol. No letter of it is a space, or one that does not
/// show.
#[derive(Debug)]
pub struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    pub(crate) form: &'a str,
}

impl<'a> Reader<'a> {
    /// What is not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Where the reading is, in bytes from the start of the name: two of these places cut a part out, with
    /// [`Self::since`].
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// What was read since `at`.
    #[must_use]
    pub fn since(&self, at: usize) -> &'a str {
        self.text.get(at..self.at).unwrap_or_default()
    }

    /// The error that says what is wrong here.
    #[must_use]
    pub fn flaw(&self, flaw: NameFlaw) -> NameError {
        NameError { text: self.text.to_owned(), at: self.at, flaw, form: self.form.to_owned() }
    }

    /// Reads a part that is always the same.
    ///
    /// # Errors
    /// When something else stands here.
    pub fn fixed(&mut self, part: &'static str) -> Result<(), NameError> {
        self.fixed_as(part, NameFlaw::Missing(part))
    }

    pub(crate) fn fixed_as(&mut self, part: &str, flaw: NameFlaw) -> Result<(), NameError> {
        if !self.rest().starts_with(part) {
            return Err(self.flaw(flaw));
        }
        self.at += part.len();
        Ok(())
    }

    /// Reads one piece: all up to the next `/`, `:` or `.`. An error calls it `what`.
    ///
    /// # Errors
    /// When there is none.
    pub fn word(&mut self, what: &'static str) -> Result<&'a str, NameError> {
        let rest = self.rest();
        let len = rest.find(['/', ':', '.']).unwrap_or(rest.len());
        self.take(len, what)
    }

    /// Reads all that is left. An error calls it `what`.
    ///
    /// # Errors
    /// When there is nothing.
    pub fn all(&mut self, what: &'static str) -> Result<&'a str, NameError> {
        self.take(self.rest().len(), what)
    }

    fn take(&mut self, len: usize, what: &'static str) -> Result<&'a str, NameError> {
        let taken = &self.rest()[..len];
        if taken.is_empty() {
            return Err(self.flaw(NameFlaw::Empty(what)));
        }
        self.at += len;
        Ok(taken)
    }

    pub(crate) fn end(&self) -> Result<(), NameError> {
        match self.rest().chars().next() {
            Some(c) => Err(self.flaw(NameFlaw::Unexpected(c))),
            None => Ok(()),
        }
    }
}

/// Whether this letter stands in no name: a space, or one that is not seen for what it is.
pub(crate) fn is_no_part(c: char) -> bool {
    c.is_whitespace() || !shows_itself(c)
}
