//! Selects the build with which a development session continues after a crash of its world. The session records when a build is tried,
//! becomes live or is rejected, and when the world crashes or is stopped. This file selects a build from these events.

use std::collections::BTreeMap;
use std::time::Duration;

use super::history::BuildNumber;

/// Minimum run time after which a build counts as good. If a build crashes after this time, the crash probably has another cause.
const PROVEN: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuildLife {
    /// The build is about to be loaded.
    Tried(BuildNumber),
    /// The build is live.
    Live(BuildNumber),
    /// The build was rejected. The previous build continues to run.
    Refused(BuildNumber),
    /// The world has crashed, or was killed after a hang.
    Crashed,
    /// The world was ended at the user's request, or a new program of the host has crashed: no build is to blame.
    Stopped,
}

/// Action after the end of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// Continue with this build.
    With(BuildNumber),
    /// Continue without plugin code, and wait for a new build.
    Waiting,
    /// Stop, because the host crashes even without plugins.
    No,
}

/// Events of a session's builds in chronological order, each with its time since the start of the session.
#[derive(Clone, Debug, Default)]
pub(super) struct BuildLives(Vec<(BuildLife, Duration)>);

impl BuildLives {
    /// Records an event at the time `now`.
    pub(super) fn note(&mut self, life: BuildLife, now: Duration) {
        self.0.push((life, now));
    }

    /// Decides how to continue after the world has ended. The last recorded event must be the end of the world.
    pub(super) fn decide(&self) -> Again {
        let mut trying = None;
        let mut live: Option<(BuildNumber, Duration)> = None;
        // Contains for each build when the build last became live, how long it ran after this time, and `true` if it has crashed.
        let mut known: BTreeMap<BuildNumber, (Duration, Duration, bool)> = BTreeMap::new();
        let mut any = false;
        for (life, at) in self.0.iter().copied() {
            match life {
                BuildLife::Tried(build) => trying = Some(build),
                BuildLife::Refused(_) => trying = None,
                BuildLife::Live(build) => {
                    (trying, live) = (None, Some((build, at)));
                    let crashed = known.get(&build).is_some_and(|(.., crashed)| *crashed);
                    known.insert(build, (at, Duration::ZERO, crashed));
                }
                BuildLife::Stopped => (trying, live, any) = (None, None, true),
                BuildLife::Crashed => {
                    any = trying.is_some() || live.is_some();
                    // Attributes a crash during a load to the build that is being loaded.
                    let (build, since) = match (trying.take(), live.take()) {
                        (Some(build), _) => (build, at),
                        (None, Some(live)) => live,
                        (None, None) => continue,
                    };
                    known.insert(build, (since, at.saturating_sub(since), true));
                }
            }
        }
        if !any {
            return Again::No;
        }
        let latest = |good: &dyn Fn(&(Duration, Duration, bool)) -> bool| {
            let good = known.iter().filter(|(_, known)| good(known));
            good.max_by_key(|(_, (at, ..))| *at).map(|(build, _)| Again::With(*build))
        };
        let unharmed = latest(&|(.., crashed)| !crashed);
        unharmed.or_else(|| latest(&|(_, lived, _)| *lived >= PROVEN)).unwrap_or(Again::Waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::{Again, BuildLife, BuildLives, BuildNumber};
    use std::time::Duration;

    /// Parses an event, such as `tried 1 5`: its kind, build and time in seconds.
    fn life(line: &str) -> (BuildLife, Duration) {
        let mut words = line.split(' ');
        let (word, build, at) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let build = BuildNumber(build.parse().unwrap());
        let life = match word {
            "tried" => BuildLife::Tried(build),
            "live" => BuildLife::Live(build),
            "refused" => BuildLife::Refused(build),
            "stopped" => BuildLife::Stopped,
            _ => BuildLife::Crashed,
        };
        (life, Duration::from_secs(at.parse().unwrap()))
    }

    fn with(build: u64) -> Again {
        Again::With(BuildNumber(build))
    }

    fn check(lives: &[&str], expected: Again) {
        let noted = BuildLives(lives.iter().map(|line| life(line)).collect());
        assert_eq!(noted.decide(), expected, "{lives:?}");
    }

    #[test]
    fn the_last_build_that_did_not_crash_is_chosen() {
        check(&["tried 1 0", "live 1 1", "tried 2 5", "live 2 6", "crashed 0 7"], with(1));
        check(&["live 1 1", "live 2 6", "live 3 7", "crashed 0 8"], with(2));
        // Build 1 was loaded again after build 2, so build 1 counts as the last build before build 3.
        check(&["live 1 1", "live 2 2", "live 1 3", "live 3 4", "crashed 0 8"], with(1));
    }

    #[test]
    fn a_build_that_crashes_during_loading_is_bad_unlike_its_predecessor() {
        check(&["live 1 1", "tried 2 6", "crashed 0 7"], with(1));
        check(&["live 1 1", "tried 2 6", "refused 2 7", "live 3 8", "crashed 0 9"], with(1));
        check(&["tried 1 1", "crashed 0 2"], Again::Waiting);
    }

    #[test]
    fn a_late_crash_keeps_a_build_usable_unlike_an_early_one() {
        check(&["live 1 1", "crashed 0 60"], with(1));
        check(&["live 1 1", "crashed 0 3"], Again::Waiting);
        check(&["live 1 1", "crashed 0 11"], with(1));
        check(&["live 1 1", "crashed 0 10"], Again::Waiting);
        check(&["live 1 1", "crashed 0 60", "tried 1 61", "live 1 62", "crashed 0 63"], Again::Waiting);
        check(&["live 1 1", "crashed 0 2", "live 2 9", "crashed 0 90"], with(2));
    }

    #[test]
    fn an_ended_world_continues_with_its_last_build_or_waits() {
        check(&["live 1 1", "live 2 2", "stopped 0 3"], with(2));
        check(&["live 1 1", "live 2 2", "crashed 0 3", "live 1 4", "stopped 0 5"], with(1));
        check(&["live 1 1", "tried 2 2", "stopped 0 3"], with(1));
        check(&["stopped 0 1"], Again::Waiting);
        check(&["stopped 0 1", "crashed 0 2"], Again::No);
    }

    #[test]
    fn a_host_that_crashes_without_plugins_is_not_started_again() {
        check(&["crashed 0 1"], Again::No);
        check(&["live 1 1", "crashed 0 2", "crashed 0 3"], Again::No);
        check(&[], Again::No);
    }
}
