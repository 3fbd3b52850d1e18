//! Delegates by name, as properties, elements and parameters: bound, called, and rebound while they are called.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "delegates" }

/// Somebody scored.
#[cfg(not(feature = "widened"))]
#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32, by: Obj<Player>);

/// Somebody scored, maybe twice.
#[cfg(feature = "widened")]
#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32, by: Obj<Player>, twice: bool);

/// Whether somebody may score that much.
#[udelegate(single, of = Player)]
pub type MayScore = fn(points: i32) -> bool;

/// Nobody scored.
#[udelegate(sparse, of = Player)]
pub type OnQuiet = fn();

/// Somebody who scores.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
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

#[uclass]
impl Player {
    /// Scores if it may, and tells everybody.
    #[ufunction(blueprint_callable)]
    fn earn(&self, this: This<Self>, points: i32) -> Result<i32, CallError> {
        let mut may = !this.may_score().is_bound() || this.may_score().call((points,))?;
        for rule in this.rules().iter() {
            may &= rule.call((points,))?;
        }
        if !may {
            this.on_quiet().try_broadcast(())?;
            return Ok(this.score());
        }
        this.set_score(this.score() + points);
        #[cfg(not(feature = "widened"))]
        this.on_scored().try_broadcast((points, this.as_obj()))?;
        #[cfg(feature = "widened")]
        this.on_scored().try_broadcast((points, this.as_obj(), false))?;
        Ok(this.score())
    }

    /// Asks that rule, and keeps it.
    #[ufunction(blueprint_callable)]
    fn agree(&self, this: This<Self>, rule: Lent<MayScore>, points: i32) -> Result<bool, CallError> {
        let agreed = rule.call((points,))?;
        this.rules().push(rule.clone());
        Ok(agreed)
    }
}

/// Somebody who hears of scores.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Listener {
    /// What it heard.
    #[uproperty]
    heard: UArray<UString>,
    /// Who hears of it in its place.
    #[uproperty]
    next: Obj<Listener>,
}

/// How listeners say it.
fn words() -> &'static str {
    if fixture::on!("changed") { "wow," } else { "heard" }
}

#[uclass]
impl Listener {
    /// Binds itself to all that a player has.
    #[ufunction(blueprint_callable)]
    fn follow(&self, this: This<Self>, player: Obj<Player>) -> Result<(), CallError> {
        let player = this.get(player)?;
        #[cfg(not(any(feature = "without", feature = "deaf")))]
        player.on_scored().try_bind(this.as_obj(), "hear")?;
        player.may_score().try_bind(this.as_obj(), "allow")?;
        player.on_quiet().try_bind(this.as_obj(), "hear_nothing")
    }

    /// Hears of a score.
    #[cfg(not(any(feature = "widened", feature = "without", feature = "deaf")))]
    #[ufunction]
    fn hear(&self, this: This<Self>, points: i32, by: Obj<Player>) -> Result<(), CallError> {
        say(this, &format!("{} {points} of {}", words(), this.get(by)?.score()))
    }

    /// Hears of a score, and whether that counts twice.
    #[cfg(feature = "widened")]
    #[ufunction]
    fn hear(&self, this: This<Self>, points: i32, by: Obj<Player>, twice: bool) -> Result<(), CallError> {
        say(this, &format!("{} {points} of {}, {twice}", words(), this.get(by)?.score()))
    }

    /// Hears something else.
    #[cfg(feature = "deaf")]
    #[ufunction]
    fn hear(&self, this: This<Self>, points: f64) -> Result<(), CallError> {
        say(this, &format!("{} {points}", words()))
    }

    /// Hears that there was none.
    #[ufunction]
    fn hear_nothing(&self, this: This<Self>) -> Result<(), CallError> {
        say(this, &format!("{} nothing", words()))
    }

    /// Is asked before.
    #[ufunction]
    fn allow(&self, points: i32) -> bool {
        points < 100
    }

    /// Hears of a score and panics.
    #[cfg(not(feature = "widened"))]
    #[ufunction]
    fn burst(&self, points: i32, _by: Obj<Player>) {
        panic!("{points} points are too much");
    }

    /// Hears of a score, goes, takes the next one out, and has the one after that hear of the next score.
    #[cfg(not(feature = "widened"))]
    #[ufunction]
    fn pass_on(&self, this: This<Self>, points: i32, by: Obj<Player>) -> Result<(), CallError> {
        say(this, &format!("passed {points} on"))?;
        let player = this.get(by)?;
        assert!(player.on_scored().unbind(this.as_obj(), "pass_on"), "it is bound");
        let next = this.next();
        player.on_scored().unbind_all(next);
        player.on_scored().try_bind(this.get(next)?.next(), "hear")
    }
}

/// Writes down what was heard.
fn say(this: This<'_, Listener>, words: &str) -> Result<(), CallError> {
    this.heard().push(words);
    Ok(())
}
