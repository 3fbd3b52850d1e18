//! How a value of each kind is changed where it lies. The test has the same for values of std, so what is drawn and answered
//! here is drawn and answered there as well.

use alcedo_plugin_api::Kind;
use alcedo_plugin_api::prelude::*;

use crate::Yard;
use crate::ops::{Dice, LONG, NOTHING, THINGS, digest};
use crate::thing::{Sheet, Spot, Thing};

/// What a change may need beside the value.
pub(crate) struct Context<'f> {
    pub(crate) yard: This<'f, Yard>,
}

impl Context<'_> {
    /// One of the things, or none.
    pub(crate) fn pick(&self, dice: &mut Dice) -> Obj<Thing> {
        self.yard.pool().get(dice.below(THINGS) as usize).unwrap_or(Obj::none())
    }

    pub(crate) fn name(&self, text: &str) -> UName {
        UName::of(&self.yard, text).expect("a host")
    }

    /// The handle of an object that is there; zero otherwise.
    pub(crate) fn living(&self, thing: Obj<Thing>) -> u64 {
        if thing.is_expired(&self.yard) { 0 } else { thing.handle().0 }
    }
}

/// A kind that operations are done to.
pub(crate) trait Change: Kind + Default + Clone + Send + PartialEq + 'static {
    /// Whether the model can say if two of these are equal. Of references that keep nothing alive it cannot: two that lead
    /// nowhere may have led elsewhere before.
    const COMPARES: bool = true;
    /// Whether what is printed can be read again in full: not where it names objects, which may be gone.
    const PRINTS: bool = true;

    /// Changes a value and says what came of it.
    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64;
}

macro_rules! texts {
    ($($name:ident $word:ident;)*) => {$(
        impl Change for $name {
            fn change(face: &Lent<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
                match dice.below(4) {
                    0 => face.set(&dice.$word()),
                    1 if face.len() < 200 => face.push_str(&dice.$word()),
                    2 => face.set(""),
                    _ => {}
                }
                digest(&face.text())
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
    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 => face.set(&dice.word()),
            1 => {
                let (namespace, key) = (context.name(dice.name()), context.name(dice.name()));
                face.set_localized(namespace, key, &dice.word());
            }
            2 => face.set(""),
            _ => {}
        }
        digest(&face.text()) ^ digest(&face.key().text(&context.yard))
    }
}

impl Change for UArray<f64> {
    fn change(face: &Lent<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        let len = face.len() as u64;
        if len > LONG {
            face.truncate(len as usize / 2);
            return len;
        }
        match dice.below(10) {
            0 | 1 => face.push(dice.number()),
            2 => face.insert(dice.below(len + 1) as usize, dice.number()),
            3 if len > 0 => return face.remove(dice.below(len) as usize).to_bits(),
            4 if len > 0 => face.set(dice.below(len) as usize, dice.number()),
            5 if dice.below(8) == 0 => face.clear(),
            6 => face.assign([dice.number(), dice.number(), dice.number()]),
            7 => face.with_slice_mut(|numbers| numbers.sort_by(f64::total_cmp)),
            8 => return face.pop().map_or(NOTHING, f64::to_bits),
            _ => return face.position(dice.number()).map_or(NOTHING, |at| at as u64),
        }
        face.with_slice(|numbers| numbers.iter().sum::<f64>()).to_bits()
    }
}

impl Change for UArray<UArray<String>> {
    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let len = face.len() as u64;
        if len > LONG {
            face.clear();
            return len;
        }
        match dice.below(9) {
            0 => face.push(dice.words()),
            1 => face.push(UArray::of(dice.words()).expect("a host")),
            2 if len > 0 => {
                face.insert(dice.below(len + 1) as usize, face.get(dice.below(len) as usize).expect("so many"))
            }
            3 if len > 0 => {
                let row = face.get(dice.below(len) as usize).expect("so many");
                row.push(dice.word());
                return row.len() as u64;
            }
            4 if len > 0 => {
                let row = face.remove(dice.below(len) as usize);
                return digest(&context.yard.open(&row).to_vec().concat());
            }
            5 if len > 0 => face.set(dice.below(len) as usize, dice.words()),
            6 if dice.below(8) == 0 => face.assign([dice.words(), dice.words()]),
            7 => return face.position(dice.words()).map_or(NOTHING, |at| at as u64),
            _ => {}
        }
        face.iter().map(|row| row.len() as u64).sum()
    }
}

/// Changes a struct by its fields.
fn change_sheet(face: &Lent<'_, Sheet>, context: &Context<'_>, dice: &mut Dice) -> u64 {
    match dice.below(7) {
        0 => face.set_strength(dice.number()),
        1 => face.set_motto(dice.word()),
        2 if face.titles().len() as u64 > LONG => face.titles().clear(),
        2 => face.titles().push(dice.word()),
        3 => face.spot().set(Spot { x: dice.number(), y: dice.number() }),
        4 => face.spot().clear(),
        5 => face.set_friend(context.pick(dice)),
        _ => face.set_titles(dice.words()),
    }
    digest(&face.motto()) ^ face.titles().len() as u64
}

impl Change for Sheet {
    const PRINTS: bool = false;

    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        change_sheet(face, context, dice)
    }
}

