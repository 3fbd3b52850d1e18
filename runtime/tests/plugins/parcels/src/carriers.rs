//! Classes of carriers, with carts and drones as subclasses. One class is abstract. In a later build, carts are also abstract.

use alcedo_plugin_api::prelude::*;

/// Abstract carrier of parcels.
#[uclass(package = "Game", abstract, blueprintable)]
#[derive(Default)]
pub struct Carrier {
    /// Capacity of the carrier.
    #[uproperty(default = 10)]
    room: u32,
}

#[uclass]
impl Carrier {
    /// Returns the price.
    #[ufunction(blueprint_native_event)]
    fn price(&self, parcels: u32) -> u32;

    fn price_implementation(&self, this: This<Self>, parcels: u32) -> u32 {
        this.room() * parcels
    }

    /// Spawns an object of this class, which fails because the class is abstract.
    #[ufunction]
    fn plain(&self, this: This<Self>) -> Result<String, CallError> {
        let plain = this.spawn::<Self>(Obj::none())?;
        Ok(this.get(plain)?.path())
    }
}

/// Concrete carrier.
#[cfg_attr(not(feature = "rusty"), uclass(package = "Game", base = Carrier))]
#[cfg_attr(feature = "rusty", uclass(package = "Game", base = Carrier, abstract))]
#[derive(Default)]
pub struct Cart {}

#[uclass]
impl Cart {
    #[overrides(Carrier)]
    fn price(&self, _this: This<Self>, parcels: u32) -> u32 {
        parcels
    }
}
