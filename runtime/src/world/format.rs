//! How a world lies in a file: an envelope that tells a whole file of a version from anything else, and inside it one
//! CBOR value of records. Bytes in, records out; no object is looked at here. The page for readers of such files is
//! `docs/world-format.md`.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::world::file_value::FileValue;

/// The first bytes of every file.
pub(super) const MAGIC: [u8; 8] = *b"ALCWORLD";
/// The version that is written. It counts up with every change that an older reader would get wrong.
pub(super) const VERSION: u32 = 1;

/// Magic, version, a reserved word, length of the body.
const HEAD: usize = 24;
/// The digest of all that stands before it.
const TAIL: usize = 8;

/// A whole world.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
pub(crate) struct WorldFile {
    /// The structs that values are of, in order of their paths: for readers that know no host.
    pub(crate) structs: Vec<StructRecord>,
    /// The classes that objects are of, in the order in which they are first used.
    pub(crate) classes: Vec<ClassRecord>,
    /// The objects in order of creation. Whatever refers to one says its place in this row.
    pub(crate) objects: Vec<ObjectRecord>,
}

/// A struct as it was declared.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct StructRecord {
    /// Its path.
    pub(crate) path: String,
    /// Its fields in order.
    pub(crate) fields: Vec<PropertyRecord>,
}

/// A property or field as it was declared.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct PropertyRecord {
    /// Its name.
    pub(crate) name: String,
    /// Its type, as signatures show it.
    #[serde(rename = "type")]
    pub(crate) ty: String,
}

/// A class as it was declared.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct ClassRecord {
    /// Its path.
    pub(crate) path: String,
    /// Paths of the dynamic classes above it, base first.
    pub(crate) bases: Vec<String>,
    /// Path of its nearest native class; its own when it is native.
    pub(crate) native: String,
    /// Its properties, base first, without transient ones and those that hold default subobjects.
    pub(crate) properties: Vec<PropertyRecord>,
}

/// An object.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug, Default)]
pub(crate) struct ObjectRecord {
    /// Place of its class in the row of classes.
    pub(crate) class: u32,
    /// Its name.
    pub(crate) name: String,
    /// Place of the object it lies in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outer: Option<u32>,
    /// What its outer calls it, when it is a default subobject of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<String>,
    /// Whether it is in the root set.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) root: bool,
    /// The id that lazy references know it by, where one was ever pointed at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lazy: Option<(u64, u64)>,
    /// The values in which it differs from the default: place of the property in its class, and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) values: Vec<(u32, FileValue)>,
    /// The fields of its plugin half that are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<KeptRecord>,
}

/// A field of a plugin half.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub(crate) struct KeptRecord {
    /// Path of the class that declares it.
    pub(crate) class: String,
    /// Its name.
    pub(crate) name: String,
    /// Its value, itself in CBOR.
    #[serde(with = "serde_bytes")]
    pub(crate) data: Vec<u8>,
}

/// What is wrong with bytes that should be a world. The reader of the file adds which one it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatError {
    /// Something else altogether.
    #[error("it does not begin as a saved world does: name a file that `save_world` wrote")]
    NotAWorld,
    /// Written by a later host.
    #[error(
        "it has format {found}, this host reads up to {known}: load it with the host that saved it, or a newer one"
    )]
    Newer {
        /// The file's version.
        found: u32,
        /// The latest version that is read.
        known: u32,
    },
    /// Shorter than it says, or longer.
    #[error(
        "it has {found} bytes where its head says {wanted}: it was cut off or is still being written; copy it anew"
    )]
    Length {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        wanted: u64,
    },
    /// Changed since it was written.
    #[error("its checksum is {found:016x}, it was saved with {wanted:016x}: it was damaged since; take another copy")]
    Damaged {
        /// Digest of what is there.
        found: u64,
        /// Digest of what was written.
        wanted: u64,
    },
    /// Whole, and yet no world: only a program that writes such files by itself makes one.
    #[error("{problem}: whoever wrote this file does not keep to the format")]
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
}

fn is_false(it: &bool) -> bool {
    !it
}

