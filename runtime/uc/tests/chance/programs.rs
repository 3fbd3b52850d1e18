//! Random expressions with valid types, as source text. The checker must find the requested type. The interpreter must compute the value
//! that Rust computes.

use alcedo_uc::Source;

use crate::interpreter::Interpreter;
use crate::support::{checked, rendered};

/// Pseudorandom numbers. Each run generates the same sequence.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// Returns a number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        // Xorshift, by George Marsaglia.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}

/// Value of an expression, computed by Rust.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Plain {
    Int(i32),
    Float(f32),
    Bool(bool),
    Text(String),
}

impl Plain {
    /// Formats the value in the syntax of the language.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Float(number) => format!("{number:.4}"),
            Self::Bool(true) => "True".to_owned(),
            Self::Bool(false) => "False".to_owned(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The types of random expressions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Int,
    Float,
    Bool,
    Text,
}

impl Kind {
    /// Returns the keyword.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Float => "float",
            Self::Bool => "bool",
            Self::Text => "string",
        }
    }
}

/// Returns an expression of a type as source text, and its value computed by Rust. An expression with operators is in parentheses.
pub(crate) fn expression(dice: &mut Dice, kind: Kind, depth: usize) -> (String, Plain) {
    if depth == 0 || dice.roll(6) == 0 {
        return leaf(dice, kind);
    }
    match kind {
        Kind::Int => int(dice, depth - 1),
        Kind::Float => float(dice, depth - 1),
        Kind::Bool => boolean(dice, depth - 1),
        Kind::Text => text(dice, depth - 1),
    }
}

fn leaf(dice: &mut Dice, kind: Kind) -> (String, Plain) {
    match kind {
        Kind::Int => {
            let number = [0, 1, 2, 7, 31, 100, 65_535, i32::MAX, -1, -3, i32::MIN, 123_456][dice.roll(12)];
            (number.to_string(), Plain::Int(number))
        }
        Kind::Float => {
            let text = ["0.0", "1.0", "2.5", "-0.5", "3.25", "1000.0", "-7.75", "0.125"][dice.roll(8)];
            (text.to_owned(), Plain::Float(text.parse().expect("a number")))
        }
        Kind::Bool => {
            let value = dice.roll(2) == 0;
            (value.to_string(), Plain::Bool(value))
        }
        Kind::Text => {
            let value = ["", "a", "Ab", "x y", "5", "-12z", "aB"][dice.roll(7)];
            (format!("\"{value}\""), Plain::Text(value.to_owned()))
        }
    }
}

fn ints(dice: &mut Dice, depth: usize) -> (String, i32, String, i32) {
    let (a, one) = expression(dice, Kind::Int, depth);
    let (b, other) = expression(dice, Kind::Int, depth);
    match (one, other) {
        (Plain::Int(one), Plain::Int(other)) => (a, one, b, other),
        other => panic!("{other:?}"),
    }
}

fn floats(dice: &mut Dice, depth: usize) -> (String, f32, String, f32) {
    let (a, one) = expression(dice, Kind::Float, depth);
    let (b, other) = expression(dice, Kind::Float, depth);
    match (one, other) {
        (Plain::Float(one), Plain::Float(other)) => (a, one, b, other),
        other => panic!("{other:?}"),
    }
}

fn operand_texts(dice: &mut Dice, depth: usize) -> (String, String, String, String) {
    let (a, one) = expression(dice, Kind::Text, depth);
    let (b, other) = expression(dice, Kind::Text, depth);
    match (one, other) {
        (Plain::Text(one), Plain::Text(other)) => (a, one, b, other),
        other => panic!("{other:?}"),
    }
}

fn bools(dice: &mut Dice, depth: usize) -> (String, bool, String, bool) {
    let (a, one) = expression(dice, Kind::Bool, depth);
    let (b, other) = expression(dice, Kind::Bool, depth);
    match (one, other) {
        (Plain::Bool(one), Plain::Bool(other)) => (a, one, b, other),
        other => panic!("{other:?}"),
    }
}

