//! Classes that say defaults of what their bases and subobjects declare, and one that needs a context.

use alcedo_plugin_api::prelude::*;

use crate::{Size, Way};

/// What closes a crate.
#[uclass(package = "Game")]
pub struct Lid {
    /// In kilograms.
    #[uproperty(default = 1.0)]
    weight: f64,
    /// How large it is.
    #[uproperty]
    size: Size,
}

/// A lid with a lock.
#[uclass(package = "Game", base = Lid)]
pub struct LockedLid {
    /// What opens it.
    #[uproperty(default = 4)]
    digits: u8,
}

/// What is put into another thing: it is nothing by itself.
#[uclass(package = "Game", contextual)]
pub struct Sticker {
    /// What it says.
    #[uproperty(default = "fragile")]
    text: String,
}

/// A sticker with a color.
#[uclass(package = "Game", base = Sticker)]
pub struct ColorSticker {
    /// Which.
    #[uproperty]
    color: u32,
}

/// A box with a lid.
#[uclass(package = "Game")]
pub struct Crate {
    /// How much is in it.
    #[uproperty(default = 3)]
    count: u32,
    /// How it goes.
    #[uproperty]
    way: Way,
    /// What closes it.
    #[uproperty(default_subobject)]
    lid: Obj<Lid>,
    /// What is on it.
    #[uproperty(default_subobject)]
    sticker: Obj<Sticker>,
}

/// A large box with a lock.
#[cfg(not(any(feature = "later", feature = "wrong-default")))]
#[uclass(
    package = "Game",
    base = Crate,
    subobjects(lid = LockedLid),
    defaults(count = 7, way = "Air", lid.weight = 9.5, lid.digits = 6, lid.size.height = 8.0, sticker.text = "heavy")
)]
pub struct BigCrate {
    /// What it is made of.
    #[uproperty(default = "oak")]
    wood: String,
}

/// A large box with a lock.
#[cfg(feature = "later")]
#[uclass(package = "Game", base = Crate, subobjects(lid = LockedLid), defaults(count = 8, lid.weight = 10.5))]
pub struct BigCrate {
    /// What it is made of.
    #[uproperty(default = "oak")]
    wood: String,
}

/// A large box with a default for something that there is not.
#[cfg(feature = "wrong-default")]
#[uclass(package = "Game", base = Crate, defaults(lid.digits = 6))]
pub struct BigCrate {}

/// The largest box.
#[uclass(package = "Game", base = BigCrate, defaults(count = 9))]
pub struct HugeCrate {}

#[uclass]
impl Crate {
    /// Puts another sticker on, into this.
    #[ufunction]
    fn stick(&self, this: This<Self>) -> Result<String, CallError> {
        let sticker = this.spawn::<Sticker>(this.as_obj().as_object())?;
        let alone = this.spawn::<Sticker>(Obj::none()).map(drop).map_err(|error| error.to_string());
        Ok(format!("{} {alone:?}", this.get(sticker)?.text()))
    }
}
