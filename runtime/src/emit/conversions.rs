//! Conversion functions of plugin authors, declared by `#[migrate(from = "f64", with = Self::of_number)]`. A conversion is a static
//! function of a class. The metadata of this function contains the name of the converted property. This file finds the conversions of a
//! module, and checks the conversions when the module is staged. `reload/conversion.rs` calls the conversions.

use std::collections::HashSet;
use std::rc::Rc;

use alcedo_abi::describe::CONVERTS;
use alcedo_abi::kinds::{function_flags, property_flags};

use crate::emit::error::EmitError;
use crate::object::class::Class;
use crate::object::function::Function;
use crate::object::meta;
use crate::object::property::{Property, PropertyType};

/// Returns the name of the property that a conversion sets. Returns an empty string if the conversion converts whole objects. Returns
/// `None` if the function is not a conversion.
pub(crate) fn target_of(function: &Function) -> Option<&str> {
    meta::value_of(&function.meta, CONVERTS)
}

/// Returns the parameter type and the result type of a conversion: the old and the new type of the value. Returns `None` if the signature
/// of the function is not valid for a conversion.
pub(crate) fn types_of(function: &Function) -> Option<(&PropertyType, &PropertyType)> {
    match (function.arguments(), function.result()) {
        ([from], Some(to)) if function.flags & function_flags::STATIC != 0 => Some((&from.ty, &to.ty)),
        _ => None,
    }
}

/// Returns the conversions that a class declares, each with its target.
pub(crate) fn declared_by(class: &Class) -> impl Iterator<Item = (&str, &Rc<Function>)> {
    class.own_functions.iter().filter_map(|function| Some((target_of(function)?, function)))
}

/// Checks the conversions that a class declares.
///
/// # Errors
/// Returns [`EmitError::Conversion`] for the first unusable conversion. A conversion is unusable if it cannot convert any value, or if it
/// would convert values of the current declaration.
pub(crate) fn check(module: &str, class: &Class) -> Result<(), EmitError> {
    let mut known = HashSet::new();
    for (target, function) in declared_by(class) {
        let problem = match types_of(function) {
            None => {
                Some(format!("its signature is ({}): take one value, return one, and no object", function.signature()))
            }
            Some((from, _)) if !known.insert((target, from.to_string())) => {
                Some(format!("another function converts {from} too: keep one of them"))
            }
            Some((from, to)) if target.is_empty() => problem_of_objects(class, from, to),
            Some((from, to)) => problem_of_property(class, target, from, to),
        };
        if let Some(problem) = problem {
            let converted = match target {
                "" => format!("objects of {}", class.short_path()),
                property => format!("{}.{property}", class.short_path()),
            };
            return Err(EmitError::Conversion { module: module.to_owned(), converted, problem });
        }
    }
    Ok(())
}

fn problem_of_property(class: &Class, target: &str, from: &PropertyType, to: &PropertyType) -> Option<String> {
    let Some(property) = class.own_properties.iter().find(|property| *property.text == *target) else {
        return Some("the class declares no such property: name one of its own".to_owned());
    };
    if is_subobject(property) {
        return Some(
            "it is a subobject, whose class is exchanged as a whole: convert the properties of that class".to_owned(),
        );
    }
    if !is_equal(to, &property.ty) {
        return Some(format!("the function returns {to}, the property is {}: return that type", property.ty));
    }
    is_equal(from, to).then(|| format!("{from} is the type of the property now: state an earlier type"))
}

fn problem_of_objects(class: &Class, from: &PropertyType, to: &PropertyType) -> Option<String> {
    let (PropertyType::Struct(before), PropertyType::Struct(after)) = (from, to) else {
        return Some(format!("the function is for {from} and returns {to}: both have to be structs of properties"));
    };
    let is_current = |field: &Property| {
        class.find_property(&field.text).is_some_and(|found| is_equal(&found.ty, &field.ty) && !is_subobject(found))
    };
    if let Some(field) = after.fields().iter().find(|field| !is_current(field)) {
        let (path, name, ty) = (&after.path, &field.text, &field.ty);
        return Some(format!(
            "the class has no property `{name}: {ty}`, which {path} sets: give the fields names and types of properties"
        ));
    }
    before.fields().iter().all(is_current).then(|| {
        format!(
            "the class still has all properties of {}, so that is not an earlier declaration: remove the function",
            before.path
        )
    })
}

