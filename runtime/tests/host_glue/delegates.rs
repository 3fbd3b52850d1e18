// Declarations of the module `delegates` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.
// Types of other packages: Engine=alcedo_engine

use alcedo::host::*;

/// Returns true if a player may score `points`.
#[udelegate(single, of = Player)]
pub type MayScore = fn(points: i32) -> bool;

host_class! {
    /// Receives reports of scores.
    pub Listener: Object = "/Script/Game.Listener", members ListenerMembers, extends [Listener, Object];
    properties {
        /// Log of the received reports.
        received / set_received "received": Vec<String>;
        /// Next listener in the chain of `pass_on`.
        next / set_next "next": Obj<Listener>;
    }
    values {}
    delegates {}
    functions {
        /// Binds the functions of this listener to all delegates of a player.
        follow "follow"(player: Obj<Player>) -> ();
        /// Receives a score.
        hear "hear"(points: i32, by: Obj<Player>) -> ();
        /// Receives the report that no points were scored.
        hear_nothing "hear_nothing"() -> ();
        /// Called before each score.
        allow "allow"(points: i32) -> bool;
        /// Receives a score and panics.
        burst "burst"(points: i32, by: Obj<Player>) -> ();
        /// Receives a score, unbinds itself and the next listener, and binds the listener after that.
        pass_on "pass_on"(points: i32, by: Obj<Player>) -> ();
    }
    dynamic {}
}

host_class! {
    /// Scores points and reports them.
    pub Player: Object = "/Script/Game.Player", members PlayerMembers, extends [Player, Object];
    properties {
        /// Points so far.
        score / set_score "score": i32;
    }
    values {
        /// Further rules, all called before each score.
        rules / set_rules "rules";
    }
    delegates {
        /// Broadcast after each score.
        on_scored "on_scored"(i32, Obj<Player>) -> ();
        /// Called before each score.
        may_score "may_score"(i32) -> bool;
        /// Broadcast if no points were scored.
        on_quiet "on_quiet"() -> ();
    }
    functions {
        /// Scores if the rules allow it, and broadcasts the score.
        earn "earn"(points: i32) -> i32;
        /// Calls `rule` and stores it.
        agree "agree"(rule: MayScore, points: i32) -> bool;
    }
    dynamic {}
}
