//! Who may end a conjugate, and when. This file decides; the pairs' owner acts on it.

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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Life {
    /// The primitive object is there, its conjugate not yet.
    Unbuilt,
    /// Both halves are there.
    Live,
    /// Dropped on a foreign thread; the game thread has yet to release the host half.
    Queued,
    /// Over. There is no way back.
    Dead,
}

/// What happens to a conjugate.
#[cfg_attr(not(test), expect(dead_code, reason = "what black conjugates need is decided here before they exist"))]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Event {
    /// The plugin half is built.
    Build,
    /// The host ends a red one: the object died, the red frame closed or the generation ended.
    Release,
    /// The plugin drops a black one on the game thread.
    Dispose,
    /// The plugin drops a black one on any other thread.
    Finalize,
    /// The game thread works off what was dropped elsewhere.
    Flush,
}

/// An event that may not happen to a conjugate of this color at this point of its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a {color} conjugate that is {life} cannot be {event}: {}", life.way_out(*color))]
pub(crate) struct LifeError {
    /// Where its life stood, and still stands.
    pub life: Life,
    /// Who began it.
    pub color: Color,
    /// What was tried.
    pub event: Event,
}

impl Life {
    /// The life after `event`, or why there is none.
    ///
    /// # Errors
    /// [`LifeError`]; the life stays as it was.
    pub(crate) fn step(self, color: Color, event: Event) -> Result<Self, LifeError> {
        match (self, color, event) {
            (Self::Unbuilt, _, Event::Build) => Ok(Self::Live),
            (Self::Live, Color::Red, Event::Release) => Ok(Self::Dead),
            (Self::Live, Color::Black, Event::Dispose) => Ok(Self::Dead),
            (Self::Live, Color::Black, Event::Finalize) => Ok(Self::Queued),
            (Self::Queued, Color::Black, Event::Flush) => Ok(Self::Dead),
            (life, color, event) => Err(LifeError { life, color, event }),
        }
    }

    fn way_out(self, color: Color) -> &'static str {
        match (self, color) {
            (Self::Unbuilt, _) => "it has to be built first",
            (Self::Live, Color::Red) => "only the host ends it, by releasing it",
            (Self::Live, Color::Black) => "only the plugin ends it, by dropping it",
            (Self::Queued, _) => "it waits for the game thread to flush it",
            (Self::Dead, _) => "it has expired; ask for a new one",
        }
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
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Color, Event, Life, LifeError};

    const LIVES: [Life; 4] = [Life::Unbuilt, Life::Live, Life::Queued, Life::Dead];
    const EVENTS: [Event; 5] = [Event::Build, Event::Release, Event::Dispose, Event::Finalize, Event::Flush];

    /// Rows are lives, columns events, in the order above; `-` is refused.
    fn check(color: Color, table: [&str; 4]) {
        for (life, row) in LIVES.into_iter().zip(table) {
            let cells: Vec<_> = row.split_whitespace().collect();
            assert_eq!(cells.len(), EVENTS.len());
            for (event, cell) in EVENTS.into_iter().zip(cells) {
                let found = life.step(color, event);
                match cell {
                    "-" => assert_eq!(found, Err(LifeError { life, color, event })),
                    next => assert_eq!(found.map(|life| life.to_string()), Ok(next.to_owned()), "{life} {event}"),
                }
            }
        }
    }

    #[test]
    fn a_red_conjugate_is_built_and_released_by_the_host() {
        //                build release dispose finalize flush
        check(
            Color::Red,
            ["live   -      -       -       -", "-      dead   -       -       -", "- - - - -", "- - - - -"],
        );
    }

    #[test]
    fn a_black_conjugate_is_dropped_by_the_plugin() {
        check(Color::Black, ["live - - - -", "- - dead queued -", "- - - - dead", "- - - - -"]);
    }

    #[test]
    fn an_error_names_life_color_and_event() {
        let error = Life::Dead.step(Color::Black, Event::Flush).expect_err("it is dead");
        assert_eq!(
            error.to_string(),
            "a black conjugate that is dead cannot be flushed: it has expired; ask for a new one"
        );
    }
}
