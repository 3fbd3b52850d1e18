//! Classes of which one is abstract: what moves parcels, of which there are carts and drones. In a later build a cart is abstract, too.

use alcedo_plugin_api::prelude::*;

/// What moves parcels.
#[uclass(package = "Game", abstract, blueprintable)]
#[derive(Default)]
pub struct Carrier {
    /// What it takes.
    #[uproperty(default = 10)]
    room: u32,
}

#[uclass]
impl Carrier {
    /// What it asks for.
    #[ufunction(blueprint_native_event)]
    fn price(&self, parcels: u32) -> u32;

    fn price_implementation(&self, this: This<Self>, parcels: u32) -> u32 {
        this.room() * parcels
    }

    /// Asks for one of the very class.
    #[ufunction]
    fn plain(&self, this: This<Self>) -> Result<String, CallError> {
        let plain = this.spawn::<Self>(Obj::none())?;
        Ok(this.get(plain)?.path())
    }
}

/// One that is pulled.
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
