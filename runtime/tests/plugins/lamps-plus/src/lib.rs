//! Lamp that extends a class in another module. Its override calls fallible functions of the base, and returns other error types.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

use crate::lamps::{Bulb, Lamp, Shines, Splitter};

#[cfg(not(feature = "drifted"))]
mod fuses;
// Types of the module `lamps`, written by `alcedo glue`. `drifted.rs` declares an outdated version of the types that this file uses.
#[cfg(not(feature = "drifted"))]
mod lamps;
#[cfg(feature = "drifted")]
#[path = "drifted.rs"]
mod lamps;
#[cfg(feature = "natives")]
mod natives;
#[cfg(feature = "natives")]
mod switches;

module! { name: "lamps_plus", main: started, exit: ended, dependencies: [("lamps", "^0.1")] }

fn started() {
    tracing::info!(target: "order", "main lamps_plus");
}

fn ended() {
    tracing::info!(target: "order", "exit lamps_plus");
}

/// A lamp that flickers an even number of times.
#[uclass(package = "Game", base = Lamp, blueprintable)]
pub struct TwinLamp {}

#[uclass]
impl TwinLamp {
    #[overrides(Lamp)]
    fn flicker(&mut self, this: This<Self>, times: u32) -> Result<u32, std::num::TryFromIntError> {
        // Reflected functions may return any error type with `Display`.
        u8::try_from(times)?;
        // Replaces an error of the base function by zero.
        Ok(this.base_flicker(times * 2).unwrap_or(0))
    }

    /// Shines twice as bright.
    #[overrides(Lamp)]
    fn shine(&mut self, this: This<Self>, how: f64) -> Result<f64, CallError> {
        this.base_shine(how * 2.0)
    }

    /// Binds `watched` of this lamp to the `before` delegate of another lamp.
    #[ufunction]
    fn watch_over(&self, this: This<Self>, other: Obj<Lamp>) -> Result<(), CallError> {
        this.get(other)?.before().bind(this.as_obj(), "watched");
        Ok(())
    }

    /// Returns a value that identifies this build.
    #[ufunction]
    fn watched(&self, times: u32) -> u32 {
        times + 100 * fixture::tag() as u32
    }

    /// Calls a static function of a class in another module.
    #[ufunction]
    fn lumens_of(&self, this: This<Self>, bulb: Obj<Bulb>, watts: u32) -> Result<f64, CallError> {
        let (name, args) = ("uf:/Script/Game.Bulb:lumens", (watts, 2.5_f64));
        let by_name: [f64; 2] = [this.zcall(name, args)?, this.zcall_any(name, args)?];
        let lumens = this.get(bulb)?.lumens(watts, 2.5)?;
        if by_name == [lumens; 2] { Ok(lumens) } else { Err(CallError::other(format!("{by_name:?} by name"))) }
    }

    /// Dims another lamp and describes the outcome.
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

/// Splitter that keeps one share.
#[uclass(package = "Game", base = Splitter, blueprintable)]
#[derive(Default)]
pub struct Miser {
    kept: u32,
}

#[uclass]
impl Miser {
    #[overrides(Splitter)]
    fn split(
        &mut self,
        this: This<Self>,
        watts: &mut u32,
        among: u32,
        lines: &mut UArray<String>,
    ) -> Result<u32, CallError> {
        let each = this.base_split(watts, among + 1, lines)?;
        self.kept += each;
        this.open(lines).push(format!("kept {}", self.kept));
        Ok(each)
    }

    /// Calls `split` of another splitter, which may have a derived class.
    #[ufunction]
    fn query(&mut self, this: This<Self>, other: Obj<Splitter>, watts: u32) -> Result<String, CallError> {
        this.lend(self, |this| {
            let (mut rest, mut lines) = (watts, UArray::<String>::new()?);
            let each = this.get(other)?.split(&mut rest, 3, &mut lines)?;
            Ok(format!("{each} {rest} {:?}", this.open(&lines).iter().collect::<Vec<_>>()))
        })
    }
}

/// Source of light of this module, which calls `enter` of its room during `shine`.
#[uclass(package = "Game", implements(Shines))]
#[derive(Default)]
pub struct Candle {
    /// Room of the candle.
    #[uproperty]
    room: Obj<Object>,
}

/// Type of brightness in the interface.
#[cfg(not(feature = "drifted"))]
type How = f64;
/// Type of brightness in the interface.
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
