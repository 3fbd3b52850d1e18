//! Names of calls. A name consists of a protocol and an address. The protocol parses the address. Plugins, tools and configuration files
//! contain names that people have written. An error about an invalid name therefore states the position of the fault and the expected form.
//! A valid name has one canonical spelling, which lookups use.

use std::fmt;

use crate::protocol::Protocol;
use crate::reader::{NameError, NameErrorKind, Reader, is_no_part};

/// Name of a call in its canonical spelling `protocol:address`. All spellings of a name compare equal.
///
/// # Examples
/// ```
/// use alcedo_zcall::name::ZCallName;
/// use alcedo_zcall::protocol::PlainProtocol;
///
/// let name = ZCallName::read("db:/users.count", &PlainProtocol::new("db"))?;
/// assert_eq!((name.protocol(), name.address()), ("db", "/users.count"));
/// assert_eq!(name.rest(), "users.count");
/// assert_eq!(name.to_string(), "db:/users.count");
/// # Ok::<(), alcedo_zcall::reader::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ZCallName {
    text: Box<str>,
    /// Byte offset of the address.
    address: usize,
}

impl ZCallName {
    /// Parses a name that begins with the name of `protocol` and a colon.
    ///
    /// # Errors
    /// Fails if the protocol cannot parse the address, or if the address contains a space or an invisible character.
    ///
    /// # Examples
    /// ```
    /// use alcedo_zcall::explicit::Ex;
    /// use alcedo_zcall::name::ZCallName;
    ///
    /// assert!(ZCallName::read("ex:/math.add", &Ex).is_ok());
    /// let error = ZCallName::read("ex:/math add", &Ex).expect_err("a name has no spaces");
    /// assert_eq!(error.at, 8);
    /// ```
    pub fn read(text: &str, protocol: &dyn Protocol) -> Result<Self, NameError> {
        let word = protocol.word();
        let mut reader = Reader { text, at: 0, form: protocol.form() };
        reader.fixed_as(word, NameErrorKind::Protocol)?;
        reader.fixed(":")?;
        if let Some((at, c)) = reader.rest().char_indices().find(|(_, c)| is_no_part(*c)) {
            reader.at += at;
            return Err(reader.error(NameErrorKind::Unexpected(c)));
        }
        let address = protocol.read(&mut reader)?;
        reader.end()?;
        if let Some(c) = address.chars().find(|c| is_no_part(*c)) {
            return Err(reader.error(NameErrorKind::Unexpected(c)));
        }
        Ok(Self { address: word.len() + 1, text: format!("{word}:{address}").into() })
    }

    /// Returns the protocol: the text before the colon.
    #[must_use]
    pub fn protocol(&self) -> &str {
        &self.text[..self.address - 1]
    }

    /// Returns the address: the text after the colon, in the canonical spelling of the protocol.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.text[self.address..]
    }

    /// Returns the address without a leading `/`.
    #[must_use]
    pub fn rest(&self) -> &str {
        self.address().strip_prefix('/').unwrap_or(self.address())
    }
}

impl fmt::Display for ZCallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::ZCallName;
    use crate::explicit::Ex;
    use crate::protocol::{PlainProtocol, Protocol};
    use crate::reader::{NameError, NameErrorKind, Reader};

    fn check(protocol: &dyn Protocol, text: &str, rest: &str) {
        let name = ZCallName::read(text, protocol).expect(text);
        assert_eq!((name.protocol(), name.rest()), (protocol.word(), rest), "{text}");
        assert_eq!(ZCallName::read(&name.to_string(), protocol), Ok(name), "a name reads back as itself");
    }

    fn check_refused(protocol: &dyn Protocol, text: &str, at: usize, kind: NameErrorKind) {
        let error = ZCallName::read(text, protocol).expect_err(text);
        assert_eq!((error.at, &error.kind), (at, &kind), "{error}");
        assert!(error.to_string().contains(&*text.escape_debug().to_string()), "{error}");
    }

    #[test]
    fn a_registered_function_name_must_not_begin_with_a_slash() {
        check(&Ex, "ex:/math.add", "math.add");
        check(&Ex, "ex:/a/b::c", "a/b::c");
        check_refused(&Ex, "", 0, NameErrorKind::Protocol);
        check_refused(&Ex, "render", 0, NameErrorKind::Protocol);
        check_refused(&Ex, "EX:/render", 0, NameErrorKind::Protocol);
        check_refused(&Ex, "ex:render", 3, NameErrorKind::Missing("/"));
        check_refused(&Ex, "ex:/", 4, NameErrorKind::Empty("name"));
        check_refused(&Ex, "ex://render", 4, NameErrorKind::Unexpected('/'));
        check_refused(&Ex, "ex:/two words", 7, NameErrorKind::Unexpected(' '));
        check_refused(&Ex, "ex:/\u{202e}", 4, NameErrorKind::Unexpected('\u{202e}'));
    }

    #[test]
    fn a_plain_protocol_accepts_any_name() {
        let db = PlainProtocol::new("db");
        for rest in ["users.count", "/users/1", "a:b?c=d"] {
            check(&db, &format!("db:/{rest}"), rest);
        }
        check_refused(&db, "db:users", 3, NameErrorKind::Missing("/"));
        check_refused(&db, "db:/", 4, NameErrorKind::Empty("name"));
        check_refused(&db, "db:/two words", 7, NameErrorKind::Unexpected(' '));
    }

    /// Protocol of `at:/row.column`. The row may have leading zeros.
    struct Cells;

    impl Protocol for Cells {
        fn word(&self) -> &str {
            "at"
        }

        fn form(&self) -> &str {
            "`at:/row.column`"
        }

        fn read(&self, address: &mut Reader<'_>) -> Result<String, NameError> {
            address.fixed("/")?;
            let row = address.word("row")?.trim_start_matches('0');
            address.fixed(".")?;
            let begin = address.at();
            address.word("column")?;
            Ok(format!("/{row}.{}", address.since(begin)))
        }
    }

    #[test]
    fn a_custom_protocol_defines_the_canonical_spelling() {
        check(&Cells, "at:/007.b", "7.b");
        check_refused(&Cells, "at:/7", 5, NameErrorKind::Missing("."));
        check_refused(&Cells, "at:/7.", 6, NameErrorKind::Empty("column"));
        check_refused(&Cells, "at:/7.b.c", 7, NameErrorKind::Unexpected('.'));
    }

    #[test]
    fn an_error_is_one_line_for_any_name() {
        let error = ZCallName::read(&format!("ex:/\n{}", "\u{1b}[2J".repeat(1000)), &Ex).expect_err("no name");
        let text = error.to_string();
        assert!(!text.contains(char::is_control) && text.len() < 600, "{text}");
    }

    #[test]
    fn an_error_shows_the_right_form() {
        let error = ZCallName::read("at:/7", &Cells).expect_err("no column");
        assert_eq!(error.to_string(), "`at:/7` is not a ZCall name: `.` is missing at byte 5; write `at:/row.column`");
    }
}
