//! Records of a world file, and their errors.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use serde::de::value::MapAccessDeserializer;
use serde::de::{EnumAccess, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_bytes::ByteBuf;

use crate::world::file_value::FileValue;

/// Contents of a world file in which kept fields may still have numbers instead of names.
#[derive(Deserialize)]
pub(super) struct RawFile {
    structs: Vec<StructRecord>,
    classes: Vec<ClassRecord>,
    objects: Vec<ObjectRecord<'static, Vec<RawKept>>>,
}

impl RawFile {
    /// Replaces the numbers of the kept fields by their names. A file of version 1 contains no numbers.
    pub(super) fn resolve(self, version: u32) -> Result<FlatFile<'static>, FormatError> {
        let Self { structs, classes, objects: raw } = self;
        let (mut objects, mut values, mut kept) = (Vec::with_capacity(raw.len()), Vec::new(), Vec::new());
        let mut fields = Vec::new();
        for ObjectRecord { class, name, outer, part, root, lazy, values: own, kept: own_kept } in raw {
            let own_kept = own_kept.into_iter().map(|field| field.resolve(version, &mut fields));
            let own_kept = own_kept.collect::<Result<Vec<_>, _>>()?;
            let (values, kept) = (Span::append(&mut values, own), Span::append(&mut kept, own_kept));
            objects.push(ObjectRecord { class, name, outer, part, root, lazy, values, kept });
        }
        Ok(FlatFile { structs, classes, objects, values, fields, kept })
    }
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct StructRecord {
    pub(crate) path: String,
    pub(crate) fields: Vec<PropertyRecord>,
}

/// Saved declaration of a property or field.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct PropertyRecord {
    pub(crate) name: String,
    /// Type as written in signatures.
    #[serde(rename = "type")]
    pub(crate) ty: String,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClassRecord {
    pub(crate) path: String,
    /// Paths of the dynamic base classes, base first.
    pub(crate) bases: Vec<String>,
    /// Path of the nearest native base class, or of the class itself if it is native.
    pub(crate) native: String,
    /// Properties, base first, without transient properties and default subobjects.
    pub(crate) properties: Vec<PropertyRecord>,
}

/// Contents of a world file as a load uses them. The lists `values` and `kept` contain the entries of all objects, because separate lists
/// would need two allocations per object. Names, kept fields, and values of the kinds `String` and `Name` borrow from the bytes of the file
/// if the canonical reader has read the file. All other strings are copies.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FlatFile<'a> {
    pub(crate) structs: Vec<StructRecord>,
    pub(crate) classes: Vec<ClassRecord>,
    pub(crate) objects: Vec<FlatRecord<'a>>,
    pub(crate) values: Vec<(u32, FileValue<'a>)>,
    /// Class paths and names of the kept fields that contain them, in the order of the file. If the canonical reader has read the file,
    /// equal strings share their memory.
    pub(crate) fields: Vec<[Rc<str>; 2]>,
    pub(crate) kept: Vec<FlatKept<'a>>,
}

/// Record of an object in a [`FlatFile`].
pub(crate) type FlatRecord<'a> = ObjectRecord<'a, Span, Span>;

/// Kept field of an object in a [`FlatFile`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FlatKept<'a> {
    /// Index of the class path and the name in [`FlatFile::fields`].
    pub(crate) field: u32,
    /// Field value in CBOR.
    pub(crate) data: Cow<'a, [u8]>,
}

/// Entries of one object in a list of all objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the entries of `list` from the index `start`.
    ///
    /// # Panics
    /// Panics if the list has more than four billion entries.
    pub(crate) fn since<T>(start: usize, list: &[T]) -> Self {
        let end = u32::try_from(list.len()).expect("fewer than four billion entries");
        Self { start: start as u32, end }
    }

    fn append<T>(list: &mut Vec<T>, entries: Vec<T>) -> Self {
        let start = list.len();
        list.extend(entries);
        Self::since(start, list)
    }

    /// Returns the entries of the object in `list`, which contains the entries of all objects.
    pub(crate) fn of<T>(self, list: &[T]) -> &[T] {
        &list[self.start as usize..self.end as usize]
    }
}

// Limits the size of a record, because each step of a load reads the records of all objects.
const _: () = assert!(size_of::<FlatRecord<'static>>() <= 104);

/// Record of an object, with the kept fields as `K` and the values as `V`.
#[derive(Deserialize, Clone, PartialEq, Debug, Default)]
pub(crate) struct ObjectRecord<'a, K = Vec<KeptRecord<'a>>, V = Vec<(u32, FileValue<'a>)>> {
    /// Index of the object's class.
    pub(crate) class: u32,
    pub(crate) name: Cow<'a, str>,
    /// Index of the outer object.
    #[serde(default)]
    pub(crate) outer: Option<u32>,
    /// Name of the default subobject in the outer. `None` for all other objects.
    #[serde(default)]
    pub(crate) part: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(crate) root: bool,
    /// Id of the object for lazy references. `None` if no lazy reference to the object was ever created.
    #[serde(default)]
    pub(crate) lazy: Option<(u64, u64)>,
    /// Values that differ from the defaults. Each value has the index of its property in the class.
    #[serde(default)]
    pub(crate) values: V,
    /// Kept fields of the object's plugin part.
    #[serde(default)]
    pub(crate) kept: K,
}

/// Saved field of a plugin part.
#[derive(Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeptRecord<'a> {
    /// Path of the class that declares the field.
    #[serde(deserialize_with = "shared")]
    pub(crate) class: Rc<str>,
    #[serde(deserialize_with = "shared")]
    pub(crate) name: Rc<str>,
    /// Field value in CBOR.
    #[serde(deserialize_with = "owned")]
    pub(crate) data: Cow<'a, [u8]>,
}

