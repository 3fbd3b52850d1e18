//! What a protocol is: the word that its names begin with, and how the rest of them is read. It is data: the protocols
//! that are built in and those of a host are registered alike, see [`crate::chain`].

use crate::reader::{NameError, NameFlaw, Reader};

/// A protocol of calls by name. A [`Resolver`](crate::chain::Resolver) says what its names stand for.
///
/// [`Protocol::word`] and [`Protocol::way_out`] are called once, when it is registered.
pub trait Protocol {
    /// The word before the colon: up to 32 lower-case letters, digits, `+`, `-` and `.`, a letter first; `!` may end
    /// it.
    fn word(&self) -> &str;

    /// How its names look, for errors: `` `db:/table.column` ``.
    fn form(&self) -> &str;

    /// What can be done about a name that leads nowhere, for errors: `register a function of that name first`. Empty by
    /// default.
    fn way_out(&self) -> &str {
        ""
    }

    /// Reads the address, which is what stands behind the colon, and gives it in the one spelling that it has. What is
    /// left unread is an error. A spelling reads back as itself.
    ///
    /// # Errors
    /// When it is none: see [`Reader::flaw`].
    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError>;
}

/// A protocol with a word only: behind `word:/` stands any text without spaces, which its resolver reads.
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
        "`protocol:/what the host knows`, without spaces"
    }

    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
        address.fixed("/")?;
        Ok(format!("/{}", address.all("name")?))
    }
}

/// All that is left, which does not begin with a `/`: `ex://name` would be a second spelling that leads elsewhere.
///
/// # Errors
/// When it does, or is empty.
pub(crate) fn free(address: &mut Reader<'_>, what: &'static str) -> Result<String, NameError> {
    if address.rest().starts_with('/') {
        return Err(address.flaw(NameFlaw::Unexpected('/')));
    }
    Ok(address.all(what)?.to_owned())
}

/// Whether a protocol may have that word.
pub(crate) fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let word = text.strip_suffix('!').unwrap_or(text);
    text.len() <= 32 && word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_part)
}
