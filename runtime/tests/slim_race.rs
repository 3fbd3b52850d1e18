//! Tests calls from several threads that race with replacements and unloads of their Slim. Each call runs in a generation that was current
//! during the call, or fails because the context is unloading. A call into an unmapped image would crash this process. `ALCEDO_RACE_CALLS`
//! sets the number of calls. The default is a million.

use crate::support;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use alcedo_runtime::{ContextError, ContextFunction, ContextState, Contexts, LoadContext, Value, process};

const THREADS: u64 = 4;
const LONG: Duration = Duration::from_secs(60);

fn calls() -> u64 {
    let count = std::env::var("ALCEDO_RACE_CALLS").ok();
    count.map_or(1_000_000, |text| text.parse().expect("ALCEDO_RACE_CALLS is a number"))
}

/// Returns two builds with different tags. Generation `n` of the race uses build `n % 2`.
fn builds() -> [PathBuf; 2] {
    [2, 1].map(|tag| support::tagged("reports", &[], tag))
}

fn tag_of(generation: u64) -> u64 {
    2 - generation % 2
}

fn build_tag(slim: &LoadContext) -> ContextFunction {
    slim.function("Report", "build_tag", "-> u64").unwrap_or_else(|error| panic!("{error}"))
}

fn number(answer: Option<Value>) -> u64 {
    match answer {
        Some(Value::U64(number)) => number,
        other => panic!("{other:?} is not a number"),
    }
}

#[derive(Debug, Default)]
struct Counts {
    answered: u64,
    refused: u64,
    /// Number of calls that did not overlap with a replacement. For such a call, only one build is correct.
    exact: u64,
}

#[test]
fn calls_racing_replacements_are_answered_by_a_current_generation() {
    let runtime = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let builds = builds();
    let slim = runtime.contexts().create_slim("race").unwrap_or_else(|error| panic!("{error}"));
    slim.load_path(&builds[1]).unwrap_or_else(|error| panic!("{error}"));
    let function = build_tag(&slim);
    // `begun` is the newest generation whose replacement has begun. `ended` is the newest generation whose replacement has ended.
    let (begun, ended, done) = (AtomicU64::new(1), AtomicU64::new(1), AtomicU64::new(0));
    let share = calls() / THREADS;
    let since = Instant::now();
    let caller = || {
        let mut counts = Counts::default();
        while counts.answered < share {
            let before = ended.load(Ordering::SeqCst);
            let tag = number(function.call(&[]).unwrap_or_else(|error| panic!("{error}")));
            let after = begun.load(Ordering::SeqCst);
            counts.answered += 1;
            assert!((1..=2).contains(&tag), "build {tag}");
            if before == after {
                assert_eq!(tag, tag_of(before), "generation {before} was the only one");
                counts.exact += 1;
            }
        }
        done.fetch_add(1, Ordering::SeqCst);
        counts
    };
    let (counts, replaced) = thread::scope(|scope| {
        let callers: Vec<_> = (0..THREADS).map(|_| scope.spawn(caller)).collect();
        let mut generation = 1;
        while done.load(Ordering::SeqCst) < THREADS {
            generation += 1;
            begun.store(generation, Ordering::SeqCst);
            let old = slim.replace(&builds[generation as usize % 2]).unwrap_or_else(|error| panic!("{error}"));
            ended.store(generation, Ordering::SeqCst);
            old.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
        }
        let counts: Vec<_> = callers.into_iter().map(|caller| caller.join().expect("it does not panic")).collect();
        (counts, generation - 1)
    });
    let exact: u64 = counts.iter().map(|counts| counts.exact).sum();
    print(&format!("{} calls, {exact} of them exact, {replaced} replacements, {:?}", share * THREADS, since.elapsed()));
    assert!(replaced > 0 && exact > 0, "{counts:?}");
    drop(function);
    slim.begin_unload().expect("it is collectible").wait(LONG).unwrap_or_else(|report| panic!("{report}"));
    assert!(process::stale_mappings(&runtime.stage_dir()).expect("it can be asked").is_empty());
}

#[test]
fn calls_racing_unloads_return_a_result_or_an_error() {
    let runtime = support::builder().build().unwrap_or_else(|error| panic!("{error}"));
    let contexts = runtime.contexts();
    let builds = builds();
    let stop = AtomicBool::new(false);
    let answers = AtomicU64::new(0);
    let share = calls() / 10 / THREADS;
    let caller = |contexts: &Contexts| {
        let mut counts = Counts::default();
        while !stop.load(Ordering::SeqCst) {
            let Ok(function) = contexts.function("mortal", "Report", "build_tag", "-> u64") else {
                thread::yield_now();
                continue;
            };
            loop {
                match function.call(&[]) {
                    Ok(answer) => {
                        assert!((1..=2).contains(&number(answer)));
                        counts.answered += 1;
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(ContextError::ContextUnloading { .. }) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            counts.refused += 1;
        }
        counts
    };
    let mut rounds = 0;
    let counts = thread::scope(|scope| {
        let callers: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| caller(&contexts))).collect();
        while answers.load(Ordering::Relaxed) < share * THREADS {
            let slim = contexts.create_slim("mortal").unwrap_or_else(|error| panic!("{error}"));
            slim.load_path(&builds[rounds % 2]).unwrap_or_else(|error| panic!("{error}"));
            let before = answers.load(Ordering::Relaxed);
            while answers.load(Ordering::Relaxed) < before + 200 {
                thread::yield_now();
            }
            let ticket = slim.begin_unload().expect("it is collectible");
            ticket.wait(LONG).unwrap_or_else(|report| panic!("{report}"));
            assert_eq!(slim.state(), ContextState::Dead);
            rounds += 1;
        }
        stop.store(true, Ordering::SeqCst);
        callers.into_iter().map(|caller| caller.join().expect("it does not panic")).collect::<Vec<_>>()
    });
    let (answered, refused) =
        counts.iter().fold((0, 0), |sum, counts| (sum.0 + counts.answered, sum.1 + counts.refused));
    print(&format!("{answered} calls, {refused} refused, {rounds} lives"));
    assert!(rounds > 1 && refused > 0, "{counts:?}");
    assert!(process::stale_mappings(&runtime.stage_dir()).expect("it can be asked").is_empty());
}

/// Prints a line that is visible in manual runs with `--nocapture`.
fn print(line: &str) {
    #![expect(clippy::print_stdout, reason = "counters for manual runs of the race")]
    println!("{line}");
}
