//! Status of modules. The status determines if a module's entries accept calls. A reload suspends an old module and keeps its entries, so
//! that resuming the module costs nothing. Registries with entries of modules check the status here.

use std::collections::BTreeSet;

use crate::handles::ModuleId;

/// Status of the entries of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModuleStatus {
    /// The entries of the module accept calls.
    Running,
    /// The entries of the module do not accept calls. The module may be resumed.
    Suspended,
    /// The module has ended permanently.
    Ended,
}

/// Status of all past and future modules. The host's own module is always running.
#[derive(Clone, Default, Debug)]
pub struct ModuleStatuses {
    suspended: BTreeSet<ModuleId>,
    ended: Ranges,
}

/// Set of numbers, stored as sorted, disjoint, non-adjacent ranges (first and last number). Only live modules split ranges. The number of
/// ranges therefore exceeds the number of live modules by at most one.
#[derive(Clone, Default, Debug)]
struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    #[inline]
    fn has(&self, number: u64) -> bool {
        // Most lookups concern a module that is newer than all ended modules.
        match self.0.last() {
            None => false,
            Some((_, last)) if number > *last => false,
            Some((first, _)) if number >= *first => true,
            Some(_) => {
                let behind = self.0.partition_point(|(first, _)| *first <= number);
                behind.checked_sub(1).is_some_and(|at| number <= self.0[at].1)
            }
        }
    }

    fn add(&mut self, first: u64, last: u64) {
        if first > last {
            return;
        }
        // Merges the ranges that overlap or touch the new range.
        let from = self.0.partition_point(|(_, end)| *end < first.saturating_sub(1));
        let to = self.0.partition_point(|(begin, _)| *begin <= last.saturating_add(1));
        let touched = &self.0[from..to.max(from)];
        let first = touched.first().map_or(first, |(begin, _)| first.min(*begin));
        let last = touched.last().map_or(last, |(_, end)| last.max(*end));
        self.0.splice(from..to.max(from), [(first, last)]);
    }
}

impl ModuleStatuses {
    /// Returns the status of `module`. A module without a recorded status is running.
    #[must_use]
    #[inline]
    pub fn status(&self, module: ModuleId) -> ModuleStatus {
        if module == ModuleId::HOST {
            ModuleStatus::Running
        } else if self.suspended.contains(&module) {
            ModuleStatus::Suspended
        } else if self.ended.has(module.0) {
            ModuleStatus::Ended
        } else {
            ModuleStatus::Running
        }
    }

    /// Suspends a running module. Does nothing for the host's own module and for ended modules.
    pub fn suspend(&mut self, module: ModuleId) {
        if module != ModuleId::HOST && self.status(module) == ModuleStatus::Running {
            self.suspended.insert(module);
        }
    }

    /// Resumes a suspended module.
    pub fn resume(&mut self, module: ModuleId) {
        self.suspended.remove(&module);
    }

    /// Ends a module, even a suspended module. The host's own module never ends.
    pub fn end(&mut self, module: ModuleId) {
        self.suspended.remove(&module);
        if module != ModuleId::HOST {
            self.ended.add(module.0, module.0);
        }
    }

    /// Marks the modules strictly between these two ids as ended. These modules never have entries, and each of them would otherwise split
    /// a range.
    pub fn pass_over(&mut self, after: ModuleId, before: ModuleId) {
        self.ended.add(after.0 + 1, before.0.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::{ModuleStatus, ModuleStatuses};
    use crate::handles::ModuleId;

    /// Checks the status of modules after these steps: `s3` suspends module 3, `r3` resumes it, `e3` ends it.
    fn check(verbs: &str, expected: [ModuleStatus; 4]) {
        let mut statuses = ModuleStatuses::default();
        for verb in verbs.split_whitespace() {
            let (verb, module) = verb.split_at(1);
            let module = ModuleId(module.parse().expect("a number"));
            match verb {
                "s" => statuses.suspend(module),
                "r" => statuses.resume(module),
                "e" => statuses.end(module),
                _ => unreachable!("{verb}"),
            }
        }
        let found: Vec<_> = (0..4).map(|number| statuses.status(ModuleId(number))).collect();
        assert_eq!(found, expected, "{verbs}");
    }

    #[test]
    fn a_generation_is_running_suspended_or_ended() {
        use ModuleStatus::{Ended as E, Running as R, Suspended as S};
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
        let mut statuses = ModuleStatuses::default();
        (1..=1000).for_each(|number| statuses.end(ModuleId(number)));
        assert_eq!(statuses.ended.0, [(1, 1000)]);
        assert_eq!(statuses.status(ModuleId(1000)), ModuleStatus::Ended);
        assert_eq!(statuses.status(ModuleId(1001)), ModuleStatus::Running);
    }

    #[test]
    fn memory_of_module_statuses_does_not_grow_with_reloads() {
        let mut statuses = ModuleStatuses::default();
        // Module 3 stays alive. Every third number belongs to a module without entries.
        for number in (1..=3000u64).filter(|number| number % 3 != 0 || *number == 3) {
            if number > 4 && number % 3 == 1 {
                statuses.pass_over(ModuleId(number - 2), ModuleId(number));
            }
            if number != 3 {
                statuses.end(ModuleId(number));
            }
        }
        assert_eq!(statuses.ended.0, [(1, 2), (4, 2999)]);
        assert_eq!(statuses.status(ModuleId(3)), ModuleStatus::Running);
        statuses.end(ModuleId(3));
        assert_eq!(statuses.ended.0, [(1, 2999)]);
    }

    #[test]
    fn pieces_answer_as_a_set_does() {
        let (mut pieces, mut set, mut seed) = (super::Ranges::default(), std::collections::BTreeSet::new(), 3u64);
        for _ in 0..2000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (first, length) = ((seed >> 33) % 500 + 1, (seed >> 20) % 4);
            // Includes empty ranges. They occur between two consecutive modules.
            let last = first + length - 1;
            pieces.add(first, last);
            set.extend(first..=last);
            assert!((0..=505).all(|number| pieces.has(number) == set.contains(&number)), "{pieces:?}");
            assert!(pieces.0.is_sorted() && pieces.0.windows(2).all(|two| two[0].1 + 1 < two[1].0), "{pieces:?}");
        }
    }
}
