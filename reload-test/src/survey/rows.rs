//! The rows: which crates, used how, and what is known to become of them. A row whose outcome is another than this says
//! fails the run, so the page cannot rot unseen.

mod basics;
mod crates;
mod facilities;

use self::basics::BASICS;
use self::crates::CRATES;
use self::facilities::FACILITIES;
use super::plan::Way;
pub(crate) use super::plan::{Fate, Growth};
use super::system::System;
use anyhow::{Result, bail};

/// A row of the survey.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name, which is the feature of the surveyed plugin.
    pub(crate) name: &'static str,
    /// The crates of crates.io whose versions are told.
    pub(crate) crates: &'static [&'static str],
    /// How they are used.
    pub(crate) use_of: &'static str,
    /// What becomes of the image where threads are only asked to stop.
    pub(crate) fate: Fate,
    /// What becomes of it where threads may be evicted, too. Only tried where it is parked otherwise.
    pub(crate) evicted: Fate,
    /// Reasons for which images are parked: each reason that is found must contain one of these.
    pub(crate) kept_by: &'static [&'static str],
    /// Growth per reload onto itself: upper limit of memory, and exact counts of threads, files and keys.
    pub(crate) grows: Growth,
    /// Growth per reload with eviction.
    pub(crate) grows_evicted: Growth,
    /// Whether the host runs with RUST_BACKTRACE=1.
    pub(crate) backtrace: bool,
    /// No more reloads than this, where the system has no more of what the crate leaves behind.
    pub(crate) most: u64,
    /// What the machine must have to build and run it. Where it is missing, the row is left out, and the survey says so.
    pub(crate) needs: &'static [System],
    /// How long the neighbor waits for what this row may have left behind to strike, in milliseconds.
    pub(crate) strikes_after_ms: u64,
    /// What the figures say beyond themselves: sentences for the page, or nothing.
    pub(crate) note: &'static str,
}

impl Row {
    /// How many reloads of those that were asked for.
    pub(crate) fn reloads(&self, asked: u64) -> u64 {
        asked.min(self.most)
    }

    /// Returns the expected outcome of images in a way of reloading.
    pub(crate) fn fate(&self, way: Way) -> Fate {
        if way.evicts() { self.evicted } else { self.fate }
    }

    /// Returns the stated growth in a way of reloading; `None` if the neighbor contributes to it.
    pub(crate) fn grows(&self, way: Way) -> Option<&Growth> {
        match way {
            Way::OntoItself => Some(&self.grows),
            Way::Evicting => Some(&self.grows_evicted),
            Way::Alternating | Way::EvictingAlternating => None,
        }
    }
}

const fn row(name: &'static str, crates: &'static [&'static str], use_of: &'static str, fate: Fate) -> Row {
    Row {
        name,
        crates,
        use_of,
        fate,
        evicted: Fate::Unmapped,
        kept_by: &[],
        grows: left(0.0, 0.0),
        grows_evicted: left(0.0, 0.0),
        backtrace: false,
        most: u64::MAX,
        needs: &[],
        strikes_after_ms: 20,
        note: "",
    }
}

/// Of memory in KiB, and of files; no threads and no keys.
const fn left(memory_kib: f64, fds: f64) -> Growth {
    kept(memory_kib, 0.0, fds, 0.0)
}

/// Of memory in KiB, threads, files and keys.
const fn kept(memory_kib: f64, threads: f64, fds: f64, keys: f64) -> Growth {
    Growth { memory_kib, threads, fds, keys }
}

/// Every row, in the order of the page: see the file of each theme.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    [BASICS, CRATES, FACILITIES].into_iter().flatten()
}

/// The rows of these names, in the order of the page; all of them where none is named.
pub(crate) fn rows(names: &[String]) -> Result<Vec<&'static Row>> {
    if let Some(unknown) = names.iter().find(|name| all().all(|row| row.name != name.as_str())) {
        let known: Vec<_> = all().map(|row| row.name).collect();
        bail!("there is no row `{unknown}`; name one of {}", known.join(", "));
    }
    Ok(all().filter(|row| names.is_empty() || names.iter().any(|name| name == row.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::{all, rows};
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_a_feature_of_the_surveyed_plugin() {
        let manifest = include_str!("../../survey/Cargo.toml");
        for row in all() {
            assert!(manifest.contains(&format!("\n{} = [", row.name)), "{}", row.name);
            assert!(row.crates.iter().all(|name| manifest.contains(&format!("\n{name} = {{"))), "{}", row.name);
        }
    }

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let names: BTreeSet<_> = all().map(|row| row.name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn an_unknown_row_is_told_the_known_ones() {
        let error = rows(&["x".to_owned()]).expect_err("there is none").to_string();
        assert!(error.starts_with("there is no row `x`; name one of bare, std, tracing"), "{error}");
        assert_eq!(rows(&[]).expect("all").len(), all().count());
        assert_eq!(rows(&["smol".to_owned(), "rand".to_owned()]).expect("two").len(), 2);
    }
}
