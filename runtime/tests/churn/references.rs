//! Models delegates and every kind of reference, with their operations. The plugin's `change_references.rs` has the same operations.

use std::marker::PhantomData;

use alcedo_runtime::{Binding, Runtime, Value};

use super::ops::{Dice, LATER, NOTHING, THING, add_received, digest};
use super::values::{Change, Id, State, ToValue, number};

#[derive(Clone, Default, PartialEq)]
pub(crate) struct ClassPath<S>(String, PhantomData<S>);

/// Reference to a class. The class must be loaded.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Sub;

/// Reference to a class by its path. The class may be loaded later.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Soft;

impl ToValue for ClassPath<Sub> {
    fn value(&self, host: &Runtime) -> Value {
        Value::SubclassOf(host.intern(&self.0))
    }
}

impl ToValue for ClassPath<Soft> {
    fn value(&self, host: &Runtime) -> Value {
        Value::SoftClass(host.intern(&self.0))
    }
}

impl<S> ClassPath<S> {
    fn answer(&self) -> u64 {
        digest(&self.0) ^ u64::from(self.0.is_empty() || self.0 == LATER)
    }
}

impl Change for ClassPath<Sub> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => self.0 = dice.class().into(),
            2 => self.0.clear(),
            _ => {}
        }
        self.answer()
    }
}

impl Change for ClassPath<Soft> {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 => self.0 = dice.class().into(),
            1 => self.0 = LATER.into(),
            2 => self.0.clear(),
            _ => {}
        }
        self.answer()
    }
}

#[derive(Clone, Default, PartialEq)]
pub(crate) struct SoftRef(String);

impl SoftRef {
    pub(crate) fn resolve(&self, state: &State) -> Option<Id> {
        state.paths.iter().find(|(_, path)| **path == self.0).map(|(thing, _)| *thing)
    }
}

impl ToValue for SoftRef {
    fn value(&self, host: &Runtime) -> Value {
        Value::SoftObject(host.intern(&self.0))
    }
}

impl Change for SoftRef {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => {
                let thing = state.pick(dice);
                self.0 = thing.map(|thing| state.paths[&thing].clone()).unwrap_or_default();
            }
            2 => self.0.clear(),
            _ => {}
        }
        number(self.resolve(state))
    }
}

macro_rules! references {
    ($($(#[$doc:meta])* $name:ident $value:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq)]
        pub(crate) struct $name(Option<Id>);

        impl $name {
            pub(crate) fn resolve(&self, state: &State) -> Option<Id> {
                state.living(self.0)
            }
        }

        impl ToValue for $name {
            fn value(&self, _host: &Runtime) -> Value {
                $value(self.0.unwrap_or_default())
            }
        }

        impl Change for $name {
            const COMPARES: bool = false;
            const PRINTS: bool = false;

            fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
                match dice.below(4) {
                    0 | 1 => self.0 = state.pick(dice),
                    2 => self.0 = None,
                    _ => {}
                }
                number(self.resolve(state))
            }
        }
    )*};
}
references! {
    /// Reference by an id that the host assigns. Comparisons consider only the target, because the model cannot predict the id.
    LazyRef |_| Value::Bool(true);
    WeakRef Value::WeakObject;
}

/// Strong reference to a thing through its interface.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Voice(Option<Id>);

impl ToValue for Voice {
    fn value(&self, _host: &Runtime) -> Value {
        Value::ScriptInterface(self.0.unwrap_or_default())
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.0.into_iter().for_each(visit);
    }
}

impl Change for Voice {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(5) {
            0 | 1 => self.0 = state.pick(dice),
            2 => self.0 = None,
            _ => {}
        }
        number(state.living(self.0))
    }
}

/// Function bound to a delegate.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    thing: Id,
    function: &'static str,
}

impl Bound {
    fn binding(self, host: &Runtime) -> Binding {
        Binding { object: self.thing, function: host.intern(self.function) }
    }
}

