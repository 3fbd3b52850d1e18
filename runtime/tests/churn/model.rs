//! Models the expected state of the yard, the plugin object that runs all operations. The state consists of `Thing` objects, owned values
//! of the plugin, and references.

use std::array;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use alcedo_runtime::{ObjectHandle, Runtime, Value};

use super::ops::{FIELDS, LONG, NOTHING, Op, SLOTS, THINGS, Verb, digest, kinds};
use super::references::{
    ClassPath, Decide, Dense, FieldName, LazyRef, Listeners, Rare, Soft, SoftRef, Sub, Voice, WeakRef,
};
use super::values::{Ansi, Change, Friend, Id, Label, Named, SheetModel, State, Text, ToValue, Utf, Wide, number};

/// Properties of a `Thing` that the plugin accesses as numbers, strings or std containers.
#[derive(Clone, Default)]
struct Plain {
    flag: bool,
    byte: u8,
    short: i16,
    single: f32,
    long: i64,
    text: String,
    name: Named,
    spot: (f64, f64),
    next: Friend,
    copied: Vec<String>,
    counts: BTreeMap<String, u32>,
    unique: BTreeSet<u16>,
    perhaps: Option<u8>,
}

#[derive(Clone, Default)]
struct ThingModel {
    values: Values,
    plain: Plain,
    /// Number of values that the thing's plugin part owns.
    kept: u64,
}

macro_rules! models {
    ($($name:ident: $ty:ty, $model:ty;)*) => {
        /// Values, one of each kind.
        #[derive(Clone, Default)]
        struct Values {
            $($name: $model,)*
        }

        impl Values {
            fn edges(&self, visit: &mut dyn FnMut(Id)) {
                $(self.$name.edges(visit);)*
            }

            /// Returns the expected properties in the host. Omits the property whose values are internal to the host.
            fn properties(&self, host: &Runtime) -> Vec<(&'static str, Value)> {
                let mut properties = vec![$((stringify!($name), self.$name.value(host))),*];
                properties.retain(|(name, _)| *name != "twin");
                properties
            }
        }

        /// Values that plugin code owns: several of each kind.
        struct OwnedValues {
            $($name: [Option<$model>; SLOTS as usize],)*
        }

        impl Default for OwnedValues {
            fn default() -> Self {
                Self { $($name: array::from_fn(|_| None),)* }
            }
        }

        impl OwnedValues {
            fn count(&self) -> u64 {
                let counts = [$(self.$name.iter().flatten().count()),*];
                counts.iter().map(|count| *count as u64).sum()
            }

            fn edges(&self, visit: &mut dyn FnMut(Id)) {
                $(self.$name.iter().flatten().for_each(|value| value.edges(visit));)*
            }

            /// Copies the values of a slot into the mirror. Each bit of the answer represents one kind of value, and is set if the slot has
            /// a value of this kind.
            fn show(&self, mirror: &mut Values, slot: usize) -> u64 {
                let (mut bits, mut bit) = (0, 1);
                $(
                    if let Some(black) = &self.$name[slot] {
                        mirror.$name = black.clone();
                        bits |= bit;
                    }
                    bit <<= 1;
                )*
                let _all_done = bit;
                bits
            }
        }

        impl Model {
            fn on_field(&mut self, op: Op) -> u64 {
                let Self { state, things, owned_values, .. } = self;
                let other = state.pool[op.other].map(|other| things[&other].values.clone());
                let mut values = state.pool[op.thing].and_then(|thing| things.get_mut(&thing)).map(|thing| &mut thing.values);
                match FIELDS[op.field] {
                    $(
                        stringify!($name) => {
                            let red = values.take().map(|values| &mut values.$name);
                            on_value(state, red, other.map(|other| other.$name), &mut owned_values.$name, op)
                        }
                    )*
                    other => unreachable!("unknown field {other}"),
                }
            }
        }
    };
}
kinds!(models);

