//! Classes that override defaults of their bases and subobjects. Also a contextual class, whose objects need an outer object.

use alcedo_plugin_api::prelude::*;

use crate::{Route, Size};

/// Lid of a crate.
#[uclass(package = "Game")]
pub struct Lid {
    /// Weight in kilograms.
    #[uproperty(default = 1.0)]
    weight: f64,
    /// Size of the lid.
    #[uproperty]
    size: Size,
}

/// A lid with a lock.
#[uclass(package = "Game", base = Lid)]
pub struct LockedLid {
    /// Number of digits of the lock.
    #[uproperty(default = 4)]
    digits: u8,
}

/// Contextual class, which needs an outer object.
#[uclass(package = "Game", contextual)]
pub struct Sticker {
    /// Printed text.
    #[uproperty(default = "fragile")]
    text: String,
}

/// A sticker with a color.
#[uclass(package = "Game", base = Sticker)]
pub struct ColorSticker {
    /// Color of the sticker.
    #[uproperty]
    color: u32,
}

/// A box with a lid.
#[uclass(package = "Game")]
pub struct Crate {
    /// Number of contents.
    #[uproperty(default = 3)]
    count: u32,
    /// Route of transport.
    #[uproperty]
    route: Route,
    /// Lid of the crate.
    #[uproperty(default_subobject)]
    lid: Obj<Lid>,
    /// Sticker on the crate.
    #[uproperty(default_subobject)]
    sticker: Obj<Sticker>,
}

/// A large box with a lock.
#[cfg(not(any(feature = "later", feature = "wrong-default", feature = "small")))]
#[uclass(
    package = "Game",
    base = Crate,
    subobjects(lid = LockedLid),
    defaults(count = 7, route = "Air", lid.weight = 9.5, lid.digits = 6, lid.size.height = 8.0, sticker.text = "heavy")
)]
pub struct BigCrate {
    /// Material.
    #[uproperty(default = "oak")]
    wood: String,
}

/// A large box with a lock.
#[cfg(feature = "later")]
#[uclass(package = "Game", base = Crate, subobjects(lid = LockedLid), defaults(count = 8, lid.weight = 10.5))]
pub struct BigCrate {
    /// Material.
    #[uproperty(default = "oak")]
    wood: String,
}

/// A large box with a default for a property that the subobject's class lacks.
#[cfg(feature = "wrong-default")]
#[uclass(package = "Game", base = Crate, defaults(lid.digits = 6))]
pub struct BigCrate {}

/// The largest box.
#[cfg(not(any(feature = "small", feature = "racks")))]
#[uclass(package = "Game", base = BigCrate, defaults(count = 9, sticker.text = "huge"))]
pub struct HugeCrate {}

/// The largest box, with a rack.
#[cfg(feature = "racks")]
#[uclass(package = "Game", base = BigCrate)]
pub struct HugeCrate {
    /// Rack in the box.
    #[uproperty(default_subobject)]
    rack: Obj<Rack>,
}

#[cfg(feature = "racks")]
#[uclass]
impl HugeCrate {
    /// Calls the rack and ignores errors. During a reload, this call makes the host rebuild the rack before its turn.
    #[red_constructor]
    fn new(this: This<Self>) -> Self {
        let _ignored = this.get(this.rack()).and_then(|rack| rack.zcall::<_, u32>("uf:/Script/Game.Rack:uses", ()));
        Self {}
    }
}

/// A box with the lid of its base.
#[cfg(all(feature = "racks", not(feature = "later")))]
#[uclass(package = "Game", base = Crate)]
pub struct Chest {}

/// A box with a lock.
#[cfg(all(feature = "racks", feature = "later"))]
#[uclass(package = "Game", base = Crate, subobjects(lid = LockedLid), defaults(lid.digits = 5))]
pub struct Chest {}

/// A rack in a box.
#[cfg(feature = "racks")]
#[uclass(package = "Game")]
pub struct Rack {
    /// Sticker on the rack.
    #[uproperty(default_subobject)]
    sticker: Obj<Sticker>,

    /// Number of uses.
    #[keep]
    uses: u32,
}

#[cfg(feature = "racks")]
#[uclass]
impl Rack {
    /// Increments the number of uses and returns it.
    #[ufunction]
    fn use_once(&mut self) -> u32 {
        self.uses += 1;
        self.uses
    }

    /// Returns the number of uses.
    #[ufunction]
    fn uses(&self) -> u32 {
        self.uses
    }
}

#[uclass]
impl Crate {
    /// Spawns a sticker in this crate; also tries to spawn one without an outer object.
    #[ufunction]
    fn stick(&self, this: This<Self>) -> Result<String, CallError> {
        let sticker = this.spawn::<Sticker>(this.as_obj().as_object())?;
        let alone = this.spawn::<Sticker>(Obj::none()).map(drop).map_err(|error| error.to_string());
        Ok(format!("{} {alone:?}", this.get(sticker)?.text()))
    }
}