fn chosen(dice: &mut Dice, kind: Kind, depth: usize) -> (String, Plain) {
    let (condition, value) = expression(dice, Kind::Bool, depth);
    let (a, one) = expression(dice, kind, depth);
    let (b, other) = expression(dice, kind, depth);
    (format!("({condition} ? {a} : {b})"), if value == Plain::Bool(true) { one } else { other })
}

fn int(dice: &mut Dice, depth: usize) -> (String, Plain) {
    let sign = dice.roll(17);
    if sign == 13 {
        let (of, Plain::Float(value)) = expression(dice, Kind::Float, depth) else { panic!("a float") };
        return (format!("int({of})"), Plain::Int(value as i32));
    }
    if sign == 14 {
        let (of, Plain::Bool(value)) = expression(dice, Kind::Bool, depth) else { panic!("a bool") };
        return (format!("int({of})"), Plain::Int(value.into()));
    }
    if sign == 15 {
        return chosen(dice, Kind::Int, depth);
    }
    let (a, one, b, other) = ints(dice, depth);
    let (text, value) = match sign {
        0 => (format!("({a} + {b})"), one.wrapping_add(other)),
        1 => (format!("({a} - {b})"), one.wrapping_sub(other)),
        2 => (format!("({a} * {b})"), one.wrapping_mul(other)),
        3 => (format!("({a} / {b})"), if other == 0 { 0 } else { one.wrapping_div(other) }),
        4 => (format!("({a} % {b})"), if other == 0 { 0 } else { one.wrapping_rem(other) }),
        5 => (format!("({a} & {b})"), one & other),
        6 => (format!("({a} | {b})"), one | other),
        7 => (format!("({a} ^ {b})"), one ^ other),
        8 => (format!("({a} << {b})"), one.wrapping_shl(other as u32)),
        9 => (format!("({a} >> {b})"), one.wrapping_shr(other as u32)),
        10 => (format!("({a} >>> {b})"), (one as u32).wrapping_shr(other as u32) as i32),
        11 => (format!("(-({a}))"), one.wrapping_neg()),
        // These expressions omit parentheses to test operator precedence.
        16 => (format!("({a} + {b} * {a} - {b})"), one.wrapping_add(other.wrapping_mul(one)).wrapping_sub(other)),
        _ => (format!("(~{a})"), !one),
    };
    (text, Plain::Int(value))
}

fn float(dice: &mut Dice, depth: usize) -> (String, Plain) {
    let sign = dice.roll(9);
    if sign == 6 {
        let (of, Plain::Int(value)) = expression(dice, Kind::Int, depth) else { panic!("an int") };
        return (format!("float({of})"), Plain::Float(value as f32));
    }
    if sign == 7 {
        return chosen(dice, Kind::Float, depth);
    }
    if sign == 8 {
        let (a, Plain::Int(one)) = expression(dice, Kind::Int, depth) else { panic!("an int") };
        let (b, Plain::Float(other)) = expression(dice, Kind::Float, depth) else { panic!("a float") };
        return (format!("({a} * {b})"), Plain::Float(one as f32 * other));
    }
    let (a, one, b, other) = floats(dice, depth);
    let (text, value) = match sign {
        0 => (format!("({a} + {b})"), one + other),
        1 => (format!("({a} - {b})"), one - other),
        2 => (format!("({a} * {b})"), one * other),
        3 => (format!("({a} / {b})"), one / other),
        4 => (format!("({a} % {b})"), one % other),
        _ => (format!("(-({a}))"), -one),
    };
    (text, Plain::Float(value))
}

