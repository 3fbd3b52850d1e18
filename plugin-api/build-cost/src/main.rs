//! Measures the time that the attributes add to the build after each save. Edits one line in twenty classes of ten properties and ten
//! functions, and builds the classes alternately with and without the attributes. Prints the time and the processor time of both variants,
//! and their ratio.
//!
//! `cargo run --release` writes the two plugins into the target folder and measures seven builds of each. A test measures a few builds and
//! fails if the ratio of processor times is too high. Unlike elapsed time, processor time depends little on concurrent programs.

#![forbid(unsafe_code)]

mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use sources::{Sort, edited, manifest, sources};

/// Number of builds per variant. With an odd number, the median is a measured value.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    match measure(ROUNDS) {
        Ok(costs) => {
            print(&costs);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("build-cost: {error}");
            ExitCode::FAILURE
        }
    }
}

fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Measured cost of a build.
#[derive(Debug, Clone, Copy)]
struct Cost {
    time: Duration,
    /// User and system time of cargo, the compiler and the linker. `None` if the platform does not report processor time.
    cpu: Option<Duration>,
}

/// Builds both variants `rounds` times. Returns the median of the times, but the mean of the processor times, because the coarse unit of
/// processor time causes rounding errors that the mean reduces.
fn measure(rounds: usize) -> io::Result<[Cost; 2]> {
    let written = crate_dir().join("target/measured");
    let folders = Sort::BOTH.map(|sort| written.join(sort.package()));
    for (sort, folder) in Sort::BOTH.into_iter().zip(&folders) {
        write(sort, folder)?;
        build(folder)?;
    }
    let mut costs = [const { Vec::new() }; 2];
    for round in 0..rounds {
        for ((sort, folder), costs) in Sort::BOTH.into_iter().zip(&folders).zip(&mut costs) {
            let (file, text) = edited(sort, round + 2);
            fs::write(folder.join("src").join(file), text)?;
            costs.push(build(folder)?);
        }
    }
    Ok(costs.map(|costs| Cost {
        time: median(costs.iter().map(|cost| cost.time).collect()),
        cpu: costs.iter().map(|cost| cost.cpu).sum::<Option<Duration>>().map(|sum| sum / rounds as u32),
    }))
}

fn print([attributed, plain]: &[Cost; 2]) {
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!("a build after an edit of one line, of {ROUNDS} each:");
    println!("                   time, median    processor time, mean");
    for (name, cost) in [("with attributes", attributed), ("without", plain)] {
        let cpu = cost.cpu.map_or_else(|| "unknown".to_owned(), |cpu| format!("{cpu:.0?}"));
        println!("  {name:<16} {:>12.0?} {cpu:>20}", cost.time);
    }
    let cpu =
        attributed.cpu.zip(plain.cpu).map_or_else(String::new, |(one, other)| format!("{:.2}", ratio(one, other)));
    println!("  {:<16} {:>12.2} {cpu:>20}", "ratio", ratio(attributed.time, plain.time));
}

fn write(sort: Sort, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join("src"))?;
    for (file, text) in sources(sort) {
        fs::write(to.join("src").join(file), text)?;
    }
    // Locks the dependencies to the versions of the repository, so that a build without network access succeeds even if a dependency has
    // released a new version.
    fs::copy(crate_dir().join("../../Cargo.lock"), to.join("Cargo.lock"))?;
    fs::write(to.join("Cargo.toml"), manifest(sort, &crate_dir().join("..").canonicalize()?))
}

fn build(folder: &Path) -> io::Result<Cost> {
    let mut cargo = Command::new(env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from));
    cargo.args(["build", "-q", "--offline"]).current_dir(folder).env_remove("CARGO_TARGET_DIR").stdin(Stdio::null());
    let (begun, before) = (Instant::now(), cpu_of_children());
    let status = cargo.status()?;
    let (time, cpu) = (begun.elapsed(), cpu_of_children().zip(before).map(|(after, before)| after - before));
    if status.success() {
        Ok(Cost { time, cpu })
    } else {
        Err(io::Error::other(format!("cargo build in {}: {status}", folder.display())))
    }
}

/// Returns the processor time of all child processes that have ended, including their own children.
fn cpu_of_children() -> Option<Duration> {
    cpu_in(&fs::read_to_string("/proc/self/stat").ok()?)
}

/// Returns the sum of the fields `cutime` and `cstime` in `/proc/self/stat`. The unit of both fields is a hundredth of a second.
fn cpu_in(stat: &str) -> Option<Duration> {
    let (_name, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_ascii_whitespace().skip(13).map_while(|field| field.parse::<u64>().ok());
    Some(Duration::from_millis(10 * (ticks.next()? + ticks.next()?)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_plugins_declare_the_same_classes_with_and_without_attributes() {
        let [with, without] = Sort::BOTH.map(sources);
        assert_eq!(with.len(), 21, "a class has a file");
        for ((name, with), (_, without)) in with.iter().zip(&without).skip(1) {
            let count = |text: &str, pattern: &str| text.matches(pattern).count();
            let found = ["#[uclass", "#[uproperty(", "#[ufunction("]
                .map(|pattern| (count(with, pattern), count(without, pattern)));
            assert_eq!(found, [(2, 0), (10, 0), (10, 0)], "{name}");
            let members = [" value_", " fn function_"].map(|pattern| (count(with, pattern), count(without, pattern)));
            assert_eq!(members.map(|(with, without)| with == without), [true, true], "{name}: {members:?}");
        }
        let interface = Path::new("/interface");
        assert!(manifest(Sort::Attributed, interface).contains("alcedo-plugin-api = { path = \"/interface\" }"));
        assert!(!manifest(Sort::Plain, interface).contains("alcedo"));
    }

    /// Maximum ratio of processor times. The measured ratio was 3.9 to 4.0.
    const BOUND: f64 = 4.8;

    #[test]
    fn attributes_cost_less_than_their_bound() {
        let costs = measure(3).unwrap();
        print(&costs);
        if let [Some(attributed), Some(plain)] = costs.map(|cost| cost.cpu) {
            let ratio = attributed.as_secs_f64() / plain.as_secs_f64();
            assert!(ratio < BOUND, "a build with attributes takes {ratio:.2} times the processor time of one without");
        }
    }

    #[test]
    fn the_processor_time_of_children_is_read() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 200 0 0 1 2 30 4 20 0 1 0 500 1 2";
        assert_eq!(cpu_in(stat), Some(Duration::from_millis(340)));
        assert_eq!(cpu_in("7 (a) S 1"), None);
    }

    #[test]
    fn an_edit_changes_one_line_of_one_file() {
        for sort in Sort::BOTH {
            let (file, after) = edited(sort, 77);
            let (_, before) = sources(sort).into_iter().find(|(name, _)| *name == file).unwrap();
            let differ = before.lines().zip(after.lines()).filter(|(before, after)| before != after).count();
            assert_eq!((differ, before.lines().count()), (1, after.lines().count()));
        }
    }
}
