//! State machine of conjugates. Defines which events are valid in each state, and in which states a conjugate is usable. The stores of
//! plugin parts, owned values and red conjugates perform the transitions.

use thiserror::Error;

named! {
    /// Side that created a conjugate and owns its lifetime.
    ///
    /// # Examples
    /// ```rust
    /// use alcedo_runtime::{Color, Runtime, Value};
    ///
    /// let runtime = Runtime::builder().build()?;
    /// let title = runtime.conjugates().make("String", &Value::Text("Harbor".into()))?;
    /// // The host created this value.
    /// assert_eq!(runtime.conjugates().info(title)?.color, Color::Black);
    /// # Ok::<(), alcedo_runtime::Error>(())
    /// ```
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Color {
        /// Created by the host.
        Red = "red",
        /// Created by the plugin.
        Black = "black",
    }
}

named! {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
    pub(crate) enum Life {
        /// The object exists, but has no plugin part yet.
        Unbuilt = "unbuilt",
        /// Object and plugin part exist.
        Live = "live",
        /// A different thread has dropped the plugin part. The game thread has not yet released the host part.
        Queued = "queued",
        /// Ended permanently.
        Dead = "dead",
    }
}

named! {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub(crate) enum Event {
        Build = "built",
        /// The host ends a red conjugate, because its object is destroyed or its red frame closes.
        Release = "released",
        /// The plugin drops a black conjugate on the game thread.
        Dispose = "disposed",
        /// The plugin drops a black conjugate on another thread.
        Finalize = "finalized",
        /// The game thread processes a queued drop.
        Flush = "flushed",
        /// The owning generation ends.
        Retire = "retired",
    }
}

/// Error for an event that is invalid for the color and state of a conjugate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a {color} conjugate that is {life} cannot be {event}: {}", life.help(*color, *is_open))]
pub(crate) struct LifeError {
    /// State of the conjugate. The rejected event has not changed this state.
    pub life: Life,
    pub color: Color,
    /// State of the owning module's gate. `false` if the module is suspended by a reload, or its generation has ended.
    pub is_open: bool,
    /// Rejected event.
    pub event: Event,
}

impl Life {
    /// Returns the state after `event` if the gate of the module is open. Returns [`LifeError`] for an invalid event.
    pub(crate) fn step(self, color: Color, event: Event) -> Result<Self, LifeError> {
        self.step_behind(true, color, event)
    }

    /// Returns the state after `event`. `is_open` is the state of the module's gate. A suspended conjugate can be dropped and ended, but not
    /// built. Drops are valid during a suspension, because a rollback must not restore conjugates that the plugin has dropped. Returns
    /// [`LifeError`] for an invalid event.
    pub(crate) fn step_behind(self, is_open: bool, color: Color, event: Event) -> Result<Self, LifeError> {
        match (self, color, event) {
            (Self::Unbuilt, _, Event::Build) if is_open => Ok(Self::Live),
            (Self::Live, Color::Red, Event::Release) => Ok(Self::Dead),
            (Self::Live, Color::Black, Event::Dispose) => Ok(Self::Dead),
            (Self::Live, Color::Black, Event::Finalize) => Ok(Self::Queued),
            (Self::Queued, Color::Black, Event::Flush) => Ok(Self::Dead),
            (Self::Unbuilt | Self::Live | Self::Queued, _, Event::Retire) => Ok(Self::Dead),
            (life, color, event) => Err(LifeError { life, color, is_open, event }),
        }
    }

    /// Checks if the conjugate is unusable, permanently or during a suspension. An unbuilt conjugate is not expired.
    pub(crate) fn is_expired(self, is_open: bool) -> bool {
        !is_open || matches!(self, Self::Queued | Self::Dead)
    }

    fn help(self, color: Color, is_open: bool) -> &'static str {
        match (self, color) {
            (Self::Unbuilt, _) if !is_open => "its module accepts no calls",
            (Self::Unbuilt, _) => "it has to be built first",
            (Self::Live, Color::Red) => "only the host ends it, by releasing it",
            (Self::Live, Color::Black) => "only the plugin ends it, by dropping it",
            (Self::Queued, _) => "it waits for the game thread to flush it",
            (Self::Dead, _) => "it has expired; request a new one",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Color, Event, Life, LifeError};

