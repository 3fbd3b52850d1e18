//! Source text of a file, decoded from bytes. Old class files are encoded in Latin-1 or UTF-16, new class files in UTF-8.

/// Maximum size of a file in bytes. Larger files are rejected without decoding.
pub const MAX_FILE_SIZE: usize = 8 << 20;

/// A range of bytes in [`Source::text`].
///
/// # Examples
/// ```
/// use alcedo_uc::{Source, Span};
///
/// let source = Source::new("Door.uc", "class Door extends Actor;");
/// assert_eq!(source.slice(Span::new(6, 10)), "Door");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span from `start` to `end`. `end` is exclusive.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the smallest span that contains both spans.
    ///
    /// # Examples
    /// ```
    /// use alcedo_uc::Span;
    ///
    /// assert_eq!(Span::new(0, 5).to(Span::new(6, 10)), Span::new(0, 10));
    /// ```
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A decoded file.
///
/// # Examples
/// ```
/// use alcedo_uc::Source;
///
/// let source = Source::new("Classes/Door.uc", "class Door extends Actor;\nvar int Health;\n");
/// assert_eq!(source.stem(), "Door");
/// assert_eq!((source.line(30), source.column(30)), (2, 5));
/// ```
#[derive(Clone, Debug)]
pub struct Source {
    /// Name for messages.
    pub name: String,
    /// Decoded text.
    pub text: String,
    /// Offset of the first `U+FFFD` in the text. Decoding replaces invalid bytes by this character.
    pub broken: Option<u32>,
    /// Size in bytes of a file that exceeds [`MAX_FILE_SIZE`]. The text of such a file is empty.
    pub too_large: Option<usize>,
    lines: Vec<u32>,
}

impl Source {
    /// Creates a source from text.
    pub fn new(name: &str, text: impl Into<String>) -> Self {
        let text = with_line_feeds(text.into());
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        let broken = text.find('\u{FFFD}').map(|at| at as u32);
        Self { name: name.to_owned(), text, broken, too_large: None, lines }
    }

    /// Decodes the bytes of a file. Decoding always succeeds. The byte order mark or the first bytes determine the encoding.
    ///
    /// # Examples
    /// ```
    /// use alcedo_uc::Source;
    ///
    /// let utf16: Vec<u8> = "class Door;".encode_utf16().flat_map(u16::to_le_bytes).collect();
    /// assert_eq!(Source::decode("Door.uc", &utf16).text, "class Door;");
    /// ```
    pub fn decode(name: &str, bytes: &[u8]) -> Self {
        if bytes.len() > MAX_FILE_SIZE {
            return Self { too_large: Some(bytes.len()), ..Self::new(name, "") };
        }
        let text = match bytes {
            [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
            [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
            [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
            // In UTF-16 text without a byte order mark, the high bytes of the first two characters are usually zero.
            [low, 0, low2, 0, ..] if *low != 0 && *low2 != 0 => utf16(bytes, u16::from_le_bytes),
            [0, low, 0, low2, ..] if *low != 0 && *low2 != 0 => utf16(bytes, u16::from_be_bytes),
            // Invalid UTF-8 without a byte order mark is Latin-1.
            _ => match std::str::from_utf8(bytes) {
                Ok(text) => text.to_owned(),
                Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
            },
        };
        Self::new(name, text)
    }

    /// Returns the line of an offset, from 1.
    pub fn line(&self, at: u32) -> u32 {
        self.lines.partition_point(|start| *start <= at) as u32
    }

    /// Returns the column of an offset in characters, from 1.
    pub fn column(&self, at: u32) -> u32 {
        let start = self.line_start(self.line(at)) as usize;
        let end = (at as usize).clamp(start, self.text.len());
        self.text.get(start..end).map_or(0, |before| before.chars().count()) as u32 + 1
    }

    /// Returns the offset of the start of a line. Returns the length of the text if the line does not exist.
    pub(crate) fn line_start(&self, line: u32) -> u32 {
        let at = (line as usize).saturating_sub(1);
        self.lines.get(at).copied().unwrap_or(self.text.len() as u32)
    }

    /// Returns the text of a span.
    ///
    /// # Examples
    /// ```
    /// use alcedo_uc::{Source, Span};
    ///
    /// let source = Source::new("Door.uc", "var int Health;");
    /// assert_eq!(source.slice(Span::new(8, 14)), "Health");
    /// assert_eq!(source.slice(Span::new(8, 99)), "");
    /// ```
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns the file name without folders and extension.
    pub fn stem(&self) -> &str {
        let name = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut text: String = char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{FFFD}')).collect();
    if !rest.is_empty() {
        text.push('\u{FFFD}');
    }
    text
}

/// Replaces each carriage return that no line feed follows (the line end of classic Mac OS) by a line feed. All offsets remain valid.
fn with_line_feeds(text: String) -> String {
    let mut made = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\r') {
        let following = &rest[at..];
        let run = following.len() - following.trim_start_matches('\r').len();
        made.push_str(&rest[..at]);
        let is_alone = !following[run..].starts_with('\n');
        made.extend(std::iter::repeat_n(if is_alone { '\n' } else { '\r' }, run));
        rest = &following[run..];
    }
    if made.is_empty() {
        return text;
    }
    made.push_str(rest);
    made
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILE_SIZE, Source};

    fn check(bytes: &[u8], text: &str) {
        assert_eq!(Source::decode("A.uc", bytes).text, text);
    }

    #[test]
    fn bytes_of_every_encoding_are_decoded() {
        check(b"class A;", "class A;");
        check("\u{FEFF}class Ä;".as_bytes(), "class Ä;");
        check(b"// caf\xE9", "// café");
        check(b"\xFF\xFEa\0;\0", "a;");
        check(b"\xFE\xFF\0a\0;", "a;");
        check(b"a\0b\0", "ab");
        check(b"\0a\0b", "ab");
        check(b"", "");
        check(b"a\r// b\r\rc\r\n\r\r\nd", "a\n// b\n\nc\r\n\r\r\nd");
    }

    #[test]
    fn invalid_characters_are_replaced_and_reported() {
        let odd = Source::decode("A.uc", b"\xFF\xFEa\0;");
        assert_eq!((odd.text.as_str(), odd.broken), ("a\u{FFFD}", Some(1)));
        let half = Source::decode("A.uc", b"\xFF\xFE\x00\xD8a\0");
        assert_eq!((half.text.as_str(), half.broken), ("\u{FFFD}a", Some(0)));
        let large = Source::decode("A.uc", &vec![b' '; MAX_FILE_SIZE + 1]);
        assert_eq!((large.too_large, large.text.len()), (Some(MAX_FILE_SIZE + 1), 0));
    }

    #[test]
    fn locations_are_lines_and_columns() {
        let source = Source::new("Game/Cube.uc", "a\néb\n");
        let at = |at| (source.line(at), source.column(at));
        assert_eq!(
            [at(0), at(1), at(2), at(4), at(5), at(6), at(99)],
            [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (3, 1), (3, 1)]
        );
        assert_eq!(source.stem(), "Cube");
    }
}
