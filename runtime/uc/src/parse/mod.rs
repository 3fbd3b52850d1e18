//! Parser from source text to a syntax tree. An error discards only the statement or declaration that contains it, so that one run reports
//! several errors. The tree contains unsupported constructs as written, and the checker reports them.

mod defaults;
mod expressions;
mod functions;
mod items;
mod statements;
mod structs;
mod types;

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

pub(crate) use expressions::whole;
pub(crate) use items::{PARAM_SPECIFIERS, VAR_SPECIFIERS, in_dots};

use crate::ast::{Expr, File, Ident, Stmt};
use crate::diagnostic::Diagnostic;
use crate::source::{MAX_FILE_SIZE, Source, Span};
use crate::token::{Kind, Token, Tokens};

/// Maximum nesting depth of statements, expressions, types and defaults.
pub const MAX_DEPTH: u32 = 64;
/// Maximum depth of the tree of one expression. Each operator in a chain such as `a + b + c` adds depth. This limit also
/// applies to the number of `else if` around a statement.
pub const MAX_EXPRESSION_DEPTH: u32 = 160;
/// Maximum number of reported errors per file. The parser stops at this number.
pub const MAX_ERRORS: usize = 60;
/// Maximum number of warnings per file. The parser drops further warnings, because one string may contain millions of unknown escapes.
const MAX_WARNINGS: usize = 1_000;

/// Minimum size in bytes of a package that is parsed on several threads. A single thread parses a package of this size in about four
/// milliseconds.
const WORTH_A_THREAD: usize = 100_000;

/// Parses a file. Always returns a tree with all constructs that could be parsed. The messages refer to file 0.
///
/// # Examples
/// ```
/// use alcedo_uc::{Source, parse};
///
/// let source = Source::new("Door.uc", "class Door extends Actor;\nvar int Health;\n");
/// let (file, messages) = parse(&source);
/// assert!(messages.is_empty());
/// assert_eq!(&*file.class.expect("a class").name.text, "Door");
/// ```
pub fn parse(source: &Source) -> (File, Vec<Diagnostic>) {
    parse_file(source, 0)
}

/// Returns true if the text is an expression, optionally followed by a semicolon.
pub(crate) fn parse_value(source: &Source) -> bool {
    let mut parser = Parser::new(source, 0);
    let is_value = parser.expression().is_ok();
    parser.take(Kind::Semicolon);
    is_value && parser.peek().kind == Kind::End && parser.diagnostics.iter().all(|message| !message.is_error())
}

/// Returns the expression if the text consists of one expression.
pub(crate) fn parse_expression(source: &Source) -> Option<Expr> {
    let mut parser = Parser::new(source, 0);
    let value = parser.expression().ok()?;
    (parser.peek().kind == Kind::End).then_some(value)
}

/// Parses a text as statements. Returns the messages.
pub(crate) fn parse_statements(source: &Source) -> Vec<Diagnostic> {
    let mut parser = Parser::new(source, 0);
    while parser.peek().kind != Kind::End {
        let before = parser.peek().span.start;
        if parser.statement().is_err() {
            parser.skip_statement();
        }
        parser.ensure_progress(before);
    }
    parser.finish()
}

/// Syntax trees of the files of a package. A host parses each package only once. [`outline`](crate::outline) and
/// [`check_parsed`](crate::check_parsed) use the same trees.
///
/// # Examples
/// ```
/// use alcedo_uc::{Parsed, Source};
///
/// let door = Source::new("Door.uc", "class Door extends Actor;");
/// let parsed = Parsed::of(&[door, Source::new("Key.uc", "class Key extends;")]);
/// assert_eq!(parsed.files.len(), 2);
/// assert!(parsed.has_errors());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// A tree for each source file, in the order of the sources.
    pub files: Vec<File>,
    /// Syntax errors and warnings, with the index of their file.
    pub messages: Vec<Diagnostic>,
}

