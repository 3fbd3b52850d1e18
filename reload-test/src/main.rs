//! A reload is only worth something if the ten-thousandth is as good as the first. This program swaps between real
//! builds of real plugins under many living objects, and fails if one object, one value or one answer is not what it
//! should be.
//!
//! It runs as two processes. The child is the host: it reloads, looks, and says a line per reload. The parent builds
//! the plugins, listens, and writes the report; so a crash is a line in the report, and what the parent remembers
//! does not show in the memory that the child is judged by.

#![forbid(unsafe_code)]

mod args;
mod builds;
mod checks;
mod child;
mod findings;
mod parent;
mod plan;
mod progress;
mod report;
mod statistics;
mod subject;
mod summary;
mod trial;
mod values;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let outcome = match &args.child {
        Some(plan) => child::run(plan).map(|()| true),
        None => parent::run(&args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("alcedo-reload-test: {error:#}");
            ExitCode::FAILURE
        }
    }
}
