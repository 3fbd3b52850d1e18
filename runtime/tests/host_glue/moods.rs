// Declarations of the module `moods` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Engine=alcedo_engine

use alcedo::host::*;

/// Enum of type `i64`.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i64)]
pub enum Far {
    /// Zero.
    #[default]
    Here = 0,
    /// Minimum.
    There = -9223372036854775808,
}

/// Enum of type `u64`.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
pub enum High {
    /// Zero.
    #[default]
    Down = 0,
    /// Maximum.
    Up = 18446744073709551615,
}

/// Mood of a person.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Neutral mood.
    #[default]
    Calm = 0,
    /// Bad mood.
    Angry = 1,
    /// Hidden entry.
    Lost = 9,
}

/// Rights of a person.
#[uenum(package = "Game", flags)]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Rights {
    /// May read.
    Read = 1,
    /// May write.
    Write = 2,
    /// All rights.
    All = 3,
}

host_class! {
    /// A person.
    pub Person: Object = "/Script/Game.Person", members PersonMembers, extends [Person, Object];
    properties {
        /// Current mood.
        mood / set_mood "mood": Mood;
        /// Current rights.
        rights / set_rights "rights": Rights;
        /// Former moods.
        history / set_history "history": Vec<Mood>;
        /// Number of occurrences of each mood.
        counts / set_counts "counts": HashMap<Mood, u32>;
        /// Signed property.
        far / set_far "far": Far;
        /// Unsigned property.
        high / set_high "high": High;
    }
    values {}
    delegates {}
    functions {
        /// Sets the mood, records it, and returns the previous one.
        feel "feel"(mood: Mood) -> Mood;
        /// Describes the properties, with a `match` over the mood.
        in_words "in_words"() -> String;
        /// Changes a mood and rights passed as out parameters.
        sway "sway"(mood out: Mood, rights out: Rights) -> Mood;
        /// Grants rights and returns all current rights.
        grant "grant"(rights: Rights) -> Rights;
    }
    dynamic {}
}
