//! What a module declares that is loaded: its descriptions lie in its image.

use std::collections::BTreeMap;

use alcedo_abi::abi_stable::std_types::RStr;
use alcedo_abi::describe::{
    ClassDesc, DelegateDesc, FunctionDesc, InterfaceDesc, MetaDesc, PropertyDesc, SignatureDesc, StructDesc,
};
use alcedo_abi::kinds::property_flags;

use super::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEnum, DeclaredExport, DeclaredFunction, DeclaredImport,
    DeclaredInterface, DeclaredProperty, DeclaredStruct, delegate_path, flags, take_base, type_path,
};
use crate::bridge::exports::export_name;
use crate::emit::described::Described;
use crate::emit::read::enum_decl;

/// What the module of that name declares.
pub(crate) fn of_loaded(module: &str, described: Described) -> Declared {
    let export = |found: &&alcedo_abi::describe::ExportDesc| DeclaredExport {
        name: export_name(module, found.type_path.as_str(), found.name.as_str()),
        signature: text(found.signature),
    };
    let import = |found: &&alcedo_abi::describe::ImportDesc| DeclaredImport {
        path: text(found.path),
        kind: flags::of_import(found.kind),
    };
    Declared {
        classes: described.classes.iter().copied().map(class).collect(),
        enums: described.enums.iter().map(|found| DeclaredEnum::new(enum_decl(found))).collect(),
        delegates: described.delegates.iter().copied().map(delegate).collect(),
        structs: described.structs.iter().copied().map(structure).collect(),
        interfaces: described.interfaces.iter().copied().map(interface).collect(),
        exports: described.exports.iter().map(export).collect(),
        imports: described.all_imports().iter().map(import).collect(),
    }
    .in_order()
}

fn text(text: RStr<'_>) -> String {
    text.as_str().to_owned()
}

fn class(found: &ClassDesc) -> DeclaredClass {
    DeclaredClass {
        path: type_path(found.package.as_str(), found.name.as_str()),
        base: text(found.base),
        flags: flags::words(flags::OF_CLASSES, found.flags),
        properties: found.properties.iter().map(property).collect(),
        functions: found.functions.iter().map(function).collect(),
        implements: found.implements.iter().map(|path| text(*path)).collect(),
        doc: text(found.doc),
    }
}

fn delegate(found: &DelegateDesc) -> DeclaredDelegate {
    let DeclaredFunction { params, result, .. } =
        declared(String::new(), 0, String::new(), &found.params, String::new());
    DeclaredDelegate {
        path: delegate_path(found.package.as_str(), found.class.as_str(), found.name.as_str()),
        sort: flags::of_delegate(found.kind),
        params,
        result,
        doc: text(found.doc),
    }
}

fn structure(found: &StructDesc) -> DeclaredStruct {
    let mut fields: Vec<_> = found.fields.iter().map(property).collect();
    DeclaredStruct {
        base: take_base(&mut fields),
        path: type_path(found.package.as_str(), found.name.as_str()),
        size: found.size,
        align: found.align,
        fields,
        doc: text(found.doc),
    }
}

fn interface(found: &InterfaceDesc) -> DeclaredInterface {
    DeclaredInterface {
        path: type_path(found.package.as_str(), found.name.as_str()),
        functions: found.functions.iter().map(signature).collect(),
        doc: text(found.doc),
    }
}

fn function(found: &FunctionDesc) -> DeclaredFunction {
    let overrides = text(found.overrides);
    DeclaredFunction {
        meta: meta(&found.meta),
        ..declared(text(found.name), found.flags, overrides, &found.params, text(found.doc))
    }
}

fn signature(found: &SignatureDesc) -> DeclaredFunction {
    declared(text(found.name), found.flags, String::new(), &found.params, text(found.doc))
}

fn declared(name: String, flags: u64, overrides: String, params: &[PropertyDesc], doc: String) -> DeclaredFunction {
    let is_result = |param: &&PropertyDesc| param.flags & property_flags::RETURN != 0;
    DeclaredFunction {
        name,
        flags: flags::words(flags::OF_FUNCTIONS, flags),
        overrides,
        params: params.iter().filter(|param| !is_result(param)).map(property).collect(),
        result: params.iter().find(is_result).map(|param| flags::type_text(param.kind, param.type_path.as_str())),
        meta: BTreeMap::new(),
        doc,
    }
}

fn meta(found: &[MetaDesc]) -> BTreeMap<String, String> {
    found.iter().map(|entry| (text(entry.key), text(entry.value))).collect()
}

fn property(found: &PropertyDesc) -> DeclaredProperty {
    DeclaredProperty {
        name: text(found.name),
        ty: flags::type_text(found.kind, found.type_path.as_str()),
        flags: flags::words(flags::OF_PROPERTIES, found.flags),
        default: text(found.default),
        meta: meta(&found.meta),
        doc: text(found.doc),
    }
}
