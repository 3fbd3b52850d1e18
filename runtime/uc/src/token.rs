//! Lexer. Reads tokens on demand, because metadata between `<` and `>` and C++ code in braces do not consist of script tokens.

use std::borrow::Cow;
use std::collections::VecDeque;

use logos::Logos;

use crate::source::Span;

#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\f\x0B\x00\x1A\u{FEFF}\u{A0}]+")]
pub(crate) enum Kind {
    #[regex(r"//[^\n]*", allow_greedy = true)]
    LineComment,
    /// `/* */`. Comments may be nested. An unterminated comment extends to the end of the text.
    #[token("/*", block_comment)]
    BlockComment,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex(r"[0-9]+", priority = 4)]
    #[regex(r"0[xX][0-9a-fA-F]+")]
    Int,
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?[fF]?")]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?[fF]?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+[fF]?")]
    #[regex(r"[0-9]+[fF]")]
    Float,
    /// A number directly followed by a letter or an underscore, such as `12ab`. This is an error.
    #[regex(r"[0-9]+[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    BadNumber,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#)]
    Text,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*\\?"#, priority = 1)]
    OpenText,
    #[regex(r"'[^'\r\n]*'")]
    Quoted,
    #[regex(r"'[^'\r\n]*", priority = 1)]
    OpenQuoted,
    /// Directive such as `#exec`, up to the end of the line. A `#` that is not first on its line is [`Kind::Unknown`].
    #[token("#")]
    Directive,
    /// `` `name `` or `` `{name} ``.
    #[regex(r"`[A-Za-z_][A-Za-z0-9_]*")]
    #[regex(r"`\{[A-Za-z_][A-Za-z0-9_]*\}")]
    Macro,
    #[token("(")]
    ParenOpen,
    #[token(")")]
    ParenClose,
    #[token("[")]
    BracketOpen,
    #[token("]")]
    BracketClose,
    #[token("{")]
    BraceOpen,
    #[token("}")]
    BraceClose,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("=")]
    Assign,
    #[token("==")]
    Eq,
    #[token("!=")]
    Ne,
    #[token("~=")]
    Near,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    #[token("<=")]
    Le,
    #[token(">=")]
    Ge,
    #[token("<<")]
    Shl,
    #[token(">>")]
    Shr,
    #[token(">>>")]
    Ushr,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("**")]
    Power,
    #[token("++")]
    PlusPlus,
    #[token("--")]
    MinusMinus,
    #[token("+=")]
    PlusAssign,
    #[token("-=")]
    MinusAssign,
    #[token("*=")]
    StarAssign,
    #[token("/=")]
    SlashAssign,
    #[token("$")]
    Dollar,
    #[token("@")]
    At,
    #[token("$=")]
    DollarAssign,
    #[token("@=")]
    AtAssign,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("^^")]
    XorXor,
    #[token("&")]
    And,
    #[token("|")]
    Or,
    #[token("^")]
    Xor,
    #[token("~")]
    Tilde,
    #[token("!")]
    Not,
    /// A character that begins no token.
    Unknown,
    /// End of the text.
    End,
}

/// Returns a word in lower case. Uses the buffer if the word fits in the buffer.
pub(crate) fn lower<'b>(word: &str, buffer: &'b mut [u8; 64]) -> Cow<'b, str> {
    match buffer.get_mut(..word.len()) {
        Some(lower) => {
            lower.copy_from_slice(word.as_bytes());
            lower.make_ascii_lowercase();
            Cow::Borrowed(std::str::from_utf8(lower).unwrap_or_default())
        }
        None => Cow::Owned(word.to_ascii_lowercase()),
    }
}

fn block_comment(lexer: &mut logos::Lexer<'_, Kind>) {
    let rest = lexer.remainder();
    lexer.bump(comment_end(rest).unwrap_or(rest.len()));
}