impl Parsed {
    /// Parses the files of a package. Large packages are parsed on all processors.
    pub fn of(sources: &[Source]) -> Self {
        let bytes: usize = sources.iter().map(|source| source.text.len()).sum();
        let workers = if bytes < WORTH_A_THREAD { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) };
        let share = sources.len().div_ceil(workers).max(1);
        let mut shares = sources.chunks(share).enumerate().map(|(at, files)| move || parse_share(files, at * share));
        let own = shares.next();
        let (files, messages): (_, Vec<_>) = thread::scope(|scope| {
            // If the system cannot create a thread, the current thread parses the files that were assigned to the new thread.
            let begin = |parse| {
                thread::Builder::new().name("alcedo-parse".into()).spawn_scoped(scope, parse).map_err(|_| parse)
            };
            let others: Vec<_> = shares.map(begin).collect();
            let own: Vec<_> = own.into_iter().flat_map(|parse| parse()).collect();
            let others = others.into_iter().flat_map(|other| match other {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(parse) => parse(),
            });
            own.into_iter().chain(others).unzip()
        });
        Self { files, messages: messages.concat() }
    }

    /// Returns true if a file has a syntax error.
    ///
    /// # Examples
    /// ```
    /// use alcedo_uc::{Parsed, Source};
    ///
    /// assert!(!Parsed::of(&[Source::new("Door.uc", "class Door extends Actor;")]).has_errors());
    /// ```
    pub fn has_errors(&self) -> bool {
        self.messages.iter().any(Diagnostic::is_error)
    }
}

/// Parses files. `first` is the index of the first file in the package.
fn parse_share(files: &[Source], first: usize) -> Vec<(File, Vec<Diagnostic>)> {
    files.iter().enumerate().map(|(at, source)| parse_file(source, first + at)).collect()
}

/// Parses a file as [`parse`] does. The messages refer to the file with the index `file`.
fn parse_file(source: &Source, file: usize) -> (File, Vec<Diagnostic>) {
    let mut parser = Parser::new(source, file);
    if let Some(bytes) = source.too_large {
        let message = format!("the file has {bytes} bytes, more than the maximum of {MAX_FILE_SIZE}");
        parser.report(Diagnostic::error("uc-file-too-large", (file, Span::default()), message));
        return (File::default(), parser.finish());
    }
    if let Some(at) = source.broken {
        let span = Span { start: at, end: at + 3 };
        let error = Diagnostic::error("uc-encoding", (file, span), "these bytes are not a valid character");
        parser.report(error.hint("save the file as UTF-8").warning());
    }
    let tree = parser.file();
    if let Some(span) = parser.tokens.open_comment {
        let start = Span { start: span.start, end: span.start + 2 };
        let error = Diagnostic::error("uc-open-comment", (file, start), "this comment does not end");
        parser.stopped = false;
        parser.report(error.hint("comments can be nested: each `/*` needs its own `*/`"));
    }
    (tree, parser.finish())
}

/// Error value for a construct that could not be parsed. The error is already reported to the user.
pub(crate) struct Failed;

pub(crate) type Read<T> = Result<T, Failed>;

pub(crate) struct Parser<'s> {
    source: &'s Source,
    file: usize,
    tokens: Tokens<'s>,
    diagnostics: Vec<Diagnostic>,
    /// Statements of all open blocks. At the end of a block, its statements move to a vector with the exact capacity.
    statements: Vec<Stmt>,
    depth: u32,
    /// Number of `else if` that all open statements have so far. Each adds depth to the checked tree.
    else_ifs: u32,
    /// True if parsing stopped because of too many errors.
    stopped: bool,
    /// End of the last consumed token.
    last_end: u32,
    /// Span of the last macro, and the offset at which its arguments end.
    last_macro: Option<(Span, u32)>,
    /// True while the parser skips text after a token that does not start a declaration.
    in_junk: bool,
    /// True if a parenthesis in the defaults is never closed. From then on, the parser assumes that an open parenthesis is closed at the
    /// end of its line.
    never_closed: bool,
}

/// Returns the error for a macro, because macros are unsupported.
pub(crate) fn macro_outside(name: &str, at: (usize, Span)) -> Diagnostic {
    let name = name.trim_matches(['`', '{', '}']);
    let message = format!("the macro `` `{name} `` is outside of the language");
    Diagnostic::error("uc-macro", at, message).hint("write out its expansion")
}

