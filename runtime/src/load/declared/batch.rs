//! From what a library says of itself back to declarations, without any code behind them: so the text of scripts is checked against
//! types of plugins that are only files.

use alcedo_abi::kinds::{PropertyKind, property_flags};

use super::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEntry, DeclaredEnum, DeclaredFunction, DeclaredProperty,
    DeclaredStruct, flags,
};
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, RESULT_NAME, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::origin::Origin;
use crate::object::path::TypePath;

/// Adds what a module declares to a batch. Its functions have no bodies.
///
/// # Errors
/// The first path, type or word that this build does not know.
pub(crate) fn add(batch: &mut Batch, declared: &Declared) -> Result<(), String> {
    for found in &declared.interfaces {
        let TypePath { package, name } = path(&found.path)?;
        let functions = found.functions.iter().map(function).collect::<Result<_, _>>()?;
        let doc = found.doc.clone();
        batch.interfaces.push(InterfaceDecl { functions, doc, ..InterfaceDecl::new(&package, &name, Origin::Dynamic) });
    }
    for found in &declared.enums {
        batch.enums.push(enumeration(found)?);
    }
    for found in &declared.delegates {
        batch.delegates.push(delegate(found)?);
    }
    for found in &declared.structs {
        batch.structs.push(structure(found)?);
    }
    for found in &declared.classes {
        batch.classes.push(class(found)?);
    }
    Ok(())
}

fn path(text: &str) -> Result<TypePath, String> {
    text.parse().map_err(|error: crate::object::path::PathError| error.to_string())
}

fn enumeration(found: &DeclaredEnum) -> Result<EnumDecl, String> {
    let TypePath { package, name } = path(&found.path)?;
    let entry = |entry: &DeclaredEntry| EnumEntry {
        name: entry.name.as_str().into(),
        number: entry.number,
        display: entry.display.as_str().into(),
        is_hidden: entry.is_hidden,
        doc: entry.doc.as_str().into(),
    };
    Ok(EnumDecl {
        package,
        name,
        origin: Origin::Dynamic,
        underlying: kind(&found.underlying)?.0,
        is_flags: found.is_flags,
        entries: found.entries.iter().map(entry).collect(),
        fingerprint: 0,
        doc: found.doc.clone(),
    })
}

fn delegate(found: &DeclaredDelegate) -> Result<DelegateDecl, String> {
    // A delegate of a class has its name behind the path of that.
    let (class, name) = found.path.split_once(':').map_or((None, ""), |(class, name)| (Some(class), name));
    let owner = path(class.unwrap_or(&found.path))?;
    let name = if class.is_some() { name } else { &owner.name };
    let kind = flags::delegate_kind(&found.sort).ok_or_else(|| unknown(&found.sort))?;
    Ok(DelegateDecl {
        class: class.unwrap_or_default().to_owned(),
        params: params(&found.params, found.result.as_deref())?,
        doc: found.doc.clone(),
        ..DelegateDecl::new(&owner.package, name, kind, Origin::Dynamic)
    })
}

fn structure(found: &DeclaredStruct) -> Result<StructDecl, String> {
    let TypePath { package, name } = path(&found.path)?;
    Ok(StructDecl {
        base: found.base.clone(),
        fields: found.fields.iter().map(property).collect::<Result<_, _>>()?,
        doc: found.doc.clone(),
        ..StructDecl::new(&package, &name, Origin::Dynamic)
    })
}

fn class(found: &DeclaredClass) -> Result<ClassDecl, String> {
    let TypePath { package, name } = path(&found.path)?;
    Ok(ClassDecl {
        flags: flags::bits(flags::OF_CLASSES, &found.flags).ok_or_else(|| unknown(&found.flags.join(", ")))?,
        properties: found.properties.iter().map(property).collect::<Result<_, _>>()?,
        functions: found.functions.iter().map(function).collect::<Result<_, _>>()?,
        interfaces: found.implements.clone(),
        doc: found.doc.clone(),
        ..ClassDecl::new(&package, &name, &found.base, Origin::Dynamic)
    })
}

fn function(found: &DeclaredFunction) -> Result<FunctionDecl, String> {
    Ok(FunctionDecl {
        flags: flags::bits(flags::OF_FUNCTIONS, &found.flags).ok_or_else(|| unknown(&found.flags.join(", ")))?,
        overrides: found.overrides.clone(),
        params: params(&found.params, found.result.as_deref())?,
        doc: found.doc.clone(),
        meta: found.meta.clone().into_iter().collect(),
        ..FunctionDecl::without_body(&found.name)
    })
}

fn params(found: &[DeclaredProperty], result: Option<&str>) -> Result<Vec<PropertyDecl>, String> {
    let mut params = found.iter().map(property).collect::<Result<Vec<_>, _>>()?;
    if let Some(result) = result {
        params.push(typed(RESULT_NAME, result)?.with_flags(property_flags::RETURN));
    }
    Ok(params)
}

fn property(found: &DeclaredProperty) -> Result<PropertyDecl, String> {
    Ok(PropertyDecl {
        flags: flags::bits(flags::OF_PROPERTIES, &found.flags).ok_or_else(|| unknown(&found.flags.join(", ")))?,
        default: found.default.clone(),
        doc: found.doc.clone(),
        meta: found.meta.clone().into_iter().collect(),
        ..typed(&found.name, &found.ty)?
    })
}

fn typed(name: &str, ty: &str) -> Result<PropertyDecl, String> {
    let (kind, of) = kind(ty)?;
    Ok(PropertyDecl::new(name, kind).of_type(of))
}

fn kind(ty: &str) -> Result<(PropertyKind, &str), String> {
    flags::of_type_text(ty).ok_or_else(|| unknown(ty))
}

fn unknown(words: &str) -> String {
    format!("`{words}` is not known here: build the library and `alcedo` from one checkout")
}
