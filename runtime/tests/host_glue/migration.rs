// Declarations of the module `migration` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

plain_struct! {
    /// A width and a height.
    pub struct Form in "/Script/Game.Form" {
        /// From side to side.
        pub width: f32,
        /// From bottom to top.
        pub height: f32,
    }
}

host_class! {
    /// Goes up and down.
    pub Diver: alcedo_engine::Actor = "/Script/Game.Diver", members DiverMembers, extends [Diver, alcedo_engine::Actor];
    properties {
        /// How deep it is.
        depth / set_depth "depth": f64;
        /// Which class constructor it had last.
        constructed_as / set_constructed_as "constructed_as": String;
        /// What it wears, on every base.
        suit / set_suit "suit": Obj<alcedo_engine::SceneComponent>;
    }
    values {}
    delegates {}
    functions {
        /// It dives once more.
        dive "dive"() -> String;
        /// What is the plugin's own.
        own "own"() -> String;
    }
    dynamic {}
}

host_class! {
    /// An actor that comes and goes.
    pub Ghost: alcedo_engine::Actor = "/Script/Game.Ghost", members GhostMembers, extends [Ghost, alcedo_engine::Actor];
    properties {
        /// How cold it makes.
        chill / set_chill "chill": f64;
        /// What is seen of it.
        look / set_look "look": String;
        /// Whom it follows.
        haunts / set_haunts "haunts": Obj<alcedo_engine::Actor>;
        /// What it wears.
        sheet / set_sheet "sheet": Obj<alcedo_engine::SceneComponent>;
    }
    values {}
    delegates {}
    functions {
        /// Changes everything that is the plugin's own, and says what it is now.
        moan "moan"() -> String;
        /// What is the plugin's own.
        own "own"() -> String;
    }
    dynamic {}
}

host_class! {
    /// An actor of many shapes.
    pub Shapeshifter: alcedo_engine::Actor = "/Script/Game.Shapeshifter", members ShapeshifterMembers, extends [Shapeshifter, alcedo_engine::Actor];
    properties {
        /// Stays as it is.
        same / set_same "same": f64;
        /// Goes.
        removed / set_removed "removed": i32;
        /// Becomes an `i64`.
        widened / set_widened "widened": i32;
        /// Becomes an `i32`.
        narrowed / set_narrowed "narrowed": f64;
        /// Becomes a text.
        named / set_named "named": Name;
        /// Gets another default.
        speed / set_speed "speed": f64;
        /// Gets another default.
        color / set_color "color": String;
        /// A struct that stays as it is, with another default.
        home / set_home "home": alcedo_engine::Vector;
        /// A struct whose fields change.
        form / set_form "form": Form;
        /// A shapeshifter that this one knows.
        friend / set_friend "friend": Obj<Shapeshifter>;
        /// A part that stays.
        torso / set_torso "torso": Obj<alcedo_engine::SceneComponent>;
        /// A part that goes, and until then the root.
        tail / set_tail "tail": Obj<alcedo_engine::SceneComponent>;
    }
    values {}
    delegates {}
    functions {
        /// Changes everything that is the plugin's own, and says what it is now.
        shift "shift"() -> String;
        /// What is the plugin's own.
        own "own"() -> String;
    }
    dynamic {}
}

host_class! {
    /// A ghost that is seldom seen.
    pub Phantom: Ghost = "/Script/Game.Phantom", members PhantomMembers, extends [Phantom, Ghost, alcedo_engine::Actor];
    properties {
        /// How thick its veil is.
        veil / set_veil "veil": i32;
    }
    values {}
    delegates {}
    functions {
        /// It is seen once more.
        appear "appear"() -> u32;
    }
    dynamic {}
}
