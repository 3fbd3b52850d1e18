//! In-place changes to each kind of value. The test makes the same changes to std values, with the same random draws and the same results.

use alcedo_plugin_api::Kind;
use alcedo_plugin_api::prelude::*;

use crate::Yard;
use crate::ops::{Dice, LONG, NOTHING, THINGS, digest};
use crate::thing::{Sheet, Spot, Thing};

/// Additional input of a change.
pub(crate) struct Context<'f> {
    pub(crate) yard: This<'f, Yard>,
}

impl Context<'_> {
    /// Returns a random thing, or none.
    pub(crate) fn pick(&self, dice: &mut Dice) -> Obj<Thing> {
        self.yard.pool().get(dice.below(THINGS) as usize).unwrap_or(Obj::none())
    }

    pub(crate) fn name(&self, text: &str) -> UName {
        UName::of(&self.yard, text).expect("a host")
    }

    /// Returns the handle of the object, or zero if the object is not alive.
    pub(crate) fn living(&self, thing: Obj<Thing>) -> u64 {
        if thing.is_expired(&self.yard) { 0 } else { thing.handle().0 }
    }
}

/// Kind of value that operations change.
pub(crate) trait Change: Kind + Default + Clone + Send + PartialEq + 'static {
    /// `true` if the model can compare two values. `false` for weak kinds: two expired references may have had different targets.
    const COMPARES: bool = true;
    /// `true` if parsing restores a printed value completely. `false` for names of objects, because an object may be destroyed.
    const PRINTS: bool = true;

    /// Changes a value and returns a digest of the result.
    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64;
}

macro_rules! texts {
    ($($name:ident $word:ident;)*) => {$(
        impl Change for $name {
            fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
                match dice.below(4) {
                    0 => view.set(&dice.$word()),
                    1 if view.len() < 200 => view.push_str(&dice.$word()),
                    2 => view.set(""),
                    _ => {}
                }
                digest(&view.text())
            }
        }
    )*};
}
texts! {
    UString word;
    UUtf8String word;
    UAnsiString latin;
}

impl Change for UText {
    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 => view.set(&dice.word()),
            1 => {
                let (namespace, key) = (context.name(dice.name()), context.name(dice.name()));
                view.set_localized(namespace, key, &dice.word());
            }
            2 => view.set(""),
            _ => {}
        }
        digest(&view.text()) ^ digest(&view.key().text(&context.yard))
    }
}

impl Change for UArray<f64> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        let len = view.len() as u64;
        if len > LONG {
            view.truncate(len as usize / 2);
            return len;
        }
        match dice.below(10) {
            0 | 1 => view.push(dice.number()),
            2 => view.insert(dice.below(len + 1) as usize, dice.number()),
            3 if len > 0 => return view.remove(dice.below(len) as usize).to_bits(),
            4 if len > 0 => view.set(dice.below(len) as usize, dice.number()),
            5 if dice.below(8) == 0 => view.clear(),
            6 => view.assign([dice.number(), dice.number(), dice.number()]),
            7 => view.with_slice_mut(|numbers| numbers.sort_by(f64::total_cmp)),
            8 => return view.pop().map_or(NOTHING, f64::to_bits),
            _ => return view.position(dice.number()).map_or(NOTHING, |at| at as u64),
        }
        view.with_slice(|numbers| numbers.iter().sum::<f64>()).to_bits()
    }
}

impl Change for UArray<UArray<String>> {
    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let len = view.len() as u64;
        if len > LONG {
            view.clear();
            return len;
        }
        match dice.below(9) {
            0 => view.push(dice.words()),
            1 => view.push(UArray::of(dice.words()).expect("a host")),
            2 if len > 0 => {
                view.insert(dice.below(len + 1) as usize, view.get(dice.below(len) as usize).expect("exists"))
            }
            3 if len > 0 => {
                let row = view.get(dice.below(len) as usize).expect("exists");
                row.push(dice.word());
                return row.len() as u64;
            }
            4 if len > 0 => {
                let row = view.remove(dice.below(len) as usize);
                return digest(&context.yard.open(&row).to_vec().concat());
            }
            5 if len > 0 => view.set(dice.below(len) as usize, dice.words()),
            6 if dice.below(8) == 0 => view.assign([dice.words(), dice.words()]),
            7 => return view.position(dice.words()).map_or(NOTHING, |at| at as u64),
            _ => {}
        }
        view.iter().map(|row| row.len() as u64).sum()
    }
}

