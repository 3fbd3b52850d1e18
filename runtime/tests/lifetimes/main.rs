//! A plugin holds values of the host's in every place from which something may be dropped, and the host ends things in every
//! way there is, as a seed says. A model knows what has to be dropped when, and on which thread; each drop looks at what it
//! holds, and may find the right value or a refusal, but never another value.
//!
//! `LIFETIMES_SEED` and `LIFETIMES_RUNS` say which programs and how many. A failure names the seed and what was done; the
//! same seed with one run does it again. On demand, for twenty thousand: `.ci/lifetimes`.

use crate::support;

mod model;
mod program;

use program::Builds;

fn from_environment(name: &str, default: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return default };
    text.parse().unwrap_or_else(|error| panic!("{name} is to be a number, not {text:?}: {error}"))
}

#[test]
fn whatever_ends_however_is_dropped_once_where_it_may_look_and_finds_its_own_value_or_none() {
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
