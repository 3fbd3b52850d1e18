//! Converts the native types in a host's registry to public declarations.

use std::rc::Rc;

use super::{Declarations, Declared, DeclaredDelegate, Form};
use crate::callback::is_closure;
use crate::object::World;
use crate::object::class::Class;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl,
};
use crate::object::delegates::DelegateType;
use crate::object::enums::EnumType;
use crate::object::function::Function;
use crate::object::interface::Interface;
use crate::object::names::Names;
use crate::object::origin::Origin;
use crate::object::property::Property;
use crate::object::structs::StructType;

/// Root class. Every plugin can use the root class without an import.
const ROOT: &str = "/Script/Core.Object";

/// Path prefix of the types of the script library. Only scripts use these types.
const OF_SCRIPTS: &str = "/Script/Script.";

/// Returns the native types of a world.
pub(crate) fn of_natives(world: &World) -> Declared {
    let is_omitted = |path: &str| path == ROOT || path.starts_with(OF_SCRIPTS) || is_closure(path);
    of_types(world, &|origin, path| origin == Origin::Native && !is_omitted(path))
}

/// Returns the types of a script package in a world.
#[cfg(feature = "script")]
pub(crate) fn of_package(world: &World, package: &str) -> Declared {
    let start = format!("/Script/{package}.");
    of_types(world, &|origin, path| origin == Origin::Script && path.starts_with(&start))
}

/// Converts a delegate. The delegate may be native, dynamic or declared by a script.
pub(crate) fn of_delegate(found: &DelegateType, names: &Names) -> DeclaredDelegate {
    Form::of(delegate(found, names))
}

/// Returns the types of a world that satisfy a predicate.
pub(crate) fn of_types(world: &World, is_meant: &dyn Fn(Origin, &str) -> bool) -> Declared {
    let (types, names) = (&world.types, &*world.names);
    macro_rules! meant {
        ($found:expr, $decl:expr) => {
            $found.iter().filter(|found| is_meant(found.origin, &found.path)).map(|found| $decl(found, names)).collect()
        };
    }
    let batch = Batch {
        interfaces: meant!(types.interfaces(), interface),
        enums: meant!(types.enums(), enumeration),
        delegates: meant!(types.delegates(), delegate),
        structs: meant!(types.structs(), structure),
        classes: meant!(types.classes(), class),
        earlier_names: Vec::new(),
    };
    Declarations::new("", batch, Vec::new(), Vec::new()).declared()
}

fn interface(found: &Interface, names: &Names) -> InterfaceDecl {
    InterfaceDecl {
        functions: functions(&found.functions, names),
        doc: found.doc.to_string(),
        ..InterfaceDecl::new(&found.package, &found.name, found.origin)
    }
}

fn enumeration(found: &EnumType, _names: &Names) -> EnumDecl {
    EnumDecl {
        is_flags: found.is_flags,
        entries: found.entries().to_vec(),
        doc: found.doc.to_string(),
        ..EnumDecl::new(&found.package, &found.name, found.underlying_kind(), found.origin)
    }
}

fn delegate(found: &DelegateType, names: &Names) -> DelegateDecl {
    DelegateDecl {
        class: found.class.as_deref().unwrap_or_default().to_owned(),
        params: found.arguments().iter().chain(found.result()).map(|param| property(param, names)).collect(),
        doc: found.doc.to_string(),
        ..DelegateDecl::new(&found.package, &found.name, found.kind, found.origin)
    }
}

fn structure(found: &StructType, names: &Names) -> StructDecl {
    StructDecl {
        base: found.base().map(|base| base.path.to_string()).unwrap_or_default(),
        size: found.size() as u32,
        align: found.align() as u32,
        fields: found.own_fields().iter().map(|field| property(field, names)).collect(),
        doc: found.doc.to_string(),
        ..StructDecl::new(&found.package, &found.name, found.origin)
    }
}

fn class(found: &Class, names: &Names) -> ClassDecl {
    let base = found.base.as_ref().map_or("", |base| &*base.path);
    ClassDecl {
        flags: found.flags,
        properties: found.own_properties.iter().map(|found| property(found, names)).collect(),
        functions: functions(&found.own_functions, names),
        interfaces: found.interfaces.iter().map(ToString::to_string).collect(),
        doc: found.doc.to_string(),
        ..ClassDecl::new(&found.package, &found.name, base, found.origin)
    }
}

fn functions(found: &[Rc<Function>], names: &Names) -> Vec<FunctionDecl> {
    let function = |found: &Rc<Function>| FunctionDecl {
        flags: found.flags,
        overrides: found.overrides.as_deref().unwrap_or_default().to_owned(),
        params: found.params.iter().map(|param| property(param, names)).collect(),
        doc: found.doc.to_string(),
        meta: found.meta.clone(),
        ..FunctionDecl::without_body(&found.text)
    };
    found.iter().map(function).collect()
}