fn on_value<T: Change>(
    state: &mut State,
    red: Option<&mut T>,
    other: Option<T>,
    slots: &mut [Option<T>; SLOTS as usize],
    op: Op,
) -> u64 {
    let mut dice = op.dice;
    let done = |did: bool| if did { 1 } else { NOTHING };
    match (op.verb, red) {
        (Verb::ChangeRed, Some(red)) => red.change(state, &mut dice),
        (Verb::ChangeBlack, _) => slots[op.slot].as_mut().map_or(NOTHING, |black| black.change(state, &mut dice)),
        (Verb::Clone, Some(red)) => {
            slots[op.slot] = Some(red.clone());
            1
        }
        (Verb::New, _) => {
            slots[op.slot] = Some(T::default());
            1
        }
        (Verb::Copy, Some(red)) => done(other.map(|other| *red = other).is_some()),
        (Verb::IntoHost, Some(red)) => done(slots[op.slot].clone().map(|black| *red = black).is_some()),
        (Verb::Take, Some(red)) => done(slots[op.slot].as_mut().map(|black| *black = red.clone()).is_some()),
        (Verb::Compare, Some(red)) if T::COMPARES => {
            slots[op.slot].as_ref().map_or(NOTHING, |black| u64::from(black == red))
        }
        (Verb::Print, Some(red)) if T::PRINTS => {
            done(slots[op.slot].as_ref().map(|black| *red = black.printed()).is_some())
        }
        (Verb::Twin, _) => match slots[op.slot].clone() {
            Some(twin) => {
                slots[op.to] = Some(twin);
                1
            }
            None => NOTHING,
        },
        (Verb::Move, _) => match slots[op.slot].take() {
            Some(black) => {
                slots[op.to] = Some(black);
                1
            }
            None => NOTHING,
        },
        (Verb::Drop | Verb::DropByWorker | Verb::DropByThread | Verb::DropDetached, _) => {
            done(slots[op.slot].take().is_some())
        }
        _ => NOTHING,
    }
}

/// State on which plugin and host must agree.
pub(crate) struct Model {
    yard: Id,
    mirror: Id,
    /// Prefix that the paths of all objects in the yard have in common.
    inside: String,
    state: State,
    things: BTreeMap<Id, ThingModel>,
    owned_values: OwnedValues,
    named: u64,
    /// Handles of all things that the plugin has returned so far. No handle may be reused.
    returned: HashSet<Id>,
}

impl Model {
    pub(crate) fn new(host: &Runtime, yard: Id) -> Self {
        let Ok(Value::Object(mirror)) = host.objects().get(yard, "mirror") else { panic!("the yard has a mirror") };
        let path = host.objects().path_of(mirror).expect("it is there");
        let inside = path
            .strip_suffix(&*host.objects().name_of(mirror).expect("it is there"))
            .expect("it ends in the name")
            .to_owned();
        let mut model = Self {
            yard,
            mirror,
            inside,
            state: State::default(),
            things: BTreeMap::new(),
            owned_values: OwnedValues::default(),
            named: 0,
            returned: HashSet::new(),
        };
        model.add(mirror, path);
        model
    }

    fn add(&mut self, thing: Id, path: String) {
        assert!(self.returned.insert(thing), "the handle {thing} was issued before");
        self.state.received.insert(thing, 0);
        self.state.paths.insert(thing, path);
        self.things.insert(thing, ThingModel::default());
    }

    fn remove(&mut self, thing: Id) {
        self.state.received.remove(&thing);
        self.state.paths.remove(&thing);
        self.things.remove(&thing);
    }

    fn next_path(&mut self) -> String {
        self.named += 1;
        format!("{}t{}t", self.inside, self.named)
    }

    /// Applies an operation and returns the expected answer. The answer to a construction is a new handle, which the model cannot predict.
    /// The model only checks that no earlier thing had this handle.
    pub(crate) fn apply(&mut self, op: Op, answer: u64) -> u64 {
        let thing = self.state.pool[op.thing];
        let other = self.state.pool[op.other];
        match (op.verb, thing) {
            (Verb::Spawn, None) => {
                let path = self.next_path();
                self.add(ObjectHandle(answer), path);
                self.state.pool[op.thing] = Some(ObjectHandle(answer));
                answer
            }
            (Verb::Adopt, None) => {
                let Some(other) = other.map(|other| &self.things[&other].values) else { return NOTHING };
                let found = match { op.dice }.below(3) {
                    0 => other.neighbor.resolve(&self.state),
                    1 => other.twin.resolve(&self.state),
                    _ => other.guest.resolve(&self.state),
                };
                self.state.pool[op.thing] = found;
                found.map_or(NOTHING, |found| found.0)
            }
            (Verb::StaleOwner | Verb::StaleHandle | Verb::StaleBlack, _) => 0,
            (Verb::Plain, Some(thing)) => self.plain(thing, op),
            (Verb::Std, Some(thing)) => self.copies(thing, op),
            (Verb::Call, Some(thing)) => other.map_or(NOTHING, |other| self.call(thing, other, op)),
            (Verb::Keep, Some(thing)) => {
                let kept = &mut self.thing(thing).kept;
                *kept = *kept % 3 + 1;
                *kept
            }
            (Verb::Destroy, Some(thing)) => {
                self.remove(thing);
                self.state.pool.iter_mut().filter(|slot| **slot == Some(thing)).for_each(|slot| *slot = None);
                thing.0
            }
            (Verb::Forget, Some(_)) => {
                self.state.pool[op.thing] = None;
                1
            }
            (Verb::Rename, Some(thing)) => {
                let path = self.next_path();
                self.state.paths.insert(thing, path);
                1
            }
            (Verb::StaleElement, Some(thing)) => {
                let Values { rows, groups, .. } = &mut self.thing(thing).values;
                if rows.len() as u64 >= LONG {
                    rows.clear();
                }
                rows.insert(0, vec!["new".to_owned()]);
                groups.remove(&Named("low".to_owned()));
                0
            }
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
            _ => self.on_field(op),
        }
    }

