//! Parses a header with libclang. Converts each function and struct to a declaration. If an item cannot be declared, records the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use alcedo_abi::names::is_identifier;
use anyhow::anyhow;
use clang::diagnostic::Severity;
use clang::{Clang, Entity, EntityKind, Index, StorageClass, Type, TypeKind};

use super::rust::{type_name, unique_type};
use super::{Declarations, Function, LeftOut, Struct};
use crate::error::Error;

/// Maximum number of parameters of a reflected function.
const MOST: usize = 8;
/// Maximum alignment of struct members, in bytes.
const PACK: usize = 4;

/// Returns the declarations of the functions in a header, and of the structs that these functions use.
pub(super) fn read(header: &Path, arguments: &[String]) -> Result<Declarations, Error> {
    let wrong = |message: String| {
        let file = header.display();
        anyhow!("{file} cannot be read as C: {message}; arguments for the compiler, `-I` for one, go behind `--`")
    };
    let clang = Clang::new().map_err(|reason| {
        anyhow!(
            "libclang, which reads the header, was not found ({reason}); Debian has it as `libclang1`, and LIBCLANG_PATH may name its folder"
        )
    })?;
    let index = Index::new(&clang, false, false);
    let mut all = vec!["-x".to_owned(), "c".to_owned()];
    all.extend_from_slice(arguments);
    // Adds the compiler's folder of builtin headers such as `stddef.h`, because libclang may be installed without these headers.
    all.extend(folder_of_the_compiler().map(|folder| format!("-idirafter{folder}")));
    let unit = index.parser(header).arguments(&all).parse().map_err(|error| wrong(error.to_string()))?;
    let errors = unit.get_diagnostics();
    if let Some(error) = errors.iter().find(|found| found.get_severity() >= Severity::Error) {
        return Err(wrong(error.get_text()));
    }
    let mut reader = Reader::default();
    for entity in unit.get_entity().get_children() {
        if entity.get_kind() == EntityKind::FunctionDecl && entity.is_in_main_file() {
            reader.function(entity);
        }
    }
    Ok(reader.all)
}

fn folder_of_the_compiler() -> Option<String> {
    let output = Command::new("cc").arg("-print-file-name=include").output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    folder.starts_with('/').then_some(folder)
}

#[derive(Default)]
struct Reader {
    all: Declarations,
    /// Visited structs by their ids in libclang: the declaration, or the reason why the struct cannot be declared.
    structs: BTreeMap<String, Result<Struct, String>>,
    /// Names of the structs and of their views in Rust.
    names: BTreeSet<String>,
}

