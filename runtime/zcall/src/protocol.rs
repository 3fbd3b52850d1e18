//! Protocols of call names. A protocol defines a scheme and parses addresses. Built-in protocols and protocols of a host are registered in
//! the same way, see [`crate::chain`].

use crate::reader::{NameError, Reader};

/// Protocol of calls by name. A [`Resolver`](crate::chain::Resolver) maps the names of the protocol to functions.
///
/// [`Protocol::word`] and [`Protocol::help`] are called once, when the protocol is registered.
///
/// # Examples
/// ```
/// use alcedo_zcall::name::ZCallName;
/// use alcedo_zcall::protocol::Protocol;
/// use alcedo_zcall::reader::{NameError, Reader};
///
/// /// Names like `tile:/007.b`, with or without the leading zeros.
/// struct Tiles;
///
/// impl Protocol for Tiles {
///     fn word(&self) -> &str { "tile" }
///     fn form(&self) -> &str { "`tile:/row.column`" }
///     fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
///         address.fixed("/")?;
///         let row = address.word("row")?.trim_start_matches('0');
///         address.fixed(".")?;
///         Ok(format!("/{row}.{}", address.word("column")?))
///     }
/// }
/// assert_eq!(ZCallName::read("tile:/007.b", &Tiles)?.to_string(), "tile:/7.b");
/// # Ok::<(), NameError>(())
/// ```
pub trait Protocol {
    /// Returns the scheme before the colon: up to 32 lower-case letters, digits, `+`, `-` and `.`. The scheme starts with a letter
    /// and may end with `!`.
    fn word(&self) -> &str;

    /// Returns the pattern of a name for error messages, such as `` `db:/table.column` ``.
    fn form(&self) -> &str;

    /// Returns help for the error of a name that does not resolve, such as `register a function of that name first`. The default is empty.
    fn help(&self) -> &str {
        ""
    }

    /// Parses the address (the text after the colon), and returns its canonical spelling. Parsing the canonical spelling must return the
    /// canonical spelling again. If the protocol leaves a part of the address unread, the name is invalid.
    ///
    /// # Errors
    /// Fails if the address is invalid: see [`Reader::error`].
    fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError>;
}

/// Protocol that consists only of a scheme. The names of the protocol are `word:/` followed by any string without spaces. The resolver
/// parses this string.
///
/// # Examples
/// ```
/// use alcedo_zcall::protocol::{PlainProtocol, Protocol};
///
/// let db = PlainProtocol::new("db");
/// assert_eq!(db.word(), "db");
/// assert_eq!(db.help(), "");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainProtocol {
    word: String,
}

impl PlainProtocol {
    /// Creates a protocol with the scheme `word`.
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

pub(crate) fn is_word(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.');
    let word = text.strip_suffix('!').unwrap_or(text);
    text.len() <= 32 && word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_part)
}
