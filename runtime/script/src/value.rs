//! Conversions of values: constants of the checked tree, numbers of all kinds, and strings.

use alcedo_base::handles::{Name, ObjectHandle};
use alcedo_reflect::World;
use alcedo_reflect::enums::whole;
use alcedo_reflect::property::PropertyType;
use alcedo_reflect::structs::StructType;
use alcedo_reflect::value::{Binding, LocalText, Value};
use alcedo_uc::hir::{Const, Num};

/// Number of any kind, stored without loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Whole(i128),
    Float(f64),
}

pub(crate) fn number(value: &Value) -> Option<Number> {
    use Number::{Float, Whole};
    Some(match value {
        Value::F32(it) => Float((*it).into()),
        Value::F64(it) => Float(*it),
        Value::Enum(it) => Whole(it.number),
        Value::Bool(it) => Whole((*it).into()),
        value => Whole(whole(value)?),
    })
}

/// Converts a number to a value of this kind. Integers keep the low bits. Floats round toward zero and saturate.
pub(crate) fn to_num(number: Number, num: Num) -> Value {
    macro_rules! cast {
        ($($num:ident, $ty:ty;)*) => {
            match (num, number) {
                $((Num::$num, Number::Whole(it)) => Value::$num(it as $ty),
                (Num::$num, Number::Float(it)) => Value::$num(it as $ty),)*
            }
        };
    }
    cast! { U8, u8; U16, u16; U32, u32; U64, u64; I8, i8; I16, i16; I32, i32; I64, i64; F32, f32; F64, f64; }
}

/// Converts a constant to a value of this type, using the names and objects of the world.
///
/// # Errors
/// Returns a message if the type has no value that corresponds to the constant.
pub(crate) fn const_value(value: &Const, ty: &PropertyType, world: &World) -> Result<Value, String> {
    let refused = || format!("{value:?} is not of type {ty}");
    let to_num = |number: Number| Num::of(ty.kind()).map(|num| to_num(number, num)).ok_or_else(refused);
    Ok(match (value, ty) {
        (Const::Bool(it), PropertyType::Bool) => Value::Bool(*it),
        (Const::Int(it), PropertyType::Enum(of)) | (Const::Enum(_, _, it), PropertyType::Enum(of)) => {
            Value::Enum(of.value(*it))
        }
        (Const::Int(it) | Const::Enum(_, _, it), _) => to_num(Number::Whole(*it))?,
        (Const::Float(it), _) => to_num(Number::Float(*it))?,
        (Const::Text(it), ty) => text_value(it, ty, world).ok_or_else(refused)?,
        (Const::Name(it), PropertyType::Name) => Value::Name(world.names.intern(it)),
        (Const::Name(it), PropertyType::FieldPath) => Value::FieldPath(world.names.intern(it)),
        (Const::Class(path), PropertyType::SubclassOf(_)) => Value::SubclassOf(world.names.intern(path)),
        (Const::Class(path), PropertyType::SoftClass(_)) => Value::SoftClass(world.names.intern(path)),
        (Const::Object(class, path), PropertyType::Object { .. }) => Value::Object(named_object(class, path, world)),
        (Const::Object(_, path), PropertyType::SoftObject(_)) => Value::SoftObject(world.names.intern(path)),
        (Const::None, ty) => Value::zero(ty),
        // The numbers of a vector or rotator, in the order of its fields.
        (Const::Array(values), PropertyType::Struct(of)) => {
            let mut found = Vec::new();
            for (field, value) in of.fields().iter().zip(values) {
                found.push(((&*field.text).into(), const_value(value, &field.ty, world)?));
            }
            Value::Struct(found)
        }
        (Const::Array(values), PropertyType::Array(of)) => {
            Value::Array(values.iter().map(|value| const_value(value, of.ty(), world)).collect::<Result<_, _>>()?)
        }
        _ => return Err(refused()),
    })
}

/// Finds an object by its name, which may follow the names of packages. Returns the none handle if no object has this name.
pub(crate) fn object_of(path: &str, world: &World) -> ObjectHandle {
    let find = |name| world.objects.find(ObjectHandle::NONE, name);
    find(path).or_else(|| find(path.rsplit('.').next()?)).unwrap_or(ObjectHandle::NONE)
}

/// Finds the object that `Class'Package.Name'` names. Also finds a dormant object, whose class is missing. Returns the none handle if no
/// object of this class has this name.
pub fn named_object(class: &str, path: &str, world: &World) -> ObjectHandle {
    let found = object_of(path, world);
    // During a reload, the object still has the earlier version of its class, which may have an earlier path or other base classes.
    let of = world.objects.awake_class(found).map(|of| world.types.class_by_path(&of.path).unwrap_or(of));
    let is_it = of.is_none_or(|of| of.lineage().any(|of| *of.path == *class));
    if is_it { found } else { ObjectHandle::NONE }
}

