//! Models each kind of value and its operations, with std types. The plugin's `change.rs` applies equal operations to real values. Both
//! files draw equal random numbers and must return equal answers.

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::sync::Arc;

use alcedo_runtime::{LocalText, ObjectHandle, Runtime, Value};

use super::ops::{Dice, LONG, NOTHING, THINGS, digest};

/// Handle of a thing. No later thing has an equal handle.
pub(crate) type Id = ObjectHandle;

/// State that operations read or change in addition to the value.
#[derive(Default)]
pub(crate) struct State {
    /// Things in the slots of the yard.
    pub(crate) pool: [Option<Id>; THINGS as usize],
    /// Digest of the delegate calls that each living thing received.
    pub(crate) received: BTreeMap<Id, u64>,
    pub(crate) paths: BTreeMap<Id, String>,
}

impl State {
    /// Returns the content of a random slot of the yard.
    pub(crate) fn pick(&self, dice: &mut Dice) -> Option<Id> {
        self.pool[dice.below(THINGS) as usize]
    }

    pub(crate) fn living(&self, thing: Option<Id>) -> Option<Id> {
        thing.filter(|thing| self.received.contains_key(thing))
    }
}

pub(crate) fn number(thing: Option<Id>) -> u64 {
    thing.map_or(0, |thing| thing.0)
}

/// Value that the host's reflection can format.
pub(crate) trait ToValue {
    fn value(&self, host: &Runtime) -> Value;

    /// Visits every thing to which the value has a strong reference.
    fn edges(&self, _visit: &mut dyn FnMut(Id)) {}
}

/// Value that the operations can change, compare and print.
pub(crate) trait Change: ToValue + Clone + Default + PartialEq {
    /// True if the model can compare two values exactly as the plugin does.
    const COMPARES: bool = true;
    /// True if parsing a printed value restores the value, as in the plugin.
    const PRINTS: bool = true;

    /// Changes the value, and returns the answer that the plugin must also return.
    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64;

    /// Returns the value that printing and parsing produce.
    fn printed(&self) -> Self {
        self.clone()
    }
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Named(pub(crate) String);

/// Strong reference to a thing.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Friend(pub(crate) Option<Id>);

macro_rules! plain {
    ($($ty:ty: $value:expr;)*) => {$(
        impl ToValue for $ty {
            fn value(&self, host: &Runtime) -> Value {
                let value: fn(&Self, &Runtime) -> Value = $value;
                value(self, host)
            }
        }
    )*};
}
plain! {
    f64: |number, _| Value::F64(*number);
    i32: |number, _| Value::I32(*number);
    u32: |number, _| Value::U32(*number);
    u16: |number, _| Value::U16(*number);
    u8: |number, _| Value::U8(*number);
    String: |text, _| Value::Text(text.clone());
    Named: |name, host| Value::Name(host.intern(&name.0));
    (f64, f64): |(x, y), _| Value::Struct(vec![(Arc::from("x"), Value::F64(*x)), (Arc::from("y"), Value::F64(*y))]);
}

impl ToValue for Friend {
    fn value(&self, _host: &Runtime) -> Value {
        Value::Object(self.0.unwrap_or_default())
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.0.into_iter().for_each(visit);
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn value(&self, host: &Runtime) -> Value {
        Value::Array(self.iter().map(|value| value.value(host)).collect())
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.iter().for_each(|value| value.edges(visit));
    }
}

impl<T: ToValue> ToValue for BTreeSet<T> {
    fn value(&self, host: &Runtime) -> Value {
        Value::Set(self.iter().map(|value| value.value(host)).collect())
    }
}

impl<K: ToValue, V: ToValue> ToValue for BTreeMap<K, V> {
    fn value(&self, host: &Runtime) -> Value {
        Value::Map(self.iter().map(|(key, value)| (key.value(host), value.value(host))).collect())
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.values().for_each(|value| value.edges(visit));
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn value(&self, host: &Runtime) -> Value {
        Value::Optional(self.as_ref().map(|value| Box::new(value.value(host))))
    }
}

/// Generates random strings for one kind of string, and converts them to values.
pub(crate) trait Letters: Clone + Default + PartialEq {
    fn word(dice: &mut Dice) -> String;
    fn show(text: String) -> Value;
}

macro_rules! letters {
    ($($name:ident $word:ident $value:ident;)*) => {$(
        #[derive(Clone, Default, PartialEq)]
        pub(crate) struct $name;

        impl Letters for $name {
            fn word(dice: &mut Dice) -> String {
                dice.$word()
            }

            fn show(text: String) -> Value {
                Value::$value(text)
            }
        }
    )*};
}
letters! {
    Utf word Text;
    Wide word Utf8;
    Ansi latin Ansi;
}

#[derive(Clone, Default, PartialEq)]
pub(crate) struct Text<L>(pub(crate) String, PhantomData<L>);

impl<L: Letters> ToValue for Text<L> {
    fn value(&self, _host: &Runtime) -> Value {
        L::show(self.0.clone())
    }
}

impl<L: Letters> Change for Text<L> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        // Computes the number of bytes that the host stores: one byte for each letter of ISO 8859-1.
        let len = if L::show(String::new()).kind() == Value::Ansi(String::new()).kind() {
            self.0.chars().count()
        } else {
            self.0.len()
        };
        match dice.below(4) {
            0 => self.0 = L::word(dice),
            1 if len < 200 => self.0 += &L::word(dice),
            2 => self.0.clear(),
            _ => {}
        }
        digest(&self.0)
    }
}

/// Localized text.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Label {
    display: String,
    namespace: Named,
    key: Named,
}

