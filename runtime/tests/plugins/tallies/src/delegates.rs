// Declarations of the module `delegates` 0.1.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.

use alcedo_plugin_api::prelude::*;

/// Somebody scored.
#[udelegate(imported, multicast, package = "Game")]
pub type OnScored = fn(points: i32, by: Obj<Player>);

/// Whether somebody may score that much.
#[udelegate(imported, single, of = Player)]
pub type MayScore = fn(points: i32) -> bool;

/// Nobody scored.
#[udelegate(imported, sparse, of = Player)]
pub type OnQuiet = fn();

/// Somebody who hears of scores.
#[uclass(imported, package = "Game", base = Object)]
pub struct Listener {
    /// What it heard.
    #[uproperty]
    heard: UArray<String>,
    /// Who hears of it in its place.
    #[uproperty]
    next: Obj<Listener>,
}

#[uclass(imported)]
impl Listener {
    /// Binds itself to all that a player has.
    #[ufunction]
    fn follow(&self, player: Obj<Player>) -> Result<(), CallError>;
    /// Hears of a score.
    #[ufunction]
    fn hear(&self, points: i32, by: Obj<Player>) -> Result<(), CallError>;
    /// Hears that there was none.
    #[ufunction]
    fn hear_nothing(&self) -> Result<(), CallError>;
    /// Is asked before.
    #[ufunction]
    fn allow(&self, points: i32) -> bool;
    /// Hears of a score and panics.
    #[ufunction]
    fn burst(&self, points: i32, by: Obj<Player>);
    /// Hears of a score, goes, takes the next one out, and has the one after that hear of the next score.
    #[ufunction]
    fn pass_on(&self, points: i32, by: Obj<Player>) -> Result<(), CallError>;
}

/// Somebody who scores.
#[uclass(imported, package = "Game", base = Object)]
pub struct Player {
    /// Is told of each score.
    #[uproperty]
    on_scored: OnScored,
    /// Is asked before.
    #[uproperty]
    may_score: MayScore,
    /// Is told when there was none.
    #[uproperty]
    on_quiet: OnQuiet,
    /// Are all asked, too.
    #[uproperty]
    rules: UArray<MayScore>,
    /// How much there is.
    #[uproperty]
    score: i32,
}

#[uclass(imported)]
impl Player {
    /// Scores if it may, and tells everybody.
    #[ufunction]
    fn earn(&self, points: i32) -> Result<i32, CallError>;
    /// Asks that rule, and keeps it.
    #[ufunction]
    fn agree(&self, rule: MayScore, points: i32) -> Result<bool, CallError>;
}
