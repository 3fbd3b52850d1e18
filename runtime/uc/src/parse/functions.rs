//! Parses functions, operators and states. All three may have the same specifiers.

use std::cell::RefCell;

use super::items::{FUNCTION_SPECIFIERS, OPERATOR_KEYWORDS, PARAM_SPECIFIERS};
use super::{Parser, Read};
use crate::ast::{Function, FunctionKind, Ident, Item, OutsideKind, Param, TypeKind, TypeRef};
use crate::source::Span;
use crate::token::{Kind, Token};

impl Parser<'_> {
    pub(super) fn function_or_state(&mut self) -> Read<Item> {
        let start = self.peek();
        let doc = self.doc(start);
        let mut modifiers = Vec::new();
        loop {
            if self.is_one_of(0, &["function", "event"]) || self.is_one_of(0, OPERATOR_KEYWORDS) {
                break;
            }
            if self.is_word(0, "delegate") && self.peek_kind(1) != Kind::Lt {
                break;
            }
            if self.is_word(0, "state") {
                return self.state(start);
            }
            if self.is_one_of(0, FUNCTION_SPECIFIERS) {
                let word = self.modifier()?;
                // Skips the braces of specifiers such as `private{private}`, which exported headers contain.
                if self.peek().kind == Kind::BraceOpen {
                    self.skip_braces()?;
                }
                modifiers.push(word);
                continue;
            }
            let found = self.peek();
            if found.kind == Kind::Macro {
                self.macro_ahead()?;
            }
            return self.no_declaration(found);
        }
        let kind_keyword = self.modifier()?;
        let kind = match kind_keyword.name.text.to_ascii_lowercase().as_str() {
            "function" => FunctionKind::Function,
            "event" => FunctionKind::Event,
            "delegate" => FunctionKind::Delegate,
            _ => FunctionKind::Operator,
        };
        // Specifiers may follow the keyword: `function static …`, `event simulated …`.
        while self.is_one_of(0, FUNCTION_SPECIFIERS) && self.peek_kind(1) == Kind::Word {
            modifiers.push(self.modifier()?);
        }
        let has_no_result = self.peek_kind(1) == Kind::ParenOpen && kind != FunctionKind::Operator;
        let result = match kind {
            _ if has_no_result => None,
            // A `<` after the type name starts either type arguments or the operator symbol.
            FunctionKind::Operator if !self.generic_ahead() => {
                let name = self.ident("a type")?;
                Some(TypeRef { span: name.span, kind: TypeKind::Named(vec![name]) })
            }
            _ => Some(self.type_ref()?),
        };
        let name = if kind == FunctionKind::Operator {
            self.operator_sign()?
        } else {
            self.ident("the name of the function")?
        };
        self.expect(Kind::ParenOpen, "`(`", "after the name of the function")?;
        let params = self.list_before(Kind::ParenClose, Self::param)?;
        let close = self.expect(Kind::ParenClose, "`)`", "after the parameters")?;
        let mut trailing = Vec::new();
        while self.is_one_of(0, FUNCTION_SPECIFIERS) && !self.peek().on_new_line {
            trailing.push(self.modifier()?);
        }
        let span = start.span.to(close.span);
        let (body, end) = if self.peek().kind == Kind::BraceOpen {
            let (body, end) = self.body()?;
            (Some(body), end)
        } else {
            (None, self.expect(Kind::Semicolon, "`;` or `{`", "after the parameters")?.span)
        };
        let body = RefCell::new(body);
        Ok(Item::Function(Function {
            modifiers,
            kind,
            kind_keyword,
            result,
            name,
            params,
            trailing,
            body,
            doc,
            span,
            end,
        }))
    }

    pub(super) fn operator_sign(&mut self) -> Read<Ident> {
        let start = self.peek();
        while !matches!(self.peek().kind, Kind::ParenOpen | Kind::End | Kind::Semicolon | Kind::BraceOpen) {
            self.next();
        }
        let span = Span { start: start.span.start, end: self.last_end.max(start.span.start) };
        Ok(Ident { text: self.source.slice(span).to_owned(), span })
    }

    fn param(&mut self) -> Read<Param> {
        let mut modifiers = Vec::new();
        while self.is_one_of(0, PARAM_SPECIFIERS) && self.peek_kind(1) == Kind::Word && self.type_and_name_ahead(1)
            || self.is_unknown_specifier()
        {
            modifiers.push(self.modifier()?);
        }
        let ty = self.type_ref()?;
        let name = self.var_name("the name of the parameter")?;
        let default = if self.take(Kind::Assign).is_some() { Some(self.expression()?) } else { None };
        Ok(Param { modifiers, ty, name, default })
    }

    pub(super) fn state(&mut self, start: Token) -> Read<Item> {
        self.next();
        self.optional_parens()?;
        let name = self.ident("the name of the state")?;
        if self.is_one_of(0, &["extends", "expands"]) {
            self.next();
            self.ident("the name of the state that it extends")?;
        }
        let end = if self.peek().kind == Kind::BraceOpen {
            self.skip_braces()?
        } else {
            self.expect(Kind::Semicolon, "`{`", "after the state")?.span
        };
        Ok(self.outside(OutsideKind::State, start, end, Some(name)))
    }
}
