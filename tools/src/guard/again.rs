//! With which build a development host goes on after a crash. The session writes down what becomes of its builds, in a
//! file that outlives it; what follows from that is decided here.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A build that has lived for so long before its first crash is as good as any: the crash has a reason of its own.
const PROVEN: Duration = Duration::from_secs(10);
/// The file in the folder of builds.
const LIVES: &str = "lives";

/// What becomes of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It is about to be loaded.
    Tried(u64),
    /// It is live.
    Live(u64),
    /// It was tried and refused; what was live before goes on.
    Refused(u64),
    /// The host has crashed.
    Crashed,
}

/// Writes down what happens now. What cannot be written is not known after a crash, which is worse for nobody else.
pub(crate) fn note(folder: &Path, life: Life) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let line = match life {
        Life::Tried(build) => format!("tried {build} {now}\n"),
        Life::Live(build) => format!("live {build} {now}\n"),
        Life::Refused(build) => format!("refused {build} {now}\n"),
        Life::Crashed => format!("crashed 0 {now}\n"),
    };
    let file = OpenOptions::new().create(true).append(true).open(folder.join(LIVES));
    let _written = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// What to do after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Go on with this build.
    With(u64),
    /// Go on without any, until there is a new one.
    Waiting,
    /// Not at all: the host crashes without plugins as well.
    No,
}

/// Reads what was written down, the crash included, and decides.
pub(crate) fn after_crash(folder: &Path) -> Again {
    decide(&std::fs::read_to_string(folder.join(LIVES)).unwrap_or_default())
}

fn decide(lives: &str) -> Again {
    let mut trying = None;
    let mut live: Option<(u64, u64)> = None;
    // By build: when it was live last, for how long, and whether it crashed then.
    let mut known: BTreeMap<u64, (u64, Duration, bool)> = BTreeMap::new();
    let mut any = false;
    for (life, build, at) in lives.lines().filter_map(parse) {
        match life {
            "tried" => trying = Some(build),
            "refused" => trying = None,
            "live" => {
                (trying, live) = (None, Some((build, at)));
                let crashed = known.get(&build).is_some_and(|(.., crashed)| *crashed);
                known.insert(build, (at, Duration::ZERO, crashed));
            }
            _ => {
                any = trying.is_some() || live.is_some();
                // What crashes while it is tried was never good.
                let (build, since) = match (trying.take(), live.take()) {
                    (Some(build), _) => (build, at),
                    (None, Some(live)) => live,
                    (None, None) => continue,
                };
                known.insert(build, (since, Duration::from_millis(at.saturating_sub(since)), true));
            }
        }
    }
    if !any {
        return Again::No;
    }
    let latest = |good: &dyn Fn(&(u64, Duration, bool)) -> bool| {
        let good = known.iter().filter(|(_, known)| good(known));
        good.max_by_key(|(_, (at, ..))| *at).map(|(build, _)| Again::With(*build))
    };
    let unharmed = latest(&|(.., crashed)| !crashed);
    unharmed.or_else(|| latest(&|(_, lived, _)| *lived >= PROVEN)).unwrap_or(Again::Waiting)
}

fn parse(line: &str) -> Option<(&str, u64, u64)> {
    let mut fields = line.split(' ');
    Some((fields.next()?, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Again, decide};

    /// A life a line, with the second it happened in.
    fn check(lives: &[&str], expected: Again) {
        let text: String = lives.iter().map(|line| format!("{line}000\n")).collect();
        assert_eq!(decide(&text), expected, "{lives:?}");
    }

    #[test]
    fn the_last_build_that_did_not_crash_is_taken() {
        check(&["tried 1 0", "live 1 1", "tried 2 5", "live 2 6", "crashed 0 7"], Again::With(1));
        check(&["live 1 1", "live 2 6", "live 3 7", "crashed 0 8"], Again::With(2));
        // One that went back is what was live last.
        check(&["live 1 1", "live 2 2", "live 1 3", "live 3 4", "crashed 0 8"], Again::With(1));
    }

    #[test]
    fn a_build_that_crashes_while_it_is_loaded_was_never_good_and_the_one_before_is() {
        check(&["live 1 1", "tried 2 6", "crashed 0 7"], Again::With(1));
        check(&["live 1 1", "tried 2 6", "refused 2 7", "live 3 8", "crashed 0 9"], Again::With(1));
        check(&["tried 1 1", "crashed 0 2"], Again::Waiting);
    }

    #[test]
    fn a_build_that_crashed_after_a_while_is_better_than_none_and_one_that_crashed_at_once_is_not() {
        check(&["live 1 1", "crashed 0 60"], Again::With(1));
        check(&["live 1 1", "crashed 0 3"], Again::Waiting);
        check(&["live 1 1", "crashed 0 60", "tried 1 61", "live 1 62", "crashed 0 63"], Again::Waiting);
        check(&["live 1 1", "crashed 0 2", "live 2 9", "crashed 0 90"], Again::With(2));
    }

    #[test]
    fn a_host_that_crashes_without_plugins_is_not_started_again() {
        check(&["crashed 0 1"], Again::No);
        check(&["live 1 1", "crashed 0 2", "crashed 0 3"], Again::No);
        check(&[], Again::No);
    }
}