/// Returns the error for a line that starts with `#`, because such lines are unsupported.
pub(crate) fn directive_outside(text: &str, at: (usize, Span)) -> Diagnostic {
    let word: String = text.chars().skip(1).take_while(|letter| letter.is_ascii_alphanumeric()).take(20).collect();
    Diagnostic::error("uc-directive", at, format!("lines that begin with `#{word}` are outside of the language"))
}

impl<'s> Parser<'s> {
    fn new(source: &'s Source, file: usize) -> Self {
        let tokens = Tokens::new(&source.text);
        Self {
            source,
            file,
            tokens,
            diagnostics: Vec::new(),
            statements: Vec::new(),
            depth: 0,
            else_ifs: 0,
            stopped: false,
            last_end: 0,
            last_macro: None,
            in_junk: false,
            never_closed: false,
        }
    }

    fn finish(self) -> Vec<Diagnostic> {
        let sources = std::slice::from_ref(self.source);
        let at_zero = |found: Diagnostic| {
            let file = found.file;
            let placed = Diagnostic { file: 0, ..found }.placed(sources);
            Diagnostic { file, ..placed }
        };
        self.diagnostics.into_iter().map(at_zero).collect()
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.stopped || (!diagnostic.is_error() && self.diagnostics.len() >= MAX_WARNINGS) {
            return;
        }
        // Reports at most one error for each location, because further errors are usually consequences of the first.
        if diagnostic.is_error()
            && self
                .diagnostics
                .iter()
                .rev()
                .take(4)
                .any(|earlier| earlier.is_error() && earlier.span.start == diagnostic.span.start)
        {
            return;
        }
        let at = (self.file, diagnostic.span);
        self.diagnostics.push(diagnostic);
        if self.diagnostics.iter().filter(|earlier| earlier.is_error()).count() >= MAX_ERRORS {
            let message = format!("these were {MAX_ERRORS} errors: the rest of the file is not read");
            self.diagnostics.push(Diagnostic::error("uc-too-many-errors", at, message));
            self.stopped = true;
            self.tokens.seek(self.source.text.len());
        }
    }

    /// Reports an error, and returns [`Failed`].
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Read<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    /// Reports a syntax error and returns [`Failed`].
    fn refuse<T>(&mut self, span: Span, message: impl Into<String>) -> Read<T> {
        self.fail(self.error("uc-syntax", span, message))
    }

    fn error(&self, id: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(id, (self.file, span), message)
    }

    fn peek(&mut self) -> Token {
        self.tokens.peek(0)
    }

    fn peek_kind(&mut self, n: usize) -> Kind {
        self.tokens.peek(n).kind
    }

    fn next(&mut self) -> Token {
        let token = self.tokens.next();
        self.last_end = token.span.end;
        token
    }

    /// Returns the span from a token to the last consumed token.
    fn since(&self, start: Token) -> Span {
        Span { start: start.span.start, end: self.last_end }
    }

    fn text(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    /// Returns true if the token after the next `n` tokens is `word`. Consumes no tokens.
    fn is_word(&mut self, n: usize, word: &str) -> bool {
        self.is_one_of(n, &[word])
    }

    /// Returns true if the token after the next `n` tokens is one of `keywords`. Consumes no tokens.
    fn is_one_of(&mut self, n: usize, keywords: &[&str]) -> bool {
        let token = self.tokens.peek(n);
        token.kind == Kind::Word && keywords.iter().any(|word| self.text(token).eq_ignore_ascii_case(word))
    }

    /// Consumes the next token if it is of this kind.
    fn take(&mut self, kind: Kind) -> Option<Token> {
        (self.peek().kind == kind).then(|| self.next())
    }

    /// Consumes the next token if it is `word`.
    fn take_word(&mut self, word: &str) -> Option<Token> {
        self.is_word(0, word).then(|| self.next())
    }

    /// Parses one or more items separated by commas.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut found = vec![item(self)?];
        while self.take(Kind::Comma).is_some() {
            found.push(item(self)?);
        }
        Ok(found)
    }

    /// Parses zero or more items separated by commas, up to the token `end`.
    fn list_before<T>(&mut self, end: Kind, item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        if self.peek().kind == end { Ok(Vec::new()) } else { self.list(item) }
    }