    fn thing(&mut self, thing: Id) -> &mut ThingModel {
        self.things.get_mut(&thing).expect("it is kept")
    }

    fn plain(&mut self, thing: Id, op: Op) -> u64 {
        let mut dice = op.dice;
        let (number, text) = (dice.next(), dice.word());
        let next = Friend(self.state.pool[dice.below(THINGS) as usize]);
        let plain = &mut self.thing(thing).plain;
        plain.flag = number & 1 == 1;
        (plain.byte, plain.short, plain.long) = (number as u8, number as i16, number as i64);
        plain.single = dice.number() as f32;
        plain.text = text;
        plain.name = Named(dice.name().into());
        plain.spot = (dice.number(), 1.0);
        plain.next = next;
        digest(&plain.text)
    }

    fn copies(&mut self, thing: Id, op: Op) -> u64 {
        let mut dice = op.dice;
        let words = dice.words();
        let plain = &mut self.thing(thing).plain;
        plain.copied = words.clone();
        if plain.counts.len() as u64 > 12 {
            plain.counts.clear();
        }
        for word in words {
            *plain.counts.entry(word).or_default() += 1;
        }
        if !plain.unique.remove(&(dice.below(20) as u16)) {
            plain.unique.insert(dice.below(20) as u16);
        }
        plain.perhaps = Some(dice.next() as u8).filter(|byte| byte % 2 == 0);
        plain.counts.values().map(|count| u64::from(*count)).sum()
    }

    fn call(&mut self, thing: Id, other: Id, op: Op) -> u64 {
        let mut turned = self.things[&other].values.rows.clone();
        turned.reverse();
        let title = self.owned_values.title[op.to].as_ref().unwrap_or(&self.things[&thing].values.title);
        turned.push(vec![title.0.clone()]);
        let len = turned.len() as u64;
        self.owned_values.rows[op.slot] = Some(turned);
        len
    }

    /// Updates the model after a reload. The reload has dropped the values that plugin code owned.
    pub(crate) fn reloaded(&mut self) {
        self.owned_values = OwnedValues::default();
        self.things.values_mut().for_each(|thing| thing.kept = 0);
    }

    pub(crate) fn count_owned_values(&self) -> u64 {
        self.owned_values.count() + self.things.values().map(|thing| thing.kept).sum::<u64>()
    }

    /// Returns the number of objects, including the yard and its mirror.
    pub(crate) fn count_objects(&self) -> u64 {
        self.things.len() as u64 + 1
    }

