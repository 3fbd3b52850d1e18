//! Resolves parsed types. Checks that structs, classes and interfaces exist, and that key types are allowed.

use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;

use crate::enums::EnumType;
use crate::nested::{ElementType, EntryType};
use crate::property::PropertyType;
use crate::structs::StructType;
use crate::type_text::{SignatureText, TypeText, TypeTextError};
use crate::values::Entry;

/// Looks up the structs, classes and interfaces that types name.
pub trait TypeResolver {
    /// Returns the struct at a path, if its layout is already computed.
    fn structure(&self, path: &str) -> Option<Rc<StructType>>;
    /// Returns the enum at a path.
    fn enumeration(&self, path: &str) -> Option<Rc<EnumType>>;
    /// Returns the kind of the delegate at a path, and the text inside the parentheses of its type.
    fn delegate_type_text(&self, path: &str) -> Option<(PropertyKind, Rc<str>)>;
    /// Returns `true` if the struct exists, even if its layout is not computed yet.
    fn has_struct(&self, path: &str) -> bool {
        self.structure(path).is_some()
    }
    /// Returns `true` if the class exists.
    fn has_class(&self, path: &str) -> bool;
    /// Returns `true` if the interface exists.
    fn has_interface(&self, path: &str) -> bool;
}

/// Error during the parsing or resolution of a type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TypeError {
    /// The text or the declaration is not a valid type.
    #[error(transparent)]
    Malformed(#[from] TypeTextError),
    /// The struct, enum, delegate, class or interface is not declared.
    #[error("unknown {category} {path}: declare it or load its module first")]
    Unknown {
        /// Category of the missing type, such as `struct`.
        category: &'static str,
        /// Path of the type.
        path: String,
    },
    /// The requested delegate type differs from the delegate's declaration.
    #[error("declared as {found}: rebuild the code that uses {expected} against that declaration")]
    OtherDelegate {
        /// Delegate type as declared.
        found: String,
        /// The requested type.
        expected: String,
    },
    /// The type is not allowed as a key.
    #[error(
        "{key} cannot be in a set or be a key: containers, delegates and structs that hold them cannot; use a number, a string, a name or a reference"
    )]
    Key {
        /// Rejected type.
        key: String,
    },
}

impl PropertyType {
    /// Parses a type from the text that `Display` produces.
    ///
    /// # Errors
    /// Returns `TypeError` if the type is unknown.
    pub fn parse(text: &str, resolver: &dyn TypeResolver) -> Result<Self, TypeError> {
        Self::resolve(&text.parse()?, resolver)
    }

    /// Resolves a parsed type.
    ///
    /// # Errors
    /// Returns `TypeError` if a struct, class or interface is unknown, or a key type is not allowed.
    pub fn resolve(text: &TypeText, resolver: &dyn TypeResolver) -> Result<Self, TypeError> {
        let element = |of: &TypeText| Self::resolve(of, resolver).map(|of| Rc::new(ElementType::new(of)));
        match text {
            TypeText::Plain(kind) => Self::plain(*kind).ok_or_else(|| unknown(text)),
            TypeText::Struct(path) => {
                resolver.structure(path).map(Self::Struct).ok_or_else(|| undeclared("struct", path))
            }
            TypeText::Reference(kind, path) => reference(text, *kind, path, resolver),
            TypeText::Container(kind, of) => match (*kind, of.as_slice()) {
                (PropertyKind::ARRAY, [of]) => element(of).map(Self::Array),
                (PropertyKind::SET, [of]) => Ok(Self::Set(Rc::new(ElementType::new(key(of, resolver)?)))),
                (PropertyKind::MAP, [first, second]) => {
                    let entry = EntryType::new(key(first, resolver)?, Self::resolve(second, resolver)?);
                    Ok(Self::Map(Rc::new(entry)))
                }
                (PropertyKind::OPTIONAL, [of]) => element(of).map(Self::Optional),
                _ => Err(unknown(text)),
            },
            TypeText::Delegate(kind, path, signature) => {
                check_delegate(text, path.as_deref(), signature, resolver)?;
                let content: Rc<str> = text.path().into();
                match *kind {
                    PropertyKind::DELEGATE => Ok(Self::Delegate(content)),
                    several if signature.result.is_some() => Err(TypeError::Malformed(TypeTextError {
                        text: text.to_string(),
                        problem: format!("a {} has no result", several.text().unwrap_or("?")),
                    })),
                    PropertyKind::MULTICAST_DELEGATE => {
                        Ok(Self::MulticastDelegate(Rc::new(ElementType::delegate(&content))))
                    }
                    _ => Ok(Self::SparseDelegate(Rc::new(ElementType::delegate(&content)))),
                }
            }
        }
    }
}

