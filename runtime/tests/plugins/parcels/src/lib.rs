//! Structs whose fields declare defaults. The structs are used in objects, containers, parameters and Rust values.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod carriers;
mod crates;

module! { name: "parcels" }

/// Route of transport.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq)]
#[repr(u8)]
pub enum Route {
    /// By road.
    #[default]
    Road,
    /// By air.
    Air,
}

/// Size of a parcel.
#[cfg(not(any(feature = "later", feature = "sad")))]
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Size {
    /// Height.
    #[uproperty(default = 2.5)]
    pub height: f64,
    /// Width; negative if unknown.
    #[uproperty(default = -1)]
    pub width: i32,
    /// Route of transport.
    #[uproperty(default = "Air")]
    pub route: Route,
    /// Weight, without a declared default.
    pub weight: u8,
}

/// Size of a parcel, in a later build.
#[cfg(feature = "later")]
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Size {
    /// Height.
    #[uproperty(default = 4.0)]
    pub height: f64,
    /// Width; negative if unknown.
    #[uproperty(default = -1)]
    pub width: i32,
    /// Route of transport.
    pub route: Route,
    /// Weight, without a declared default.
    pub weight: u8,
}

/// Size of a parcel, with an invalid default.
#[cfg(feature = "sad")]
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Size {
    /// Height.
    pub height: f64,
    /// Width; negative if unknown.
    pub width: i32,
    /// Route of transport.
    #[uproperty(default = "Sad")]
    pub route: Route,
    /// Weight, without a declared default.
    pub weight: u8,
}

/// Pallet with one parcel.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Pallet {
    /// Size of the parcel, tall and by road.
    #[uproperty(default = (height = 3.0, route = "Road"))]
    pub size: Size,
}

/// Shipment of a heavy parcel.
#[ustruct(pod, package = "Game")]
#[derive(Debug, PartialEq)]
pub struct Shipment {
    /// Pallet, whose parcel starts with the defaults of `Size`.
    #[uproperty(default = (size = (weight = 5)))]
    pub pallet: Pallet,
}

/// Sent parcel: a struct that is used in place.
#[ustruct(package = "Game")]
pub struct Parcel {
    /// Recipient.
    #[uproperty(default = "nobody")]
    to: UString,
    /// Outer size, taller by default.
    #[uproperty(default = (height = 3.0))]
    size: Size,
    /// Inner size with the defaults of `Size`.
    inner: Size,
}

#[ustruct]
impl Size {
    /// Creates a size of this height; the route is `Air` if the size is tall.
    #[constructor]
    fn tall(&mut self, height: f64) {
        self.height = height;
        self.route = if height > 5.0 { Route::Air } else { Route::Road };
    }

    /// Sends height and route in one number of two bytes, and nothing for a size of height zero.
    #[net_serialize]
    fn net_serialize(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
        if archive.is_saving() && self.height == 0.0 {
            return (false, true);
        }
        let mut packed = (self.height * 10.0) as u16 * 2 + u16::from(self.route == Route::Air);
        archive.number(&mut packed);
        self.height = f64::from(packed / 2) / 10.0;
        self.route = if packed % 2 == 1 { Route::Air } else { Route::Road };
        assert!(self.weight != 77, "broken on purpose: net_serialize");
        (true, self.weight != 99)
    }
}

#[ustruct]
impl Parcel {
    /// Creates a parcel for a recipient, with a size of this height.
    #[constructor]
    pub fn addressed(value: Borrowed<'_, Self>, to: &str, height: f64) {
        value.set_to(to);
        value.set_size(Size::tall(height));
    }
}

/// Reference that is sent together with the name of the object.
#[ustruct(package = "Game")]
pub struct Label {
    /// Sender.
    sender: Obj<Object>,
    /// Message.
    words: UString,
    /// Number that is not sent.
    secret: u32,
}

#[ustruct]
impl Label {
    /// Sends all fields except `secret`.
    #[net_serialize]
    fn sent(value: Borrowed<'_, Self>, archive: &mut NetArchive, map: &mut NetMap) -> (bool, bool) {
        let (mut sender, mut words) = (value.sender(), value.words().to_string());
        map.object(archive, &mut sender);
        archive.text(&mut words);
        if archive.is_loading() && !archive.has_failed() {
            value.set_sender(sender);
            value.set_words(words.as_str());
        }
        (true, !words.is_empty())
    }
}

/// A location.
#[cfg(not(any(feature = "moved", feature = "flags")))]
#[ustruct(package = "Game")]
pub struct Spot {
    /// Name of the location.
    #[uproperty(default = "here")]
    name: UString,
    /// Recorded numbers.
    numbers: UArray<u32>,
}

/// A location with flags.
#[cfg(all(feature = "flags", not(feature = "moved")))]
#[ustruct(package = "Game")]
pub struct Spot {
    /// Name of the location.
    #[uproperty(default = "here")]
    name: UString,
    /// A flag for each visit.
    numbers: UArray<bool>,
}

