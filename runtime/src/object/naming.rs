//! Names for objects that were given none: `MagicCube_17`. Unique among the objects there are, and reused, so that a host
//! that spawns for ever does not intern for ever.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use crate::handles::Name;
use crate::object::names::Names;

/// The names of the objects of a store.
#[derive(Debug, Default)]
pub(super) struct Naming {
    numbers: HashMap<Rc<str>, Numbers>,
    /// How many objects have a name.
    used: HashMap<Name, u32>,
}

#[derive(Debug, Default)]
struct Numbers {
    last: u32,
    /// Numbers given back, so that the name table does not grow with every object there ever was.
    free: VecDeque<u32>,
}

impl Naming {
    /// A name no object has, and the number it was made with.
    pub(super) fn generate(&mut self, names: &Names, class: &Rc<str>) -> (Name, u32) {
        let Self { numbers, used } = self;
        let numbers = numbers.entry(class.clone()).or_default();
        loop {
            let number = numbers.free.pop_front().unwrap_or_else(|| {
                numbers.last += 1;
                numbers.last
            });
            let name = names.intern(&format!("{class}_{number}"));
            if !used.contains_key(&name) {
                return (name, number);
            }
        }
    }

    /// One more object has that name.
    pub(super) fn take(&mut self, name: Name) {
        *self.used.entry(name).or_default() += 1;
    }

    /// One object less has that name; if it was generated, its number is free again.
    pub(super) fn give_back(&mut self, name: Name, generated: Option<(Rc<str>, u32)>) {
        if let Some((class, number)) = generated {
            self.numbers.entry(class).or_default().free.push_back(number);
        }
        match self.used.get_mut(&name) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.used.remove(&name)),
        }
    }
}
