// Declarations of the module `migration` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Engine=alcedo_engine

use alcedo::host::*;

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
    /// Dives and rises.
    pub Diver: alcedo_engine::Actor = "/Script/Game.Diver", members DiverMembers, extends [Diver, alcedo_engine::Actor];
    properties {
        /// Current depth.
        depth / set_depth "depth": f64;
        /// The class constructor that ran last.
        constructed_as / set_constructed_as "constructed_as": String;
        /// A default subobject that both declarations have.
        suit / set_suit "suit": Obj<alcedo_engine::SceneComponent>;
    }
    values {}
    delegates {}
    functions {
        /// Counts a dive.
        dive "dive"() -> String;
        /// Formats the fields of the plugin part.
        own "own"() -> String;
    }
    dynamic {}
}

host_class! {
    /// An actor whose class is removed and added again.
    pub Ghost: alcedo_engine::Actor = "/Script/Game.Ghost", members GhostMembers, extends [Ghost, alcedo_engine::Actor];
    properties {
        /// Temperature drop around the ghost.
        chill / set_chill "chill": f64;
        /// Appearance.
        look / set_look "look": String;
        /// Actor that the ghost follows.
        haunts / set_haunts "haunts": Obj<alcedo_engine::Actor>;
        /// A default subobject.
        sheet / set_sheet "sheet": Obj<alcedo_engine::SceneComponent>;
    }
    values {}
    delegates {}
    functions {
        /// Increments both fields of the plugin part, and returns them.
        moan "moan"() -> String;
        /// Formats the fields of the plugin part.
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
        /// Removed later.
        removed / set_removed "removed": i32;
        /// Becomes an `i64`.
        widened / set_widened "widened": i32;
        /// Becomes an `i32`.
        narrowed / set_narrowed "narrowed": f64;
        /// Becomes a string.
        named / set_named "named": Name;
        /// Gets another default.
        speed / set_speed "speed": f64;
        /// Gets another default.
        color / set_color "color": String;
        /// A struct whose declaration does not change. The default changes.
        home / set_home "home": alcedo_engine::Vector;
        /// A struct whose fields change.
        form / set_form "form": Form;
        /// A friend of this shapeshifter.
        friend / set_friend "friend": Obj<Shapeshifter>;
        /// A subobject that remains.
        torso / set_torso "torso": Obj<alcedo_engine::SceneComponent>;
        /// A subobject that is removed later, and until then the root.
        tail / set_tail "tail": Obj<alcedo_engine::SceneComponent>;
    }
    values {}
    delegates {}
    functions {
        /// Changes all fields of the plugin part, and returns them.
        shift "shift"() -> String;
        /// Formats the fields of the plugin part.
        own "own"() -> String;
    }
    dynamic {}
}

host_class! {
    /// A rare ghost.
    pub Phantom: Ghost = "/Script/Game.Phantom", members PhantomMembers, extends [Phantom, Ghost, alcedo_engine::Actor];
    properties {
        /// Thickness of its veil.
        veil / set_veil "veil": i32;
    }
    values {}
    delegates {}
    functions {
        /// Counts a sighting.
        appear "appear"() -> u32;
    }
    dynamic {}
}
