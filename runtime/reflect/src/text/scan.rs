//! Reads values from text. Each kind has one form; what is wrong is told with the part that is.

use std::collections::HashSet;
use std::fmt::Display;
use std::rc::Rc;
use std::str::FromStr;

use alcedo_abi::value::LazyRaw;
use alcedo_base::handles::{Name, ObjectHandle};

use super::{ParseError, fail, object};
use crate::names::Names;
use crate::property::PropertyType;
use crate::structs::StructType;
use crate::value::{Binding, LocalText, Value, is_latin_1};

/// The value that is all of the text.
pub(super) fn whole(text: &str, ty: &PropertyType, names: &Names) -> Result<Value, ParseError> {
    let mut scanner = Scanner { rest: text, names };
    let is_bracketed = |text: &str| text.starts_with(['"', '(']);
    match ty {
        // Only a text keeps the spaces around it.
        PropertyType::Text | PropertyType::Utf8Text | PropertyType::AnsiText | PropertyType::Name
            if !text.trim_start().starts_with('"') =>
        {
            plain_value(text, ty, names)
        }
        PropertyType::LocalText if !is_bracketed(text.trim_start()) => plain_value(text, ty, names),
        _ if is_plain(ty) => plain_value(text.trim(), ty, names),
        _ => {
            let value = scanner.value(ty)?;
            match scanner.rest.trim() {
                "" => Ok(value),
                more => Err(fail(more, ty, "it goes on behind the end of the value")),
            }
        }
    }
}

/// Whether values are one word, which ends at a comma or parenthesis.
fn is_plain(ty: &PropertyType) -> bool {
    ty.is_word() && !is_text(ty) || matches!(ty, PropertyType::LazyObject(_))
}

/// Whether values may be quoted.
fn is_text(ty: &PropertyType) -> bool {
    matches!(
        ty,
        PropertyType::Text
            | PropertyType::Utf8Text
            | PropertyType::AnsiText
            | PropertyType::LocalText
            | PropertyType::Name
            | PropertyType::FieldPath
            | PropertyType::SubclassOf(_)
            | PropertyType::SoftClass(_)
            | PropertyType::SoftObject(_)
    )
}

struct Scanner<'a> {
    rest: &'a str,
    names: &'a Names,
}

impl<'a> Scanner<'a> {
    fn value(&mut self, ty: &PropertyType) -> Result<Value, ParseError> {
        match ty {
            PropertyType::Struct(of) => self.structure(of, ty),
            PropertyType::LocalText if self.take("(") => self.translated(ty),
            _ if is_text(ty) && self.take("\"") => {
                let text = self.quoted(ty)?;
                text_value(&text, ty, self.names)
            }
            PropertyType::Array(of) => self.list(ty, |scanner| scanner.value(of.ty())).map(Value::Array),
            PropertyType::Set(of) => {
                let values = self.list(ty, |scanner| scanner.value(of.ty()))?;
                self.check_keys(ty, values.iter())?;
                Ok(Value::Set(values))
            }
            PropertyType::Map(of) => {
                let entries = self.list(ty, |scanner| {
                    scanner.expect("(", ty, "an entry is written as (key, value)")?;
                    let key = scanner.value(of.key())?;
                    scanner.expect(",", ty, "an entry is written as (key, value)")?;
                    let value = scanner.value(of.value())?;
                    scanner.expect(")", ty, "an entry is written as (key, value)")?;
                    Ok((key, value))
                })?;
                self.check_keys(ty, entries.iter().map(|(key, _)| key))?;
                Ok(Value::Map(entries))
            }
            PropertyType::Optional(of) => {
                if self.take("some(") {
                    let value = self.value(of.ty())?;
                    self.expect(")", ty, "a ) is missing")?;
                    return Ok(Value::Optional(Some(Box::new(value))));
                }
                match self.word() {
                    "none" => Ok(Value::Optional(None)),
                    other => Err(fail(other, ty, "write none or some(value)")),
                }
            }
            PropertyType::Delegate(_) => self.binding(ty).map(Value::Delegate),
            PropertyType::MulticastDelegate(_) => self.list(ty, |scanner| scanner.binding(ty)).map(Value::Multicast),
            PropertyType::SparseDelegate(_) => self.list(ty, |scanner| scanner.binding(ty)).map(Value::Sparse),
            _ => {
                let word = self.word();
                plain_value(word, ty, self.names)
            }
        }
    }