fn unknown(text: &TypeText) -> TypeError {
    TypeError::Malformed(TypeTextError { text: text.to_string(), problem: "this host has no such kind".to_owned() })
}

fn undeclared(category: &'static str, path: &str) -> TypeError {
    TypeError::Unknown { category, path: path.to_owned() }
}

fn reference(
    text: &TypeText,
    kind: PropertyKind,
    path: &str,
    resolver: &dyn TypeResolver,
) -> Result<PropertyType, TypeError> {
    match kind {
        PropertyKind::ENUM => {
            return resolver.enumeration(path).map(PropertyType::Enum).ok_or_else(|| undeclared("enum", path));
        }
        PropertyKind::SCRIPT_INTERFACE if resolver.has_interface(path) => {}
        PropertyKind::SCRIPT_INTERFACE => return Err(undeclared("interface", path)),
        _ if resolver.has_class(path) => {}
        _ => return Err(undeclared("class", path)),
    }
    let of_path = Entry::of(kind).and_then(|entry| entry.of_path);
    of_path.map(|of_path| of_path(path.into())).ok_or_else(|| unknown(text))
}

fn key(text: &TypeText, resolver: &dyn TypeResolver) -> Result<PropertyType, TypeError> {
    let found = PropertyType::resolve(text, resolver)?;
    if found.can_be_key() { Ok(found) } else { Err(TypeError::Key { key: found.to_string() }) }
}

/// Checks that a named delegate has its declared signature.
fn check_delegate(
    text: &TypeText,
    path: Option<&str>,
    signature: &SignatureText,
    resolver: &dyn TypeResolver,
) -> Result<(), TypeError> {
    // Does not resolve the types of the signature, because a signature may name a struct that contains the delegate.
    let mut types = signature.arguments.iter().chain(signature.result.as_deref());
    types.try_for_each(|ty| check_type_text(ty, resolver))?;
    let Some(path) = path else { return Ok(()) };
    let (kind, content) = resolver.delegate_type_text(path).ok_or_else(|| undeclared("delegate", path))?;
    if kind == text.kind() && *content == *text.path() {
        return Ok(());
    }
    let found = format!("{}({content})", kind.text().unwrap_or("?"));
    Err(TypeError::OtherDelegate { found, expected: text.to_string() })
}

