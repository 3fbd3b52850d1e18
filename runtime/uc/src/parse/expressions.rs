//! Parses expressions. Operators have the precedences of UnrealScript. These precedences differ from C: for example, `$` binds weaker than
//! `==`.

use super::statements::STATEMENTS;
use super::{MAX_EXPRESSION_DEPTH, Parser, Read};
use crate::ast::{Expr, ExprKind, Ident, Infix, Prefix};
use crate::source::Span;
use crate::token::{Kind, Token, lower};

impl Parser<'_> {
    /// Parses an expression or `place = expression`.
    pub(super) fn assignment(&mut self) -> Read<Expr> {
        let target = self.expression()?;
        if self.take(Kind::Assign).is_none() {
            return Ok(target);
        }
        let value = self.expression()?;
        let message = "an assignment has no value, so assignments cannot be chained";
        self.no_assignment("uc-assign-chain", message, "write two statements")?;
        let (span, depth) = (target.span.to(value.span), 1 + target.depth.max(value.depth));
        Ok(Expr { kind: ExprKind::Assign(Box::new(target), Box::new(value)), span, depth })
    }

    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.deeper(|parser| {
            let condition = parser.infix(u8::MAX)?;
            if parser.take(Kind::Question).is_none() {
                return Ok(condition);
            }
            let one = parser.expression()?;
            parser.expect(Kind::Colon, "`:`", "between the two values")?;
            let other = parser.expression()?;
            parser.conditional(condition, one, other)
        })
    }

    /// Builds `condition ? one : other`. In `a += b ? c : d`, the right operand of the assignment is the complete conditional.
    fn conditional(&mut self, condition: Expr, one: Expr, other: Expr) -> Read<Expr> {
        let span = condition.span.to(other.span);
        let depth = condition.depth.max(one.depth).max(other.depth);
        match condition.kind {
            ExprKind::Infix(op, at, left, right) if op.assigns() => {
                let value = self.conditional(*right, one, other)?;
                self.node(ExprKind::Infix(op, at, left, Box::new(value)), span, depth + 1)
            }
            _ => {
                let kind = ExprKind::Conditional(Box::new(condition), Box::new(one), Box::new(other));
                self.node(kind, span, depth)
            }
        }
    }

    /// Builds a node. `depth` is the depth of the deepest child node. Reports an error if the depth exceeds the limit.
    fn node(&mut self, kind: ExprKind, span: Span, depth: u32) -> Read<Expr> {
        if depth >= MAX_EXPRESSION_DEPTH {
            let message = format!("this expression is more than {MAX_EXPRESSION_DEPTH} operators deep");
            let error = self.error("uc-too-deep", span, message).hint("compute a part of it in a statement before");
            return self.fail(error);
        }
        Ok(Expr { kind, span, depth: depth + 1 })
    }

    /// Parses an expression whose operators have at most this precedence number.
    fn infix(&mut self, max_binding: u8) -> Read<Expr> {
        let mut left = self.prefix()?;
        loop {
            let token = self.peek();
            if ends_with_line(&left, token) {
                return Ok(left);
            }
            let is_word = !matches!(left.kind, ExprKind::Macro(..)) && self.is_declared_operator(token);
            let tokens = if is_word { 1 } else { self.declared_sign(token) };
            if tokens != 0 {
                let last = (0..tokens).fold(token, |_, _| self.next());
                let span = token.span.to(last.span);
                let name = Ident { text: self.source.slice(span).to_owned(), span };
                let right = self.deeper(Self::prefix)?;
                let (span, depth) = (left.span.to(right.span), left.depth.max(right.depth));
                left = self.node(ExprKind::Operator(name, vec![left, right]), span, depth)?;
                continue;
            }
            let Some(op) = self.infix_sign(token).filter(|op| op.binding() <= max_binding) else { return Ok(left) };
            self.next();
            if let ExprKind::Infix(before, at, ..) = &left.kind
                && before.assigns()
            {
                let message = format!("the order of `{}` after `{}` is ambiguous", op.sign(), before.sign());
                let error = self.error("uc-parentheses", token.span, message);
                return self.fail(error.other((self.file, *at), "this assigns").hint("add parentheses"));
            }
            let right = self.deeper(|parser| parser.infix(op.binding() - 1))?;
            let (span, depth) = (left.span.to(right.span), left.depth.max(right.depth));
            left = self.node(ExprKind::Infix(op, token.span, Box::new(left), Box::new(right)), span, depth)?;
        }
    }

    /// Returns true if the token is a word between two values on one line. Such a word may be an operator that a class declares.
    fn is_declared_operator(&mut self, token: Token) -> bool {
        let following = self.tokens.peek(1);
        (token.kind == Kind::Word || self.is_hash(token))
            && !token.on_new_line
            && !following.on_new_line
            && self.infix_sign(token).is_none()
            && !self.is_one_of(0, STATEMENTS)
            && !self.is_word(0, "else")
            && matches!(
                following.kind,
                Kind::Word | Kind::Int | Kind::Float | Kind::Text | Kind::Quoted | Kind::ParenOpen
            )
    }

    /// Returns the number of tokens in an operator symbol that is not part of the language, such as `<+>`. Such a symbol consists of
    /// adjacent tokens, the last of which cannot begin an operand. Returns zero for known operators.
    fn declared_sign(&mut self, first: Token) -> usize {
        let (mut count, mut last) = (0, first);
        loop {
            let token = self.tokens.peek(count);
            let is_next = count == 0 || token.span.start == last.span.end;
            if !is_next || token.kind == Kind::Word || !is_prefix(token.kind) && self.infix_sign(token).is_none() {
                break;
            }
            (count, last) = (count + 1, token);
        }
        if count > 1 && !is_prefix(last.kind) { count } else { 0 }
    }

    fn is_hash(&self, token: Token) -> bool {
        token.kind == Kind::Unknown && self.text(token) == "#"
    }

    fn infix_sign(&self, token: Token) -> Option<Infix> {
        Infix::of_token(token.kind, self.text(token))
    }

    fn prefix(&mut self) -> Read<Expr> {
        let token = self.peek();
        let sign = match token.kind {
            Kind::Not => Prefix::Not,
            Kind::Minus => Prefix::Minus,
            Kind::Plus => Prefix::Plus,
            Kind::Tilde => Prefix::Tilde,
            Kind::PlusPlus => Prefix::Up,
            Kind::MinusMinus => Prefix::Down,
            _ if self.is_hash(token) => {
                self.next();
                let of = self.deeper(Self::prefix)?;
                let name = Ident { text: "#".to_owned(), span: token.span };
                let (span, depth) = (token.span.to(of.span), of.depth);
                return self.node(ExprKind::Operator(name, vec![of]), span, depth);
            }
            _ => return self.postfix(),
        };
        self.next();
        let of = self.deeper(Self::prefix)?;
        let (span, depth) = (token.span.to(of.span), of.depth);
        self.node(ExprKind::Prefix(sign, Box::new(of)), span, depth)
    }

    /// Parses a value with the calls, members, elements and steps after it.
    pub(super) fn postfix(&mut self) -> Read<Expr> {
        let mut of = self.primary()?;
        loop {
            let token = self.peek();
            if ends_with_line(&of, token) {
                return Ok(of);
            }
            of = match token.kind {
                Kind::ParenOpen => self.call_behind(of)?,
                Kind::Dot | Kind::BracketOpen => self.member_behind(of)?,
                Kind::PlusPlus | Kind::MinusMinus => {
                    self.next();
                    let (span, depth) = (of.span.to(token.span), of.depth);
                    self.node(ExprKind::Postfix(token.kind == Kind::PlusPlus, Box::new(of)), span, depth)?
                }
                _ => return Ok(of),
            };
        }
    }

    fn call_behind(&mut self, of: Expr) -> Read<Expr> {
        let args = self.arguments()?;
        let deepest = args.iter().flatten().map(|arg| arg.depth).fold(of.depth, u32::max);
        let span = Span { start: of.span.start, end: self.last_end };
        self.node(ExprKind::Call(Box::new(of), args), span, deepest)
    }

    fn member_behind(&mut self, of: Expr) -> Read<Expr> {
        let token = self.next();
        if token.kind == Kind::Dot {
            let name = self.ident("the name of a member")?;
            let (span, depth) = (of.span.to(name.span), of.depth);
            return self.node(ExprKind::Member(Box::new(of), name), span, depth);
        }
        let index = self.expression()?;
        let close = self.expect(Kind::BracketClose, "`]`", "after the index")?;
        let (span, depth) = (of.span.to(close.span), of.depth.max(index.depth));
        self.node(ExprKind::Index(Box::new(of), Box::new(index)), span, depth)
    }

    /// Parses `(a, , b)`. An omitted argument is `None`.
    fn arguments(&mut self) -> Read<Vec<Option<Expr>>> {
        self.expect(Kind::ParenOpen, "`(`", "before the arguments")?;
        let mut args = Vec::new();
        loop {
            let found = self.peek();
            match found.kind {
                Kind::ParenClose => {
                    self.next();
                    if !args.is_empty() {
                        args.push(None);
                    }
                    return Ok(args);
                }
                Kind::Comma => {
                    self.next();
                    args.push(None);
                }
                _ => {
                    let arg = self.expression()?;
                    if args.is_empty() {
                        // Reserves space for exactly one argument, because most calls have one argument.
                        args.reserve_exact(1);
                    }
                    args.push(Some(arg));
                    let message = "an assignment cannot be an argument";
                    self.no_assignment("uc-assign-in-condition", message, "write `==` to compare")?;
                    if self.take(Kind::ParenClose).is_some() {
                        return Ok(args);
                    }
                    self.expect(Kind::Comma, "`,` or `)`", "after the argument")?;
                }
            }
        }
    }

    fn leaf(&mut self, kind: ExprKind) -> Read<Expr> {
        let token = self.next();
        Ok(Expr { kind, span: token.span, depth: 1 })
    }

    fn primary(&mut self) -> Read<Expr> {
        let token = self.peek();
        let text = self.text(token);
        match token.kind {
            Kind::Int => self.leaf(ExprKind::Int(text.to_owned(), whole(text))),
            Kind::Float => self.leaf(ExprKind::Float(text.to_owned(), fraction(text))),
            Kind::Text => {
                let unescaped = self.unescape(token);
                self.leaf(ExprKind::Text(unescaped))
            }
            Kind::Quoted => self.leaf(ExprKind::Name(text[1..text.len() - 1].trim().to_owned())),
            Kind::ParenOpen => {
                self.next();
                let inner = self.expression()?;
                let message = "an assignment has no value";
                self.no_assignment("uc-assign-in-condition", message, "write `==` to compare")?;
                let close = self.expect(Kind::ParenClose, "`)`", "after the expression")?;
                let depth = inner.depth;
                self.node(ExprKind::Paren(Box::new(inner)), token.span.to(close.span), depth)
            }
            Kind::Macro => {
                self.next();
                let name = text.trim_matches(['`', '{', '}']).to_owned();
                let argument = self.rest_of_macro(token)?;
                Ok(Expr { kind: ExprKind::Macro(name, argument), span: self.since(token), depth: 1 })
            }
            Kind::Word => self.word_expression(token, text),
            Kind::OpenText => {
                let error = self.error("uc-open-text", token.span, "this string does not end on its line");
                self.fail(error.hint("a `\"` in a string is written `\\\"`, a line break `\\n`"))
            }
            Kind::OpenQuoted => {
                let error = self.error("uc-open-name", token.span, "this name does not end on its line");
                self.fail(error.hint("names are written between two `'`"))
            }
            Kind::BadNumber => self.fail(self.error("uc-number", token.span, format!("`{text}` is not a number"))),
            _ => self.refuse(token.span, format!("a value is missing: found {}", self.describe(token))),
        }
    }

    fn word_expression(&mut self, token: Token, text: &str) -> Read<Expr> {
        let following = self.tokens.peek(1);
        if following.kind == Kind::Quoted {
            self.next();
            self.next();
            let quoted = self.text(following);
            let name = quoted[1..quoted.len() - 1].trim().to_owned();
            let word = Ident { text: text.to_owned(), span: token.span };
            return Ok(Expr { kind: ExprKind::Object(word, name), span: token.span.to(following.span), depth: 1 });
        }
        match &*lower(text, &mut [0; 64]) {
            "true" => self.leaf(ExprKind::Bool(true)),
            "false" => self.leaf(ExprKind::Bool(false)),
            "none" => self.leaf(ExprKind::None),
            "self" => self.leaf(ExprKind::SelfObject),
            "global" if following.kind == Kind::Dot => self.leaf(ExprKind::Global),
            "default" if following.kind == Kind::Dot => self.leaf(ExprKind::Default),
            "static" if following.kind == Kind::Dot => self.leaf(ExprKind::Static),
            "super" => {
                self.next();
                let of = if self.take(Kind::ParenOpen).is_some() {
                    let of = self.ident("the name of a class above")?;
                    self.expect(Kind::ParenClose, "`)`", "after the name of the class")?;
                    Some(of)
                } else {
                    None
                };
                Ok(Expr { kind: ExprKind::Super(of), span: self.since(token), depth: 1 })
            }
            "vect" | "rot" | "rng" if following.kind == Kind::ParenOpen => {
                let word = self.ident("a word")?;
                let args = self.arguments()?;
                let values: Vec<_> = args.into_iter().flatten().collect();
                let depth = values.iter().map(|value| value.depth).max().unwrap_or(0);
                self.node(ExprKind::Triple(word, values), self.since(token), depth)
            }
            "class" if following.kind == Kind::Lt => {
                self.next();
                self.next();
                let class = self.dotted("the name of a class")?;
                self.close_angle("after the class")?;
                self.expect(Kind::ParenOpen, "`(`", "after the class")?;
                let of = self.expression()?;
                let close = self.expect(Kind::ParenClose, "`)`", "after what is cast")?;
                let depth = of.depth;
                self.node(ExprKind::ClassCast(class, Box::new(of)), token.span.to(close.span), depth)
            }
            "new" => self.new_expression(),
            _ => self.leaf(ExprKind::Ident(Ident { text: text.to_owned(), span: token.span })),
        }
    }

    fn new_expression(&mut self) -> Read<Expr> {
        let start = self.next();
        let args = if self.peek().kind == Kind::ParenOpen { self.arguments()? } else { Vec::new() };
        let mut class = self.deeper(Self::primary)?;
        while matches!(self.peek().kind, Kind::Dot | Kind::BracketOpen) {
            class = self.member_behind(class)?;
        }
        let template = if self.take(Kind::ParenOpen).is_some() {
            let template = self.expression()?;
            self.expect(Kind::ParenClose, "`)`", "after the template")?;
            Some(Box::new(template))
        } else {
            None
        };
        let deepest = args.iter().flatten().map(|arg| arg.depth).fold(class.depth, u32::max);
        let deepest = template.as_ref().map_or(deepest, |template| deepest.max(template.depth));
        self.node(ExprKind::New(args, Box::new(class), template), self.since(start), deepest)
    }

    /// Returns the content of a string literal with resolved escapes. Reports unknown escapes.
    pub(super) fn unescape(&mut self, token: Token) -> String {
        let text = self.text(token);
        let inner = &text[1..text.len() - 1];
        let mut found = String::with_capacity(inner.len());
        let mut letters = inner.char_indices();
        while let Some((at, letter)) = letters.next() {
            if letter != '\\' {
                found.push(letter);
                continue;
            }
            match letters.next() {
                Some((_, 'n')) => found.push('\n'),
                Some((_, 't')) => found.push('\t'),
                Some((_, 'r')) => found.push('\r'),
                Some((_, plain @ ('\\' | '"' | '\''))) => found.push(plain),
                Some((_, other)) => {
                    // An unknown escape is replaced by the character after the backslash.
                    let start = token.span.start as usize + 1 + at;
                    let span = Span::new(start, start + 1 + other.len_utf8());
                    let error =
                        self.error("uc-escape", span, format!("`\\{other}` is not an escape: it is read as `{other}`"));
                    self.report(error.hint("`\\\\ \\\" \\n \\t \\r` are the escapes").warning());
                    found.push(other);
                }
                None => {}
            }
        }
        found
    }
}

fn is_prefix(kind: Kind) -> bool {
    matches!(kind, Kind::Not | Kind::Minus | Kind::Plus | Kind::Tilde | Kind::PlusPlus | Kind::MinusMinus)
}

/// Returns true if `of` is a macro at the end of its line, such as `` `endif ``, so that the next line does not continue the expression.
fn ends_with_line(of: &Expr, next: Token) -> bool {
    matches!(of.kind, ExprKind::Macro(..)) && next.on_new_line
}

pub(crate) fn whole(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(super) fn fraction(text: &str) -> f64 {
    text.trim_end_matches(['f', 'F']).parse().unwrap_or(0.0)
}
