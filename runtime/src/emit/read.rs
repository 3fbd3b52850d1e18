//! Copies the descriptions of one module into declarations of the host. Everything a declaration keeps is the host's
//! own afterwards; only function pointers stay, behind the module's gate.

use std::rc::{Rc, Weak};

use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, EnumDesc, EnumEntryDesc, FunctionDesc, InterfaceDesc, MetaDesc, PropertyDesc,
    SignatureDesc, StructDesc,
};
use alcedo_abi::direct::DirectMethod;
use alcedo_abi::kinds::{PropertyKind, property_flags};
use rustc_hash::FxHashMap;

use crate::bridge::core::Core;
use crate::bridge::module_thunk::module_thunk;
use crate::conjugate::gate::Gate;
use crate::emit::described::Described;
use crate::emit::error::EmitError;
use crate::emit::texts;
use crate::object::class::SubobjectRole;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, StructDecl, SubobjectDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::meta::Meta;
use crate::object::origin::Origin;
use crate::object::path::TypePath;

/// Adds what a module declares to a batch.
///
/// # Errors
/// When a text is none that a host shows, or a property or parameter is of a kind this host does not know.
pub(crate) fn add(
    batch: &mut Batch,
    core: &Weak<Core>,
    gate: &Rc<Gate>,
    described: Described,
) -> Result<(), EmitError> {
    texts::check(&gate.tag().name, described)?;
    batch.earlier_names.extend(meta(described.earlier_names.iter().copied()));
    for found in described.interfaces {
        batch.interfaces.push(interface_decl(gate, found)?);
    }
    batch.enums.extend(described.enums.iter().map(|found| enum_decl(found)));
    for found in described.delegates {
        batch.delegates.push(delegate_decl(gate, found)?);
    }
    for found in described.structs {
        batch.structs.push(struct_decl(gate, found)?);
    }
    // The linker puts a module's classes in an order of its own; what happens to them must not depend on it.
    let mut classes = described.classes.to_vec();
    classes.sort_by_key(|found| (found.package.as_str(), found.name.as_str()));
    for found in classes {
        batch.classes.push(class_decl(core, gate, found)?);
    }
    Ok(())
}

/// The declaration of an enum.
pub(crate) fn enum_decl(described: &EnumDesc) -> EnumDecl {
    let is_signed = [PropertyKind::I8, PropertyKind::I16, PropertyKind::I32, PropertyKind::I64];
    let is_signed = is_signed.contains(&described.underlying);
    let entry = |found: &EnumEntryDesc| EnumEntry {
        name: found.name.as_str().into(),
        number: if is_signed { found.number.cast_signed().into() } else { found.number.into() },
        display: found.display.as_str().into(),
        is_hidden: found.hidden != 0,
        doc: found.doc.as_str().into(),
    };
    EnumDecl {
        package: described.package.as_str().to_owned(),
        name: described.name.as_str().to_owned(),
        origin: Origin::Dynamic,
        underlying: described.underlying,
        is_flags: described.flags != 0,
        entries: described.entries.iter().map(entry).collect(),
        fingerprint: described.fingerprint,
        doc: described.doc.as_str().to_owned(),
    }
}

fn delegate_decl(gate: &Gate, described: &DelegateDesc) -> Result<DelegateDecl, EmitError> {
    let class = described.class.as_str();
    // A path that is none is refused with the rest of the declaration.
    let package = class.parse::<TypePath>().map_or_else(|_| described.package.as_str().to_owned(), |path| path.package);
    Ok(DelegateDecl {
        package,
        class: class.to_owned(),
        name: described.name.as_str().to_owned(),
        origin: Origin::Dynamic,
        kind: described.kind,
        params: properties(gate, described.name.as_str(), &described.params)?,
        fingerprint: described.fingerprint,
        doc: described.doc.as_str().to_owned(),
    })
}

fn struct_decl(gate: &Gate, described: &StructDesc) -> Result<StructDecl, EmitError> {
    let mut fields = properties(gate, described.name.as_str(), &described.fields)?;
    let extends = |first: &PropertyDecl| first.flags & property_flags::BASE != 0 && first.kind == PropertyKind::STRUCT;
    let base = if fields.first().is_some_and(extends) { fields.remove(0).type_path } else { String::new() };
    Ok(StructDecl {
        package: described.package.as_str().to_owned(),
        name: described.name.as_str().to_owned(),
        origin: Origin::Dynamic,
        base,
        fields,
        fingerprint: described.fingerprint,
        doc: described.doc.as_str().to_owned(),
    })
}

