// Declarations of the module `delegates` 0.1.0 for plugins, written by `alcedo glue`.
// Run it again after a change of the module. Each load of a plugin compares every type, member and signature here with the module.

use alcedo_plugin_api::prelude::*;

/// Broadcast after a score.
#[udelegate(imported, multicast, package = "Game")]
pub type OnScored = fn(points: i32, by: Obj<Player>);

/// Returns true if a player may score `points`.
#[udelegate(imported, single, of = Player)]
pub type MayScore = fn(points: i32) -> bool;

/// Broadcast if no points were scored.
#[udelegate(imported, sparse, of = Player)]
pub type OnQuiet = fn();

/// Receives reports of scores.
#[uclass(imported, package = "Game", base = Object)]
pub struct Listener {
    /// Log of the received reports.
    #[uproperty]
    received: UArray<String>,
    /// Next listener in the chain of `pass_on`.
    #[uproperty]
    next: Obj<Listener>,
}

#[uclass(imported)]
impl Listener {
    /// Binds the functions of this listener to all delegates of a player.
    #[ufunction]
    fn follow(&self, player: Obj<Player>) -> Result<(), CallError>;
    /// Receives a score.
    #[ufunction]
    fn hear(&self, points: i32, by: Obj<Player>) -> Result<(), CallError>;
    /// Receives the report that no points were scored.
    #[ufunction]
    fn hear_nothing(&self) -> Result<(), CallError>;
    /// Called before each score.
    #[ufunction]
    fn allow(&self, points: i32) -> bool;
    /// Receives a score and panics.
    #[ufunction]
    fn burst(&self, points: i32, by: Obj<Player>);
    /// Receives a score, unbinds itself and the next listener, and binds the listener after that.
    #[ufunction]
    fn pass_on(&self, points: i32, by: Obj<Player>) -> Result<(), CallError>;
}

/// Scores points and reports them.
#[uclass(imported, package = "Game", base = Object)]
pub struct Player {
    /// Broadcast after each score.
    #[uproperty]
    on_scored: OnScored,
    /// Called before each score.
    #[uproperty]
    may_score: MayScore,
    /// Broadcast if no points were scored.
    #[uproperty]
    on_quiet: OnQuiet,
    /// Further rules, all called before each score.
    #[uproperty]
    rules: UArray<MayScore>,
    /// Points so far.
    #[uproperty]
    score: i32,
}

#[uclass(imported)]
impl Player {
    /// Scores if the rules allow it, and broadcasts the score.
    #[ufunction]
    fn earn(&self, points: i32) -> Result<i32, CallError>;
    /// Calls `rule` and stores it.
    #[ufunction]
    fn agree(&self, rule: Borrowed<MayScore>, points: i32) -> Result<bool, CallError>;
}
