//! Reads the rows from `reload-test/survey/rows.toml`: the crates, their usage and the expected outcomes. The survey fails if an outcome
//! differs from the expected outcome, so the page stays correct.

use super::plan::ReloadMode;
pub(crate) use super::plan::{Growth, ImageState};
use anyhow::{Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Contents of `rows.toml`. Comments in this file explain the fields.
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("../../survey/rows.toml")).expect("a test reads the table"));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    rows: Vec<Row>,
    systems: BTreeMap<String, System>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(super) crates: Option<Vec<String>>,
    #[serde(rename = "use")]
    pub(crate) use_of: String,
    #[serde(default, rename = "fate")]
    pub(crate) image_state: ImageState,
    #[serde(default)]
    pub(super) evicted: ImageState,
    #[serde(default)]
    pub(crate) kept_by: Vec<String>,
    #[serde(default)]
    pub(super) grows: Growth,
    #[serde(default)]
    pub(super) grows_evicted: Growth,
    #[serde(default)]
    pub(crate) backtrace: bool,
    pub(super) most: Option<u64>,
    #[serde(default)]
    pub(super) needs: Vec<String>,
    pub(super) strikes_after_ms: Option<u64>,
    #[serde(default)]
    pub(crate) note: String,
}

/// A requirement of a row besides Rust and a C compiler, such as a system library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct System {
    check: String,
    remedy: String,
}

impl System {
    fn is_there(&self) -> bool {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&self.check).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().is_ok_and(|status| status.success())
    }
}

impl Row {
    /// Returns the crates whose versions the page lists.
    pub(crate) fn crates(&self) -> &[String] {
        self.crates.as_deref().unwrap_or(std::slice::from_ref(&self.name))
    }

    /// Returns the command that installs the first requirement of this row that this machine lacks.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let mut needed = self.needs.iter().map(|name| &TABLE.systems[name]);
        needed.find(|system| !system.is_there()).map(|system| &*system.remedy)
    }

    /// Returns the time, in milliseconds, for which the neighbor waits for late effects of the plugin.
    pub(crate) fn strikes_after_ms(&self) -> u64 {
        self.strikes_after_ms.unwrap_or(20)
    }

    /// Returns the requested number of reloads, or the limit of the row if this limit is smaller.
    pub(crate) fn reloads(&self, requested: u64) -> u64 {
        self.most.map_or(requested, |most| requested.min(most))
    }

    /// Returns the expected state of images in a mode of reloading.
    pub(crate) fn image_state(&self, mode: ReloadMode) -> ImageState {
        if mode.evicts() { self.evicted } else { self.image_state }
    }

    /// Returns the expected growth in a mode of reloading. Returns `None` for modes with the neighbor, because the measured growth then
    /// includes the neighbor's growth.
    pub(crate) fn grows(&self, mode: ReloadMode) -> Option<&Growth> {
        match mode {
            ReloadMode::OntoItself => Some(&self.grows),
            ReloadMode::Evicting => Some(&self.grows_evicted),
            ReloadMode::Alternating | ReloadMode::EvictingAlternating => None,
        }
    }
}

/// Returns every row, in the order of the page.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    TABLE.rows.iter()
}

/// Returns the rows with these names, in the order of the page. Returns all rows if `names` is empty.
pub(crate) fn rows(names: &[String]) -> Result<Vec<&'static Row>> {
    if let Some(unknown) = names.iter().find(|name| all().all(|row| row.name != **name)) {
        let known: Vec<_> = all().map(|row| &*row.name).collect();
        bail!("unknown row `{unknown}`; expected one of {}", known.join(", "));
    }
    Ok(all().filter(|row| names.is_empty() || names.contains(&row.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::{TABLE, all, rows};
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_a_feature_of_the_surveyed_plugin() {
        let manifest = include_str!("../../survey/Cargo.toml");
        for row in all() {
            assert!(manifest.contains(&format!("\n{} = [", row.name)), "{}", row.name);
            assert!(row.crates().iter().all(|name| manifest.contains(&format!("\n{name} = {{"))), "{}", row.name);
        }
    }

    #[test]
    fn every_needed_system_is_described_and_every_described_one_is_needed() {
        let needed: BTreeSet<_> = all().flat_map(|row| &row.needs).collect();
        assert_eq!(needed, TABLE.systems.keys().collect());
    }

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let names: BTreeSet<_> = all().map(|row| &row.name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn an_unknown_row_gets_the_list_of_known_ones() {
        let error = rows(&["x".to_owned()]).expect_err("there is none").to_string();
        assert!(error.starts_with("unknown row `x`; expected one of bare, std, tracing"), "{error}");
        assert_eq!(rows(&[]).expect("all").len(), all().count());
        assert_eq!(rows(&["smol".to_owned(), "rand".to_owned()]).expect("two").len(), 2);
    }
}
