//! Structs whose fields say what they begin as: in objects, containers and parameters, and in Rust.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "parcels" }

/// How it goes.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq)]
#[repr(u8)]
pub enum Way {
    /// On wheels.
    #[default]
    Road,
    /// With wings.
    Air,
}

/// How large a parcel is.
#[cfg(not(any(feature = "later", feature = "sad")))]
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Size {
    /// Upwards.
    #[uproperty(default = 2.5)]
    pub height: f64,
    /// To the side; nobody said so far.
    #[uproperty(default = -1)]
    pub width: i32,
    /// How it goes.
    #[uproperty(default = "Air")]
    pub way: Way,
    /// It begins as nothing.
    pub weight: u8,
}

/// How large a parcel is.
#[cfg(feature = "later")]
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Size {
    /// Upwards.
    #[uproperty(default = 4.0)]
    pub height: f64,
    /// To the side; nobody said so far.
    #[uproperty(default = -1)]
    pub width: i32,
    /// How it goes.
    pub way: Way,
    /// It begins as nothing.
    pub weight: u8,
}

/// How large a parcel is.
#[cfg(feature = "sad")]
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Size {
    /// Upwards.
    pub height: f64,
    /// To the side; nobody said so far.
    pub width: i32,
    /// How it goes.
    #[uproperty(default = "Sad")]
    pub way: Way,
    /// It begins as nothing.
    pub weight: u8,
}

/// What is sent: a struct that is used where it lies.
#[ustruct(package = "Game")]
pub struct Parcel {
    /// Who gets it.
    #[uproperty(default = "nobody")]
    to: UString,
    /// Taller than others.
    #[uproperty(default = (height = 3.0))]
    size: Size,
    /// As others.
    inner: Size,
}

/// Where parcels are.
#[uclass(package = "Game")]
pub struct Depot {
    /// The next to go.
    #[uproperty]
    next: Parcel,
    /// One that the class wants larger.
    #[uproperty(default = (weight = 9))]
    large: Size,
    /// What is there.
    #[uproperty]
    sizes: UArray<Size>,
}

#[uclass]
impl Depot {
    /// What Rust code makes.
    #[ufunction]
    fn made(&self, this: This<Self>) -> String {
        let parcel = Parcel::default();
        let parcel = this.open(&parcel);
        format!("{:?} | {} {:?} {:?}", Size::default(), parcel.to(), parcel.size(), parcel.inner())
    }

    /// What it is told of a size.
    #[ufunction]
    fn told(&self, size: Size) -> String {
        format!("{size:?}")
    }
}
