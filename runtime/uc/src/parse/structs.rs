//! Parses structs and enums declared in a class, in a struct, or inline.

use super::{Failed, Parser, Read};
use crate::ast::{Enum, Modifier, Struct, VarName};
use crate::token::Kind;

impl Parser<'_> {
    pub(super) fn structure(&mut self) -> Read<Struct> {
        let start = self.next();
        let doc = self.doc(start);
        let mut modifiers = Vec::new();
        while self.peek().kind == Kind::Word && !self.is_one_of(0, &["extends", "expands"]) {
            modifiers.push(self.modifier()?);
        }
        let Some(Modifier { name, .. }) = modifiers.pop() else {
            return self.ident("the name of the struct").and(Err(Failed));
        };
        let meta = self.meta()?;
        let base = if self.is_one_of(0, &["extends", "expands"]) {
            self.next();
            Some(self.dotted("the name of the struct that it extends")?)
        } else {
            None
        };
        self.expect(Kind::BraceOpen, "`{`", "after the name of the struct")?;
        let (mut items, mut is_partial) = (Vec::new(), false);
        loop {
            let token = self.peek();
            match token.kind {
                Kind::BraceClose => {
                    self.next();
                    break;
                }
                Kind::End => {
                    return self.refuse(name.span, format!("the struct `{}` does not end", name.text));
                }
                Kind::Semicolon => {
                    self.next();
                }
                _ => {
                    if self.is_one_of(0, &["function", "event", "class", "state"]) {
                        return self.fail(self.misplaced(token, "is not allowed in a struct"));
                    }
                    match self.item() {
                        Ok(item) => items.push(item),
                        Err(Failed) => {
                            // Skips past the next semicolon. Stops before the closing brace.
                            self.skip_until(|_| false, |_, _| false);
                            is_partial = true;
                        }
                    }
                    self.ensure_progress(token.span.start);
                }
            }
        }
        let span = start.span.to(name.span);
        Ok(Struct { modifiers, name, meta, base, items, is_partial, doc, span })
    }

    pub(super) fn enumeration(&mut self) -> Read<Enum> {
        let start = self.next();
        let doc = self.doc(start);
        let name = self.ident("the name of the enum")?;
        let of_enum = self.meta()?;
        self.expect(Kind::BraceOpen, "`{`", "after the name of the enum")?;
        let mut entries = Vec::new();
        while self.peek().kind != Kind::BraceClose {
            if self.take(Kind::Comma).is_some() {
                continue;
            }
            let entry = self.ident("the name of an entry")?;
            if let Some(here) = self.take(Kind::Assign) {
                let error = self.error("uc-enum-number", here.span, "entries of an enum have no numbers of their own");
                self.report(
                    error.hint("the first entry is 0, and each further entry is one more than the previous entry"),
                );
                self.expression()?;
            }
            let meta = self.meta()?;
            entries.push(VarName { name: entry, dim: None, meta });
            if self.peek().kind != Kind::BraceClose {
                self.expect(Kind::Comma, "`,`", "after the entry")?;
            }
        }
        self.next();
        let span = start.span.to(name.span);
        Ok(Enum { name, meta: of_enum, entries, doc, span })
    }
}
