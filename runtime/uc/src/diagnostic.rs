//! Diagnostics about sources. A diagnostic has a stable id, a message, a span and a hint, and is rendered in the style of rustc.

use std::fmt;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use crate::source::{Source, Span};

/// Severity of a diagnostic.
///
/// # Examples
/// ```
/// use alcedo_uc::Severity;
///
/// let mut found = vec![Severity::Warning, Severity::Error];
/// found.sort();
/// assert_eq!(found, [Severity::Error, Severity::Warning]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// Prevents compilation of the package.
    Error,
    /// Allows compilation of the package, although a part of the source has no effect.
    Warning,
}

/// A diagnostic with its location in a file.
///
/// # Examples
/// ```
/// use alcedo_uc::{Diagnostic, Source};
///
/// let sources = [Source::new("Door.uc", "class Door extends Actor;\nvar int Armor;\n")];
/// let message = "no property `Armor`".to_owned();
/// let found = Diagnostic::at_name("game-no-property", &sources, (0, 2), "Armor", message);
/// assert_eq!((found.line, found.column), (2, 9));
/// assert!(found.is_error());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Stable id of the kind of message, such as `uc-unknown-type`. `runtime/docs/script-language.md` lists all ids.
    pub id: &'static str,
    /// Severity of the message.
    pub severity: Severity,
    /// Index of the file among the sources.
    pub file: usize,
    /// Span in the source.
    pub span: Span,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Text of the message.
    pub message: String,
    /// Label at the span. May be empty.
    pub label: String,
    /// Related location: index of the file, span and label.
    pub other: Option<(usize, Span, String)>,
    /// Help text. May be empty.
    pub hint: String,
}

/// Maximum number of rendered characters of a line.
const MAX_LINE_LEN: usize = 240;

impl Diagnostic {
    /// Creates an error at a span of a file.
    pub(crate) fn error(id: &'static str, at: (usize, Span), message: impl Into<String>) -> Self {
        let (file, span) = at;
        let (label, hint) = Default::default();
        let (message, severity) = (message.into(), Severity::Error);
        Self { id, severity, file, span, line: 0, column: 0, message, label, other: None, hint }
    }

    /// Creates an error that a host reports. `at` contains the index of the source, and the line, from 1. The location of the error is the
    /// first occurrence of the word `name` in this line.
    #[must_use]
    pub fn at_name(id: &'static str, sources: &[Source], at: (usize, u32), name: &str, message: String) -> Self {
        let (file, line) = at;
        let span = sources.get(file).map(|source| {
            let start = source.line_start(line) as usize;
            let line = source.text[start..].lines().next().unwrap_or_default();
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
            let is_whole =
                |at: &usize| !line[..*at].ends_with(is_part) && !line[at + name.len()..].starts_with(is_part);
            let found = line.match_indices(name).map(|(at, _)| at).find(is_whole);
            found.map_or(Span::new(start, start), |at| Span::new(start + at, start + at + name.len()))
        });
        Self::error(id, (file, span.unwrap_or_default()), message).placed(sources)
    }

    #[must_use]
    pub(crate) fn warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    #[must_use]
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Adds a hint with a similar name. Does nothing for `None`.
    #[must_use]
    pub(crate) fn similar(self, near: Option<impl fmt::Display>) -> Self {
        match near {
            Some(near) => self.hint(format!("a similar name exists: `{near}`")),
            None => self,
        }
    }

    /// Adds a related location. Does nothing for `None`.
    #[must_use]
    pub(crate) fn other(self, at: impl Into<Option<(usize, Span)>>, label: impl Into<String>) -> Self {
        let at: Option<(usize, Span)> = at.into();
        Self { other: at.map(|(file, span)| (file, span, label.into())), ..self }
    }

    /// Sets line and column from the span.
    #[must_use]
    pub(crate) fn placed(self, sources: &[Source]) -> Self {
        let Some(source) = sources.get(self.file) else { return self };
        Self { line: source.line(self.span.start), column: source.column(self.span.start), ..self }
    }

