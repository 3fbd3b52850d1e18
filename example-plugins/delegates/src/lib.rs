//! Named delegates as properties, elements and parameters. Bindings are added and removed, even while a delegate is being called.

#![forbid(unsafe_code)]

use alcedo_plugin_api::prelude::*;

module! { name: "delegates" }

/// Broadcast after a score.
#[cfg(not(feature = "widened"))]
#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32, by: Obj<Player>);

/// Broadcast after a score. The score may count twice.
#[cfg(feature = "widened")]
#[udelegate(multicast, package = "Game")]
pub type OnScored = fn(points: i32, by: Obj<Player>, twice: bool);

/// Returns true if a player may score `points`.
#[udelegate(single, of = Player)]
pub type MayScore = fn(points: i32) -> bool;

/// Broadcast if no points were scored.
#[udelegate(sparse, of = Player)]
pub type OnQuiet = fn();

/// Scores points and reports them.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
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

#[uclass]
impl Player {
    /// Scores if the rules allow it, and broadcasts the score.
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

    /// Calls `rule` and stores it.
    #[ufunction(blueprint_callable)]
    fn agree(&self, this: This<Self>, rule: Borrowed<MayScore>, points: i32) -> Result<bool, CallError> {
        let agreed = rule.call((points,))?;
        this.rules().push(rule.to_owned());
        Ok(agreed)
    }
}

/// Receives reports of scores.
#[uclass(package = "Game", blueprintable)]
#[derive(Default)]
pub struct Listener {
    /// Log of the received reports.
    #[uproperty]
    received: UArray<UString>,
    /// Next listener in the chain of `pass_on`.
    #[uproperty]
    next: Obj<Listener>,
}

/// Returns the first word of a log line. Each build has a different word.
fn words() -> &'static str {
    if fixture::on!("changed") { "wow," } else { "received" }
}

#[uclass]
impl Listener {
    /// Binds the functions of this listener to all delegates of a player.
    #[ufunction(blueprint_callable)]
    fn follow(&self, this: This<Self>, player: Obj<Player>) -> Result<(), CallError> {
        let player = this.get(player)?;
        #[cfg(not(any(feature = "without", feature = "deaf")))]
        player.on_scored().try_bind(this.as_obj(), "hear")?;
        player.may_score().try_bind(this.as_obj(), "allow")?;
        player.on_quiet().try_bind(this.as_obj(), "hear_nothing")
    }

    /// Receives a score.
    #[cfg(not(any(feature = "widened", feature = "without", feature = "deaf")))]
    #[ufunction]
    fn hear(&self, this: This<Self>, points: i32, by: Obj<Player>) -> Result<(), CallError> {
        record(this, &format!("{} {points} of {}", words(), this.get(by)?.score()))
    }

    /// Receives a score that may count twice.
    #[cfg(feature = "widened")]
    #[ufunction]
    fn hear(&self, this: This<Self>, points: i32, by: Obj<Player>, twice: bool) -> Result<(), CallError> {
        record(this, &format!("{} {points} of {}, {twice}", words(), this.get(by)?.score()))
    }

    /// Receives a score in a later build. The parameters differ, so earlier bindings of `hear` do not match.
    #[cfg(feature = "deaf")]
    #[ufunction]
    fn hear(&self, this: This<Self>, points: f64) -> Result<(), CallError> {
        record(this, &format!("{} {points}", words()))
    }

    /// Receives the report that no points were scored.
    #[ufunction]
    fn hear_nothing(&self, this: This<Self>) -> Result<(), CallError> {
        record(this, &format!("{} nothing", words()))
    }

    /// Called before each score.
    #[ufunction]
    fn allow(&self, points: i32) -> bool {
        points < 100
    }

    /// Receives a score and panics.
    #[cfg(not(feature = "widened"))]
    #[ufunction]
    fn burst(&self, points: i32, _by: Obj<Player>) {
        panic!("{points} points are too much");
    }

    /// Receives a score, unbinds itself and the next listener, and binds the listener after that.
    #[cfg(not(feature = "widened"))]
    #[ufunction]
    fn pass_on(&self, this: This<Self>, points: i32, by: Obj<Player>) -> Result<(), CallError> {
        record(this, &format!("passed {points} on"))?;
        let player = this.get(by)?;
        assert!(player.on_scored().unbind(this.as_obj(), "pass_on"), "it is bound");
        let next = this.next();
        player.on_scored().unbind_all(next);
        player.on_scored().try_bind(this.get(next)?.next(), "hear")
    }
}

/// Adds a line to the log of a listener.
fn record(this: This<'_, Listener>, words: &str) -> Result<(), CallError> {
    this.received().push(words);
    Ok(())
}
