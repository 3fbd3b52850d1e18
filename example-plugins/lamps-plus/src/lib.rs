//! A lamp derived from one of another module: its override gives errors of another type, and it calls functions of the
//! base that may fail.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::lamps::{Bulb, Lamp, Shines, Splitter};

#[cfg(feature = "natives")]
mod natives;

module! { name: "lamps_plus", dependencies: [("lamps", "^0.1")] }

/// The classes of the module `lamps`, as this one uses them.
mod lamps {
    use alcedo_plugin_api::prelude::*;

    /// A bulb.
    #[uclass(imported, package = "Game", base = Object)]
    pub struct Bulb {}

    #[uclass(imported)]
    impl Bulb {
        /// Needs no bulb.
        #[ufunction]
        fn lumens(watts: u32, per_watt: f64) -> Result<f64, CallError>;
    }

    /// Shares watts out.
    #[uclass(imported, package = "Game", base = Object)]
    pub struct Splitter {}

    #[uclass(imported)]
    impl Splitter {
        /// Gives what each of so many gets; the rest, and a line, come back.
        #[cfg(not(feature = "drifted"))]
        #[ufunction(blueprint_native_event)]
        fn split(&self, watts: &mut u32, among: u32, lines: &mut Vec<String>) -> Result<u32, CallError>;
    }

    /// A lamp.
    #[uclass(imported, package = "Game", base = Object)]
    pub struct Lamp {}

    /// What gives light.
    #[cfg(feature = "drifted")]
    #[uinterface(imported, package = "Game")]
    pub trait Shines {
        /// Shines that brightly; gives how brightly it does.
        fn shine(&self, how: f32) -> Result<f64, CallError>;
        /// The color of its light.
        fn color(&self) -> String;
    }

    /// What gives light.
    #[cfg(not(feature = "drifted"))]
    #[uinterface(imported, package = "Game")]
    pub trait Shines {
        /// Shines that brightly; gives how brightly it does.
        fn shine(&self, how: f64) -> Result<f64, CallError>;
        /// The color of its light.
        fn color(&self) -> String;
    }

    #[uclass(imported)]
    impl Lamp {
        /// Flickers so many times; gives how often it did in its life.
        #[ufunction(blueprint_native_event)]
        fn flicker(&self, times: u32) -> Result<u32, CallError>;
        /// Makes it darker.
        #[ufunction]
        fn dim(&self, by: f64) -> Result<(), CallError>;
        /// Shines that brightly.
        #[ufunction(blueprint_native_event)]
        fn shine(&self, how: f64) -> Result<f64, CallError>;
    }
}

/// A lamp that flickers an even number of times.
#[uclass(package = "Game", base = Lamp, blueprintable)]
pub struct TwinLamp {}

#[uclass]
impl TwinLamp {
    #[overrides(Lamp)]
    fn flicker(&mut self, this: This<Self>, times: u32) -> Result<u32, std::num::TryFromIntError> {
        // Any `Display` is an error; that of the base would end this call as what it is.
        u8::try_from(times)?;
        Ok(this.base_flicker(times * 2).unwrap_or(0))
    }

    /// Twice as bright as it was told.
    #[overrides(Lamp)]
    fn shine(&mut self, this: This<Self>, how: f64) -> Result<f64, CallError> {
        this.base_shine(how * 2.0)
    }

    /// Asks a class of another module for what needs no object of it.
    #[ufunction]
    fn lumens_of(&self, this: This<Self>, bulb: Obj<Bulb>, watts: u32) -> Result<f64, CallError> {
        this.get(bulb)?.lumens(watts, 2.5)
    }

    /// Makes another lamp darker, and says what came of it.
    #[ufunction]
    fn dim_other(&self, this: This<Self>, other: Obj<Lamp>, by: f64) -> String {
        let Ok(other) = this.get(other) else { return "gone".to_owned() };
        match other.dim(by) {
            Ok(()) => "darker".to_owned(),
            Err(error) if error.is_returned() => format!("an error: {}", error.message()),
            Err(error) => format!("went wrong: {error}"),
        }
    }
}

/// Keeps one share for itself.
#[cfg(not(feature = "drifted"))]
#[uclass(package = "Game", base = Splitter, blueprintable)]
#[derive(Default)]
pub struct Miser {
    kept: u32,
}

#[cfg(not(feature = "drifted"))]
#[uclass]
impl Miser {
    #[overrides(Splitter)]
    fn split(
        &mut self,
        this: This<Self>,
        watts: &mut u32,
        among: u32,
        lines: &mut Vec<String>,
    ) -> Result<u32, CallError> {
        let each = this.base_split(watts, among + 1, lines)?;
        self.kept += each;
        lines.push(format!("kept {}", self.kept));
        Ok(each)
    }

    /// Has another one split, of whatever class.
    #[ufunction]
    fn ask(&mut self, this: This<Self>, other: Obj<Splitter>, watts: u32) -> Result<String, CallError> {
        this.lend(self, |this| {
            let (mut rest, mut lines) = (watts, Vec::new());
            let each = this.get(other)?.split(&mut rest, 3, &mut lines)?;
            Ok(format!("{each} {rest} {lines:?}"))
        })
    }
}

#[cfg(feature = "drifted")]
type _NoneHere = Splitter;

/// Another thing that gives light. It tells the room that somebody comes with it.
#[uclass(package = "Game", implements(Shines))]
#[derive(Default)]
pub struct Candle {
    /// Where it burns.
    #[uproperty]
    room: Obj<Object>,
}

/// What a light can be told here.
#[cfg(not(feature = "drifted"))]
type How = f64;
/// What a light can be told here.
#[cfg(feature = "drifted")]
type How = f32;

#[uclass]
impl Shines for Candle {
    fn shine(&self, this: This<Self>, how: How) -> Result<f64, String> {
        if !this.room().is_none() {
            let room = this.get(this.room()).map_err(|error| error.to_string())?;
            room.zcall::<_, ()>("uf:/Script/Game.Room:enter", ()).map_err(|error| error.to_string())?;
        }
        if how > 0.1 { Err("a candle is not that bright".to_owned()) } else { Ok(0.1) }
    }

    fn color(&self) -> String {
        "yellow".to_owned()
    }
}
