//! Field paths: references to properties, stored as the interned path of the property.

use super::class_paths::path_text;
use super::prelude::*;
use super::ptr::{Mut, Ref, Word};
use super::word;
use crate::text::print_path;

pub(crate) struct FieldPath;

impl Kind for FieldPath {
    type Of = ();
    type Raw = Name;
    const KIND: PropertyKind = PropertyKind::FIELD_PATH;

    path_text!();
}
