//! Types of the plugin after the rename.

use alcedo_plugin_api::prelude::*;

/// The mood of a merchant.
#[uenum(package = "Game", was = "Mood")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Temper {
    /// Feels well.
    Calm,
    /// Feels bad.
    #[umeta(was = "Gone, Lost")]
    Furious = 5,
}

/// Coins of a merchant.
#[ustruct(package = "Game", was = "Purse")]
pub struct Wallet {
    /// Coins of gold.
    #[uproperty(default = 1, was = "gold")]
    coins: i32,
    /// Coins of silver.
    silver: i32,
}

/// A location on the map.
#[ustruct(pod, package = "Game", was = "Spot")]
#[derive(Debug, Default, PartialEq)]
pub struct Place {
    /// Eastern coordinate.
    #[uproperty(was = "east")]
    pub x: f64,
}

/// Delegate that returns the reply to a greeting.
#[udelegate(single, package = "Game")]
pub type OnHail = fn() -> String;

/// A merchant.
#[uclass(package = "Game", was = "Merchant")]
pub struct Trader {
    /// Weight in pounds.
    #[uproperty(default = 70, was = "weight")]
    mass: i32,
    /// Current mood.
    #[uproperty]
    mood: Temper,
    /// Former moods.
    #[uproperty]
    moods: UArray<Temper>,
    /// Purse in the pocket.
    #[uproperty]
    purse: Wallet,
    /// Purses at home.
    #[uproperty]
    purses: UArray<Wallet>,
    /// Location of the stall.
    #[uproperty]
    stall: Place,
    /// A friend.
    #[uproperty]
    friend: Obj<Trader>,
    /// The class of an heir.
    #[uproperty]
    calling: SubclassOf<Trader>,
    /// Answers a greeting.
    #[uproperty]
    on_hail: OnHail,
    /// Number of regrets.
    #[keep(was = "regrets")]
    sorrows: u32,
}

#[uclass]
impl Trader {
    /// Increments the counter.
    #[ufunction]
    fn regret(&mut self) -> u32 {
        self.sorrows += 1;
        self.sorrows
    }

    /// Returns a greeting.
    #[ufunction(was = "hail")]
    fn greet(&self, this: This<Self>) -> String {
        format!("greetings, {} pounds", this.mass())
    }
}

/// A merchant by night.
#[uclass(package = "Game", base = Trader, was = "Smuggler")]
pub struct Runner {
    /// Hidden goods.
    #[uproperty(default = 3)]
    hidden: i32,
}
