//! Text dump of all types of a package, so that tests can compare two registries: a type declared by a host and the same
//! type declared by a module must be equal in all fields except their origin. Structs are destructured by field, so that a
//! new field has to be compared or excluded explicitly.

use std::fmt::Write as _;
use std::rc::Rc;

use crate::class::{Class, Subobject};
use crate::delegates::DelegateType;
use crate::enums::{EnumEntry, EnumType};
use crate::function::Function;
use crate::interface::Interface;
use crate::names::Names;
use crate::property::Property;
use crate::structs::{Nature, StructType};
use crate::types::Types;

/// Returns the types of a package, one line per type and member, sorted by path.
pub fn dump(types: &Types, names: &Names, package: &str) -> String {
    let mut text = String::new();
    for interface in types.interfaces().iter().filter(|found| *found.package == *package) {
        dump_interface(&mut text, names, interface);
    }
    for enumeration in types.enums().iter().filter(|found| *found.package == *package) {
        dump_enum(&mut text, enumeration);
    }
    for delegate in types.delegates().iter().filter(|found| *found.package == *package) {
        dump_delegate(&mut text, names, delegate);
    }
    for structure in types.structs().iter().filter(|found| *found.package == *package) {
        dump_struct(&mut text, names, structure);
    }
    let mut classes = types.classes();
    classes.sort_by(|one, other| one.path.cmp(&other.path));
    for class in classes.iter().filter(|found| *found.package == *package) {
        dump_class(&mut text, names, class);
    }
    text
}

fn line(text: &mut String, args: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _written = writeln!(text, "{args}");
}

fn dump_interface(text: &mut String, names: &Names, interface: &Interface) {
    let Interface { path, name, package, origin: _, functions, doc } = interface;
    line(text, format_args!("interface {path} {name} {package} {doc:?}"));
    functions.iter().for_each(|function| dump_function(text, names, function));
}

fn dump_enum(text: &mut String, enumeration: &EnumType) {
    let EnumType { path, name, package, origin: _, doc, is_flags, entries, underlying, fingerprint } = enumeration;
    line(text, format_args!("enum {path} {name} {package} {doc:?} {underlying} {is_flags} {fingerprint:#x}"));
    for EnumEntry { name, number, display, is_hidden, doc } in entries {
        line(text, format_args!("  {name} {number} {display:?} {is_hidden} {doc:?}"));
    }
}

fn dump_delegate(text: &mut String, names: &Names, delegate: &DelegateType) {
    let DelegateType { path, name, package, class, origin: _, doc, kind, params, words, fingerprint } = delegate;
    line(text, format_args!("delegate {path} {name} {package} {class:?} {doc:?} {kind:?} {words} {fingerprint:#x}"));
    params.iter().for_each(|param| dump_property(text, names, param));
}

fn dump_struct(text: &mut String, names: &Names, structure: &StructType) {
    let StructType { path, name, package, origin: _, doc, base, fields, size, align, fingerprint, nature } = structure;
    let base = base.as_ref().map(|base| &*base.path);
    let Nature { owns_memory, holds_objects, names_objects, can_be_key, has_defaults } = nature;
    let nature = [owns_memory, holds_objects, names_objects, can_be_key, has_defaults];
    line(
        text,
        format_args!("struct {path} {name} {package} {base:?} {doc:?} {size} {align} {fingerprint:#x} {nature:?}"),
    );
    fields.iter().for_each(|field| dump_property(text, names, field));
}

fn dump_class(text: &mut String, names: &Names, class: &Class) {
    let Class {
        id: _,
        path,
        name,
        package,
        base,
        origin: _,
        flags,
        doc,
        own_properties,
        properties,
        own_functions,
        vtable,
        subobjects,
        subobject_overrides,
        default_overrides,
        interfaces,
        // Code and origin, which may differ.
        script_defaults: _,
        native_constructor: _,
        native_post_init: _,
        begin_destroy: _,
        add_references: _,
        tag: _,
        cdo: _,
        // Derived from the other fields.
        members: _,
    } = class;
    let base = base.as_ref().map(|base| &base.path);
    line(text, format_args!("class {path} {name} {package} {base:?} {flags:#x} {doc:?} {interfaces:?}"));
    let properties: Vec<_> = properties.iter().map(|property| (&property.owner, &property.text)).collect();
    let vtable: Vec<_> = vtable.iter().map(|function| &function.path).collect();
    line(text, format_args!("  {properties:?} {vtable:?} {subobject_overrides:?} {default_overrides:?}"));
    for Subobject { property, name, class_path, role } in subobjects {
        line(text, format_args!("  subobject {} {name} {class_path} {role:?}", property.text));
    }
    own_properties.iter().for_each(|property| dump_property(text, names, property));
    own_functions.iter().for_each(|function| dump_function(text, names, function));
}

fn dump_property(text: &mut String, names: &Names, property: &Property) {
    let Property { name: _, text: name, display, ty, flags, default, doc, meta, offset, owner } = property;
    let default = default.as_ref().map(|value| value.print(names));
    line(
        text,
        format_args!("  {name} {display:?} {ty} {flags:#x} {default:?} {doc:?} {meta:?} at {offset} of {owner}"),
    );
}

fn dump_function(text: &mut String, names: &Names, function: &Rc<Function>) {
    let Function {
        name: _,
        text: name,
        path,
        owner: _,
        interface,
        flags,
        params,
        fingerprint,
        vslot,
        overrides,
        doc,
        meta,
        thunk: _,
        black_code: _,
        tag: _,
        // Derived from the parameters.
        schema: _,
        words,
    } = &**function;
    line(
        text,
        format_args!("  {name}({words}) {path} {interface:?} {flags:#x} {fingerprint:#x} {vslot:?} {overrides:?}"),
    );
    line(text, format_args!("    {doc:?} {meta:?}"));
    params.iter().for_each(|param| dump_property(text, names, param));
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};

    use super::dump;
    use crate::decl::{Batch, ClassDecl, DelegateDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl};
    use crate::origin::Origin;
    use crate::testing::world;

    /// Declares a struct, an interface, two delegates, and a class with every kind of member.
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

    fn dumped(batch: &Batch) -> String {
        let world = world();
        world.types.declare(&world.names, batch).expect("a right declaration");
        dump(&world.types, &world.names, "Game")
    }

    #[test]
    fn dumps_ignore_the_origin_and_cover_the_whole_declaration() {
        let native = dumped(&declared(Origin::Native));
        assert_eq!(native, dumped(&declared(Origin::Dynamic)));
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
            assert_ne!(native, dumped(&batch), "{what}");
        }
    }
}