pub(crate) fn is_subobject(property: &Property) -> bool {
    property.flags & property_flags::DEFAULT_SUBOBJECT != 0
}

fn is_equal(one: &PropertyType, other: &PropertyType) -> bool {
    one.layout() == other.layout() && one.to_string() == other.to_string()
}

#[cfg(test)]
mod tests {
    use alcedo_abi::describe::CONVERTS;
    use alcedo_abi::kinds::{PropertyKind, function_flags, property_flags};

    use super::{EmitError, check};
    use crate::object::World;
    use crate::object::decl::{Batch, ClassDecl, FunctionDecl, PropertyDecl, StructDecl};
    use crate::object::origin::Origin;
    use crate::object::thunk::idle;

    /// Target, parameter kind and result kind of a conversion.
    type Conversion<'a> = (&'a str, PropertyKind, PropertyKind);

    /// Declares a class with these conversions, and returns the problem that the check reports. The class has the property `level: i32` and
    /// the subobject `lid`. Structs have the field `level: i32`. A conversion with the parameter kind `u8` is declared as a method of an
    /// object, without the flag `STATIC`.
    fn problem(conversions: &[Conversion<'_>]) -> String {
        let world = World::new();
        world.types.declare_package("Game");
        let level = || PropertyDecl::new("level", PropertyKind::I32);
        let levels = StructDecl { fields: vec![level()], ..StructDecl::new("Game", "Levels", Origin::Native) };
        let typed = |decl: PropertyDecl| match decl.kind {
            PropertyKind::STRUCT => decl.of_type("/Script/Game.Levels"),
            _ => decl,
        };
        let function = |(at, (target, from, to)): (usize, &Conversion<'_>)| FunctionDecl {
            flags: if *from == PropertyKind::U8 { 0 } else { function_flags::STATIC },
            params: vec![typed(PropertyDecl::new("earlier", *from)), typed(PropertyDecl::result(*to))],
            meta: vec![(CONVERTS.to_owned(), (*target).to_owned())],
            ..FunctionDecl::new(&format!("convert_{at}"), idle())
        };
        let lid = PropertyDecl::new("lid", PropertyKind::OBJECT).of_type("/Script/Game.Gauge");
        let lid = lid.with_flags(property_flags::DEFAULT_SUBOBJECT);
        let class = ClassDecl {
            properties: vec![level(), lid],
            functions: conversions.iter().enumerate().map(function).collect(),
            ..ClassDecl::new("Game", "Gauge", "", Origin::Native)
        };
        let batch = Batch { structs: vec![levels], classes: vec![class], ..Batch::default() };
        let declared = world.types.declare(&world.names, &batch).expect("a right declaration");
        match check("gauges", &declared.classes[0]) {
            Ok(()) => String::new(),
            Err(EmitError::Conversion { problem, .. }) => problem,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_conversion_fits_its_property() {
        let (f64, i32, text) = (PropertyKind::F64, PropertyKind::I32, PropertyKind::STRING);
        assert_eq!(problem(&[("level", f64, i32), ("level", text, i32)]), "");
        let levels = PropertyKind::STRUCT;
        let cases: [(&[Conversion<'_>], &str); 8] = [
            (
                &[("level", PropertyKind::U8, i32)],
                "its signature is (u8 -> i32): take one value, return one, and no object",
            ),
            (
                &[("lid", f64, i32)],
                "it is a subobject, whose class is exchanged as a whole: convert the properties of that class",
            ),
            (
                &[("", levels, levels)],
                "the class still has all properties of /Script/Game.Levels, so that is not an earlier declaration: remove the \
                 function",
            ),
            (&[("level", i32, i32)], "i32 is the type of the property now: state an earlier type"),
            (&[("level", f64, f64)], "the function returns f64, the property is i32: return that type"),
            (&[("width", f64, i32)], "the class declares no such property: name one of its own"),
            (&[("level", f64, i32), ("level", f64, i32)], "another function converts f64 too: keep one of them"),
            (&[("", f64, i32)], "the function is for f64 and returns i32: both have to be structs of properties"),
        ];
        for (conversions, expected) in cases {
            assert_eq!(problem(conversions), expected);
        }
    }
}
