//! What our attributes cost a plugin's author at each save: builds twenty classes of ten properties and ten functions after an
//! edit of one line, with the attributes and without, in turn, and prints the medians and their ratio.
//!
//! `cargo run --release` measures (seven builds each); `cargo run -- --write` writes the sources of the two plugins anew.

#![forbid(unsafe_code)]

mod sources;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, io};

use sources::{Sort, edited, sources};

/// How often each is built; an odd number, so that there is a median.
const ROUNDS: usize = 7;

fn main() -> ExitCode {
    let done = if env::args().nth(1).as_deref() == Some("--write") { write() } else { measure() };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("build-cost: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of this workspace.
fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn write() -> io::Result<()> {
    for sort in Sort::BOTH {
        for (file, text) in sources(sort) {
            fs::write(home().join(sort.package()).join("src").join(file), text)?;
        }
    }
    Ok(())
}

/// Builds copies, so that an interrupted measurement leaves no edit in the sources.
fn measure() -> io::Result<()> {
    let copies = home().join("target/measured");
    let folders = Sort::BOTH.map(|sort| copies.join(sort.package()));
    for (sort, folder) in Sort::BOTH.into_iter().zip(&folders) {
        copy(sort, folder)?;
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

fn copy(sort: Sort, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join("src"))?;
    for (file, text) in sources(sort) {
        fs::write(to.join("src").join(file), text)?;
    }
    let manifest = fs::read_to_string(home().join(sort.package()).join("Cargo.toml"))?;
    let interface = home().join("..").canonicalize()?;
    let manifest = manifest.replace("path = \"../..\"", &format!("path = {:?}", interface.display().to_string()));
    let profile = "\n[workspace]\n\n[profile.dev]\ndebug = \"line-tables-only\"\n";
    fs::write(to.join("Cargo.toml"), manifest + profile)
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
    fn the_two_plugins_are_as_they_are_written() {
        for sort in Sort::BOTH {
            for (file, text) in sources(sort) {
                let path = home().join(sort.package()).join("src").join(&file);
                assert!(
                    fs::read_to_string(&path).is_ok_and(|found| found == text),
                    "{file}: run `cargo run -- --write`"
                );
            }
        }
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
