// Declarations of the module `lamps` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Engine=alcedo_engine

use alcedo::host::*;

host_class! {
    /// A bulb.
    pub Bulb: Object = "/Script/Game.Bulb", members BulbMembers, extends [Bulb, Object];
    properties {
        /// Power in watts.
        watts / set_watts "watts": u32;
    }
    values {}
    delegates {}
    functions {
        /// Static function that may fail.
        lumens "lumens"(watts: u32, per_watt: f64) -> f64;
        /// Blinks. Dynamic calls may omit the last two arguments.
        blink "blink"(color: String, times: u32, how: String) -> String;
        /// Event that only scripts implement.
        inspected "inspected"(by: String) -> u32;
        /// Calls the other functions of this class and returns the results.
        all "all"() -> String;
        /// Returns the number of calls of `blink`.
        reported "reported"() -> u32;
        /// Event with a default implementation.
        warm "warm"(seconds: f64) -> f64;
    }
    dynamic {
        /// Static function with a borrowed container.
        sum "sum";
    }
}

host_class! {
    /// Limits a current.
    pub Fuse: Object = "/Script/Game.Fuse", members FuseMembers, extends [Fuse, Object];
    properties {
        /// Current; zero after the fuse has blown.
        current / set_current "current": f64;
    }
    values {}
    delegates {}
    functions {
        /// Adds to the current and returns the new value.
        add_current "add_current"(more: f64) -> f64;
        /// Returns the number of changes.
        changes "changes"() -> u32;
        /// Returns the new current for a requested `current`.
        limit "limit"(current: f64) -> f64;
    }
    dynamic {}
}

host_class! {
    /// A lamp.
    pub Lamp: Object = "/Script/Game.Lamp", members LampMembers, extends [Lamp, Object];
    properties {
        /// Brightness of the lamp; zero when broken.
        brightness / set_brightness "brightness": f64;
    }
    values {}
    delegates {
        /// Called by `call_before`.
        before "before"(u32) -> u32;
    }
    functions {
        /// Returns the tag of this build.
        build_tag "build_tag"() -> u32;
        /// Reduces the brightness. Returns nothing or an error.
        dim "dim"(by: f64) -> ();
        /// Returns a name for the lamp, or an error.
        label "label"(expected: String) -> String;
        /// Returns an error that contains its line.
        exact "exact"() -> u32;
        /// Panics, which is not reported as a returned error.
        crash "crash"() -> u32;
        /// Returns an error whose message calls back into the module.
        curious "curious"() -> u32;
        /// Returns an error whose message panics.
        mute "mute"() -> u32;
        /// Flickers another lamp and returns its error unchanged.
        pass_on "pass_on"(other: Obj<Lamp>, times: u32) -> u32;
        /// Flickers this lamp through another lamp; returns the error of the innermost call.
        there_and_back "there_and_back"(other: Obj<Lamp>, times: u32) -> u32;
        /// Calls a function of this lamp and describes the kind of failure.
        judge "judge"(function: String) -> String;
        /// Calls the function that is bound to `before`.
        call_before "call_before"(times: u32) -> String;
        /// Binds `flicker` of this lamp to `before`.
        bind_own "bind_own"() -> ();
        /// Calls a host function.
        call_host "call_host"(name: String, number: u32) -> String;
        /// Returns the number of flickers.
        flickers "flickers"() -> u32;
        /// Flickers `times` times; returns the number of all flickers.
        flicker "flicker"(times: u32) -> u32;
        shine "shine"(how: f64) -> f64;
        color "color"() -> String;
    }
    dynamic {}
}

host_class! {
    /// Room whose light is an object of any class that implements `Shines`.
    pub Room: Object = "/Script/Game.Room", members RoomMembers, extends [Room, Object];
    properties {
        /// Light of the room.
        light / set_light "light": ScriptInterface;
    }
    values {}
    delegates {}
    functions {
        /// Replaces the light.
        put_up "put_up"(light: Obj<Object>) -> ();
        /// Lights the room; returns the color, the brightness and the number of visits during the call.
        light_up "light_up"(how: f64) -> String;
        /// Returns the color of an object that is not the light of the room.
        inspect "inspect"(object: Obj<Object>) -> String;
        /// Destroys the light and calls it once more.
        break_light "break_light"() -> f64;
        /// Counts a visit.
        enter "enter"() -> ();
    }
    dynamic {}
}

host_class! {
    /// Divides watts.
    pub Splitter: Object = "/Script/Game.Splitter", members SplitterMembers, extends [Splitter, Object];
    properties {
        /// Number of calls of `split`.
        splits / set_splits "splits": u32;
    }
    values {}
    delegates {}
    functions {
        /// Static function.
        twice "twice"(number out: f64) -> ();
        /// Changes an out parameter and panics.
        crash "crash"(number out: u32) -> ();
        /// Event without an implementation, which leaves its out parameter unchanged.
        inspected "inspected"(by out: String) -> u32;
        /// Calls the other functions of this class by type and by name.
        all "all"() -> String;
        /// Passes a value in place of an out parameter and vice versa; both calls must be refused.
        wrong "wrong"() -> String;
        /// Takes a plain value.
        splits_plus "splits_plus"(more: u32) -> u32;
    }
    dynamic {
        /// Out parameters of every kind.
        sorts "sorts";
        /// Returns the share of each consumer; the remainder and a log line are out parameters.
        split "split";
    }
}

host_class! {
    /// Slow-blow fuse.
    pub SlowFuse: Fuse = "/Script/Game.SlowFuse", members SlowFuseMembers, extends [SlowFuse, Fuse, Object];
    properties {}
    values {}
    delegates {}
    functions {}
    dynamic {}
}