/// Location on a level.
#[cfg(not(feature = "moved"))]
#[ustruct(package = "Game", base = Spot)]
pub struct Shelf {
    /// Number of the level, counted from below.
    #[uproperty(default = 2)]
    level: u8,
    /// Height.
    height: f64,
}

/// Location with a level, in a later build.
#[cfg(feature = "moved")]
#[ustruct(package = "Game")]
pub struct Spot {
    /// Name of the location.
    #[uproperty(default = "here")]
    name: UString,
    /// Recorded numbers.
    numbers: UArray<u32>,
    /// Number of the level, counted from below.
    #[uproperty(default = 2)]
    level: u8,
}

/// Location with a height, in a later build.
#[cfg(feature = "moved")]
#[ustruct(package = "Game", base = Spot)]
pub struct Shelf {
    /// Height.
    height: f64,
}

/// Struct at the end of a chain of three.
#[ustruct(package = "Game", base = Shelf)]
pub struct Drawer {
    /// Set if the drawer is open.
    is_open: bool,
}

// Struct of the host, written by `alcedo glue`.
#[cfg(all(feature = "foreign", not(feature = "stale")))]
mod place;
#[cfg(all(feature = "foreign", not(feature = "stale")))]
use place::Place;

/// Outdated declaration of the host's struct, written by hand.
#[cfg(feature = "stale")]
#[ustruct(imported, package = "Test", base = Spot)]
pub struct Place {
    /// Horizontal coordinate.
    x: f64,
}

/// Struct that extends a struct of the host.
#[cfg(all(feature = "foreign", not(feature = "seen")))]
#[ustruct(package = "Game", base = Place)]
pub struct Address {
    /// Name of the street.
    street: UString,
}

/// Class with a property of the host's struct.
#[cfg(feature = "seen")]
#[uclass(package = "Game")]
pub struct Mark {
    /// Location.
    #[uproperty]
    place: Place,
}

/// Class with a property of the extended struct.
#[cfg(all(feature = "foreign", not(feature = "seen")))]
#[uclass(package = "Game")]
pub struct Letterbox {
    /// Location with a name.
    #[uproperty]
    address: Address,
}

#[cfg(all(feature = "foreign", not(feature = "seen")))]
#[uclass]
impl Letterbox {
    /// Moves the letterbox; returns the new coordinate.
    #[ufunction]
    fn shove(&self, this: This<Self>, by: f64) -> f64 {
        let address = this.address();
        let place = address.base();
        address.set_base(Place { x: place.x + by });
        this.address().base().x
    }
}

/// Store of parcels.
#[uclass(package = "Game")]
pub struct Depot {
    /// Next parcel to send.
    #[uproperty]
    next: Parcel,
    /// Size with a default that this class declares.
    #[uproperty(default = (weight = 9, route = "Air"))]
    large: Size,
    /// Sizes of all parcels.
    #[uproperty]
    sizes: UArray<Size>,
    /// Location of the parcels.
    #[uproperty]
    drawer: Drawer,
    /// Label of the next parcel.
    #[uproperty]
    label: Label,
}

#[uclass]
impl Depot {
    /// Formats default values created by Rust code.
    #[ufunction]
    fn made(&self, this: This<Self>) -> String {
        let parcel = Parcel::default();
        let parcel = this.open(&parcel);
        let (size, shipment) = (Size::default(), Shipment::default());
        format!("{size:?} | {} {:?} {:?} | {shipment:?}", parcel.to(), parcel.size(), parcel.inner())
    }

    /// Sets the name of the drawer and appends a number.
    #[ufunction]
    fn note(&self, this: This<Self>, name: String, number: u32) -> String {
        let drawer = this.drawer();
        drawer.set_is_open(true);
        drawer.base().set_height(1.5);
        let spot = drawer.base().base();
        spot.set_name(name.as_str());
        #[cfg(not(feature = "flags"))]
        spot.numbers().push(number);
        #[cfg(feature = "flags")]
        spot.numbers().push(number != 0);
        let text = format!("{} {} {}", spot.name(), spot.numbers(), drawer.base().height());
        text
    }

    /// Sends a parcel; returns it, with the previous size as an out parameter.
    #[ufunction]
    fn send(&self, this: This<Self>, parcel: Parcel, size: &mut Size) -> Result<Parcel, CallError> {
        *size = this.next().size();
        this.set_next(parcel.clone());
        Ok(parcel)
    }

    /// Formats values created by constructors; fields that no constructor sets have their defaults.
    #[ufunction]
    fn constructed(&self, this: This<Self>) -> String {
        let parcel = Parcel::addressed("me", 6.0);
        let parcel = this.open(&parcel);
        format!("{} {:?} {:?} | {:?}", parcel.to(), parcel.size(), parcel.inner(), Size::tall(1.0))
    }

    /// Formats a size.
    #[ufunction]
    fn format_size(&self, size: Size) -> String {
        format!("{size:?}")
    }
}