/// Returns the offset at which a comment ends. `text` starts after the opening `/*`. Returns `None` if the comment is unterminated.
fn comment_end(text: &str) -> Option<usize> {
    let (bytes, mut depth, mut at) = (text.as_bytes(), 1_usize, 0);
    while depth > 0 {
        match bytes.get(at..)? {
            [] => return None,
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    Some(at)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    pub(crate) on_new_line: bool,
    pub(crate) comments: Option<Span>,
}

/// Token stream of a text with lookahead.
pub(crate) struct Tokens<'s> {
    text: &'s str,
    /// Offset from which the next token is read. Tokens in `ahead` end before this offset.
    at: usize,
    ahead: VecDeque<Token>,
    /// Span of an unterminated comment.
    pub(crate) open_comment: Option<Span>,
}

impl<'s> Tokens<'s> {
    pub(crate) fn new(text: &'s str) -> Self {
        Self { text, at: 0, ahead: VecDeque::new(), open_comment: None }
    }

    /// Returns the token that follows the next `n` tokens. Does not consume tokens.
    pub(crate) fn peek(&mut self, n: usize) -> Token {
        while self.ahead.len() <= n {
            let token = self.read();
            self.ahead.push_back(token);
        }
        self.ahead[n]
    }

    /// Consumes the next token. At the end of the text, always returns `End`.
    pub(crate) fn next(&mut self) -> Token {
        self.peek(0);
        let token = self.ahead.pop_front().unwrap_or(self.end());
        if token.kind == Kind::End {
            self.ahead.push_front(token);
        }
        token
    }

    /// Moves to the byte offset. Discards all tokens read ahead.
    pub(crate) fn seek(&mut self, at: usize) {
        self.ahead.clear();
        self.at = at;
    }

    fn end(&self) -> Token {
        let span = Span::new(self.text.len(), self.text.len());
        Token { kind: Kind::End, span, on_new_line: true, comments: None }
    }

    fn read(&mut self) -> Token {
        let from = self.at;
        let mut comments: Option<Span> = None;
        loop {
            let rest = self.text.get(self.at..).unwrap_or("");
            let mut lexer = Kind::lexer(rest);
            let Some(kind) = lexer.next() else {
                self.at = self.text.len();
                return Token { comments, ..self.end() };
            };
            let mut kind = kind.unwrap_or(Kind::Unknown);
            let mut span = Span::new(self.at + lexer.span().start, self.at + lexer.span().end);
            let on_new_line = from == 0 || self.text[from..span.start as usize].contains('\n');
            if kind == Kind::Directive {
                if on_new_line {
                    let line = &self.text[span.start as usize..];
                    span.end = span.start + line.find('\n').unwrap_or(line.len()) as u32;
                } else {
                    kind = Kind::Unknown;
                }
            }
            self.at = span.end as usize;
            match kind {
                Kind::LineComment | Kind::BlockComment => {
                    let text = &self.text[span.start as usize..span.end as usize];
                    if kind == Kind::BlockComment && comment_end(&text[2..]).is_none() {
                        self.open_comment.get_or_insert(span);
                    }
                    comments = Some(comments.map_or(span, |first| first.to(span)));
                }
                kind => {
                    return Token { kind, span, on_new_line, comments };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Tokens};

    fn check(text: &str, expected: &str) {
        let mut tokens = Tokens::new(text);
        let mut formatted = Vec::new();
        loop {
            let token = tokens.next();
            if token.kind == Kind::End {
                break;
            }
            formatted.push(format!("{:?}:{}", token.kind, &text[token.span.start as usize..token.span.end as usize]));
        }
        assert_eq!(formatted.join(" "), expected, "{text}");
    }

    #[test]
    fn numbers_are_integers_or_floats() {
        check(
            "1 0x1F 1.5 .5 3. 1e5 1.0e-3f 2f",
            "Int:1 Int:0x1F Float:1.5 Float:.5 Float:3. Float:1e5 Float:1.0e-3f Float:2f",
        );
        check("12ab", "BadNumber:12ab");
    }

    #[test]
    fn comments_nest_and_are_not_tokens() {
        check("a/* /* x */ y */b // c\n d", "Word:a Word:b Word:d");
        check("a /* /* */", "Word:a");
        let mut tokens = Tokens::new("a /* /* */");
        tokens.peek(1);
        assert!(tokens.open_comment.is_some());
    }

    #[test]
    fn strings_and_names_end_on_their_line() {
        check(r#""a\"b" 'x y' "open"#, r#"Text:"a\"b" Quoted:'x y' OpenText:"open"#);
        check("'open\nb", "OpenQuoted:'open Word:b");
        check("\"a\\\nb", "OpenText:\"a\\ Word:b");
    }

    #[test]
    fn the_longest_operator_is_matched() {
        check("a>>>b>>c>=d**e", "Word:a Ushr:>>> Word:b Shr:>> Word:c Ge:>= Word:d Power:** Word:e");
        check("`log `{x}\n #exec a b\nc é", "Macro:`log Macro:`{x} Directive:#exec a b Word:c Unknown:é");
        check("a = #b;\x1A", "Word:a Assign:= Unknown:# Word:b Semicolon:;");
    }
}
