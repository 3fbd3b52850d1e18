//! Values whose `Drop` panics in situations where a panic would end the process.

use std::cell::RefCell;
use std::fmt;

use alcedo_plugin_api::prelude::*;

thread_local! {
    static GRENADE: RefCell<Option<Grenade>> = const { RefCell::new(None) };
}

/// A thread-local whose `Drop` panics.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        panic!("a thread-local panics when it is dropped");
    }
}

/// An error whose `Display` panics if bit 0 is set, and whose `Drop` panics if bit 1 is set.
pub struct BrokenError(u32);

impl fmt::Display for BrokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 & 1 != 0 {
            panic!("its words panic");
        }
        f.write_str("its words")
    }
}

impl Drop for BrokenError {
    fn drop(&mut self) {
        if self.0 & 2 != 0 {
            panic!("its drop panics");
        }
    }
}

/// Functions that create values whose `Drop` panics.
#[uclass(package = "Game", base = Object)]
pub struct Breaker {}

#[uclass]
impl Breaker {
    /// Returns an error with this number.
    #[ufunction(blueprint_callable)]
    fn fails(number: u32) -> Result<u32, BrokenError> {
        Err(BrokenError(number))
    }

    /// Sets a thread-local whose `Drop` panics. With `elsewhere`, sets it on a new thread, which then ends.
    #[ufunction(blueprint_callable)]
    fn arm(elsewhere: bool) {
        let arm = || GRENADE.set(Some(Grenade));
        if elsewhere {
            let _ended =
                std::thread::Builder::new().name("grenadier".to_owned()).spawn(arm).map(|thread| thread.join());
        } else {
            arm();
        }
    }
}