impl State {
    fn deliver(&mut self, Bound { thing, function }: Bound, argument: u32) {
        let Some(received) = self.received.get_mut(&thing) else { return };
        *received = add_received(*received, argument);
        if function == "hear_twice" {
            *received = add_received(*received, argument);
        }
    }
}

/// Delegate whose function returns a result.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Decide(Option<Bound>);

impl ToValue for Decide {
    fn value(&self, host: &Runtime) -> Value {
        Value::Delegate(self.0.map(|bound| bound.binding(host)).unwrap_or_default())
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.0.iter().for_each(|bound| visit(bound.thing));
    }
}

impl Change for Decide {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(6) {
            0 | 1 => {
                let thing = state.pick(dice);
                if let Some(thing) = thing {
                    self.0 = Some(Bound { thing, function: "judge" });
                }
                u64::from(thing.is_some())
            }
            2 => {
                self.0 = None;
                0
            }
            3 => {
                state.pick(dice);
                1
            }
            _ => {
                let argument = dice.number();
                let Some(received) = self.0.and_then(|bound| state.received.get_mut(&bound.thing)) else {
                    return NOTHING;
                };
                *received = add_received(*received, 1);
                u64::from(argument > 3.0)
            }
        }
    }
}

/// Delegate with a list of bound objects.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Listeners<S>(Vec<Bound>, PhantomData<S>);

/// Delegate stored as an array.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Dense;

/// Sparse delegate, mostly unbound.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Rare;

impl<S> Listeners<S> {
    fn bindings(&self, host: &Runtime) -> Vec<Binding> {
        self.0.iter().map(|bound| bound.binding(host)).collect()
    }

    fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
        let (thing, function) = (state.pick(dice), dice.listener());
        match (dice.below(9), thing) {
            (0..3, Some(thing)) => {
                let bound = Bound { thing, function };
                if !self.0.contains(&bound) {
                    self.0.push(bound);
                }
                1
            }
            (3, Some(thing)) => {
                let before = self.0.len();
                self.0.retain(|bound| *bound != Bound { thing, function });
                u64::from(self.0.len() < before)
            }
            (4, Some(thing)) => {
                let before = self.0.len();
                self.0.retain(|bound| bound.thing != thing);
                (before - self.0.len()) as u64
            }
            (5, _) if dice.below(6) == 0 => {
                self.0.clear();
                0
            }
            (6 | 7, _) => {
                let argument = dice.below(1000) as u32;
                self.0.iter().rev().for_each(|bound| state.deliver(*bound, argument));
                2
            }
            _ => 3,
        }
    }

    fn edges(&self, visit: &mut dyn FnMut(Id)) {
        self.0.iter().for_each(|bound| visit(bound.thing));
    }
}

macro_rules! multicast {
    ($($of:ident $value:ident;)*) => {$(
        impl ToValue for Listeners<$of> {
            fn value(&self, host: &Runtime) -> Value {
                Value::$value(self.bindings(host))
            }

            fn edges(&self, visit: &mut dyn FnMut(Id)) {
                Self::edges(self, visit);
            }
        }

        impl Change for Listeners<$of> {
            const COMPARES: bool = false;
            const PRINTS: bool = false;

            fn change(&mut self, state: &mut State, dice: &mut Dice) -> u64 {
                Self::change(self, state, dice)
            }
        }
    )*};
}
multicast! {
    Dense Multicast;
    Rare Sparse;
}

/// Reference to a property by its path.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct FieldName(String);

impl ToValue for FieldName {
    fn value(&self, host: &Runtime) -> Value {
        Value::FieldPath(host.intern(&self.0))
    }
}

impl Change for FieldName {
    fn change(&mut self, _state: &mut State, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => self.0 = dice.field().into(),
            2 => self.0.clear(),
            _ => {}
        }
        let ty = match self.0.strip_prefix(THING) {
            Some(":numbers") => "Array(f64)",
            Some(":sheet") => "/Script/Game.Sheet",
            Some(":received") => "u64",
            _ => "",
        };
        digest(&self.0) ^ digest(ty)
    }
}
