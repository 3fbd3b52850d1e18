//! Native types that a host declares, read from its registry.

use std::rc::Rc;

use super::{Declarations, Declared, DeclaredDelegate, Form};
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

/// The root class, which every plugin has.
const ROOT: &str = "/Script/Core.Object";

/// Path prefix of the types that only scripts use.
const OF_SCRIPTS: &str = "/Script/Script.";

/// Returns the native types of a world.
pub(crate) fn of_natives(world: &World) -> Declared {
    of_types(world, &|origin, path| origin == Origin::Native && path != ROOT && !path.starts_with(OF_SCRIPTS))
}

/// Returns the types of a package of scripts, read from a world.
#[cfg(feature = "script")]
pub(crate) fn of_package(world: &World, package: &str) -> Declared {
    let start = format!("/Script/{package}.");
    of_types(world, &|origin, path| origin == Origin::Script && path.starts_with(&start))
}

/// Converts a delegate, of any origin.
pub(crate) fn of_delegate(found: &DelegateType, names: &Names) -> DeclaredDelegate {
    Form::of(delegate(found, names))
}

/// Returns the types of a world that satisfy a predicate.
fn of_types(world: &World, is_meant: &dyn Fn(Origin, &str) -> bool) -> Declared {
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