fn interface_decl(gate: &Gate, described: &InterfaceDesc) -> Result<InterfaceDecl, EmitError> {
    let short = format!("{}.{}", described.package, described.name);
    let function = |described: &SignatureDesc| -> Result<_, EmitError> {
        let name = described.name.as_str();
        Ok(FunctionDecl {
            flags: described.flags,
            params: properties(gate, &format!("{short}:{name}"), &described.params)?,
            fingerprint: described.fingerprint,
            doc: described.doc.as_str().to_owned(),
            tag: gate.tag().id.0,
            ..FunctionDecl::without_body(name)
        })
    };
    Ok(InterfaceDecl {
        package: described.package.as_str().to_owned(),
        name: described.name.as_str().to_owned(),
        origin: Origin::Dynamic,
        functions: described.functions.iter().map(function).collect::<Result<_, _>>()?,
        doc: described.doc.as_str().to_owned(),
    })
}

/// The declaration of a class, with thunks that lead into the module.
fn class_decl(core: &Weak<Core>, gate: &Rc<Gate>, described: &ClassDesc) -> Result<ClassDecl, EmitError> {
    let short = format!("{}.{}", described.package, described.name);
    let functions = described
        .functions
        .iter()
        .map(|function| function_decl(core, gate, &short, function))
        .collect::<Result<_, _>>()?;
    Ok(ClassDecl {
        package: described.package.as_str().to_owned(),
        name: described.name.as_str().to_owned(),
        base: described.base.as_str().to_owned(),
        origin: Origin::Dynamic,
        flags: described.flags,
        doc: described.doc.as_str().to_owned(),
        properties: properties(gate, &short, &described.properties)?,
        functions,
        subobjects: {
            let instead = |said: &MetaDesc| SubobjectDecl::instead(said.key.as_str(), said.value.as_str());
            let own = described.properties.iter().filter_map(subobject);
            own.chain(described.subobject_classes.iter().map(instead)).collect()
        },
        default_overrides: meta(&*described.default_overrides),
        script_defaults: None,
        interfaces: described.implements.iter().map(|path| path.as_str().to_owned()).collect(),
        native_constructor: None,
        native_post_init: None,
        begin_destroy: None,
        add_references: None,
        tag: gate.tag().id.0,
    })
}

fn function_decl(
    core: &Weak<Core>,
    gate: &Rc<Gate>,
    class: &str,
    described: &FunctionDesc,
) -> Result<FunctionDecl, EmitError> {
    let what: Rc<str> = format!("{class}:{}", described.name).into();
    Ok(FunctionDecl {
        name: described.name.as_str().to_owned(),
        flags: described.flags,
        overrides: described.overrides.as_str().to_owned(),
        params: properties(gate, &what, &described.params)?,
        fingerprint: described.fingerprint,
        doc: described.doc.as_str().to_owned(),
        meta: meta(&*described.meta),
        thunk: module_thunk(Weak::clone(core), Rc::clone(gate), described.invoke, what),
        black_code: None,
        tag: gate.tag().id.0,
    })
}

/// The functions of a class that may be called directly, by name, with what they are called in red frames.
pub(crate) fn direct_methods(described: &ClassDesc) -> FxHashMap<Box<str>, (Rc<str>, DirectMethod)> {
    let class = format!("{}.{}", described.package, described.name);
    let direct = described.functions.iter().filter_map(|function| Some((function, function.direct.into_option()?)));
    direct
        .map(|(function, direct)| {
            (function.name.as_str().into(), (format!("{class}:{}", function.name).into(), direct))
        })
        .collect()
}

/// Copies keys and values.
fn meta<'a>(described: impl IntoIterator<Item = &'a MetaDesc>) -> Meta {
    described.into_iter().map(|said| (said.key.as_str().to_owned(), said.value.as_str().to_owned())).collect()
}

fn subobject(described: &PropertyDesc) -> Option<SubobjectDecl> {
    let is = |flag| described.flags & flag != 0;
    is(property_flags::DEFAULT_SUBOBJECT).then(|| SubobjectDecl {
        property: described.name.as_str().to_owned(),
        class_path: described.type_path.as_str().to_owned(),
        role: if is(property_flags::ROOT_COMPONENT) { SubobjectRole::Root } else { SubobjectRole::Part },
    })
}

fn properties(gate: &Gate, owner: &str, described: &[PropertyDesc]) -> Result<Vec<PropertyDecl>, EmitError> {
    described
        .iter()
        .map(|property| {
            if property.kind.text().is_none() {
                return Err(EmitError::Description {
                    module: gate.tag().name.to_string(),
                    what: format!("{owner}.{}", property.name),
                    number: u64::from(property.kind.0),
                });
            }
            Ok(PropertyDecl {
                name: property.name.as_str().to_owned(),
                kind: property.kind,
                type_path: property.type_path.as_str().to_owned(),
                flags: property.flags,
                default: property.default.as_str().to_owned(),
                doc: property.doc.as_str().to_owned(),
                meta: meta(&*property.meta),
            })
        })
        .collect()
}