fn check_type_text(text: &TypeText, resolver: &dyn TypeResolver) -> Result<(), TypeError> {
    match text {
        TypeText::Plain(_) => Ok(()),
        TypeText::Struct(path) if resolver.has_struct(path) => Ok(()),
        TypeText::Struct(path) => Err(undeclared("struct", path)),
        TypeText::Reference(kind, path) => reference(text, *kind, path, resolver).map(|_| ()),
        TypeText::Container(_, of) => of.iter().try_for_each(|inner| check_type_text(inner, resolver)),
        TypeText::Delegate(_, path, signature) => check_delegate(text, path.as_deref(), signature, resolver),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::kinds::PropertyKind;

    use super::PropertyType;
    use crate::decl::{Batch, PropertyDecl, StructDecl};
    use crate::origin::Origin;
    use crate::testing::world;

    fn check(text: &str, expected: &str) {
        let world = world();
        let field = |kind, path| vec![PropertyDecl::new("x", kind).of_type(path)];
        let structure = |name, fields| StructDecl { fields, ..StructDecl::new("Test", name, Origin::Native) };
        let structs = vec![
            structure("Point", field(PropertyKind::F64, "")),
            structure("Path", field(PropertyKind::ARRAY, "/Script/Test.Point")),
        ];
        world.types.declare(&world.names, &Batch { structs, ..Batch::default() }).unwrap();
        let result = match PropertyType::parse(text, &world.types) {
            Ok(ty) => {
                assert_eq!(ty.to_string(), text, "Display is the inverse");
                assert_eq!(PropertyType::parse(text, &world.types).as_ref(), Ok(&ty));
                format!("{}/{}", ty.size(), ty.align())
            }
            Err(error) => format!("! {error}"),
        };
        assert_eq!(result, expected, "{text}");
    }

    #[test]
    fn every_type_has_its_size_and_alignment() {
        for (text, expected) in [
            ("Utf8String", "24/8"),
            ("AnsiString", "24/8"),
            ("Text", "32/8"),
            ("SubclassOf(/Script/Engine.Object)", "4/4"),
            ("SoftClass(/Script/Engine.Object)", "4/4"),
            ("SoftObject(/Script/Engine.Object)", "4/4"),
            ("LazyObject(/Script/Engine.Object)", "16/8"),
            ("WeakObject(/Script/Engine.Object)", "8/8"),
            ("ScriptInterface(/Script/Engine.Sings)", "8/8"),
            ("Array(u8)", "32/8"),
            ("Set(Name)", "40/8"),
            ("Map(String, Array(Object(/Script/Engine.Object)))", "40/8"),
            ("Optional(u8)", "2/1"),
            ("Optional(i32)", "8/4"),
            ("Optional(/Script/Test.Path)", "40/8"),
            ("Optional(Optional(u16))", "6/2"),
            ("Delegate(f32 -> bool)", "16/8"),
            ("MulticastDelegate(/Script/Test.Point)", "32/8"),
            ("SparseDelegate()", "8/8"),
            ("FieldPath", "4/4"),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn unknown_types_are_named_in_the_error() {
        check(
            "Array(/Script/Test.Potato)",
            "! unknown struct /Script/Test.Potato: declare it or load its module first",
        );
        check(
            "Map(u8, WeakObject(/Script/Test.Point))",
            "! unknown class /Script/Test.Point: declare it or load its module first",
        );
        check(
            "Array(ScriptInterface(/Script/Engine.Object))",
            "! unknown interface /Script/Engine.Object: declare it or load its module first",
        );
        check(
            "Delegate(ScriptInterface(/Script/Engine.Hums))",
            "! unknown interface /Script/Engine.Hums: declare it or load its module first",
        );
        check(
            "Delegate(/Script/Test.Potato)",
            "! unknown struct /Script/Test.Potato: declare it or load its module first",
        );
        check(
            "MulticastDelegate(-> u8)",
            "! `MulticastDelegate(-> u8)` is not a type: a MulticastDelegate has no result",
        );
    }

    #[test]
    fn only_immutable_kinds_can_be_keys() {
        let refused = |key: &str| {
            format!(
                "! {key} cannot be in a set or be a key: containers, delegates and structs that hold them cannot; use a number, a string, a name or a reference"
            )
        };
        for key in ["Array(u8)", "Optional(u8)", "Delegate()", "/Script/Test.Path"] {
            check(&format!("Set({key})"), &refused(key));
            check(&format!("Array(Map({key}, u8))"), &refused(key));
        }
        for key in ["f64", "String", "/Script/Test.Point", "Text", "SoftObject(/Script/Engine.Object)"] {
            check(&format!("Set({key})"), "40/8");
        }
    }
}
