//! Formats the constant values in a script as strings. Reflection later parses each string as a value of its type.

use alcedo_uc::hir::{Const, Type};

use crate::object::{listed, quote};

/// Object to which a value refers. The object is determined when reflection parses the value.
#[derive(Clone, Copy)]
pub(crate) enum Named<'a> {
    /// Object whose property is set.
    Itself,
    /// Owner of the object whose property is set.
    Owner,
    /// Subobject of the owner, by name.
    Subobject(&'a str),
}

/// Formats a reference to an object before any object exists.
pub(crate) fn no_object(_named: Named<'_>) -> String {
    NONE.to_owned()
}

const NONE: &str = "none";

/// Formats a value. `object` formats references to subobjects and bound objects. References to other objects are none.
pub(crate) fn of_const(value: &Const, object: &dyn Fn(Named<'_>) -> String) -> String {
    match value {
        Const::Bool(value) => value.to_string(),
        Const::Int(value) => value.to_string(),
        Const::Float(value) => format!("{value:?}"),
        Const::Text(text) | Const::Name(text) => quote(text),
        Const::Enum(_, entry, _) => entry.clone(),
        Const::Class(path) => path.to_string(),
        Const::Subobject(name) => object(Named::Subobject(name)),
        Const::Object(..) | Const::None => NONE.to_owned(),
        Const::Struct(fields) => {
            listed(fields.iter().map(|(name, value)| format!("{name}={}", of_const(value, object))))
        }
        Const::Array(values) | Const::Elements(values, _) => listed(values.iter().map(|value| of_const(value, object))),
        Const::Function(name) => bound(&object(Named::Itself), name),
        Const::OwnerFunction(name) => bound(&object(Named::Owner), name),
    }
}

fn bound(object: &str, function: &str) -> String {
    if object == NONE { NONE.to_owned() } else { format!("{object}:{}", quote(function)) }
}

/// Returns the initial value of a type. The result for a fixed array contains all elements. Values of other types start as zero bytes, so
/// the result is an empty string.
pub(crate) fn start(ty: &Type) -> String {
    match ty {
        Type::Fixed(of, len) => listed((0..*len).map(|_| element(of))),
        _ => String::new(),
    }
}

fn element(ty: &Type) -> String {
    match ty {
        Type::Fixed(..) => start(ty),
        Type::Num(_) | Type::Enum(..) => "0".to_owned(),
        Type::Bool => "false".to_owned(),
        Type::Text | Type::Utf8Text | Type::AnsiText | Type::LocalText | Type::Name => "\"\"".to_owned(),
        // `()` is an empty container, or a struct whose fields all have their defaults.
        Type::Struct(_) | Type::Array(_) | Type::Set(_) | Type::Map(..) => "()".to_owned(),
        _ => NONE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_uc::hir::{Const, Num, Type};

    use super::{no_object, of_const, start};

    #[test]
    fn values_are_written_as_reflection_reads_them() {
        for (value, text) in [
            (Const::Int(-3), "-3"),
            (Const::Float(2.0), "2.0"),
            (Const::Text("a \"b\"\n".to_owned()), "\"a \\\"b\\\"\\n\""),
            (Const::Class("/Script/Game.Cube".into()), "/Script/Game.Cube"),
            (Const::Struct(vec![("x".into(), Const::Int(1)), ("on".into(), Const::Bool(true))]), "(x=1, on=true)"),
            (Const::Array(vec![Const::None, Const::Name("b".into())]), "(none, \"b\")"),
            (Const::Function("Ring".into()), "none"),
        ] {
            assert_eq!(of_const(&value, &no_object), text);
        }
    }

    #[test]
    fn a_fixed_array_starts_with_all_its_elements() {
        assert_eq!(start(&Type::Fixed(Box::new(Type::Num(Num::I32)), 3)), "(0, 0, 0)");
        assert_eq!(start(&Type::Fixed(Box::new(Type::Struct("/Script/A.B".into())), 2)), "((), ())");
        assert_eq!(start(&Type::Num(Num::I32)), "");
    }
}
