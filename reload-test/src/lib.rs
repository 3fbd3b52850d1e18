//! Stress test of reloads: ten thousand reloads must not degrade the host. The program reloads between real builds of real plugins while
//! many objects exist. The test fails if an object is lost, a value is wrong, or a call returns a wrong result.
//!
//! The test has two processes. The child is the host, which reloads, runs the checks, and writes a line per reload. The parent builds the
//! plugins, reads these lines, and writes the report. The report is therefore written even after a crash of the host, and the memory of the
//! parent does not affect the measurements in the child.
//!
//! The second program, `alcedo-survey`, reloads one plugin per crate of crates.io, and records the outcome for each crate.

mod args;
mod builds;
mod checks;
mod child;
mod counters;
mod findings;
mod gauges;
mod hosting;
mod parent;
mod plan;
mod progress;
mod report;
mod statistics;
mod subject;
mod summary;
mod survey;
mod trial;
mod values;

use clap::Parser;
use std::process::ExitCode;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Runs the program `alcedo-reload-test` with the arguments of this process.
#[must_use]
pub fn reload_test() -> ExitCode {
    alcedo_runtime::canary::run_if_child();
    let args = args::Args::parse();
    let outcome = match &args.child {
        Some(plan) => child::run(plan).map(|()| true),
        None => parent::run(&args),
    };
    ended("alcedo-reload-test", outcome)
}

/// Runs the program `alcedo-survey` with the arguments of this process.
#[must_use]
pub fn survey() -> ExitCode {
    alcedo_runtime::canary::run_if_child();
    let args = survey::args::Args::parse();
    let outcome = match &args.child {
        Some(plan) => survey::child::run(plan).map(|()| true),
        None => survey::parent::run(&args),
    };
    ended("alcedo-survey", outcome)
}

/// Sends logs of a child to standard error. RUST_LOG specifies the filter. By default, keeps messages of `level` and above.
pub(crate) fn log_to_stderr(level: &str) {
    let requested = std::env::var("RUST_LOG").ok().and_then(|requested| requested.parse::<Targets>().ok());
    let filter = requested.unwrap_or_else(|| level.parse().expect("the filter of levels is valid"));
    let logs = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(std::io::stderr);
    logs.finish().with(filter).init();
}

fn ended(program: &str, outcome: anyhow::Result<bool>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{program}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