    /// Returns true if the diagnostic prevents compilation.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Renders the message with its source line as plain text, without a trailing line break. `sources` must be the sources of the check,
    /// in their original order.
    ///
    /// # Examples
    /// ```
    /// use alcedo_uc::{Diagnostic, Source};
    ///
    /// let sources = [Source::new("Door.uc", "class Door extends Actor;\nvar int Armor;\n")];
    /// let message = "no property `Armor`".to_owned();
    /// let found = Diagnostic::at_name("game-no-property", &sources, (0, 2), "Armor", message);
    /// let lines = found.render(&sources);
    /// assert!(lines.contains("Door.uc:2:9") && lines.contains("var int Armor;"));
    /// ```
    pub fn render(&self, sources: &[Source]) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let place = Drawn::new(sources, self.file, self.span);
        let other = self.other.as_ref().map(|(file, span, label)| (Drawn::new(sources, *file, *span), label));
        let primary = AnnotationKind::Primary.span(place.range.clone());
        let primary = if self.label.is_empty() { primary } else { primary.label(self.label.as_str()) };
        let title = level.primary_title(self.message.as_str()).id(self.id);
        let mut group = title.element(place.snippet().annotation(primary));
        if let Some((other, label)) = &other {
            let context = AnnotationKind::Context.span(other.range.clone()).label(label.as_str());
            group = group.element(other.snippet().annotation(context));
        }
        if !self.hint.is_empty() {
            group = group.element(Level::HELP.message(self.hint.as_str()));
        }
        let renderer = Renderer::plain().decor_style(DecorStyle::Ascii).term_width(MAX_LINE_LEN + 40);
        let drawn = renderer.render(&[group]);
        // Replaces the rendered column numbers by those of the source. The rendered numbers may be wrong, because tabs are expanded and
        // long lines are truncated.
        let others = other.iter().map(|(other, _)| other.column);
        let mut columns = std::iter::once(place.column).chain(others);
        let lines: Vec<_> = drawn.lines().map(|line| with_column(line.trim_end(), &mut columns)).collect();
        lines.join("\n")
    }
}

/// Replaces the column in a rendered line that contains a location.
fn with_column(line: &str, columns: &mut impl Iterator<Item = u32>) -> String {
    let names_place = ["--> ", "::: "].iter().any(|mark| line.trim_start().starts_with(mark));
    if names_place
        && let Some((before, _)) = line.rsplit_once(':')
        && let Some(column) = columns.next()
    {
        return format!("{before}:{column}");
    }
    line.to_owned()
}

/// First line of a span, prepared for rendering: tabs are expanded, control characters are replaced, and long lines are truncated.
struct Drawn<'a> {
    name: &'a str,
    line: usize,
    column: u32,
    text: String,
    range: std::ops::Range<usize>,
}

impl<'a> Drawn<'a> {
    fn new(sources: &'a [Source], file: usize, span: Span) -> Self {
        let Some(source) = sources.get(file) else {
            return Self { name: "?", line: 1, column: 1, text: String::new(), range: 0..0 };
        };
        let line = source.line(span.start);
        let start = source.line_start(line) as usize;
        let end = (source.line_start(line + 1) as usize).max(start);
        let whole = source.text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r']);
        let (mut text, mut range) = (String::new(), None::<(usize, usize)>);
        // Position of an empty span in the rendered line.
        let mut here = None;
        // Omits the start of a long line.
        let place = (span.start as usize).saturating_sub(start);
        let skipped = place.saturating_sub(MAX_LINE_LEN / 2);
        for (at, letter) in whole.char_indices().skip_while(|(at, _)| *at < skipped).take(MAX_LINE_LEN) {
            let at = start + at;
            let before = text.len();
            match letter {
                '\t' => text.push_str("    "),
                letter if letter.is_control() => text.push('\u{FFFD}'),
                letter => text.push(letter),
            }
            if at >= span.start as usize {
                here.get_or_insert(before);
            }
            if at >= span.start as usize && at < span.end as usize {
                range = Some((range.map_or(before, |(from, _)| from), text.len()));
            }
        }
        let here = here.unwrap_or(text.len());
        let range = range.map_or(here..here, |(from, to)| from..to);
        let column = source.column(span.start);
        Self { name: &source.name, line: line as usize, column, text, range }
    }

    fn snippet<'s, T: Clone>(&'s self) -> Snippet<'s, T> {
        Snippet::source(self.text.as_str()).line_start(self.line).path(self.name)
    }
}