    fn structure(&mut self, of: &Rc<StructType>, ty: &PropertyType) -> Result<Value, ParseError> {
        if !self.take("(") {
            return Err(fail(self.rest, ty, "it does not start with (; write (x=1, y=2)"));
        }
        let Value::Struct(mut fields) = Value::initial(ty) else { unreachable!("a struct's value is a struct") };
        let mut seen = vec![false; fields.len()];
        while !self.take(")") {
            if seen.contains(&true) && !self.take(",") {
                return Err(fail(self.rest, ty, "a comma or ) is missing"));
            }
            let end = self.rest.find('=').ok_or_else(|| fail(self.rest, ty, "a field has no ="))?;
            let name = self.split(end).trim();
            self.rest = &self.rest[1..];
            let at = of.fields().iter().position(|field| &*field.text == name);
            let at = at.ok_or_else(|| fail(name, ty, "there is no such field"))?;
            if seen[at] {
                return Err(fail(name, ty, "the field is there twice"));
            }
            seen[at] = true;
            fields[at].1 = self.value(&of.fields()[at].ty)?;
        }
        Ok(Value::Struct(fields))
    }

    /// `(a, b, c)`.
    fn list<T>(
        &mut self,
        ty: &PropertyType,
        mut one: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.expect("(", ty, "it does not start with (; write (a, b)")?;
        let mut found = Vec::new();
        while !self.take(")") {
            if !found.is_empty() {
                self.expect(",", ty, "a comma or ) is missing")?;
            }
            found.push(one(self)?);
        }
        Ok(found)
    }

    fn check_keys<'v>(&self, ty: &PropertyType, keys: impl Iterator<Item = &'v Value>) -> Result<(), ParseError> {
        let mut seen = HashSet::new();
        for key in keys {
            if !seen.insert(key) {
                return Err(fail(&key.print(self.names), ty, "it is there twice"));
            }
        }
        Ok(())
    }

    /// What is behind the ( of a text with the names it is translated by.
    fn translated(&mut self, ty: &PropertyType) -> Result<Value, ParseError> {
        const FORM: &str = "write (\"text\", \"namespace\", \"key\")";
        let mut parts = [const { String::new() }; 3];
        for (at, part) in parts.iter_mut().enumerate() {
            if at != 0 {
                self.expect(",", ty, FORM)?;
            }
            self.expect("\"", ty, FORM)?;
            *part = self.quoted(ty)?;
        }
        self.expect(")", ty, FORM)?;
        let [shown, namespace, key] = parts;
        let (namespace, key) = (self.names.intern(&namespace), self.names.intern(&key));
        Ok(Value::LocalText(LocalText { shown, namespace, key }))
    }

    fn binding(&mut self, ty: &PropertyType) -> Result<Binding, ParseError> {
        const FORM: &str = "write none or #index.serial:function";
        self.rest = self.rest.trim_start();
        let end = self.rest.find([',', ')', ':']).unwrap_or(self.rest.len());
        let word = self.split(end).trim();
        let to = object(word).ok_or_else(|| fail(word, ty, FORM))?;
        if !self.take(":") {
            return if to.is_none() { Ok(Binding::default()) } else { Err(fail(word, ty, FORM)) };
        }
        let function = if self.take("\"") { self.quoted(ty)? } else { self.word().to_owned() };
        Ok(Binding { object: to, function: self.names.intern(&function) })
    }

    /// The text up to the closing quote, when the opening one was taken.
    fn quoted(&mut self, ty: &PropertyType) -> Result<String, ParseError> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, same @ ('"' | '\\'))) => text.push(same),
                    _ => return Err(fail(&self.rest[at..], ty, "after \\ there may be \" \\ n r t")),
                },
                letter => text.push(letter),
            }
        }
        Err(fail(self.rest, ty, "the closing quote is missing"))
    }

    /// Everything up to the next comma or parenthesis, without the spaces around it.
    fn word(&mut self) -> &'a str {
        self.split(self.rest.find([',', ')']).unwrap_or(self.rest.len())).trim()
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, token: &str, ty: &PropertyType, problem: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(fail(self.rest, ty, problem)) }
    }

    fn split(&mut self, end: usize) -> &'a str {
        let (head, rest) = self.rest.split_at(end);
        self.rest = rest;
        head
    }
}

