//! Statistics of owned values by type, owning module and allocation site. Allocation-site tracking is optional, because it adds a lookup to
//! each creation of a value.

use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde::Serialize;

/// Source location that creates black conjugates, and the number of these conjugates.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SiteCount {
    /// File and line, such as `src/lib.rs:7`.
    pub site: String,
    /// Number of conjugates.
    pub count: u64,
}

/// Number of black conjugates of one type that one module owns.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::BlackReport;
///
/// /// Returns the number of values that a plugin owns in host memory.
/// fn owned_by(report: &BlackReport, module: &str) -> u64 {
///     report.live.iter().filter(|count| count.module == module).map(|count| count.count).sum()
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BlackCount {
    /// Name of the owning module; `host` for the host itself.
    pub module: String,
    /// Generation of the module; zero for the host.
    pub generation: u64,
    /// Type of the conjugates, such as `Array(f64)`.
    pub ty: String,
    /// Number of conjugates.
    pub count: u64,
    /// Allocation sites, most frequent first. Covers only conjugates that were created while tracking was enabled.
    pub sites: Vec<SiteCount>,
}

/// Statistics of the black conjugates of a runtime, which are owned values in host memory.
///
/// # Examples
/// ```rust
/// use alcedo_runtime::{Runtime, Value};
///
/// let runtime = Runtime::builder().build()?;
/// let title = runtime.conjugates().make("String", &Value::Text("Harbor".into()))?;
/// for count in &runtime.conjugates().owned_values().live {
///     println!("{} of {}: {}", count.ty, count.module, count.count);
/// }
/// assert_eq!(runtime.conjugates().owned_values().count(), 1);
/// runtime.conjugates().give_back(title);
/// assert_eq!(runtime.conjugates().owned_values().count(), 0);
/// # Ok::<(), alcedo_runtime::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct BlackReport {
    /// Live conjugates, by owning module and type. Includes conjugates of the host, and of modules that a reload has suspended.
    pub live: Vec<BlackCount>,
    /// Conjugates that were released at the end of their generation, before the plugin dropped these conjugates. A pending finalizer of the
    /// plugin may still drop these conjugates.
    pub undropped: Vec<BlackCount>,
    /// Number of drops on other threads that the game thread has not yet processed.
    pub queued: u64,
    /// Number of conjugates that were created since the runtime was built.
    pub made: u64,
    /// Number of conjugates that were released since the runtime was built.
    pub released: u64,
    /// Set if allocation-site tracking is enabled.
    pub keeps_sites: bool,
}

impl BlackReport {
    /// Returns the number of live conjugates.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.live.iter().map(|count| count.count).sum()
    }
}

impl fmt::Display for BlackCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, generation, ty, count, sites } = self;
        write!(f, "{count:>8}  {ty}   {module}")?;
        if *generation != 0 {
            write!(f, ", generation {generation}")?;
        }
        sites.iter().try_for_each(|SiteCount { site, count }| write!(f, "\n{count:>16} from {site}"))
    }
}

impl fmt::Display for BlackReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { live, undropped, queued, made, released, keeps_sites } = self;
        let sites = if *keeps_sites { "on" } else { "off" };
        write!(
            f,
            "{} black conjugates · {queued} drops wait · {made} made · {released} released · sites {sites}",
            self.count()
        )?;
        live.iter().try_for_each(|count| write!(f, "\n{count}"))?;
        if !undropped.is_empty() {
            write!(f, "\nreleased with their generation, not dropped by their plugin:")?;
        }
        undropped.iter().try_for_each(|count| write!(f, "\n{count}"))
    }
}

/// Id of a source location; zero for no location.
pub(super) type SiteNumber = u32;

#[derive(Debug, Default)]
pub(super) struct Sites {
    pub keeps: bool,
    strings: Vec<Rc<str>>,
    numbers: FxHashMap<Rc<str>, SiteNumber>,
}

impl Sites {
    pub(super) fn number(&mut self, text: &str) -> SiteNumber {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let text: Rc<str> = text.into();
        self.strings.push(Rc::clone(&text));
        let number = self.strings.len() as SiteNumber;
        self.numbers.insert(text, number);
        number
    }

    fn text(&self, number: SiteNumber) -> Option<&Rc<str>> {
        self.strings.get(number.checked_sub(1)? as usize)
    }

    /// Counts the values of each location, most frequent first.
    pub(super) fn count(&self, numbers: impl Iterator<Item = SiteNumber>) -> Vec<SiteCount> {
        let mut counts: FxHashMap<SiteNumber, u64> = FxHashMap::default();
        numbers.for_each(|number| *counts.entry(number).or_default() += 1);
        let mut sites: Vec<_> = counts
            .iter()
            .filter_map(|(number, count)| Some(SiteCount { site: self.text(*number)?.to_string(), count: *count }))
            .collect();
        sites.sort_by(|one, two| (two.count, &one.site).cmp(&(one.count, &two.site)));
        sites
    }
}

#[cfg(test)]
mod tests {
    use super::{BlackCount, BlackReport, SiteCount, Sites};

    #[test]
    fn a_report_reads_as_a_table() {
        let count = |ty: &str, count, sites: &[(&str, u64)]| BlackCount {
            module: "hoard".into(),
            generation: 3,
            ty: ty.into(),
            count,
            sites: sites.iter().map(|(site, count)| SiteCount { site: (*site).to_owned(), count: *count }).collect(),
        };
        let report = BlackReport {
            live: vec![count("Array(f64)", 10, &[("src/lib.rs:7", 9), ("src/lib.rs:3", 1)]), count("String", 2, &[])],
            undropped: vec![count("Text", 1, &[])],
            queued: 4,
            made: 100,
            released: 88,
            keeps_sites: true,
        };
        let expected = "\
12 black conjugates · 4 drops wait · 100 made · 88 released · sites on
      10  Array(f64)   hoard, generation 3
               9 from src/lib.rs:7
               1 from src/lib.rs:3
       2  String   hoard, generation 3
released with their generation, not dropped by their plugin:
       1  Text   hoard, generation 3";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn sites_are_counted_most_first_and_what_has_none_is_left_out() {
        let mut sites = Sites::default();
        let (one, two) = (sites.number("a.rs:1"), sites.number("b.rs:2"));
        assert_eq!(sites.number("a.rs:1"), one);
        let counts = sites.count([two, 0, one, two, 0].into_iter());
        let counted = |site: &str, count| SiteCount { site: site.to_owned(), count };
        assert_eq!(counts, [counted("b.rs:2", 2), counted("a.rs:1", 1)]);
    }
}
