//! Tests a plugin that holds host values in every kind of location from which values are dropped. The host ends objects and generations in
//! every possible way, in an order that a seed determines. A model predicts each drop with its time and thread. Each drop accesses its
//! values. An access must return the correct value or a refusal, and never another value.
//!
//! `LIFETIMES_SEED` and `LIFETIMES_RUNS` set the seed and the number of programs. A failure prints the seed and the steps. To reproduce the
//! failure, run one program with this seed. `.ci/lifetimes` runs twenty thousand programs on demand.

use crate::support;

mod model;
mod program;

use program::Builds;

fn from_environment(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    text.parse().unwrap_or_else(|error| panic!("{name} is to be a number, not {text:?}: {error}"))
}

#[test]
fn every_ended_value_is_dropped_once_and_sees_only_its_own_data() {
    let (seed, runs) = (from_environment("LIFETIMES_SEED", 1), from_environment("LIFETIMES_RUNS", 40));
    let record = support::record("lifetimes");
    let builds = Builds::new();
    let mut drops = 0;
    for seed in seed..seed + runs {
        drops += program::run(seed, &builds, &record);
    }
    eprintln!("{runs} programs, {drops} drops");
    assert!(drops > runs, "something was dropped");
}
