//! Formats the results of the survey as a page.

use super::outcome::Outcome;
use super::plan::Growth;
use super::plan::ReloadMode;
use super::rows::{ImageState, Row};
use super::store::Record;
use std::collections::BTreeSet;

/// A row with its results.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) row: &'static Row,
    pub(crate) record: Option<Record>,
    /// Table lines of this row in the existing page. If the result is missing, the new page contains these lines. A result is stored only
    /// on the machine that ran the survey.
    pub(crate) earlier: Option<String>,
    /// Set if the result is for the current sources and versions.
    pub(crate) is_of_this_code: bool,
    /// Command that installs a requirement that this machine lacks.
    pub(crate) remedy: Option<&'static str>,
}

/// Tools and machine that produced the figures.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) rustc: String,
    pub(crate) libc: String,
    pub(crate) system: String,
    /// Commit of the code. Empty outside of a repository.
    pub(crate) commit: String,
}

const HEAD: &str = "| row | used as | versions | image | alternating | KiB | threads | files | keys |\n\
                    | --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n";

pub(crate) fn table(entries: &[Entry]) -> String {
    let lines = entries.iter().map(|entry| {
        let Row { name, use_of, .. } = entry.row;
        let Some(record) = &entry.record else {
            if let Some(earlier) = &entry.earlier {
                return earlier.clone();
            }
            let reason = entry.remedy.map_or_else(|| "not run yet".to_owned(), |remedy| format!("not run: {remedy}"));
            return format!("| `{name}` | {use_of} | – | {reason} | – | – | – | – | – |\n");
        };
        let versions = if record.key.versions.is_empty() { "–".to_owned() } else { record.key.versions.join(", ") };
        // Returns the outcome in a mode, with its table cell.
        let cell = |mode: ReloadMode| {
            let outcome = record.outcomes.get(&mode)?;
            let cell = match outcome.fault(entry.row, mode) {
                Some(fault) => format!("**{}**", fault.replace('\n', " ")),
                // States the number of runs in which the neighbor found no damage.
                None if mode.alternates() => format!("{}/{}", outcome.reloads, outcome.requested),
                None => image_state(outcome),
            };
            Some((outcome, cell))
        };
        let Some(itself) = cell(ReloadMode::OntoItself) else {
            let faults = record.faults.join("; ").replace('\n', " ");
            return format!("| `{name}` | {use_of} | {versions} | **{faults}** | – | – | – | – | – |\n");
        };
        let alternating = |mode| cell(mode).map_or_else(|| "–".to_owned(), |(_, cell)| cell);
        let first = line(&format!("`{name}`"), use_of, &versions, itself, &alternating(ReloadMode::Alternating));
        let second = cell(ReloadMode::Evicting).map(|evicting| {
            line("", "… with eviction, and files closed", "", evicting, &alternating(ReloadMode::EvictingAlternating))
        });
        first + &second.unwrap_or_default()
    });
    HEAD.to_owned() + &lines.collect::<String>()
}

/// Returns the lines of a row in a page. Returns `None` if the lines contain no result.
pub(crate) fn earlier(page: &str, name: &str) -> Option<String> {
    let begin = format!("| `{name}` | ");
    let mut lines = page.lines().skip_while(|line| !line.starts_with(&begin));
    let first = lines.next().filter(|line| !line.contains(" | not run"))?;
    let more = lines.take_while(|line| line.starts_with("|  | "));
    Some([first].into_iter().chain(more).map(|line| format!("{line}\n")).collect())
}

fn line(
    name: &str,
    use_of: &str,
    versions: &str,
    (outcome, image_state): (&Outcome, String),
    alternating: &str,
) -> String {
    let Growth { memory_kib, threads, fds, keys } = outcome.growth;
    let [kib, threads, fds, keys] = [memory_kib, threads, fds, keys].map(number);
    format!("| {name} | {use_of} | {versions} | {image_state} | {alternating} | {kib} | {threads} | {fds} | {keys} |\n")
}

/// Describes the state of the images.
fn image_state(outcome: &Outcome) -> String {
    let names: BTreeSet<_> = outcome.names.iter().map(|name| escaped(name)).collect();
    let names = names.into_iter().collect::<Vec<_>>().join(", ");
    let (parked, requested) = (outcome.parked, outcome.requested);
    let unmapped = outcome.reloads.saturating_sub(parked);
    match outcome.image_state() {
        ImageState::Unmapped if parked == 0 => format!("unmapped {unmapped}/{requested}"),
        ImageState::Unmapped => format!("unmapped {unmapped}/{requested}; else {names}"),
        ImageState::Parked => format!("parked {parked}/{requested}: {names}"),
    }
}

/// Formats a reason for a cell. Drops the name of the variable that refers to the image, because this name differs between images.
fn escaped(name: &str) -> String {
    let name = if name.starts_with("reference ") { name.split(": ").next().unwrap_or(name) } else { name };
    format!("`{}`", name.replace('|', "\\|"))
}

