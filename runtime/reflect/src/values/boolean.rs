//! Booleans. A value in memory is read as a byte, because a plugin may have written any byte.

use super::by_content;
use super::prelude::*;
use super::ptr::{Mut, Ref};
use crate::text::parsed;

pub(crate) struct Bool;

impl Kind for Bool {
    type Of = ();
    type Raw = u8;
    const KIND: PropertyKind = PropertyKind::BOOL;
    const WRITTEN: Written = Written::Word;

    #[inline]
    fn equal(one: Ref<'_, Self>, two: Ref<'_, Self>) -> bool {
        Self::read(one) == Self::read(two)
    }

    #[inline]
    fn hash(at: Ref<'_, Self>, hasher: &mut dyn Hasher) {
        hasher.write_u64(Self::read(at).into());
    }

    #[inline]
    fn read(at: Ref<'_, Self>) -> bool {
        at.raw() != 0
    }

    #[inline]
    fn write(at: Mut<'_, Self>, value: &bool) {
        at.set((*value).into());
    }

    by_content!();

    fn print(value: &bool, _names: &Names) -> String {
        value.to_string()
    }

    fn from_text(text: &str, ty: &PropertyType, _names: &Names) -> Result<bool, ParseError> {
        parsed(text, ty)
    }

    fn offer<'v>(value: &'v bool, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Truth(*value))
    }

    fn accept(offer: Offer<'_>, _of: &(), _cx: &Conversion<'_>) -> Option<bool> {
        match offer {
            Offer::Integer(0) => Some(false),
            Offer::Integer(1) => Some(true),
            _ => None,
        }
    }
}
