// Declarations of the module `delegates` 0.1.0 for a host, written by `alcedo glue --for-host`.
// Run it again after a change of the module. The first use of a member compares the member here with that of the module.

use alcedo_runtime::host::*;

/// Whether somebody may score that much.
#[udelegate(single, of = Player)]
pub type MayScore = fn(points: i32) -> bool;

host_class! {
    /// Somebody who hears of scores.
    pub Listener: Object = "/Script/Game.Listener", members ListenerMembers, extends [Listener, Object];
    properties {
        /// What it heard.
        heard / set_heard "heard": Vec<String>;
        /// Who hears of it in its place.
        next / set_next "next": Obj<Listener>;
    }
    values {}
    delegates {}
    functions {
        /// Binds itself to all that a player has.
        follow "follow"(player: Obj<Player>) -> ();
        /// Hears of a score.
        hear "hear"(points: i32, by: Obj<Player>) -> ();
        /// Hears that there was none.
        hear_nothing "hear_nothing"() -> ();
        /// Is asked before.
        allow "allow"(points: i32) -> bool;
        /// Hears of a score and panics.
        burst "burst"(points: i32, by: Obj<Player>) -> ();
        /// Hears of a score, goes, takes the next one out, and has the one after that hear of the next score.
        pass_on "pass_on"(points: i32, by: Obj<Player>) -> ();
    }
    dynamic {}
}

host_class! {
    /// Somebody who scores.
    pub Player: Object = "/Script/Game.Player", members PlayerMembers, extends [Player, Object];
    properties {
        /// How much there is.
        score / set_score "score": i32;
    }
    values {
        /// Are all asked, too.
        rules / set_rules "rules";
    }
    delegates {
        /// Is told of each score.
        on_scored "on_scored"(i32, Obj<Player>) -> ();
        /// Is asked before.
        may_score "may_score"(i32) -> bool;
        /// Is told when there was none.
        on_quiet "on_quiet"() -> ();
    }
    functions {
        /// Scores if it may, and tells everybody.
        earn "earn"(points: i32) -> i32;
        /// Asks that rule, and keeps it.
        agree "agree"(rule: MayScore, points: i32) -> bool;
    }
    dynamic {}
}
