// Declarations of the module `parcels` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Engine=alcedo_engine

use alcedo::host::*;

/// Route of transport.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Route {
    /// By road.
    #[default]
    Road = 0,
    /// By air.
    Air = 1,
}

host_struct! {
    /// Struct at the end of a chain of three.
    pub struct Drawer in "/Script/Game.Drawer" {
        /// Name of the location.
        pub name "name": String,
        /// Recorded numbers.
        pub numbers "numbers": Vec<u32>,
        /// Number of the level, counted from below.
        pub level "level": u8,
        /// Height.
        pub height "height": f64,
        /// Set if the drawer is open.
        pub is_open "is_open": bool,
    }
}

host_struct! {
    /// Reference that is sent together with the name of the object.
    pub struct Label in "/Script/Game.Label" {
        /// Sender.
        pub sender "sender": Obj<Object>,
        /// Message.
        pub words "words": String,
        /// Number that is not sent.
        pub secret "secret": u32,
    }
}

host_struct! {
    /// Pallet with one parcel.
    pub struct Pallet in "/Script/Game.Pallet" {
        /// Size of the parcel, tall and by road.
        pub size "size": Size,
    }
}

host_struct! {
    /// Sent parcel: a struct that is used in place.
    pub struct Parcel in "/Script/Game.Parcel" {
        /// Recipient.
        pub to "to": String,
        /// Outer size, taller by default.
        pub size "size": Size,
        /// Inner size with the defaults of `Size`.
        pub inner "inner": Size,
    }
}

host_struct! {
    /// Location on a level.
    pub struct Shelf in "/Script/Game.Shelf" {
        /// Name of the location.
        pub name "name": String,
        /// Recorded numbers.
        pub numbers "numbers": Vec<u32>,
        /// Number of the level, counted from below.
        pub level "level": u8,
        /// Height.
        pub height "height": f64,
    }
}

host_struct! {
    /// Shipment of a heavy parcel.
    pub struct Shipment in "/Script/Game.Shipment" {
        /// Pallet, whose parcel starts with the defaults of `Size`.
        pub pallet "pallet": Pallet,
    }
}

host_struct! {
    /// Size of a parcel.
    pub struct Size in "/Script/Game.Size" {
        /// Height.
        pub height "height": f64,
        /// Width; negative if unknown.
        pub width "width": i32,
        /// Route of transport.
        pub route "route": Route,
        /// Weight, without a declared default.
        pub weight "weight": u8,
    }
}

host_struct! {
    /// A location.
    pub struct Spot in "/Script/Game.Spot" {
        /// Name of the location.
        pub name "name": String,
        /// Recorded numbers.
        pub numbers "numbers": Vec<u32>,
    }
}

host_class! {
    /// Abstract carrier of parcels.
    pub Carrier: Object = "/Script/Game.Carrier", members CarrierMembers, extends [Carrier, Object];
    properties {
        /// Capacity of the carrier.
        room / set_room "room": u32;
    }
    values {}
    delegates {}
    functions {
        /// Spawns an object of this class, which fails because the class is abstract.
        plain "plain"() -> String;
        /// Returns the price.
        price "price"(parcels: u32) -> u32;
    }
    dynamic {}
}

host_class! {
    /// A box with a lid.
    pub Crate: Object = "/Script/Game.Crate", members CrateMembers, extends [Crate, Object];
    properties {
        /// Number of contents.
        count / set_count "count": u32;
        /// Route of transport.
        route / set_route "route": Route;
        /// Lid of the crate.
        lid / set_lid "lid": Obj<Lid>;
        /// Sticker on the crate.
        sticker / set_sticker "sticker": Obj<Sticker>;
    }
    values {}
    delegates {}
    functions {
        /// Spawns a sticker in this crate; also tries to spawn one without an outer object.
        stick "stick"() -> String;
    }
    dynamic {}
}

host_class! {
    /// Store of parcels.
    pub Depot: Object = "/Script/Game.Depot", members DepotMembers, extends [Depot, Object];
    properties {
        /// Next parcel to send.
        next / set_next "next": Parcel;
        /// Size with a default that this class declares.
        large / set_large "large": Size;
        /// Sizes of all parcels.
        sizes / set_sizes "sizes": Vec<Size>;
        /// Location of the parcels.
        drawer / set_drawer "drawer": Drawer;
        /// Label of the next parcel.
        label / set_label "label": Label;
    }
    values {}
    delegates {}
    functions {
        /// Formats default values created by Rust code.
        made "made"() -> String;
        /// Sets the name of the drawer and appends a number.
        note "note"(name: String, number: u32) -> String;
        /// Sends a parcel; returns it, with the previous size as an out parameter.
        send "send"(parcel: Parcel, size out: Size) -> Parcel;
        /// Formats values created by constructors; fields that no constructor sets have their defaults.
        constructed "constructed"() -> String;
        /// Formats a size.
        format_size "format_size"(size: Size) -> String;
    }
    dynamic {}
}

host_class! {
    /// Lid of a crate.
    pub Lid: Object = "/Script/Game.Lid", members LidMembers, extends [Lid, Object];
    properties {
        /// Weight in kilograms.
        weight / set_weight "weight": f64;
        /// Size of the lid.
        size / set_size "size": Size;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// Contextual class, which needs an outer object.
    pub Sticker: Object = "/Script/Game.Sticker", members StickerMembers, extends [Sticker, Object];
    properties {
        /// Printed text.
        text / set_text "text": String;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// A large box with a lock.
    pub BigCrate: Crate = "/Script/Game.BigCrate", members BigCrateMembers, extends [BigCrate, Crate, Object];
    properties {
        /// Material.
        wood / set_wood "wood": String;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// Concrete carrier.
    pub Cart: Carrier = "/Script/Game.Cart", members CartMembers, extends [Cart, Carrier, Object];
    properties {}
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// A sticker with a color.
    pub ColorSticker: Sticker = "/Script/Game.ColorSticker", members ColorStickerMembers, extends [ColorSticker, Sticker, Object];
    properties {
        /// Color of the sticker.
        color / set_color "color": u32;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// A lid with a lock.
    pub LockedLid: Lid = "/Script/Game.LockedLid", members LockedLidMembers, extends [LockedLid, Lid, Object];
    properties {
        /// Number of digits of the lock.
        digits / set_digits "digits": u8;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// The largest box.
    pub HugeCrate: BigCrate = "/Script/Game.HugeCrate", members HugeCrateMembers, extends [HugeCrate, BigCrate, Crate, Object];
    properties {}
    values {}
    delegates {}
    functions {}
    dynamic {}
}
