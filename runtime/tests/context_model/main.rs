//! Runs random programs over load contexts, and compares the results with a small model of the design. The model contains living
//! generations, their holders, name resolution, and the end of every context without holders. Some programs run step by step on one to four
//! threads, and the model checks each step. In other programs the threads race, so only rules that hold for any order are checked. After
//! each program, no context is listed and only parked images are mapped.
//!
//! `ALCEDO_MODEL_PROGRAMS` sets the number of programs and `ALCEDO_MODEL_SEED` the first seed. By default the run takes some seconds. A
//! failure prints its seed and the shortest program that also fails. To reproduce the failure, run one program with that seed.
//! `.ci/contexts` runs ten thousand programs on demand.
//!
//! | file | content |
//! | --- | --- |
//! | `program` | steps and their random generation |
//! | `model` | expected outcomes, without the runtime |
//! | `drive` | execution of a step and its outcome |
//! | `run` | a program from its first step to its end |
//! | `watch` | detection and report of hangs |

mod drive;
mod libraries;
mod model;
mod outcome;
mod program;
mod run;
mod watch;

#[path = "../support/mod.rs"]
mod support;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alcedo_runtime::canary::run_if_child;
use libtest_mimic::{Arguments, Failed, Trial};
use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::libraries::Libraries;
use crate::program::{Program, programs};

/// Number of programs per process. Parked images stay mapped until the process ends, so the number is limited.
const BATCH: u64 = 500;
/// Number of batches that run at a time. Programs wait for threads and unloads, so one batch uses about one processor.
const LANES: usize = 2;
/// Duration of the default run.
const CUT: Duration = Duration::from_secs(3);
/// Timeout for events that must occur.
const LONG: Duration = Duration::from_secs(30);
/// Limits while a failed program is shortened: the timeout for one event, and the total time.
const SHORT: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(90));

fn main() -> ExitCode {
    run_if_child();
    if let Some(batch) = std::env::var_os("ALCEDO_MODEL_BATCH") {
        return run_batch(Path::new(&batch));
    }
    let trials = vec![
        Trial::test(
            "contexts_behave_like_the_model_under_any_interleaving",
            contexts_behave_like_the_model_under_any_interleaving,
        ),
        Trial::test("a_seed_reproduces_its_program", || {
            assert!((1..50).all(|seed| thrown(seed) == thrown(seed)));
            Ok(())
        }),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn from_environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{name} is to be a number, not {text:?}: {error}")))
}

/// Generates the program of `seed`.
fn thrown(seed: u64) -> Program {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    programs().new_tree(&mut runner).expect("no program is refused").current()
}

/// Runs batches of programs in separate processes. The parent process detects a hang or crash, and reports the program that caused it.
fn contexts_behave_like_the_model_under_any_interleaving() -> Result<(), Failed> {
    let (limit, seed) = (from_environment("ALCEDO_MODEL_PROGRAMS"), from_environment("ALCEDO_MODEL_SEED"));
    // Builds the libraries once, before the child processes start.
    let _libraries = Libraries::new();
    let folder = tempfile::tempdir()?;
    let (first, begun) = (seed.unwrap_or(1), Instant::now());
    let last = first + limit.unwrap_or(u64::MAX - first - BATCH * LANES as u64);
    let next = AtomicU64::new(first);
    let run_batches = || -> Result<u64, Failed> {
        let mut ran = 0;
        loop {
            let begin = next.fetch_add(BATCH, Ordering::Relaxed);
            if begin >= last || (limit.is_none() && begun.elapsed() >= CUT) {
                return Ok(ran);
            }
            let left = if limit.is_some() { Duration::MAX } else { CUT.saturating_sub(begun.elapsed()) };
            ran += run_in_child(folder.path(), begin, BATCH.min(last - begin), left)?;
        }
    };
    let ran: Result<Vec<u64>, Failed> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(run_batches)).collect();
        lanes.into_iter().map(|lane| lane.join().expect("a lane returns its failure")).collect()
    });
    eprintln!("{} programs in {:.1} s", ran?.iter().sum::<u64>(), begun.elapsed().as_secs_f64());
    Ok(())
}

/// Runs a batch of programs in a separate process for at most `left`. Returns the number of programs that ran.
fn run_in_child(folder: &Path, begin: u64, count: u64, left: Duration) -> Result<u64, Failed> {
    let at = folder.join(begin.to_string());
    std::fs::write(&at, "")?;
    let batch = Command::new(std::env::current_exe()?)
        .env("ALCEDO_MODEL_BATCH", &at)
        .env("ALCEDO_MODEL_SEED", begin.to_string())
        .env("ALCEDO_MODEL_PROGRAMS", count.to_string())
        .env("ALCEDO_MODEL_MILLIS", u64::try_from(left.as_millis()).unwrap_or(u64::MAX).to_string())
        .output()?;
    let reached = std::fs::read_to_string(&at)?.parse::<u64>();
    if !batch.status.success() {
        let (reached, stderr) = (reached.unwrap_or(begin), String::from_utf8_lossy(&batch.stderr));
        let program = thrown(reached);
        return Err(
            format!("ALCEDO_MODEL_SEED={reached}: {}\n{stderr}\nthe whole program: {program:?}", batch.status).into()
        );
    }
    Ok(reached.map_or(0, |reached| reached + 1 - begin))
}

/// Runs one batch. Writes each seed into the file `at` before its program runs.
fn run_batch(at: &Path) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        if info.payload_as_str() != Some("panics on purpose") {
            eprintln!("{info}");
        }
    }));
    watch::start();
    let number = |name| from_environment(name).expect("set by the process that starts a batch");
    let (seed, count) = (number("ALCEDO_MODEL_SEED"), number("ALCEDO_MODEL_PROGRAMS"));
    let (begun, limit) = (Instant::now(), Duration::from_millis(number("ALCEDO_MODEL_MILLIS")));
    let libraries = Arc::new(Libraries::new());
    for seed in seed..seed + count {
        if begun.elapsed() >= limit {
            break;
        }
        std::fs::write(at, seed.to_string()).expect("it can be written");
        let program = thrown(seed);
        if let Err(failure) = run_one(seed, &program, &libraries, LONG) {
            eprintln!("{failure}");
            shrink(seed, program, &libraries, failure);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn run_one(seed: u64, program: &Program, libraries: &Arc<Libraries>, patience: Duration) -> Result<(), String> {
    watch::name(format!("ALCEDO_MODEL_SEED={seed}: {program:?}"));
    let ran = catch_unwind(AssertUnwindSafe(|| run::run(program, libraries, patience)));
    ran.unwrap_or_else(|payload| Err(panic_message(&*payload)))
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    format!("it panicked: {}", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("without a text"))
}

/// Removes steps as long as the program still fails, and prints the remaining steps.
fn shrink(seed: u64, program: Program, libraries: &Arc<Libraries>, mut failure: String) {
    let (patience, limit) = SHORT;
    let (begun, mut shortest) = (Instant::now(), program);
    let fails = |program: &Program| run_one(seed, program, libraries, patience).err();
    while let Some((next, still)) = shortest
        .shorter()
        .into_iter()
        .take_while(|_| begun.elapsed() < limit)
        .find_map(|program| fails(&program).map(|still| (program, still)))
    {
        (shortest, failure) = (next, still);
    }
    eprintln!("the shortest that fails: {failure}\n{shortest:?}");
}
