//! Measures the cost of the attributes for a plugin author at each save: builds twenty classes of ten properties and ten functions after
//! an edit of one line, alternately with and without the attributes, and prints the medians and their ratio.
//!
//! `cargo run --release` writes the two plugins into the target folder and measures (seven builds each).

#![forbid(unsafe_code)]

mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use sources::{Sort, edited, manifest, sources};

/// Number of builds per variant; odd, so that the median is a measured value.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("build-cost: {error}");
            ExitCode::FAILURE
        }
    }
}

fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn measure() -> io::Result<()> {
    let written = crate_dir().join("target/measured");
    let folders = Sort::BOTH.map(|sort| written.join(sort.package()));
    for (sort, folder) in Sort::BOTH.into_iter().zip(&folders) {
        write(sort, folder)?;
        build(folder)?;
    }
    let mut times = [const { Vec::new() }; 2];
    for round in 0..ROUNDS {
        for ((sort, folder), times) in Sort::BOTH.into_iter().zip(&folders).zip(&mut times) {
            let (file, text) = edited(sort, round + 2);
            fs::write(folder.join("src").join(file), text)?;
            times.push(build(folder)?);
        }
    }
    let [attributed, plain] = times.map(median);
    println!("a build after an edit of one line, the median of {ROUNDS}:");
    println!("  with attributes  {attributed:>8.0?}");
    println!("  without          {plain:>8.0?}");
    println!("  ratio            {:>8.2}", attributed.as_secs_f64() / plain.as_secs_f64());
    Ok(())
}

fn write(sort: Sort, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join("src"))?;
    for (file, text) in sources(sort) {
        fs::write(to.join("src").join(file), text)?;
    }
    fs::write(to.join("Cargo.toml"), manifest(sort, &crate_dir().join("..").canonicalize()?))
}

fn build(folder: &Path) -> io::Result<Duration> {
    let mut cargo = Command::new(env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from));
    cargo.args(["build", "-q", "--offline"]).current_dir(folder).env_remove("CARGO_TARGET_DIR").stdin(Stdio::null());
    let begun = Instant::now();
    let status = cargo.status()?;
    let time = begun.elapsed();
    if status.success() {
        Ok(time)
    } else {
        Err(io::Error::other(format!("cargo build in {}: {status}", folder.display())))
    }
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
