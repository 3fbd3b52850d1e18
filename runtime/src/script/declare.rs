//! Converts a checked script package into reflection declarations. Function bodies are linked after the classes are created. Until the body
//! is linked, the cell of each thunk is empty.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use alcedo_abi::describe::c_keys;
use alcedo_abi::kinds::{PropertyKind, class_flags, function_flags, property_flags};
use alcedo_uc::hir;

use crate::boundary::CallError;
use crate::object::World;
use crate::object::decl::{
    Batch, ClassDecl, DelegateDecl, EnumDecl, FunctionDecl, InterfaceDecl, PropertyDecl, RESULT_NAME, StructDecl,
};
use crate::object::enums::EnumEntry;
use crate::object::fixed::ARRAY_DIM;
use crate::object::hooks::HookContext;
use crate::object::meta::value_of;
use crate::object::origin::Origin;
use crate::object::thunk::{Thunk, idle};
use crate::script::defaults::Defaults;
use crate::script::text::{no_object, of_const, start};

/// Cells for the bodies of functions, by function path: `/Script/Package.Class:name`.
#[derive(Default)]
pub(crate) struct Bodies(BTreeMap<String, Rc<OnceCell<Thunk>>>);

impl Bodies {
    /// Fills each cell with the body that `body` returns for its path.
    pub(crate) fn fill(&self, mut body: impl FnMut(&str) -> Option<Thunk>) {
        for (path, cell) in &self.0 {
            if let Some(body) = body(path) {
                // Cannot fail: a package is linked only once.
                let _first = cell.set(body);
            }
        }
    }

    /// Creates a thunk whose body is set later.
    fn thunk(&mut self, path: String) -> Thunk {
        let cell = Rc::new(OnceCell::<Thunk>::new());
        self.0.insert(path.clone(), Rc::clone(&cell));
        Rc::new(move |context, frame| match cell.get() {
            Some(body) => body(context, frame),
            None => Err(CallError::Unavailable { what: format!("the body of {path}, which is not linked yet,") }),
        })
    }
}

/// Returns the declarations of a package. `tag` is the id of the module.
pub(crate) fn batch(package: &hir::Package, tag: u64) -> (Batch, Bodies) {
    let mut bodies = Bodies::default();
    let batch = Batch {
        interfaces: package.interfaces.iter().map(|found| interface(package, found, tag)).collect(),
        enums: package.enums.iter().map(|found| enumeration(package, found)).collect(),
        delegates: package.delegates.iter().map(|found| delegate(package, found)).collect(),
        structs: package.structs.iter().map(|found| structure(package, found)).collect(),
        classes: package.classes.iter().map(|found| class(package, found, tag, &mut bodies)).collect(),
        earlier_names: package.earlier_names.clone(),
    };
    (batch, bodies)
}

fn enumeration(package: &hir::Package, found: &hir::Enum) -> EnumDecl {
    let entry = |(at, name): (usize, &String)| EnumEntry {
        name: name.as_str().into(),
        number: at as i128,
        display: "".into(),
        is_hidden: false,
        doc: "".into(),
    };
    EnumDecl {
        entries: found.entries.iter().enumerate().map(entry).collect(),
        doc: found.doc.clone(),
        ..EnumDecl::new(&package.name, &found.name, PropertyKind::U8, Origin::Script)
    }
}

fn delegate(package: &hir::Package, found: &hir::Delegate) -> DelegateDecl {
    DelegateDecl {
        class: found.class.to_string(),
        params: params(&found.params, found.result.as_ref()),
        doc: found.doc.clone(),
        ..DelegateDecl::new(&package.name, &found.name, PropertyKind::DELEGATE, Origin::Script)
    }
}

fn structure(package: &hir::Package, found: &hir::Struct) -> StructDecl {
    StructDecl {
        base: found.base.as_deref().unwrap_or_default().to_owned(),
        fields: found.fields.iter().map(property).collect(),
        doc: found.doc.clone(),
        ..StructDecl::new(&package.name, &found.name, Origin::Script)
    }
}

fn interface(package: &hir::Package, found: &hir::Interface, tag: u64) -> InterfaceDecl {
    let function = |found: &hir::InterfaceFunction| FunctionDecl {
        flags: function_flags::CALLABLE,
        params: params(&found.params, found.result.as_ref()),
        doc: found.doc.clone(),
        tag,
        ..FunctionDecl::without_body(&found.name)
    };
    InterfaceDecl {
        functions: found.functions.iter().map(function).collect(),
        doc: found.doc.clone(),
        ..InterfaceDecl::new(&package.name, &found.name, Origin::Script)
    }
}

