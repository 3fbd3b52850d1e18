//! Builds the checker's symbols for reflected classes, structs and interfaces. The symbols contain the members that scripts may use, and
//! the access to each member.

use std::rc::Rc;

use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};
use alcedo_reflect::class::Class;
use alcedo_reflect::fixed;
use alcedo_reflect::function::Function;
use alcedo_reflect::meta::Meta;
use alcedo_reflect::origin::Origin;
use alcedo_reflect::property::{Property, PropertyType};
use alcedo_reflect::structs::StructType;
use alcedo_reflect::type_text::{SignatureText, TypeText};
use alcedo_reflect::types::Types;

use super::interfaces::InterfaceSym;
use super::symbols::{ClassSym, DelegateSym, FuncSym, Named, PropSym, StructSym, Wild, squash};
use crate::hash::HashMap;
use crate::hir::{Num, Param, Path, Type, delegate_of_property};

pub(crate) fn type_of(ty: &PropertyType) -> Type {
    if let Some(plain) = Type::of_kind(ty.kind()) {
        return plain;
    }
    match ty {
        PropertyType::Object { class } => Type::Object(class.clone()),
        PropertyType::Struct(of) => Type::Struct(of.path.clone()),
        PropertyType::Enum(of) => Type::Enum(of.path.clone(), Num::of(of.underlying_kind()).unwrap_or(Num::U8)),
        PropertyType::SubclassOf(class) => Type::Class(class.clone()),
        PropertyType::ScriptInterface(of) => Type::Interface(of.clone()),
        PropertyType::Array(of) => Type::Array(Box::new(type_of(of.ty()))),
        PropertyType::Set(of) => Type::Set(Box::new(type_of(of.ty()))),
        PropertyType::Map(of) => Type::Map(Box::new(type_of(of.key())), Box::new(type_of(of.value()))),
        PropertyType::Optional(of) => Type::Optional(Box::new(type_of(of.ty()))),
        PropertyType::Delegate(_) | PropertyType::MulticastDelegate(_) | PropertyType::SparseDelegate(_) => {
            match ty.to_string().parse() {
                Ok(TypeText::Delegate(kind, path, signature)) => {
                    Type::Delegate(kind, path.map(Path::from), Rc::new(signature))
                }
                _ => Type::Delegate(ty.kind(), None, Rc::default()),
            }
        }
        _ => Type::Reference(ty.kind(), ty.type_path().into()),
    }
}

/// Converts the parsed type of a delegate parameter. `num_of` returns the number kind of the enum with a given path.
fn type_of_text(text: &TypeText, num_of: &dyn Fn(&str) -> Num) -> Type {
    let of = |inner: &TypeText| Box::new(type_of_text(inner, num_of));
    match text {
        TypeText::Plain(kind) => Type::of_kind(*kind).unwrap_or(Type::INT),
        TypeText::Struct(path) => Type::Struct(path.as_str().into()),
        TypeText::Reference(kind, path) => {
            let named: Path = path.as_str().into();
            match *kind {
                PropertyKind::ENUM => Type::Enum(named, num_of(path)),
                PropertyKind::OBJECT => Type::Object(named),
                PropertyKind::SUBCLASS_OF => Type::Class(named),
                PropertyKind::SCRIPT_INTERFACE => Type::Interface(named),
                kind => Type::Reference(kind, named),
            }
        }
        TypeText::Container(kind, inner) => match (*kind, inner.as_slice()) {
            (PropertyKind::SET, [one]) => Type::Set(of(one)),
            (PropertyKind::MAP, [key, value]) => Type::Map(of(key), of(value)),
            (PropertyKind::OPTIONAL, [one]) => Type::Optional(of(one)),
            (_, [one, ..]) => Type::Array(of(one)),
            (_, []) => Type::Nothing,
        },
        TypeText::Delegate(kind, path, signature) => {
            Type::Delegate(*kind, path.as_deref().map(Path::from), Rc::new(signature.clone()))
        }
    }
}

