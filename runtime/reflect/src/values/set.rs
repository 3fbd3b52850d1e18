//! Sets of distinct values.

use alcedo_abi::value::MapRaw;

use super::array::{elements, nature_around};
use super::fits;
use super::keyed::{self, keyed_memory};
use super::prelude::*;
use super::ptr::{Mut, Ptr, Ref};
use crate::convert::differ;
use crate::nested::ElementType;

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
