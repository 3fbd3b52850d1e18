//! Values as text, in both directions: defaults are declared so, reports show them so, people edit them so.

use std::fmt::Display;
use std::rc::Rc;
use std::str::FromStr;

use crate::handles::ObjectHandle;
use crate::object::names::Names;
use crate::object::path::is_identifier;
use crate::object::property::PropertyType;
use crate::object::structs::StructType;
use crate::object::value::Value;

/// A text that is no value of the type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no {wanted}: {problem}")]
pub struct ParseError {
    /// The text, or the part of it that is wrong.
    pub text: String,
    /// The type.
    pub wanted: String,
    /// What is wrong, and the right form.
    pub problem: String,
}

impl Value {
    /// The value as text that [`Value::parse`] reads back: numbers and `true` plain, texts quoted, `none` or
    /// `#index.serial` for objects, structs as `(x=1, y=2)`.
    pub fn print(&self, names: &Names) -> String {
        match self {
            Self::U8(value) => value.to_string(),
            Self::U16(value) => value.to_string(),
            Self::U32(value) => value.to_string(),
            Self::U64(value) => value.to_string(),
            Self::I8(value) => value.to_string(),
            Self::I16(value) => value.to_string(),
            Self::I32(value) => value.to_string(),
            Self::I64(value) => value.to_string(),
            Self::F32(value) => value.to_string(),
            Self::F64(value) => value.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Object(value) => value.to_string(),
            Self::Text(text) => quote(text),
            Self::Name(name) => {
                let text = names.text(*name);
                if is_identifier(&text) { text.to_string() } else { quote(&text) }
            }
            Self::Struct(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, value)| format!("{name}={}", value.print(names))).collect();
                format!("({})", fields.join(", "))
            }
        }
    }

    /// Reads a value. Texts and names may stand plain, with everything up to the end (in a struct: up to the next comma
    /// or parenthesis) belonging to them, or quoted with `\" \\ \n \r \t`. Fields that a struct's text leaves out have
    /// their defaults.
    ///
    /// # Errors
    /// [`ParseError`] when the text is no such value.
    pub fn parse(text: &str, ty: &PropertyType, names: &Names) -> Result<Self, ParseError> {
        let mut scanner = Scanner { rest: text, names };
        match ty {
            PropertyType::Text | PropertyType::Name if !text.trim_start().starts_with('"') => {
                plain_value(text, ty, names)
            }
            PropertyType::Text | PropertyType::Name | PropertyType::Struct(_) => {
                let value = scanner.value(ty)?;
                match scanner.rest.trim() {
                    "" => Ok(value),
                    more => Err(fail(more, ty, "it goes on behind the end of the value")),
                }
            }
            _ => plain_value(text.trim(), ty, names),
        }
    }
}

struct Scanner<'a> {
    rest: &'a str,
    names: &'a Names,
}

