//! Declarations of every kind, each with a unique name that a test finds in the library.

use alcedo_plugin_api::prelude::*;

/// A class.
#[uclass(package = "Game", base = Object)]
pub struct Quilted {
    /// A property with a default.
    #[uproperty(default = "quince or quandary")]
    quartz: String,
    /// A property of a type that has a path.
    #[uproperty]
    quiver: UArray<Obj<Quilted>>,
}

#[uclass]
impl Quilted {
    /// A function with a parameter.
    #[ufunction(blueprint_callable)]
    fn quarrel(&self, quantity: u32) -> u32 {
        quantity
    }
}

/// A struct.
#[ustruct(package = "Game")]
pub struct Quagmire {
    /// A field.
    quotient: u64,
}

/// An interface.
#[uinterface(package = "Game")]
pub trait Quietude {}

/// A function that is called by name.
#[zcall(ex = "quorum.quote")]
fn quote(one: u8, two: u16, three: i8) -> i16 {
    i16::from(one) + i16::from(two as u8) + i16::from(three)
}
