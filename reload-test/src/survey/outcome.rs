//! Messages of the host of a row, and the outcome. Data in, data out.

use super::plan::{Growth, Said, Step, Way};
use super::rows::{Fate, Row};
use crate::hosting::End;
use crate::plan::Reading;
use crate::statistics::{last_half, slope};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Data of the host's messages so far.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    reloads: u64,
    step: Step,
    parked: u64,
    names: BTreeSet<String>,
    fault: Option<String>,
    readings: Vec<Reading>,
}

/// Outcome of a row, for one mode of reloading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Requested number of reloads.
    pub(crate) wanted: u64,
    pub(crate) reloads: u64,
    /// Generations that stay mapped.
    pub(crate) parked: u64,
    /// Holders of the parked generations.
    pub(crate) names: BTreeSet<String>,
    pub(crate) growth: Growth,
    /// First error.
    pub(crate) fault: Option<String>,
}

impl Heard {
    /// Adds a message of the host.
    pub(crate) fn hear(&mut self, said: Said) {
        if said.step == Step::Done && said.reload > 0 {
            self.readings.push(said.process);
        }
        self.reloads = self.reloads.max(said.reload);
        self.step = said.step;
        self.parked += u64::from(!said.parked.is_empty());
        self.names.extend(said.parked);
        if self.fault.is_none() {
            self.fault = said.fault.map(|fault| format!("after reload {}: {fault}", self.reloads));
        }
    }

    /// Returns the outcome after the last message.
    pub(crate) fn outcome(self, wanted: u64, end: &End) -> Outcome {
        let reload = self.reloads;
        // The last completed step; the error occurred after it.
        let place = match self.step {
            Step::Done => format!("after reload {reload}"),
            Step::Away => format!("after reload {reload}, while the neighbor was loaded or unloaded"),
            Step::Ended => format!("at its end, after reload {reload}"),
        };
        let broken = match end {
            End::Well => None,
            End::Died(how) => Some(format!("the host crashed {place}: {how}")),
            End::Hung(seconds) => Some(format!("the host hung for {seconds} s {place}")),
        };
        let short = (reload != wanted).then(|| format!("{reload} of {wanted} reloads were done"));
        Outcome {
            wanted,
            reloads: reload,
            parked: self.parked,
            growth: growth(&self.readings),
            names: self.names,
            // The host's own finding has priority: a damaged host may also crash.
            fault: self.fault.or(broken).or(short),
        }
    }
}

/// Minimum number of reloads to judge growth.
const FEWEST: u64 = 16;
/// Permitted growth of memory, once over all reloads, in KiB.
const STEPS_KIB: f64 = 4000.0;

fn growth(readings: &[Reading]) -> Growth {
    let slope_of = |value: fn(&Reading) -> u64| {
        let values: Vec<_> = readings.iter().map(|reading| value(reading) as f64).collect();
        slope(last_half(&values))
    };
    Growth {
        memory_kib: slope_of(|reading| reading.rss_kib),
        threads: slope_of(|reading| reading.threads),
        fds: slope_of(|reading| reading.open_fds),
        keys: slope_of(|reading| reading.keys),
    }
}

impl Growth {
    /// Returns the first figure beyond its bound. Counts of threads, files and keys must not be below the stated
    /// values, either.
    fn fault(&self, bound: &Self, reloads: u64) -> Option<String> {
        if reloads < FEWEST {
            return None;
        }
        let most = bound.memory_kib + STEPS_KIB / reloads as f64;
        if self.memory_kib > most {
            return Some(format!("{:.1} KiB more per reload, of {most:.0} that the row allows", self.memory_kib));
        }
        let counts =
            [("threads", self.threads, bound.threads), ("files", self.fds, bound.fds), ("keys", self.keys, bound.keys)];
        let (what, grown, stated) = counts.into_iter().find(|(_, grown, stated)| (grown - stated).abs() > 0.3)?;
        Some(format!("{grown:.2} {what} more per reload, and the row states {stated}"))
    }
}

impl Outcome {
    /// Returns the state of most images.
    pub(crate) fn fate(&self) -> Fate {
        if self.parked * 2 > self.reloads { Fate::Parked } else { Fate::Unmapped }
    }

    /// Returns the first difference from the statements of the row.
    pub(crate) fn fault(&self, row: &Row, way: Way) -> Option<String> {
        let of_growth = || row.grows(way).and_then(|bound| self.growth.fault(bound, self.reloads));
        self.fault
            .clone()
            .or_else(|| self.fault_of_images(row.fate(way)))
            .or_else(|| self.stranger(row))
            .or_else(of_growth)
    }

    /// Returns a holder that the row does not state.
    fn stranger(&self, row: &Row) -> Option<String> {
        let stranger = self.names.iter().find(|name| !row.kept_by.iter().any(|known| name.contains(known)))?;
        Some(format!("the image is kept by something that the row does not expect: {stranger}"))
    }

