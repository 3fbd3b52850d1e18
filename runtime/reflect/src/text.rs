//! Prints and parses values as text, for declared defaults, reports and editing.

pub(crate) mod scan;

use std::fmt::Display;
use std::str::FromStr;

use alcedo_abi::names::shows_itself;
use alcedo_base::escape::line;
use alcedo_base::handles::{Name, ObjectHandle};

use crate::names::Names;
use crate::path::is_identifier;
use crate::property::PropertyType;

/// Error for text that is not a valid value of a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{}` is not a valid {expected}: {problem}", line(text))]
pub struct ParseError {
    /// Parsed text, or its invalid section.
    pub text: String,
    /// Name of the expected type.
    pub expected: String,
    /// Description of the problem, and the correct form.
    pub problem: String,
}

/// Formats printed values as a list in parentheses. Containers and structs are printed in this form.
pub fn listed(parts: impl Iterator<Item = String>) -> String {
    format!("({})", parts.collect::<Vec<_>>().join(", "))
}

pub(crate) fn print_name(name: Name, names: &Names) -> String {
    let text = names.text(name);
    if is_identifier(&text) && text.chars().all(shows_itself) { text.to_string() } else { quote(&text) }
}

pub(crate) fn print_path(path: Name, names: &Names) -> String {
    let text = names.text(path);
    let is_plain =
        |letter: char| letter.is_alphanumeric() && shows_itself(letter) || matches!(letter, '_' | '/' | '.' | ':');
    match &*text {
        "" => "none".to_owned(),
        plain if plain != "none" && plain.chars().all(is_plain) => plain.to_owned(),
        other => quote(other),
    }
}

/// Parses a value with [`FromStr`].
pub(crate) fn parsed<T: FromStr<Err: Display>>(text: &str, ty: &PropertyType) -> Result<T, ParseError> {
    text.parse().map_err(|error: T::Err| fail(text, ty, error))
}

pub(crate) fn object(text: &str) -> Option<ObjectHandle> {
    if text == "none" {
        return Some(ObjectHandle::NONE);
    }
    let (index, serial) = text.strip_prefix('#')?.split_once('.')?;
    Some(ObjectHandle::new(index.parse().ok()?, serial.parse().ok().filter(|&serial| serial != 0)?))
}

