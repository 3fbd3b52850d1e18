// Declarations of the module `parcels` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

/// How it goes.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Way {
    /// On wheels.
    #[default]
    Road = 0,
    /// With wings.
    Air = 1,
}

host_struct! {
    /// A struct that extends one that extends another.
    pub struct Drawer in "/Script/Game.Drawer" {
        /// What it is called.
        pub name "name": String,
        /// What was there.
        pub numbers "numbers": Vec<u32>,
        /// Which it is from below.
        pub level "level": u8,
        /// How high it is.
        pub height "height": f64,
        /// Whether it is open.
        pub is_open "is_open": bool,
    }
}

host_struct! {
    /// A reference that another machine gets with the name of the object.
    pub struct Label in "/Script/Game.Label" {
        /// Who sends it.
        pub sender "sender": Obj<Object>,
        /// What is said.
        pub words "words": String,
        /// It stays here.
        pub secret "secret": u32,
    }
}

host_struct! {
    /// What is sent: a struct that is used where it lies.
    pub struct Parcel in "/Script/Game.Parcel" {
        /// Who gets it.
        pub to "to": String,
        /// Taller than others.
        pub size "size": Size,
        /// As others.
        pub inner "inner": Size,
    }
}

host_struct! {
    /// Where something is, on a level.
    pub struct Shelf in "/Script/Game.Shelf" {
        /// What it is called.
        pub name "name": String,
        /// What was there.
        pub numbers "numbers": Vec<u32>,
        /// Which it is from below.
        pub level "level": u8,
        /// How high it is.
        pub height "height": f64,
    }
}

host_struct! {
    /// How large a parcel is.
    pub struct Size in "/Script/Game.Size" {
        /// Upwards.
        pub height "height": f64,
        /// To the side; nobody said so far.
        pub width "width": i32,
        /// How it goes.
        pub way "way": Way,
        /// It begins as nothing.
        pub weight "weight": u8,
    }
}

host_struct! {
    /// Where something is.
    pub struct Spot in "/Script/Game.Spot" {
        /// What it is called.
        pub name "name": String,
        /// What was there.
        pub numbers "numbers": Vec<u32>,
    }
}

host_class! {
    /// What moves parcels.
    pub Carrier: Object = "/Script/Game.Carrier", members CarrierMembers, extends [Carrier, Object];
    properties {
        /// What it takes.
        room / set_room "room": u32;
    }
    values {}
    delegates {}
    functions {
        /// Asks for one of the very class.
        plain "plain"() -> String;
        /// What it asks for.
        price "price"(parcels: u32) -> u32;
    }
    dynamic {}
}

host_class! {
    /// A box with a lid.
    pub Crate: Object = "/Script/Game.Crate", members CrateMembers, extends [Crate, Object];
    properties {
        /// How much is in it.
        count / set_count "count": u32;
        /// How it goes.
        way / set_way "way": Way;
        /// What closes it.
        lid / set_lid "lid": Obj<Lid>;
        /// What is on it.
        sticker / set_sticker "sticker": Obj<Sticker>;
    }
    values {}
    delegates {}
    functions {
        /// Puts another sticker on, into this.
        stick "stick"() -> String;
    }
    dynamic {}
}

host_class! {
    /// Where parcels are.
    pub Depot: Object = "/Script/Game.Depot", members DepotMembers, extends [Depot, Object];
    properties {
        /// The next to go.
        next / set_next "next": Parcel;
        /// One that the class wants larger.
        large / set_large "large": Size;
        /// What is there.
        sizes / set_sizes "sizes": Vec<Size>;
        /// Where they are put.
        drawer / set_drawer "drawer": Drawer;
        /// What stands on the next one.
        label / set_label "label": Label;
    }
    values {}
    delegates {}
    functions {
        /// What Rust code makes.
        made "made"() -> String;
        /// Names the place, and notes a number there.
        note "note"(name: String, number: u32) -> String;
        /// Sends what is next, and has that next; what was next comes back by its size.
        send "send"(parcel: Parcel, size out: Size) -> Parcel;
        /// What constructors make: the rest begins as it does.
        constructed "constructed"() -> String;
        /// What it is told of a size.
        told "told"(size: Size) -> String;
    }
    dynamic {}
}

host_class! {
    /// What closes a crate.
    pub Lid: Object = "/Script/Game.Lid", members LidMembers, extends [Lid, Object];
    properties {
        /// In kilograms.
        weight / set_weight "weight": f64;
        /// How large it is.
        size / set_size "size": Size;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// What is put into another thing: it is nothing by itself.
    pub Sticker: Object = "/Script/Game.Sticker", members StickerMembers, extends [Sticker, Object];
    properties {
        /// What it says.
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
        /// What it is made of.
        wood / set_wood "wood": String;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// One that is pulled.
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
        /// Which.
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
        /// What opens it.
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
