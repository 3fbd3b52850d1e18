//! Reference implementation of operators and conversions, for comparison with the machine.

use alcedo_uc::hir::{Binary, Conversion, Num, Op, Operand, Type, Unary};

use super::Value;

/// Wraps an integer to the range of its type.
pub(crate) fn wrapped(value: i128, num: Num) -> i128 {
    let (low, high) = num.range().expect("a kind of whole numbers");
    (value - low).rem_euclid(high - low + 1) + low
}

fn float(value: f64, num: Num) -> Value {
    Value::Float(if num == Num::F32 { f64::from(value as f32) } else { value })
}

/// Applies `op` to two numbers of one type.
fn numbers(op: Op, num: Num, one: &Value, other: &Value) -> Value {
    if num.is_float() {
        let (a, b) = (one.float(), other.float());
        return match op {
            Op::Add => float(a + b, num),
            Op::Sub => float(a - b, num),
            Op::Mul => float(a * b, num),
            Op::Div => float(a / b, num),
            Op::Rem => float(a % b, num),
            Op::Pow if num == Num::F32 => Value::Float(f64::from((a as f32).powf(b as f32))),
            Op::Pow => Value::Float(a.powf(b)),
            Op::Eq => Value::Bool(a == b),
            Op::Ne => Value::Bool(a != b),
            Op::Lt => Value::Bool(a < b),
            Op::Le => Value::Bool(a <= b),
            Op::Gt => Value::Bool(a > b),
            Op::Ge => Value::Bool(a >= b),
            Op::Near if num == Num::F32 => Value::Bool(((a as f32) - (b as f32)).abs() < 0.0001),
            Op::Near => Value::Bool((a - b).abs() < 0.0001),
            _ => panic!("{op:?} of floats"),
        };
    }
    let (a, b) = (one.int(), other.int());
    let places = num.bits();
    let shift = (b as u32) & (places - 1);
    let unsigned = if a < 0 { a + (1 << places) } else { a };
    let whole = |value: i128| Value::Int(wrapped(value, num));
    match op {
        Op::Add => whole(a + b),
        Op::Sub => whole(a - b),
        Op::Mul => whole(a.wrapping_mul(b)),
        Op::Div => whole(if b == 0 { 0 } else { a / b }),
        Op::Rem => whole(if b == 0 { 0 } else { a % b }),
        Op::Shl => whole(a << shift),
        Op::Shr => whole(a >> shift),
        Op::Ushr => whole(unsigned >> shift),
        Op::BitAnd => whole(a & b),
        Op::BitOr => whole(a | b),
        Op::BitXor => whole(a ^ b),
        Op::Eq => Value::Bool(a == b),
        Op::Ne => Value::Bool(a != b),
        Op::Lt => Value::Bool(a < b),
        Op::Le => Value::Bool(a <= b),
        Op::Gt => Value::Bool(a > b),
        Op::Ge => Value::Bool(a >= b),
        Op::ClockwiseFrom => {
            let (a, b) = (a & 0xFFFF, b & 0xFFFF);
            Value::Bool(if (a - b).abs() > 0x8000 { a < b } else { a > b })
        }
        _ => panic!("{op:?} of whole numbers"),
    }
}

fn three(value: &Value) -> [f64; 3] {
    let Value::Struct(fields) = value else { panic!("{value:?} is not a triple") };
    [0, 1, 2].map(|at| match &fields[at].1 {
        Value::Int(number) => *number as f64,
        other => other.float(),
    })
}

fn like(value: &Value, numbers: [f64; 3], num: Num) -> Value {
    let Value::Struct(fields) = value else { panic!("{value:?} is not a triple") };
    // Integers round toward zero and wrap.
    let number =
        |number: f64| if num.is_float() { float(number, num) } else { Value::Int(wrapped(number as i128, num)) };
    Value::Struct(fields.iter().zip(numbers).map(|((name, _), one)| (name.clone(), number(one))).collect())
}

fn triples(op: Op, num: Num, one: &Value, other: &Value) -> Value {
    let (a, b) = (three(one), three(other));
    let each = |f: fn(f64, f64) -> f64| like(one, [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])], num);
    match op {
        Op::Add => each(|a, b| a + b),
        Op::Sub => each(|a, b| a - b),
        Op::Mul => each(|a, b| a * b),
        Op::Div => each(|a, b| a / b),
        Op::Dot => float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], num),
        Op::Cross => like(one, [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]], num),
        Op::Eq => Value::Bool(a == b),
        Op::Ne => Value::Bool(a != b),
        _ => panic!("{op:?} of triples"),
    }
}

