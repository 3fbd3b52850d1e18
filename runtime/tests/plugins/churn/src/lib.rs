//! Random operations on every kind of value. `ops.rs` draws the operations, and this plugin applies them to values in host memory. A test
//! draws the same operations, and checks each reply against a model.

#![forbid(unsafe_code)]

mod act;
mod change;
mod change_references;
mod ops;
mod owned_values;
mod stale;
mod thing;
mod threads;

use alcedo_plugin_api::prelude::*;

use crate::ops::{Op, THINGS};
use crate::owned_values::Own;
use crate::thing::Thing;

module! { name: "churn" }

/// Object that runs all operations.
#[uclass(package = "Game")]
pub struct Yard {
    /// Slots for things that the yard keeps alive. An empty slot contains no reference.
    #[uproperty]
    pool: UArray<Obj<Thing>>,
    /// Thing into which the plugin copies its owned values, so that the host can read them.
    #[uproperty]
    mirror: Obj<Thing>,
    /// Index of the current operation.
    #[uproperty]
    progress: u64,
    /// Number of assigned names.
    #[uproperty]
    named: u64,
    /// Number of refused stale accesses.
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

    /// Returns the number of this build.
    #[ufunction]
    fn build(&self) -> u32 {
        if fixture::on!("second") { 2 } else { 1 }
    }

    /// Creates the empty slots and the mirror.
    #[ufunction]
    fn prepare(&self, this: This<Self>) {
        for _index in 0..THINGS {
            this.pool().push(Obj::none());
        }
        this.set_mirror(this.spawn::<Thing>(this.as_base().as_obj()).expect("a thing"));
    }

    /// Runs operations in order. Returns the reply to each operation.
    #[ufunction]
    fn run(&mut self, this: This<Self>, seed: u64, from: u64, count: u32) -> Vec<u64> {
        let mut answers = Vec::new();
        for index in from..from + u64::from(count) {
            this.set_progress(index);
            answers.push(act::act(this, &mut self.own, Op::nth(seed, index)));
        }
        answers
    }

    /// Copies the owned values in a slot into the mirror. Bit `n` of the reply is set if the slot has a value of kind `n`.
    #[ufunction]
    fn show(&self, this: This<Self>, slot: u32) -> u64 {
        let mirror = this.get(this.mirror()).expect("the mirror is alive");
        self.own.owned_values.show(&this, &mirror, slot as usize)
    }

    /// Returns the targets of the soft, lazy and weak reference of each thing.
    #[ufunction]
    fn resolved(&self, this: This<Self>) -> Vec<u64> {
        let mut handles = Vec::new();
        for thing in &this.pool() {
            let Ok(thing) = this.get(thing) else { continue };
            handles.extend([thing.neighbor().obj(), thing.twin().obj(), thing.guest().obj()].map(|obj| obj.handle().0));
        }
        handles
    }

    /// Waits for all threads that have values to drop.
    #[ufunction]
    fn wait_for_drops(&self) {
        threads::wait_for_drops();
    }

    /// Drops all values owned by plugin code, on the calling thread.
    #[ufunction]
    fn drop_all(&mut self) {
        self.own.owned_values = owned_values::OwnedValues::default();
    }
}