/// Converts a string to a value of one of the string types.
pub(crate) fn text_value(text: &str, ty: &PropertyType, world: &World) -> Option<Value> {
    Some(match ty {
        PropertyType::Text => Value::Text(text.to_owned()),
        PropertyType::Utf8Text => Value::Utf8(text.to_owned()),
        PropertyType::AnsiText => {
            let latin = text.chars().map(|letter| if u8::try_from(letter).is_ok() { letter } else { '?' });
            Value::Ansi(latin.collect())
        }
        PropertyType::LocalText => Value::LocalText(LocalText { display: text.to_owned(), ..LocalText::default() }),
        PropertyType::Name => Value::Name(world.names.intern(text)),
        _ => return None,
    })
}

/// Returns the string in a value of a string type. Returns the text of a name. Returns `None` for all other values.
pub(crate) fn plain_text(value: &Value, world: &World) -> Option<String> {
    Some(match value {
        Value::Text(text) | Value::Utf8(text) | Value::Ansi(text) => text.clone(),
        Value::LocalText(text) => text.display.clone(),
        Value::Name(name) => world.text(*name),
        _ => return None,
    })
}

/// Returns the number kind of a vector or rotator: a struct named `Vector` or `Rotator`, in any case, with three numbers of one kind.
/// Returns `None` for all other structs.
pub(crate) fn triple_of(of: &StructType) -> Option<Num> {
    let [one, two, three] = of.fields() else { return None };
    let num = Num::of(one.ty.kind())?;
    let same = two.ty.kind() == one.ty.kind() && three.ty.kind() == one.ty.kind();
    let is_named = ["Vector", "Rotator"].iter().any(|name| of.name.eq_ignore_ascii_case(name));
    (same && is_named).then_some(num)
}

/// Returns an upper bound of the bytes of the string for a container or struct, and the number of formatted parts.
pub(crate) fn text_size(value: &Value, world: &World) -> (usize, usize) {
    let quoted = |bytes: usize| bytes.saturating_mul(2).saturating_add(2);
    let named = |name: Name| quoted(world.names.text(name).len());
    let bound = |binding: &Binding| named(binding.function).saturating_add(40);
    let add = |(bytes, parts): (usize, usize), value: &Value| {
        let (more, inner) = text_size(value, world);
        (bytes.saturating_add(more).saturating_add(6), parts.saturating_add(inner))
    };
    let whole = (8, 1);
    match value {
        Value::Array(of) | Value::Set(of) => of.iter().fold(whole, add),
        Value::Map(of) => of.iter().fold(whole, |sum, (key, value)| add(add(sum, key), value)),
        Value::Struct(of) => of.iter().fold(whole, |sum, (name, value)| {
            let (bytes, parts) = add(sum, value);
            (bytes.saturating_add(name.len()), parts)
        }),
        Value::Optional(of) => of.as_deref().map_or(whole, |of| add(whole, of)),
        Value::Text(text) | Value::Utf8(text) | Value::Ansi(text) => (quoted(text.len()), 1),
        Value::LocalText(of) => {
            (quoted(of.display.len()).saturating_add(named(of.namespace)).saturating_add(named(of.key) + 8), 1)
        }
        Value::Name(of)
        | Value::SubclassOf(of)
        | Value::SoftClass(of)
        | Value::SoftObject(of)
        | Value::FieldPath(of) => (named(*of), 1),
        Value::Enum(of) => (of.text.len(), 1),
        Value::Delegate(of) => (bound(of), 1),
        Value::Multicast(of) | Value::Sparse(of) => of.iter().fold(whole, |(bytes, parts), one| {
            (bytes.saturating_add(bound(one)).saturating_add(6), parts.saturating_add(1))
        }),
        // Numbers are formatted without an exponent, so that a very large or very small number has up to 330 characters.
        Value::F64(of) if *of != 0.0 && !(1e-16..1e17).contains(&of.abs()) => (336, 1),
        _ => (64, 1),
    }
}

pub(crate) fn to_text(value: &Value, ty: &PropertyType, world: &World) -> String {
    match (plain_text(value, world), value) {
        (Some(text), Value::Name(_)) if text.is_empty() => return "None".to_owned(),
        (Some(text), _) => return text,
        (None, _) => {}
    }
    match (value, ty) {
        (Value::Bool(it), _) => (if *it { "True" } else { "False" }).to_owned(),
        (Value::Enum(it), _) => it.text.to_string(),
        (Value::F32(it), _) => format!("{it:.4}"),
        (Value::F64(it), _) => format!("{it:.4}"),
        (Value::Object(it) | Value::WeakObject(it) | Value::ScriptInterface(it), _) => {
            world.name_of(*it).unwrap_or_else(|| "None".to_owned())
        }
        (Value::SubclassOf(path) | Value::SoftClass(path), _) => match world.text(*path) {
            path if path.is_empty() || path == "None" => "None".to_owned(),
            path => path.rsplit(['.', ':']).next().unwrap_or(&path).to_owned(),
        },
        (Value::Struct(fields), PropertyType::Struct(of)) if triple_of(of).is_some() => {
            let two = |value: &Value| match number(value) {
                Some(Number::Whole(it)) => it.to_string(),
                Some(Number::Float(it)) => format!("{it:.2}"),
                None => String::new(),
            };
            fields.iter().map(|(_, value)| two(value)).collect::<Vec<_>>().join(",")
        }
        (value, _) => match number(value) {
            Some(Number::Whole(it)) => it.to_string(),
            _ => value.print(&world.names),
        },
    }
}

