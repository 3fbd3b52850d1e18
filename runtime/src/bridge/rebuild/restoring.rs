//! Restores the kept fields of one object after its plugin part was built: selects the value of each field, and puts rejected values aside.

use smallvec::SmallVec;

use crate::bridge::core::Core;
use crate::bridge::rebuild::{Turns, kept_class_of};
use crate::cells::RefCell;
use crate::conjugate::build::Misfit;
use crate::conjugate::file_fields::KeptView;
use crate::conjugate::packed::PackedFields;
use crate::conjugate::saving::KeptShare;
use crate::handles::ObjectHandle;
use crate::object::dormant::{FieldAside, KeptField};

/// State of the restoration of one object.
pub(super) struct Restoring<'a> {
    core: &'a Core,
    turns: &'a RefCell<Turns>,
    object: ObjectHandle,
    /// Fields that the previous build has saved.
    kept: &'a [KeptView<'a>],
    packed: &'a PackedFields,
    /// Number of restored fields.
    fields_kept: u64,
    /// Fields with a restored or written value of the object. Most objects have few kept fields, and need no allocation here.
    restored: SmallVec<[KeptView<'a>; 4]>,
    /// Rejected values of the previous build.
    lost: Vec<(KeptField, Misfit)>,
    /// Rejected values that were already put aside. The flag is set if the field has a value that was written later.
    aside: Vec<(KeptField, Misfit, bool)>,
}

impl<'a> Restoring<'a> {
    pub(super) fn new(
        core: &'a Core,
        turns: &'a RefCell<Turns>,
        object: ObjectHandle,
        (kept, packed): (&'a [KeptView<'a>], &'a PackedFields),
    ) -> Self {
        let (fields_kept, restored, lost, aside) = Default::default();
        Self { core, turns, object, kept, packed, fields_kept, restored, lost, aside }
    }

    /// Checks if a value that was put aside belongs to a saved field, possibly under an earlier name of the field.
    pub(super) fn is_older(&self, aside: &FieldAside, field: KeptView<'_>) -> bool {
        let older = KeptView::from(&aside.field);
        if field.is_same(older) {
            return true;
        }
        let had_field = aside.instead.is_some() || aside.is_own;
        had_field && !self.kept.iter().any(|other| other.is_same(older)) && self.is_same(older, field)
    }

    /// Restores a saved field. `older` contains the values of the field that earlier reloads have put aside.
    pub(super) fn restore(&mut self, field: KeptView<'a>, older: &[FieldAside]) {
        // Most objects have no value that was put aside.
        if older.is_empty() {
            if let Err(lost) = self.restore_alone(field) {
                self.lost.push(lost);
            }
            return;
        }
        // A value that was put aside under an earlier name of the field belongs to the field.
        let others: SmallVec<[KeptView<'_>; 4]> =
            self.kept.iter().copied().filter(|other| !field.is_same(*other)).collect();
        let (mut latest, mut rejected) = (None, Vec::new());
        // Loads every value, because a value that the field cannot hold is put aside. The field has the last value that was loaded.
        for (value, source) in in_order(field, older) {
            match (self.load(value, &others), source) {
                (Ok(()), _) => latest = Some(source),
                (Err(lost), Source::Written) => self.lost.push(lost),
                // An earlier reload has already reported that this value is put aside.
                (Err(lost), Source::Aside) => rejected.push(lost),
                (Err(_), Source::Default) => {}
            }
        }
        self.fields_kept += u64::from(latest.is_some());
        if matches!(latest, Some(Source::Aside | Source::Written)) {
            self.restored.push(field);
        }
        let is_written = latest == Some(Source::Written);
        self.aside.extend(rejected.into_iter().map(|(field, misfit)| (field, misfit, is_written)));
    }

    /// Restores a field that was put aside, and that the previous build did not keep.
    pub(super) fn restore_missing(&mut self, field: &'a KeptField) {
        if let Err((field, misfit)) = self.restore_alone(KeptView::from(field)) {
            self.aside.push((field, misfit, false));
        }
    }

    /// Puts the rejected values aside. Returns the number of restored fields, and the rejected values of the previous build.
    pub(super) fn finish(mut self) -> (u64, Vec<(KeptField, Misfit)>) {
        let mut aside = std::mem::take(&mut self.aside);
        aside.extend(self.lost.iter().map(|(field, misfit)| (field.clone(), misfit.clone(), false)));
        if !aside.is_empty() {
            let into = (&mut KeptShare::default(), &mut PackedFields::default());
            let now = self.core.plugins().save_for_reload(self.object, into, |_| None).unwrap_or_default();
            let aside = aside.into_iter().map(|rejected| self.field_aside(rejected, &now)).collect();
            self.core.world.objects.replace_fields_aside(self.object, aside);
        }
        (self.fields_kept, self.lost)
    }

    /// Describes a rejected value. `now` contains the current values of all fields. `is_written` is set if the field has a value that was
    /// written later.
    fn field_aside(&self, (field, misfit, is_written): (KeptField, Misfit, bool), now: &[KeptField]) -> FieldAside {
        let of = KeptView::from(&field);
        // A field that rejects the value may have a later name than the value.
        let has_field = misfit != Misfit::Gone;
        let exact = now.iter().find(|now| KeptView::from(*now).is_same(of));
        let renamed = || now.iter().find(|now| self.is_same(of, KeptView::from(*now)));
        let instead = if has_field && !is_written { exact.or_else(renamed) } else { None };
        let instead = instead.map(|now| now.data.clone());
        let is_own = has_field && self.restored.iter().any(|restored| self.is_same(of, *restored));
        FieldAside { field, instead, is_own }
    }

    /// Restores the only value of a field.
    fn restore_alone(&mut self, field: KeptView<'a>) -> Result<(), (KeptField, Misfit)> {
        self.load(field, self.kept)?;
        self.fields_kept += 1;
        self.restored.push(field);
        Ok(())
    }

    /// Passes a value to the plugin part. `all` contains the saved fields whose names are not available for a renamed field. If the value
    /// is rejected, returns the value as a field of the class that declares the field now. A later reload then finds the value there.
    fn load(&self, field: KeptView<'_>, all: &[KeptView<'_>]) -> Result<(), (KeptField, Misfit)> {
        let class = kept_class_of(self.core, self.turns, field.class);
        let loaded = self.core.plugins().load_kept(self.object, (field, class), (all, self.packed));
        loaded.map_err(|(misfit, class)| (KeptField { class, ..field.to_field() }, misfit))
    }

