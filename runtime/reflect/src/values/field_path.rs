//! Field paths: references to properties, stored as the interned path of the property.

use std::hash::Hasher;

use alcedo_abi::kinds::PropertyKind;
use alcedo_base::handles::Name;

use super::class_paths::path_text;
use super::ptr::{Mut, Ref, Word};
use super::{Kind, Written, word};
use crate::names::Names;
use crate::property::PropertyType;
use crate::text::{ParseError, print_path};

pub(crate) struct FieldPath;

impl Kind for FieldPath {
    type Of = ();
    type Raw = Name;
    const KIND: PropertyKind = PropertyKind::FIELD_PATH;

    path_text!();
}