fn with_dim(found: &Property) -> Type {
    match (type_of(&found.ty), fixed::dim(found)) {
        (Type::Array(of), Some(dim)) => Type::Fixed(of, dim),
        (ty, _) => ty,
    }
}

fn reflected_prop(found: &Property, free: bool) -> PropSym {
    let has = |flag| free || found.flags & flag != 0;
    let writable =
        if has(property_flags::BLUEPRINT_WRITE) { Ok(()) } else { Err("its declaration lacks `blueprint_write`") };
    let readable = has(property_flags::BLUEPRINT_READ) || has(property_flags::BLUEPRINT_WRITE);
    let ty = Some(with_dim(found));
    PropSym { readable, writable, ..PropSym::public(found.text.to_string(), ty, found.owner.clone(), None) }
}

fn reflected_param(found: &Property) -> Param {
    let has = |key: &str| found.meta.iter().any(|(known, _)| known == key);
    Param {
        name: found.text.to_string(),
        ty: with_dim(found),
        out: found.flags & property_flags::OUT != 0,
        optional: found.default.is_some() || has("optional"),
        default: None,
        coerce: has("coerce"),
        is_const: false,
    }
}

/// Bits of functions that scripts may call.
const CALLABLE: u64 = function_flags::CALLABLE | function_flags::PURE;

pub(crate) fn reflected_func(found: &Function, owner: &Path, free: bool) -> FuncSym {
    let has = |flag| found.flags & flag != 0;
    let custom = has(function_flags::CUSTOM_THUNK) || found.meta.iter().any(|(key, _)| key == "custom_thunk");
    let wild = |param: &Property| if custom { wild_of(&found.meta, param) } else { None };
    let params = found.arguments().iter().map(reflected_param).collect();
    FuncSym {
        result_by: result_by(found),
        is_static: has(function_flags::STATIC),
        is_virtual: found.vslot.is_some() || has(function_flags::IMPLEMENTABLE_EVENT | function_flags::NATIVE_EVENT),
        callable: free || has(CALLABLE),
        first: found.overrides.as_ref().unwrap_or(&found.path).clone(),
        wild: found.arguments().iter().map(wild).collect(),
        wild_result: found.result().and_then(wild),
        ..FuncSym::new(found.text.to_string(), found.path.clone(), owner, params, found.result().map(with_dim))
    }
}

/// Returns the index of the parameter that the metadata `determines_output_type` names.
fn result_by(found: &Function) -> Option<usize> {
    let (_, named) = found.meta.iter().find(|(key, _)| key == "determines_output_type")?;
    let is_class = |param: &Property| matches!(param.ty, PropertyType::SubclassOf(_));
    found.arguments().iter().position(|param| squash(&param.text) == squash(named) && is_class(param))
}

fn wild_of(meta: &Meta, param: &Property) -> Option<Wild> {
    let name = squash(&param.text);
    let listed = |key: &str| {
        let lists = meta.iter().filter(|(known, _)| known == key);
        lists.flat_map(|(_, names)| names.split([',', '|'])).any(|listed| squash(listed.trim()) == name)
    };
    let is_array = matches!(param.ty, PropertyType::Array(_));
    if listed("array_parm") {
        Some(Wild::Array)
    } else if listed("array_type_dependent_params") {
        Some(if is_array { Wild::Array } else { Wild::Element })
    } else if listed("custom_struct_param") {
        Some(match param.ty {
            PropertyType::Array(_) => Wild::Array,
            PropertyType::Set(_) => Wild::Set,
            PropertyType::Map(_) => Wild::Map,
            PropertyType::Struct(_) => Wild::Struct,
            _ => Wild::Any,
        })
    } else {
        None
    }
}