    /// Reports an error if the next token is `=`.
    fn no_assignment(&mut self, id: &'static str, message: &str, hint: &str) -> Read<()> {
        let found = self.peek();
        if found.kind != Kind::Assign {
            return Ok(());
        }
        self.fail(self.error(id, found.span, message).hint(hint))
    }

    /// Consumes the next token if it is of this kind. Otherwise, reports an error. `what` describes the token in the error, and `place` its
    /// expected position.
    fn expect(&mut self, kind: Kind, what: &str, place: &str) -> Read<Token> {
        if let Some(token) = self.take(kind) {
            return Ok(token);
        }
        let found = self.peek();
        self.macro_ahead()?;
        let description = self.describe(found);
        let message = format!("{what} is missing {place}: found {description}");
        // If the next token is on a new line, locates the error after the last token instead.
        let span = if found.on_new_line || found.kind == Kind::End {
            let end = self.last_end;
            Span { start: end.saturating_sub(1), end }
        } else {
            found.span
        };
        let mut error = self.error("uc-syntax", span, message).label(format!("expected {what} here"));
        if found.kind == Kind::Unknown && self.text(found).chars().any(char::is_alphabetic) {
            error = error.hint("names are made of `a` to `z`, `A` to `Z`, digits and `_`");
        }
        self.fail(error)
    }

    /// Fails if the next or the last token is a macro. The expansion of a macro is unknown, so further errors would be misleading.
    fn macro_ahead(&mut self) -> Read<()> {
        let found = self.peek();
        let span = match self.last_macro {
            _ if found.kind == Kind::Macro => found.span,
            Some((span, end)) if end == self.last_end => span,
            _ => return Ok(()),
        };
        self.fail(macro_outside(self.source.slice(span), (self.file, span)))
    }

    /// Consumes the next token if it is a name. Otherwise, reports an error.
    fn ident(&mut self, what: &str) -> Read<Ident> {
        match self.take(Kind::Word) {
            Some(token) => Ok(Ident { text: self.text(token).to_owned(), span: token.span }),
            None => {
                self.macro_ahead()?;
                let found = self.peek();
                self.refuse(found.span, format!("{what} is missing: found {}", self.describe(found)))
            }
        }
    }

