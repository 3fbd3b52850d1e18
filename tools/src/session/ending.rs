//! Restarts a session's world after an unexpected end, with the last good build and the last saved world.

use std::time::Duration;

use super::again::{Again, BuildLife};
use super::{Candidate, Event, Killing, Origin, Session};
use crate::guard::End;
use crate::world::World;

/// Maximum time after a restore within which the saved world may be the cause of the world's end.
const SOON: Duration = Duration::from_secs(5);
/// Maximum number of consecutive restores of a saved world, with any build, if each restored world ends within [`SOON`]. Later restarts
/// omit the saved world.
const CHANCES: u32 = 2;

/// Time of the last restart, and number of consecutive restores that failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Restarts {
    /// Time of the last restart with the saved world, or of the first load after this restart.
    last: Option<Duration>,
    /// Number of consecutive restored worlds that ended within [`SOON`].
    soon: u32,
}

impl Restarts {
    /// Records an end of the world. Returns true if the saved world may be restored after the restart.
    fn may_restore(&mut self, now: Duration) -> bool {
        let is_soon = self.last.is_some_and(|last| now.saturating_sub(last) < SOON);
        self.soon = if is_soon { self.soon + 1 } else { 0 };
        let may_restore = self.soon < CHANCES;
        self.last = may_restore.then_some(now);
        may_restore
    }

    /// Records the first load of a process. A restarted host may wait for this load, and restores the saved world afterwards.
    pub(super) fn loaded(&mut self, now: Duration) {
        self.last = self.last.map(|_| now);
    }

    /// Resets time and number after a different build has replaced the code of a restored world.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl<W: World> Session<W> {
    /// Handles an unexpected end of the world's process.
    pub(super) fn world_ended(&mut self, end: End) {
        let now = self.now();
        let was_leaving = self.leaving.take().is_some();
        self.hang = None;
        let printed: Vec<_> = self.world.printed().try_iter().collect();
        self.events.extend(printed.into_iter().map(Event::Printed));
        // Checks the exit status, because the process may have crashed before it was killed.
        let killed = self.killing.take().filter(|_| end.is_killed());
        self.running = None;
        // Suspects a new program of the host before the plugins, unless the process that ended still ran the older program.
        let suspects_host =
            killed.is_none() && !was_leaving && self.host.as_mut().is_some_and(|host| std::mem::take(&mut host.is_new));
        match self.loading.take() {
            Some(candidate) if suspects_host && self.next.is_none() => self.next = Some(candidate),
            Some(Candidate { build, origin, .. }) => self.throw_away(build, &origin),
            None => {}
        }
        self.loaded.clear();
        self.events.push_back(match killed {
            Some(Killing::Hang) => Event::HangEnded,
            Some(Killing::Requested | Killing::Unreadable) => Event::Stopped,
            None => Event::WorldEnded(end),
        });
        self.events.extend(suspects_host.then_some(Event::HostSuspected));
        let is_requested = killed == Some(Killing::Requested);
        let is_blameless = is_requested || suspects_host;
        self.lives.note(if is_blameless { BuildLife::Stopped } else { BuildLife::Crashed }, now);
        let restored = is_requested || self.restarts.may_restore(now);
        let again = self.lives.decide();
        if again == Again::No {
            return self.events.push_back(Event::Over { failed: true });
        }
        if let Err(error) = self.world.restart(restored) {
            self.events.push_back(Event::Failed { error: error.to_string() });
            return self.events.push_back(Event::Over { failed: true });
        }
        let good = match again {
            Again::With(build) => Some(build),
            Again::Waiting | Again::No => None,
        };
        let libraries = good.map(|build| self.history.libraries(build)).unwrap_or_default();
        let good = good.filter(|_| !libraries.is_empty());
        let good = good.map(|build| Candidate::new(build, libraries, Origin::Again));
        // Prefers the next candidate unless a build is to blame, because its plugins may have been built for the host's new program.
        match self.next.take_if(|_| is_blameless).or(good) {
            Some(candidate) => self.begin_load(candidate),
            None => {
                self.events.push_back(Event::Restarted { generation: None });
                self.load_next();
            }
        }
        if !restored {
            self.events.push_back(Event::LeftOut);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Restarts;
    use std::time::Duration;

    #[test]
    fn a_saved_world_that_ends_every_process_is_not_restored() {
        let mut restarts = Restarts::default();
        let check = |restarts: &mut Restarts, second, expected| {
            assert_eq!(restarts.may_restore(Duration::from_secs(second)), expected, "second {second}");
        };
        check(&mut restarts, 10, true);
        check(&mut restarts, 12, true);
        check(&mut restarts, 14, false);
        // An end after a longer time resets the counter.
        check(&mut restarts, 60, true);
        check(&mut restarts, 61, true);
        restarts.forget();
        check(&mut restarts, 62, true);
        check(&mut restarts, 63, true);
        check(&mut restarts, 64, false);
        // Each restarted host waits for a corrected build.
        let mut restarts = Restarts::default();
        restarts.loaded(Duration::from_secs(1));
        check(&mut restarts, 2, true);
        restarts.loaded(Duration::from_secs(20));
        check(&mut restarts, 21, true);
        restarts.loaded(Duration::from_secs(40));
        check(&mut restarts, 41, false);
        check(&mut restarts, 42, true);
    }
}
