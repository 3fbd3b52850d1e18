//! The names at first.

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

/// A place on the map.
#[ustruct(pod, package = "Game")]
#[derive(Debug, Default, PartialEq)]
pub struct Spot {
    /// To the east.
    pub east: f64,
}

/// Returns the answer to a greeting.
#[udelegate(single, package = "Game")]
pub type OnHail = fn() -> String;

/// Somebody who sells.
#[uclass(package = "Game")]
pub struct Merchant {
    /// In pounds.
    #[uproperty(default = 70)]
    weight: i32,
    /// Now.
    #[uproperty]
    mood: Mood,
    /// Before.
    #[uproperty]
    moods: UArray<Mood>,
    /// In the pocket.
    #[uproperty]
    purse: Purse,
    /// At home.
    #[uproperty]
    purses: UArray<Purse>,
    /// The stall.
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
    /// Counts regrets.
    #[keep]
    regrets: u32,
}

#[uclass]
impl Merchant {
    /// Regrets once more.
    #[ufunction]
    fn regret(&mut self) -> u32 {
        self.regrets += 1;
        self.regrets
    }

    /// Answers.
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