    /// Consumes a `>` that closes `<`. If the token is longer, such as `>>`, consumes only its first character.
    fn close_angle(&mut self, place: &str) -> Read<Token> {
        let found = self.peek();
        if matches!(found.kind, Kind::Shr | Kind::Ushr | Kind::Ge) {
            self.tokens.seek(found.span.start as usize + 1);
            self.last_end = found.span.start + 1;
            return Ok(Token { kind: Kind::Gt, ..found });
        }
        self.expect(Kind::Gt, "`>`", place)
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End => "the end of the file".to_owned(),
            Kind::OpenText => "a text without an end".to_owned(),
            Kind::OpenQuoted => "a name without an end".to_owned(),
            _ => {
                let text = self.text(token);
                let short: String =
                    text.chars().take(30).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
                if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
            }
        }
    }

    /// Calls `read` with the nesting depth increased by one. Fails if the maximum depth is exceeded.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            let found = self.peek();
            let message = format!("more than {MAX_DEPTH} levels are nested here");
            let error =
                self.error("uc-too-deep", found.span, message).hint("move an inner part to a function of its own");
            self.report(error);
            // Skips the rest of the file, because the end of the nested construct is unknown.
            self.stopped = true;
            self.tokens.seek(self.source.text.len());
            return Err(Failed);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Consumes parentheses that begin at the next token. Returns their content without comments and line breaks.
    fn raw_parens(&mut self) -> Read<String> {
        let open = self.expect(Kind::ParenOpen, "`(`", "here")?;
        let (mut depth, mut raw, mut end) = (1_u32, String::new(), open.span.end);
        loop {
            let token = self.next();
            match token.kind {
                Kind::ParenOpen => depth += 1,
                Kind::ParenClose => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(raw);
                    }
                }
                Kind::OpenText | Kind::OpenQuoted | Kind::Directive => {
                    return self.refuse(token.span, format!("{} is not allowed in parentheses", self.describe(token)));
                }
                Kind::End => {
                    return self.refuse(open.span, "this parenthesis is not closed");
                }
                _ => {}
            }
            if token.span.start > end && !raw.is_empty() {
                raw.push(' ');
            }
            raw.push_str(self.text(token));
            end = token.span.end;
        }
    }

    /// Consumes the argument of a macro, or the line of a `` `define ``. Returns the argument.
    fn rest_of_macro(&mut self, token: Token) -> Read<Option<String>> {
        let mut argument = None;
        if self.is_define(token) {
            self.skip_define(token);
        } else if self.peek().kind == Kind::ParenOpen && !self.peek().on_new_line {
            argument = Some(self.raw_parens()?);
        }
        self.last_macro = Some((token.span, self.last_end));
        Ok(argument)
    }

    fn is_define(&self, token: Token) -> bool {
        self.text(token).eq_ignore_ascii_case("`define")
    }

    /// Skips a `` `define `` that starts with `token`, up to the end of its line. If the line ends with `\`, the next line also belongs to
    /// the macro.
    fn skip_define(&mut self, token: Token) {
        let mut end = token.span.start as usize;
        loop {
            let rest = self.source.text.get(end..).unwrap_or("");
            let line = rest.find('\n').map_or(rest, |at| &rest[..=at]);
            end += line.len();
            if !line.trim_end().ends_with('\\') || line.is_empty() {
                end -= line.len() - line.trim_end().len();
                break;
            }
        }
        self.tokens.seek(end);
        self.last_end = end as u32;
    }

    /// Skips from the next `{` to the matching `}`. Returns the span.
    fn skip_braces(&mut self) -> Read<Span> {
        let open = self.expect(Kind::BraceOpen, "`{`", "here")?;
        let mut depth = 1_u32;
        loop {
            let token = self.next();
            match token.kind {
                Kind::BraceOpen => depth += 1,
                Kind::BraceClose => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(token.span);
                    }
                }
                Kind::Macro if self.is_define(token) => self.skip_define(token),
                Kind::End => {
                    return self.refuse(open.span, "this brace is not closed");
                }
                _ => {}
            }
        }
    }

    /// Skips C++ code in braces. Strings and comments have a different syntax in C++ than in scripts.
    fn skip_cpp_braces(&mut self) -> Read<Span> {
        let open = self.expect(Kind::BraceOpen, "`{`", "here")?;
        let bytes = self.source.text.as_bytes();
        let (mut at, mut depth) = (open.span.end as usize, 1_u32);
        while at < bytes.len() {
            match bytes[at] {
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.tokens.seek(at + 1);
                        self.last_end = at as u32 + 1;
                        return Ok(Span::new(at, at + 1));
                    }
                }
                quote @ (b'"' | b'\'') => {
                    let mut end = at + 1;
                    while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
                        end += if bytes[end] == b'\\' { 2 } else { 1 };
                    }
                    at = end;
                }
                b'/' if bytes.get(at + 1) == Some(&b'/') => {
                    at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at);
                }
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let end = bytes[at + 2..].windows(2).position(|pair| pair == b"*/");
                    at = end.map_or(bytes.len(), |end| at + 2 + end + 1);
                }
                _ => {}
            }
            at += 1;
        }
        self.refuse(open.span, "this brace is not closed")
    }

    /// Returns the text of a documentation comment before a token: `/** … */`, or lines with `///`.
    fn doc(&self, token: Token) -> String {
        let Some(span) = token.comments else { return String::new() };
        let text = self.source.slice(span);
        let mut lines = Vec::new();
        if let Some(at) = text.rfind("/**").filter(|at| !text[*at..].starts_with("/**/")) {
            let inner = text[at + 3..].split("*/").next().unwrap_or("");
            lines.extend(inner.lines().map(|line| line.trim().trim_start_matches('*').trim()));
        } else {
            lines.extend(text.lines().filter_map(|line| Some(line.trim().strip_prefix("///")?.trim())));
        }
        let kept: Vec<String> = lines
            .into_iter()
            .map(|line| line.trim_start_matches('*').trim().replace("/*", "/ *").replace("*/", "* /"))
            .collect();
        kept.join("\n").trim().to_owned()
    }
}
