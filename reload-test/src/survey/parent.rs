//! The parent process of the survey: builds the plugin of each row, runs a host in each mode, stores the results, and writes the table.

use super::args::Args;
use super::machine;
use super::outcome::{Messages, Outcome};
use super::plan::{Plan, ReloadMode};
use super::rows::{ImageState, Row, all, rows};
use super::sources;
use super::store::{Key, Record, Store, is_current};
use super::table::{Entry, Made, earlier, page, table};
use crate::hosting;
use alcedo_build::{BuildRequest, Variants};
use anyhow::{Context, Result};
use cargo_metadata::{CargoOpt, MetadataCommand};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Ids of the builds. The builds differ only in these ids.
const TAGS: [u64; 2] = [1, 2];
/// Maximum total time that the neighbor waits for late effects of the plugin of a row, in milliseconds.
const WAITING_MS: u64 = 10_000;
/// Minimum number of reloads with a neighbor, unless fewer reloads are requested.
const FEWEST: u64 = 5;

/// Runs the survey that the command line describes. Returns true if every row had its expected outcome.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let chosen = rows(&args.rows)?;
    let begun = Instant::now();
    let dir = tempfile::tempdir().context("could not make a folder for the builds")?;
    let keys = keys(&args.sources)?;
    let survey = Survey { args, dir: dir.path(), store: Store::at(&args.store), keys: &keys };
    let mut left = VecDeque::new();
    for row in &chosen {
        let is_known = || is_current(row, survey.store.get(&row.name).as_ref(), &keys[&*row.name], args.reloads);
        if let Some(remedy) = row.missing() {
            eprintln!("{}: left out. {remedy}", row.name);
        } else if args.missing && is_known() {
            eprintln!("{}: known", row.name);
        } else {
            left.push_back(*row);
        }
    }
    let faults = survey.all(left);
    let entries: Vec<_> = chosen.iter().map(|row| survey.entry(row)).collect();
    io::stdout().lock().write_all(table(&entries).as_bytes())?;
    for fault in &faults {
        eprintln!("{fault}");
    }
    eprintln!("{} s", begun.elapsed().as_secs());
    if let Some(path) = &args.page {
        let before = fs::read_to_string(path).unwrap_or_default();
        let entry = |row: &'static Row| Entry { earlier: earlier(&before, &row.name), ..survey.entry(row) };
        let entries: Vec<_> = all().map(entry).collect();
        let (rustc, libc, system) = (machine::rustc(), machine::libc(), machine::system());
        let made = Made { rustc, libc, system, commit: machine::commit(&args.sources) };
        fs::write(path, page(&entries, &made)).with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(faults.is_empty())
}

/// Data that all rows share.
struct Survey<'a> {
    args: &'a Args,
    dir: &'a Path,
    store: Store,
    keys: &'a BTreeMap<&'static str, Key>,
}

impl Survey<'_> {
    /// Runs these rows, several of them at the same time. Returns the errors of all rows.
    fn all(&self, left: VecDeque<&'static Row>) -> Vec<String> {
        if left.is_empty() {
            return Vec::new();
        }
        let neighbor = build(&self.args.sources.join("neighbor"), None, 0, self.dir);
        let (left, faults) = (Mutex::new(left), Mutex::new(Vec::new()));
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let run = || {
            while let Some(row) = next() {
                let found = self.one(row, &neighbor).unwrap_or_else(|error| vec![format!("{}: {error:#}", row.name)]);
                faults.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
            }
        };
        thread::scope(|scope| (0..self.args.jobs.max(1)).for_each(|_| drop(scope.spawn(run))));
        faults.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a row in every mode, and stores the result. Returns the errors of the row.
    fn one(&self, row: &Row, neighbor: &Result<PathBuf, String>) -> Result<Vec<String>> {
        let begun = Instant::now();
        let mut record = Record {
            row: row.name.clone(),
            key: self.keys[&*row.name].clone(),
            date: machine::today(),
            requested: self.args.reloads,
            outcomes: BTreeMap::new(),
            faults: Vec::new(),
        };
        let built: Result<Vec<_>, String> =
            TAGS.into_iter().map(|tag| build(&self.args.sources, Some(&row.name), tag, self.dir)).collect();
        match (&built, neighbor) {
            (Ok(libraries), Ok(neighbor)) => {
                for mode in modes(row) {
                    record.outcomes.insert(mode, self.host(row, mode, libraries, neighbor)?);
                }
            }
            (Err(error), _) | (_, Err(error)) => record.faults.push(format!("{}: {error}", row.name)),
        }
        self.store.put(&record)?;
        let faults = record.judged(row);
        let verdict = if faults.is_empty() { "well" } else { "badly" };
        eprintln!("{}: {verdict}, after {} s", row.name, begun.elapsed().as_secs());
        Ok(faults)
    }

    fn host(&self, row: &Row, mode: ReloadMode, libraries: &[PathBuf], neighbor: &Path) -> Result<Outcome> {
        let plan = Plan {
            libraries: libraries.to_vec(),
            neighbor: neighbor.to_owned(),
            mode,
            reloads: reloads(row, mode, self.args.reloads),
            expected_state: row.image_state(mode),
            strikes_after_ms: row.strikes_after_ms(),
            injected_fault: self.args.injected_fault,
        };
        let dir = self.dir.join("hosts").join(&row.name);
        // Adds the time for which the neighbor waits, because this wait is not a hang.
        let patience = Duration::from_secs(self.args.patience) + Duration::from_millis(row.strikes_after_ms());
        let scratch = dir.join("scratch");
        fs::create_dir_all(&scratch).with_context(|| format!("could not make {}", scratch.display()))?;
        let mut command = hosting::command(&plan, &dir, "")?;
        command.env("TMPDIR", &scratch).env("RUST_BACKTRACE", if row.backtrace { "1" } else { "0" });
        // Sets the number of threads in thread pools, because the default depends on the machine.
        for count in ["ASYNC_STD_THREAD_COUNT", "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS"] {
            command.env(count, "2");
        }
        let mut messages = Messages::default();
        let end = hosting::run(command, patience, |line| {
            // Ignores lines that are not messages, because the crate may have printed such lines.
            serde_json::from_str(line).into_iter().for_each(|message| messages.add(message));
        })?;
        Ok(messages.outcome(plan.reloads, &end))
    }

    /// Returns a row with its stored result. The result may belong to older code.
    fn entry(&self, row: &'static Row) -> Entry {
        let record = self.store.get(&row.name);
        let is_of_this_code = record.as_ref().is_some_and(|record| record.key == self.keys[&*row.name]);
        Entry { row, record, earlier: None, is_of_this_code, remedy: row.missing() }
    }
}

