// Declarations of the module `lamps_plus` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

host_class! {
    /// Another thing that gives light. It tells the room that somebody comes with it.
    pub Candle: Object = "/Script/Game.Candle", members CandleMembers, extends [Candle, Object];
    properties {
        /// Where it burns.
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
    /// Keeps one share for itself.
    pub Miser: super::lamps::Splitter = "/Script/Game.Miser", members MiserMembers, extends [Miser, super::lamps::Splitter];
    properties {}
    values {}
    delegates {}
    functions {
        /// Has another one split, of whatever class.
        ask "ask"(other: Obj<super::lamps::Splitter>, watts: u32) -> String;
    }
    dynamic {}
}

host_class! {
    /// Takes a fall of the current off a reserve first.
    pub SafeFuse: super::lamps::SlowFuse = "/Script/Game.SafeFuse", members SafeFuseMembers, extends [SafeFuse, super::lamps::SlowFuse];
    properties {
        /// Current that is left.
        reserve / set_reserve "reserve": f64;
    }
    values {}
    delegates {}
    functions {
        /// Returns what was taken off the reserve.
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
        /// Has another lamp ask this one before it flickers.
        watch_over "watch_over"(other: Obj<super::lamps::Lamp>) -> ();
        /// What it answers.
        watched "watched"(times: u32) -> u32;
        /// Asks a class of another module for what needs no object of it.
        lumens_of "lumens_of"(bulb: Obj<super::lamps::Bulb>, watts: u32) -> f64;
        /// Makes another lamp darker, and says what came of it.
        dim_other "dim_other"(other: Obj<super::lamps::Lamp>, by: f64) -> String;
    }
    dynamic {}
}