fn malformed(problem: impl Into<String>) -> FormatError {
    FormatError::Malformed { problem: problem.into() }
}

impl WorldFile {
    /// The whole file. Equal worlds have equal bytes.
    ///
    /// # Errors
    /// [`FormatError::Malformed`] when a record does not serialize.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, FormatError> {
        let mut bytes = Vec::new();
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 12]);
        ciborium::into_writer(self, &mut bytes).map_err(|error| malformed(error.to_string()))?;
        let body = (bytes.len() - HEAD) as u64;
        bytes[HEAD - 8..HEAD].copy_from_slice(&body.to_le_bytes());
        let digest = xxh3_64(&bytes);
        bytes.extend(digest.to_le_bytes());
        Ok(bytes)
    }

    /// Reads a whole file; every reference in it leads to a record.
    ///
    /// # Errors
    /// [`FormatError`] for anything but a whole file of a known version.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let file: Self = ciborium::from_reader(body(bytes)?).map_err(|error| malformed(error.to_string()))?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), FormatError> {
        let objects = self.objects.len();
        for (at, object) in self.objects.iter().enumerate() {
            let wrong = |what: String| Err(malformed(format!("object {at} ({}) {what}", object.name)));
            let Some(class) = self.classes.get(object.class as usize) else {
                return wrong(format!("is of class {}, and there are {}", object.class, self.classes.len()));
            };
            if let Some(outer) = object.outer.filter(|outer| *outer as usize >= objects) {
                return wrong(format!("lies in object {outer}, and there are {objects}"));
            }
            if object.part.is_some() && object.outer.is_none() {
                return wrong("is a part of nothing".into());
            }
            if let Some((property, _)) =
                object.values.iter().find(|(property, _)| *property as usize >= class.properties.len())
            {
                return wrong(format!("has a value for property {property} of {}, which has fewer", class.path));
            }
            if let Some(place) = object.values.iter().find_map(|(_, value)| value.object_beyond(objects)) {
                return wrong(format!("refers to object {place}, and there are {objects}"));
            }
        }
        self.check_outers()
    }

    /// Going outwards ends somewhere, from everywhere.
    fn check_outers(&self) -> Result<(), FormatError> {
        // The walk from which each object was seen; those of earlier walks are known to be fine.
        let mut seen = vec![usize::MAX; self.objects.len()];
        for start in 0..self.objects.len() {
            let mut at = Some(start);
            while let Some(here) = at {
                if seen[here] == start {
                    return Err(malformed(format!("object {here} ({}) lies in itself", self.objects[here].name)));
                }
                if seen[here] != usize::MAX {
                    break;
                }
                seen[here] = start;
                at = self.objects[here].outer.map(|outer| outer as usize);
            }
        }
        Ok(())
    }
}

