//! Computes the outcome of one row of the survey's table from the messages of the row's host process.

use super::plan::{Growth, Message, ReloadMode, Step};
use super::rows::{ImageState, Row};
use crate::hosting::End;
use crate::plan::Reading;
use crate::statistics::{last_half, slope};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Data collected from the messages that a host has sent.
#[derive(Debug, Default)]
pub(crate) struct Messages {
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
    #[serde(rename = "wanted")]
    pub(crate) requested: u64,
    pub(crate) reloads: u64,
    /// Number of parked generations.
    pub(crate) parked: u64,
    /// Holders that keep the parked generations mapped.
    pub(crate) names: BTreeSet<String>,
    pub(crate) growth: Growth,
    /// First error.
    pub(crate) fault: Option<String>,
}

impl Messages {
    /// Adds a message from the host.
    pub(crate) fn add(&mut self, message: Message) {
        if message.step == Step::Done && message.reload > 0 {
            self.readings.push(message.process);
        }
        self.reloads = self.reloads.max(message.reload);
        self.step = message.step;
        self.parked += u64::from(!message.parked.is_empty());
        self.names.extend(message.parked);
        if self.fault.is_none() {
            self.fault = message.fault.map(|fault| format!("after reload {}: {fault}", self.reloads));
        }
    }

    /// Returns the outcome of a host that has ended with `end`. `requested` is the requested number of reloads.
    pub(crate) fn outcome(self, requested: u64, end: &End) -> Outcome {
        let reload = self.reloads;
        // Names the last completed step before an error.
        let position = match self.step {
            Step::Done => format!("after reload {reload}"),
            Step::Away => format!("after reload {reload}, while the neighbor was loaded or unloaded"),
            Step::Ended => format!("at its end, after reload {reload}"),
        };
        let broken = match end {
            End::Success => None,
            End::Crashed(status) => Some(format!("the host crashed {position}: {status}")),
            End::Hung(seconds) => Some(format!("the host hung for {seconds} s {position}")),
        };
        let short = (reload != requested).then(|| format!("{reload} of {requested} reloads were done"));
        Outcome {
            requested,
            reloads: reload,
            parked: self.parked,
            growth: growth(&self.readings),
            names: self.names,
            // Prefers an error that the host has reported over the way in which the host ended, because a damaged host may also crash.
            fault: self.fault.or(broken).or(short),
        }
    }
}

/// Minimum number of reloads for a check of growth.
const FEWEST: u64 = 16;
/// Total growth of memory over all reloads, in KiB, that is permitted in addition to the growth that the row states.
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
    /// Describes the first growth figure that is outside its bounds. The growth of threads, files and keys must equal the growth that the
    /// row states, within a tolerance.
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
        let (unit, grown, stated) = counts.into_iter().find(|(_, grown, stated)| (grown - stated).abs() > 0.3)?;
        Some(format!("{grown:.2} {unit} more per reload, and the row states {stated}"))
    }
}

impl Outcome {
    /// Returns the state of the majority of the images.
    pub(crate) fn image_state(&self) -> ImageState {
        if self.parked * 2 > self.reloads { ImageState::Parked } else { ImageState::Unmapped }
    }

    /// Returns the first difference between this outcome and the outcome that the row expects.
    pub(crate) fn fault(&self, row: &Row, mode: ReloadMode) -> Option<String> {
        let of_growth = || row.grows(mode).and_then(|bound| self.growth.fault(bound, self.reloads));
        self.fault
            .clone()
            .or_else(|| self.fault_of_images(row.image_state(mode)))
            .or_else(|| self.stranger(row))
            .or_else(of_growth)
    }

    /// Returns an error for a holder that the row does not state.
    fn stranger(&self, row: &Row) -> Option<String> {
        let stranger =
            self.names.iter().find(|name| !row.kept_by.iter().any(|stated_holder| name.contains(stated_holder)))?;
        Some(format!("the image is kept by something that the row does not expect: {stranger}"))
    }

