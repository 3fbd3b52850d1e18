//! Checks that measurements of a process do not grow over many reloads.

use crate::plan::Reading;
use crate::statistics::{last_half, slope};

/// Minimum number of reloads for a check of the memory growth. During the first reloads, the allocator still grows to its working size.
const RELOADS_FOR_A_SLOPE: usize = 200;

/// Minimum number of reloads to compare the first tenth of the run with the last tenth.
const RELOADS_FOR_TENTHS: usize = 10;

/// Permitted growth of memory over the last half of a run, in KiB. A heap grows in steps, and the limit covers several of the largest
/// steps.
const STEPS_KIB: f64 = 400.0;

type Count = fn(&Reading) -> u64;

/// Returns the faults in `readings`, a list with one reading per reload. `max_growth` is in KiB per reload. A short run may exceed this
/// limit, because steady growth cannot be distinguished from a step of the heap.
pub(crate) fn faults(readings: &[Reading], max_growth: f64) -> Vec<String> {
    let memory: Vec<_> = readings.iter().map(|reading| reading.rss_kib as f64).collect();
    let half = last_half(&memory);
    let (growth, most) = (slope(half), max_growth.max(STEPS_KIB / half.len().max(1) as f64));
    let grows = readings.len() >= RELOADS_FOR_A_SLOPE && growth > most;
    let memory = grows.then(|| format!("memory grows by {growth:.3} KiB per reload, more than {most}"));
    let counts: [(&str, Count); 3] = [
        ("open files", |reading| reading.open_fds),
        ("threads", |reading| reading.threads),
        ("thread-specific keys", |reading| reading.keys),
    ];
    let counts = counts.into_iter().filter_map(|(what, count)| {
        let (before, after) = rise(&readings.iter().map(count).collect::<Vec<_>>())?;
        Some(format!("{what} rise: at most {before} in the first reloads, at least {after} in the last"))
    });
    memory.into_iter().chain(counts).collect()
}

/// Returns the maximum of the first tenth and the minimum of the last tenth if this minimum is larger. With this comparison, a thread or
/// file that exists only briefly does not count as growth.
fn rise(counts: &[u64]) -> Option<(u64, u64)> {
    if counts.len() < RELOADS_FOR_TENTHS {
        return None;
    }
    let tenth = counts.len() / 10;
    let before = counts[..tenth].iter().max()?;
    let after = counts[counts.len() - tenth..].iter().min()?;
    (after > before).then_some((*before, *after))
}

#[cfg(test)]
mod tests {
    use super::{faults, rise};
    use crate::plan::Reading;

    fn check(count: u64, reading: impl Fn(u64) -> Reading, expected: &[&str]) {
        let readings: Vec<_> = (0..count).map(reading).collect();
        assert_eq!(faults(&readings, 0.1), expected);
    }

    fn steady() -> Reading {
        Reading { rss_kib: 9000, open_fds: 9, threads: 2, keys: 3 }
    }

    #[test]
    fn a_process_that_does_not_grow_has_no_faults() {
        check(400, |_| steady(), &[]);
        check(0, |_| steady(), &[]);
        check(200, |reload| Reading { rss_kib: 9000 + reload * 3, ..steady() }, &[]);
        // Permits growth by one page in fifty reloads.
        check(10_000, |reload| Reading { rss_kib: 9000 + reload / 50 * 4, ..steady() }, &[]);
        // Permits a single growth step of the heap late in the run.
        for count in [200, 2000, 10_000] {
            let step = |reload: u64| Reading { rss_kib: 9000 + u64::from(reload > count * 3 / 4) * 256, ..steady() };
            check(count, step, &[]);
        }
    }

    #[test]
    fn memory_may_not_grow_beyond_the_limit_after_startup() {
        let growing = |reload| Reading { rss_kib: 9000 + reload * 5, ..steady() };
        check(200, growing, &["memory grows by 5.000 KiB per reload, more than 4"]);
        check(199, growing, &[]);
        check(400, |reload| Reading { rss_kib: 9000 + reload.min(100) * 50, ..steady() }, &[]);
        // Detects a leak with the figures of an earlier runtime version, which did not release the records of generations.
        let records = |reload: u64| Reading { rss_kib: 9000 + reload * 18 / 10, ..steady() };
        check(2000, records, &["memory grows by 1.800 KiB per reload, more than 0.4"]);
        check(10_000, records, &["memory grows by 1.800 KiB per reload, more than 0.1"]);
    }

    #[test]
    fn counts_may_not_rise() {
        let one_in_ten = |reload: u64| reload / 10;
        check(
            100,
            |reload| Reading { open_fds: 9 + one_in_ten(reload), ..steady() },
            &["open files rise: at most 9 in the first reloads, at least 18 in the last"],
        );
        check(
            10,
            |reload| Reading { threads: 2 + reload, keys: 3 + reload, ..steady() },
            &[
                "threads rise: at most 2 in the first reloads, at least 11 in the last",
                "thread-specific keys rise: at most 3 in the first reloads, at least 12 in the last",
            ],
        );
    }

    #[test]
    fn a_moment_is_no_rise() {
        let mut counts = vec![2; 100];
        counts[95] = 3;
        assert_eq!(rise(&counts), None);
        counts[90..].fill(3);
        assert_eq!(rise(&counts), Some((2, 3)));
        assert_eq!(rise(&[1, 9]), None);
    }
}
