//! Parses the statements of function bodies.

use super::{Failed, Parser, Read, macro_outside};
use crate::ast::{Arm, DoEnd, Expr, ExprKind, Stmt, StmtKind, VarName};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::token::{Kind, Token, lower};

/// Keywords that begin a statement.
pub(super) const STATEMENTS: &[&str] =
    &["if", "while", "do", "for", "foreach", "switch", "return", "break", "continue", "local"];

impl Parser<'_> {
    /// Parses the body of a function. Returns its statements and the span of the closing brace.
    pub(super) fn body(&mut self) -> Read<(Vec<Stmt>, Span)> {
        let open = self.expect(Kind::BraceOpen, "`{`", "here")?;
        let body = self.statements(open)?;
        Ok((body, Span { start: self.last_end.saturating_sub(1), end: self.last_end }))
    }

    /// Parses statements up to and including the closing brace.
    fn statements(&mut self, open: Token) -> Read<Vec<Stmt>> {
        let begin = self.statements.len();
        let read = self.rest_of_block(open);
        let statements = self.statements.split_off(begin);
        read.map(|()| statements)
    }

    /// Appends the statements of a block to the parser's list of statements, and consumes the closing brace.
    fn rest_of_block(&mut self, open: Token) -> Read<()> {
        loop {
            let token = self.peek();
            match token.kind {
                Kind::BraceClose => {
                    self.next();
                    return Ok(());
                }
                Kind::End => {
                    return self.refuse(open.span, "this brace is not closed");
                }
                _ if self.is_declaration(token) => {
                    let error = self.misplaced(token, "begins a declaration inside of a function");
                    return self.fail(error.other((self.file, open.span), "this brace is still open"));
                }
                _ => {
                    match self.statement() {
                        Ok(Stmt { kind: StmtKind::Empty, .. }) => {}
                        Ok(statement) => self.statements.push(statement),
                        Err(Failed) => self.skip_statement(),
                    }
                    self.ensure_progress(token.span.start);
                }
            }
        }
    }

    /// Returns true if the next token, `token`, begins a declaration that cannot be in a function.
    fn is_declaration(&mut self, token: Token) -> bool {
        token.on_new_line && self.begins_declaration() && !self.is_word(0, "const")
    }

    /// Returns the error for a declaration inside of a construct whose closing brace is probably missing.
    pub(super) fn misplaced(&self, token: Token, what: &str) -> Diagnostic {
        let message = format!("{} {what}", self.describe(token));
        self.error("uc-syntax", token.span, message).hint("a `}` may be missing above")
    }

    /// Skips past the next semicolon or block. Stops before a closing brace.
    pub(super) fn skip_statement(&mut self) {
        self.skip_until(|_| true, |parser, _| parser.is_one_of(0, STATEMENTS) || parser.begins_declaration());
    }

    /// Skips past the next semicolon. Stops after a block if `ends_behind_block` returns true, and before the first word of a line if
    /// `begins` returns true. Also stops at the end of the file, and before a closing brace. Returns true if it stops before a closing
    /// brace.
    pub(super) fn skip_until(
        &mut self,
        ends_behind_block: impl Fn(&mut Self) -> bool,
        begins: impl Fn(&mut Self, Token) -> bool,
    ) -> bool {
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End | Kind::BraceClose => return token.kind == Kind::BraceClose,
                Kind::BraceOpen => {
                    let _ = self.skip_braces();
                    if ends_behind_block(self) {
                        return false;
                    }
                }
                Kind::Word if token.on_new_line && begins(self, token) => return false,
                kind => {
                    self.next();
                    if kind == Kind::Semicolon {
                        return false;
                    }
                }
            }
        }
    }

    pub(super) fn statement(&mut self) -> Read<Stmt> {
        let else_ifs = self.else_ifs;
        let read = self.deeper(Self::statement_here);
        self.else_ifs = else_ifs;
        read
    }

    fn statement_here(&mut self) -> Read<Stmt> {
        let start = self.peek();
        let head = |kind, span| Ok(Stmt { kind, span });
        match start.kind {
            Kind::Semicolon => {
                self.next();
                return head(StmtKind::Empty, start.span);
            }
            Kind::BraceOpen => {
                self.next();
                return head(StmtKind::Block(self.statements(start)?), start.span);
            }
            Kind::Directive => {
                self.next();
                let text = self.text(start).trim_end().to_owned();
                return head(StmtKind::Directive(text), start.span);
            }
            Kind::Word => {}
            _ => return self.expression_statement(),
        }
        let mut buffer = [0; 64];
        let word = lower(self.text(start), &mut buffer);
        let following = self.peek_kind(1);
        match &*word {
            "if" => self.if_statement(),
            "while" => {
                self.next();
                let condition = self.condition()?;
                head(StmtKind::While(condition, self.inner_body()?), start.span)
            }
            "do" => self.do_statement(),
            "for" => self.for_statement(),
            "foreach" => {
                self.next();
                // Parses no operators after the call, because `foreach Array(X) F(X);` would otherwise use `F` as an operator.
                let over = self.postfix()?;
                head(StmtKind::ForEach(over, self.inner_body()?), start.span)
            }
            "switch" => self.switch_statement(),
            "local" => self.local_statement(),
            "const" if following == Kind::Word => head(StmtKind::Const(Box::new(self.constant()?)), start.span),
            // Requires a semicolon after `stop`, because `Stop` may also be the name of a function or variable.
            "break" | "continue" | "stop" if word != "stop" || following == Kind::Semicolon => {
                self.next();
                self.expect(Kind::Semicolon, "`;`", &format!("after `{word}`"))?;
                let kind = match &*word {
                    "break" => StmtKind::Break,
                    "continue" => StmtKind::Continue,
                    _ => StmtKind::Stop,
                };
                head(kind, start.span)
            }
            "return" => {
                self.next();
                let value = if self.peek().kind == Kind::Semicolon { None } else { Some(self.expression()?) };
                self.expect(Kind::Semicolon, "`;`", "after the result")?;
                head(StmtKind::Return(value), self.since(start))
            }
            "assert" if following == Kind::ParenOpen => {
                self.next();
                let condition = self.condition()?;
                self.expect(Kind::Semicolon, "`;`", "after `assert`")?;
                head(StmtKind::Assert(condition), self.since(start))
            }
            "goto" if matches!(following, Kind::Word | Kind::Quoted | Kind::ParenOpen) => {
                self.next();
                self.take(Kind::ParenOpen);
                let label = match self.take(Kind::Quoted) {
                    Some(token) => {
                        crate::ast::Ident { text: self.text(token).trim_matches('\'').to_owned(), span: token.span }
                    }
                    None => self.ident("the label")?,
                };
                self.take(Kind::ParenClose);
                self.expect(Kind::Semicolon, "`;`", "after `goto`")?;
                head(StmtKind::Goto(label), start.span)
            }
            "else" => {
                self.next();
                self.refuse(start.span, "`else` without an `if` before it")
            }
            "case" => {
                self.next();
                self.refuse(start.span, "`case` outside of a `switch`")
            }
            _ if self.is_local_ahead() => {
                let message = format!("`local` is missing before `{}`", self.text(start));
                let error = self.error("uc-syntax", start.span, message);
                self.fail(error.hint("declare a local variable by `local`, and assign its value in a statement"))
            }
            _ if following == Kind::Colon => {
                let label = self.ident("a label")?;
                self.next();
                head(StmtKind::Label(label), start.span)
            }
            _ => self.expression_statement(),
        }
    }

    /// Returns true if the next tokens declare a local variable without `local`.
    fn is_local_ahead(&mut self) -> bool {
        const TYPES: &[&str] = &["int", "float", "bool", "byte", "string", "name"];
        let ends = matches!(self.peek_kind(2), Kind::Semicolon | Kind::Comma | Kind::Assign);
        let name = self.tokens.peek(1);
        // `new Kind;` creates an object.
        let declares = ends && !name.on_new_line && !self.is_word(0, "new");
        name.kind == Kind::Word && (declares || self.is_one_of(0, TYPES))
    }

    fn expression_statement(&mut self) -> Read<Stmt> {
        let value = self.assignment()?;
        let span = value.span;
        if matches!(value.kind, ExprKind::Macro(..)) {
            // The semicolon after a macro is optional.
            self.take(Kind::Semicolon);
        } else {
            self.expect(Kind::Semicolon, "`;`", "after the statement")?;
        }
        Ok(Stmt { kind: StmtKind::Expr(value), span })
    }

    /// Parses `(condition)`.
    fn condition(&mut self) -> Read<Expr> {
        self.expect(Kind::ParenOpen, "`(`", "before the condition")?;
        let condition = self.expression()?;
        self.no_assignment("uc-assign-in-condition", "an assignment cannot be a condition", "write `==` to compare")?;
        self.expect(Kind::ParenClose, "`)`", "after the condition")?;
        Ok(condition)
    }

    fn inner_body(&mut self) -> Read<Vec<Stmt>> {
        match self.statement()? {
            Stmt { kind: StmtKind::Block(body), .. } => Ok(body),
            Stmt { kind: StmtKind::Empty, .. } => Ok(Vec::new()),
            one => Ok(vec![one]),
        }
    }

    fn if_statement(&mut self) -> Read<Stmt> {
        let start = self.peek();
        let mut arms = Vec::with_capacity(1);
        loop {
            self.next();
            let condition = self.condition()?;
            arms.push((condition, self.inner_body()?));
            if self.else_ifs > super::MAX_EXPRESSION_DEPTH {
                let error = self.error("uc-too-deep", start.span, "this `if` has too many `else if`");
                return self.fail(error.hint("use a `switch`"));
            }
            if self.take_word("else").is_none() {
                return Ok(Stmt { kind: StmtKind::If(arms, None), span: start.span });
            }
            if !(self.is_word(0, "if") && self.peek_kind(1) == Kind::ParenOpen) {
                let other = self.inner_body()?;
                return Ok(Stmt { kind: StmtKind::If(arms, Some(other)), span: start.span });
            }
            self.else_ifs += 1;
        }
    }

    fn do_statement(&mut self) -> Read<Stmt> {
        let start = self.next();
        let body = self.inner_body()?;
        let until = self.is_word(0, "until");
        if !until && !self.is_word(0, "while") {
            return self.refuse(start.span, "this `do` ends with neither `until` nor `while`");
        }
        self.next();
        let condition = self.condition()?;
        self.take(Kind::Semicolon);
        let end = if until { DoEnd::Until(condition) } else { DoEnd::While(condition) };
        Ok(Stmt { kind: StmtKind::Do(body, end), span: start.span })
    }

    fn for_statement(&mut self) -> Read<Stmt> {
        let start = self.next();
        let declared = self.tokens.peek(1);
        if self.is_one_of(1, &["local", "int", "byte", "float"]) && self.peek_kind(2) == Kind::Word {
            let error = self.error("uc-syntax", declared.span, "a loop cannot declare a variable");
            self.report(error.hint("declare the variable by `local`, in a statement before the loop"));
            self.raw_parens()?;
            self.inner_body()?;
            return Ok(Stmt { kind: StmtKind::Empty, span: start.span });
        }
        self.expect(Kind::ParenOpen, "`(`", "after `for`")?;
        let init = self.list_before(Kind::Semicolon, Self::assignment)?;
        self.expect(Kind::Semicolon, "`;`", "after the start of the loop")?;
        let condition = if self.peek().kind == Kind::Semicolon { None } else { Some(Box::new(self.expression()?)) };
        self.expect(Kind::Semicolon, "`;`", "after the condition of the loop")?;
        let step = self.list_before(Kind::ParenClose, Self::assignment)?;
        self.expect(Kind::ParenClose, "`)`", "after the step of the loop")?;
        let body = self.inner_body()?;
        Ok(Stmt { kind: StmtKind::For(init, condition, step, body), span: start.span })
    }

    fn switch_statement(&mut self) -> Read<Stmt> {
        let start = self.next();
        let value = self.condition()?;
        let open = self.expect(Kind::BraceOpen, "`{`", "after the value of the `switch`")?;
        let mut arms: Vec<Arm> = Vec::new();
        loop {
            let token = self.peek();
            if self.take(Kind::BraceClose).is_some() {
                return Ok(Stmt { kind: StmtKind::Switch(value, arms), span: start.span });
            }
            if token.kind == Kind::End {
                return self.refuse(open.span, "this brace is not closed");
            }
            if self.take_word("case").is_some() {
                let value = self.expression()?;
                self.expect(Kind::Colon, "`:`", "after the value of the `case`")?;
                arms.push(Arm { span: token.span.to(value.span), value: Some(value), body: Vec::new() });
            } else if self.is_word(0, "default") && self.peek_kind(1) == Kind::Colon {
                self.next();
                self.next();
                arms.push(Arm { span: token.span, value: None, body: Vec::new() });
            } else if self.is_declaration(token) {
                return self.fail(self.misplaced(token, "begins a declaration inside of a `switch`"));
            } else {
                match (self.statement(), arms.last_mut()) {
                    (Ok(Stmt { kind: StmtKind::Empty, .. }), _) => {}
                    (Ok(statement), Some(arm)) => arm.body.push(statement),
                    (Ok(Stmt { kind: StmtKind::Expr(Expr { kind: ExprKind::Macro(name, _), .. }), .. }), None) => {
                        self.report(macro_outside(&name, (self.file, token.span)));
                    }
                    (Ok(_), None) => {
                        self.report(self.error("uc-syntax", token.span, "a statement before the first `case`"));
                    }
                    (Err(Failed), _) => self.skip_statement(),
                }
                self.ensure_progress(token.span.start);
            }
        }
    }

    fn local_statement(&mut self) -> Read<Stmt> {
        let start = self.next();
        // Skips specifiers of class variables, because they have no effect on locals.
        while self.is_one_of(0, super::items::VAR_SPECIFIERS)
            && self.peek_kind(1) == Kind::Word
            && self.type_and_name_ahead(1)
        {
            let word = self.ident("a word")?;
            let error =
                self.error("uc-local-word", word.span, format!("`{}` has no effect on a local variable", word.text));
            self.report(error.warning());
        }
        let ty = self.type_ref()?;
        let names = self.list(Self::local_name)?;
        let message = "a local variable cannot be initialized where it is declared";
        self.no_assignment("uc-local-value", message, "assign it in a statement of its own")?;
        self.expect(Kind::Semicolon, "`;`", "after the local variable")?;
        Ok(Stmt { kind: StmtKind::Local(ty, names), span: self.since(start) })
    }

    fn local_name(&mut self) -> Read<VarName> {
        let name = self.ident("the name of the local variable")?;
        Ok(VarName { name, dim: self.dim()?, meta: None })
    }
}
