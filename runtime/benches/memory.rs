//! Measures the memory that objects need, and the memory that a reload needs while old and new data coexist. This benchmark is a plain
//! program that prints a table and measures no times.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

mod support;

use alcedo_runtime::process;

/// Object counts of the measured reloads.
const COUNTS: [u64; 3] = [0, 100_000, 1_000_000];

fn main() {
    // Measures nothing in a run of the tests, or if cargo only lists the tests.
    if std::env::args().any(|arg| arg == "--test" || arg == "--list") {
        return;
    }
    println!(
        "| objects | resident before, KiB | bytes per object | peak of the reload, KiB | more than before | bytes per object | after, KiB |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut empty = None;
    for objects in COUNTS {
        let before = measure(objects, empty);
        empty.get_or_insert(before);
    }
}

/// Reloads a world with `objects` objects, and prints the table line for it. `empty` is the resident memory of a host without objects, in
/// KiB. Returns the resident memory before the reload, in KiB.
fn measure(objects: u64, empty: Option<u64>) -> u64 {
    let builds = support::builds("crowd");
    let runtime = support::host(&builds[0]);
    for _ in 0..objects {
        runtime.objects().spawn("/Script/Game.Runner").expect("an object");
    }
    // The first reload allocates memory that later reloads reuse, so its result is not printed.
    drop(support::reload(&runtime, &builds[1]));
    let (report, support::Peak { before, peak }) = support::with_peak(|| support::reload(&runtime, &builds[0]));
    assert_eq!(report.conjugates_rebuilt, objects);
    let after = process::rss_kib().expect("a Linux with /proc");
    let more = peak.saturating_sub(before);
    let percent = more as f64 * 100.0 / before as f64;
    let each = |kib: u64| (kib * 1024).checked_div(objects).map_or_else(|| "–".to_owned(), |bytes| bytes.to_string());
    let (of_world, of_reload) = (each(before.saturating_sub(empty.unwrap_or(before))), each(more));
    println!("| {objects} | {before} | {of_world} | {peak} | {more} KiB, {percent:.0} % | {of_reload} | {after} |");
    drop(runtime.shutdown());
    before
}
