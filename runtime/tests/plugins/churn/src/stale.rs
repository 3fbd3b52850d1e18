//! Accesses to invalid values, which the host must refuse with the expected error kind. The replies count accesses that were not refused.

use alcedo_plugin_api::prelude::*;

use crate::Yard;
use crate::ops::{Dice, LONG};
use crate::owned_values::Own;
use crate::thing::Thing;

/// Adds the correctly refused accesses to the counter. Returns the number of all other accesses.
fn count_accepted<const N: usize>(this: This<Yard>, expected: FailureKind, kinds: [Option<FailureKind>; N]) -> u64 {
    let right = kinds.iter().filter(|kind| **kind == Some(expected)).count();
    this.set_refused(this.refused() + right as u64);
    if right < N {
        tracing::error!(?kinds, ?expected, "a stale access was not refused");
    }
    (N - right) as u64
}

fn kind<T>(result: Result<T, CallError>) -> Option<FailureKind> {
    result.err().map(|error| error.kind())
}

/// Uses views of elements that have moved, that were removed, or that were nested in removed elements.
pub(crate) fn element(this: This<Yard>, thing: &This<Thing>) -> u64 {
    let rows = thing.rows();
    if rows.len() as u64 >= LONG {
        rows.clear();
    }
    rows.push(["old"]);
    let row = rows.get(0).expect("not empty");
    rows.insert(0, ["new"]);
    let grown = [kind(row.try_get(0)), kind(row.try_push("never")), kind(row.try_to_owned())];
    let last = rows.last().expect("not empty");
    drop(rows.pop());
    let shrunk = [kind(last.try_get(0)), kind(last.try_set(0, "never"))];
    let groups = thing.groups();
    let low = UName::of(&this, "low").expect("a host");
    groups.insert(low, UArray::<crate::thing::Sheet>::default());
    let group = groups.get(low).expect("just inserted");
    group.push(crate::thing::Sheet::default());
    let titles = group.get(0).expect("just pushed").titles();
    drop(groups.remove(low));
    let gone = [kind(group.try_get(0)), kind(titles.try_push("never"))];
    count_accepted(this, FailureKind::EXPIRED, grown)
        + count_accepted(this, FailureKind::EXPIRED, shrunk)
        + count_accepted(this, FailureKind::EXPIRED, gone)
}

/// Uses views of properties of a destroyed object, and references to the object.
pub(crate) fn owner(this: This<Yard>, own: &mut Own) -> u64 {
    let obj = this.spawn::<Thing>(this.as_base().as_obj()).expect("a thing");
    let thing = this.get(obj).expect("just spawned");
    thing.rows().push(["row"]);
    let (row, title, sheet, ages) =
        (thing.rows().get(0).expect("just pushed"), thing.title(), thing.sheet(), thing.ages());
    let titles = sheet.titles();
    let weak = WeakObject::of(obj).expect("alive");
    let delegate = thing.on_reported();
    thing.destroy().expect("not destroyed before");
    own.bury(obj);
    let refused = [
        kind(row.try_push("never")),
        kind(title.try_text()),
        kind(title.try_set("never")),
        kind(sheet.try_to_owned()),
        kind(titles.try_get(0)),
        kind(ages.try_insert("never", 1)),
        kind(delegate.try_broadcast((1,))),
    ];
    let is_resolved = !this.open(&weak).is_none() || this.open(&weak).get(&this).is_some();
    count_accepted(this, FailureKind::EXPIRED, refused) + u64::from(is_resolved)
}

/// Uses handles of destroyed things, whose slots may have been reused.
pub(crate) fn handle(this: This<Yard>, own: &Own, mut dice: Dice) -> u64 {
    let mut wrong = 0;
    for _time in 0..3.min(own.graves.len()) {
        let dead = own.graves[dice.below(own.graves.len() as u64) as usize];
        let (weak, delegate) = (WeakObject::<Thing>::default(), MulticastDelegate::<fn(u32)>::default());
        let received = FieldPath::of("/Script/Game.Thing:received").expect("the property exists");
        let refused = [
            kind(this.get(dead)),
            kind(this.open(&weak).try_set(dead)),
            kind(this.open(&delegate).try_bind(dead, "hear")),
            kind(this.open(&received).read::<u64, _>(dead)),
        ];
        wrong += count_accepted(this, FailureKind::STALE, refused);
        wrong += u64::from(!this.open(&weak).is_none()) + u64::from(this.open(&delegate).is_bound());
    }
    wrong
}

/// Uses views into an owned value that was overwritten.
pub(crate) fn black(this: This<Yard>) -> u64 {
    let rows: UArray<UArray<String>> = UArray::of([vec!["a"], vec!["b", "c"]]).expect("a host");
    let view = this.open(&rows);
    let row = view.get(1).expect("two rows");
    view.assign([vec!["d"]]);
    let overwritten = [kind(row.try_get(0)), kind(row.try_push("never"))];
    let row = view.get(0).expect("one row");
    view.clear();
    count_accepted(this, FailureKind::EXPIRED, overwritten)
        + count_accepted(this, FailureKind::EXPIRED, [kind(row.try_to_owned())])
}
