//! Maps from keys to values.

use alcedo_abi::value::MapRaw;

use super::array::nature_around;
use super::fits;
use super::keyed::{self, keyed_memory};
use super::prelude::*;
use super::ptr::{Mut, Ref};
use crate::convert::differ;
use crate::nested::EntryType;

pub(crate) struct Map;

type Entries = Vec<(Value, Value)>;

impl Kind for Map {
    type Of = Rc<EntryType>;
    type Raw = MapRaw;
    const KIND: PropertyKind = PropertyKind::MAP;

    fn nature(of: &Rc<EntryType>) -> Nature {
        nature_around(of.key().nature().or(of.value().nature()))
    }

    fn inner_types(of: &Rc<EntryType>, visit: &mut dyn FnMut(&PropertyType)) {
        visit(of.key());
        visit(of.value());
    }

    keyed_memory!();

    fn read(at: Ref<'_, Self>) -> Entries {
        at.rows().entries().filter_map(|(key, value)| Some((key.read(), value?.read()))).collect()
    }

    fn fits(of: &Rc<EntryType>, ty: &PropertyType, value: &Entries) -> Result<(), WrongType> {
        WrongType::check_len(value.len(), ty)?;
        Self::each_part(of, value, &mut |_, ty, value| fits(ty, value))
    }

    fn write(at: Mut<'_, Self>, value: &Entries) {
        keyed::write(at, value.iter().map(|(key, value)| (key, Some(value))));
    }

    fn each_object(value: &Entries, visit: &mut dyn FnMut(ObjectHandle, bool)) {
        for (key, value) in value {
            key.visit_objects(visit);
            value.visit_objects(visit);
        }
    }

    fn with_objects(value: &Entries, map: &mut dyn FnMut(ObjectHandle) -> ObjectHandle) -> Entries {
        value.iter().map(|(key, value)| (key.map_objects(map), value.map_objects(map))).collect()
    }

    fn each_part<E>(
        of: &Rc<EntryType>,
        value: &Entries,
        visit: &mut dyn FnMut(Part<'_>, &PropertyType, &Value) -> Result<(), E>,
    ) -> Result<(), E> {
        value.iter().enumerate().try_for_each(|(at, (key, value))| {
            visit(Part::Key(at), of.key(), key)?;
            visit(Part::ValueOf(at), of.value(), value)
        })
    }

    fn with_parts(of: &Rc<EntryType>, value: Entries, map: &mut dyn FnMut(&PropertyType, Value) -> Value) -> Entries {
        value.into_iter().map(|(key, value)| (key, map(of.value(), value))).collect()
    }

    fn print(value: &Entries, names: &Names) -> String {
        listed(value.iter().map(|(key, value)| format!("({}, {})", key.print(names), value.print(names))))
    }

    fn parse(scanner: &mut Scanner<'_>, of: &Rc<EntryType>, ty: &PropertyType) -> Result<Entries, ParseError> {
        const FORM: &str = "an entry is written as (key, value)";
        let entries = scanner.list(ty, |scanner| {
            scanner.expect("(", ty, FORM)?;
            let key = scanner.value(of.key())?;
            scanner.expect(",", ty, FORM)?;
            let value = scanner.value(of.value())?;
            scanner.expect(")", ty, FORM)?;
            Ok((key, value))
        })?;
        scanner.check_keys(ty, entries.iter().map(|(key, _)| key))?;
        Ok(entries)
    }

    fn offer<'v>(value: &'v Entries, _cx: &Conversion<'_>) -> Option<Offer<'v>> {
        Some(Offer::Entries(value))
    }

    fn convert(value: &Value, of: &Rc<EntryType>, cx: &Conversion<'_>) -> Option<Entries> {
        let Some(Offer::Entries(entries)) = cx.offer(value) else { return None };
        let convert =
            |(key, value): &(Value, Value)| Some((cx.convert(key, of.key())?, cx.convert(value, of.value())?));
        let converted: Option<Entries> = entries.iter().map(convert).collect();
        converted.filter(|entries| differ(entries.iter().map(|(key, _)| key)))
    }
}
