//! Parses `defaultproperties`. Each line sets one property, with an optional semicolon at the end. Names may be unquoted.

use super::expressions::{fraction, whole};
use super::{Failed, Parser, Read, directive_outside, macro_outside};
use crate::ast::{DefaultLine, DefaultObject, DefaultValue, DefaultValueKind, Defaults, Ident};
use crate::source::Span;
use crate::token::{Kind, Token};

impl Parser<'_> {
    pub(super) fn defaults(&mut self) -> Read<Defaults> {
        let keyword = self.ident("`defaultproperties`")?;
        let open = self.expect(Kind::BraceOpen, "`{`", "after `defaultproperties`")?;
        Ok(Defaults { keyword, lines: self.default_lines(open, false)? })
    }

    /// Parses lines up to the closing brace or `End Object`.
    fn default_lines(&mut self, open: Token, in_object: bool) -> Read<Vec<DefaultLine>> {
        let mut lines = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => {
                    return self.refuse(open.span, "these defaults do not end");
                }
                Kind::BraceClose if in_object => {
                    let error = self.error("uc-syntax", open.span, "this object does not end");
                    return self.fail(error.hint("write `End Object` after its last line"));
                }
                Kind::BraceClose => {
                    self.next();
                    return Ok(lines);
                }
                Kind::Semicolon | Kind::Comma => {
                    self.next();
                }
                _ if self.is_word(0, "end") && self.is_word(1, "object") => {
                    self.next();
                    self.next();
                    if in_object {
                        return Ok(lines);
                    }
                    self.report(self.error("uc-syntax", token.span, "`End Object` without a `Begin Object` before it"));
                }
                _ => {
                    match self.deeper(Self::default_line) {
                        Ok(line) => lines.push(line),
                        Err(Failed) => self.skip_line(token),
                    }
                    self.ensure_progress(token.span.start);
                }
            }
        }
    }

    /// Skips the line that starts with the token. While a parenthesis is open, also skips the following lines. Stops before the closing
    /// brace. If a parenthesis is never closed, skips only the line that the parser has reached.
    fn skip_line(&mut self, start: Token) {
        let reached = self.tokens.peek(0).span.start.max(self.last_end);
        self.tokens.seek(start.span.start as usize);
        let (mut parens, mut braces) = (0_u32, 0_u32);
        while !self.never_closed {
            let token = self.peek();
            let new_line = token.on_new_line && token.span.start != start.span.start;
            if new_line && parens == 0 && braces == 0 && token.span.start >= reached {
                return;
            }
            match token.kind {
                Kind::ParenOpen => parens += 1,
                Kind::ParenClose => parens = parens.saturating_sub(1),
                Kind::BraceOpen => braces += 1,
                Kind::BraceClose if braces > 0 => braces -= 1,
                Kind::End | Kind::BraceClose => break,
                _ if new_line && self.is_word(0, "end") && self.is_word(1, "object") => break,
                _ => {}
            }
            self.next();
        }
        self.never_closed |= parens > 0 || braces > 0;
        if self.never_closed {
            self.tokens.seek(reached as usize);
            while !self.peek().on_new_line && !matches!(self.peek().kind, Kind::End | Kind::BraceClose) {
                self.next();
            }
        }
    }

    fn default_line(&mut self) -> Read<DefaultLine> {
        if self.is_word(0, "begin") && self.is_word(1, "object") {
            return self.default_object().map(DefaultLine::Object);
        }
        let found = self.peek();
        match found.kind {
            Kind::Macro => {
                if self.is_define(found) {
                    self.skip_define(found);
                }
                return self.fail(macro_outside(self.text(found), (self.file, found.span)));
            }
            Kind::Directive => return self.fail(directive_outside(self.text(found), (self.file, found.span))),
            _ => {}
        }
        let name = self.ident("the name of a property")?;
        let index = self.default_index()?;
        if index.is_none() && self.peek().kind == Kind::Dot && self.peek_kind(1) == Kind::Word {
            self.next();
            let method = self.ident("the name of a function")?;
            let mut values = Vec::new();
            if self.take(Kind::ParenOpen).is_some() {
                while self.peek().kind != Kind::ParenClose {
                    values.push(self.value_in_group()?);
                    if self.take(Kind::Comma).is_none() {
                        break;
                    }
                }
                self.expect(Kind::ParenClose, "`)`", "after the value")?;
            }
            let span = Span { start: name.span.start, end: self.last_end };
            return Ok(DefaultLine::Method(name, method, values, span));
        }
        if self.peek().kind != Kind::Assign && self.peek().on_new_line {
            return self.refuse(name.span, format!("`{}` has no value: `=` is missing", name.text));
        }
        self.expect(Kind::Assign, "`=`", "after the name of the property")?;
        let value = self.default_value()?;
        let following = self.peek();
        if !following.on_new_line
            && !matches!(
                following.kind,
                Kind::Semicolon | Kind::Comma | Kind::BraceClose | Kind::End | Kind::ParenClose
            )
        {
            let description = self.describe(following);
            let error = self.error("uc-syntax", following.span, format!("unexpected {description} after the value"));
            return self.fail(error.hint("write one property a line"));
        }
        Ok(DefaultLine::Set(name, index, value))
    }

    /// Parses an index: `(1)`, `[1]`, `(ENTRY)`.
    fn default_index(&mut self) -> Read<Option<Ident>> {
        let open = self.peek();
        let close = match open.kind {
            Kind::ParenOpen => Kind::ParenClose,
            Kind::BracketOpen => Kind::BracketClose,
            _ => return Ok(None),
        };
        self.next();
        let token = self.next();
        if !matches!(token.kind, Kind::Int | Kind::Word) {
            return self.refuse(token.span, format!("an index is missing: found {}", self.describe(token)));
        }
        // Reads `[EEnum.ENTRY]`.
        let mut span = token.span;
        while self.peek().kind == Kind::Dot && self.peek_kind(1) == Kind::Word {
            self.next();
            span = span.to(self.next().span);
        }
        self.expect(close, "the end of the index", "after the number")?;
        Ok(Some(Ident { text: self.source.slice(span).to_owned(), span }))
    }

    fn default_object(&mut self) -> Read<DefaultObject> {
        let start = self.next();
        self.next();
        let (mut class, mut name, mut others) = (None, None, Vec::new());
        while self.peek().kind == Kind::Word && !self.peek().on_new_line {
            let word = self.ident("a word")?;
            self.expect(Kind::Assign, "`=`", "after the word")?;
            if word.is("class") {
                class = Some(self.last_of_path("the name of a class")?);
            } else if word.is("name") {
                name = Some(self.name_or_text("the name of the object")?);
            } else {
                others.push((word, self.default_value()?));
            }
        }
        let span = self.since(start);
        let lines = self.default_lines(start, true)?;
        Ok(DefaultObject { class, name, others, lines, span })
    }

    /// Parses the path `X`, `Pkg.X` or `class'Pkg.X'`. Returns the last name of this path.
    fn last_of_path(&mut self, what: &str) -> Read<Ident> {
        if self.is_word(0, "class") && self.peek_kind(1) == Kind::Quoted {
            self.next();
            let token = self.next();
            let text = self.text(token).trim_matches('\'').rsplit('.').next().unwrap_or("").trim().to_owned();
            return Ok(Ident { text, span: token.span });
        }
        let names = self.dotted(what)?;
        names.into_iter().next_back().ok_or(Failed)
    }

    fn name_or_text(&mut self, what: &str) -> Read<Ident> {
        let token = self.peek();
        if matches!(token.kind, Kind::Text | Kind::Quoted) {
            self.next();
            let text = self.text(token).trim_matches(['\'', '"']).to_owned();
            return Ok(Ident { text, span: token.span });
        }
        self.ident(what)
    }

    fn default_value(&mut self) -> Read<DefaultValue> {
        self.deeper(Self::default_value_here)
    }

    fn default_value_here(&mut self) -> Read<DefaultValue> {
        use DefaultValueKind as V;
        let token = self.peek();
        if token.on_new_line
            || matches!(token.kind, Kind::Comma | Kind::ParenClose | Kind::Semicolon | Kind::BraceClose)
        {
            let end = self.last_end;
            return Ok(DefaultValue { kind: V::Empty, span: Span { start: end.saturating_sub(1), end } });
        }
        let text = self.text(token);
        let kind = match token.kind {
            Kind::Minus | Kind::Plus | Kind::Int | Kind::Float => self.default_number()?,
            Kind::Text => {
                let unescaped = self.unescape(token);
                self.next();
                V::Text(unescaped)
            }
            Kind::Quoted => {
                self.next();
                V::Name(text[1..text.len() - 1].trim().to_owned())
            }
            Kind::ParenOpen => self.default_group()?,
            // `{( … )}` is equivalent to `( … )`.
            Kind::BraceOpen => {
                self.next();
                let inner = self.value_in_group()?;
                self.expect(Kind::BraceClose, "`}`", "after the value")?;
                inner.kind
            }
            Kind::Word => {
                let names = self.dotted("a value")?;
                let quoted = self.peek();
                // Reads `Texture'Pkg.Name'`. The package may precede the class.
                if quoted.kind == Kind::Quoted && !quoted.on_new_line {
                    self.next();
                    let inner = self.text(quoted);
                    let Some(word) = names.into_iter().next_back() else { return Err(Failed) };
                    if self.take(Kind::Dot).is_some() {
                        self.dotted("`static`")?;
                        let message = "a function of a class is bound by no defaults";
                        let error = self.error("uc-delegate", self.since(token), message);
                        return self.fail(error.hint("name a function of the object itself"));
                    }
                    V::Object(word, inner[1..inner.len() - 1].trim().to_owned())
                } else {
                    V::Word(names)
                }
            }
            Kind::OpenText => {
                self.next();
                return self.fail(self.error("uc-open-text", token.span, "this string does not end on its line"));
            }
            Kind::Macro => return self.fail(macro_outside(text, (self.file, token.span))),
            _ => {
                return self.refuse(token.span, format!("{} is not a property value", self.describe(token)));
            }
        };
        Ok(DefaultValue { kind, span: self.since(token) })
    }

    fn default_number(&mut self) -> Read<DefaultValueKind> {
        let is_negative = self.peek().kind == Kind::Minus;
        if matches!(self.peek().kind, Kind::Minus | Kind::Plus) {
            self.next();
        }
        let number = self.peek();
        let digits = self.text(number);
        let text = if is_negative { format!("-{digits}") } else { digits.to_owned() };
        let kind = match number.kind {
            Kind::Int => {
                let value = whole(digits).map(i128::from);
                DefaultValueKind::Int(text, value.map(|value| if is_negative { -value } else { value }))
            }
            Kind::Float => {
                let value = fraction(digits);
                DefaultValueKind::Float(text, if is_negative { -value } else { value })
            }
            _ => {
                return self.refuse(number.span, format!("a number is missing: found {}", self.describe(number)));
            }
        };
        self.next();
        Ok(kind)
    }

    /// Parses a struct `(A=1, B=2)` or a list `(1, 2)`.
    fn default_group(&mut self) -> Read<DefaultValueKind> {
        let open = self.next();
        let after_word = self.peek_kind(1);
        let is_struct = self.peek().kind == Kind::ParenClose
            || (self.peek().kind == Kind::Word
                && (after_word == Kind::Assign || matches!(after_word, Kind::ParenOpen | Kind::BracketOpen)));
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        loop {
            if self.take(Kind::ParenClose).is_some() {
                break;
            }
            if self.peek().kind == Kind::End {
                return self.refuse(open.span, "this parenthesis is not closed");
            }
            if is_struct {
                let name = self.ident("the name of a field")?;
                let index = self.default_index()?;
                self.expect(Kind::Assign, "`=`", "after the name of the field")?;
                let value = self.value_in_group()?;
                fields.push((name, index, value));
            } else {
                values.push(self.value_in_group()?);
            }
            if self.take(Kind::Comma).is_none() {
                self.expect(Kind::ParenClose, "`,` or `)`", "after the value")?;
                break;
            }
        }
        Ok(if is_struct { DefaultValueKind::Struct(fields) } else { DefaultValueKind::Array(values) })
    }

    /// Parses a value in parentheses. The value may start on a new line.
    fn value_in_group(&mut self) -> Read<DefaultValue> {
        if self.peek().on_new_line && !matches!(self.peek().kind, Kind::Comma | Kind::ParenClose | Kind::BraceClose) {
            // Reads the token from its own offset, which clears `on_new_line`. Otherwise [`Self::default_value`] would find no value on
            // this line.
            let token = self.peek();
            self.tokens.seek(token.span.start as usize);
        }
        self.default_value()
    }
}
