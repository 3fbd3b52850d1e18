//! Tests random signatures. Each signature is written as a C function, compiled, bound, and called by both mechanisms. The C function
//! returns a modified copy of each argument, so that a value at a wrong location is detected.

use std::fmt::Write as _;

use alcedo_dll_bind::{Import, Layouts, Route};
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::testing::Dice;
use alcedo_reflect::value::Value;

use crate::support::{Fixture, plain, structure, text, ty};

const NUMBERS: [(&str, &str); 10] = [
    ("u8", "uint8_t"),
    ("i8", "int8_t"),
    ("u16", "uint16_t"),
    ("i16", "int16_t"),
    ("u32", "uint32_t"),
    ("i32", "int32_t"),
    ("u64", "uint64_t"),
    ("i64", "int64_t"),
    ("f32", "float"),
    ("f64", "double"),
];

fn number(dice: &mut Dice, name: &str) -> Value {
    let bits = (dice.roll(1 << 30) as u64) << 34 ^ (dice.roll(1 << 30) as u64) << 8 ^ dice.roll(256) as u64;
    match name {
        "u8" => Value::U8(bits as u8),
        "i8" => Value::I8(bits as i8),
        "u16" => Value::U16(bits as u16),
        "i16" => Value::I16(bits as i16),
        "u32" => Value::U32(bits as u32),
        "i32" => Value::I32(bits as i32),
        "u64" => Value::U64(bits),
        "i64" => Value::I64(bits as i64),
        // Computes floats from integers instead of random bits, because older processors change a signaling NaN in a register.
        "f32" => Value::F32(bits as i32 as f32 / 7.0),
        _ => Value::F64(bits as i64 as f64 / 7.0),
    }
}

/// Returns the modified value that the C function is expected to return for `value`.
fn next(value: &Value) -> Value {
    match value {
        Value::U8(x) => Value::U8(x.wrapping_add(1)),
        Value::I8(x) => Value::I8(x.wrapping_add(1)),
        Value::U16(x) => Value::U16(x.wrapping_add(1)),
        Value::I16(x) => Value::I16(x.wrapping_add(1)),
        Value::U32(x) => Value::U32(x.wrapping_add(1)),
        Value::I32(x) => Value::I32(x.wrapping_add(1)),
        Value::U64(x) => Value::U64(x.wrapping_add(1)),
        Value::I64(x) => Value::I64(x.wrapping_add(1)),
        Value::F32(x) => Value::F32(x + 1.0),
        Value::F64(x) => Value::F64(x + 1.0),
        Value::Text(text) => Value::Text(text.chars().map(|c| if c == 'a' { 'b' } else { c }).collect()),
        Value::Array(values) => Value::Array(values.iter().map(next).collect()),
        Value::Struct(fields) => {
            Value::Struct(fields.iter().map(|(name, value)| (name.clone(), next(value))).collect())
        }
        other => other.clone(),
    }
}

/// A signature: its C source, its declaration, arguments, and expected results.
struct Case {
    source: String,
    import: Import,
    extents: Layouts,
    arguments: Vec<Value>,
    result: Option<Value>,
    out_parameters: Vec<Value>,
}

/// A type for the random signatures: its declaration, C code that modifies a value of the type, and a sample value.
struct Lying {
    ty: PropertyType,
    declared: String,
    next: String,
    value: Value,
    len: Option<usize>,
    types: String,
}

fn random_string(dice: &mut Dice) -> String {
    (0..dice.roll(12)).map(|_| ["a", "z", "ä", "日", "🦀"][dice.roll(5)]).collect()
}

