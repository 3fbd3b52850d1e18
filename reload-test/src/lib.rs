//! A reload is only worth something if the ten-thousandth is as good as the first. This program swaps between real
//! builds of real plugins under many living objects, and fails if one object, one value or one answer is not what it
//! should be.
//!
//! It runs as two processes. The child is the host: it reloads, looks, and says a line per reload. The parent builds
//! the plugins, listens, and writes the report; so a crash is a line in the report, and what the parent remembers
//! does not show in the memory that the child is judged by.
//!
//! The second program, `alcedo-survey`, does the same for one crate of crates.io after another, and writes down what
//! became of each.

mod args;
mod builds;
mod checks;
mod child;
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
mod tally;
mod trial;
mod values;

use clap::Parser;
use std::process::ExitCode;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Does what the command line of `alcedo-reload-test` says.
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

/// Does what the command line of `alcedo-survey` says.
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

/// What is logged in a child goes to its error stream: what RUST_LOG asks for, else `level` and above.
pub(crate) fn log_to_stderr(level: &str) {
    let wanted = std::env::var("RUST_LOG").ok().and_then(|wanted| wanted.parse::<Targets>().ok());
    let filter = wanted.unwrap_or_else(|| level.parse().expect("levels of ours are right"));
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
