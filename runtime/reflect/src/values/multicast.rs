//! Any number of delegates.
#![expect(unsafe_code, reason = "the delegates lie in memory of their own")]

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::ArrayRaw;
use alcedo_base::handles::ObjectHandle;

use super::delegate::{self, Delegate, NATURE};
use super::ptr::{Mut, Ref};
use super::{Form, Kind, Offer};
use crate::containers::{array_copy, array_destroy, rows};
use crate::convert::Conversion;
use crate::names::Names;
use crate::nested::ElementType;
use crate::property::PropertyType;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, listed};
use crate::transfer::{WrongType, make_room};
use crate::value::Binding;

pub(crate) struct Multicast;

impl<'a> Ref<'a, Multicast> {
    fn delegates(self) -> impl Iterator<Item = Ref<'a, Delegate>> {
        let signature = self.of().signature();
        // SAFETY: the pointer was promised a list of delegates.
        rows(&self.raw(), self.of().ty().size()).map(move |place| unsafe { Ref::new(place, signature) })
    }
}

impl Mut<'_, Multicast> {
    fn delegate(&self, place: *mut u8) -> Mut<'_, Delegate> {
        // SAFETY: only places of the list are given, which was promised to be one of delegates.
        unsafe { Mut::new(place, self.of().signature()) }
    }
}

/// What kinds say that are several delegates once they are read out.
macro_rules! several {
    () => {
        const FORM: Form = Form::Signature;

        fn path(of: &Rc<ElementType>) -> &str {
            of.text()
        }

        fn nature(_of: &Rc<ElementType>) -> Nature {
            Nature { owns_memory: true, ..NATURE }
        }

        fn fits(_of: &Rc<ElementType>, ty: &PropertyType, value: &Vec<Binding>) -> Result<(), WrongType> {
            WrongType::check_len(value.len(), ty)
        }

        fn zero(_of: &Rc<ElementType>) -> Vec<Binding> {
            Vec::new()
        }

        fn same(one: &Vec<Binding>, two: &Vec<Binding>) -> bool {
            one == two
        }

        fn feed(value: &Vec<Binding>, mut hasher: &mut dyn Hasher) {
            value.hash(&mut hasher);
        }

        fn each_object(value: &Vec<Binding>, visit: &mut dyn FnMut(ObjectHandle, bool)) {
            value.iter().for_each(|binding| visit(binding.object, true));
        }

        fn with_objects(value: &Vec<Binding>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Vec<Binding> {
            value.iter().map(|binding| Binding { object: map(binding.object), ..*binding }).collect()
        }

        fn print(value: &Vec<Binding>, names: &Names) -> String {
            listed(value.iter().map(|binding| delegate::print(binding, names)))
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

    fn copy(to: Mut<'_, Self>, from: Ref<'_, Self>) {
        // SAFETY: the pointers were promised two lists of delegates, apart from each other.
        unsafe { array_copy(to.at().cast(), from.at().cast(), to.of().ty()) };
    }

    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        one.raw().len == two.raw().len
            && one.delegates().zip(two.delegates()).all(|(one, two)| Delegate::equal(one, two))
    }

    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        hasher.write_u32(at.raw().len);
        at.delegates().for_each(|one| Delegate::hash(one, hasher));
    }

    fn destroy(at: Mut<'_, Self>) {
        // SAFETY: the pointer was promised a list of delegates.
        unsafe { array_destroy(at.at().cast(), at.of().ty()) };
    }

    fn visit_objects(at: Ref<'_, Self>, visit: &mut dyn FnMut(ObjectHandle)) {
        at.delegates().for_each(|one| Delegate::visit_objects(one, visit));
    }

    fn map_objects(at: Mut<'_, Self>, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) {
        rows(&at.raw(), at.of().ty().size()).for_each(|place| Delegate::map_objects(at.delegate(place), map));
    }

    fn read(at: Ref<'_, Self>) -> Vec<Binding> {
        at.delegates().map(Delegate::read).collect()
    }

    fn write(at: Mut<'_, Self>, value: &Vec<Binding>) {
        // SAFETY: the pointer was promised a list of delegates.
        let places = unsafe { make_room(at.at().cast(), at.of().ty(), value.len()) };
        places.zip(value).for_each(|(place, binding)| Delegate::write(at.delegate(place), binding));
    }
}
