//! Structs whose fields say what they begin as: in objects, containers and parameters, and in Rust.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

mod carriers;
mod crates;

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

#[ustruct]
impl Size {
    /// One of that height, which goes by air if it is tall.
    #[constructor]
    fn tall(&mut self, height: f64) {
        self.height = height;
        self.way = if height > 5.0 { Way::Air } else { Way::Road };
    }

    /// How many bytes of it another machine gets: a number without sign, and the way in one bit of it. Nothing of a flat one.
    #[net_serialize]
    fn net_serialize(&mut self, archive: &mut NetArchive, _map: &mut NetMap) -> (bool, bool) {
        if archive.is_saving() && self.height == 0.0 {
            return (false, true);
        }
        let mut packed = (self.height * 10.0) as u16 * 2 + u16::from(self.way == Way::Air);
        archive.number(&mut packed);
        self.height = f64::from(packed / 2) / 10.0;
        self.way = if packed % 2 == 1 { Way::Air } else { Way::Road };
        assert!(self.weight != 77, "broken on purpose: net_serialize");
        (true, self.weight != 99)
    }
}

#[ustruct]
impl Parcel {
    /// One to somebody, of that height.
    #[constructor]
    pub fn addressed(value: Lent<'_, Self>, to: &str, height: f64) {
        value.set_to(to);
        value.set_size(Size::tall(height));
    }
}

/// A reference that another machine gets with the name of the object.
#[ustruct(package = "Game")]
pub struct Label {
    /// Who sends it.
    sender: Obj<Object>,
    /// What is said.
    words: UString,
    /// It stays here.
    secret: u32,
}

#[ustruct]
impl Label {
    /// All but the secret.
    #[net_serialize]
    fn sent(value: Lent<'_, Self>, archive: &mut NetArchive, map: &mut NetMap) -> (bool, bool) {
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

/// Where something is.
#[cfg(not(any(feature = "moved", feature = "flags")))]
#[ustruct(package = "Game")]
pub struct Spot {
    /// What it is called.
    #[uproperty(default = "here")]
    name: UString,
    /// What was there.
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

/// Where something is, on a level.
#[cfg(not(feature = "moved"))]
#[ustruct(package = "Game", base = Spot)]
pub struct Shelf {
    /// Which it is from below.
    #[uproperty(default = 2)]
    level: u8,
    /// How high it is.
    height: f64,
}

/// Where something is, on a level.
#[cfg(feature = "moved")]
#[ustruct(package = "Game")]
pub struct Spot {
    /// What it is called.
    #[uproperty(default = "here")]
    name: UString,
    /// What was there.
    numbers: UArray<u32>,
    /// Which it is from below.
    #[uproperty(default = 2)]
    level: u8,
}

/// Where something is, with a height.
#[cfg(feature = "moved")]
#[ustruct(package = "Game", base = Spot)]
pub struct Shelf {
    /// How high it is.
    height: f64,
}

/// A struct that extends one that extends another.
#[ustruct(package = "Game", base = Shelf)]
pub struct Drawer {
    /// Whether it is open.
    is_open: bool,
}

// A place, as the host has it: what `alcedo glue` writes.
#[cfg(all(feature = "foreign", not(feature = "stale")))]
mod place;
#[cfg(all(feature = "foreign", not(feature = "stale")))]
use place::Place;

/// A place, as no host has it, so written by hand.
#[cfg(feature = "stale")]
#[ustruct(imported, package = "Test", base = Spot)]
pub struct Place {
    /// Across.
    x: f64,
}

/// A place with a name.
#[cfg(all(feature = "foreign", not(feature = "seen")))]
#[ustruct(package = "Game", base = Place)]
pub struct Address {
    /// Its name.
    street: UString,
}

/// Where letters go.
#[cfg(feature = "seen")]
#[uclass(package = "Game")]
pub struct Mark {
    /// Its place.
    #[uproperty]
    place: Place,
}

/// Where letters go.
#[cfg(all(feature = "foreign", not(feature = "seen")))]
#[uclass(package = "Game")]
pub struct Letterbox {
    /// Its place.
    #[uproperty]
    address: Address,
}

#[cfg(all(feature = "foreign", not(feature = "seen")))]
#[uclass]
impl Letterbox {
    /// Moves it.
    #[ufunction]
    fn shove(&self, this: This<Self>, by: f64) -> f64 {
        let address = this.address();
        let place = address.base();
        address.set_base(Place { x: place.x + by });
        this.address().base().x
    }
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
    /// Where they are put.
    #[uproperty]
    drawer: Drawer,
    /// What stands on the next one.
    #[uproperty]
    label: Label,
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

    /// Names the place, and notes a number there.
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

    /// Sends what is next, and has that next; what was next comes back by its size.
    #[ufunction]
    fn send(&self, this: This<Self>, parcel: Parcel, size: &mut Size) -> Result<Parcel, CallError> {
        *size = this.next().size();
        this.set_next(parcel.clone());
        Ok(parcel)
    }

    /// What constructors make: the rest begins as it does.
    #[ufunction]
    fn constructed(&self, this: This<Self>) -> String {
        let parcel = Parcel::addressed("me", 6.0);
        let parcel = this.open(&parcel);
        format!("{} {:?} {:?} | {:?}", parcel.to(), parcel.size(), parcel.inner(), Size::tall(1.0))
    }

    /// What it is told of a size.
    #[ufunction]
    fn told(&self, size: Size) -> String {
        format!("{size:?}")
    }
}