/// What stands between head and tail of a whole file.
fn body(bytes: &[u8]) -> Result<&[u8], FormatError> {
    let is_ours = bytes.iter().zip(MAGIC).all(|(found, wanted)| *found == wanted);
    if !is_ours || bytes.is_empty() {
        return Err(FormatError::NotAWorld);
    }
    let found = bytes.len() as u64;
    let short = FormatError::Length { found, wanted: (HEAD + TAIL) as u64 };
    let (head, rest) = bytes.split_at_checked(HEAD).ok_or(short.clone())?;
    let (body, tail) = rest.len().checked_sub(TAIL).map(|end| rest.split_at(end)).ok_or(short)?;
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if version > VERSION {
        return Err(FormatError::Newer { found: version, known: VERSION });
    }
    let length = number(&head[HEAD - 8..]);
    if length != body.len() as u64 {
        return Err(FormatError::Length { found, wanted: length.saturating_add((HEAD + TAIL) as u64) });
    }
    let (found, wanted) = (xxh3_64(&bytes[..bytes.len() - TAIL]), number(tail));
    if found != wanted {
        return Err(FormatError::Damaged { found, wanted });
    }
    if version == 0 || head[12..16] != [0; 4] {
        return Err(malformed(format!("its head has version {version} and {:?} behind it", &head[12..16])));
    }
    Ok(body)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::{ClassRecord, FormatError, KeptRecord, ObjectRecord, PropertyRecord, StructRecord, WorldFile};
    use crate::world::file_value::{FileReference, FileValue};

    fn file() -> WorldFile {
        let property = |name: &str, ty: &str| PropertyRecord { name: name.into(), ty: ty.into() };
        let class = ClassRecord {
            path: "/Script/Game.Cube".into(),
            bases: Vec::new(),
            native: "/Script/Engine.Actor".into(),
            properties: vec![property("speed", "f64"), property("friend", "Object(/Script/Engine.Actor)")],
        };
        let kept = KeptRecord { class: class.path.clone(), name: "greetings".into(), data: vec![0x18, 0x2a] };
        let cube = ObjectRecord {
            name: "Cube_1".into(),
            root: true,
            lazy: Some((7, 9)),
            values: vec![(0, FileValue::F64(2.5)), (1, FileValue::Object(FileReference::In(1)))],
            kept: vec![kept],
            ..ObjectRecord::default()
        };
        let part =
            ObjectRecord { name: "mesh".into(), outer: Some(0), part: Some("mesh".into()), ..ObjectRecord::default() };
        let structs = vec![StructRecord { path: "/Script/Game.P".into(), fields: vec![property("x", "f32")] }];
        WorldFile { structs, classes: vec![class], objects: vec![cube, part] }
    }

    fn refusal(bytes: &[u8]) -> FormatError {
        WorldFile::decode(bytes).expect_err("it is refused")
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        for file in [WorldFile::default(), file()] {
            assert_eq!(WorldFile::decode(&file.encode().unwrap()), Ok(file));
        }
    }

    #[test]
    fn no_bit_may_be_another() {
        let whole = file().encode().unwrap();
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            refusal(&bytes);
        }
    }

    #[test]
    fn no_byte_may_be_missing_or_follow() {
        let whole = file().encode().unwrap();
        for end in 0..whole.len() {
            let error = refusal(&whole[..end]);
            assert!(matches!(error, FormatError::Length { .. } | FormatError::NotAWorld), "{end}: {error}");
        }
        let longer: Vec<_> = whole.iter().copied().chain([0]).collect();
        assert!(matches!(refusal(&longer), FormatError::Length { .. }));
    }

    #[test]
    fn a_newer_file_says_so() {
        let mut bytes = file().encode().unwrap();
        bytes[8] = 9;
        assert_eq!(refusal(&bytes), FormatError::Newer { found: 9, known: 1 });
        assert_eq!(refusal(b"PK\x03\x04 something else"), FormatError::NotAWorld);
    }

    #[test]
    fn a_whole_file_whose_references_lead_nowhere_is_malformed() {
        type Spoil = fn(&mut WorldFile);
        let cases: &[(Spoil, &str)] = &[
            (|file| file.objects[1].class = 1, "object 1 (mesh) is of class 1, and there are 1"),
            (|file| file.objects[1].outer = Some(2), "object 1 (mesh) lies in object 2, and there are 2"),
            (|file| file.objects[1].outer = None, "object 1 (mesh) is a part of nothing"),
            (|file| file.objects[0].outer = Some(1), "object 0 (Cube_1) lies in itself"),
            (
                |file| file.objects[0].values[0].0 = 2,
                "object 0 (Cube_1) has a value for property 2 of /Script/Game.Cube, which has fewer",
            ),
            (
                |file| file.objects[0].values[1].1 = FileValue::Object(FileReference::In(5)),
                "object 0 (Cube_1) refers to object 5, and there are 2",
            ),
        ];
        for (spoil, problem) in cases {
            let mut file = file();
            spoil(&mut file);
            let found = refusal(&file.encode().unwrap());
            assert_eq!(found, FormatError::Malformed { problem: (*problem).to_owned() });
        }
    }

    #[test]
    fn a_body_that_is_no_world_is_malformed() {
        let mut bytes = file().encode().unwrap();
        bytes.truncate(bytes.len() - 8);
        // The first byte of the body says how many records there are.
        bytes[24] = 0x07;
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        assert!(matches!(refusal(&bytes), FormatError::Malformed { .. }));
    }
}