/// Formats a number with the precision of the measurement, at most two decimals.
fn number(value: f64) -> String {
    match value.abs() {
        size if size < 0.005 => "0".to_owned(),
        size if size < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

pub(crate) fn page(entries: &[Entry], made: &Made) -> String {
    let Made { rustc, libc, system, commit } = made;
    let commit = if commit.is_empty() { String::new() } else { format!(", at commit {commit}") };
    let records = || entries.iter().filter_map(|entry| entry.record.as_ref());
    let dates: Vec<_> = records().map(|record| record.date.as_str()).collect();
    let (first, last) = (dates.iter().min().unwrap_or(&"never"), dates.iter().max().unwrap_or(&"never"));
    let days = if first == last { format!("on {first}") } else { format!("from {first} to {last}") };
    let profile = if cfg!(debug_assertions) { "" } else { "--release " };
    let reloads: BTreeSet<_> = records().map(|record| record.requested).collect();
    let reloads = reloads.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ");
    let written = format!(
        "Written by `cargo run {profile}-p alcedo-reload-test --bin alcedo-survey -- --page \
         runtime/docs/crate-survey.md` from what it found {days}, with {reloads} reloads of each row, {rustc}, on {system} \
         with {libc}{commit}; the plugins are debug builds. `--rows` runs some of the rows and `--missing` those without a result \
         for the current code; the page has all of them."
    );
    let mut text = include_str!("../../survey/page.md").replace("{written}", &wrapped(&written));
    text = text.replace("{table}\n", &table(entries));
    let found = entries.iter().filter(|entry| entry.record.is_some() || entry.earlier.is_some());
    let (new, older): (Vec<_>, Vec<_>) = found.partition(|entry| entry.is_of_this_code);
    let names =
        |entries: &[&Entry]| entries.iter().map(|entry| format!("`{}`", entry.row.name)).collect::<Vec<_>>().join(", ");
    // Lists either the rows with new results or the rows with older results, depending on which list is shorter.
    let age = match (new.len(), older.len()) {
        (_, 0) => String::new(),
        (1.., many) if many > new.len() => {
            let new = names(&new);
            format!(
                "Results for the current code: {new}. All others are older than the last change of the code or of a crate."
            )
        }
        _ => format!("Results from before the last change of the code, or of the crates: {}.", names(&older)),
    };
    if !age.is_empty() {
        text += &format!("\n{}\n", wrapped(&age));
    }
    let notes: Vec<_> = entries.iter().filter(|entry| !entry.row.note.is_empty()).collect();
    if !notes.is_empty() {
        text += "\nNotes on the figures:\n\n";
    }
    for Entry { row, .. } in notes {
        text += &format!("* {}\n", wrapped(&format!("`{}`: {}", row.name, row.note)).replace('\n', "\n  "));
    }
    text
}

fn wrapped(paragraph: &str) -> String {
    const WIDTH: usize = 118;
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        if line + 1 + word.chars().count() > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Entry, Made, earlier, number, page, table, wrapped};
    use crate::survey::outcome::Outcome;
    use crate::survey::plan::Growth;
    use crate::survey::plan::ReloadMode;
    use crate::survey::rows::rows;
    use crate::survey::store::{Key, Record};

    fn outcome(parked: &[&str], fault: Option<&str>) -> Outcome {
        Outcome {
            requested: 4,
            reloads: if fault.is_some() { 1 } else { 4 },
            parked: if parked.is_empty() { 0 } else { 4 },
            names: parked.iter().map(|&name| name.to_owned()).collect(),
            growth: Growth { memory_kib: 700.0, threads: 0.0, fds: 1.0, keys: 0.0 },
            fault: fault.map(str::to_owned),
        }
    }

    fn entry(name: &str, versions: &[&str], outcomes: &[(ReloadMode, Outcome)]) -> Entry {
        let record = Record {
            row: name.to_owned(),
            key: Key {
                versions: versions.iter().map(|&version| version.to_owned()).collect(),
                sources: "a1".to_owned(),
            },
            date: "2026-11-21".to_owned(),
            requested: 4,
            outcomes: outcomes.iter().cloned().collect(),
            faults: Vec::new(),
        };
        let row = rows(&[name.to_owned()]).expect("a row")[0];
        Entry { row, record: Some(record), earlier: None, is_of_this_code: true, remedy: None }
    }

    #[test]
    fn a_row_without_a_result_keeps_its_lines_of_the_earlier_page() {
        let kept = || outcome(&["thread \"smol-1\""], None);
        let smol = || {
            entry(
                "smol",
                &["smol 2.0.2"],
                &[(ReloadMode::OntoItself, kept()), (ReloadMode::Evicting, outcome(&[], None))],
            )
        };
        let made = || Made { rustc: String::new(), libc: String::new(), system: String::new(), commit: String::new() };
        let without = |row: Entry| Entry { record: None, is_of_this_code: false, ..row };
        let before = page(&[smol(), without(entry("rand", &[], &[]))], &made());
        let lost = Entry { earlier: earlier(&before, "smol"), ..without(smol()) };
        assert_eq!(earlier(&before, "rand"), None, "it was not run");
        let after = page(&[lost], &made());
        assert!(after.contains(&table(&[smol()])), "{after}");
        assert!(after.contains("or of the crates: `smol`."), "{after}");
    }

    #[test]
    fn the_table_states_holders_of_images_and_results_of_the_neighbor() {
        let gone = || outcome(&[], None);
        let kept = || outcome(&["thread \"smol-1\""], None);
        let entries = [
            entry("rand", &["rand 0.9.1"], &[(ReloadMode::OntoItself, gone()), (ReloadMode::Alternating, gone())]),
            entry(
                "smol",
                &[],
                &[(ReloadMode::OntoItself, kept()), (ReloadMode::Alternating, kept()), (ReloadMode::Evicting, gone())],
            ),
            Entry { record: None, ..entry("regex", &[], &[]) },
            Entry { record: None, remedy: Some("get it"), ..entry("chrono", &[], &[]) },
        ];
        expect_test::expect![[r#"
            | row | used as | versions | image | alternating | KiB | threads | files | keys |
            | --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: |
            | `rand` | the generator of the thread | rand 0.9.1 | unmapped 4/4 | 4/4 | 700 | 0 | 1.00 | 0 |
            | `smol` | the global executor, which has no end | – | parked 4/4: `thread "smol-1"` | 4/4 | 700 | 0 | 1.00 | 0 |
            |  | … with eviction, and files closed |  | unmapped 4/4 | – | 700 | 0 | 1.00 | 0 |
            | `regex` | a pattern in a static, used by two threads | – | not run yet | – | – | – | – | – |
            | `chrono` | the local time | – | not run: get it | – | – | – | – | – |
        "#]]
        .assert_eq(&table(&entries));
    }

    #[test]
    fn reasons_fit_into_a_cell() {
        assert_eq!(super::escaped("thread \"system:0|arbiter:0\""), "`thread \"system:0\\|arbiter:0\"`");
        assert_eq!(super::escaped("reference libx.so: .data+0x8 still points to `f`"), "`reference libx.so`");
    }

    #[test]
    fn a_fault_of_a_row_is_in_the_column_of_its_mode() {
        let broken = |is_broken| if is_broken { outcome(&[], Some("the host crashed")) } else { outcome(&[], None) };
        let line = |itself, alternating| {
            let outcomes = [(ReloadMode::OntoItself, broken(itself)), (ReloadMode::Alternating, broken(alternating))];
            table(&[entry("rand", &[], &outcomes)])
        };
        assert!(line(true, false).contains("| **the host crashed** | 4/4 |"));
        assert!(line(false, true).contains("| unmapped 4/4 | **the host crashed** |"));
        let mut unbuilt = entry("rand", &[], &[]);
        unbuilt.record.iter_mut().for_each(|record| record.faults.push("rand: no\nway".to_owned()));
        assert!(table(&[unbuilt]).contains("| **rand: no way** |"));
    }

    #[test]
    fn the_page_states_date_tools_machine_and_older_rows() {
        let [rustc, libc, system, commit] = ["rustc 1", "glibc 2", "Linux x", "a1b2"].map(str::to_owned);
        let made = Made { rustc, libc, system, commit };
        let itself = [(ReloadMode::OntoItself, outcome(&[], None))];
        let old = Entry { is_of_this_code: false, ..entry("mimalloc", &[], &itself) };
        let text = page(&[entry("rand", &[], &itself), old], &made).replace('\n', " ");
        assert!(
            text.contains("what it found on 2026-11-21, with 4 reloads of each row, rustc 1, on Linux x with glibc 2, at commit a1b2;"),
            "{text}"
        );
        assert!(text.contains("or of the crates: `mimalloc`. "), "{text}");
        assert!(text.contains("* `mimalloc`: Needs the feature"), "{text}");
        let old = |name| Entry { is_of_this_code: false, ..entry(name, &[], &itself) };
        let text = page(&[entry("rand", &[], &itself), old("smol"), old("std")], &made).replace('\n', " ");
        assert!(text.contains("Results for the current code: `rand`. All others are older"), "{text}");
        let mut later = entry("rand", &[], &itself);
        later.record.iter_mut().for_each(|record| record.date = "2026-11-23".to_owned());
        let text = page(&[entry("smol", &[], &itself), later], &made).replace('\n', " ");
        assert!(text.contains("found from 2026-11-21 to 2026-11-23, with"), "{text}");
        assert!(!text.contains("last change"), "{text}");
    }

    #[test]
    fn lines_are_wrapped_at_the_width() {
        let text = wrapped(&"word ".repeat(60));
        assert!(text.lines().all(|line| line.len() <= 118 && !line.ends_with(' ')), "{text}");
        assert_eq!(text.split_whitespace().count(), 60);
        assert_eq!(wrapped(&format!("a {}", "b".repeat(200))), format!("a\n{}", "b".repeat(200)));
    }

    #[test]
    fn values_below_the_precision_are_zero() {
        assert_eq!([0.0, -0.001, 0.02, 2.0, 77.4].map(number), ["0", "0", "0.02", "2.00", "77"]);
    }
}
