//! An actor that tells the host of each of its ticks, and does in it what it is told to.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

/// Tells `ex:/host.told` its number in each tick.
#[cfg(not(feature = "tall"))]
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Roan {
    /// What it tells; with zero it tells nothing.
    #[uproperty]
    number: i32,
    /// What it does in its tick: 1 panics, 2 ends `other`, 3 begins another roan, 4 ticks `other` by its function.
    #[uproperty]
    deed: i32,
    /// Whom it ends or ticks; itself, if it is told to.
    #[uproperty]
    other: Obj<Roan>,

    ticks: i32,
}

/// The same with properties before, between and behind, so that everything lies elsewhere.
#[cfg(feature = "tall")]
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Roan {
    /// To move the others.
    #[uproperty(default = 1.5)]
    height: f64,
    /// As before.
    #[uproperty]
    number: i32,
    /// To move the others.
    #[uproperty]
    names: UArray<f64>,
    /// As before.
    #[uproperty]
    deed: i32,
    /// As before.
    #[uproperty]
    other: Obj<Roan>,
    /// To make it longer.
    #[uproperty(default = true)]
    is_tall: bool,

    before: [u64; 5],
    ticks: i32,
}

#[uclass]
impl Roan {
    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self {
            #[cfg(feature = "tall")]
            before: [u64::MAX; 5],
            ticks: 0,
        }
    }

    #[class_constructor]
    fn construct(&mut self, this: This<Self>) {
        this.set_can_tick(true);
    }

    #[overrides(Actor)]
    fn receive_tick(&mut self, this: This<Self>, _delta: f32) {
        self.ticks += 1;
        let number = this.number();
        if number != 0 {
            let _told: i32 = this.zcall("ex:/host.told", (number,)).expect("the host answers");
        }
        match this.deed() {
            1 => panic!("{} throws its rider off", this.name()),
            2 => {
                let other = this.get(this.other()).expect("it was there");
                other.destroy().expect("it was there");
                self.ticks += 100;
            }
            3 => drop(this.spawn::<Self>(Obj::none()).expect("another roan")),
            4 => {
                let other = this.get(this.other()).expect("it was there");
                other.receive_tick(0.5);
            }
            _ => {}
        }
        #[cfg(feature = "tall")]
        assert!(self.before == [u64::MAX; 5] && this.is_tall() && this.height() == 1.5, "nobody wrote there");
    }

    /// How many ticks it had; a hundred more for each that it ended.
    #[ufunction]
    fn ticks(&self) -> i32 {
        self.ticks
    }
}

/// What a dropped part has tried goes nowhere, and harms nobody.
impl Drop for Roan {
    fn drop(&mut self) {
        let _nobody: Result<i32, _> = zcall("ex:/host.told", (self.ticks,));
    }
}