    const LIVES: [Life; 4] = [Life::Unbuilt, Life::Live, Life::Queued, Life::Dead];
    const EVENTS: [Event; 6] =
        [Event::Build, Event::Release, Event::Dispose, Event::Finalize, Event::Flush, Event::Retire];
    const OPEN: bool = true;
    const SHUT: bool = false;

    /// Checks a table of transitions. Rows are states and columns are events, in the order of `LIVES` and `EVENTS`; `-` is a rejected
    /// event.
    fn check(color: Color, is_open: bool, table: [&str; 4]) {
        for (life, row) in LIVES.into_iter().zip(table) {
            let cells: Vec<_> = row.split_whitespace().collect();
            assert_eq!(cells.len(), EVENTS.len());
            for (event, cell) in EVENTS.into_iter().zip(cells) {
                let found = life.step_behind(is_open, color, event);
                match cell {
                    "-" => assert_eq!(found, Err(LifeError { life, color, is_open, event })),
                    next => assert_eq!(found.map(|life| life.to_string()), Ok(next.to_owned()), "{life} {event}"),
                }
            }
        }
    }

    #[test]
    fn a_red_conjugate_is_built_and_released_by_the_host() {
        //   build release dispose finalize flush retire
        check(Color::Red, OPEN, ["live - - - - dead", "- dead - - - dead", "- - - - - dead", "- - - - - -"]);
    }

    #[test]
    fn a_black_conjugate_is_dropped_by_the_plugin() {
        check(Color::Black, OPEN, ["live - - - - dead", "- - dead queued - dead", "- - - - dead dead", "- - - - - -"]);
    }

    #[test]
    fn suspended_parts_may_end_and_are_not_rebuilt() {
        check(Color::Red, SHUT, ["- - - - - dead", "- dead - - - dead", "- - - - - dead", "- - - - - -"]);
        check(Color::Black, SHUT, ["- - - - - dead", "- - dead queued - dead", "- - - - dead dead", "- - - - - -"]);
    }

    /// Returns all states that an unbuilt conjugate with an open gate can reach.
    fn reachable(color: Color) -> BTreeSet<(Life, bool)> {
        let mut reached = BTreeSet::new();
        let mut open = vec![(Life::Unbuilt, OPEN)];
        while let Some((life, gate)) = open.pop() {
            if reached.insert((life, gate)) {
                open.extend([OPEN, SHUT].map(|gate| (life, gate)));
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
                let case = format!("{color} {life} {gate:?}");
                // No transition returns to an earlier state.
                assert!(after.iter().all(|(_, next)| next.is_ok_and(|next| next > life) || next.is_err()), "{case}");
                // The end of a generation ends every conjugate that is not dead, for each gate state. Dead conjugates never change.
                assert_eq!(ends(Event::Retire), life != Life::Dead, "{case}");
                assert_eq!(after.iter().all(|(_, next)| next.is_err()), life == Life::Dead, "{case}");
                // Red and black conjugates accept different final events.
                assert_eq!(ends(Event::Release), (color, life) == (Color::Red, Life::Live), "{case}");
                assert_eq!(ends(Event::Dispose), (color, life) == (Color::Black, Life::Live), "{case}");
                assert_eq!(ends(Event::Flush), life == Life::Queued, "{case}");
                // A suspended conjugate is expired. A resumed conjugate has its previous state.
                assert!(life.is_expired(SHUT), "{case}");
                assert_eq!(life.is_expired(OPEN), life > Life::Live, "{case}");
            }
        }
    }

    #[test]
    fn an_error_names_life_color_and_event() {
        let error = Life::Dead.step(Color::Black, Event::Flush).expect_err("it is dead");
        assert_eq!(
            error.to_string(),
            "a black conjugate that is dead cannot be flushed: it has expired; request a new one"
        );
        let error = Life::Unbuilt.step_behind(SHUT, Color::Black, Event::Build).expect_err("it is set aside");
        assert_eq!(error.to_string(), "a black conjugate that is unbuilt cannot be built: its module accepts no calls");
    }
}
