//! Which modules answer calls. A reload sets an old module aside without touching its entries, so that
//! taking it back costs nothing; whoever keeps entries by module asks here which of them count.

use std::collections::BTreeSet;

use crate::handles::ModuleId;

/// Whether a module's entries count now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// They do.
    Running,
    /// They are set aside, and may come back.
    Suspended,
    /// They are gone for good.
    Ended,
}

/// The standing of every module there was or will be. The host's own is always running.
#[derive(Clone, Default, Debug)]
pub(crate) struct Standings {
    suspended: BTreeSet<ModuleId>,
    /// Every module after the host's and up to this one has ended, so that a long life of many reloads is one
    /// number here.
    ended_through: u64,
    ended_beyond: BTreeSet<u64>,
}

impl Standings {
    /// How `module` stands. One that was never heard of is running.
    pub(crate) fn standing(&self, module: ModuleId) -> Standing {
        if module == ModuleId::HOST {
            Standing::Running
        } else if self.suspended.contains(&module) {
            Standing::Suspended
        } else if module.0 <= self.ended_through || self.ended_beyond.contains(&module.0) {
            Standing::Ended
        } else {
            Standing::Running
        }
    }

    /// Sets a running module aside. Nothing happens to the host's own or to one that has ended.
    pub(crate) fn suspend(&mut self, module: ModuleId) {
        if module != ModuleId::HOST && self.standing(module) == Standing::Running {
            self.suspended.insert(module);
        }
    }

    /// Takes a suspended module back.
    pub(crate) fn resume(&mut self, module: ModuleId) {
        self.suspended.remove(&module);
    }

    /// Ends a module, suspended or not. The host's own does not end.
    pub(crate) fn end(&mut self, module: ModuleId) {
        self.suspended.remove(&module);
        if module == ModuleId::HOST || module.0 <= self.ended_through {
            return;
        }
        self.ended_beyond.insert(module.0);
        while self.ended_beyond.remove(&(self.ended_through + 1)) {
            self.ended_through += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Standing, Standings};
    use crate::handles::ModuleId;

    /// `s3` suspends module 3, `r3` resumes it, `e3` ends it.
    fn check(verbs: &str, expected: [Standing; 4]) {
        let mut standings = Standings::default();
        for verb in verbs.split_whitespace() {
            let (verb, module) = verb.split_at(1);
            let module = ModuleId(module.parse().expect("a number"));
            match verb {
                "s" => standings.suspend(module),
                "r" => standings.resume(module),
                "e" => standings.end(module),
                _ => unreachable!("{verb}"),
            }
        }
        let found: Vec<_> = (0..4).map(|number| standings.standing(ModuleId(number))).collect();
        assert_eq!(found, expected, "{verbs}");
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
        let mut standings = Standings::default();
        (1..=1000).for_each(|number| standings.end(ModuleId(number)));
        assert!(standings.ended_beyond.is_empty());
        assert_eq!(standings.standing(ModuleId(1000)), Standing::Ended);
        assert_eq!(standings.standing(ModuleId(1001)), Standing::Running);
    }
}
