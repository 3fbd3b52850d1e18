//! Values, each once.

use std::hash::Hasher;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::MapRaw;
use alcedo_base::handles::ObjectHandle;

use super::array::nature_around;
use super::keyed::{self, keyed_memory};
use super::ptr::{Mut, Ptr, Ref};
use super::{Kind, Offer, Part, fit};
use crate::containers::Rowed;
use crate::convert::{Conversion, differ};
use crate::names::Names;
use crate::nested::{ElementType, Row};
use crate::property::PropertyType;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, listed};
use crate::value::{Value, WrongType};

pub(crate) struct Set;

impl Rowed for Set {
    #[inline]
    fn row(of: &Rc<ElementType>) -> Row<'_> {
        of.row()
    }
}

impl Kind for Set {
    type Of = Rc<ElementType>;
    type Raw = MapRaw;
    const KIND: PropertyKind = PropertyKind::SET;

    fn path(of: &Rc<ElementType>) -> &str {
        of.text()
    }

    fn nature(of: &Rc<ElementType>) -> Nature {
        nature_around(of.ty().nature())
    }

    fn same_type(one: &Rc<ElementType>, two: &Rc<ElementType>) -> bool {
        one.ty() == two.ty()
    }

    fn inner_types(of: &Rc<ElementType>, visit: &mut dyn FnMut(&PropertyType)) {
        visit(of.ty());
    }

    keyed_memory!();

    fn read(at: Ref<'_, Self>) -> Vec<Value> {
        at.rows().keys().map(Ptr::read).collect()
    }

    fn fits(of: &Rc<ElementType>, ty: &PropertyType, value: &Vec<Value>) -> Result<(), WrongType> {
        WrongType::check_len(value.len(), ty)?;
        fit(of.ty(), value)
    }

    fn write(at: Mut<'_, Self>, value: &Vec<Value>) {
        keyed::write(at, value.iter().map(|key| (key, None)));
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

    fn parse(scanner: &mut Scanner<'_>, of: &Rc<ElementType>, ty: &PropertyType) -> Result<Vec<Value>, ParseError> {
        let values = scanner.list(ty, |scanner| scanner.value(of.ty()))?;
        scanner.check_keys(ty, values.iter())?;
        Ok(values)
    }

    fn offer<'v>(value: &'v Vec<Value>, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Values(value))
    }

    fn convert(value: &Value, of: &Rc<ElementType>, cx: &Conversion<'_>) -> Option<Vec<Value>> {
        let Some(Offer::Values(values)) = cx.offer(value) else { return None };
        cx.all(values, of.ty()).filter(|keys| differ(keys.iter()))
    }
}
