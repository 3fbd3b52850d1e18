//! Sparse delegates. A value is a pointer to a list of bindings. The list is allocated on demand.

use std::num::NonZeroU32;

use alcedo_abi::value::SparseRaw;

use super::delegate::{self, Delegate, NATURE};
use super::multicast::{Multicast, several};
use super::prelude::*;
use super::ptr::{Mut, Ref};
use crate::nested::ElementType;
use crate::value::Binding;

pub(crate) struct Sparse;

impl Kind for Sparse {
    type Of = Rc<ElementType>;
    type Raw = SparseRaw;
    const KIND: PropertyKind = PropertyKind::SPARSE_DELEGATE;

    several!();

    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        match from.list::<Multicast>() {
            Some(from) => Multicast::copy(to.list(), from),
            None => Self::destroy(to),
        }
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        match (one.list::<Multicast>(), two.list::<Multicast>()) {
            (Some(one), Some(two)) => Multicast::equal(one, two),
            (one, two) => one.or(two).is_none_or(|list| list.rows().len() == 0),
        }
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        match at.list::<Multicast>() {
            Some(list) => Multicast::hash(list, hasher),
            // The hashes of an unallocated list and of an empty list are equal.
            None => hasher.write_u32(0),
        }
    }

    fn destroy(at: Mut<'_, Self>) {
        at.drop_list::<Multicast>();
    }

    fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
        if let Some(list) = at.list::<Multicast>() {
            Multicast::visit_objects(list, visit);
        }
    }

    fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        if let Some(list) = at.list_if_any::<Multicast>() {
            Multicast::map_objects(list, map);
        }
    }

    fn mark(at: Mut<'_, Self>, fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        Multicast::mark(at.list_if_any()?, fresh)
    }

    fn read(at: Ref<'_, Self>) -> Vec<Binding> {
        at.list::<Multicast>().map_or_else(Vec::new, Multicast::read)
    }

    fn write(at: Mut<'_, Self>, value: &Vec<Binding>) {
        if value.is_empty() {
            return Self::destroy(at);
        }
        Multicast::write(at.list(), value);
    }
}