fn lying(dice: &mut Dice, case: usize, at: usize, extents: &mut Layouts) -> Lying {
    let (name, c) = NUMBERS[dice.roll(NUMBERS.len())];
    let v = format!("p{at}");
    match dice.roll(4) {
        0 => Lying {
            ty: plain(name),
            declared: format!("{c}* {v}"),
            next: format!("*{v} += 1;"),
            value: number(dice, name),
            len: None,
            types: String::new(),
        },
        1 => {
            let len = 1 + dice.roll(5);
            let values = (0..len).map(|_| number(dice, name)).collect();
            Lying {
                ty: plain(&format!("Array({name})")),
                declared: format!("{c}* {v}"),
                next: format!("for (int i = 0; i < {len}; i++) {v}[i] += 1;"),
                value: Value::Array(values),
                len: Some(len),
                types: String::new(),
            }
        }
        2 => Lying {
            ty: plain("String"),
            declared: format!("unit* {v}"),
            next: format!("for (; *{v}; {v}++) if (*{v} == 'a') *{v} = 'b';"),
            value: text(&random_string(dice)),
            len: None,
            types: String::new(),
        },
        _ => {
            let label = format!("S{case}_{at}");
            let (mut fields, mut decls, mut values) = (String::new(), Vec::new(), Vec::new());
            let mut next = String::new();
            for field in 0..1 + dice.roll(6) {
                let (name, c) = NUMBERS[dice.roll(NUMBERS.len())];
                let f = format!("f{field}");
                let (type_name, value) = match dice.roll(5) {
                    0 => {
                        writeln!(fields, "text {f};").expect("written");
                        writeln!(next, "for (int i = 0; i < {v}->{f}.num; i++) if ({v}->{f}.data[i] == 'a') {v}->{f}.data[i] = 'b';")
                            .expect("written");
                        ("String".to_owned(), text(&random_string(dice)))
                    }
                    1 => {
                        writeln!(fields, "struct {{ {c}* data; int32_t num, max; }} {f};").expect("written");
                        writeln!(next, "for (int i = 0; i < {v}->{f}.num; i++) {v}->{f}.data[i] += 1;")
                            .expect("written");
                        let values = (0..dice.roll(4)).map(|_| number(dice, name)).collect();
                        (format!("Array({name})"), Value::Array(values))
                    }
                    2 => {
                        let len = 1 + dice.roll(4);
                        *extents = std::mem::take(extents).fixed(&format!("/Script/Test.{label}"), &f, len);
                        writeln!(fields, "{c} {f}[{len}];").expect("written");
                        writeln!(next, "for (int i = 0; i < {len}; i++) {v}->{f}[i] += 1;").expect("written");
                        (format!("Array({name})"), Value::Array((0..len).map(|_| number(dice, name)).collect()))
                    }
                    _ => {
                        writeln!(fields, "{c} {f};").expect("written");
                        writeln!(next, "{v}->{f} += 1;").expect("written");
                        (name.to_owned(), number(dice, name))
                    }
                };
                decls.push((f.clone(), type_name));
                values.push((f, value));
            }
            let decls: Vec<_> = decls.iter().map(|(name, type_name)| (name.as_str(), type_name.as_str())).collect();
            let mut value = structure([]);
            if let Value::Struct(fields) = &mut value {
                fields.extend(values.into_iter().map(|(name, value)| (name.as_str().into(), value)));
            }
            Lying {
                ty: ty(&[(&label, &decls)], &format!("/Script/Test.{label}")),
                declared: format!("{label}* {v}"),
                next,
                value,
                len: None,
                types: format!("typedef struct {{ {fields} }} {label};\n"),
            }
        }
    }
}

fn case(dice: &mut Dice, at: usize) -> Case {
    let symbol = format!("f{at}");
    let mut import = Import::new(&symbol);
    let (mut extents, mut types, mut body) = (Layouts::default(), String::new(), String::new());
    let (mut params, mut arguments, mut out_parameters, mut by_value) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for param in 0..dice.roll(11) {
        let name = format!("p{param}");
        if dice.roll(3) > 0 {
            let (type_name, c) = NUMBERS[dice.roll(NUMBERS.len())];
            let value = number(dice, type_name);
            import = import.param(&name, plain(type_name));
            params.push(format!("{c} {name}"));
            by_value.push((type_name, c, name, value.clone()));
            arguments.push(value);
            continue;
        }
        let Lying { ty, declared, next: code, value, len, types: own } = lying(dice, at, param, &mut extents);
        // A number that is passed by reference is always declared as an out parameter.
        let is_out = dice.roll(2) == 0 || !matches!(value, Value::Array(_) | Value::Text(_) | Value::Struct(_));
        import = match (is_out, len) {
            (true, None) => import.out(&name, ty),
            (true, Some(len)) => import.out_array(&name, ty, len),
            (false, None) => import.param(&name, ty),
            (false, Some(len)) => import.array(&name, ty, len),
        };
        types.push_str(&own);
        params.push(declared);
        writeln!(body, "{code}").expect("written");
        if is_out {
            out_parameters.push(next(&value));
        }
        arguments.push(value);
    }
    if dice.roll(2) == 0 {
        import = import.no_cwd();
    }
    // The C function returns one of its number parameters after modifying it.
    let returned = (!by_value.is_empty() && dice.roll(4) > 0).then(|| by_value.swap_remove(dice.roll(by_value.len())));
    let (returns, result) = match returned {
        Some((type_name, c, name, value)) => {
            import = import.returns(plain(type_name));
            writeln!(body, "return {name} + 1;").expect("written");
            (c, Some(next(&value)))
        }
        None => ("void", None),
    };
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    let source = format!("{types}{returns} {symbol}({params}) {{\n{body}}}\n");
    Case { source, import, extents, arguments, result, out_parameters }
}

#[test]
fn random_signatures_agree_with_c_in_both_directions() {
    const CASES: usize = 400;
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let cases: Vec<_> = (0..CASES).map(|at| case(&mut dice, at)).collect();
    // The pragma makes signed integers wrap on overflow.
    let source: String = cases.iter().map(|case| case.source.as_str()).collect();
    let fixture = Fixture::new(&format!("#pragma GCC optimize (\"wrapv\")\n{source}"));
    let mut trampolines = 0;
    for case in cases {
        for code in [fixture.code.clone(), fixture.code.by_libffi()] {
            let library = code.open_with("Test", case.extents.clone());
            let function =
                case.import.clone().bind(&library).unwrap_or_else(|error| panic!("{error}\n{}", case.source));
            trampolines += usize::from(function.route() == Route::Trampoline);
            let outcome = function.call(&case.arguments).unwrap_or_else(|error| panic!("{error}\n{}", case.source));
            assert_eq!(
                (&outcome.result, &outcome.out_parameters),
                (&case.result, &case.out_parameters),
                "{}",
                case.source
            );
        }
    }
    assert!(cfg!(not(target_arch = "x86_64")) || trampolines > CASES / 4, "{trampolines} of {CASES} by shells");
}
