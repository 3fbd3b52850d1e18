//! Multicast delegates: lists of bindings.

use std::num::NonZeroU32;

use alcedo_abi::value::ArrayRaw;

use super::array::array_memory;
use super::delegate::{self, Delegate, NATURE};
use super::prelude::*;
use super::ptr::{Mut, Ref};
use crate::nested::ElementType;
use crate::value::Binding;

pub(crate) struct Multicast;

const IN_IT: &str = "a list of delegates has delegates in it";

/// Implements the methods of kinds whose [`Value`] is a list of bindings.
macro_rules! several {
    () => {
        fn nature(_of: &Rc<ElementType>) -> Nature {
            Nature { owns_memory: true, ..NATURE }
        }

        fn fits(_of: &Rc<ElementType>, ty: &PropertyType, value: &Vec<Binding>) -> Result<(), WrongType> {
            WrongType::check_len(value.len(), ty)
        }

        $crate::values::by_content!();

        fn each_object(value: &Vec<Binding>, visit: &mut dyn FnMut(ObjectHandle, bool)) {
            value.iter().for_each(|binding| visit(binding.object, true));
        }

        fn with_objects(value: &Vec<Binding>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Vec<Binding> {
            value.iter().map(|binding| Binding { object: map(binding.object), ..*binding }).collect()
        }

        fn print(value: &Vec<Binding>, names: &Names) -> String {
            listed(value.iter().map(|binding| Delegate::print(binding, names)))
        }

        fn parse(
            scanner: &mut Scanner<'_>,
            _of: &Rc<ElementType>,
            ty: &PropertyType,
        ) -> Result<Vec<Binding>, ParseError> {
            scanner.list(ty, |scanner| delegate::parse(scanner, ty))
        }

        fn offer<'v>(value: &'v Vec<Binding>, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
            Some(Offer::Bindings(value))
        }

        fn accept(offer: Offer<'_>, _of: &Rc<ElementType>, _cx: &Conversion<'_>) -> Option<Vec<Binding>> {
            if let Offer::Bindings(bindings) = offer { Some(bindings.to_vec()) } else { None }
        }
    };
}
pub(super) use several;

impl Kind for Multicast {
    type Of = Rc<ElementType>;
    type Raw = ArrayRaw;
    const KIND: PropertyKind = PropertyKind::MULTICAST_DELEGATE;

    several!();

    array_memory!();

    fn mark(at: Mut<'_, Self>, fresh: impl FnOnce() -> Option<NonZeroU32>) -> Option<NonZeroU32> {
        at.rows().mark(fresh)
    }

    fn read(at: Ref<'_, Self>) -> Vec<Binding> {
        at.rows().keys_of().expect(IN_IT).map(Delegate::read).collect()
    }

    fn write(at: Mut<'_, Self>, value: &Vec<Binding>) {
        let mut rows = at.rows();
        rows.refill(value.len());
        rows.keys_of().expect(IN_IT).zip(value).for_each(|(one, binding)| Delegate::write(one, binding));
    }
}