fn boolean(dice: &mut Dice, depth: usize) -> (String, Plain) {
    let (text, value) = match dice.roll(14) {
        0 => {
            let (a, one, b, other) = ints(dice, depth);
            (format!("({a} < {b})"), one < other)
        }
        1 => {
            let (a, one, b, other) = ints(dice, depth);
            (format!("({a} >= {b})"), one >= other)
        }
        2 => {
            let (a, one, b, other) = ints(dice, depth);
            (format!("({a} == {b})"), one == other)
        }
        3 => {
            let (a, one, b, other) = floats(dice, depth);
            (format!("({a} <= {b})"), one <= other)
        }
        4 => {
            let (a, one, b, other) = floats(dice, depth);
            (format!("({a} != {b})"), one != other)
        }
        5 => {
            let (a, one, b, other) = operand_texts(dice, depth);
            (format!("({a} == {b})"), one == other)
        }
        6 => {
            let (a, one, b, other) = operand_texts(dice, depth);
            (format!("({a} < {b})"), one < other)
        }
        7 => {
            let (a, one, b, other) = operand_texts(dice, depth);
            (format!("({a} ~= {b})"), one.to_lowercase() == other.to_lowercase())
        }
        8 => {
            let (a, one, b, other) = bools(dice, depth);
            (format!("({a} && {b})"), one && other)
        }
        9 => {
            let (a, one, b, other) = bools(dice, depth);
            (format!("({a} || {b})"), one || other)
        }
        10 => {
            let (a, one, b, other) = bools(dice, depth);
            (format!("({a} ^^ {b})"), one != other)
        }
        11 => {
            let (of, Plain::Bool(value)) = expression(dice, Kind::Bool, depth) else { panic!("a bool") };
            (format!("(!{of})"), !value)
        }
        12 => {
            let (of, Plain::Int(value)) = expression(dice, Kind::Int, depth) else { panic!("an int") };
            (format!("bool({of})"), value != 0)
        }
        _ => return chosen(dice, Kind::Bool, depth),
    };
    (text, Plain::Bool(value))
}

fn text(dice: &mut Dice, depth: usize) -> (String, Plain) {
    let (text, value) = match dice.roll(5) {
        0 => {
            let (a, one, b, other) = operand_texts(dice, depth);
            (format!("({a} $ {b})"), format!("{one}{other}"))
        }
        1 => {
            let (a, one, b, other) = operand_texts(dice, depth);
            (format!("({a} @ {b})"), format!("{one} {other}"))
        }
        2 => {
            let kind = [Kind::Int, Kind::Float, Kind::Bool][dice.roll(3)];
            let (of, value) = expression(dice, kind, depth);
            (format!("string({of})"), value.to_text())
        }
        3 => {
            let kind = [Kind::Int, Kind::Bool, Kind::Float][dice.roll(3)];
            let (of, value) = expression(dice, kind, depth);
            (format!("(\"v\" $ {of})"), format!("v{}", value.to_text()))
        }
        _ => return chosen(dice, Kind::Text, depth),
    };
    (text, Plain::Text(value))
}

/// Returns a class with the functions `Test0`, `Test1`, …, and their results.
pub(crate) fn class(dice: &mut Dice, functions: usize) -> (String, Vec<String>) {
    let mut text = "class Chance extends Object;\n".to_owned();
    let mut expected = Vec::new();
    for at in 0..functions {
        let kind = [Kind::Int, Kind::Float, Kind::Bool, Kind::Text][dice.roll(4)];
        let depth = 1 + dice.roll(5);
        let (expression, value) = expression(dice, kind, depth);
        text.push_str(&format!("function {} Test{at}() {{ return {expression}; }}\n", kind.word()));
        expected.push(value.to_text());
    }
    (text, expected)
}

#[test]
fn random_expressions_evaluate_as_in_rust() {
    let mut dice = Dice(20_261_124);
    for _ in 0..100 {
        let (text, expected) = class(&mut dice, 100);
        let sources = [Source::new("Chance.uc", text)];
        let package = match checked(&sources) {
            Ok(checked) => checked.package,
            Err(messages) => panic!("{}", rendered(&messages, &sources)),
        };
        let interpreter = Interpreter::new(&package);
        let object = interpreter.create("/Script/Test.Chance");
        for (at, expected) in expected.iter().enumerate() {
            let actual = interpreter.test(object, &format!("Test{at}"));
            let line = sources[0].text.lines().nth(at + 1).unwrap_or("");
            assert_eq!(actual, *expected, "{line}");
        }
    }
}
