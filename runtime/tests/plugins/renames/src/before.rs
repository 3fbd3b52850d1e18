//! Types of the plugin before the rename.

use alcedo_plugin_api::prelude::*;

/// The mood of a merchant.
#[uenum(package = "Game")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mood {
    /// Feels well.
    Calm,
    /// Feels bad.
    Lost,
}

/// Coins of a merchant.
#[ustruct(package = "Game")]
pub struct Purse {
    /// Coins of gold.
    #[uproperty(default = 1)]
    gold: i32,
    /// Coins of silver.
    silver: i32,
}

/// A location on the map.
#[ustruct(pod, package = "Game")]
#[derive(Debug, Default, PartialEq)]
pub struct Spot {
    /// Eastern coordinate.
    pub east: f64,
}

/// Delegate that returns the reply to a greeting.
#[udelegate(single, package = "Game")]
pub type OnHail = fn() -> String;

/// A merchant.
#[uclass(package = "Game")]
pub struct Merchant {
    /// Weight in pounds.
    #[uproperty(default = 70)]
    weight: i32,
    /// Current mood.
    #[uproperty]
    mood: Mood,
    /// Former moods.
    #[uproperty]
    moods: UArray<Mood>,
    /// Purse in the pocket.
    #[uproperty]
    purse: Purse,
    /// Purses at home.
    #[uproperty]
    purses: UArray<Purse>,
    /// Location of the stall.
    #[uproperty]
    stall: Spot,
    /// A friend.
    #[uproperty]
    friend: Obj<Merchant>,
    /// The class of an heir.
    #[uproperty]
    calling: SubclassOf<Merchant>,
    /// Answers a greeting.
    #[uproperty]
    on_hail: OnHail,
    /// Number of regrets.
    #[keep]
    regrets: u32,
}

#[uclass]
impl Merchant {
    /// Increments the counter.
    #[ufunction]
    fn regret(&mut self) -> u32 {
        self.regrets += 1;
        self.regrets
    }

    /// Returns a greeting.
    #[ufunction]
    fn hail(&self, this: This<Self>) -> String {
        format!("hail, {} pounds", this.weight())
    }
}

/// A merchant by night.
#[uclass(package = "Game", base = Merchant)]
pub struct Smuggler {
    /// Hidden goods.
    #[uproperty(default = 3)]
    hidden: i32,
}