    fn fault_of_images(&self, expected: ImageState) -> Option<String> {
        let unmapped = self.reloads.saturating_sub(self.parked);
        match expected {
            ImageState::Unmapped if self.parked > 0 => {
                let names = self.names.iter().cloned().collect::<Vec<_>>().join("; ");
                Some(format!("only {unmapped} of {} images were unmapped: {names}", self.requested))
            }
            ImageState::Parked if self.image_state() != expected => {
                Some(format!("{unmapped} images were unmapped: the row should expect `unmapped`"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Messages, Outcome};
    use crate::plan::Reading;
    use crate::survey::plan::{Growth, Message, ReloadMode, Step};
    use crate::survey::rows::{ImageState, Row, rows};

    fn message(reload: u64, step: Step, parked: bool) -> Message {
        let process = Reading { rss_kib: 1000 + 2 * reload, open_fds: 9, threads: 2, keys: reload };
        let parked = if parked { vec!["thread rayon".to_owned()] } else { Vec::new() };
        Message { reload, step, process, parked, fault: None }
    }

    fn messages(reloads: u64, parked: impl Fn(u64) -> bool) -> Messages {
        let mut messages = Messages::default();
        (0..=reloads).for_each(|reload| messages.add(message(reload, Step::Done, parked(reload))));
        messages
    }

    fn outcome(reloads: u64, parked: impl Fn(u64) -> bool) -> Outcome {
        messages(reloads, parked).outcome(8, &End::Success)
    }

    #[test]
    fn growth_is_by_reload() {
        let growth = outcome(8, |_| false).growth;
        assert_eq!(growth, Growth { memory_kib: 2.0, threads: 0.0, fds: 0.0, keys: 1.0 });
    }

    #[test]
    fn a_row_worse_or_better_than_stated_is_a_fault() {
        let fault = |outcome: Outcome, image_state| {
            let row = Row {
                image_state,
                kept_by: vec!["rayon".into()],
                ..rows(&["rand".to_owned()]).expect("a row")[0].clone()
            };
            outcome.fault(&row, ReloadMode::OntoItself).unwrap_or_default()
        };
        assert_eq!(fault(outcome(8, |_| false), ImageState::Unmapped), "");
        assert_eq!(fault(outcome(8, |reload| reload > 0), ImageState::Parked), "");
        let one = fault(outcome(8, |reload| reload == 3), ImageState::Unmapped);
        assert_eq!(one, "only 7 of 8 images were unmapped: thread rayon");
        assert!(fault(outcome(8, |_| false), ImageState::Parked).contains("the row should expect `unmapped`"));
        assert_eq!(fault(outcome(5, |_| false), ImageState::Unmapped), "5 of 8 reloads were done");
    }

    #[test]
    fn a_row_is_parked_if_more_than_half_of_its_images_are() {
        assert!(matches!(outcome(8, |reload| reload % 2 == 1).image_state(), ImageState::Unmapped));
        assert!(matches!(outcome(8, |reload| reload > 3).image_state(), ImageState::Parked));
    }

    #[test]
    fn a_reason_that_the_row_does_not_state_is_a_fault() {
        let fault = |kept_by: &[&str]| {
            let kept_by = kept_by.iter().map(|&name| name.to_owned()).collect();
            let row = Row {
                image_state: ImageState::Parked,
                kept_by,
                ..rows(&["rand".to_owned()]).expect("a row")[0].clone()
            };
            outcome(8, |reload| reload > 0).fault(&row, ReloadMode::Alternating)
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
        let mut messages = messages(8, |_| false);
        for fault in ["first", "second"] {
            messages.add(Message { fault: Some(fault.to_owned()), step: Step::Ended, ..Message::default() });
        }
        let end = End::Crashed("signal: 6 (SIGABRT)".to_owned());
        assert_eq!(messages.outcome(8, &end).fault.as_deref(), Some("after reload 8: first"));
    }

    #[test]
    fn a_crash_of_a_host_is_reported_with_its_last_step() {
        let check = |last: Message, end: End, expected: &str| {
            let mut messages = messages(3, |_| false);
            messages.add(last);
            assert_eq!(messages.outcome(8, &end).fault.as_deref(), Some(expected));
        };
        let crashed = || End::Crashed("signal: 11 (SIGSEGV)".to_owned());
        check(message(4, Step::Done, false), crashed(), "the host crashed after reload 4: signal: 11 (SIGSEGV)");
        check(
            message(3, Step::Away, false),
            crashed(),
            "the host crashed after reload 3, while the neighbor was loaded or unloaded: signal: 11 (SIGSEGV)",
        );
        check(
            message(0, Step::Ended, false),
            crashed(),
            "the host crashed at its end, after reload 3: signal: 11 (SIGSEGV)",
        );
        check(message(4, Step::Done, false), End::Hung(60), "the host hung for 60 s after reload 4");
    }
}
