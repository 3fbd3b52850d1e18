//! Applies one operation of `ops.rs` to the values and objects of a `Yard`.

use alcedo_plugin_api::prelude::*;

use crate::Yard;
use crate::change::{Change, Context};
use crate::ops::{FIELDS, NOTHING, Op, SLOTS, THINGS, Verb, digest, kinds};
use crate::owned_values::{Own, Slots};
use crate::stale;
use crate::thing::{Sheet, Speaks, Spot, Thing};
use crate::threads;

/// Runs an operation and returns a digest of the result.
pub(crate) fn act<'f>(this: This<'f, Yard>, own: &mut Own, op: Op) -> u64 {
    let at = |index: usize| this.pool().get(index).and_then(|thing| this.get(thing).ok());
    let (thing, other) = (at(op.thing), at(op.other));
    match (op.verb, thing) {
        (Verb::Spawn, None) => spawn(this, op),
        (Verb::Adopt, None) => other.map_or(NOTHING, |other| adopt(this, &other, op)),
        (Verb::StaleOwner, _) => stale::owner(this, own),
        (Verb::StaleHandle, _) => stale::handle(this, own, op.dice),
        (Verb::StaleBlack, _) => stale::black(this),
        (Verb::Plain, Some(thing)) => plain(&this, &thing, op),
        (Verb::Std, Some(thing)) => copies(&thing, op),
        (Verb::Call, Some(thing)) => other.map_or(NOTHING, |other| call(&this, &thing, &other, own, op)),
        (Verb::Keep, Some(thing)) => thing.keep({ op.dice }.word()).into(),
        (Verb::Destroy, Some(thing)) => destroy(this, thing, own),
        (Verb::Forget, Some(_)) => {
            this.pool().set(op.thing, Obj::none());
            1
        }
        (Verb::Rename, Some(thing)) => {
            thing.rename(&next_name(this), this.as_base().as_obj()).expect("the name is unique");
            1
        }
        (Verb::StaleElement, Some(thing)) => stale::element(this, &thing),
        (
            Verb::Plain
            | Verb::Std
            | Verb::Call
            | Verb::Keep
            | Verb::Destroy
            | Verb::Forget
            | Verb::Rename
            | Verb::StaleElement,
            None,
        )
        | (Verb::Spawn | Verb::Adopt, Some(_)) => NOTHING,
        _ => on_field(this, own, thing, other, op),
    }
}

macro_rules! by_field {
    ($($name:ident: $ty:ty, $model:ty;)*) => {
        /// Runs an operation on a value of the kind that was drawn.
        fn on_field<'f>(
            this: This<'f, Yard>,
            own: &mut Own,
            thing: Option<This<'f, Thing>>,
            other: Option<This<'f, Thing>>,
            op: Op,
        ) -> u64 {
            match FIELDS[op.field] {
                $(
                    stringify!($name) => {
                        let (red, other) = (thing.as_ref().map(|thing| thing.$name()), other.as_ref().map(|other| other.$name()));
                        on_value::<$ty>(this, red, other, &mut own.owned_values.$name, &mut own.workers, op)
                    }
                )*
                other => unreachable!("unknown field {other}"),
            }
        }
    };
}
kinds!(by_field);

fn on_value<K: Change>(
    this: This<'_, Yard>,
    red: Option<Borrowed<'_, K>>,
    other: Option<Borrowed<'_, K>>,
    slots: &mut Slots<K>,
    workers: &mut threads::Workers,
    op: Op,
) -> u64 {
    let context = Context { yard: this };
    let mut dice = op.dice;
    match (op.verb, red) {
        (Verb::ChangeRed, Some(red)) => K::change(&red, &context, &mut dice),
        (Verb::ChangeBlack, _) => match &slots[op.slot] {
            Some(black) => K::change(&this.open(black), &context, &mut dice),
            None => NOTHING,
        },
        (Verb::Clone, Some(red)) => put(slots, op.slot, red.to_owned()),
        (Verb::New, _) => put(slots, op.slot, K::default()),
        (Verb::Copy, Some(red)) => match other {
            Some(other) => {
                red.assign(other);
                1
            }
            None => NOTHING,
        },
        (Verb::IntoHost, Some(red)) => match &slots[op.slot] {
            Some(black) => {
                red.assign(black);
                1
            }
            None => NOTHING,
        },
        (Verb::Take, Some(red)) => match &slots[op.slot] {
            Some(black) => {
                this.open(black).assign(red);
                1
            }
            None => NOTHING,
        },
        (Verb::Compare, Some(red)) => match &slots[op.slot] {
            Some(black) if K::COMPARES => u64::from(red.equals(black).expect("both values are alive")),
            _ => NOTHING,
        },
        (Verb::Print, Some(red)) => match &slots[op.slot] {
            Some(black) if K::PRINTS => {
                let text = this.open(black).to_string();
                red.parse(&text).unwrap_or_else(|error| panic!("{text:?} was printed, but: {error}"));
                1
            }
            _ => NOTHING,
        },
        (Verb::Twin, _) => match slots[op.slot].clone() {
            Some(twin) => put(slots, op.to, twin),
            None => NOTHING,
        },
        (Verb::Move, _) => match slots[op.slot].take() {
            Some(black) => put(slots, op.to, black),
            None => NOTHING,
        },
        (Verb::Drop | Verb::DropByWorker | Verb::DropByThread | Verb::DropDetached, _) => {
            let Some(black) = slots[op.slot].take() else { return NOTHING };
            match op.verb {
                Verb::DropByWorker => workers.drop(black, dice.next()),
                Verb::DropByThread => threads::drop_joined(black),
                Verb::DropDetached => threads::drop_detached(black),
                _ => drop(black),
            }
            1
        }
        _ => NOTHING,
    }
}

