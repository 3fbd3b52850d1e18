//! Parses types, and metadata between `<` and `>` after names.

use super::items::VAR_SPECIFIERS;
use super::{Parser, Read};
use crate::ast::{TypeKind, TypeRef};
use crate::token::Kind;

impl Parser<'_> {
    /// Parses metadata between `<` and `>`. The metadata is arbitrary text.
    pub(super) fn meta(&mut self) -> Read<Option<String>> {
        let open = self.peek();
        if !matches!(open.kind, Kind::Lt | Kind::Le | Kind::Shl) {
            return Ok(None);
        }
        let start = open.span.start as usize + 1;
        let Some(len) = self.source.text.get(start..).and_then(end_of_meta) else {
            return self.refuse(open.span, "this `<` is not closed");
        };
        self.tokens.seek(start + len + 1);
        self.last_end = (start + len + 1) as u32;
        let parts: Vec<_> = self.source.text[start..start + len].split_whitespace().collect();
        Ok(Some(parts.join(" ")))
    }

    /// Returns true if the next tokens begin a type with type arguments.
    pub(super) fn generic_ahead(&mut self) -> bool {
        self.peek_kind(1) == Kind::Lt && self.is_one_of(0, &["array", "class", "map", "set", "delegate", "optional"])
    }

    /// Parses `[32]` after `string`, and reports it as an error. Only the first version of Unreal had this syntax.
    fn text_length(&mut self) -> Read<()> {
        let open = self.next();
        let _ = self.expression()?;
        let close = self.expect(Kind::BracketClose, "`]`", "after the length of the text")?;
        let message = "strings of a fixed length are outside of the language";
        let error = self.error("uc-text-length", open.span.to(close.span), message);
        self.report(error.hint("write `string`: its length is dynamic"));
        Ok(())
    }

    pub(super) fn type_ref(&mut self) -> Read<TypeRef> {
        self.deeper(Self::type_here)
    }

    pub(super) fn type_here(&mut self) -> Read<TypeRef> {
        let start = self.peek();
        if self.is_word(0, "struct") {
            let found = self.structure()?;
            return Ok(TypeRef { span: found.span, kind: TypeKind::Struct(Box::new(found)) });
        }
        if self.is_word(0, "enum") {
            let found = self.enumeration()?;
            return Ok(TypeRef { span: found.span, kind: TypeKind::Enum(Box::new(found)) });
        }
        if self.is_word(0, "delegate") && self.peek_kind(1) == Kind::Lt {
            self.next();
            self.next();
            let path = self.dotted("the name of the delegate")?;
            let end = self.close_angle("after the delegate")?;
            return Ok(TypeRef { kind: TypeKind::Delegate(path), span: start.span.to(end.span) });
        }
        let name = self.ident("a type")?;
        if self.take(Kind::Lt).is_some() {
            let of = self.list(Self::inner_type)?;
            self.close_angle("after the type")?;
            return Ok(TypeRef { kind: TypeKind::Generic(name, of), span: self.since(start) });
        }
        if self.peek().kind == Kind::BraceOpen && name.is("map") {
            let _ = self.skip_braces();
            let error =
                self.error("uc-native-map", name.span, "`map{…}` is a type of C++, which is outside of the language");
            return self.fail(error.hint("write `map<Key, Value>`"));
        }
        if self.peek().kind == Kind::BracketOpen && name.is("string") {
            self.text_length()?;
        }
        let names = self.dotted_behind(name, "a type")?;
        Ok(TypeRef { kind: TypeKind::Named(names), span: self.since(start) })
    }

    /// Parses a type argument. Skips editor specifiers before the type.
    pub(super) fn inner_type(&mut self) -> Read<TypeRef> {
        while self.is_one_of(0, VAR_SPECIFIERS) && self.peek_kind(1) == Kind::Word {
            self.next();
        }
        self.type_ref()
    }
}

/// Returns the offset at which metadata ends. Ignores a `>` inside a string that begins and ends on one line.
fn end_of_meta(rest: &str) -> Option<usize> {
    let mut in_text = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            '\n' if in_text => break,
            '"' => in_text = !in_text,
            '>' if !in_text => return Some(at),
            _ => {}
        }
    }
    rest.find('>')
}
