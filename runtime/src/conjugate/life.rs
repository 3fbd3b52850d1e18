//! What may end a conjugate, and when; and when it may be used. This file decides; the owners of pairs, of blacks and
//! of reds act on it.

use thiserror::Error;

/// Which side began a pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Color {
    /// The host did, and owns the life.
    Red,
    /// The plugin did, and owns the life.
    Black,
}

/// How far a conjugate's life has come.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Life {
    /// The primitive object is there, its conjugate not yet.
    Unbuilt,
    /// Both parts are there.
    Live,
    /// Dropped on a foreign thread; the game thread has yet to release the host part.
    Queued,
    /// Over. There is no way back.
    Dead,
}

/// What happens to a conjugate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Event {
    /// The plugin part is built.
    Build,
    /// The host ends a red one: the object died, or the red frame closed.
    Release,
    /// The plugin drops a black one on the game thread.
    Dispose,
    /// The plugin drops a black one on any other thread.
    Finalize,
    /// The game thread works off what was dropped elsewhere.
    Flush,
    /// The generation it belongs to ends, and with it all that it has made.
    Retire,
}

/// Whether the module that a conjugate belongs to takes calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum GateState {
    /// It does.
    Open,
    /// It is set aside by a reload, or its generation is over.
    Shut,
}

/// An event that may not happen to a conjugate of this color at this point of its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a {color} conjugate that is {life} cannot be {event}: {}", life.way_out(*color, *gate))]
pub(crate) struct LifeError {
    /// Where its life stood, and still stands.
    pub life: Life,
    /// Which side began it.
    pub color: Color,
    /// Whether its module takes calls.
    pub gate: GateState,
    /// What was tried.
    pub event: Event,
}

impl Life {
    /// The life after `event`, or why there is none, for a conjugate whose module takes calls.
    ///
    /// # Errors
    /// [`LifeError`]; the life stays as it was.
    pub(crate) fn step(self, color: Color, event: Event) -> Result<Self, LifeError> {
        self.step_behind(GateState::Open, color, event)
    }

    /// The life after `event`, or why there is none. What is set aside may be dropped and ended as ever: a drop that was
    /// not heeded would come back with a rollback. Only nothing is built for it.
    ///
    /// # Errors
    /// [`LifeError`]; the life stays as it was.
    pub(crate) fn step_behind(self, gate: GateState, color: Color, event: Event) -> Result<Self, LifeError> {
        match (self, color, event) {
            (Self::Unbuilt, _, Event::Build) if gate == GateState::Open => Ok(Self::Live),
            (Self::Live, Color::Red, Event::Release) => Ok(Self::Dead),
            (Self::Live, Color::Black, Event::Dispose) => Ok(Self::Dead),
            (Self::Live, Color::Black, Event::Finalize) => Ok(Self::Queued),
            (Self::Queued, Color::Black, Event::Flush) => Ok(Self::Dead),
            (Self::Unbuilt | Self::Live | Self::Queued, _, Event::Retire) => Ok(Self::Dead),
            (life, color, event) => Err(LifeError { life, color, gate, event }),
        }
    }

    /// Whether it may not be used any more, or not now. One that is not built has yet to begin.
    pub(crate) fn is_expired(self, gate: GateState) -> bool {
        match (self, gate) {
            (Self::Unbuilt | Self::Live, GateState::Open) => false,
            (Self::Queued | Self::Dead, _) | (_, GateState::Shut) => true,
        }
    }

    fn way_out(self, color: Color, gate: GateState) -> &'static str {
        match (self, color) {
            (Self::Unbuilt, _) if gate == GateState::Shut => "its module takes no calls",
            (Self::Unbuilt, _) => "it has to be built first",
            (Self::Live, Color::Red) => "only the host ends it, by releasing it",
            (Self::Live, Color::Black) => "only the plugin ends it, by dropping it",
            (Self::Queued, _) => "it waits for the game thread to flush it",
            (Self::Dead, _) => "it has expired; ask for a new one",
        }
    }
}

impl GateState {
    /// Of a gate that is open, or not.
    pub(crate) fn of(is_open: bool) -> Self {
        if is_open { Self::Open } else { Self::Shut }
    }
}

impl std::fmt::Display for Color {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Red => "red",
            Self::Black => "black",
        })
    }
}