fn put<K>(slots: &mut [Option<K>; SLOTS as usize], slot: usize, value: K) -> u64 {
    slots[slot] = Some(value);
    1
}

/// Returns a name that no thing has had so far.
fn next_name(this: This<Yard>) -> String {
    this.set_named(this.named() + 1);
    format!("t{}t", this.named())
}

/// Spawns a thing that only its slot in the yard keeps alive. Returns the handle of the thing.
pub(crate) fn spawn(this: This<Yard>, op: Op) -> u64 {
    let class = SubclassOf::<Thing>::of({ op.dice }.class()).expect("the class exists");
    let yard = this.as_base().as_obj();
    let thing = this.open(&class).spawn(&this, yard).expect("a thing");
    let name = next_name(this);
    this.get(thing).expect("just spawned").rename(&name, yard).expect("the name is unique");
    this.pool().set(op.thing, thing);
    thing.handle().0
}

/// Stores the target of a soft, lazy or weak reference in a slot of the yard, which then keeps the target alive.
fn adopt(this: This<Yard>, other: &This<Thing>, op: Op) -> u64 {
    let found = match { op.dice }.below(3) {
        0 => other.neighbor().obj(),
        1 => other.twin().obj(),
        _ => other.guest().obj(),
    };
    if found.is_none() {
        return NOTHING;
    }
    this.pool().set(op.thing, found);
    found.handle().0
}

fn destroy(this: This<Yard>, thing: This<Thing>, own: &mut Own) -> u64 {
    let dead = thing.as_obj();
    thing.destroy().expect("not destroyed before");
    own.bury(dead);
    for index in 0..THINGS as usize {
        if this.pool().get(index) == Some(dead) {
            this.pool().set(index, Obj::none());
        }
    }
    dead.handle().0
}

/// Writes numbers, strings and names. These values are passed by value.
fn plain(this: &This<Yard>, thing: &This<Thing>, op: Op) -> u64 {
    let mut dice = op.dice;
    let number = dice.next();
    let word = dice.word();
    let next = Context { yard: *this }.pick(&mut dice);
    thing.set_flag(number & 1 == 1);
    thing.set_byte(number as u8);
    thing.set_short(number as i16);
    thing.set_single(dice.number() as f32);
    thing.set_long(number as i64);
    thing.set_text(word.clone());
    thing.set_name_of_it(UName::of(this, dice.name()).expect("a host"));
    thing.set_spot(Spot { x: dice.number(), y: 1.0 });
    thing.set_next(next);
    assert_eq!((thing.byte(), thing.long(), thing.spot().y), (number as u8, number as i64, 1.0));
    digest(&thing.text())
}

/// Changes properties whose type in the plugin is a std container.
fn copies(thing: &This<Thing>, op: Op) -> u64 {
    let mut dice = op.dice;
    let words = dice.words();
    thing.set_copied(words.clone());
    let mut counts = thing.counts();
    if counts.len() as u64 > 12 {
        counts.clear();
    }
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    thing.set_counts(counts);
    let mut unique = thing.unique();
    if !unique.remove(&(dice.below(20) as u16)) {
        unique.insert(dice.below(20) as u16);
    }
    thing.set_unique(unique);
    thing.set_perhaps(Some(dice.next() as u8).filter(|byte| byte % 2 == 0));
    thing.counts().values().map(|count| u64::from(*count)).sum()
}

/// Calls a function with borrowed arguments and an owned result.
fn call(this: &This<Yard>, thing: &This<Thing>, other: &This<Thing>, own: &mut Own, op: Op) -> u64 {
    let turned = match &own.owned_values.title[op.to] {
        Some(title) => thing.turned(other.rows(), title),
        None => thing.turned(other.rows(), thing.title()),
    };
    let len = this.open(&turned).len() as u64;
    put(&mut own.owned_values.rows, op.slot, turned);
    len
}