/// Applies a binary operator.
pub(crate) fn binary(binary: &Binary, one: &Value, other: &Value) -> Value {
    let op = binary.op;
    match (&binary.on, one, other) {
        (Operand::Num(num) | Operand::Enum(num), ..) => numbers(op, *num, one, other),
        (Operand::Text, Value::Text(a), Value::Text(b)) => match op {
            Op::Concat => Value::Text(format!("{a}{b}")),
            Op::ConcatSpaced => Value::Text(format!("{a} {b}")),
            Op::TextWithout => Value::Text(if b.is_empty() { a.clone() } else { a.replace(b.as_str(), "") }),
            Op::Eq => Value::Bool(a == b),
            Op::Ne => Value::Bool(a != b),
            Op::Lt => Value::Bool(a < b),
            Op::Le => Value::Bool(a <= b),
            Op::Gt => Value::Bool(a > b),
            Op::Ge => Value::Bool(a >= b),
            Op::Near => Value::Bool(a.to_lowercase() == b.to_lowercase()),
            _ => panic!("{op:?} of strings"),
        },
        (Operand::Bool, Value::Bool(a), Value::Bool(b)) => match op {
            Op::Eq => Value::Bool(a == b),
            Op::Ne | Op::Xor => Value::Bool(a != b),
            _ => panic!("{op:?} of bools"),
        },
        (Operand::Triple(triple), ..) => triples(op, triple.of, one, other),
        (Operand::TripleScalar(triple), ..) => {
            let by = other.float();
            let of = three(one).map(|a| match op {
                Op::Mul => a * by,
                _ if by == 0.0 && !triple.of.is_float() => 0.0,
                _ => a / by,
            });
            like(one, of, triple.of)
        }
        (Operand::ScalarTriple(triple), ..) => like(other, three(other).map(|a| a * one.float()), triple.of),
        _ => match op {
            Op::Eq => Value::Bool(one == other),
            Op::Ne => Value::Bool(one != other),
            _ => panic!("{op:?} on {:?}", binary.on),
        },
    }
}

/// Applies a unary operator.
pub(crate) fn unary(unary: &Unary, of: &Value) -> Value {
    match unary {
        Unary::Not => Value::Bool(!of.bool()),
        Unary::Neg(num) if num.is_float() => float(-of.float(), *num),
        Unary::Neg(num) => Value::Int(wrapped(-of.int(), *num)),
        Unary::BitNot(num) => Value::Int(wrapped(!of.int(), *num)),
        Unary::NegTriple(triple) => like(of, three(of).map(|number| -number), triple.of),
    }
}

/// Formats a value as a string. `entry` returns the name of an enum entry.
pub(crate) fn format_value(value: &Value, ty: &Type, entry: &dyn Fn(&str, i128) -> String) -> String {
    match (value, ty) {
        (Value::Int(number), Type::Enum(path, _)) => entry(path, *number),
        (Value::Int(number), _) => number.to_string(),
        (Value::Float(number), _) => format!("{number:.4}"),
        (Value::Bool(yes), _) => if *yes { "True" } else { "False" }.to_owned(),
        (Value::Text(text), _) => text.clone(),
        (Value::Name(name), _) => {
            if name.is_empty() {
                "None".to_owned()
            } else {
                name.clone()
            }
        }
        (Value::Struct(fields), _) if fields.len() == 3 => match &fields[0].1 {
            Value::Float(_) => three(value).map(|number| format!("{number:.2}")).join(","),
            _ => three(value).map(|number| format!("{number}")).join(","),
        },
        (Value::Object(None) | Value::Class(None), _) => "None".to_owned(),
        (Value::Class(Some(path)), _) => path.rsplit('.').next().unwrap_or("").to_owned(),
        other => panic!("{other:?} has no text in these tests"),
    }
}

fn to_number(value: f64, num: Num) -> Value {
    match num.range() {
        None => float(value, num),
        Some(_) if value.is_nan() => Value::Int(0),
        Some((low, high)) => Value::Int((value as i128).clamp(low, high)),
    }
}

/// Returns the number of bytes of the sign at the start of a string.
fn sign(text: &str) -> usize {
    usize::from(text.starts_with(['-', '+']))
}

