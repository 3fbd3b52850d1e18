//! Tests library files that were changed deliberately and sealed again. The changes affect headers, segments, sections and every table that
//! the loader reads. A mutation changes one field, changes several fields consistently, exchanges or copies entries, splices tables,
//! truncates the file, or changes the manifest and updates its checksum.
//!
//! The checks must return, without a panic and with bounded memory. A child process maps each file that passes the checks, and must
//! survive. All code of these libraries has been replaced by returns. A crash of the child is therefore caused by the loader and not by a
//! plugin.
//!
//! `ALCEDO_FUZZ_SECONDS` sets the duration, `ALCEDO_FUZZ_SEED` the seed, and `ALCEDO_FUZZ_FROM` the index of the first mutant. A finding is
//! added to `findings.rs`, as the change that produces its file.
#![expect(clippy::print_stdout, reason = "answers of a child, and counters for manual runs")]
#![expect(clippy::type_complexity, reason = "a table of tables has a complex type")]
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

mod anatomy;
mod findings;
mod judge;
mod mutate;
use crate::support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use alcedo_runtime::seal_file;
use alcedo_sys::ImageFile;
use tempfile::TempDir;

use anatomy::{hollow, tables};
use judge::{Judge, Verdict};
use mutate::{Dice, mutant};

/// Number of mutants of each library in CI.
const CUT: u64 = 3000;

/// Interval between sealed mutants in the series. All other mutants are checked without a seal.
const SEALED_EACH: u64 = 16;

/// Source of a C library with features that Rust plugins do not use: both symbol hashes, own versions, resolved functions, exported
/// thread-locals, packed relocations.
const SOURCE: &str = r#"
#include <math.h>
#include <stdio.h>
__attribute__((constructor)) static void up(void) { puts("up"); }
__attribute__((destructor)) static void down(void) { puts("down"); }
__thread int local = 3;
static __thread int early __attribute__((tls_model("initial-exec"))) = 4;
int zeroes[9000];
int numbers[100] = { 1 };
int *relocated[] = { &numbers[7], &numbers[9], zeroes };
static int one(void) { return 1; }
static int (*resolve(void))(void) { return one; }
int resolved(void) __attribute__((ifunc("resolve")));
double answer(double x) { return sin(x) + *relocated[1] + local + early + resolved(); }
"#;

/// Returns a small plugin and a C library, both without code, sorted by their names.
fn libraries() -> &'static [(&'static str, Vec<u8>)] {
    static LIBRARIES: OnceLock<Vec<(&str, Vec<u8>)>> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let dir = TempDir::new().expect("a temporary directory");
        let files = [("c", c_library(dir.path())), ("plugin", plugin(dir.path()))];
        let hollow = files.map(|(name, path)| {
            let mut bytes = fs::read(path).expect("just built");
            hollow(&mut bytes);
            (name, bytes)
        });
        hollow.into()
    })
}