/// Changes fields of a struct.
fn change_sheet(view: &Borrowed<'_, Sheet>, context: &Context<'_>, dice: &mut Dice) -> u64 {
    match dice.below(7) {
        0 => view.set_strength(dice.number()),
        1 => view.set_motto(dice.word()),
        2 if view.titles().len() as u64 > LONG => view.titles().clear(),
        2 => view.titles().push(dice.word()),
        3 => view.spot().set(Spot { x: dice.number(), y: dice.number() }),
        4 => view.spot().clear(),
        5 => view.set_friend(context.pick(dice)),
        _ => view.set_titles(dice.words()),
    }
    digest(&view.motto()) ^ view.titles().len() as u64
}

impl Change for Sheet {
    const PRINTS: bool = false;

    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        change_sheet(view, context, dice)
    }
}

/// Changes structs in an array.
fn change_row(view: &Borrowed<'_, UArray<Sheet>>, context: &Context<'_>, dice: &mut Dice) -> u64 {
    let len = view.len() as u64;
    if len > LONG / 4 {
        view.truncate(1);
        return len;
    }
    match dice.below(6) {
        0 => view.push(Sheet::default()),
        1 | 2 if len > 0 => return change_sheet(&view.get(dice.below(len) as usize).expect("exists"), context, dice),
        3 if len > 0 => {
            let sheet = view.remove(dice.below(len) as usize);
            return digest(&context.yard.open(&sheet).motto());
        }
        4 if len > 0 => view.push(view.get(dice.below(len) as usize).expect("exists")),
        _ => {}
    }
    len
}

impl Change for UArray<Sheet> {
    const PRINTS: bool = false;

    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        change_row(view, context, dice)
    }
}

impl Change for USet<UName> {
    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let name = context.name(dice.name());
        match dice.below(8) {
            0..3 => u64::from(view.insert(name)),
            3 | 4 => u64::from(view.remove(name)),
            5 => u64::from(view.contains(name)),
            6 if dice.below(6) == 0 => {
                view.clear();
                0
            }
            _ => view.iter().count() as u64,
        }
    }
}

impl Change for USet<String> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        let word = dice.word();
        let len = view.len() as u64;
        match dice.below(8) {
            _ if len > LONG => {
                view.clear();
                len
            }
            0..3 => u64::from(view.insert(word)),
            3 | 4 => u64::from(view.remove(word)),
            5 => u64::from(view.contains(word)),
            _ => view.iter().map(|word: String| word.len() as u64).sum(),
        }
    }
}

impl Change for UMap<String, i32> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        let (word, number) = (dice.word(), dice.below(100) as i32);
        match dice.below(9) {
            _ if view.len() as u64 > LONG => {
                view.clear();
                0
            }
            0..4 => u64::from(view.insert(&*word, number)),
            4 | 5 => view.remove(&*word).map_or(NOTHING, |number| number as u64),
            6 => view.get(&*word).map_or(NOTHING, |number| number as u64),
            7 if dice.below(6) == 0 => {
                view.assign([(word, number), ("one more".to_owned(), 1)]);
                2
            }
            _ => view.iter().map(|(word, number)| word.len() as u64 + number as u64).sum(),
        }
    }
}

impl Change for UMap<UName, UArray<Sheet>> {
    const PRINTS: bool = false;

    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let name = context.name(dice.name());
        match dice.below(8) {
            0 | 1 => u64::from(view.insert(name, UArray::<Sheet>::default())),
            2..6 => match view.get(name) {
                Some(row) => change_row(&row, context, dice),
                None => NOTHING,
            },
            6 => match view.remove(name) {
                Some(row) => context.yard.open(&row).len() as u64,
                None => NOTHING,
            },
            _ => view.values().map(|row| row.len() as u64).sum(),
        }
    }
}

impl Change for UOptional<f64> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => view.set(dice.number()),
            2 => return view.take().map_or(NOTHING, f64::to_bits),
            _ => {}
        }
        view.get().map_or(NOTHING, f64::to_bits)
    }
}

impl Change for UOptional<UArray<u32>> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match (dice.below(5), view.get()) {
            (0, _) => view.set([dice.below(9) as u32, 7]),
            (1 | 2, Some(row)) if row.len() as u64 <= LONG => row.push(dice.below(9) as u32),
            (3, _) => view.clear(),
            _ => {}
        }
        view.get().map_or(NOTHING, |row| row.iter().map(u64::from).sum())
    }
}
