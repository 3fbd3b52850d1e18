//! Parses random mutations of strings from external sources: values, types, signatures, paths and ZCall names. Parsing must not panic or
//! take long. The printed form of a parsed value must parse to an equal value. A failure prints the seed and the round, so that the failure
//! can be repeated.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use super::Signature;
use crate::boundary::CallError;
use crate::bridge::protocols::built_in;
use crate::object::names::Names;
use crate::object::path::{MemberPath, TypePath};
use crate::object::testing::{Dice, fuzz, type_of};
use crate::object::type_text::{SignatureText, TypeText};
use crate::object::value::Value;
use crate::zcall::name::ZCallName;

#[derive(PartialEq, Debug)]
struct BuiltIn(ZCallName);

impl FromStr for BuiltIn {
    type Err = CallError;

    fn from_str(text: &str) -> Result<Self, CallError> {
        built_in().read(text).map(Self)
    }
}

impl Display for BuiltIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Display::fmt(&self.0, f)
    }
}

/// Tokens of the parsed languages, and other characters.
const PIECES: [&str; 44] = [
    "(",
    ")",
    ",",
    " ",
    "\"",
    "\\",
    "=",
    ":",
    ".",
    "/",
    "#",
    "%",
    "-",
    ">",
    "->",
    "none",
    "some(",
    "true",
    "u8",
    "f64",
    "String",
    "Array(",
    "Map(",
    "Set(",
    "Optional(",
    "Delegate(",
    "Object(",
    "/Script/Engine.Object",
    "/Script/Test.Point",
    "x=1",
    "1",
    "256",
    "-0",
    "NaN",
    "1e999",
    "\0",
    "\n",
    "\u{1b}[2J",
    "\u{202e}",
    "é",
    "日",
    "𝄞",
    "uf:",
    "\u{301}",
];

/// Returns a mutation of one of `seeds`.
fn mutant(dice: &mut Dice, seeds: &[String]) -> String {
    let mut text: Vec<char> = seeds[dice.roll(seeds.len())].chars().collect();
    for _ in 0..1 + dice.roll(4) {
        let at = dice.roll(text.len() + 1);
        let end = (at + dice.roll(6)).min(text.len());
        match dice.roll(5) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..end, PIECES[dice.roll(PIECES.len())].chars())),
            2 => {
                let copy = text[at..end].to_vec();
                for _ in 0..1 + dice.roll(40) {
                    text.splice(at..at, copy.iter().copied());
                }
            }
            3 => {
                let other: Vec<char> = seeds[dice.roll(seeds.len())].chars().collect();
                let from = dice.roll(other.len() + 1);
                text.splice(at..end, other[from..].iter().copied());
            }
            _ => text.truncate(at),
        }
    }
    text.into_iter().collect()
}

/// Checks that an error message is one line without control characters, for any parsed string.
fn check_error(error: &impl Display, text: &str) {
    let message = error.to_string();
    assert!(!message.contains(char::is_control) && message.len() < 2000, "{text:?}: {message:?}");
}

fn check<T: FromStr<Err: Display> + Display + PartialEq + Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(read) => match read.to_string().parse::<T>() {
            Ok(again) => assert_eq!(read, again, "{text:?}"),
            Err(error) => panic!("{text:?} reads, and {read} does not: {error}"),
        },
        Err(error) => check_error(&error, text),
    }
}

fn owned(strings: &[&str]) -> Vec<String> {
    strings.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn no_input_breaks_the_type_path_and_call_parsers() {
    let seeds = owned(&[
        "Map(String, Array(Object(/Script/A.B)))",
        "Delegate(f32, Set(u8) -> Optional(/Script/A.S))",
        "MulticastDelegate()",
        "f64, Array(String), Object(/Script/P.C) -> /Script/P.S",
        "-> u64",
        "/Script/Engine.Actor",
        "/Script/Engine.Actor:receive_tick",
        "ex:/math.add",
        "uf://Script/Engine.Actor:Tick",
        "uf!:/Script/Engine.Actor:Tick",
        "up:/Script/Engine.Actor:seed",
        "nm:/reports:Game.Report:render",
        "nd:/",
    ]);
    fuzz(20_000, |dice| {
        let text = mutant(dice, &seeds);
        check::<TypeText>(&text);
        check::<SignatureText>(&text);
        check::<TypePath>(&text);
        check::<MemberPath>(&text);
        check::<BuiltIn>(&text);
        if let Ok(signature) = text.parse::<Signature>() {
            let again: Signature = signature.to_string().parse().unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(signature.fingerprint(), again.fingerprint(), "{text:?}");
        }
    });
}

#[test]
fn no_input_breaks_the_value_parser() {
    const OBJECT: &str = "/Script/Engine.Object";
    let types: Vec<_> = [
        "u8",
        "i16",
        "u32",
        "u64",
        "i64",
        "f32",
        "f64",
        "bool",
        "String",
        "Utf8String",
        "AnsiString",
        "Name",
        "Text",
        "FieldPath",
        "/Script/Test.Point",
        "Array(i32)",
        "Array(/Script/Test.Point)",
        "Set(Name)",
        "Set(f64)",
        "Map(String, Array(u8))",
        "Map(Text, Optional(Name))",
        "Optional(Optional(String))",
        "Delegate()",
        "MulticastDelegate(u8)",
        "SparseDelegate()",
        "Array(Map(u8, Set(AnsiString)))",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain(
        ["Object", "SubclassOf", "SoftClass", "SoftObject", "LazyObject", "WeakObject"]
            .map(|kind| format!("{kind}({OBJECT})")),
    )
    .chain([format!("Array(SoftObject({OBJECT}))"), format!("Map(SubclassOf({OBJECT}), LazyObject({OBJECT}))")])
    .map(|words| type_of(&words))
    .collect();
    let seeds = owned(&[
        "255",
        "-1.5e300",
        "true",
        "\"a \\\"b\\\"\\n\\t\\\\ c\"",
        "(\"Open\", \"menu\", \"open\")",
        "/Script/Engine.Object",
        "none",
        "some(some(\"x, y\"))",
        "(x=1.5, y=-0)",
        "((x=1), (y=2), ())",
        "(1, 2, 3)",
        "((\"a\", (1, 2)), (\"b\", ()))",
        "#1.2:open",
        "(#1.2:open, #3.4:\"a b\", none)",
        "0123456789abcdef0123456789abcdef",
        "two words, (here)",
        "((none, none), (/Script/A.B, 0123456789abcdef0123456789abcdef))",
    ]);
    let names = Names::default();
    fuzz(40_000, |dice| {
        let (text, ty) = (mutant(dice, &seeds), &types[dice.roll(types.len())]);
        match Value::parse(&text, ty, &names) {
            Ok(value) => {
                let printed = value.print(&names);
                assert_eq!(Value::parse(&printed, ty, &names), Ok(value), "{ty} {text:?} prints as {printed:?}");
            }
            Err(error) => check_error(&error, &text),
        }
    });
}
