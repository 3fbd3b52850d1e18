// Declarations of the module `lamps_plus` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Game=super::lamps

use alcedo::host::*;

host_class! {
    /// Source of light of this module, which calls `enter` of its room during `shine`.
    pub Candle: Object = "/Script/Game.Candle", members CandleMembers, extends [Candle, Object];
    properties {
        /// Room of the candle.
        room / set_room "room": Obj<Object>;
    }
    values {}
    delegates {}
    functions {
        shine "shine"(how: f64) -> f64;
        color "color"() -> String;
    }
    dynamic {}
}

host_class! {
    /// Owns a fuse.
    pub FuseBox: Object = "/Script/Game.FuseBox", members FuseBoxMembers, extends [FuseBox, Object];
    properties {
        /// The fuse of the box.
        fuse / set_fuse "fuse": Obj<SafeFuse>;
    }
    values {}
    delegates {}
    functions {}
    dynamic {}
}

host_class! {
    /// Splitter that keeps one share.
    pub Miser: super::lamps::Splitter = "/Script/Game.Miser", members MiserMembers, extends [Miser, super::lamps::Splitter];
    properties {}
    values {}
    delegates {}
    functions {
        /// Calls `split` of another splitter, which may have a derived class.
        query "query"(other: Obj<super::lamps::Splitter>, watts: u32) -> String;
    }
    dynamic {}
}

host_class! {
    /// Fuse that covers a drop of its current from a reserve.
    pub SafeFuse: super::lamps::SlowFuse = "/Script/Game.SafeFuse", members SafeFuseMembers, extends [SafeFuse, super::lamps::SlowFuse];
    properties {
        /// Remaining reserve.
        reserve / set_reserve "reserve": f64;
    }
    values {}
    delegates {}
    functions {
        /// Returns the total current taken from the reserve.
        absorbed "absorbed"() -> f64;
    }
    dynamic {}
}

host_class! {
    /// A lamp that flickers an even number of times.
    pub TwinLamp: super::lamps::Lamp = "/Script/Game.TwinLamp", members TwinLampMembers, extends [TwinLamp, super::lamps::Lamp];
    properties {}
    values {}
    delegates {}
    functions {
        /// Binds `watched` of this lamp to the `before` delegate of another lamp.
        watch_over "watch_over"(other: Obj<super::lamps::Lamp>) -> ();
        /// Returns a value that identifies this build.
        watched "watched"(times: u32) -> u32;
        /// Calls a static function of a class in another module.
        lumens_of "lumens_of"(bulb: Obj<super::lamps::Bulb>, watts: u32) -> f64;
        /// Dims another lamp and describes the outcome.
        dim_other "dim_other"(other: Obj<super::lamps::Lamp>, by: f64) -> String;
    }
    dynamic {}
}
