//! Actor that reports each of its ticks to the host, and then runs the action that `deed` selects.

use alcedo_plugin_api::prelude::*;
use engine_glue::Actor;

/// Calls `ex:/host.tick` with its number in each tick.
#[cfg(not(feature = "tall"))]
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Roan {
    /// Number that is reported. With zero, nothing is reported.
    #[uproperty]
    number: i32,
    /// Action in a tick: 1 panics, 2 destroys `other`, 3 spawns another roan, 4 calls `receive_tick` of `other`.
    #[uproperty]
    deed: i32,
    /// Roan to destroy or tick. This field may refer to the actor itself.
    #[uproperty]
    other: Obj<Roan>,

    ticks: i32,
}

/// Roan with additional properties before, between and after the properties of the first build. All offsets differ from that build.
#[cfg(feature = "tall")]
#[uclass(package = "Game", base = Actor, blueprintable)]
pub struct Roan {
    /// Additional property.
    #[uproperty(default = 1.5)]
    height: f64,
    /// Reported number.
    #[uproperty]
    number: i32,
    /// Additional property.
    #[uproperty]
    names: UArray<f64>,
    /// Action in a tick.
    #[uproperty]
    deed: i32,
    /// Roan to destroy or tick.
    #[uproperty]
    other: Obj<Roan>,
    /// Additional property.
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
            let _reply: i32 = this.zcall("ex:/host.tick", (number,)).expect("the host replies");
        }
        match this.deed() {
            1 => panic!("{} throws its rider off", this.name()),
            2 => {
                let other = this.get(this.other()).expect("alive");
                other.destroy().expect("alive");
                self.ticks += 100;
            }
            3 => drop(this.spawn::<Self>(Obj::none()).expect("spawned")),
            4 => {
                let other = this.get(this.other()).expect("alive");
                other.receive_tick(0.5);
            }
            _ => {}
        }
        #[cfg(feature = "tall")]
        assert!(self.before == [u64::MAX; 5] && this.is_tall() && this.height() == 1.5, "a field has changed");
    }

    /// Returns the number of ticks, plus a hundred for each destroyed roan.
    #[ufunction]
    fn ticks(&self) -> i32 {
        self.ticks
    }
}

/// Calls the host when it is dropped. This call has no effect.
impl Drop for Roan {
    fn drop(&mut self) {
        let _no_caller: Result<i32, _> = zcall("ex:/host.tick", (self.ticks,));
    }
}