fn library(name: &str) -> Vec<u8> {
    libraries().iter().find(|(known, _)| *known == name).expect("one of the two").1.clone()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn c_library(dir: &Path) -> PathBuf {
    let (source, script, library) = (dir.join("c.c"), dir.join("c.map"), dir.join("libc_.so"));
    fs::write(&source, SOURCE).expect("the test directory is writable");
    fs::write(&script, "ONE { global: local; resolved; }; TWO { global: answer; local: *; } ONE;").expect("it is");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC", "-O1", "-Wl,--hash-style=both,-z,pack-relative-relocs,--version-script"]);
    run(gcc.arg(script).arg("-o").arg(&library).arg(&source).arg("-lm"));
    library
}

/// Builds the plugin without debug information and without its seal.
fn plugin(dir: &Path) -> PathBuf {
    let library = dir.join("libplugin.so");
    let built = support::plugin("broken", &["witness"]);
    run(Command::new("objcopy").arg("--strip-debug").arg(built).arg(&library));
    library
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number, not {text}")))
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has one");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel reports it");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Counters of a series of mutants.
#[derive(Debug, Default)]
struct Counts {
    mutants: u64,
    refused: u64,
    mapped: u64,
    refused_by_loader: u64,
    slowest: Duration,
}

#[test]
fn no_mutated_library_crashes_the_checks_or_the_loader() {
    let seed = from_environment("ALCEDO_FUZZ_SEED").unwrap_or(20_261_122);
    let from = from_environment("ALCEDO_FUZZ_FROM").unwrap_or(0);
    let until = from_environment("ALCEDO_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let dir = TempDir::new().expect("a temporary directory");
    let file = dir.path().join("mutant.so");
    let mut judge = Judge::new(support::full_name(module_path!(), "a_child_maps_the_requested_library"));
    let libraries: Vec<_> = libraries().iter().map(|(name, bytes)| (*name, bytes, tables(bytes))).collect();
    let (mut counts, mut found, before) = (Counts::default(), Vec::new(), peak());
    for index in from.. {
        if until.map_or(index >= from + CUT, |until| Instant::now() > until) || found.len() >= 20 {
            break;
        }
        for (name, whole, tables) in &libraries {
            let mutant = mutant(whole, tables, &mut Dice::new(seed, index));
            let case = || format!("{name}, ALCEDO_FUZZ_SEED={seed} ALCEDO_FUZZ_FROM={index}: {:?}", mutant.changes);
            counts.mutants += 1;
            let begun = Instant::now();
            let checked = std::panic::catch_unwind(|| ImageFile::from_bytes(&file, mutant.bytes.clone()).is_ok()).ok();
            counts.slowest = counts.slowest.max(begun.elapsed());
            match checked {
                None => found.push(format!("the checks panicked: {}", case())),
                Some(false) => counts.refused += 1,
                Some(true) => {
                    fs::write(&file, &mutant.bytes).expect("the test directory is writable");
                    match judge.judge(&file) {
                        Verdict::Mapped => counts.mapped += 1,
                        Verdict::Refused => counts.refused_by_loader += 1,
                        Verdict::Died(how) => found.push(format!("the loader {how}: {}", case())),
                    }
                }
            }
            if index % SEALED_EACH == 0 {
                fs::write(&file, &mutant.bytes).expect("the test directory is writable");
                seal_file(&file).expect("the test directory is writable");
                let sealed = ImageFile::read(&file).is_ok();
                assert_eq!(sealed, checked.unwrap_or(false), "a seal changes what is followed: {}", case());
            }
        }
    }
    println!("{counts:?}, {} KiB more at most", peak() - before);
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
    assert!(counts.refused > 0 && counts.mapped > 0, "all were alike: {counts:?}");
    assert!(peak() - before < 256 * 1024, "the checks took {} KiB", peak() - before);
}

#[test]
fn the_libraries_that_are_changed_are_whole_and_can_be_mapped() {
    let dir = TempDir::new().expect("a temporary directory");
    let mut judge = Judge::new(support::full_name(module_path!(), "a_child_maps_the_requested_library"));
    for (name, bytes) in libraries() {
        let file = dir.path().join(format!("{name}.so"));
        fs::write(&file, bytes).expect("the test directory is writable");
        ImageFile::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(judge.judge(&file), Verdict::Mapped, "{name}");
        let names: Vec<_> = tables(bytes).into_iter().map(|table| table.name).collect();
        for section in [".dynamic", ".dynsym", ".gnu.version_r", ".gnu.hash", ".rela.dyn", ".init_array"] {
            assert!(names.iter().any(|known| known == section), "{name} has no {section}: {names:?}");
        }
    }
    let names: Vec<_> = tables(&library("c")).into_iter().map(|table| table.name).collect();
    for section in [".hash", ".gnu.version_d", ".relr.dyn"] {
        assert!(names.iter().any(|known| known == section), "the C library has no {section}: {names:?}");
    }
}

/// Returns immediately unless another process has started this process as a child.
#[test]
fn a_child_maps_the_requested_library() {
    judge::serve();
}