/// Saved field of a plugin part in one of its two forms.
enum RawKept {
    /// First entry of the field in the file, or any entry in version 1.
    Named(KeptRecord<'static>),
    /// Number of an earlier entry with the names, and the value.
    Numbered(u32, Vec<u8>),
}

impl RawKept {
    /// Returns the field with the index of its names in `fields`, to which an entry with names adds its names.
    fn resolve(self, version: u32, fields: &mut Vec<[Rc<str>; 2]>) -> Result<FlatKept<'static>, FormatError> {
        match self {
            Self::Named(KeptRecord { class, name, data }) => {
                fields.push([class, name]);
                Ok(FlatKept { field: fields.len() as u32 - 1, data })
            }
            Self::Numbered(field, data) => {
                // In version 1, entries with names have no numbers.
                let known = if version > 1 { fields.len() } else { 0 };
                if field as usize >= known {
                    return Err(malformed(format!(
                        "its body has an invalid value: kept field {field} is used, and {known} are defined"
                    )));
                }
                Ok(FlatKept { field, data: Cow::Owned(data) })
            }
        }
    }
}

impl<'de> Deserialize<'de> for RawKept {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(RawKeptVisitor)
    }
}

struct RawKeptVisitor;

impl<'de> Visitor<'de> for RawKeptVisitor {
    type Value = RawKept;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a kept field")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawKept, A::Error> {
        KeptRecord::deserialize(MapAccessDeserializer::new(map)).map(RawKept::Named)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<RawKept, A::Error> {
        let (number, data) = (entries.next_element()?, entries.next_element::<ByteBuf>()?);
        match (number, data, entries.next_element::<IgnoredAny>()?) {
            (Some(number), Some(data), None) => Ok(RawKept::Numbered(number, data.into_vec())),
            _ => Err(A::Error::invalid_value(Unexpected::Seq, &self)),
        }
    }

    /// Skips a tag. `ciborium` passes a tagged value as an enum.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<RawKept, A::Error> {
        let (IgnoredAny, field) = tagged.variant()?;
        field.newtype_variant()
    }
}

fn shared<'de, D: Deserializer<'de>>(from: D) -> Result<Rc<str>, D::Error> {
    String::deserialize(from).map(Rc::from)
}

fn owned<'de, 'a, D: Deserializer<'de>>(from: D) -> Result<Cow<'a, [u8]>, D::Error> {
    let bytes: Vec<u8> = serde_bytes::deserialize(from)?;
    Ok(Cow::Owned(bytes))
}

/// Error for an invalid world file. The caller adds the path of the file to the message.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::FormatError;
///
/// /// Returns advice for a player whose world cannot be loaded.
/// fn advice(error: &FormatError) -> &'static str {
///     match error {
///         FormatError::Newer { .. } => "update the game",
///         FormatError::Length { .. } | FormatError::Damaged { .. } => "use a backup",
///         _ => "choose another file",
///     }
/// }
/// assert_eq!(advice(&FormatError::Newer { found: 9, known: 3 }), "update the game");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatError {
    /// The file is not a world file.
    #[error("it does not begin like a saved world: name a file that `Worlds::save` wrote")]
    NotAWorld,
    /// The file was written by a newer version.
    #[error(
        "it has format {found}, this host reads up to {known}: load it with the host that saved it, or a newer one"
    )]
    Newer {
        /// Version of the file.
        found: u32,
        /// Latest supported version.
        known: u32,
    },
    /// The file is shorter or longer than its head states.
    #[error(
        "it has {found} bytes where its head states {expected}: it was cut off or is still being written; copy it again"
    )]
    Length {
        /// Actual number of bytes.
        found: u64,
        /// Expected number of bytes.
        expected: u64,
    },
    /// The file was changed after it was written.
    #[error("its checksum is {found:016x}, it was saved with {expected:016x}: it was damaged since; use another copy")]
    Damaged {
        /// Digest of the current content.
        found: u64,
        /// Saved digest.
        expected: u64,
    },
    /// Two objects have the same path.
    #[error("{path} is object {first} and object {second}: names are unique in an outer, so rename one and save again")]
    SamePath {
        /// Path of the objects, truncated if long.
        path: String,
        /// Index of the first object in the file.
        first: usize,
        /// Index of the second object.
        second: usize,
    },
    /// An object has an invalid name.
    #[error("object {object} cannot be called \"{name}\": {problem}; rename it and save again")]
    ObjectName {
        /// Index of the object in the file.
        object: usize,
        /// Name of the object, escaped, and truncated if long.
        name: String,
        /// Reason why the name is invalid.
        problem: &'static str,
    },
    /// The file is complete but invalid. Files that Alcedo has written never cause this error.
    #[error("{problem}: the program that wrote this file does not follow the format")]
    Malformed {
        /// Description of the defect.
        problem: String,
    },
}

pub(super) fn malformed(problem: impl Into<String>) -> FormatError {
    FormatError::Malformed { problem: problem.into() }
}
