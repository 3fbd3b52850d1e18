//! The names later.

use alcedo_plugin_api::prelude::*;

/// How somebody feels.
#[uenum(package = "Game", was = "Mood")]
#[derive(Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Temper {
    /// Nothing happened.
    Calm,
    /// Nobody knows.
    #[umeta(was = "Gone, Lost")]
    Furious = 5,
}

/// What somebody owns.
#[ustruct(package = "Game", was = "Purse")]
pub struct Wallet {
    /// Coins of gold.
    #[uproperty(default = 1, was = "gold")]
    coins: i32,
    /// Coins of silver.
    silver: i32,
}

/// A place on the map.
#[ustruct(pod, package = "Game", was = "Spot")]
#[derive(Debug, Default, PartialEq)]
pub struct Place {
    /// To the east.
    #[uproperty(was = "east")]
    pub x: f64,
}

/// Calls back when somebody is greeted.
#[udelegate(single, package = "Game")]
pub type OnHail = fn() -> String;

/// Somebody who sells.
#[uclass(package = "Game", was = "Merchant")]
pub struct Trader {
    /// In pounds.
    #[uproperty(default = 70, was = "weight")]
    mass: i32,
    /// Now.
    #[uproperty]
    mood: Temper,
    /// Before.
    #[uproperty]
    moods: UArray<Temper>,
    /// In the pocket.
    #[uproperty]
    purse: Wallet,
    /// At home.
    #[uproperty]
    purses: UArray<Wallet>,
    /// The stall.
    #[uproperty]
    stall: Place,
    /// Another one.
    #[uproperty]
    friend: Obj<Trader>,
    /// What children are to be.
    #[uproperty]
    calling: SubclassOf<Trader>,
    /// What answers.
    #[uproperty]
    on_hail: OnHail,
    /// How often something was regretted.
    #[keep(was = "regrets")]
    sorrows: u32,
}

#[uclass]
impl Trader {
    /// Regrets once more.
    #[ufunction]
    fn regret(&mut self) -> u32 {
        self.sorrows += 1;
        self.sorrows
    }

    /// Answers.
    #[ufunction(was = "hail")]
    fn greet(&self, this: This<Self>) -> String {
        format!("greetings, {} pounds", this.mass())
    }
}

/// A merchant by night.
#[uclass(package = "Game", base = Trader, was = "Smuggler")]
pub struct Runner {
    /// What nobody finds.
    #[uproperty(default = 3)]
    hidden: i32,
}
