//! Enums, plain and with flags, as properties, elements, keys, parameters and results.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "moods" }

/// Mood of a person.
#[cfg(not(any(feature = "renumbered", feature = "imported")))]
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Neutral mood.
    Calm,
    /// Bad mood.
    #[umeta(display_name = "Very angry")]
    Angry,
    /// Hidden entry.
    #[umeta(hidden)]
    Lost = 9,
}

/// Mood of a person, in a later build.
#[cfg(feature = "renumbered")]
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum Mood {
    /// Worst mood.
    Furious,
    /// Neutral mood.
    Calm = -300,
    /// Bad mood.
    Angry = 300,
}

// Mood declared by the host, written by `alcedo glue`.
#[cfg(all(feature = "imported", not(feature = "stale")))]
mod mood;
#[cfg(all(feature = "imported", not(feature = "stale")))]
use mood::Mood;

/// Outdated declaration of the host's mood, written by hand.
#[cfg(feature = "stale")]
#[uenum(imported, package = "Test")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Neutral mood.
    Calm,
    /// Bad mood.
    Angry = 5,
}

/// Rights of a person.
#[uenum(package = "Game", flags)]
#[derive(Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Rights {
    /// May read.
    Read = 1,
    /// May write.
    Write = 1 << 1,
    /// All rights.
    All = 3,
}

/// Enum of type `i64`.
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum Far {
    /// Zero.
    Here,
    /// Minimum.
    There = -9_223_372_036_854_775_808,
}

/// Enum of type `u64`.
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum High {
    /// Zero.
    Down,
    /// Maximum.
    Up = 18_446_744_073_709_551_615,
}

/// A person.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Person {
    /// Current mood.
    #[uproperty(edit_anywhere, default = "Angry")]
    mood: Mood,
    /// Current rights.
    #[uproperty(edit_anywhere, blueprint_read, enum_as_byte)]
    rights: Rights,
    /// Former moods.
    #[uproperty]
    history: UArray<Mood>,
    /// Number of occurrences of each mood.
    #[uproperty]
    counts: UMap<Mood, u32>,
    /// Signed property.
    #[uproperty(default = "There")]
    far: Far,
    /// Unsigned property.
    #[uproperty(default = "Up")]
    high: High,
}

#[uclass]
impl Person {
    /// Sets the mood, records it, and returns the previous one.
    #[ufunction(blueprint_callable)]
    fn feel(&self, this: This<Self>, mood: Mood) -> Mood {
        let before = this.mood();
        this.set_mood(mood);
        this.history().push(mood);
        let count = this.counts().get(mood).unwrap_or(0);
        this.counts().insert(mood, count + 1);
        before
    }

    /// Describes the properties, with a `match` over the mood.
    #[ufunction(blueprint_pure)]
    fn in_words(&self, this: This<Self>) -> String {
        #[allow(unreachable_patterns, reason = "another build declares other moods")]
        let mood = match this.mood() {
            Mood::Calm => "calm",
            Mood::Angry => "angry",
            _ => "something else",
        };
        format!("{mood}, {:?}, {:?}", this.far(), this.high())
    }

    /// Changes a mood and rights passed as out parameters.
    #[ufunction]
    fn sway(&self, mood: &mut Mood, rights: &mut Rights) -> Mood {
        *rights = *rights | Rights::Write;
        std::mem::replace(mood, after(*mood))
    }

    /// Grants rights and returns all current rights.
    #[ufunction(blueprint_callable)]
    fn grant(&self, this: This<Self>, rights: Rights) -> Rights {
        this.set_rights(this.rights() | rights);
        assert!(this.rights().contains(rights));
        this.rights()
    }
}

/// Returns the next mood: `ex:/moods.after`.
#[zcall(ex = "moods.after")]
fn after(mood: Mood) -> Mood {
    if mood == Mood::Calm { Mood::Angry } else { Mood::Calm }
}