    fn reachable(&self) -> BTreeSet<Id> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<Id> = self.state.pool.iter().flatten().copied().collect();
        next.push(self.mirror);
        self.owned_values.edges(&mut |thing| next.push(thing));
        while let Some(thing) = next.pop() {
            let Some(model) = self.things.get(&thing) else { continue };
            if reached.insert(thing) {
                model.values.edges(&mut |thing| next.push(thing));
                model.plain.next.edges(&mut |thing| next.push(thing));
            }
        }
        reached
    }

    /// Updates the model after a possible collection. Destroyed objects must have been unreachable. After a full collection (`whole`), all
    /// remaining objects must be reachable.
    pub(crate) fn collected(&mut self, host: &Runtime, whole: bool) {
        let reachable = self.reachable();
        let all: Vec<Id> = self.things.keys().copied().collect();
        for thing in all {
            let (lives, is_kept) = (host.objects().is_alive(thing), reachable.contains(&thing));
            assert!(lives || !is_kept, "{thing} was collected, but something keeps it");
            assert!(!whole || is_kept || !lives, "{thing} is alive but unreachable");
            if !lives {
                self.remove(thing);
            }
        }
    }

    pub(crate) fn compare(&mut self, host: &Runtime) {
        for slot in 0..SLOTS as usize {
            let answer = host.objects().call(self.yard, "show", &[Value::U32(slot as u32)]);
            let answer = answer.unwrap_or_else(|error| panic!("the mirror: {error}"));
            let mirror = &mut self.things.get_mut(&self.mirror).expect("it is kept").values;
            let bits = self.owned_values.show(mirror, slot);
            assert_eq!(answer, Some(Value::U64(bits)), "kinds of blacks in slot {slot}");
            self.compare_thing(host, self.mirror, &format!("black {slot} of "));
        }
        for thing in self.things.keys() {
            self.compare_thing(host, *thing, "");
        }
        let Ok(Value::Array(pool)) = host.objects().get(self.yard, "pool") else { panic!("the yard has a pool") };
        let expected: Vec<_> = self.state.pool.iter().map(|thing| Value::Object(thing.unwrap_or_default())).collect();
        assert_eq!(pool, expected, "the things that are kept");
        let mut expected = Vec::new();
        for thing in self.state.pool.iter().flatten() {
            let Values { neighbor, twin, guest, .. } = &self.things[thing].values;
            let targets = [neighbor.resolve(&self.state), twin.resolve(&self.state), guest.resolve(&self.state)];
            expected.extend(targets.map(number).map(Value::U64));
        }
        let resolved =
            host.objects().call(self.yard, "resolved", &[]).unwrap_or_else(|error| panic!("references: {error}"));
        assert_eq!(resolved, Some(Value::Array(expected)), "targets of soft, lazy and weak references");
    }

    fn compare_thing(&self, host: &Runtime, thing: Id, what: &str) {
        let ThingModel { values, plain, .. } = &self.things[&thing];
        let mut expected = values.properties(host);
        expected.extend([
            ("flag", Value::Bool(plain.flag)),
            ("byte", Value::U8(plain.byte)),
            ("short", Value::I16(plain.short)),
            ("single", Value::F32(plain.single)),
            ("long", Value::I64(plain.long)),
            ("text", plain.text.value(host)),
            ("name_of_it", plain.name.value(host)),
            ("spot", plain.spot.value(host)),
            ("next", plain.next.value(host)),
            ("copied", plain.copied.value(host)),
            ("counts", plain.counts.value(host)),
            ("unique", plain.unique.value(host)),
            ("perhaps", plain.perhaps.value(host)),
            ("received", Value::U64(self.state.received[&thing])),
        ]);
        for (property, expected) in expected {
            let found =
                host.objects().get(thing, property).unwrap_or_else(|error| panic!("{property} of {thing}: {error}"));
            let (found, expected) = (living(found, host), living(expected, host));
            assert_eq!(found, expected, "{what}{property} of {thing}: host and model");
        }
        assert_eq!(host.objects().path_of(thing).as_ref(), self.state.paths.get(&thing), "the path of {thing}");
    }
}

/// Returns the value without references to destroyed objects, because the host may clear or keep these references.
fn living(value: Value, host: &Runtime) -> Value {
    let alive = |object: ObjectHandle| if host.objects().is_alive(object) { object } else { ObjectHandle::NONE };
    let all = |values: Vec<Value>| values.into_iter().map(|value| living(value, host)).collect();
    let bound = |bindings: Vec<alcedo_runtime::Binding>| {
        bindings.into_iter().filter(|binding| host.objects().is_alive(binding.object)).collect()
    };
    match value {
        Value::Object(object) => Value::Object(alive(object)),
        Value::WeakObject(object) => Value::WeakObject(alive(object)),
        Value::ScriptInterface(object) => Value::ScriptInterface(alive(object)),
        Value::Delegate(binding) if !host.objects().is_alive(binding.object) => Value::Delegate(Default::default()),
        Value::Multicast(bindings) => Value::Multicast(bound(bindings)),
        Value::Sparse(bindings) => Value::Sparse(bound(bindings)),
        Value::Array(values) => Value::Array(all(values)),
        Value::Struct(fields) => {
            Value::Struct(fields.into_iter().map(|(name, value)| (name, living(value, host))).collect())
        }
        Value::Map(entries) => Value::Map(entries.into_iter().map(|(key, value)| (key, living(value, host))).collect()),
        other => other,
    }
}