impl std::fmt::Display for Life {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unbuilt => "unbuilt",
            Self::Live => "live",
            Self::Queued => "queued",
            Self::Dead => "dead",
        })
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Build => "built",
            Self::Release => "released",
            Self::Dispose => "disposed",
            Self::Finalize => "finalized",
            Self::Flush => "flushed",
            Self::Retire => "retired",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Color, Event, GateState, Life, LifeError};

    const LIVES: [Life; 4] = [Life::Unbuilt, Life::Live, Life::Queued, Life::Dead];
    const EVENTS: [Event; 6] =
        [Event::Build, Event::Release, Event::Dispose, Event::Finalize, Event::Flush, Event::Retire];
    const GATES: [GateState; 2] = [GateState::Open, GateState::Shut];

    /// Rows are lives, columns events, in the order above; `-` is refused.
    fn check(color: Color, gate: GateState, table: [&str; 4]) {
        for (life, row) in LIVES.into_iter().zip(table) {
            let cells: Vec<_> = row.split_whitespace().collect();
            assert_eq!(cells.len(), EVENTS.len());
            for (event, cell) in EVENTS.into_iter().zip(cells) {
                let found = life.step_behind(gate, color, event);
                match cell {
                    "-" => assert_eq!(found, Err(LifeError { life, color, gate, event })),
                    next => assert_eq!(found.map(|life| life.to_string()), Ok(next.to_owned()), "{life} {event}"),
                }
            }
        }
    }

    #[test]
    fn a_red_conjugate_is_built_and_released_by_the_host() {
        //   build release dispose finalize flush retire
        check(Color::Red, GateState::Open, ["live - - - - dead", "- dead - - - dead", "- - - - - dead", "- - - - - -"]);
    }

    #[test]
    fn a_black_conjugate_is_dropped_by_the_plugin() {
        check(
            Color::Black,
            GateState::Open,
            ["live - - - - dead", "- - dead queued - dead", "- - - - dead dead", "- - - - - -"],
        );
    }

    #[test]
    fn what_is_set_aside_may_end_and_nothing_is_built_for_it() {
        check(Color::Red, GateState::Shut, ["- - - - - dead", "- dead - - - dead", "- - - - - dead", "- - - - - -"]);
        check(
            Color::Black,
            GateState::Shut,
            ["- - - - - dead", "- - dead queued - dead", "- - - - dead dead", "- - - - - -"],
        );
    }

    /// Every state that events and gates lead to, from a conjugate that is not built behind an open gate.
    fn reachable(color: Color) -> BTreeSet<(Life, GateState)> {
        let mut reached = BTreeSet::new();
        let mut open = vec![(Life::Unbuilt, GateState::Open)];
        while let Some((life, gate)) = open.pop() {
            if reached.insert((life, gate)) {
                open.extend(GATES.map(|gate| (life, gate)));
                open.extend(
                    EVENTS.iter().filter_map(|event| Some((life.step_behind(gate, color, *event).ok()?, gate))),
                );
            }
        }
        reached
    }

    #[test]
    fn from_every_reachable_state_each_event_does_what_its_color_allows() {
        let lives = |color| reachable(color).into_iter().map(|(life, _)| life).collect::<BTreeSet<_>>();
        assert_eq!(lives(Color::Red), BTreeSet::from([Life::Unbuilt, Life::Live, Life::Dead]), "a red is never queued");
        assert_eq!(lives(Color::Black), BTreeSet::from(LIVES));
        for color in [Color::Red, Color::Black] {
            for (life, gate) in reachable(color) {
                let after: Vec<_> = EVENTS.map(|event| (event, life.step_behind(gate, color, event))).into();
                let ends = |event| after.contains(&(event, Ok(Life::Dead)));
                let told = format!("{color} {life} {gate:?}");
                // Nothing leads back: lives only go on.
                assert!(after.iter().all(|(_, next)| next.is_ok_and(|next| next > life) || next.is_err()), "{told}");
                // The end of a generation ends all that is not over, whatever the gate; what is over is not changed any
                // more.
                assert_eq!(ends(Event::Retire), life != Life::Dead, "{told}");
                assert_eq!(after.iter().all(|(_, next)| next.is_err()), life == Life::Dead, "{told}");
                // Each color ends in its own way only.
                assert_eq!(ends(Event::Release), (color, life) == (Color::Red, Life::Live), "{told}");
                assert_eq!(ends(Event::Dispose), (color, life) == (Color::Black, Life::Live), "{told}");
                assert_eq!(ends(Event::Flush), life == Life::Queued, "{told}");
                // What is set aside is expired, and is what it was when it is taken back.
                assert!(life.is_expired(GateState::Shut), "{told}");
                assert_eq!(life.is_expired(GateState::Open), life > Life::Live, "{told}");
            }
        }
    }

    #[test]
    fn an_error_names_life_color_and_event() {
        let error = Life::Dead.step(Color::Black, Event::Flush).expect_err("it is dead");
        assert_eq!(
            error.to_string(),
            "a black conjugate that is dead cannot be flushed: it has expired; ask for a new one"
        );
        let error =
            Life::Unbuilt.step_behind(GateState::Shut, Color::Black, Event::Build).expect_err("it is set aside");
        assert_eq!(error.to_string(), "a black conjugate that is unbuilt cannot be built: its module takes no calls");
    }
}
