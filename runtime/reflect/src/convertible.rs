//! Predicts from two types whether the values of a property convert from the first type to the second. Tools use the prediction to compare
//! two builds of a module, for which no values exist. The tests of `convert` compare each conversion with its prediction.

use alcedo_abi::kinds::PropertyKind;

use crate::enums::range;
use crate::type_text::TypeText;

/// Prediction for the values of a type that is replaced by a new type.
///
/// # Examples
/// ```
/// use alcedo_reflect::convertible::{Convertible, convertible};
///
/// let of = |from: &str, to: &str| Ok::<_, alcedo_reflect::type_text::TypeTextError>(convertible(&from.parse()?, &to.parse()?));
/// assert_eq!(of("u8", "i32")?, Convertible::Always);
/// assert_eq!(of("f64", "i32")?, Convertible::ByValue);
/// assert_eq!(of("Array(u8)", "Array(String)")?, Convertible::Never);
/// # Ok::<(), alcedo_reflect::type_text::TypeTextError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Convertible {
    /// Each value converts without loss.
    Always,
    /// Some values convert without loss.
    ByValue,
    /// No value converts, except for empty containers.
    Never,
}

/// Predicts the conversion of values of `from` to `to`. Structs with equal paths count as equal.
pub fn convertible(from: &TypeText, to: &TypeText) -> Convertible {
    use PropertyKind as Kind;
    use TypeText::{Container, Delegate, Plain, Reference, Struct};
    match (from, to) {
        (from, to) if from == to => Convertible::Always,
        (Container(Kind::OPTIONAL, from), Container(Kind::OPTIONAL, to)) => all(from, to),
        (from, Container(Kind::OPTIONAL, to)) => all(std::slice::from_ref(from), to),
        (Container(Kind::OPTIONAL, from), to) => all(from, std::slice::from_ref(to)).max(Convertible::ByValue),
        (Container(Kind::ARRAY, from), Container(Kind::SET, to)) => all(from, to).max(Convertible::ByValue),
        (Container(Kind::ARRAY | Kind::SET, from), Container(Kind::ARRAY | Kind::SET, to))
        | (Container(Kind::MAP, from), Container(Kind::MAP, to)) => all(from, to),
        (Plain(from), Plain(to)) => plain(*from, *to),
        (Reference(Kind::ENUM, _), Plain(to)) => match *to {
            Kind::STRING | Kind::UTF8_STRING | Kind::NAME => Convertible::Always,
            to if to == Kind::ANSI_STRING || range(to).is_some() => Convertible::ByValue,
            _ => Convertible::Never,
        },
        (Plain(from), Reference(Kind::ENUM, _)) if range(*from).is_some() || is_text(*from) => Convertible::ByValue,
        (Reference(from, _), Reference(to, _)) if group(*from) == group(*to) => Convertible::ByValue,
        (Struct(_), Struct(_)) | (Delegate(..), Delegate(..)) => Convertible::ByValue,
        _ => Convertible::Never,
    }
}

/// Predicts the conversion of containers with the element types `from` to containers with the element types `to`.
fn all(from: &[TypeText], to: &[TypeText]) -> Convertible {
    let each = from.iter().zip(to).map(|(from, to)| convertible(from, to));
    each.max().unwrap_or(Convertible::Always)
}

/// Predicts the conversion between two different kinds without type parameters.
fn plain(from: PropertyKind, to: PropertyKind) -> Convertible {
    let is_always = match (range(from), range(to)) {
        (Some(from), Some(to)) => to.contains(from.start()) && to.contains(from.end()),
        (Some(from), None) => match to {
            PropertyKind::F32 => *from.end() < 1_i128 << f32::MANTISSA_DIGITS,
            PropertyKind::F64 => *from.end() < 1_i128 << f64::MANTISSA_DIGITS,
            PropertyKind::BOOL => false,
            _ => return Convertible::Never,
        },
        (None, Some(_)) => match from {
            PropertyKind::BOOL => true,
            PropertyKind::F32 | PropertyKind::F64 => false,
            _ => return Convertible::Never,
        },
        (None, None) => match (from, to) {
            (PropertyKind::F32, PropertyKind::F64) => true,
            (PropertyKind::F64, PropertyKind::F32) => false,
            // A value of the kind `TEXT` may have a translation. Strings and names cannot hold a translation.
            (from, to) if is_text(from) && is_text(to) => from != PropertyKind::TEXT && to != PropertyKind::ANSI_STRING,
            _ => return Convertible::Never,
        },
    };
    if is_always { Convertible::Always } else { Convertible::ByValue }
}

fn is_text(kind: PropertyKind) -> bool {
    matches!(
        kind,
        PropertyKind::STRING
            | PropertyKind::UTF8_STRING
            | PropertyKind::ANSI_STRING
            | PropertyKind::NAME
            | PropertyKind::TEXT
    )
}

/// Returns the group of a reference kind. Reference values convert only within their group.
fn group(kind: PropertyKind) -> PropertyKind {
    match kind {
        PropertyKind::SUBCLASS_OF | PropertyKind::SOFT_CLASS => PropertyKind::SUBCLASS_OF,
        PropertyKind::ENUM => PropertyKind::ENUM,
        _ => PropertyKind::OBJECT,
    }
}
