//! Properties: type, offset, name, default and metadata.

pub mod nested;

use std::rc::Rc;

use alcedo_abi::fingerprint::Fingerprint;
use alcedo_base::handles::Name;
use rustc_hash::FxHashSet;

use crate::enums::EnumType;
use crate::kind_list::{each_kind, type_enum};
use crate::meta::{Meta, value_of};
use crate::structs::StructType;
use crate::value::Value;
use nested::{ElementType, EntryType, Row};

each_kind! { [type_enum] (
    /// The type of a property, a struct field or a parameter.
    ///
    /// # Examples
    /// ```
    /// use alcedo_reflect::property::PropertyType;
    ///
    /// assert_eq!(PropertyType::F64.to_string(), "f64");
    /// assert_eq!((PropertyType::F64.size(), PropertyType::Bool.size()), (8, 1));
    /// assert_eq!(PropertyType::Object { class: "/Script/Game.Lamp".into() }.type_path(), "/Script/Game.Lamp");
    /// ```
    #[derive(Clone, Debug)]
    PropertyType
) }

/// A property of a class, a field of a struct or a parameter of a function.
///
/// # Examples
/// ```
/// # use alcedo_abi::kinds::PropertyKind;
/// # use alcedo_reflect::World;
/// # use alcedo_reflect::decl::{Batch, ClassDecl, PropertyDecl};
/// # use alcedo_reflect::origin::Origin;
/// use alcedo_reflect::value::Value;
///
/// # let world = World::new();
/// # world.types.declare_package("Engine");
/// # let mut object = ClassDecl::new("Engine", "Object", "", Origin::Native);
/// # object.properties.push(PropertyDecl::new("power", PropertyKind::F64).with_default("60"));
/// # let batch = Batch { classes: vec![object], ..Batch::default() };
/// # world.types.declare(&world.names, &batch).expect("a root");
/// let class = world.types.class_by_path("/Script/Engine.Object").expect("declared");
/// let power = class.find_property("power").expect("declared");
/// assert_eq!((power.ty.to_string().as_str(), power.default.as_ref()), ("f64", Some(&Value::F64(60.0))));
/// ```
#[derive(Clone, Debug)]
pub struct Property {
    /// Interned name.
    pub name: Name,
    /// Name as text.
    pub text: Rc<str>,
    /// Display name, from the metadata `display_name`. Without this metadata, `Rotation Speed` for `rotation_speed`.
    pub display: Rc<str>,
    /// Type of the value.
    pub ty: PropertyType,
    /// Bits of [`alcedo_abi::kinds::property_flags`].
    pub flags: u64,
    /// Default value. `None` for zero.
    pub default: Option<Value>,
    /// Doc comment of the declaration.
    pub doc: Rc<str>,
    /// Further metadata: keys and values.
    pub meta: Rc<Meta>,
    /// Offset in bytes from the start of the object, struct or parameter block.
    pub offset: u32,
    /// Path of the declaring class, struct or function.
    pub owner: Rc<str>,
}

impl Property {
    /// Returns the path of the property, such as `/Script/Game.Lamp:brightness`.
    pub fn path(&self) -> String {
        format!("{}:{}", self.owner, self.text)
    }

    /// Returns the initial value of the property in a new object or struct.
    pub(crate) fn start(&self) -> Value {
        self.default.clone().unwrap_or_else(|| Value::initial(&self.ty))
    }
}

impl PropertyType {
    /// Formats the type, including the fields of a struct or the entries of an enum. Used in errors about two different types with equal
    /// paths.
    pub(crate) fn in_full(&self) -> String {
        match self {
            Self::Struct(of) => {
                with_parts(&of.path, of.fields().iter().map(|field| format!("{}: {}", field.text, field.ty)))
            }
            Self::Enum(of) => {
                with_parts(&of.path, of.entries().iter().map(|entry| format!("{} = {}", entry.name, entry.number)))
            }
            other => other.to_string(),
        }
    }