    fn fault_of_images(&self, wanted: Fate) -> Option<String> {
        let unmapped = self.reloads.saturating_sub(self.parked);
        match wanted {
            Fate::Unmapped if self.parked > 0 => {
                let names = self.names.iter().cloned().collect::<Vec<_>>().join("; ");
                Some(format!("only {unmapped} of {} images were unmapped: {names}", self.wanted))
            }
            Fate::Parked if self.fate() != wanted => {
                Some(format!("{unmapped} images were unmapped: the row should expect `unmapped`"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Heard, Outcome};
    use crate::plan::Reading;
    use crate::survey::plan::{Growth, Said, Step, Way};
    use crate::survey::rows::{Fate, Row, rows};

    fn said(reload: u64, step: Step, parked: bool) -> Said {
        let process = Reading { rss_kib: 1000 + 2 * reload, open_fds: 9, threads: 2, keys: reload };
        let parked = if parked { vec!["thread rayon".to_owned()] } else { Vec::new() };
        Said { reload, step, process, parked, fault: None }
    }

    fn heard(reloads: u64, parked: impl Fn(u64) -> bool) -> Heard {
        let mut heard = Heard::default();
        (0..=reloads).for_each(|reload| heard.hear(said(reload, Step::Done, parked(reload))));
        heard
    }

    fn outcome(reloads: u64, parked: impl Fn(u64) -> bool) -> Outcome {
        heard(reloads, parked).outcome(8, &End::Well)
    }

    #[test]
    fn growth_is_by_reload() {
        let growth = outcome(8, |_| false).growth;
        assert_eq!(growth, Growth { memory_kib: 2.0, threads: 0.0, fds: 0.0, keys: 1.0 });
    }

    #[test]
    fn a_row_worse_or_better_than_stated_is_a_fault() {
        let fault = |outcome: Outcome, fate| {
            let row =
                Row { fate, kept_by: vec!["rayon".into()], ..rows(&["rand".to_owned()]).expect("a row")[0].clone() };
            outcome.fault(&row, Way::OntoItself).unwrap_or_default()
        };
        assert_eq!(fault(outcome(8, |_| false), Fate::Unmapped), "");
        assert_eq!(fault(outcome(8, |reload| reload > 0), Fate::Parked), "");
        let one = fault(outcome(8, |reload| reload == 3), Fate::Unmapped);
        assert_eq!(one, "only 7 of 8 images were unmapped: thread rayon");
        assert!(fault(outcome(8, |_| false), Fate::Parked).contains("the row should expect `unmapped`"));
        assert_eq!(fault(outcome(5, |_| false), Fate::Unmapped), "5 of 8 reloads were done");
    }

    #[test]
    fn a_row_is_parked_if_more_than_half_of_its_images_are() {
        assert!(matches!(outcome(8, |reload| reload % 2 == 1).fate(), Fate::Unmapped));
        assert!(matches!(outcome(8, |reload| reload > 3).fate(), Fate::Parked));
    }

    #[test]
    fn a_reason_that_the_row_does_not_state_is_a_fault() {
        let fault = |kept_by: &[&str]| {
            let kept_by = kept_by.iter().map(|&name| name.to_owned()).collect();
            let row = Row { fate: Fate::Parked, kept_by, ..rows(&["rand".to_owned()]).expect("a row")[0].clone() };
            outcome(8, |reload| reload > 0).fault(&row, Way::Alternating)
        };
        assert_eq!(fault(&["smol", "thread rayon"]), None);
        let stranger = "the image is kept by something that the row does not expect: thread rayon";
        assert_eq!(fault(&["smol"]).as_deref(), Some(stranger));
    }

    #[test]
    fn growth_beyond_the_bound_and_other_counts_are_faults() {
        let check = |grown: [f64; 4], stated: [f64; 4], reloads, expected: &str| {
            let of = |[memory_kib, threads, fds, keys]: [f64; 4]| Growth { memory_kib, threads, fds, keys };
            assert_eq!(of(grown).fault(&of(stated), reloads).unwrap_or_default(), expected, "{grown:?} {stated:?}");
        };
        check([22.0, 0.1, 2.9, 0.0], [2.0, 0.0, 3.0, 0.0], 200, "");
        check([22.1, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], 200, "22.1 KiB more per reload, of 22 that the row allows");
        check([22.1, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], 50, "");
        check([500.0, 1.0, 1.0, 1.0], [0.0; 4], 15, "");
        check([0.0, 1.0, 0.0, 0.0], [0.0; 4], 50, "1.00 threads more per reload, and the row states 0");
        check([0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 3.0, 0.0], 50, "2.00 files more per reload, and the row states 3");
        check([0.0, 0.0, 0.0, 1.0], [0.0; 4], 50, "1.00 keys more per reload, and the row states 0");
    }

    #[test]
    fn the_first_fault_is_reported() {
        let mut heard = heard(8, |_| false);
        for fault in ["first", "second"] {
            heard.hear(Said { fault: Some(fault.to_owned()), step: Step::Ended, ..Said::default() });
        }
        let end = End::Died("signal: 6 (SIGABRT)".to_owned());
        assert_eq!(heard.outcome(8, &end).fault.as_deref(), Some("after reload 8: first"));
    }

    #[test]
    fn a_crash_of_a_host_is_reported_with_its_last_step() {
        let check = |last: Said, end: End, expected: &str| {
            let mut heard = heard(3, |_| false);
            heard.hear(last);
            assert_eq!(heard.outcome(8, &end).fault.as_deref(), Some(expected));
        };
        let died = || End::Died("signal: 11 (SIGSEGV)".to_owned());
        check(said(4, Step::Done, false), died(), "the host crashed after reload 4: signal: 11 (SIGSEGV)");
        check(
            said(3, Step::Away, false),
            died(),
            "the host crashed after reload 3, while the neighbor was loaded or unloaded: signal: 11 (SIGSEGV)",
        );
        check(said(0, Step::Ended, false), died(), "the host crashed at its end, after reload 3: signal: 11 (SIGSEGV)");
        check(said(4, Step::Done, false), End::Hung(60), "the host hung for 60 s after reload 4");
    }
}
