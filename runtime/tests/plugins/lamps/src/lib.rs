//! Functions that may give an error back instead of a value. The error is of whatever type its author likes; callers get
//! its words, the place of the function, and that it is no panic.

#![forbid(unsafe_code)]

use std::fmt;

use alcedo_plugin_api::prelude::*;

mod forms;
mod fuses;
mod outs;
mod shines;

pub use crate::forms::Bulb;
pub use crate::fuses::{Fuse, SlowFuse};
pub use crate::outs::Splitter;
pub use crate::shines::{Room, Shines};

module! { name: "lamps", main: started, exit: ended }

fn started() {
    tracing::info!(target: "order", "main lamps");
}

fn ended() {
    tracing::info!(target: "order", "exit lamps");
}

/// Why a lamp does not do as it is told.
#[derive(Debug)]
pub enum LampError {
    /// It is broken.
    Broken,
    /// It was to flicker too often.
    TooOften(u32),
}

impl fmt::Display for LampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken => f.write_str("the lamp is broken"),
            Self::TooOften(times) => write!(f, "{times} times are too often"),
        }
    }
}

/// An error whose words and whose end ask for the module's own functions.
struct Curious;

impl fmt::Display for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match zcall::<_, u32>("ex:/lamps.half", (8_u32,)) {
            Ok(half) => write!(f, "curious: {half}"),
            Err(error) => write!(f, "curious: {error}"),
        }
    }
}

impl Drop for Curious {
    fn drop(&mut self) {
        // An even number fails nothing; an odd one fails this call and no other.
        let _odd = zcall::<_, u32>("ex:/lamps.half", (3_u32,));
    }
}

/// An error without words: whoever asks for them gets a panic.
struct Mute;

impl fmt::Display for Mute {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

/// Half of an even number: `ex:/lamps.half`.
#[zcall(ex = "lamps.half")]
fn half(number: u32) -> Result<u32, String> {
    if number.is_multiple_of(2) { Ok(number / 2) } else { Err(format!("{number} is odd")) }
}

/// A lamp.
#[uclass(package = "Game", base = Object, blueprintable, implements(Shines))]
pub struct Lamp {
    /// How bright it is.
    #[uproperty(edit_anywhere, default = 1.0)]
    brightness: f64,
    /// What is asked before it flickers.
    #[uproperty]
    before: Delegate<fn(u32) -> u32>,

    /// How often it flickered.
    flickers: u32,
}

#[uclass]
impl Lamp {
    /// Which build this is.
    #[ufunction]
    fn build_tag() -> u32 {
        fixture::tag() as u32
    }

    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { flickers: 0 }
    }

    /// Flickers so many times; gives how often it did in its life.
    #[ufunction(blueprint_native_event, blueprint_callable)]
    fn flicker(&self, times: u32) -> Result<u32, LampError>;
    fn flicker_implementation(&mut self, this: This<Self>, times: u32) -> Result<u32, LampError> {
        if this.brightness() <= 0.0 {
            return Err(LampError::Broken);
        }
        if times > 10 {
            return Err(LampError::TooOften(times));
        }
        self.flickers += times;
        Ok(self.flickers)
    }

    /// Makes it darker. Nothing comes back but, sometimes, an error.
    #[ufunction(blueprint_callable)]
    fn dim(&mut self, this: This<Self>, by: f64) -> Result<(), String> {
        if by < 0.0 {
            return Err("a lamp gets darker by a positive number".to_owned());
        }
        this.set_brightness(this.brightness() - by);
        Ok(())
    }

    /// A name for it, or an error.
    #[ufunction]
    fn label(&self, wanted: String) -> Result<String, fmt::Error> {
        if wanted.is_empty() { Err(fmt::Error) } else { Ok(format!("lamp {wanted}")) }
    }

    /// Says at which line it gave up.
    #[ufunction]
    fn exact(&self) -> Result<u32, CallError> {
        Err(CallError::returned("here")) // the exact line
    }

    /// Panics: that is no error that it gives back.
    #[ufunction]
    fn crash(&self) -> Result<u32, LampError> {
        panic!("a short circuit")
    }

    /// An error whose words call back into the module.
    #[ufunction]
    fn curious(&mut self) -> Result<u32, Box<dyn fmt::Display>> {
        self.flickers += 1;
        Err(Box::new(Curious))
    }

    /// An error that panics when it is asked for its words.
    #[ufunction]
    fn mute(&mut self) -> Result<u32, Box<dyn fmt::Display>> {
        Err(Box::new(Mute))
    }

    /// Has another lamp flicker, and gives its error on as what it is.
    #[ufunction]
    fn pass_on(&mut self, this: This<Self>, other: Obj<Lamp>, times: u32) -> Result<u32, CallError> {
        // The other one may be this very lamp.
        this.lend(self, |this| this.get(other)?.flicker(times))
    }

    /// Has another lamp flicker, which has this one flicker: an error of the innermost call is this call's.
    #[ufunction]
    fn there_and_back(&mut self, this: This<Self>, other: Obj<Lamp>, times: u32) -> Result<u32, CallError> {
        let me = this.as_obj();
        this.lend(self, |this| this.get(other)?.pass_on(me, times))
    }

    /// What kind of failure another lamp's function is.
    #[ufunction]
    fn judge(&mut self, this: This<Self>, function: String) -> String {
        let name = format!("uf:/Script/Game.Lamp:{function}");
        told(this.lend(self, |this| this.zcall::<_, u32>(&name, ())))
    }

    /// Calls what is bound, in front of a flicker.
    #[ufunction]
    fn ask_before(&mut self, this: This<Self>, times: u32) -> String {
        told(this.lend(self, |this| this.before().call((times,))))
    }

    /// Binds its own flicker.
    #[ufunction]
    fn bind_own(&self, this: This<Self>) {
        this.before().bind(this.as_obj(), "flicker");
    }

    /// Asks the host.
    #[ufunction]
    fn ask_host(&self, this: This<Self>, name: String, number: u32) -> String {
        told(this.zcall::<_, u32>(&name, (number,)))
    }

    /// How often it flickered.
    #[ufunction(blueprint_pure)]
    fn flickers(&self) -> u32 {
        self.flickers
    }
}

fn told(result: Result<u32, CallError>) -> String {
    match result {
        Ok(number) => number.to_string(),
        Err(error) if error.is_returned() => format!("an error: {}", error.message()),
        Err(error) => format!("went wrong: {error}"),
    }
}
