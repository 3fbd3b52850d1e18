//! An interface has functions that are declared, and nothing else.
use alcedo_plugin_api::prelude::*;

#[uinterface(package = "Game")]
pub trait Keeps {
    const COUNT: u32;
}

#[uinterface(package = "Game")]
pub trait Does {
    fn act(&self) {}
}

#[uinterface(package = "Game")]
pub trait Makes {
    fn make() -> u32;
}

#[uinterface(package = "Game")]
pub trait Asks {
    fn ask(&self, this: This<Self>);
}

#[uinterface(package = "Game")]
pub trait Says {
    #[cfg(unix)]
    fn say(&self);
}

#[uinterface(package = "Game")]
pub trait Takes {
    fn take(&self, thing: std::time::Duration);
}

#[uclass(package = "Game")]
#[derive(Default)]
pub struct Thing {}

#[uclass]
impl Keeps for Thing {
    const COUNT: u32 = 1;
}

#[uclass]
impl Does for Thing {
    #[ufunction]
    fn act(&self) {}
}

fn main() {}
