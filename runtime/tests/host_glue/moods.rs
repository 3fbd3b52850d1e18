// Declarations of the module `moods` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

/// A number of each underlying type crosses.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i64)]
pub enum Far {
    /// Here.
    #[default]
    Here = 0,
    /// There.
    There = -9223372036854775808,
}

/// A number of each underlying type crosses.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
pub enum High {
    /// Down.
    #[default]
    Down = 0,
    /// Up.
    Up = 18446744073709551615,
}

/// How somebody feels.
#[uenum(package = "Game")]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Nothing happened.
    #[default]
    Calm = 0,
    /// Something did.
    Angry = 1,
    /// Nobody knows.
    Lost = 9,
}

/// What somebody may do.
#[uenum(package = "Game", flags)]
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Rights {
    /// Look.
    Read = 1,
    /// Change.
    Write = 2,
    /// Everything.
    All = 3,
}

host_class! {
    /// Somebody.
    pub Person: Object = "/Script/Game.Person", members PersonMembers, extends [Person, Object];
    properties {
        /// How it feels.
        mood / set_mood "mood": Mood;
        /// What it may do.
        rights / set_rights "rights": Rights;
        /// How it felt.
        history / set_history "history": Vec<Mood>;
        /// How often it felt so.
        counts / set_counts "counts": HashMap<Mood, u32>;
        /// Where it is.
        far / set_far "far": Far;
        /// How high it is.
        high / set_high "high": High;
    }
    values {}
    delegates {}
    functions {
        /// Feels that, remembers it, and gives what it felt before.
        feel "feel"(mood: Mood) -> Mood;
        /// In words, by a `match`.
        in_words "in_words"() -> String;
        /// Another mood and other rights come back.
        sway "sway"(mood out: Mood, rights out: Rights) -> Mood;
        /// Gives rights, and says which it has now.
        grant "grant"(rights: Rights) -> Rights;
    }
    dynamic {}
}