impl ToValue for Label {
    fn value(&self, host: &Runtime) -> Value {
        let (namespace, key) = (host.intern(&self.namespace.0), host.intern(&self.key.0));
        Value::LocalText(LocalText { display: self.display.clone(), namespace, key })
    }
}

impl Change for Label {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 => *self = Self { display: dice.word(), ..Self::default() },
            1 => {
                let (namespace, key) = (Named(dice.name().into()), Named(dice.name().into()));
                *self = Self { namespace, key, display: dice.word() };
            }
            2 => *self = Self::default(),
            _ => {}
        }
        digest(&self.display) ^ digest(&self.key.0)
    }

    /// Returns a label with only the displayed string, because printing loses the translation keys.
    fn printed(&self) -> Self {
        Self { display: self.display.clone(), ..Self::default() }
    }
}

impl Change for Vec<f64> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        let len = self.len() as u64;
        if len > LONG {
            self.truncate(len as usize / 2);
            return len;
        }
        match dice.below(10) {
            0 | 1 => self.push(dice.number()),
            2 => self.insert(dice.below(len + 1) as usize, dice.number()),
            3 if len > 0 => return self.remove(dice.below(len) as usize).to_bits(),
            4 if len > 0 => {
                let at = dice.below(len) as usize;
                self[at] = dice.number();
            }
            5 if dice.below(8) == 0 => self.clear(),
            6 => *self = vec![dice.number(), dice.number(), dice.number()],
            7 => self.sort_by(f64::total_cmp),
            8 => return self.pop().map_or(NOTHING, f64::to_bits),
            _ => {
                let expected = dice.number();
                return self.iter().position(|number| *number == expected).map_or(NOTHING, |at| at as u64);
            }
        }
        self.iter().sum::<f64>().to_bits()
    }
}

impl Change for Vec<Vec<String>> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        let len = self.len() as u64;
        if len > LONG {
            self.clear();
            return len;
        }
        match dice.below(9) {
            0 | 1 => self.push(dice.words()),
            2 if len > 0 => {
                let at = dice.below(len + 1) as usize;
                self.insert(at, self[dice.below(len) as usize].clone());
            }
            3 if len > 0 => {
                let row = &mut self[dice.below(len) as usize];
                row.push(dice.word());
                return row.len() as u64;
            }
            4 if len > 0 => return digest(&self.remove(dice.below(len) as usize).concat()),
            5 if len > 0 => {
                let at = dice.below(len) as usize;
                self[at] = dice.words();
            }
            6 if dice.below(8) == 0 => *self = vec![dice.words(), dice.words()],
            7 => {
                let expected = dice.words();
                return self.iter().position(|row| *row == expected).map_or(NOTHING, |at| at as u64);
            }
            _ => {}
        }
        self.iter().map(|row| row.len() as u64).sum()
    }
}

#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct SheetModel {
    strength: f64,
    motto: String,
    titles: Vec<String>,
    spot: Option<(f64, f64)>,
    friend: Friend,
}

impl ToValue for SheetModel {
    fn value(&self, host: &Runtime) -> Value {
        let field = |name: &str, value| (Arc::from(name), value);
        Value::Struct(vec![
            field("strength", self.strength.value(host)),
            field("motto", self.motto.value(host)),
            field("titles", self.titles.value(host)),
            field("spot", self.spot.value(host)),
            field("friend", self.friend.value(host)),
        ])
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.friend.edges(visit);
    }
}