    /// Returns the row layout of an array, set or map. Returns `None` for other types.
    pub fn row(&self) -> Option<Row<'_>> {
        match self {
            Self::Array(of) | Self::Set(of) => Some(of.row()),
            Self::Map(of) => Some(of.row()),
            _ => None,
        }
    }

    /// Checks if values of this type own memory, which the destruction of a value must free.
    pub fn owns_memory(&self) -> bool {
        self.nature().owns_memory
    }

    /// Checks if values keep objects alive, directly or through contained values. Examples are strong references, interfaces and
    /// delegates.
    pub fn holds_objects(&self) -> bool {
        self.nature().holds_objects
    }

    /// Checks if values contain handles of objects, as strong or weak references.
    pub fn names_objects(&self) -> bool {
        self.nature().names_objects
    }

    /// Checks if values may be elements of a set or keys of a map. Mutable containers and delegates are not allowed.
    pub fn can_be_key(&self) -> bool {
        self.nature().can_be_key
    }

    /// Checks if `is` returns `true` for the type, or for a nested type at any depth. Calls `is` once for each struct.
    pub fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        self.any_unseen(is, &mut FxHashSet::default())
    }

    fn any_unseen(&self, is: &dyn Fn(&Self) -> bool, seen: &mut FxHashSet<*const StructType>) -> bool {
        if let Self::Struct(of) = self
            && !seen.insert(Rc::as_ptr(of))
        {
            return false;
        }
        let mut any = is(self);
        if !any {
            self.inner_types(&mut |inner| any = any || inner.any_unseen(is, seen));
        }
        any
    }

    /// Checks if the type or a nested type is a struct for which `is` returns `true`.
    pub fn any_struct(&self, is: &dyn Fn(&Rc<StructType>) -> bool) -> bool {
        self.any(&|ty| matches!(ty, Self::Struct(of) if is(of)))
    }

    /// Returns a fingerprint of the fields and entries of all structs and enums in the type, at any depth. Returns zero if the type
    /// contains neither structs nor enums. This fingerprint changes with the fields and entries, even if the paths of their types do not
    /// change.
    pub fn layout(&self) -> u64 {
        let print = std::cell::Cell::new(None);
        self.any(&|ty| {
            let add = |(path, fingerprint): (&Rc<str>, u64)| {
                let before = print.get().unwrap_or(Fingerprint::START);
                print.set(Some(before.text(path).number(fingerprint)));
            };
            match ty {
                Self::Struct(of) => of.chain().for_each(add),
                Self::Enum(of) => add((&of.path, of.fingerprint())),
                _ => {}
            }
            false
        });
        print.get().map_or(0, Fingerprint::finish)
    }

    /// Returns the fingerprint of kind and type path. A module's import of the property must have an equal fingerprint.
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        Fingerprint::START.value(self.kind(), self.type_path()).finish()
    }
}

/// Formats a type with its fields or entries. Used in errors about two different types with equal names.
pub(crate) fn with_parts(path: &str, parts: impl Iterator<Item = String>) -> String {
    /// Maximum number of formatted fields or entries.
    const MAX_LISTED: usize = 12;
    let mut listed: Vec<_> = parts.take(MAX_LISTED + 1).collect();
    if listed.len() > MAX_LISTED {
        listed[MAX_LISTED] = "…".to_owned();
    }
    format!("{path} with {}", listed.join(", "))
}

/// Returns the display name that the metadata of a property specifies. Otherwise derives the display name from the property's name. Each
/// word then begins with a capital letter.
pub(crate) fn display_name(name: &str, meta: &[(String, String)]) -> String {
    // The metadata keys of scripts are in lower case: `<DisplayName=…>`.
    let specified = ["display_name", "displayname"].iter().find_map(|key| value_of(meta, key));
    if let Some(specified) = specified.filter(|specified| !specified.is_empty()) {
        return specified.to_owned();
    }
    let words = name.split('_').filter(|word| !word.is_empty()).map(|word| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use alcedo_abi::fingerprint::Fingerprint;
    use alcedo_abi::kinds::PropertyKind;

    use super::{PropertyType, display_name};

    #[test]
    fn every_plain_kind_has_a_type_of_its_own() {
        for number in 0..=u8::MAX {
            let kind = PropertyKind(number);
            match PropertyType::plain(kind) {
                Some(ty) => assert_eq!((ty.kind(), ty.to_string().as_str()), (kind, kind.text().unwrap_or("Toy"))),
                None => assert!(!matches!(number, 1..=13 | 16..=18 | 51), "{number}"),
            }
        }
    }

    #[test]
    fn size_and_alignment_are_those_of_the_rust_type() {
        let sizes: Vec<_> = (1..=13)
            .map(|number| PropertyType::plain(PropertyKind(number)).unwrap())
            .map(|ty| (ty.to_string(), ty.size(), ty.align()))
            .collect();
        let lines: Vec<_> = sizes.iter().map(|(text, size, align)| format!("{text} {size}/{align}")).collect();
        assert_eq!(
            lines.join(", "),
            "u8 1/1, u16 2/2, u32 4/4, u64 8/8, i8 1/1, i16 2/2, i32 4/4, i64 8/8, f32 4/4, f64 8/8, bool 1/1, \
             String 24/8, Name 4/4"
        );
    }

    #[test]
    fn a_reference_shows_its_class_and_is_fingerprinted_with_it() {
        let ty = PropertyType::Object { class: "/Script/Engine.Actor".into() };
        assert_eq!(ty.to_string(), "Object(/Script/Engine.Actor)");
        let expected = Fingerprint::START.value(PropertyKind::OBJECT, "/Script/Engine.Actor").finish();
        assert_eq!(ty.fingerprint(), expected);
    }

    #[test]
    fn a_display_name_is_that_of_the_metadata_or_has_capitalized_words() {
        for (name, display) in [("rotation_speed", "Rotation Speed"), ("x", "X"), ("_a__b", "A B"), ("_", "")] {
            assert_eq!(display_name(name, &[("category".to_owned(), "A".to_owned())]), display);
        }
        for (key, specified, display) in
            [("display_name", "A b", "A b"), ("displayname", "A b", "A b"), ("display_name", "", "X")]
        {
            assert_eq!(display_name("x", &[(key.to_owned(), specified.to_owned())]), display);
        }
    }
}
