//! The survey as a page. Data in, text out.

use super::outcome::{Growth, Outcome};
use super::rows::{Fate, Row};

/// One row with all that was found out of it.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) row: &'a Row,
    /// `tokio 1.52.1`.
    pub(crate) versions: Vec<String>,
    /// With threads that are only asked to stop.
    pub(crate) asked: &'a Outcome,
    /// With threads that may be evicted and files that are closed, where that makes a difference.
    pub(crate) evicted: Option<&'a Outcome>,
}

/// The heads of the columns.
const HEAD: &str = "| row | used as | versions | image | KiB | threads | files | keys |\n\
                    | --- | --- | --- | --- | ---: | ---: | ---: | ---: |\n";

/// The table.
pub(crate) fn table(lines: &[Line<'_>], reloads: u64) -> String {
    let mut text = HEAD.to_owned();
    for line in lines {
        let reloads = line.row.reloads(reloads);
        text += &line_of(line.row.name, line.row.use_of, &versions(line), line.asked, reloads);
        if let Some(evicted) = line.evicted {
            text += &line_of("", "… with eviction, and files closed", "", evicted, reloads);
        }
    }
    text
}

fn line_of(name: &str, use_of: &str, versions: &str, outcome: &Outcome, reloads: u64) -> String {
    let Growth { memory_kib, threads, fds, keys } = outcome.growth();
    let name = if name.is_empty() { String::new() } else { format!("`{name}`") };
    let [kib, threads, fds, keys] = [number(memory_kib), number(threads), number(fds), number(keys)];
    format!("| {name} | {use_of} | {versions} | {} | {kib} | {threads} | {fds} | {keys} |\n", fate(outcome, reloads))
}

fn versions(line: &Line<'_>) -> String {
    if line.versions.is_empty() { "–".to_owned() } else { line.versions.join(", ") }
}

fn fate(outcome: &Outcome, reloads: u64) -> String {
    if let Some(fault) = &outcome.fault {
        return format!("**{fault}**");
    }
    let names = outcome.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let unmapped = outcome.reloads - outcome.parked;
    match outcome.fate() {
        Fate::Unmapped if outcome.parked == 0 => format!("unmapped {unmapped}/{reloads}"),
        Fate::Unmapped => format!("unmapped {unmapped}/{reloads}; else {names}"),
        Fate::Parked => format!("parked {}/{reloads}: {names}", outcome.parked),
    }
}

/// A number that says no more than was measured: what is less than a hundredth is nothing.
fn number(value: f64) -> String {
    match value.abs() {
        size if size < 0.005 => "0".to_owned(),
        size if size < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// The page with the table in it.
pub(crate) fn page(table: &str, reloads: u64, date: &str, rustc: &str) -> String {
    format!(
        "# Which crates let their code go\n\
         \n\
         Each row is a plugin that uses one crate the way its users do, reloaded {reloads} times in a process of its \
         own.\nWritten by `cargo run --release -p alcedo-reload-test --bin alcedo-survey -- --page \
         runtime/docs/crate-survey.md`\non {date} with {rustc}, on Linux x86_64 with glibc; the plugins are debug \
         builds.\n\
         \n\
         *Unmapped* means looked up and found gone. *Parked* means that the image stays on purpose, because somebody \
         would run\ncode that is no longer there; the table names who. The other columns are growth per reload over \
         the last half of the\nrun: resident memory, threads, open files, thread-specific keys. *Eviction* is off unless a host asks for \
         it: a thread\nof a module that sits in a blocking system call when its time is up is taken out of it and \
         ended. Files that a plugin\nleaves open are closed only where a host asks for that, too.\n\
         \n\
         {table}"
    )
}

#[cfg(test)]
mod tests {
    use super::{Line, number, page, table};
    use crate::plan::Reading;
    use crate::survey::outcome::{Outcome, Said};
    use crate::survey::rows::rows;

    fn outcome(reloads: u64, parked: &[&str], fault: Option<&str>) -> Outcome {
        let mut outcome = Outcome::default();
        for reload in 1..=reloads {
            let process = Reading { rss_kib: 1000 + 700 * reload, open_fds: 9 + reload, threads: 2, keys: 3 };
            let parked = parked.iter().map(|&name| name.to_owned()).collect();
            outcome.hear(Said { reload, process, parked, fault: fault.map(str::to_owned) });
        }
        outcome
    }

    #[test]
    fn the_page_is_a_table_with_who_keeps_what() {
        let found = rows(&["rand", "smol"].map(str::to_owned)).expect("two rows");
        let (gone, kept) = (outcome(4, &[], None), outcome(4, &["thread smol-1"], None));
        let lines = [
            Line { row: found[0], versions: vec!["rand 0.9.1".into()], asked: &gone, evicted: None },
            Line { row: found[1], versions: Vec::new(), asked: &kept, evicted: Some(&gone) },
        ];
        expect_test::expect![[r#"
            | row | used as | versions | image | KiB | threads | files | keys |
            | --- | --- | --- | --- | ---: | ---: | ---: | ---: |
            | `rand` | the generator of the thread | rand 0.9.1 | unmapped 4/4 | 700 | 0 | 1.00 | 0 |
            | `smol` | the global executor, which has no end | – | parked 4/4: `thread smol-1` | 700 | 0 | 1.00 | 0 |
            |  | … with eviction, and files closed |  | unmapped 4/4 | 700 | 0 | 1.00 | 0 |
        "#]]
        .assert_eq(&table(&lines, 4));
        let page = page("T", 4, "2026-11-21", "rustc 1.95.0");
        assert!(page.contains("reloaded 4 times") && page.ends_with("\n\nT"), "{page}");
    }

    #[test]
    fn a_row_that_broke_says_so_in_the_table() {
        let found = rows(&["rand".to_owned()]).expect("a row");
        let broken = outcome(1, &[], Some("it died of SIGSEGV"));
        let line = Line { row: found[0], versions: Vec::new(), asked: &broken, evicted: None };
        assert!(table(&[line], 4).contains("| **it died of SIGSEGV** |"));
    }

    #[test]
    fn what_is_less_than_was_measured_is_nothing() {
        assert_eq!([0.0, -0.001, 0.02, 2.0, 77.4].map(number), ["0", "0", "0.02", "2.00", "77"]);
    }
}
