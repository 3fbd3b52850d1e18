//! What a host declares itself: its native types, as its registry has them.

use std::collections::BTreeMap;

use super::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEntry, DeclaredEnum, DeclaredFunction, DeclaredInterface,
    DeclaredProperty, DeclaredStruct, flags,
};
use crate::object::World;
use crate::object::class::Class;
use crate::object::delegates::DelegateType;
use crate::object::enums::{EnumEntry, EnumType};
use crate::object::function::Function;
use crate::object::meta::Meta;
use crate::object::names::Names;
use crate::object::origin::Origin;
use crate::object::property::Property;

/// The class that all others extend: every plugin has it.
const ROOT: &str = "/Script/Core.Object";

/// How the paths begin of what scripts call: no other code uses it.
const OF_SCRIPTS: &str = "/Script/Script.";

/// The native types of a world.
pub(crate) fn of_natives(world: &World) -> Declared {
    of_types(world, &|origin, path| origin == Origin::Native && path != ROOT && !path.starts_with(OF_SCRIPTS))
}

/// The types of a package of scripts, as a world has them.
#[cfg(feature = "script")]
pub(crate) fn of_package(world: &World, package: &str) -> Declared {
    let start = format!("/Script/{package}.");
    of_types(world, &|origin, path| origin == Origin::Script && path.starts_with(&start))
}

/// The types of a world of which that is so.
fn of_types(world: &World, is_meant: &dyn Fn(Origin, &str) -> bool) -> Declared {
    let (types, names) = (&world.types, &*world.names);
    let delegates = types.delegates().into_iter().filter(|found| is_meant(found.origin, &found.path));
    let structs = types.structs().into_iter().filter(|found| is_meant(found.origin, &found.path));
    let interfaces = types.interfaces().into_iter().filter(|found| is_meant(found.origin, &found.path));
    let classes = types.classes().into_iter().filter(|found| is_meant(found.origin, &found.path));
    let functions = |found: &[std::rc::Rc<Function>]| found.iter().map(|found| function(found, names)).collect();
    Declared {
        classes: classes.map(|found| class(&found, names)).collect(),
        enums: types
            .enums()
            .into_iter()
            .filter(|found| is_meant(found.origin, &found.path))
            .map(|found| enumeration(&found))
            .collect(),
        delegates: delegates.map(|found| of_delegate(&found, names)).collect(),
        structs: structs
            .map(|found| DeclaredStruct {
                path: found.path.to_string(),
                base: found.base().map(|base| base.path.to_string()).unwrap_or_default(),
                size: found.size() as u32,
                align: found.align() as u32,
                fields: found.own_fields().iter().map(|field| property(field, names)).collect(),
                doc: found.doc.to_string(),
            })
            .collect(),
        interfaces: interfaces
            .map(|found| DeclaredInterface {
                path: found.path.to_string(),
                functions: functions(&found.functions),
                doc: found.doc.to_string(),
            })
            .collect(),
        ..Declared::default()
    }
    .in_order()
}

fn enumeration(found: &EnumType) -> DeclaredEnum {
    let entry = |entry: &EnumEntry| DeclaredEntry {
        name: entry.name.to_string(),
        number: entry.number,
        display: entry.display.to_string(),
        is_hidden: entry.is_hidden,
        doc: entry.doc.to_string(),
    };
    DeclaredEnum {
        path: found.path.to_string(),
        underlying: found.underlying().to_string(),
        is_flags: found.is_flags,
        entries: found.entries().iter().map(entry).collect(),
        doc: found.doc.to_string(),
    }
}

/// A delegate, whoever declares it.
pub(crate) fn of_delegate(found: &DelegateType, names: &Names) -> DeclaredDelegate {
    DeclaredDelegate {
        path: found.path.to_string(),
        sort: flags::of_delegate(found.kind),
        params: found.arguments().iter().map(|param| property(param, names)).collect(),
        result: found.result().map(|result| flags::type_text(result.ty.kind(), result.ty.type_path())),
        doc: found.doc.to_string(),
    }
}

fn class(found: &Class, names: &Names) -> DeclaredClass {
    DeclaredClass {
        path: found.path.to_string(),
        base: found.base.as_ref().map(|base| base.path.to_string()).unwrap_or_default(),
        flags: flags::words(flags::OF_CLASSES, found.flags),
        properties: found.own_properties.iter().map(|found| property(found, names)).collect(),
        functions: found.own_functions.iter().map(|found| function(found, names)).collect(),
        implements: found.interfaces.iter().map(ToString::to_string).collect(),
        doc: found.doc.to_string(),
    }
}

fn function(found: &Function, names: &Names) -> DeclaredFunction {
    let text = |result: &Property| flags::type_text(result.ty.kind(), result.ty.type_path());
    DeclaredFunction {
        name: found.text.to_string(),
        flags: flags::words(flags::OF_FUNCTIONS, found.flags),
        overrides: found.overrides.as_deref().unwrap_or_default().to_owned(),
        params: found.arguments().iter().map(|param| property(param, names)).collect(),
        result: found.result().map(text),
        meta: meta(&found.meta),
        doc: found.doc.to_string(),
    }
}

fn property(found: &Property, names: &Names) -> DeclaredProperty {
    DeclaredProperty {
        name: found.text.to_string(),
        ty: flags::type_text(found.ty.kind(), found.ty.type_path()),
        flags: flags::words(flags::OF_PROPERTIES, found.flags),
        default: found.default.as_ref().map(|value| value.print(names)).unwrap_or_default(),
        meta: meta(&found.meta),
        doc: found.doc.to_string(),
    }
}

fn meta(found: &Meta) -> BTreeMap<String, String> {
    found.iter().cloned().collect()
}
