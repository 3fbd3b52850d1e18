//! Functions that may return an error. The plugin author chooses the error type. Callers receive the message of the error, the location of
//! the function, and an error kind that differs from that of a panic.

#![forbid(unsafe_code)]
// Lints that permit the code of the attributes, and the signatures that the attributes require.
#![warn(
    clippy::expl_impl_clone_on_copy,
    clippy::needless_pass_by_value,
    clippy::unused_self,
    clippy::use_self,
    reason = "plugins may have such lints"
)]

use std::fmt;

use alcedo_plugin_api::prelude::*;

mod forms;
mod fuses;
mod out_parameters;
mod shines;

pub use crate::forms::Bulb;
pub use crate::fuses::{Fuse, SlowFuse};
pub use crate::out_parameters::Splitter;
pub use crate::shines::{Room, Shines};

module! { name: "lamps", main: started, exit: ended }

fn started() {
    tracing::info!(target: "order", "main lamps");
}

fn ended() {
    tracing::info!(target: "order", "exit lamps");
}

/// Error of a lamp.
#[derive(Debug)]
pub enum LampError {
    /// The lamp is broken.
    Broken,
    /// Too many flickers were requested.
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

/// Error whose `Display` and `Drop` call functions in the module.
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
        // The call with an odd number fails. This failure must affect this call only.
        let _odd = zcall::<_, u32>("ex:/lamps.half", (3_u32,));
    }
}

/// Error whose `Display` panics.
struct Mute;

impl fmt::Display for Mute {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

/// Returns half of an even number: `ex:/lamps.half`.
#[zcall(ex = "lamps.half")]
fn half(number: u32) -> Result<u32, String> {
    if number.is_multiple_of(2) { Ok(number / 2) } else { Err(format!("{number} is odd")) }
}

/// A lamp.
#[uclass(package = "Game", base = Object, blueprintable, implements(Shines))]
pub struct Lamp {
    /// Brightness of the lamp; zero when broken.
    #[uproperty(edit_anywhere, default = 1.0)]
    brightness: f64,
    /// Called by `call_before`.
    #[uproperty]
    before: Delegate<fn(u32) -> u32>,

    /// Number of flickers.
    flickers: u32,
}

#[uclass]
impl Lamp {
    /// Returns the tag of this build.
    #[ufunction]
    fn build_tag() -> u32 {
        fixture::tag() as u32
    }

    #[red_constructor]
    fn new(_this: This<Self>) -> Self {
        Self { flickers: 0 }
    }

    /// Flickers `times` times; returns the number of all flickers.
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

    /// Reduces the brightness. Returns nothing or an error.
    #[ufunction(blueprint_callable)]
    fn dim(&mut self, this: This<Self>, by: f64) -> Result<(), String> {
        if by < 0.0 {
            return Err("a lamp gets darker by a positive number".to_owned());
        }
        this.set_brightness(this.brightness() - by);
        Ok(())
    }

    /// Returns a name for the lamp, or an error.
    #[ufunction]
    fn label(&self, expected: String) -> Result<String, fmt::Error> {
        if expected.is_empty() { Err(fmt::Error) } else { Ok(format!("lamp {expected}")) }
    }

    /// Returns an error that contains its line.
    #[ufunction]
    fn exact(&self) -> Result<u32, CallError> {
        Err(CallError::returned("here")) // the exact line
    }

    /// Panics, which is not reported as a returned error.
    #[ufunction]
    fn crash(&self) -> Result<u32, LampError> {
        panic!("a short circuit")
    }

    /// Returns an error whose message calls back into the module.
    #[ufunction]
    fn curious(&mut self) -> Result<u32, Box<dyn fmt::Display>> {
        self.flickers += 1;
        Err(Box::new(Curious))
    }

    /// Returns an error whose message panics.
    #[ufunction]
    fn mute(&mut self) -> Result<u32, Box<dyn fmt::Display>> {
        Err(Box::new(Mute))
    }

    /// Flickers another lamp and returns its error unchanged.
    #[ufunction]
    fn pass_on(&mut self, this: This<Self>, other: Obj<Self>, times: u32) -> Result<u32, CallError> {
        // `other` may be this lamp.
        this.lend(self, |this| this.get(other)?.flicker(times))
    }

    /// Flickers this lamp through another lamp; returns the error of the innermost call.
    #[ufunction]
    fn there_and_back(&mut self, this: This<Self>, other: Obj<Self>, times: u32) -> Result<u32, CallError> {
        let me = this.as_obj();
        this.lend(self, |this| this.get(other)?.pass_on(me, times))
    }

    /// Calls a function of this lamp and describes the kind of failure.
    #[ufunction]
    fn judge(&mut self, this: This<Self>, function: String) -> String {
        let name = format!("uf:/Script/Game.Lamp:{function}");
        format_result(this.lend(self, |this| this.zcall::<_, u32>(&name, ())))
    }

    /// Calls the function that is bound to `before`.
    #[ufunction]
    fn call_before(&mut self, this: This<Self>, times: u32) -> String {
        format_result(this.lend(self, |this| this.before().call((times,))))
    }

    /// Binds `flicker` of this lamp to `before`.
    #[ufunction]
    fn bind_own(&self, this: This<Self>) {
        this.before().bind(this.as_obj(), "flicker");
    }

    /// Calls a host function.
    #[ufunction]
    fn call_host(&self, this: This<Self>, name: String, number: u32) -> String {
        format_result(this.zcall::<_, u32>(&name, (number,)))
    }

    /// Returns the number of flickers.
    #[ufunction(blueprint_pure)]
    fn flickers(&self) -> u32 {
        self.flickers
    }
}

fn format_result(result: Result<u32, CallError>) -> String {
    match result {
        Ok(number) => number.to_string(),
        Err(error) if error.is_returned() => format!("an error: {}", error.message()),
        Err(error) => format!("went wrong: {error}"),
    }
}