/// Returns the index of the first byte at or after `at` that is not a digit.
fn end_of_digits(text: &str, at: usize) -> usize {
    at + text[at..].bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns the digits of the integer at the start of a string.
fn digits_in(text: &str) -> &str {
    &text[sign(text)..end_of_digits(text, sign(text))]
}

/// Parses the number at the start of a string.
fn number_in(text: &str, num: Num) -> Value {
    let text = text.trim_start();
    if !num.is_float() {
        // Keeps the low 64 bits of a number of any length.
        let next = |value: i128, digit: u8| (value * 10 + i128::from(digit - b'0')) % (1 << 64);
        let value = digits_in(text).bytes().fold(0, next);
        return Value::Int(wrapped(if text.starts_with('-') { -value } else { value }, num));
    }
    let mut end = end_of_digits(text, sign(text));
    if text[end..].starts_with('.') {
        end = end_of_digits(text, end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let exponent = end + 1 + sign(&text[end + 1..]);
        if end_of_digits(text, exponent) > exponent {
            end = end_of_digits(text, exponent);
        }
    }
    float(text[..end].parse().unwrap_or(0.0), num)
}

pub(crate) fn converted(conversion: &Conversion, value: Value, entry: &dyn Fn(&str, i128) -> String) -> Value {
    match conversion {
        Conversion::Num(from, to) => match (from.is_float(), to.range()) {
            (true, _) => to_number(value.float(), *to),
            (false, Some(_)) => Value::Int(wrapped(value.int(), *to)),
            (false, None) if *to == Num::F32 => Value::Float(f64::from(value.int() as f32)),
            (false, None) => Value::Float(value.int() as f64),
        },
        Conversion::EnumToNum(_, to) if to.is_float() => float(value.int() as f64, *to),
        Conversion::EnumToNum(_, to) => Value::Int(wrapped(value.int(), *to)),
        Conversion::NumToEnum(from, _, to) if from.is_float() => to_number(value.float(), *to),
        Conversion::NumToEnum(_, _, to) => Value::Int(wrapped(value.int(), *to)),
        Conversion::NumToEntryName(from, path) => {
            let number = if from.is_float() { value.float() as i128 } else { value.int() };
            Value::Name(entry(path, number))
        }
        Conversion::NumToBool(num) if num.is_float() => Value::Bool(value.float() != 0.0),
        Conversion::NumToBool(_) => Value::Bool(value.int() != 0),
        Conversion::BoolToNum(num) if num.is_float() => Value::Float(f64::from(u8::from(value.bool()))),
        Conversion::BoolToNum(_) => Value::Int(i128::from(value.bool())),
        Conversion::ToText(ty) => Value::Text(format_value(&value, ty, entry)),
        Conversion::FromText(Type::Num(num)) => {
            let Value::Text(text) = &value else { panic!("{value:?} is not a text") };
            number_in(text, *num)
        }
        Conversion::FromText(Type::Bool) => {
            let Value::Text(text) = &value else { panic!("{value:?} is not a text") };
            let is_zero = digits_in(text.trim_start()).bytes().all(|digit| digit == b'0');
            Value::Bool(text.trim().eq_ignore_ascii_case("true") || !is_zero)
        }
        Conversion::Text(_, Type::Name) => match value {
            Value::Text(text) => Value::Name(if text.eq_ignore_ascii_case("none") { String::new() } else { text }),
            other => other,
        },
        Conversion::Text(Type::Name, _) => match value {
            Value::Name(name) => Value::Text(if name.is_empty() { "None".to_owned() } else { name }),
            other => other,
        },
        Conversion::NameToBool => match value {
            Value::Name(name) => Value::Bool(!name.is_empty()),
            other => panic!("{other:?} is not a name"),
        },
        Conversion::ObjectToBool => match value {
            Value::Object(object) => Value::Bool(object.is_some()),
            Value::Class(class) => Value::Bool(class.is_some()),
            other => panic!("{other:?} is not an object"),
        },
        Conversion::TripleToBool(_) => Value::Bool(three(&value) != [0.0; 3]),
        Conversion::Up | Conversion::Text(..) | Conversion::ObjectToInterface(_) | Conversion::InterfaceToObject => {
            value
        }
        Conversion::StructUp(_) => value,
        other => panic!("{other:?} is not in these tests"),
    }
}
