// Declarations of the module `lamps` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

host_class! {
    /// A bulb.
    pub Bulb: Object = "/Script/Game.Bulb", members BulbMembers, extends [Bulb, Object];
    properties {
        /// How many watts it takes.
        watts / set_watts "watts": u32;
    }
    values {}
    delegates {}
    functions {
        /// Needs no bulb.
        lumens "lumens"(watts: u32, per_watt: f64) -> f64;
        /// Blinks; a host that calls with values may leave the last two out.
        blink "blink"(color: String, times: u32, how: String) -> String;
        /// Somebody looks at it: a script may do something then.
        looked_at "looked_at"(by: String) -> u32;
        /// What all of these give to plugin code.
        all "all"() -> String;
        /// How often it was told something.
        told "told"() -> u32;
        /// An event with a default.
        warm "warm"(seconds: f64) -> f64;
    }
    dynamic {
        /// Needs none either, and takes what lies in the host.
        sum "sum";
    }
}

host_class! {
    /// Limits a current.
    pub Fuse: Object = "/Script/Game.Fuse", members FuseMembers, extends [Fuse, Object];
    properties {
        /// Zero after it has blown.
        current / set_current "current": f64;
    }
    values {}
    delegates {}
    functions {
        /// Adds to the current, and returns the new one.
        add_current "add_current"(more: f64) -> f64;
        /// Returns the number of changes.
        changes "changes"() -> u32;
        /// Returns what the current becomes instead of `current`.
        limit "limit"(current: f64) -> f64;
    }
    dynamic {}
}

host_class! {
    /// A lamp.
    pub Lamp: Object = "/Script/Game.Lamp", members LampMembers, extends [Lamp, Object];
    properties {
        /// How bright it is.
        brightness / set_brightness "brightness": f64;
    }
    values {}
    delegates {
        /// What is asked before it flickers.
        before "before"(u32) -> u32;
    }
    functions {
        /// Which build this is.
        build_tag "build_tag"() -> u32;
        /// Makes it darker. Nothing comes back but, sometimes, an error.
        dim "dim"(by: f64) -> ();
        /// A name for it, or an error.
        label "label"(wanted: String) -> String;
        /// Says at which line it gave up.
        exact "exact"() -> u32;
        /// Panics: that is no error that it gives back.
        crash "crash"() -> u32;
        /// An error whose words call back into the module.
        curious "curious"() -> u32;
        /// An error that panics when it is asked for its words.
        mute "mute"() -> u32;
        /// Has another lamp flicker, and gives its error on as what it is.
        pass_on "pass_on"(other: Obj<Lamp>, times: u32) -> u32;
        /// Has another lamp flicker, which has this one flicker: an error of the innermost call is this call's.
        there_and_back "there_and_back"(other: Obj<Lamp>, times: u32) -> u32;
        /// What kind of failure another lamp's function is.
        judge "judge"(function: String) -> String;
        /// Calls what is bound, in front of a flicker.
        ask_before "ask_before"(times: u32) -> String;
        /// Binds its own flicker.
        bind_own "bind_own"() -> ();
        /// Asks the host.
        ask_host "ask_host"(name: String, number: u32) -> String;
        /// How often it flickered.
        flickers "flickers"() -> u32;
        /// Flickers so many times; gives how often it did in its life.
        flicker "flicker"(times: u32) -> u32;
        shine "shine"(how: f64) -> f64;
        color "color"() -> String;
    }
    dynamic {}
}

host_class! {
    /// A room with one light, of whatever class.
    pub Room: Object = "/Script/Game.Room", members RoomMembers, extends [Room, Object];
    properties {
        /// What lights it.
        light / set_light "light": ScriptInterface;
    }
    values {}
    delegates {}
    functions {
        /// Puts another light up.
        put_up "put_up"(light: Obj<Object>) -> ();
        /// Lights it: the color, and how often somebody has come in meanwhile.
        light_up "light_up"(how: f64) -> String;
        /// What color an object has that is not put up.
        look_at "look_at"(object: Obj<Object>) -> String;
        /// Destroys what lights it, and calls it once more.
        break_light "break_light"() -> f64;
        /// Somebody comes in.
        enter "enter"() -> ();
    }
    dynamic {}
}

host_class! {
    /// Shares watts out.
    pub Splitter: Object = "/Script/Game.Splitter", members SplitterMembers, extends [Splitter, Object];
    properties {
        /// How often it was asked.
        asked / set_asked "asked": u32;
    }
    values {}
    delegates {}
    functions {
        /// Needs no object.
        twice "twice"(number out: f64) -> ();
        /// Panics when it has changed what was to come back.
        crash "crash"(number out: u32) -> ();
        /// An event without a body leaves what it is given.
        looked_at "looked_at"(by out: String) -> u32;
        /// All of these, called by type and by name.
        all "all"() -> String;
        /// Who gives a plain value where one comes back is refused, and the other way round.
        wrong "wrong"() -> String;
        /// Takes a plain value.
        asked_of "asked_of"(more: u32) -> u32;
    }
    dynamic {
        /// Every sort of value comes back.
        sorts "sorts";
        /// Gives what each of so many gets; the rest, and a line, come back.
        split "split";
    }
}

host_class! {
    /// Blows late.
    pub SlowFuse: Fuse = "/Script/Game.SlowFuse", members SlowFuseMembers, extends [SlowFuse, Fuse, Object];
    properties {}
    values {}
    delegates {}
    functions {}
    dynamic {}
}