fn class(package: &hir::Package, found: &hir::Class, tag: u64, bodies: &mut Bodies) -> ClassDecl {
    let own = found.properties.iter().map(property);
    let parts = found.subobjects.iter().filter(|part| !part.inherited).map(|part| {
        let of = PropertyDecl::new(&part.name, PropertyKind::OBJECT).of_type(&part.class);
        of.with_flags(property_flags::DEFAULT_SUBOBJECT)
    });
    let hir::ClassFlags { is_abstract, is_final } = found.flags;
    ClassDecl {
        flags: class_flags::BLUEPRINTABLE
            | flag(is_abstract, class_flags::ABSTRACT)
            | flag(is_final || found.dll_bind.is_some(), class_flags::FINAL),
        properties: own.chain(parts).collect(),
        functions: found.functions.iter().map(|of| function(found, of, tag, bodies)).collect(),
        interfaces: found.interfaces.iter().map(|path| path.to_string()).collect(),
        script_defaults: Defaults::of(found).map(|defaults| {
            let hook = move |context: HookContext<'_>, object| defaults.apply(World::of(context), object);
            Rc::new(hook) as _
        }),
        tag,
        doc: found.doc.clone(),
        ..ClassDecl::new(&package.name, &found.name, &found.base, Origin::Script)
    }
}

fn property(found: &hir::Property) -> PropertyDecl {
    let default = found.default.as_ref().map_or_else(|| start(&found.ty), |value| of_const(value, &no_object));
    PropertyDecl {
        flags: found.flags,
        default,
        doc: found.doc.clone(),
        meta: found.meta.iter().cloned().chain(array_dim(&found.ty)).collect(),
        ..typed(&found.name, &found.ty)
    }
}

fn typed(name: &str, ty: &hir::Type) -> PropertyDecl {
    match ty.type_text() {
        Some(text) => PropertyDecl::new(name, text.kind()).of_type(&text.path()),
        // The checker rejects types without a property kind in declarations. Reflection would also reject this placeholder.
        None => PropertyDecl::new(name, PropertyKind(0)),
    }
}

/// Returns the metadata of a parameter. The checker reads this metadata when it checks dependent script packages.
fn param_metadata(found: &hir::Param) -> impl Iterator<Item = (String, String)> {
    let words = [("optional", found.optional), ("coerce", found.coerce)];
    words.into_iter().filter(|(_, is)| *is).map(|(word, _)| (word.to_owned(), "true".to_owned()))
}

fn array_dim(ty: &hir::Type) -> Option<(String, String)> {
    let hir::Type::Fixed(_, len) = ty else { return None };
    Some((ARRAY_DIM.to_owned(), len.to_string()))
}

fn params(found: &[hir::Param], result: Option<&hir::Type>) -> Vec<PropertyDecl> {
    let param = |found: &hir::Param| PropertyDecl {
        flags: if found.out { property_flags::OUT } else { 0 },
        meta: array_dim(&found.ty).into_iter().chain(param_metadata(found)).collect(),
        default: match found.default.as_ref().map(|default| &default.kind) {
            // Only scripts can omit an argument whose default names an object, because the object may not exist yet.
            Some(hir::ExprKind::Const(value)) if !matches!(value, hir::Const::Object(..)) => {
                of_const(value, &no_object)
            }
            _ => String::new(),
        },
        ..typed(&found.name, &found.ty)
    };
    let result = result.map(|ty| typed(RESULT_NAME, ty).with_flags(property_flags::RETURN));
    found.iter().map(param).chain(result).collect()
}

/// Returns `bit` if `is_set`, otherwise zero.
fn flag(is_set: bool, bit: u64) -> u64 {
    if is_set { bit } else { 0 }
}

fn function(class: &hir::Class, found: &hir::Function, tag: u64, bodies: &mut Bodies) -> FunctionDecl {
    let hir::FunctionFlags { is_static, is_final, dll_import, bool8, bool32, no_cwd, .. } = found.flags;
    let overridden = found.overrides.as_deref().filter(|_| !is_static).and_then(|path| path.split_once(':'));
    let flags = match (is_static, overridden, is_final || dll_import) {
        (true, ..) => function_flags::STATIC,
        (false, Some(_), _) => function_flags::OVERRIDE,
        (false, None, false) => function_flags::NATIVE_EVENT,
        (false, None, true) => 0,
    };
    let thunk = match found.body {
        Some(_) => bodies.thunk(format!("{}:{}", class.path, found.name)),
        // A subclass or a C library may provide the body. Without a body, a call returns a zero value.
        None => idle(),
    };
    // Converts the specifiers `DLLBind` and `dllimport` to the metadata that plugin classes have for C functions.
    let library = class.dll_bind.as_ref().filter(|_| dll_import);
    let mut params = params(&found.params, found.result.as_ref());
    for param in params.iter_mut().filter(|_| library.is_some()) {
        let len = value_of(&param.meta, ARRAY_DIM).map(str::to_owned);
        param.meta.extend(len.map(|len| (c_keys::LEN.to_owned(), len)));
    }
    FunctionDecl {
        flags: flags
            | function_flags::CALLABLE
            | flag(dll_import, function_flags::DLL_IMPORT)
            | flag(bool8, function_flags::BOOL8)
            | flag(bool32, function_flags::BOOL32)
            | flag(no_cwd, function_flags::NO_CWD),
        overrides: overridden.map(|(class, _)| class.to_owned()).unwrap_or_default(),
        params,
        doc: found.doc.clone(),
        meta: library.map(|library| (c_keys::LIBRARY.to_owned(), library.clone())).into_iter().collect(),
        tag,
        ..FunctionDecl::new(&found.name, thunk)
    }
}