    /// Checks if two saved values belong to one field, possibly under different names.
    fn is_same(&self, one: KeptView<'_>, other: KeptView<'_>) -> bool {
        let [class, of_other] = [one.class, other.class].map(|class| kept_class_of(self.core, self.turns, class));
        class == of_other && class.is_some_and(|class| self.core.plugins().is_same_field([one, other], class))
    }
}

/// Source of a saved value of a kept field.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Source {
    /// Red constructor, after an earlier value was put aside.
    Default,
    /// Earlier build. The value was put aside or restored, and no code has written the field since.
    Aside,
    /// Code of the previous build.
    Written,
}

/// Returns the saved values of a field in the order of restoration. Values that were put aside take precedence over a value that no code has
/// written since. `older` contains the values of this field that were put aside.
fn in_order<'a>(field: KeptView<'a>, older: &'a [FieldAside]) -> impl Iterator<Item = (KeptView<'a>, Source)> {
    let source = match older.last().filter(|aside| aside.instead.as_deref() == Some(field.data)) {
        None => Source::Written,
        Some(aside) if aside.is_own => Source::Aside,
        Some(_) => Source::Default,
    };
    let (first, last) = match source {
        Source::Written => (None, Some(field)),
        Source::Default | Source::Aside => (Some(field), None),
    };
    let with = |field: Option<KeptView<'a>>| field.map(|field| (field, source)).into_iter();
    with(first).chain(older.iter().map(|aside| (KeptView::from(&aside.field), Source::Aside))).chain(with(last))
}

#[cfg(test)]
mod tests {
    use super::{KeptView, Source, in_order};
    use crate::object::dormant::{FieldAside, KeptField};

    #[test]
    fn a_value_that_code_has_written_is_restored_last() {
        let field =
            |value: u8| KeptField { class: "/Script/Game.Wagon".into(), name: "fuel".into(), data: vec![value] };
        let aside = |instead: Option<u8>, is_own| FieldAside {
            field: field(1),
            instead: instead.map(|value| vec![value]),
            is_own,
        };
        let check = |older: &[FieldAside], expected: &[(u8, Source)]| {
            let now = field(2);
            let order: Vec<_> =
                in_order(KeptView::from(&now), older).map(|(value, source)| (value.data[0], source)).collect();
            assert_eq!(order, expected);
        };
        check(&[], &[(2, Source::Written)]);
        check(&[aside(None, false)], &[(1, Source::Aside), (2, Source::Written)]);
        check(&[aside(Some(3), true)], &[(1, Source::Aside), (2, Source::Written)]);
        check(&[aside(Some(2), false)], &[(2, Source::Default), (1, Source::Aside)]);
        check(&[aside(Some(2), true)], &[(2, Source::Aside), (1, Source::Aside)]);
        check(
            &[aside(Some(2), true), aside(None, false)],
            &[(1, Source::Aside), (1, Source::Aside), (2, Source::Written)],
        );
    }
}
