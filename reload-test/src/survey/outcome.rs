//! What the host of a row says, line by line, and what it amounts to. Data in, data out.

use super::rows::Fate;
use crate::plan::Reading;
use crate::statistics::{last_half, slope};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the host says after each reload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Said {
    /// The reload, counted from one; zero before the first.
    pub(crate) reload: u64,
    /// The process now.
    pub(crate) process: Reading,
    /// Who kept the generation before, if it stays for good.
    pub(crate) parked: Vec<String>,
    /// What went wrong.
    pub(crate) fault: Option<String>,
}

/// How a row came out.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Reloads that were done.
    pub(crate) reloads: u64,
    /// Generations that stay mapped.
    pub(crate) parked: u64,
    /// By whom they are kept.
    pub(crate) names: BTreeSet<String>,
    /// Why the row is no row.
    pub(crate) fault: Option<String>,
    readings: Vec<Reading>,
}

/// What grows by a reload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Growth {
    pub(crate) memory_kib: f64,
    pub(crate) threads: f64,
    pub(crate) fds: f64,
    pub(crate) keys: f64,
}

impl Outcome {
    /// The host said this.
    pub(crate) fn hear(&mut self, said: Said) {
        if said.reload > 0 {
            self.reloads = said.reload;
            self.readings.push(said.process);
        }
        self.parked += u64::from(!said.parked.is_empty());
        self.names.extend(said.parked);
        if self.fault.is_none() {
            self.fault = said.fault;
        }
    }

    /// What becomes of most images.
    pub(crate) fn fate(&self) -> Fate {
        if self.parked * 2 > self.reloads { Fate::Parked } else { Fate::Unmapped }
    }

    /// Growth per reload over the last half, when the process has its size.
    pub(crate) fn growth(&self) -> Growth {
        let slope_of = |value: fn(&Reading) -> u64| {
            let values: Vec<_> = self.readings.iter().map(|reading| value(reading) as f64).collect();
            slope(last_half(&values))
        };
        Growth {
            memory_kib: slope_of(|reading| reading.rss_kib),
            threads: slope_of(|reading| reading.threads),
            fds: slope_of(|reading| reading.open_fds),
            keys: slope_of(|reading| reading.keys),
        }
    }

    /// Why the row is not as it should be.
    pub(crate) fn fault(&self, wanted_reloads: u64, wanted: Fate) -> Option<String> {
        if let Some(fault) = &self.fault {
            return Some(fault.clone());
        }
        if self.reloads != wanted_reloads {
            return Some(format!("{} of {wanted_reloads} reloads were done", self.reloads));
        }
        let unmapped = self.reloads - self.parked;
        match wanted {
            Fate::Unmapped if self.parked > 0 => {
                let names = self.names.iter().cloned().collect::<Vec<_>>().join("; ");
                Some(format!("only {unmapped} of {wanted_reloads} images were unmapped: {names}"))
            }
            Fate::Parked if self.fate() != wanted => {
                Some(format!("{unmapped} images were unmapped: the row is better than it says"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Growth, Outcome, Said};
    use crate::plan::Reading;
    use crate::survey::rows::Fate;

    fn heard(reloads: u64, parked: impl Fn(u64) -> bool) -> Outcome {
        let mut outcome = Outcome::default();
        for reload in 0..=reloads {
            let process = Reading { rss_kib: 1000 + 2 * reload, open_fds: 9, threads: 2, keys: reload };
            let parked = if parked(reload) { vec!["thread rayon".to_owned()] } else { Vec::new() };
            outcome.hear(Said { reload, process, parked, fault: None });
        }
        outcome
    }

    #[test]
    fn growth_is_by_reload() {
        let growth = heard(8, |_| false).growth();
        assert_eq!(growth, Growth { memory_kib: 2.0, threads: 0.0, fds: 0.0, keys: 1.0 });
    }

    #[test]
    fn a_row_that_is_worse_or_better_than_it_says_is_a_fault() {
        let fault = |outcome: &Outcome, wanted| outcome.fault(8, wanted).unwrap_or_default();
        assert_eq!(fault(&heard(8, |_| false), Fate::Unmapped), "");
        assert_eq!(fault(&heard(8, |reload| reload > 0), Fate::Parked), "");
        let one = fault(&heard(8, |reload| reload == 3), Fate::Unmapped);
        assert_eq!(one, "only 7 of 8 images were unmapped: thread rayon");
        assert!(fault(&heard(8, |_| false), Fate::Parked).contains("better than it says"));
        assert_eq!(fault(&heard(5, |_| false), Fate::Unmapped), "5 of 8 reloads were done");
    }

    #[test]
    fn the_first_fault_is_the_one_that_is_told() {
        let mut outcome = heard(2, |_| false);
        for fault in ["first", "second"] {
            outcome.hear(Said { reload: 3, fault: Some(fault.to_owned()), ..Said::default() });
        }
        assert_eq!(outcome.fault(2, Fate::Unmapped).as_deref(), Some("first"));
    }
}
