//! Actors that a frame calls in batches: what calls of many objects cost is measured with them, and what becomes of the others when one
//! panics, ends another, begins a third or calls back.

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

/// The build that does not come up.
const UNLUCKY: i32 = 13;

fn started(_args: &[&str]) {
    if build_tag() == UNLUCKY {
        panic!("the carousel does not start");
    }
}

/// Turns.
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Horse {
    /// Degrees a second.
    #[uproperty(edit_anywhere, default = 90.0)]
    speed: f64,
    /// What it does in its round: 1 panics, 2 ends `other`, 3 begins another horse, 4 calls `ex:/host.ask`, 5 does and
    /// panics then.
    #[uproperty]
    mood: i32,
    /// Whom it ends.
    #[uproperty]
    other: Obj<Horse>,
    /// Whether it wants to be called.
    #[uproperty]
    wants: bool,
    /// Numbers to lend.
    #[uproperty]
    numbers: UArray<f64>,

    /// Degrees so far.
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

    /// Degrees so far.
    #[ufunction]
    fn degrees(&self) -> f64 {
        self.turned
    }

    /// The sum.
    #[ufunction]
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }

    /// Which build it is of, and `number`.
    #[ufunction(blueprint_native_event)]
    fn answer(&self, number: i32) -> i32;
    fn answer_implementation(&self, number: i32) -> i32 {
        build_tag() * 1000 + number
    }

    /// A round, as its mood is: a hundred for the build, and its mood.
    #[ufunction]
    fn round(&mut self, this: This<Self>) -> i32 {
        self.turned += 1.0;
        let mood = this.mood();
        match mood {
            1 => panic!("{} throws its rider off", this.name()),
            2 => this.get(this.other()).and_then(|other| other.destroy()).expect("it was there"),
            3 => drop(this.spawn::<Self>(Obj::none()).expect("another horse")),
            4 => {
                let told: i32 = this.zcall("ex:/host.ask", (mood,)).expect("the host answers");
                return build_tag() * 100 + told;
            }
            5 => {
                let told: i32 = this.zcall("ex:/host.ask", (mood,)).expect("the host answers");
                panic!("bolts, told {told}");
            }
            _ => {}
        }
        build_tag() * 100 + mood
    }

    /// Lends its numbers, and writes to the log meanwhile.
    #[ufunction]
    fn lend(&self, this: This<Self>) {
        this.numbers().assign(vec![1.0; 4]);
        this.numbers().with_slice(|_numbers| tracing::info!(target: "carousel", "a slice is lent"));
    }

    /// Which build this is.
    #[zmethod]
    fn build_tag() -> i32 {
        build_tag()
    }

    /// Calls `ex:/host.ask`, and gives what it says.
    #[zmethod]
    fn ask(number: i32) -> i32 {
        zcall("ex:/host.ask", (number,)).unwrap_or(-1)
    }

    /// Calls `ex:/host.ask`, and fails: with an error if the number is zero, else with a panic.
    #[zmethod]
    fn ask_and_fail(number: i32) -> Result<i32, String> {
        let told: i32 = zcall("ex:/host.ask", (number,)).unwrap_or(-1);
        assert!(number == 0, "a panic, told {told}");
        Err(format!("an error, told {told}"))
    }
}

/// A horse that adds nothing.
#[uclass(package = "Game", base = Horse, blueprintable)]
#[derive(Default)]
pub struct Pony {}

/// A horse that answers otherwise.
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
