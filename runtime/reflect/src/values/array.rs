//! Arrays of values.

use alcedo_abi::value::ArrayRaw;

use super::prelude::*;
use super::ptr::{Mut, Ptr, Ref};
use super::structure::put_new;
use super::{by_content, fits};
use crate::nested::ElementType;

pub(crate) struct Array;

/// Computes the [`Nature`] of a container from the [`Nature`] of its elements.
pub(super) fn nature_around(inner: Nature) -> Nature {
    Nature { owns_memory: true, can_be_key: false, has_defaults: false, empty_structs: 0, ..inner }
}

/// Implements the methods that are common to the types with one inner type.
macro_rules! of_element {
    () => {
        fn inner_types(of: &Rc<ElementType>, visit: &mut dyn FnMut(&PropertyType)) {
            visit(of.ty());
        }
    };
}
pub(super) use of_element;

/// Implements the methods that are common to arrays and sets.
macro_rules! elements {
    () => {
        $crate::values::array::of_element!();

        fn nature(of: &Rc<ElementType>) -> Nature {
            nature_around(of.ty().nature())
        }

        fn read(at: Ref<'_, Self>) -> Vec<Value> {
            at.rows().keys().map(Ptr::read).collect()
        }

        fn fits(of: &Rc<ElementType>, ty: &PropertyType, value: &Vec<Value>) -> Result<(), WrongType> {
            WrongType::check_len(value.len(), ty)?;
            Self::each_part(of, value, &mut |_, ty, value| fits(ty, value))
        }

        fn each_object(value: &Vec<Value>, visit: &mut dyn FnMut(ObjectHandle, bool)) {
            value.iter().for_each(|value| value.visit_objects(visit));
        }

        fn with_objects(value: &Vec<Value>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Vec<Value> {
            value.iter().map(|value| value.map_objects(map)).collect()
        }

        fn each_part<E>(
            of: &Rc<ElementType>,
            value: &Vec<Value>,
            visit: &mut dyn FnMut(Part<'_>, &PropertyType, &Value) -> Result<(), E>,
        ) -> Result<(), E> {
            value.iter().enumerate().try_for_each(|(at, value)| visit(Part::At(at), of.ty(), value))
        }

        fn print(value: &Vec<Value>, names: &Names) -> String {
            listed(value.iter().map(|value| value.print(names)))
        }

        fn offer<'v>(value: &'v Vec<Value>, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
            Some(Offer::Values(value))
        }
    };
}
pub(super) use elements;

/// Implements the memory operations of arrays and lists of delegates.
macro_rules! array_memory {
    () => {
        fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
            to.rows().copy_from(from.rows());
        }

        fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
            let (one, two) = (one.rows(), two.rows());
            one.len() == two.len() && one.keys().zip(two.keys()).all(|(one, two)| one.equal(two))
        }

        fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
            hasher.write_u32(at.rows().len());
            at.rows().keys().for_each(|element| element.hash_into(hasher));
        }

        fn destroy(at: Mut<'_, Self>) {
            at.rows().destroy();
        }

        fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
            if at.of().ty().holds_objects() {
                at.rows().keys().for_each(|element| element.visit_objects(visit));
            }
        }

        fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
            if at.of().ty().names_objects() {
                at.rows().keys().for_each(|element| element.map_objects(map));
            }
        }
    };
}
pub(super) use array_memory;

impl Kind for Array {
    type Of = Rc<ElementType>;
    type Raw = ArrayRaw;
    const KIND: PropertyKind = PropertyKind::ARRAY;

    elements!();

    array_memory!();

    fn write(at: Mut<'_, Self>, value: &Vec<Value>) {
        let mut rows = at.rows();
        rows.refill(value.len());
        rows.keys().zip(value).for_each(|(element, value)| put_new(element, value));
    }

    by_content!();

    fn with_parts(
        of: &Rc<ElementType>,
        value: Vec<Value>,
        map: &mut dyn FnMut(&PropertyType, Value) -> Value,
    ) -> Vec<Value> {
        value.into_iter().map(|value| map(of.ty(), value)).collect()
    }

    fn parse(scanner: &mut Scanner<'_>, of: &Rc<ElementType>, ty: &PropertyType) -> Result<Vec<Value>, ParseError> {
        scanner.list(ty, |scanner| scanner.value(of.ty()))
    }

    fn convert(value: &Value, of: &Rc<ElementType>, cx: &Conversion<'_>) -> Option<Vec<Value>> {
        if let Some(Offer::Values(values)) = cx.offer(value) { cx.all(values, of.ty()) } else { None }
    }
}