/// Parses a string as a value of this type. Returns the zero value for invalid input.
pub(crate) fn from_text(text: &str, ty: &PropertyType, world: &World) -> Value {
    if let Some(value) = text_value(text, ty, world) {
        return value;
    }
    let trimmed = text.trim_start();
    match ty {
        PropertyType::Bool => {
            let is_true = trimmed.trim_end().eq_ignore_ascii_case("true");
            Value::Bool(is_true || leading_digits(trimmed).bytes().any(|digit| digit != b'0'))
        }
        PropertyType::Enum(of) => {
            let found = of.entries().iter().find(|entry| entry.name.eq_ignore_ascii_case(text.trim()));
            found.map_or_else(|| Value::zero(ty), |entry| Value::Enum(of.value(entry.number)))
        }
        PropertyType::Struct(of) => match triple_of(of) {
            Some(num) => {
                let mut parts = text.split(',').map(|part| leading_number(part.trim_start(), num));
                let mut next = || to_num(parts.next().unwrap_or(Number::Whole(0)), num);
                Value::Struct(of.fields().iter().map(|field| ((&*field.text).into(), next())).collect())
            }
            None => Value::zero(ty),
        },
        ty => match Num::of(ty.kind()) {
            Some(num) => to_num(leading_number(trimmed, num), num),
            None => Value::zero(ty),
        },
    }
}

fn leading_number(text: &str, num: Num) -> Number {
    if num.is_float() {
        return Number::Float(leading_float(text));
    }
    // Keeps the low bits of a number of any length, as other conversions of integers do.
    let next = |value: i128, digit: u8| value.wrapping_mul(10).wrapping_add(i128::from(digit - b'0'));
    let value = leading_digits(text).bytes().fold(0, next);
    Number::Whole(if text.starts_with('-') { value.wrapping_neg() } else { value })
}

/// Returns the digits of the integer at the start of a string, without its sign.
fn leading_digits(text: &str) -> &str {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    &digits[..end]
}

fn leading_float(text: &str) -> f64 {
    let digits = |at: usize| at + text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = |at: usize| at + usize::from(text[at..].starts_with(['-', '+']));
    let mut end = digits(sign(0));
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let exponent = sign(end + 1);
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    text[..end].parse().unwrap_or_default()
}

/// Returns true if a string converts to the empty name: the empty string, and `None` in any case.
pub(crate) fn is_empty_name(text: &str) -> bool {
    text.is_empty() || text.eq_ignore_ascii_case("none")
}

pub(crate) fn handle(value: &Value) -> ObjectHandle {
    match value {
        Value::Object(it) | Value::WeakObject(it) | Value::ScriptInterface(it) => *it,
        _ => ObjectHandle::NONE,
    }
}

pub(crate) fn name(value: &Value) -> Name {
    match value {
        Value::Name(it) | Value::SubclassOf(it) | Value::SoftClass(it) | Value::SoftObject(it) => *it,
        _ => Name::default(),
    }
}

pub(crate) fn binding(value: &Value) -> Binding {
    match value {
        Value::Delegate(it) => *it,
        _ => Binding::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, from_text, leading_float, leading_number, to_num};
    use alcedo_reflect::World;
    use alcedo_reflect::property::PropertyType;
    use alcedo_reflect::value::Value;
    use alcedo_uc::hir::Num;

    #[test]
    fn a_number_is_parsed_from_the_start_of_a_string() {
        assert_eq!(leading_float("-1.5e2x"), -150.0);
        assert_eq!(leading_float("1.e"), 1.0);
        assert_eq!(leading_float("x"), 0.0);
        assert_eq!(leading_number("-12abc", Num::I32), Number::Whole(-12));
    }

    #[test]
    fn a_number_of_many_digits_keeps_its_low_bits() {
        let (world, power) = (World::new(), format!("1{}", "0".repeat(200)));
        let read = |text: &str, ty: &PropertyType| from_text(text, ty, &world);
        assert_eq!(read(&format!("{power}7"), &PropertyType::I32), Value::I32(7));
        assert_eq!(read(&format!("-{power}7"), &PropertyType::I32), Value::I32(-7));
        assert_eq!(read(&power, &PropertyType::Bool), Value::Bool(true));
        assert_eq!(read("-000", &PropertyType::Bool), Value::Bool(false));
    }

    #[test]
    fn floats_stop_at_the_ends_and_whole_numbers_keep_their_low_bits() {
        assert_eq!(to_num(Number::Float(1e20), Num::I32), Value::I32(i32::MAX));
        assert_eq!(to_num(Number::Float(f64::NAN), Num::I32), Value::I32(0));
        assert_eq!(to_num(Number::Whole(300), Num::U8), Value::U8(44));
    }
}