/// Returns a function with the signature of a delegate. Derives the parameter names from the parameter positions.
pub(crate) fn func_of_signature(
    name: &str,
    path: Path,
    signature: &SignatureText,
    num_of: &dyn Fn(&str) -> Num,
    owner: &Path,
) -> FuncSym {
    let param = |(at, text): (usize, &TypeText)| Param {
        name: format!("{}", at + 1),
        ty: type_of_text(text, num_of),
        out: signature.out_parameters.contains(&at),
        optional: false,
        default: None,
        coerce: false,
        is_const: false,
    };
    let params = signature.arguments.iter().enumerate().map(param).collect();
    let result = signature.result.as_deref().map(|text| type_of_text(text, num_of));
    FuncSym::new(name.to_owned(), path, owner, params, result)
}

/// Returns a delegate that a script class in a different package declares. `property` holds the bound function.
fn reflected_delegate(class: &Class, property: &Property, types: &Types) -> Option<DelegateSym> {
    let name = delegate_of_property(&property.text)?;
    let prop = reflected_prop(property, true);
    let Some(Type::Delegate(_, Some(path), _)) = prop.ty.clone() else { return None };
    let declared = types.delegate_by_path(&path)?;
    let params = declared.arguments().iter().map(reflected_param).collect();
    let func = FuncSym::new(name.to_owned(), path, &class.path, params, declared.result().map(with_dim));
    Some(DelegateSym { func: Rc::new(func), prop: Rc::new(prop) })
}

/// Returns the symbol of a reflected class, without inherited members.
pub(crate) fn reflected_class(found: &Class, free: bool, types: &Types) -> ClassSym {
    let of_script = found.origin == Origin::Script;
    let prop = |of: &Property| Rc::new(reflected_prop(of, free || of_script));
    // Scripts may call an override if they may call the overridden event.
    let func = |of: &Function| {
        let event = of.overrides.as_deref().and_then(|path| types.function_by_path(path));
        let free = free || of_script || event.is_some_and(|event| event.flags & CALLABLE != 0);
        Rc::new(reflected_func(of, &found.path, free))
    };
    let mut delegates = Named::default();
    for property in found.own_properties.iter().filter(|_| of_script) {
        if let Some(delegate) = reflected_delegate(found, property, types) {
            delegates.insert(&delegate.func.name.clone(), Rc::new(delegate));
        }
    }
    let has = |flag| found.flags & flag != 0;
    let closed = match found.origin {
        _ if free || of_script => None,
        Origin::Dynamic if !has(class_flags::BLUEPRINTABLE) => Some("its declaration lacks `blueprintable`"),
        _ if has(class_flags::BLUEPRINT_TYPE) && !has(class_flags::BLUEPRINTABLE) => {
            Some("it is declared `blueprint_type`, which scripts may use but not extend")
        }
        _ => None,
    };
    ClassSym {
        path: found.path.clone(),
        name: found.name.to_string(),
        base: found.base.as_ref().map(|base| base.path.clone()),
        is_final: has(class_flags::FINAL),
        is_abstract: has(class_flags::ABSTRACT),
        closed,
        props: Named::reflected(&found.own_properties, |of| (&*of.text, prop(of))),
        funcs: Named::reflected(&found.own_functions, |of| (&*of.text, func(of))),
        delegates,
        interfaces: found.interfaces.clone(),
        subobjects: Named::reflected(&found.subobjects, |of| {
            (&*of.name, (of.name.to_string(), found.subobject_class(of)))
        }),
        ..ClassSym::default()
    }
}

pub(crate) fn reflected_interface(functions: &[Rc<Function>], path: &Path, free: bool) -> InterfaceSym {
    let functions: Vec<_> = functions.iter().map(|of| Rc::new(reflected_func(of, path, free))).collect();
    let by_name = Named::reflected(&functions, |of| (&*of.name, of.clone()));
    InterfaceSym { bases: Vec::new(), functions, by_name }
}

pub(crate) fn reflected_struct(found: &StructType) -> StructSym {
    let fields: Vec<_> = found.fields().iter().map(|field| Rc::new(reflected_prop(field, true))).collect();
    let by_name = Named::reflected(&fields, |of| (&*of.name, of.clone()));
    StructSym {
        base: found.base().map(|base| base.path.clone()),
        fields,
        by_name,
        values: 1,
        defaults: HashMap::default(),
        broken: false,
    }
}