impl Change for SheetModel {
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(7) {
            0 => self.strength = dice.number(),
            1 => self.motto = dice.word(),
            2 if self.titles.len() as u64 > LONG => self.titles.clear(),
            2 => self.titles.push(dice.word()),
            3 => self.spot = Some((dice.number(), dice.number())),
            4 => self.spot = None,
            5 => self.friend = Friend(state.pick(dice)),
            _ => self.titles = dice.words(),
        }
        digest(&self.motto) ^ self.titles.len() as u64
    }
}

impl Change for Vec<SheetModel> {
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        let len = self.len() as u64;
        if len > LONG / 4 {
            self.truncate(1);
            return len;
        }
        match dice.below(6) {
            0 => self.push(SheetModel::default()),
            1 | 2 if len > 0 => return self[dice.below(len) as usize].change(state, dice),
            3 if len > 0 => return digest(&self.remove(dice.below(len) as usize).motto),
            4 if len > 0 => self.push(self[dice.below(len) as usize].clone()),
            _ => {}
        }
        len
    }
}

impl Change for Vec<Friend> {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        let len = self.len() as u64;
        match dice.below(6) {
            _ if len > LONG => {
                self.clear();
                0
            }
            0 | 1 => {
                self.push(Friend(state.pick(dice)));
                len + 1
            }
            2 if len > 0 => number(state.living(self.remove(dice.below(len) as usize).0)),
            3 if len > 0 => number(state.living(self[dice.below(len) as usize].0)),
            4 if len > 0 => {
                self[dice.below(len) as usize] = Friend(None);
                len
            }
            _ => self.iter().filter(|friend| state.living(friend.0).is_some()).count() as u64,
        }
    }
}

impl Change for BTreeSet<Named> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        let name = Named(dice.name().into());
        match dice.below(8) {
            0..3 => u64::from(self.insert(name)),
            3 | 4 => u64::from(self.remove(&name)),
            5 => u64::from(self.contains(&name)),
            6 if dice.below(6) == 0 => {
                self.clear();
                0
            }
            _ => self.len() as u64,
        }
    }
}

impl Change for BTreeSet<String> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        let word = dice.word();
        let len = self.len() as u64;
        match dice.below(8) {
            _ if len > LONG => {
                self.clear();
                len
            }
            0..3 => u64::from(self.insert(word)),
            3 | 4 => u64::from(self.remove(&word)),
            5 => u64::from(self.contains(&word)),
            _ => self.iter().map(|word| word.len() as u64).sum(),
        }
    }
}

impl Change for BTreeMap<String, i32> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        let (word, number) = (dice.word(), dice.below(100) as i32);
        match dice.below(9) {
            _ if self.len() as u64 > LONG => {
                self.clear();
                0
            }
            0..4 => u64::from(self.insert(word, number).is_none()),
            4 | 5 => self.remove(&word).map_or(NOTHING, |number| number as u64),
            6 => self.get(&word).map_or(NOTHING, |number| *number as u64),
            7 if dice.below(6) == 0 => {
                *self = Self::from([(word, number), ("one more".to_owned(), 1)]);
                2
            }
            _ => self.iter().map(|(word, number)| word.len() as u64 + *number as u64).sum(),
        }
    }
}

impl Change for BTreeMap<Named, Vec<SheetModel>> {
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        let name = Named(dice.name().into());
        match dice.below(8) {
            0 | 1 => u64::from(self.insert(name, Vec::new()).is_none()),
            2..6 => self.get_mut(&name).map_or(NOTHING, |row| row.change(state, dice)),
            6 => self.remove(&name).map_or(NOTHING, |row| row.len() as u64),
            _ => self.values().map(|row| row.len() as u64).sum(),
        }
    }
}

impl Change for Option<f64> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => *self = Some(dice.number()),
            2 => return self.take().map_or(NOTHING, f64::to_bits),
            _ => {}
        }
        self.map_or(NOTHING, f64::to_bits)
    }
}

impl Change for Option<Vec<u32>> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        match (dice.below(5), self.as_mut()) {
            (0, _) => *self = Some(vec![dice.below(9) as u32, 7]),
            (1 | 2, Some(row)) if row.len() as u64 <= LONG => row.push(dice.below(9) as u32),
            (3, _) => *self = None,
            _ => {}
        }
        self.as_ref().map_or(NOTHING, |row| row.iter().copied().map(u64::from).sum())
    }
}
