//! Reader with which protocols parse the address of a name. Also defines the errors for invalid names.

use alcedo_abi::names::shows_itself;
use thiserror::Error;

use crate::boundary::CallError;
use crate::escape::line;

/// Error for a string that is not a valid call name.
///
/// # Examples
/// ```
/// use alcedo_zcall::name::ZCallName;
/// use alcedo_zcall::protocol::PlainProtocol;
/// use alcedo_zcall::reader::NameErrorKind;
///
/// let error = ZCallName::read("db:users", &PlainProtocol::new("db")).expect_err("no slash");
/// assert_eq!((error.at, &error.kind), (3, &NameErrorKind::Missing("/")));
/// assert!(error.to_string().starts_with("`db:users` is not a ZCall name: `/` is missing at byte 3"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{}` is not a ZCall name: {kind} at byte {at}; write {}", line(text), line(form))]
pub struct NameError {
    /// Complete invalid string.
    pub text: String,
    /// Byte offset of the fault.
    pub at: usize,
    /// Kind of fault.
    pub kind: NameErrorKind,
    /// Expected form of the name.
    pub form: String,
}

/// Kind of fault in a name.
///
/// # Examples
/// ```
/// use alcedo_zcall::reader::NameErrorKind;
///
/// assert_eq!(NameErrorKind::Missing("/").to_string(), "`/` is missing");
/// assert_eq!(NameErrorKind::Empty("row").to_string(), "the row is missing");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NameErrorKind {
    /// No registered protocol has the scheme of the string.
    #[error("no known protocol")]
    Protocol,
    /// A fixed part of the name, such as `/`, is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A required component is empty.
    #[error("the {0} is missing")]
    Empty(&'static str),
    /// The name contains a character that names may not contain.
    #[error("{0:?} is unexpected")]
    Unexpected(char),
    /// Fault that only the protocol can describe. The string contains the message of the protocol.
    #[error("{}", line(.0))]
    Other(String),
}

impl From<NameError> for CallError {
    fn from(error: NameError) -> Self {
        Self::NotFound { message: error.to_string() }
    }
}

/// Reader of the address in a name. The protocol reads the address from left to right. The address contains neither spaces nor invisible
/// characters.
///
/// # Examples
/// ```
/// use alcedo_zcall::reader::{NameError, Reader};
///
/// /// Reads `/list.task`, for a protocol of tasks.
/// fn read(address: &mut Reader<'_>) -> Result<String, NameError> {
///     address.fixed("/")?;
///     let begin = address.at();
///     address.word("list")?;
///     address.fixed(".")?;
///     address.all("task")?;
///     Ok(format!("/{}", address.since(begin)))
/// }
/// ```
#[derive(Debug)]
pub struct Reader<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
    pub(crate) form: &'a str,
}

impl<'a> Reader<'a> {
    /// Returns the unread text of the address.
    #[must_use]
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the byte offset of the next character, counted from the start of the name. [`Self::since`] accepts this offset.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the text that was read since offset `at`.
    #[must_use]
    pub fn since(&self, at: usize) -> &'a str {
        self.text.get(at..self.at).unwrap_or_default()
    }

    /// Creates an error of the kind `kind`, located at the current offset.
    ///
    /// # Examples
    /// ```
    /// use alcedo_zcall::reader::{NameError, NameErrorKind, Reader};
    ///
    /// /// Reads the number of a save slot.
    /// fn slot(address: &mut Reader<'_>) -> Result<u8, NameError> {
    ///     let number = address.rest().parse::<u8>();
    ///     let number = number.map_err(|_| address.error(NameErrorKind::Other("a slot is a number up to 255".into())))?;
    ///     address.all("slot")?;
    ///     Ok(number)
    /// }
    /// ```
    #[must_use]
    pub fn error(&self, kind: NameErrorKind) -> NameError {
        NameError { text: self.text.to_owned(), at: self.at, kind, form: self.form.to_owned() }
    }

    /// Reads the string `part`.
    ///
    /// # Errors
    /// Fails if the unread text does not begin with `part`.
    pub fn fixed(&mut self, part: &'static str) -> Result<(), NameError> {
        self.fixed_as(part, NameErrorKind::Missing(part))
    }

    pub(crate) fn fixed_as(&mut self, part: &str, kind: NameErrorKind) -> Result<(), NameError> {
        if !self.rest().starts_with(part) {
            return Err(self.error(kind));
        }
        self.at += part.len();
        Ok(())
    }

    /// Reads the text before the next `/`, `:` or `.`. Errors refer to the component as `what`.
    ///
    /// # Errors
    /// Fails if the component is empty.
    pub fn word(&mut self, what: &'static str) -> Result<&'a str, NameError> {
        let rest = self.rest();
        let len = rest.find(['/', ':', '.']).unwrap_or(rest.len());
        self.take(len, what)
    }

    /// Reads all unread text of the address. Errors refer to this text as `what`.
    ///
    /// # Errors
    /// Fails if no unread text is left.
    pub fn all(&mut self, what: &'static str) -> Result<&'a str, NameError> {
        self.take(self.rest().len(), what)
    }

    fn take(&mut self, len: usize, what: &'static str) -> Result<&'a str, NameError> {
        let taken = &self.rest()[..len];
        if taken.is_empty() {
            return Err(self.error(NameErrorKind::Empty(what)));
        }
        self.at += len;
        Ok(taken)
    }

    pub(crate) fn end(&self) -> Result<(), NameError> {
        self.rest().chars().next().map_or(Ok(()), |c| Err(self.error(NameErrorKind::Unexpected(c))))
    }
}

/// Checks if `c` is a space or an invisible character. Names may not contain such characters.
pub(crate) fn is_no_part(c: char) -> bool {
    c.is_whitespace() || !shows_itself(c)
}
