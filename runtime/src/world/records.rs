//! What a file of a world is made of, once it is read: records, and what may be wrong with them.

use serde::{Deserialize, Serialize};

use crate::world::file_value::FileValue;

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
    /// The fields of its plugin part that are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) kept: Vec<KeptRecord>,
}

/// A field of a plugin part.
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
    /// Two objects of one path.
    #[error("{path} is object {first} and object {second}: names are unique in an outer, so rename one and save anew")]
    SamePath {
        /// The path, cut where it is long.
        path: String,
        /// Place of the first in the file.
        first: usize,
        /// Place of the second.
        second: usize,
    },
    /// A name that no object can have.
    #[error("object {object} cannot be called \"{name}\": {problem}; rename it and save anew")]
    ObjectName {
        /// Place of the object in the file.
        object: usize,
        /// The name, escaped and cut where it is long.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Whole, and yet no world: only a program that writes such files by itself makes one.
    #[error("{problem}: the program that wrote this file does not keep to the format")]
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
}

fn is_false(it: &bool) -> bool {
    !it
}

pub(super) fn malformed(problem: impl Into<String>) -> FormatError {
    FormatError::Malformed { problem: problem.into() }
}