fn plain_value(text: &str, ty: &PropertyType, names: &Names) -> Result<Value, ParseError> {
    match ty {
        PropertyType::U8 => number(text, ty).map(Value::U8),
        PropertyType::U16 => number(text, ty).map(Value::U16),
        PropertyType::U32 => number(text, ty).map(Value::U32),
        PropertyType::U64 => number(text, ty).map(Value::U64),
        PropertyType::I8 => number(text, ty).map(Value::I8),
        PropertyType::I16 => number(text, ty).map(Value::I16),
        PropertyType::I32 => number(text, ty).map(Value::I32),
        PropertyType::I64 => number(text, ty).map(Value::I64),
        PropertyType::F32 => {
            let value = number::<f32>(text, ty)?;
            if overflowed(text, value.into()) { Err(fail(text, ty, "it is too large")) } else { Ok(Value::F32(value)) }
        }
        PropertyType::F64 => {
            let value = number::<f64>(text, ty)?;
            if overflowed(text, value) { Err(fail(text, ty, "it is too large")) } else { Ok(Value::F64(value)) }
        }
        PropertyType::Bool => number(text, ty).map(Value::Bool),
        PropertyType::Object { .. } => handle(text, ty).map(Value::Object),
        PropertyType::WeakObject(_) => handle(text, ty).map(Value::WeakObject),
        PropertyType::ScriptInterface(_) => handle(text, ty).map(Value::ScriptInterface),
        PropertyType::LazyObject(_) => {
            lazy(text).map(Value::LazyObject).ok_or_else(|| fail(text, ty, "write none or 32 hexadecimal digits"))
        }
        PropertyType::SubclassOf(_)
        | PropertyType::SoftClass(_)
        | PropertyType::SoftObject(_)
        | PropertyType::FieldPath
            if text == "none" =>
        {
            Ok(Value::zero(ty))
        }
        other => text_value(text, other, names),
    }
}

/// A value of a kind that may be quoted, without its quotes.
fn text_value(text: &str, ty: &PropertyType, names: &Names) -> Result<Value, ParseError> {
    Ok(match ty {
        PropertyType::Text => Value::Text(text.to_owned()),
        PropertyType::Utf8Text => Value::Utf8(text.to_owned()),
        PropertyType::AnsiText if is_latin_1(text) => Value::Ansi(text.to_owned()),
        PropertyType::AnsiText => return Err(fail(text, ty, "it has letters beyond ISO 8859-1")),
        PropertyType::LocalText => {
            Value::LocalText(LocalText { shown: text.to_owned(), namespace: Name(0), key: Name(0) })
        }
        PropertyType::Name => Value::Name(names.intern(text)),
        PropertyType::SubclassOf(_) => Value::SubclassOf(names.intern(text)),
        PropertyType::SoftClass(_) => Value::SoftClass(names.intern(text)),
        PropertyType::SoftObject(_) => Value::SoftObject(names.intern(text)),
        PropertyType::FieldPath => Value::FieldPath(names.intern(text)),
        other => return Err(fail(text, other, "it is written otherwise")),
    })
}

fn number<T: FromStr<Err: Display>>(text: &str, ty: &PropertyType) -> Result<T, ParseError> {
    text.parse().map_err(|error: T::Err| fail(text, ty, error))
}

/// Whether a float became infinite though nobody wrote so.
fn overflowed(text: &str, value: f64) -> bool {
    value.is_infinite() && text.contains(|c: char| c.is_ascii_digit())
}

fn handle(text: &str, ty: &PropertyType) -> Result<ObjectHandle, ParseError> {
    object(text).ok_or_else(|| fail(text, ty, "write none or #index.serial"))
}

fn lazy(text: &str) -> Option<LazyRaw> {
    if text == "none" {
        return Some(LazyRaw::NONE);
    }
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let half = |part: &str| u64::from_str_radix(part, 16).ok();
    Some(LazyRaw { high: half(&text[..16])?, low: half(&text[16..])? })
}
