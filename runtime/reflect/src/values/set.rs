//! Sets of distinct values.

use std::hash::Hasher;
use std::rc::Rc;

use alcedo_abi::kinds::PropertyKind;
use alcedo_abi::value::MapRaw;
use alcedo_base::handles::ObjectHandle;

use super::array::{elements, nature_around};
use super::keyed::{self, keyed_memory};
use super::ptr::{Mut, Ptr, Ref};
use super::{Kind, Offer, Part, fit};
use crate::convert::{Conversion, differ};
use crate::names::Names;
use crate::nested::ElementType;
use crate::property::PropertyType;
use crate::structs::Nature;
use crate::text::scan::Scanner;
use crate::text::{ParseError, listed};
use crate::value::{Value, WrongType};

pub(crate) struct Set;

impl Kind for Set {
    type Of = Rc<ElementType>;
    type Raw = MapRaw;
    const KIND: PropertyKind = PropertyKind::SET;

    elements!();

    keyed_memory!();

    fn write(at: Mut<'_, Self>, value: &Vec<Value>) {
        keyed::write(at, value.iter().map(|key| (key, None)));
    }

    fn parse(scanner: &mut Scanner<'_>, of: &Rc<ElementType>, ty: &PropertyType) -> Result<Vec<Value>, ParseError> {
        let values = scanner.list(ty, |scanner| scanner.value(of.ty()))?;
        scanner.check_keys(ty, values.iter())?;
        Ok(values)
    }

    fn convert(value: &Value, of: &Rc<ElementType>, cx: &Conversion<'_>) -> Option<Vec<Value>> {
        let Some(Offer::Values(values)) = cx.offer(value) else { return None };
        cx.all(values, of.ty()).filter(|keys| differ(keys.iter()))
    }
}