/// Formats a string in quotation marks, with escapes that [`Value::parse`](crate::value::Value::parse) accepts.
pub fn quote(text: &str) -> String {
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

pub(crate) fn fail(text: &str, ty: &PropertyType, problem: impl Display) -> ParseError {
    ParseError { text: text.to_owned(), expected: ty.to_string(), problem: problem.to_string() }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use alcedo_base::escape::printable;
    use alcedo_base::handles::ObjectHandle;

    use super::PropertyType;
    use crate::decl::PropertyDecl;
    use crate::names::Names;
    use crate::testing::{Dice, fuzz, structure, type_of};
    use crate::value::{Binding, LocalText, Value};

    fn check(ty: &PropertyType, text: &str, expected: &str) {
        let names = Names::default();
        let result = match Value::parse(text, ty, &names) {
            Ok(value) => {
                let printed = value.print(&names);
                assert_eq!(Value::parse(&printed, ty, &names), Ok(value), "{printed} reads back");
                printed
            }
            Err(error) => format!("! {error}"),
        };
        assert_eq!(result, expected, "{text}");
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
        check(&PropertyType::U8, "256", "! `256` is not a valid u8: number too large to fit in target type");
        check(&PropertyType::U32, "-1", "! `-1` is not a valid u32: invalid digit found in string");
        check(&PropertyType::I8, "-128", "-128");
        check(&PropertyType::I64, "-9223372036854775808", "-9223372036854775808");
        check(&PropertyType::U64, "18446744073709551615", "18446744073709551615");
        check(&PropertyType::F64, "180.0", "180");
        check(&PropertyType::F64, "0.1", "0.1");
        check(&PropertyType::F64, "-inf", "-inf");
        check(&PropertyType::F64, "NaN", "NaN");
        check(&PropertyType::F64, "1e999", "! `1e999` is not a valid f64: it is too large");
        check(&PropertyType::F32, "1e39", "! `1e39` is not a valid f32: it is too large");
        check(&PropertyType::F64, "fast", "! `fast` is not a valid f64: invalid float literal");
        check(&PropertyType::Bool, "true", "true");
        check(&PropertyType::Bool, "1", "! `1` is not a valid bool: provided string was not `true` or `false`");
    }

    #[test]
    fn strings_and_names_are_plain_or_quoted() {
        check(&PropertyType::Text, "two words, (here)", "\"two words, (here)\"");
        check(&PropertyType::Text, " spaces ", "\" spaces \"");
        check(&PropertyType::Text, r#" "a \"b\"\n\t\\ c" "#, r#""a \"b\"\n\t\\ c""#);
        check(&PropertyType::Text, "\"open", "! `open` is not a valid String: the closing quote is missing");
        check(&PropertyType::Text, "\"a\" b", "! `b` is not a valid String: it continues after the end of the value");
        check(
            &PropertyType::Text,
            r#""\q""#,
            "! `\\q\"` is not a valid String: after \\ there may be \" \\ n r t 0 or u with the number of a letter, as in \\u{7f}",
        );
        check(&PropertyType::Text, r#""\u{7F}\0\u{1f600}""#, "\"\u{7f}\0\u{1f600}\"");
        for wrong in [r"\u7f", r"\u{", r"\u{g}", r"\u{d800}", r"\u{110000}", r"\u{fffffffff}"] {
            assert!(Value::parse(&format!("\"{wrong}\""), &PropertyType::Text, &Names::default()).is_err(), "{wrong}");
        }
        check(&PropertyType::Name, "\"cube\"", "cube");
        check(&PropertyType::Name, "a b", "\"a b\"");
        check(&PropertyType::Name, "", "\"\"");
    }

    #[test]
    fn character_numbers_do_not_wrap() {
        let read = |text: &str| Value::parse(text, &PropertyType::Text, &Names::default());
        assert!(read("\"\\u{41}\"").is_ok());
        assert!(read("\"\\u{100000041}\"").is_err());
    }

    /// Returns a few random characters. Some are invisible, and some have a meaning in the syntax of values.
    fn any_text(dice: &mut Dice) -> String {
        const LETTERS: &str = "ab9 \"\\(),=:/.#\n\r\t'{}un0\0\u{7f}\u{9b}\u{85}\u{a0}\u{ad}\u{200b}\u{202e}\u{feff}\u{3164}\u{301}\u{e0001}日😀";
        let letters: Vec<char> = LETTERS.chars().collect();
        (0..dice.roll(6)).map(|_| letters[dice.roll(letters.len())]).collect()
    }

    #[test]
    fn a_printed_value_reads_back_also_from_a_terminal() {
        let names = Names::default();
        fuzz(20_000, |dice| {
            let text = any_text(dice);
            let (name, key) = (names.intern(&any_text(dice)), names.intern(&any_text(dice)));
            let object = ObjectHandle::new(3, 9);
            let (ty, value) = match dice.roll(7) {
                0 => ("String", Value::Text(text)),
                1 => ("Name", Value::Name(name)),
                2 => ("Text", Value::LocalText(LocalText { display: text, namespace: name, key })),
                3 => ("Array(String)", Value::Array(vec![Value::Text(text), Value::Text(any_text(dice))])),
                4 => ("Map(Name, String)", Value::Map(vec![(Value::Name(name), Value::Text(text))])),
                5 => ("Delegate()", Value::Delegate(Binding { object, function: name })),
                _ => (
                    "Optional(SoftObject(/Script/Engine.Object))",
                    Value::Optional(Some(Box::new(Value::SoftObject(name)))),
                ),
            };
            let (ty, printed) = (type_of(ty), value.print(&names));
            for input in [&*printed, &*printable(&printed)] {
                assert_eq!(Value::parse(input, &ty, &names).as_ref(), Ok(&value), "{input}");
            }
        });
    }

    #[test]
    fn objects_print_as_none_or_a_handle() {
        let ty = PropertyType::Object { class: "/Script/A.B".into() };
        check(&ty, "none", "none");
        check(&ty, "#3.9", "#3.9");
        check(&ty, "#3.0", "! `#3.0` is not a valid Object(/Script/A.B): write none or #index.serial");
        check(&ty, "cube", "! `cube` is not a valid Object(/Script/A.B): write none or #index.serial");
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
        check(&ty, "(z=1)", "! `z` is not a valid /Script/Test.Limits: unknown field");
        check(&ty, "(on=true, on=true)", "! `on` is not a valid /Script/Test.Limits: the field occurs twice");
        check(&ty, "(from=(x=1) label=a)", "! ` label=a)` is not a valid /Script/Test.Limits: a comma or ) is missing");
        check(&ty, "(on)", "! `on)` is not a valid /Script/Test.Limits: a field has no =");
        check(&ty, "1", "! `1` is not a valid /Script/Test.Limits: it does not start with (; write (x=1, y=2)");
        check(&ty, "(from=(x=one))", "! `one` is not a valid f64: invalid float literal");
        check(&ty, "(on=true", "! `` is not a valid /Script/Test.Limits: a comma or ) is missing");
    }

    fn check_type(ty: &str, text: &str, expected: &str) {
        check(&type_of(ty), text, expected);
    }

    #[test]
    fn strings_keep_characters_and_translation() {
        check(&PropertyType::Utf8Text, "größer, als", "\"größer, als\"");
        check(&PropertyType::AnsiText, "größer", "\"größer\"");
        check(&PropertyType::AnsiText, "日本", "! `日本` is not a valid AnsiString: it has letters beyond ISO 8859-1");
        check(&PropertyType::LocalText, " Open me", "\" Open me\"");
        check(&PropertyType::LocalText, "\"Open\"", "\"Open\"");
        check(&PropertyType::LocalText, r#"("Open" , "menu","open")"#, r#"("Open", "menu", "open")"#);
        let form = "write (\"text\", \"namespace\", \"key\")";
        check(&PropertyType::LocalText, "(\"Open\")", &format!("! `)` is not a valid Text: {form}"));
    }

    #[test]
    fn references_print_as_none_or_their_target() {
        const OBJECT: &str = "/Script/Engine.Object";
        for kind in ["SubclassOf", "SoftClass", "SoftObject"] {
            let ty = format!("{kind}({OBJECT})");
            check_type(&ty, "none", "none");
            check_type(&ty, " /Script/A.B ", "/Script/A.B");
            check_type(&ty, "\"/World/a, b\"", "\"/World/a, b\"");
            check_type(&ty, "\"none\"", "\"none\"");
        }
        check_type("FieldPath", "/Script/A.B:c", "/Script/A.B:c");
        check_type(&format!("WeakObject({OBJECT})"), "#3.9", "#3.9");
        check_type("ScriptInterface(/Script/Engine.Sings)", "none", "none");
        let lazy = format!("LazyObject({OBJECT})");
        check_type(&lazy, "none", "none");
        check_type(&lazy, "0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcdef");
        check_type(&lazy, "12", &format!("! `12` is not a valid {lazy}: write none or 32 hexadecimal digits"));
        check_type(
            &lazy,
            &"ü".repeat(16),
            &format!("! `{}` is not a valid {lazy}: write none or 32 hexadecimal digits", "ü".repeat(16)),
        );
    }

    #[test]
    fn containers_are_lists_in_parentheses() {
        check_type("Array(i32)", " ( 1,2 , -3 ) ", "(1, 2, -3)");
        check_type("Array(i32)", "()", "()");
        check_type("Array(String)", "(a b, \"c, d\")", "(\"a b\", \"c, d\")");
        check_type("Array(Array(u8))", "((1), (), (2, 3))", "((1), (), (2, 3))");
        check_type("Array(/Script/Test.Point)", "((x=1), ())", "((x=1, y=4), (x=0, y=4))");
        check_type("Array(i32)", "1, 2", "! `1, 2` is not a valid Array(i32): it does not start with (; write (a, b)");
        check_type("Array(i32)", "(1, two)", "! `two` is not a valid i32: invalid digit found in string");
        check_type("Array(i32)", "(1", "! `` is not a valid Array(i32): a comma or ) is missing");
        check_type("Array(i32)", "(1) 2", "! `2` is not a valid Array(i32): it continues after the end of the value");
        check_type("Set(Name)", "(b, a)", "(b, a)");
        check_type("Set(Name)", "(a, a)", "! `a` is not a valid Set(Name): it occurs twice");
        check_type("Map(String, i32)", "((a, 1), (b, 2))", "((\"a\", 1), (\"b\", 2))");
        check_type("Map(u8, u8)", "((1, 2), (1, 3))", "! `1` is not a valid Map(u8, u8): it occurs twice");
        check_type("Map(u8, u8)", "((1))", "! `))` is not a valid Map(u8, u8): an entry is written as (key, value)");
        check_type("Optional(Array(u8))", "some((1, 2))", "some((1, 2))");
        check_type("Optional(Optional(u8))", "some(none)", "some(none)");
        check_type("Optional(u8)", "none", "none");
        check_type("Optional(u8)", "1", "! `1` is not a valid Optional(u8): write none or some(value)");
    }

    #[test]
    fn delegates_are_functions_of_objects() {
        check_type("Delegate()", "none", "none");
        check_type("Delegate()", "#1.2:open", "#1.2:open");
        check_type("Delegate()", "#1.2:\"a b\"", "#1.2:\"a b\"");
        check_type("Delegate()", "#1.2", "! `#1.2` is not a valid Delegate(): write none or #index.serial:function");
        check_type("MulticastDelegate(u8)", "(#1.2:open, #3.4:shut)", "(#1.2:open, #3.4:shut)");
        check_type("SparseDelegate()", "()", "()");
        check_type("Array(Delegate())", "(none, #1.2:open)", "(none, #1.2:open)");
    }
}