fn property(found: &Property, names: &Names) -> PropertyDecl {
    PropertyDecl {
        flags: found.flags,
        default: found.default.as_ref().map(|value| value.print(names)).unwrap_or_default(),
        doc: found.doc.to_string(),
        meta: found.meta.to_vec(),
        ..PropertyDecl::new(&found.text, found.ty.kind()).of_type(found.ty.type_path())
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};

    use super::{
        Batch, ClassDecl, Declared, DelegateDecl, FunctionDecl, InterfaceDecl, Origin, PropertyDecl, StructDecl,
        of_types,
    };
    use crate::object::testing::world;

    /// Returns declarations of a struct, an interface, two delegates, and a class with properties and functions.
    fn declared(origin: Origin) -> Batch {
        let structs = vec![StructDecl {
            fields: vec![PropertyDecl::new("x", PropertyKind::F64)],
            ..StructDecl::new("Game", "Point", origin)
        }];
        let function = |name| FunctionDecl {
            params: vec![PropertyDecl::new("by", PropertyKind::U32), PropertyDecl::result(PropertyKind::BOOL)],
            ..FunctionDecl::new(name, Rc::new(|_context, _frame| Ok(())))
        };
        let interfaces = vec![InterfaceDecl {
            functions: vec![FunctionDecl { params: function("").params, ..FunctionDecl::without_body("turn") }],
            ..InterfaceDecl::new("Game", "Turns", origin)
        }];
        let by = vec![PropertyDecl::new("by", PropertyKind::STRUCT).of_type("/Script/Game.Point")];
        let multicast = PropertyKind::MULTICAST_DELEGATE;
        let delegates = vec![
            DelegateDecl { params: by.clone(), ..DelegateDecl::new("Game", "OnMoved", multicast, origin) },
            DelegateDecl {
                class: "/Script/Game.Wheel".to_owned(),
                params: vec![PropertyDecl::result(PropertyKind::BOOL)],
                ..DelegateDecl::new("Game", "MayTurn", PropertyKind::DELEGATE, origin)
            },
        ];
        let place = PropertyDecl::new("place", PropertyKind::STRUCT).of_type("/Script/Game.Point");
        let classes = vec![ClassDecl {
            properties: vec![PropertyDecl::new("gain", PropertyKind::F32).with_default("1.5"), place],
            functions: vec![function("turn"), function("stop")],
            interfaces: vec!["/Script/Game.Turns".to_owned()],
            ..ClassDecl::new("Game", "Wheel", "/Script/Engine.Object", origin)
        }];
        Batch { interfaces, delegates, structs, classes, ..Batch::default() }
    }

    fn read(batch: &Batch) -> Declared {
        let world = world();
        world.types.declare(&world.names, batch).expect("a right declaration");
        of_types(&world, &|_, path| path.starts_with("/Script/Game."))
    }

    #[test]
    fn forms_ignore_the_origin_and_cover_the_whole_declaration() {
        let native = read(&declared(Origin::Native));
        assert_eq!(native, read(&declared(Origin::Dynamic)));
        type Flip = (&'static str, fn(&mut Batch));
        let flips: &[Flip] = &[
            ("a flag of a property", |batch| batch.classes[0].properties[0].flags ^= property_flags::TRANSIENT),
            ("a default", |batch| batch.classes[0].properties[0].default = "2.5".to_owned()),
            ("the doc of a property", |batch| batch.classes[0].properties[0].doc = "Loud.".to_owned()),
            ("metadata of a property", |batch| {
                batch.classes[0].properties[0].meta = vec![("category".to_owned(), "Sound".to_owned())];
            }),
            ("the order of properties", |batch| batch.classes[0].properties.swap(0, 1)),
            ("a flag of a function", |batch| batch.classes[0].functions[1].flags ^= function_flags::CONST),
            ("an event", |batch| batch.classes[0].functions[1].flags ^= function_flags::NATIVE_EVENT),
            ("the default of a parameter", |batch| batch.classes[0].functions[1].params[0].default = "7".to_owned()),
            ("the doc of a function", |batch| batch.classes[0].functions[1].doc = "Stops.".to_owned()),
            ("metadata of a function", |batch| {
                batch.classes[0].functions[1].meta = vec![("category".to_owned(), "Motion".to_owned())];
            }),
            ("the name of a parameter", |batch| batch.classes[0].functions[1].params[0].name = "to".to_owned()),
            ("a flag of a class", |batch| batch.classes[0].flags ^= class_flags::BLUEPRINTABLE),
            ("the doc of a class", |batch| batch.classes[0].doc = "Round.".to_owned()),
            ("an interface of a class", |batch| batch.classes[0].interfaces.clear()),
            ("a flag of an interface's function", |batch| {
                batch.interfaces[0].functions[0].flags ^= function_flags::FALLIBLE;
            }),
            ("the doc of an interface", |batch| batch.interfaces[0].doc = "Can be turned.".to_owned()),
            ("the kind of a delegate", |batch| batch.delegates[0].kind = PropertyKind::SPARSE_DELEGATE),
            ("the name of a delegate's parameter", |batch| batch.delegates[0].params[0].name = "way".to_owned()),
            ("the result of a delegate", |batch| batch.delegates[1].params.clear()),
            ("the doc of a delegate", |batch| batch.delegates[0].doc = "It moved.".to_owned()),
            ("the class of a delegate", |batch| batch.delegates[1].class.clear()),
            ("a field", |batch| batch.structs[0].fields[0].name = "y".to_owned()),
            ("the base of a struct", |batch| {
                batch.structs.push(StructDecl::new("Game", "Empty", Origin::Dynamic));
                batch.structs[0].base = "/Script/Game.Empty".to_owned();
            }),
            ("the doc of a struct", |batch| batch.structs[0].doc = "A place.".to_owned()),
        ];
        for (what, flip) in flips {
            let mut batch = declared(Origin::Dynamic);
            flip(&mut batch);
            assert_ne!(native, read(&batch), "{what}");
        }
    }
}
