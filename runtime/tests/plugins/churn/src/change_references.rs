//! In-place changes to delegates and to every kind of reference.

use alcedo_plugin_api::prelude::*;

use crate::change::{Change, Context};
use crate::ops::{Dice, LATER, LONG, NOTHING, YARD, digest};
use crate::thing::{Speaks, Thing};

impl Change for SubclassOf<Thing> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => view.set(dice.class()),
            2 => view.clear(),
            _ => {
                let refused = view.try_set(YARD).expect_err("a yard is not a thing").kind();
                assert_eq!(refused, FailureKind::WRONG_CLASS);
            }
        }
        digest(&view.path()) ^ u64::from(view.is_none())
    }
}

impl Change for SoftClass<Thing> {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 => view.set(dice.class()),
            1 => view.set(LATER),
            2 => view.clear(),
            _ => {}
        }
        digest(&view.path()) ^ u64::from(view.is_none())
    }
}

macro_rules! references {
    ($($name:ident),*) => {$(
        impl Change for $name<Thing> {
            const COMPARES: bool = false;
            const PRINTS: bool = false;

            fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
                match dice.below(4) {
                    0 | 1 => view.set(context.pick(dice)),
                    2 => view.clear(),
                    _ => {}
                }
                assert_eq!(view.is_none(), view.get(&context.yard).is_none());
                view.obj().handle().0
            }
        }
    )*};
}
references!(SoftObject, LazyObject, WeakObject);

impl Change for ScriptInterface<Speaks> {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(5) {
            0 | 1 => view.set(context.pick(dice).as_object()),
            2 => view.clear(),
            3 => {
                let mute = context.yard.as_base().as_obj();
                assert_eq!(view.try_set(mute).expect_err("no interface").kind(), FailureKind::WRONG_CLASS);
            }
            _ => {}
        }
        assert_eq!(view.is_none(), view.get(&context.yard).is_none());
        view.obj().handle().0
    }
}

impl Change for UArray<Obj<Thing>> {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        let len = view.len() as u64;
        match dice.below(6) {
            _ if len > LONG => {
                view.clear();
                0
            }
            0 | 1 => {
                view.push(context.pick(dice));
                len + 1
            }
            2 if len > 0 => context.living(view.remove(dice.below(len) as usize)),
            3 if len > 0 => context.living(view.get(dice.below(len) as usize).expect("exists")),
            4 if len > 0 => {
                view.set(dice.below(len) as usize, Obj::none());
                len
            }
            _ => view.iter().map(|friend| u64::from(context.living(friend) != 0)).sum(),
        }
    }
}

impl Change for Delegate<fn(f64) -> bool> {
    const COMPARES: bool = false;
    const PRINTS: bool = false;

    fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(6) {
            0 | 1 => {
                let thing = context.pick(dice);
                if !thing.is_none() {
                    view.bind(thing, "judge");
                }
                u64::from(!thing.is_none())
            }
            2 => {
                view.unbind();
                0
            }
            3 => {
                let thing = context.pick(dice);
                if !thing.is_none() {
                    let refused = view.try_bind(thing, "hear").expect_err("the signatures differ").kind();
                    assert_eq!(refused, FailureKind::SIGNATURE);
                }
                1
            }
            _ => match view.call((dice.number(),)) {
                Ok(judged) => u64::from(judged),
                Err(_unbound) => NOTHING,
            },
        }
    }
}

macro_rules! multicasts {
    ($($name:ident),*) => {$(
        impl Change for $name<fn(u32)> {
            const COMPARES: bool = false;
            const PRINTS: bool = false;

            fn change(view: &Borrowed<'_, Self>, context: &Context<'_>, dice: &mut Dice) -> u64 {
                let (thing, function) = (context.pick(dice), dice.listener());
                match dice.below(9) {
                    0..3 if !thing.is_none() => {
                        view.bind(thing, function);
                        1
                    }
                    3 if !thing.is_none() => u64::from(view.unbind(thing, function)),
                    4 if !thing.is_none() => view.unbind_all(thing).into(),
                    5 if dice.below(6) == 0 => {
                        view.clear();
                        0
                    }
                    6 | 7 => {
                        view.broadcast((dice.below(1000) as u32,));
                        2
                    }
                    _ => 3,
                }
            }
        }
    )*};
}
multicasts!(MulticastDelegate, SparseDelegate);

impl Change for FieldPath {
    fn change(view: &Borrowed<'_, Self>, _context: &Context<'_>, dice: &mut Dice) -> u64 {
        match dice.below(4) {
            0 | 1 => view.set(dice.field()),
            2 => view.set(""),
            _ => {
                let refused = view.try_set("/Script/Game.Thing:nothing").expect_err("no such property").kind();
                assert_eq!(refused, FailureKind::NOT_FOUND);
            }
        }
        digest(&view.path()) ^ digest(&view.type_text())
    }
}
