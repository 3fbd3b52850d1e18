//! Random operations over values of every kind: `ops.rs` draws them, this plugin does them to what lies in host memory, and
//! a test that draws the same ones says what has to come of each.

#![forbid(unsafe_code)]

mod act;
mod blacks;
mod change;
mod change_references;
mod ops;
mod stale;
mod thing;
mod threads;

use alcedo_plugin_api::prelude::*;

use crate::blacks::Own;
use crate::ops::{Op, THINGS};
use crate::thing::Thing;

module! { name: "churn" }

/// Where everything happens.
#[uclass(package = "Game")]
pub struct Yard {
    /// The things that are kept, each in its place, or none.
    #[uproperty]
    pool: UArray<Obj<Thing>>,
    /// A thing that shows the host what plugin code owns.
    #[uproperty]
    mirror: Obj<Thing>,
    /// The operation under way.
    #[uproperty]
    progress: u64,
    /// How many names were given.
    #[uproperty]
    named: u64,
    /// How many stale accesses were refused.
    #[uproperty]
    refused: u64,

    own: Own,
}

#[uclass]
impl Yard {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { own: Own::default() }
    }

    /// Which build this is.
    #[ufunction]
    fn build(&self) -> u32 {
        if fixture::on!("second") { 2 } else { 1 }
    }

    /// Makes the places, all empty, and the mirror.
    #[ufunction]
    fn prepare(&self, this: This<Self>) {
        for _place in 0..THINGS {
            this.pool().push(Obj::none());
        }
        this.set_mirror(this.spawn::<Thing>(this.as_base().as_obj()).expect("a thing"));
    }

    /// Does operations, one after the other, and answers each.
    #[ufunction]
    fn run(&mut self, this: This<Self>, seed: u64, from: u64, count: u32) -> Vec<u64> {
        let mut answers = Vec::new();
        for index in from..from + u64::from(count) {
            this.set_progress(index);
            answers.push(act::act(this, &mut self.own, Op::nth(seed, index)));
        }
        answers
    }

    /// Shows the blacks of a slot in the mirror; the bits of the answer say of which kinds there are any.
    #[ufunction]
    fn show(&self, this: This<Self>, slot: u32) -> u64 {
        let mirror = this.get(this.mirror()).expect("it is kept");
        self.own.blacks.show(&this, &mirror, slot as usize)
    }

    /// Where the soft, lazy and weak reference of each thing leads to.
    #[ufunction]
    fn resolved(&self, this: This<Self>) -> Vec<u64> {
        let mut handles = Vec::new();
        for thing in &this.pool() {
            let Ok(thing) = this.get(thing) else { continue };
            handles.extend([thing.neighbor().obj(), thing.twin().obj(), thing.guest().obj()].map(|obj| obj.handle().0));
        }
        handles
    }

    /// Waits for all threads that have something to drop.
    #[ufunction]
    fn settle(&self) {
        threads::settle();
    }

    /// Drops all that plugin code owns, here.
    #[ufunction]
    fn drop_all(&mut self) {
        self.own.blacks = blacks::Blacks::default();
    }
}
