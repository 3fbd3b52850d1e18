//! Which generations answer calls. A reload sets the old generation aside without touching its entries, so that
//! taking it back costs nothing; whoever keeps entries by generation asks here which of them count.

use std::collections::BTreeSet;

use crate::handles::Generation;

/// Whether a generation's entries count now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// They do.
    Running,
    /// They are set aside, and may come back.
    Suspended,
    /// They are gone for good.
    Ended,
}

/// The standing of every generation there was or will be. The host's own is always running.
#[derive(Clone, Default, Debug)]
pub(crate) struct Generations {
    suspended: BTreeSet<Generation>,
    /// Every generation after the host's and up to this one has ended, so that a long life of many reloads is one
    /// number here.
    ended_through: u64,
    ended_beyond: BTreeSet<u64>,
}

impl Generations {
    /// How `generation` stands. One that was never heard of is running.
    pub(crate) fn standing(&self, generation: Generation) -> Standing {
        if generation == Generation::HOST {
            Standing::Running
        } else if self.suspended.contains(&generation) {
            Standing::Suspended
        } else if generation.0 <= self.ended_through || self.ended_beyond.contains(&generation.0) {
            Standing::Ended
        } else {
            Standing::Running
        }
    }

    /// Sets a running generation aside. Nothing happens to the host's own or to one that has ended.
    pub(crate) fn suspend(&mut self, generation: Generation) {
        if generation != Generation::HOST && self.standing(generation) == Standing::Running {
            self.suspended.insert(generation);
        }
    }

    /// Takes a suspended generation back.
    pub(crate) fn resume(&mut self, generation: Generation) {
        self.suspended.remove(&generation);
    }

    /// Ends a generation, suspended or not. The host's own does not end.
    pub(crate) fn end(&mut self, generation: Generation) {
        self.suspended.remove(&generation);
        if generation == Generation::HOST || generation.0 <= self.ended_through {
            return;
        }
        self.ended_beyond.insert(generation.0);
        while self.ended_beyond.remove(&(self.ended_through + 1)) {
            self.ended_through += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Generations, Standing};
    use crate::handles::Generation;

    /// `s3` suspends generation 3, `r3` resumes it, `e3` ends it.
    fn check(verbs: &str, standings: [Standing; 4]) {
        let mut generations = Generations::default();
        for verb in verbs.split_whitespace() {
            let (verb, generation) = verb.split_at(1);
            let generation = Generation(generation.parse().expect("a number"));
            match verb {
                "s" => generations.suspend(generation),
                "r" => generations.resume(generation),
                "e" => generations.end(generation),
                _ => unreachable!("{verb}"),
            }
        }
        let found: Vec<_> = (0..4).map(|number| generations.standing(Generation(number))).collect();
        assert_eq!(found, standings, "{verbs}");
    }

    #[test]
    fn a_generation_is_running_suspended_or_ended() {
        use Standing::{Ended as E, Running as R, Suspended as S};
        check("", [R, R, R, R]);
        check("s1", [R, S, R, R]);
        check("s1 s1 r1", [R, R, R, R]);
        check("r1", [R, R, R, R]);
        check("s1 e1", [R, E, R, R]);
        check("s1 e1 r1", [R, E, R, R]);
        check("e1 s1", [R, E, R, R]);
        check("e2", [R, R, E, R]);
        check("e2 e2 e1", [R, E, E, R]);
        check("e3 e1 e2", [R, E, E, E]);
        check("s2 e1 e3", [R, E, S, E]);
        check("s0 e0", [R, R, R, R]);
    }

    #[test]
    fn a_thousand_ended_generations_are_one_number() {
        let mut generations = Generations::default();
        (1..=1000).for_each(|number| generations.end(Generation(number)));
        assert!(generations.ended_beyond.is_empty());
        assert_eq!(generations.standing(Generation(1000)), Standing::Ended);
        assert_eq!(generations.standing(Generation(1001)), Standing::Running);
    }
}
