//! Stores each result in a separate file, because a complete survey takes long and may be interrupted.

use super::outcome::Outcome;
use super::plan::ReloadMode;
use super::rows::Row;
use alcedo_runtime::development::plain_file;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Inputs on which a result depends. A result is current if its inputs are unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Key {
    /// The versions of the row's crates: `tokio 1.52.1`.
    pub(crate) versions: Vec<String>,
    /// A digest of the sources of the host, of the survey and of the row.
    pub(crate) sources: String,
}

/// All results of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) row: String,
    pub(crate) key: Key,
    pub(crate) date: String,
    /// Requested number of reloads.
    #[serde(rename = "asked")]
    pub(crate) requested: u64,
    pub(crate) outcomes: BTreeMap<ReloadMode, Outcome>,
    /// Errors that occurred without an outcome, such as a failed build.
    pub(crate) faults: Vec<String>,
}

impl Record {
    /// Returns all differences from the outcomes that the row expects. Compares with the current bounds, so that changed bounds require no
    /// new run.
    pub(crate) fn judged(&self, row: &Row) -> Vec<String> {
        let broken = self.outcomes.iter().filter_map(|(mode, outcome)| {
            outcome.fault(row, *mode).map(|fault| format!("{}{}: {fault}", row.name, mode.suffix()))
        });
        self.faults.iter().cloned().chain(broken).collect()
    }
}

#[derive(Debug)]
pub(crate) struct Store {
    dir: PathBuf,
}

impl Store {
    pub(crate) fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Returns the result of a row. An unreadable file counts as missing, because a different version of this program may have written it.
    pub(crate) fn get(&self, row: &str) -> Option<Record> {
        let record: Record = serde_json::from_slice(&fs::read(self.path(row)).ok()?).ok()?;
        (record.row == row).then_some(record)
    }

    /// Writes a result atomically, so that an interruption leaves no partial file.
    ///
    /// # Errors
    /// Fails if the folder cannot be created or written to.
    pub(crate) fn put(&self, record: &Record) -> Result<()> {
        let path = self.path(&record.row);
        let mut text = serde_json::to_vec_pretty(record)?;
        text.push(b'\n');
        fs::create_dir_all(&self.dir)
            .and_then(|()| plain_file::replace(&path, &text))
            .with_context(|| format!("could not write {}", path.display()))
    }

    fn path(&self, row: &str) -> PathBuf {
        self.dir.join(format!("{row}.json"))
    }
}

/// Returns true if a result is current and as expected, so that the row need not run again.
pub(crate) fn is_current(row: &Row, record: Option<&Record>, key: &Key, requested: u64) -> bool {
    record.is_some_and(|record| record.key == *key && record.judged(row).is_empty() && record.requested >= requested)
}

#[cfg(test)]
mod tests {
    use super::{Key, Record, Store, is_current};
    use crate::survey::outcome::Outcome;
    use crate::survey::plan::ReloadMode;
    use crate::survey::rows::rows;
    use std::collections::BTreeMap;

    fn key(version: &str, sources: &str) -> Key {
        Key { versions: vec![format!("rand {version}")], sources: sources.to_owned() }
    }

    fn record(faults: &[&str]) -> Record {
        Record {
            row: "rand".to_owned(),
            key: key("0.9.1", "a1"),
            date: "2026-11-22".to_owned(),
            requested: 200,
            outcomes: BTreeMap::from([(ReloadMode::Alternating, Outcome { requested: 200, ..Outcome::default() })]),
            faults: faults.iter().map(|&fault| fault.to_owned()).collect(),
        }
    }

    #[test]
    fn stored_records_are_found_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::at(&dir.path().join("results"));
        assert_eq!(store.get("rand"), None);
        for record in [record(&["the host crashed"]), record(&[])] {
            store.put(&record).expect("there is room");
            assert_eq!(store.get("rand"), Some(record));
        }
        std::fs::copy(dir.path().join("results/rand.json"), dir.path().join("results/smol.json")).expect("a copy");
        assert_eq!(store.get("smol"), None, "a result of another row");
        std::fs::write(dir.path().join("results/rand.json"), "{}").expect("there is room");
        assert_eq!(store.get("rand"), None, "a result of another program");
    }

    #[test]
    fn a_sound_result_of_equal_code_and_length_decides_a_row() {
        let sound = record(&[]);
        let row = rows(&["rand".to_owned()]).expect("a row")[0];
        let check = |record: Option<&Record>, key: &Key, requested, expected| {
            assert_eq!(is_current(row, record, key, requested), expected, "{record:?} {key:?} {requested}");
        };
        check(Some(&sound), &sound.key, 200, true);
        check(Some(&sound), &sound.key, 20, true);
        check(Some(&sound), &sound.key, 300, false);
        check(Some(&sound), &key("0.9.2", "a1"), 200, false);
        check(Some(&sound), &key("0.9.1", "a2"), 200, false);
        check(Some(&record(&["the host crashed"])), &sound.key, 200, false);
        check(None, &sound.key, 200, false);
    }
}
