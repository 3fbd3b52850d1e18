//! Enums, plain and flags: as properties, elements, keys, parameters and results.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "moods" }

/// How somebody feels.
#[cfg(not(any(feature = "renumbered", feature = "imported")))]
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Nothing happened.
    Calm,
    /// Something did.
    #[umeta(display_name = "Very angry")]
    Angry,
    /// Nobody knows.
    #[umeta(hidden)]
    Lost = 9,
}

/// How somebody feels.
#[cfg(feature = "renumbered")]
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Mood {
    /// Something did, and more of it.
    Furious,
    /// Nothing happened.
    Calm = -300,
    /// Something did.
    Angry = 300,
}

// How somebody feels, by the words of the host: what `alcedo glue` writes.
#[cfg(all(feature = "imported", not(feature = "stale")))]
mod mood;
#[cfg(all(feature = "imported", not(feature = "stale")))]
use mood::Mood;

/// How somebody felt, by the words that the host had once: written by hand, as no host has them.
#[cfg(feature = "stale")]
#[uenum(imported, package = "Test")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Nothing happened.
    Calm,
    /// Something did.
    Angry = 5,
}

/// What somebody may do.
#[uenum(package = "Game", flags)]
#[derive(Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Rights {
    /// Look.
    Read = 1,
    /// Change.
    Write = 1 << 1,
    /// Everything.
    All = 3,
}

/// A number of each underlying type crosses.
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Far {
    /// Here.
    Here,
    /// There.
    There = -9_223_372_036_854_775_808,
}

/// A number of each underlying type crosses.
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum High {
    /// Down.
    Down,
    /// Up.
    Up = 18_446_744_073_709_551_615,
}

/// Somebody.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Person {
    /// How it feels.
    #[uproperty(edit_anywhere, default = "Angry")]
    mood: Mood,
    /// What it may do.
    #[uproperty(edit_anywhere, blueprint_read, enum_as_byte)]
    rights: Rights,
    /// How it felt.
    #[uproperty]
    history: UArray<Mood>,
    /// How often it felt so.
    #[uproperty]
    counts: UMap<Mood, u32>,
    /// Where it is.
    #[uproperty(default = "There")]
    far: Far,
    /// How high it is.
    #[uproperty(default = "Up")]
    high: High,
}

#[uclass]
impl Person {
    /// Feels that, remembers it, and gives what it felt before.
    #[ufunction(blueprint_callable)]
    fn feel(&self, this: This<Self>, mood: Mood) -> Mood {
        let before = this.mood();
        this.set_mood(mood);
        this.history().push(mood);
        let count = this.counts().get(mood).unwrap_or(0);
        this.counts().insert(mood, count + 1);
        before
    }

    /// In words, by a `match`.
    #[ufunction(blueprint_pure)]
    fn in_words(&self, this: This<Self>) -> String {
        #[allow(unreachable_patterns, reason = "another build has other moods")]
        let mood = match this.mood() {
            Mood::Calm => "calm",
            Mood::Angry => "angry",
            _ => "something else",
        };
        format!("{mood}, {:?}, {:?}", this.far(), this.high())
    }

    /// Another mood and other rights come back.
    #[ufunction]
    fn sway(&self, mood: &mut Mood, rights: &mut Rights) -> Mood {
        *rights = *rights | Rights::Write;
        std::mem::replace(mood, after(*mood))
    }

    /// Gives rights, and says which it has now.
    #[ufunction(blueprint_callable)]
    fn grant(&self, this: This<Self>, rights: Rights) -> Rights {
        this.set_rights(this.rights() | rights);
        assert!(this.rights().contains(rights));
        this.rights()
    }
}

/// The mood after that, by name.
#[zcall(ex = "moods.after")]
fn after(mood: Mood) -> Mood {
    if mood == Mood::Calm { Mood::Angry } else { Mood::Calm }
}