impl<'a> Scanner<'a> {
    fn value(&mut self, ty: &PropertyType) -> Result<Value, ParseError> {
        match ty {
            PropertyType::Struct(of) => self.structure(of, ty),
            PropertyType::Text | PropertyType::Name if self.take("\"") => {
                let text = self.quoted(ty)?;
                plain_value(&text, ty, self.names)
            }
            _ => {
                let end = self.rest.find([',', ')']).unwrap_or(self.rest.len());
                plain_value(self.split(end).trim(), ty, self.names)
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

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
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
        PropertyType::Text => Ok(Value::Text(text.to_owned())),
        PropertyType::Name => Ok(Value::Name(names.intern(text))),
        PropertyType::Object { .. } => {
            object(text).map(Value::Object).ok_or_else(|| fail(text, ty, "write none or #index.serial"))
        }
        PropertyType::Struct(_) => Err(fail(text, ty, "write (x=1, y=2)")),
    }
}

fn number<T: FromStr<Err: Display>>(text: &str, ty: &PropertyType) -> Result<T, ParseError> {
    text.parse().map_err(|error: T::Err| fail(text, ty, error))
}

/// Whether a float became infinite though nobody wrote so.
fn overflowed(text: &str, value: f64) -> bool {
    value.is_infinite() && text.contains(|c: char| c.is_ascii_digit())
}

fn object(text: &str) -> Option<ObjectHandle> {
    if text == "none" {
        return Some(ObjectHandle::NONE);
    }
    let (index, serial) = text.strip_prefix('#')?.split_once('.')?;
    Some(ObjectHandle::new(index.parse().ok()?, serial.parse().ok().filter(|&serial| serial != 0)?))
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}

fn fail(text: &str, ty: &PropertyType, problem: impl Display) -> ParseError {
    ParseError { text: text.to_owned(), wanted: ty.to_string(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::{PropertyType, Value};
    use crate::object::decl::PropertyDecl;
    use crate::object::names::Names;
    use crate::object::testing::structure;

    fn check(ty: &PropertyType, text: &str, expected: &str) {
        let names = Names::new();
        let shown = match Value::parse(text, ty, &names) {
            Ok(value) => {
                let printed = value.print(&names);
                assert_eq!(Value::parse(&printed, ty, &names), Ok(value), "{printed} reads back");
                printed
            }
            Err(error) => format!("! {error}"),
        };
        assert_eq!(shown, expected, "{text}");
    }

    fn limits() -> PropertyType {
        let point = structure(
            "Point",
            &[PropertyDecl::new("x", PropertyKind::F64), {
                PropertyDecl::new("y", PropertyKind::F64).with_default("4")
            }],
        );
        PropertyType::Struct(structure(
            "Limits",
            &[
                PropertyDecl::new("from", PropertyKind::STRUCT).of_type(&point.path),
                PropertyDecl::new("label", PropertyKind::STRING),
                PropertyDecl::new("tag", PropertyKind::NAME),
                PropertyDecl::new("on", PropertyKind::BOOL).with_default("true"),
            ],
        ))
    }

    #[test]
    fn numbers_are_read_in_their_range() {
        check(&PropertyType::U8, " 255 ", "255");
        check(&PropertyType::U8, "256", "! `256` is no u8: number too large to fit in target type");
        check(&PropertyType::U32, "-1", "! `-1` is no u32: invalid digit found in string");
        check(&PropertyType::I8, "-128", "-128");
        check(&PropertyType::I64, "-9223372036854775808", "-9223372036854775808");
        check(&PropertyType::U64, "18446744073709551615", "18446744073709551615");
        check(&PropertyType::F64, "180.0", "180");
        check(&PropertyType::F64, "0.1", "0.1");
        check(&PropertyType::F64, "-inf", "-inf");
        check(&PropertyType::F64, "NaN", "NaN");
        check(&PropertyType::F64, "1e999", "! `1e999` is no f64: it is too large");
        check(&PropertyType::F32, "1e39", "! `1e39` is no f32: it is too large");
        check(&PropertyType::F64, "fast", "! `fast` is no f64: invalid float literal");
        check(&PropertyType::Bool, "true", "true");
        check(&PropertyType::Bool, "1", "! `1` is no bool: provided string was not `true` or `false`");
    }

    #[test]
    fn texts_and_names_are_plain_or_quoted() {
        check(&PropertyType::Text, "two words, (here)", "\"two words, (here)\"");
        check(&PropertyType::Text, " spaces ", "\" spaces \"");
        check(&PropertyType::Text, r#" "a \"b\"\n\t\\ c" "#, r#""a \"b\"\n\t\\ c""#);
        check(&PropertyType::Text, "\"open", "! `open` is no String: the closing quote is missing");
        check(&PropertyType::Text, "\"a\" b", "! `b` is no String: it goes on behind the end of the value");
        check(&PropertyType::Text, r#""\q""#, "! `\\q\"` is no String: after \\ there may be \" \\ n r t");
        check(&PropertyType::Name, "\"cube\"", "cube");
        check(&PropertyType::Name, "a b", "\"a b\"");
        check(&PropertyType::Name, "", "\"\"");
    }

    #[test]
    fn an_object_is_none_or_a_handle() {
        let ty = PropertyType::Object { class: "/Script/A.B".into() };
        check(&ty, "none", "none");
        check(&ty, "#3.9", "#3.9");
        check(&ty, "#3.0", "! `#3.0` is no Object(/Script/A.B): write none or #index.serial");
        check(&ty, "cube", "! `cube` is no Object(/Script/A.B): write none or #index.serial");
    }

    #[test]
    fn a_struct_has_fields_and_the_missing_ones_their_defaults() {
        let ty = limits();
        check(&ty, "()", r#"(from=(x=0, y=4), label="", tag="", on=true)"#);
        check(
            &ty,
            r#" ( label = two words , on=false,from=( x=1.5 ),tag="c)d" ) "#,
            r#"(from=(x=1.5, y=4), label="two words", tag="c)d", on=false)"#,
        );
        check(&ty, "(z=1)", "! `z` is no /Script/Test.Limits: there is no such field");
        check(&ty, "(on=true, on=true)", "! `on` is no /Script/Test.Limits: the field is there twice");
        check(&ty, "(from=(x=1) label=a)", "! ` label=a)` is no /Script/Test.Limits: a comma or ) is missing");
        check(&ty, "(on)", "! `on)` is no /Script/Test.Limits: a field has no =");
        check(&ty, "1", "! `1` is no /Script/Test.Limits: it does not start with (; write (x=1, y=2)");
        check(&ty, "(from=(x=one))", "! `one` is no f64: invalid float literal");
        check(&ty, "(on=true", "! `` is no /Script/Test.Limits: a comma or ) is missing");
    }
}
