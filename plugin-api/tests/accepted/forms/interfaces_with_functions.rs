//! Interfaces with functions: bodies with each kind of `self`, with and without `this`, calls through a reference and on an object.
#![deny(unused_variables)]
use alcedo_plugin_api::prelude::*;

/// Macro of the author, which generated code does not call.
#[allow(unused_macros, reason = "only generated code could call it")]
macro_rules! panic {
    () => {};
}

/// Receiver of messages.
#[uinterface(package = "Game")]
pub trait Heeds {
    /// Receives a message.
    fn hear(&self, what: String) -> Result<u32, CallError>;
    fn hush(&self);
    fn names(&self, of: Borrowed<UArray<f64>>) -> Vec<String>;
}

/// Interface of another module.
#[uinterface(imported, package = "Engine")]
pub trait Shines {
    fn shine(&self, how: f64) -> bool;
}

#[uinterface(package = "Game")]
pub trait Rests {}

#[uclass(package = "Game", implements(Heeds, Rests, Shines), blueprintable)]
#[derive(Default)]
pub struct Cat {
    received: u32,
}

#[uclass]
impl Heeds for Cat {
    fn hear(&mut self, this: This<Self>, what: String) -> Result<u32, CallError> {
        self.received += 1;
        let _name = (this.name(), what);
        Ok(self.received)
    }

    fn hush(&self) {}

    fn names(&self, of: Borrowed<UArray<f64>>) -> Vec<String> {
        of.iter().map(|number| number.to_string()).collect()
    }
}

#[uclass]
#[expect(unused_variables, reason = "attributes of a block apply to its functions")]
impl Shines for Cat {
    fn shine(&self, how: f64) -> bool {
        true
    }
}

#[uclass]
impl Cat {
    #[ufunction]
    fn purr(&self, this: This<Self>) {
        this.hush();
        self.hush();
    }
}

#[uclass(package = "Game", base = Cat)]
#[derive(Default)]
pub struct Kitten {}

#[uclass]
impl Kitten {
    #[overrides(Cat)]
    fn hear(&mut self, this: This<Self>, what: String) -> Result<u32, CallError> {
        this.base_hear(what)
    }
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Talker {
    #[uproperty]
    listener: ScriptInterface<Heeds>,
}

#[uclass]
impl Talker {
    #[ufunction]
    fn talk(&self, this: This<Self>, lamp: Obj<Object>) -> Result<u32, CallError> {
        let bright = this.get(lamp)?.as_interface::<Shines>()?.shine(0.75);
        let Some(listener) = this.listener().get(&this) else { return Ok(u32::from(bright)) };
        listener.hush();
        listener.try_hush()?;
        listener.hear(listener.name())
    }
}

fn main() {}