/// Returns the modes in which a row runs.
fn modes(row: &Row) -> impl Iterator<Item = ReloadMode> {
    let is_parked = row.image_state == ImageState::Parked;
    let evicting = is_parked.then_some([ReloadMode::Evicting, ReloadMode::EvictingAlternating]);
    [ReloadMode::OntoItself, ReloadMode::Alternating].into_iter().chain(evicting.into_iter().flatten())
}

/// Returns the number of reloads in a mode. Modes with a neighbor have fewer reloads, because the neighbor waits in each reload.
fn reloads(row: &Row, mode: ReloadMode, requested: u64) -> u64 {
    let most = if mode.alternates() { FEWEST.max(WAITING_MS / row.strikes_after_ms().max(1)) } else { u64::MAX };
    row.reloads(requested).min(most)
}

/// Builds the surveyed plugin with one feature, or builds the neighbor. Returns errors as a string, because these errors concern only this
/// row.
fn build(sources: &Path, row: Option<&str>, tag: u64, dir: &Path) -> Result<PathBuf, String> {
    let manifest = sources.join("Cargo.toml");
    let request = BuildRequest::new(&manifest).env("ALCEDO_BUILD_TAG", tag.to_string());
    let request = match row {
        Some(row) => request.package("surveyed").feature(row),
        None => request.package("neighbor"),
    };
    let label = format!("{}-{tag}", row.unwrap_or("neighbor"));
    let built = Variants::new(dir.join("builds")).get(&request, &label);
    built.map_err(|error| format!("it could not be built: {error}"))
}

/// Returns the inputs on which the result of each row depends.
fn keys(folder: &Path) -> Result<BTreeMap<&'static str, Key>> {
    let versions = versions(folder)?;
    let shared = sources::shared(folder)?;
    let key = |row: &'static Row| {
        let version = |name: &String| versions.get(name).map(|version| format!("{name} {version}"));
        let sources = format!("{shared:016x}-{:016x}", sources::of_row(folder, &row.name)?);
        Ok((&*row.name, Key { versions: row.crates().iter().filter_map(version).collect(), sources }))
    };
    all().map(key).collect()
}

/// Returns the versions of all crates with which the surveyed plugin was built.
fn versions(sources: &Path) -> Result<BTreeMap<String, String>> {
    let mut command = MetadataCommand::new();
    command.manifest_path(sources.join("Cargo.toml")).features(CargoOpt::AllFeatures);
    let metadata = command.exec().context("could not ask cargo for the versions of the crates")?;
    // Selects the direct dependencies of the plugin, because the graph may contain several versions of a crate.
    let root = metadata.resolve.and_then(|resolve| {
        let root = resolve.root?;
        resolve.nodes.into_iter().find(|node| node.id == root)
    });
    let direct = root.map(|node| node.dependencies).unwrap_or_default();
    let packages = metadata.packages.into_iter().filter(|package| direct.contains(&package.id));
    Ok(packages.map(|package| (package.name.to_string(), package.version.to_string())).collect())
}

#[cfg(test)]
mod tests {
    use super::{modes, reloads};
    use crate::survey::plan::ReloadMode;
    use crate::survey::rows::{Row, rows};

    fn found(name: &str) -> &'static Row {
        rows(&[name.to_owned()]).expect("a row")[0]
    }

    #[test]
    fn parked_rows_are_run_with_eviction_as_well() {
        assert_eq!(modes(found("rand")).collect::<Vec<_>>(), [ReloadMode::OntoItself, ReloadMode::Alternating]);
        let all =
            [ReloadMode::OntoItself, ReloadMode::Alternating, ReloadMode::Evicting, ReloadMode::EvictingAlternating];
        assert_eq!(modes(found("smol")).collect::<Vec<_>>(), all);
    }

    #[test]
    fn rows_with_long_waits_alternate_less_often() {
        let slow = Row { strikes_after_ms: Some(1000), ..found("rand").clone() };
        let check = |row: &Row, mode, requested, expected| {
            assert_eq!(reloads(row, mode, requested), expected, "{mode:?} {requested}")
        };
        check(&slow, ReloadMode::OntoItself, 200, 200);
        check(&slow, ReloadMode::Alternating, 200, 10);
        check(&slow, ReloadMode::Alternating, 4, 4);
        let slower = Row { strikes_after_ms: Some(60_000), ..found("rand").clone() };
        check(&slower, ReloadMode::Alternating, 200, 5);
        check(found("rand"), ReloadMode::Alternating, 200, 200);
        check(found("notify-leaked"), ReloadMode::OntoItself, 200, 100);
    }
}