enum CType<'tu> {
    Void,
    Number(&'static str),
    Bool,
    Text,
    /// A struct, with its name in C and its type.
    Struct(String, Type<'tu>),
    /// A struct without a definition in the header.
    Opaque,
    Array(Type<'tu>, usize),
    Pointer(Type<'tu>),
    Other(String),
}

impl Reader {
    fn function(&mut self, entity: Entity<'_>) {
        let Some(name) = entity.get_name() else { return };
        let is_known = self.all.functions.iter().any(|known| known.name == name)
            || self.all.left_out.iter().any(|known| known.name == name);
        if is_known {
            return;
        }
        match self.declared(&name, entity) {
            Ok(function) => self.all.functions.push(function),
            Err(reason) => self.all.left_out.push(LeftOut { name, reason }),
        }
    }

    fn declared(&mut self, name: &str, entity: Entity<'_>) -> Result<Function, String> {
        if entity.get_storage_class() == Some(StorageClass::Static) || entity.is_inline_function() {
            return Err("it is in the header itself, so the library has no such symbol".to_owned());
        }
        if entity.is_variadic() {
            return Err("it takes any number of arguments".to_owned());
        }
        let arguments = entity.get_arguments().unwrap_or_default();
        if arguments.len() > MOST {
            return Err(format!("it has {} parameters, and a reflected function has at most {MOST}", arguments.len()));
        }
        let mut remarks = Vec::new();
        let mut params = Vec::new();
        for (at, argument) in arguments.into_iter().enumerate() {
            let param = argument.get_name().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("arg{at}"));
            let ty = argument.get_type().ok_or_else(|| format!("`{param}` has no type"))?;
            let ty = self.param(ty, &param, &mut remarks).map_err(|reason| format!("`{param}` {reason}"))?;
            params.push((param, ty));
        }
        let result = entity.get_result_type().map_or(CType::Void, c_type);
        let is_bool8 = matches!(result, CType::Bool);
        let result = match result {
            CType::Void => None,
            CType::Number(number) => Some(number.to_owned()),
            CType::Bool => Some("bool".to_owned()),
            CType::Pointer(to) => Some(self.pointed_result(to)?),
            CType::Struct(of, _) => return Err(format!("it returns `{of}` by value: let it return a pointer to it")),
            other => return Err(format!("it returns {}", other.describe())),
        };
        let doc = entity.get_comment_brief().unwrap_or_default();
        Ok(Function { name: name.to_owned(), doc, params, result, is_bool8, remarks })
    }

    fn pointed_result(&mut self, to: Type<'_>) -> Result<String, String> {
        match c_type(to) {
            CType::Text => Ok("String".to_owned()),
            CType::Opaque => Ok("u64".to_owned()),
            CType::Struct(name, ty) => {
                let of =
                    self.structure(&name, ty).map_err(|reason| format!("it returns a `{name}`, which {reason}"))?;
                of.is_pod.then_some(of.name).ok_or_else(|| {
                    format!("it returns a `{name}`, which contains strings or arrays: use an out parameter")
                })
            }
            _ => Err(format!("it returns {}, and the size of its target is unknown", describe_pointer(to))),
        }
    }

    fn param(&mut self, ty: Type<'_>, name: &str, remarks: &mut Vec<String>) -> Result<String, String> {
        match c_type(ty) {
            CType::Number(number) => Ok(number.to_owned()),
            CType::Bool => Err("is a `bool`, which is not passed: take an `int`".to_owned()),
            CType::Array(element, len) => {
                let array = match c_type(element) {
                    CType::Number(number) => format!("[{number}; {len}]"),
                    CType::Struct(of, ty) => {
                        let reason = |reason: String| format!("is an array of `{of}`, which {reason}");
                        format!("[{}; {len}]", self.structure(&of, ty).map_err(reason)?.name)
                    }
                    other => return Err(format!("is an array of {}", other.describe())),
                };
                Ok(if element.is_const_qualified() { array } else { format!("&mut {array}") })
            }
            CType::Pointer(to) => {
                let of = match c_type(to) {
                    CType::Text => "String".to_owned(),
                    CType::Opaque => return Ok("u64".to_owned()),
                    CType::Struct(of, ty) => {
                        self.structure(&of, ty).map_err(|reason| format!("is a `{of}`, which {reason}"))?.name
                    }
                    CType::Number(number) if !to.is_const_qualified() && number != "i8" => {
                        remarks.push(format!(
                            "`{name}` points to one value: for several values, write `&mut [{number}; N]`"
                        ));
                        number.to_owned()
                    }
                    CType::Number("i8" | "u8") => {
                        return Err(
                            "is a string or an array of bytes: strings are `char16_t*`, and arrays have a length, `[N]`"
                                .to_owned(),
                        );
                    }
                    CType::Number(_) => {
                        return Err("points to values of unknown number: declare it with a length, `[N]`".to_owned());
                    }
                    _ => return Err(format!("is {}", describe_pointer(to))),
                };
                Ok(if to.is_const_qualified() { of } else { format!("&mut {of}") })
            }
            CType::Struct(of, _) => Err(format!("is a `{of}` by value: pass a pointer to it")),
            other => Err(format!("is {}", other.describe())),
        }
    }

    /// Returns the declaration of a struct. Returns the reason as an error if the struct cannot be declared.
    fn structure(&mut self, name: &str, ty: Type<'_>) -> Result<Struct, String> {
        // Uses the id, because a struct and a typedef of another struct may have equal names.
        let id = ty.get_canonical_type().get_declaration().and_then(|found| found.get_usr());
        let id = id.map_or_else(|| name.to_owned(), |id| id.0);
        if let Some(known) = self.structs.get(&id) {
            return known.clone();
        }
        // Stores an error first. The recursive call returns this error if the struct contains itself.
        self.structs.insert(id.clone(), Err("has itself in it".to_owned()));
        let mut found = self.laid_out(name, ty);
        if let Ok(of) = &mut found {
            of.name = unique_type(&of.name, "Struct", !of.is_pod, &mut self.names);
            self.all.structs.push(of.clone());
        }
        if is_identifier(name) {
            self.structs.insert(id, found.clone());
        } else {
            // A typedef may name the struct in a later declaration.
            self.structs.remove(&id);
        }
        found
    }

    fn laid_out(&mut self, name: &str, ty: Type<'_>) -> Result<Struct, String> {
        let mut of = Struct { name: type_name(name), doc: String::new(), fields: Vec::new(), is_pod: true };
        let declaration = ty.get_canonical_type().get_declaration();
        of.doc = declaration.and_then(|found| found.get_comment_brief()).unwrap_or_default();
        if declaration.is_some_and(|found| found.get_kind() == EntityKind::UnionDecl) {
            return Err("is a union".to_owned());
        }
        if !is_identifier(name) {
            return Err("is a struct without a name".to_owned());
        }
        let mut end = 0_usize;
        for field in ty.get_canonical_type().get_fields().unwrap_or_default() {
            let (Some(name), Some(ty)) = (field.get_name(), field.get_type()) else {
                return Err("has a field without a name".to_owned());
            };
            if field.is_bit_field() {
                return Err(format!("has the bit field `{name}`"));
            }
            let (rust, is_plain) =
                self.field(ty).map_err(|reason| format!("has the field `{name}`, which {reason}"))?;
            let (size, align) = (ty.get_sizeof().unwrap_or(0), ty.get_alignof().unwrap_or(1).min(PACK));
            let at = field.get_offset_of_field().unwrap_or(0) / 8;
            if at != end.next_multiple_of(align) {
                return Err("is laid out otherwise than packed at 4 bytes: put `#pragma pack(4)` before it".to_owned());
            }
            end = at + size;
            of.is_pod &= is_plain;
            of.fields.push((name, rust));
        }
        let size = ty.get_sizeof().unwrap_or(0);
        if of.fields.is_empty() || size != end.next_multiple_of(ty.get_alignof().unwrap_or(1).clamp(1, PACK)) {
            return Err("is laid out otherwise than packed at 4 bytes: put `#pragma pack(4)` before it".to_owned());
        }
        Ok(of)
    }

    /// Returns the Rust type of a field, and `true` if values of this type own no memory.
    fn field(&mut self, ty: Type<'_>) -> Result<(String, bool), String> {
        match c_type(ty) {
            CType::Number(number) => Ok((number.to_owned(), true)),
            CType::Struct(name, ty) => match (array_element(ty), name) {
                (Some(of), _) => match c_type(of) {
                    CType::Text => Ok(("String".to_owned(), false)),
                    CType::Number(number) => Ok((format!("UArray<{number}>"), false)),
                    CType::Struct(name, ty) => {
                        self.structure(&name, ty).map(|of| (format!("UArray<{}>", of.name), false))
                    }
                    other => Err(format!("is an array of {}", other.describe())),
                },
                (None, name) => self.structure(&name, ty).map(|of| (of.name, of.is_pod)),
            },
            CType::Pointer(to) if matches!(c_type(to), CType::Opaque) => Ok(("u64".to_owned(), true)),
            CType::Array(..) => {
                Err("is an array of a fixed length, which only a host can declare (`Layouts`)".to_owned())
            }
            other => Err(format!("is {}", other.describe())),
        }
    }
}

/// Returns the element type `T` if the type is an array struct: `{ T* data; int32_t num; int32_t max; }`.
fn array_element(ty: Type<'_>) -> Option<Type<'_>> {
    let fields = ty.get_canonical_type().get_fields()?;
    let [data, num, max] = fields.as_slice() else { return None };
    let is_int = |field: &Entity<'_>| field.get_type().is_some_and(|ty| matches!(c_type(ty), CType::Number("i32")));
    match c_type(data.get_type()?) {
        CType::Pointer(to) if is_int(num) && is_int(max) && data.get_name()? == "data" => Some(to),
        _ => None,
    }
}

/// Classifies a C type after resolving its typedefs. An unsupported type is `CType::Other`.
fn c_type(ty: Type<'_>) -> CType<'_> {
    known(ty).unwrap_or_else(|| CType::Other(format!("`{}`", ty.get_display_name())))
}

/// Classifies a C type. Returns `None` for an unsupported type.
fn known(ty: Type<'_>) -> Option<CType<'_>> {
    let sized = |two, four, eight| match ty.get_sizeof() {
        Ok(2) => Some(CType::Number(two)),
        Ok(4) => Some(CType::Number(four)),
        Ok(8) => Some(CType::Number(eight)),
        _ => None,
    };
    let declaration = ty.get_declaration();
    let name = || declaration.and_then(|found| found.get_name());
    Some(match ty.get_kind() {
        TypeKind::Elaborated => c_type(ty.get_elaborated_type()?),
        TypeKind::Typedef if name().as_deref() == Some("char16_t") => CType::Text,
        TypeKind::Typedef => match c_type(declaration?.get_typedef_underlying_type()?) {
            // Names an anonymous struct by its typedef.
            CType::Struct(own, of) if !is_identifier(&own) => CType::Struct(name().unwrap_or(own), of),
            found => found,
        },
        TypeKind::Void => CType::Void,
        TypeKind::Bool => CType::Bool,
        TypeKind::CharS | TypeKind::SChar => CType::Number("i8"),
        TypeKind::CharU | TypeKind::UChar => CType::Number("u8"),
        TypeKind::Float => CType::Number("f32"),
        TypeKind::Double => CType::Number("f64"),
        TypeKind::Short | TypeKind::Int | TypeKind::Long | TypeKind::LongLong => sized("i16", "i32", "i64")?,
        TypeKind::UShort | TypeKind::UInt | TypeKind::ULong | TypeKind::ULongLong => sized("u16", "u32", "u64")?,
        TypeKind::Enum => c_type(declaration?.get_enum_underlying_type()?),
        TypeKind::Record => match declaration.and_then(|found| found.get_definition()) {
            Some(_) => CType::Struct(name().unwrap_or_default(), ty),
            None => CType::Opaque,
        },
        TypeKind::ConstantArray => CType::Array(ty.get_element_type()?, ty.get_size()?),
        TypeKind::Pointer | TypeKind::IncompleteArray => {
            match ty.get_pointee_type().or_else(|| ty.get_element_type())? {
                to if is_function(to) => CType::Other("a pointer to a function".to_owned()),
                to => CType::Pointer(to),
            }
        }
        _ => return None,
    })
}

fn is_function(ty: Type<'_>) -> bool {
    matches!(ty.get_canonical_type().get_kind(), TypeKind::FunctionPrototype | TypeKind::FunctionNoPrototype)
}

fn describe_pointer(to: Type<'_>) -> String {
    format!("a pointer to `{}`", to.get_display_name())
}

impl CType<'_> {
    fn describe(&self) -> String {
        match self {
            Self::Void => "nothing".to_owned(),
            Self::Number(number) => format!("`{number}`"),
            Self::Bool => "`bool`".to_owned(),
            Self::Text => "`char16_t`".to_owned(),
            Self::Struct(name, _) => format!("`{name}`"),
            Self::Opaque => "a struct of unknown form".to_owned(),
            Self::Array(..) => "an array in an array".to_owned(),
            Self::Pointer(to) => describe_pointer(*to),
            Self::Other(description) => description.clone(),
        }
    }
}
