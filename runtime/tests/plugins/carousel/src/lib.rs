//! Actors that are called in batches each frame. Benchmarks measure the cost of calls to many objects. Tests check that the remaining
//! actors are called after one actor panics, destroys another, spawns a third or calls back.

#![forbid(unsafe_code)]

mod mare;
#[cfg(not(feature = "no-roans"))]
mod roan;

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

module! { name: "carousel", main: started }

/// Returns the tag of this build.
fn build_tag() -> i32 {
    fixture::tag() as i32
}

/// Tag of the build that fails to start.
const UNLUCKY: i32 = 13;

fn started(_args: &[&str]) {
    if build_tag() == UNLUCKY {
        panic!("the carousel does not start");
    }
}

/// Actor that rotates each tick.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Horse {
    /// Rotation in degrees per second.
    #[uproperty(edit_anywhere, default = 90.0)]
    speed: f64,
    /// Action of `round`: 1 panics, 2 destroys `other`, 3 spawns another horse, 4 calls `ex:/host.query`, 5 makes this call and panics.
    #[uproperty]
    mood: i32,
    /// Horse to destroy.
    #[uproperty]
    other: Obj<Horse>,
    /// Set if a batch that is limited by this property must call the horse.
    #[uproperty]
    wants: bool,
    /// Numbers that are borrowed as a slice.
    #[uproperty]
    numbers: UArray<f64>,

    /// Degrees turned so far.
    turned: f64,
}

#[uclass]
impl Horse {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { turned: 0.0 }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, delta: f32) {
        self.turned += this.speed() * f64::from(delta);
    }

    /// Returns the degrees turned so far.
    #[ufunction]
    fn degrees(&self) -> f64 {
        self.turned
    }

    /// Returns the sum.
    #[ufunction]
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Returns `number` plus 1000 times the build tag.
    #[ufunction(blueprint_native_event)]
    fn answer(&self, number: i32) -> i32;
    fn answer_implementation(&self, number: i32) -> i32 {
        build_tag() * 1000 + number
    }

    /// Runs one round with the action that `mood` selects. Returns the mood plus 100 times the build tag.
    #[ufunction]
    fn round(&mut self, this: This<Self>) -> i32 {
        self.turned += 1.0;
        let mood = this.mood();
        match mood {
            1 => panic!("{} throws its rider off", this.name()),
            2 => this.get(this.other()).and_then(|other| other.destroy()).expect("alive"),
            3 => drop(this.spawn::<Self>(Obj::none()).expect("spawned")),
            4 => {
                let reply: i32 = this.zcall("ex:/host.query", (mood,)).expect("the host replies");
                return build_tag() * 100 + reply;
            }
            5 => {
                let reply: i32 = this.zcall("ex:/host.query", (mood,)).expect("the host replies");
                panic!("bolts, reply {reply}");
            }
            _ => {}
        }
        build_tag() * 100 + mood
    }

    /// Borrows the numbers as a slice, and logs during the borrow.
    #[ufunction]
    fn lend(&self, this: This<Self>) {
        this.numbers().assign(vec![1.0; 4]);
        this.numbers().with_slice(|_numbers| tracing::info!(target: "carousel", "a slice is lent"));
    }

    /// Returns the tag of this build.
    #[zmethod]
    fn build_tag() -> i32 {
        build_tag()
    }

    /// Calls `ex:/host.query` and returns the reply.
    #[zmethod]
    fn query(number: i32) -> i32 {
        zcall("ex:/host.query", (number,)).unwrap_or(-1)
    }

    /// Calls `ex:/host.query` and then fails. Returns an error if the number is zero, and panics otherwise.
    #[zmethod]
    fn query_and_fail(number: i32) -> Result<i32, String> {
        let reply: i32 = zcall("ex:/host.query", (number,)).unwrap_or(-1);
        assert!(number == 0, "a panic, reply {reply}");
        Err(format!("an error, reply {reply}"))
    }
}

/// Horse without overrides.
#[uclass(package = "Game", base = Horse, blueprintable)]
#[derive(Default)]
pub struct Pony {}

/// Horse that overrides `answer`.
#[uclass(package = "Game", base = Horse, blueprintable)]
#[derive(Default)]
pub struct Colt {}

#[uclass]
impl Colt {
    #[overrides(Horse)]
    fn answer(&self, number: i32) -> i32 {
        build_tag() * 1000 + 500 + number
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, _delta: f32) {}
}
