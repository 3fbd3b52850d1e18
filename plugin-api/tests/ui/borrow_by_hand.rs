//! A method that says by hand how it borrows its plugin part: that follows from its receiver alone, or a `&mut self` method could let a
//! `&self` method in beside it.
#![forbid(unsafe_code)]

use std::sync::Mutex;

use alcedo_plugin_api::plumbing;
use alcedo_plugin_api::prelude::*;

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Breaker {
    list: Mutex<Vec<u64>>,
}

struct Grow;

impl plumbing::Method for Grow {
    type Class = Breaker;
    type Args = ();
    type Result = u64;
    type Returned = u64;
    type Receiver = plumbing::Exclusive;
    const NAME: &'static str = "grow";
    const HOLDER: &'static plumbing::Holder = &plumbing::Holder::sharing("grow");
    const PLACE: plumbing::Place = plumbing::Place { file: "", line: 1, column: 1 };

    fn run<'f>(part: &mut Breaker, this: This<'f, Breaker>, (): ()) -> u64 {
        let list = part.list.get_mut().unwrap();
        list.push(7);
        let first = &mut list[0];
        let _cleared = this.zcall::<(), ()>("uf:/Script/Game.Breaker:look", ());
        *first
    }
}

fn main() {}