/// Changes structs in a row.
fn change_row(face: &Lent<'_, UArray<Sheet>>, context: &Context<'_>, dice: &mut Dice) -> u64 {
    let len = face.len() as u64;
    if len > LONG / 4 {
        face.truncate(1);
        return len;
    }
    match dice.below(6) {
        0 => face.push(Sheet::default()),
        1 | 2 if len > 0 => return change_sheet(&face.get(dice.below(len) as usize).expect("so many"), context, dice),
        3 if len > 0 => {
            let sheet = face.remove(dice.below(len) as usize);
            return digest(&context.yard.open(&sheet).motto());
        }
        4 if len > 0 => face.push(face.get(dice.below(len) as usize).expect("so many")),
        _ => {}
    }
    len
}

impl Change for UArray<Sheet> {
    const PRINTS: bool = false;

    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        change_row(face, context, dice)
    }
}

impl Change for USet<UName> {
    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let name = context.name(dice.name());
        match dice.below(8) {
            0..3 => u64::from(face.insert(name)),
            3 | 4 => u64::from(face.remove(name)),
            5 => u64::from(face.contains(name)),
            6 if dice.below(6) == 0 => {
                face.clear();
                0
            }
            _ => face.iter().count() as u64,
        }
    }
}

impl Change for USet<String> {
    fn change(face: &Lent<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        let word = dice.word();
        let len = face.len() as u64;
        match dice.below(8) {
            _ if len > LONG => {
                face.clear();
                len
            }
            0..3 => u64::from(face.insert(word)),
            3 | 4 => u64::from(face.remove(word)),
            5 => u64::from(face.contains(word)),
            _ => face.iter().map(|word: String| word.len() as u64).sum(),
        }
    }
}

impl Change for UMap<String, i32> {
    fn change(face: &Lent<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        let (word, number) = (dice.word(), dice.below(100) as i32);
        match dice.below(9) {
            _ if face.len() as u64 > LONG => {
                face.clear();
                0
            }
            0..4 => u64::from(face.insert(&*word, number)),
            4 | 5 => face.remove(&*word).map_or(NOTHING, |number| number as u64),
            6 => face.get(&*word).map_or(NOTHING, |number| number as u64),
            7 if dice.below(6) == 0 => {
                face.assign([(word, number), ("one more".to_owned(), 1)]);
                2
            }
            _ => face.iter().map(|(word, number)| word.len() as u64 + number as u64).sum(),
        }
    }
}

impl Change for UMap<UName, UArray<Sheet>> {
    const PRINTS: bool = false;

    fn change(face: &Lent<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let name = context.name(dice.name());
        match dice.below(8) {
            0 | 1 => u64::from(face.insert(name, UArray::<Sheet>::default())),
            2..6 => match face.get(name) {
                Some(row) => change_row(&row, context, dice),
                None => NOTHING,
            },
            6 => match face.remove(name) {
                Some(row) => context.yard.open(&row).len() as u64,
                None => NOTHING,
            },
            _ => face.values().map(|row| row.len() as u64).sum(),
        }
    }
}

impl Change for UOptional<f64> {
    fn change(face: &Lent<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => face.set(dice.number()),
            2 => return face.take().map_or(NOTHING, f64::to_bits),
            _ => {}
        }
        face.get().map_or(NOTHING, f64::to_bits)
    }
}

impl Change for UOptional<UArray<u32>> {
    fn change(face: &Lent<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match (dice.below(5), face.get()) {
            (0, _) => face.set([dice.below(9) as u32, 7]),
            (1 | 2, Some(row)) if row.len() as u64 <= LONG => row.push(dice.below(9) as u32),
            (3, _) => face.clear(),
            _ => {}
        }
        face.get().map_or(NOTHING, |row| row.iter().map(u64::from).sum())
    }
}
