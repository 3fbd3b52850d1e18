//! Command-line arguments of the survey.

use super::plan::InjectedFault;
use clap::Parser;
use std::path::PathBuf;

/// Reloads a plugin per crate, and records which crates allow their code to unload.
#[derive(Debug, Parser)]
#[command(name = "alcedo-survey", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Only these rows, by name; all by default.
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,

    /// Only those of these rows without a sound result for the current code and versions.
    #[arg(long)]
    pub(crate) missing: bool,

    /// Number of reloads per row.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) reloads: u64,

    /// Number of concurrent rows. Builds run one at a time, since they share a folder.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) jobs: usize,

    /// File of the table, as a page of the documentation: all rows, each with its newest result. A row without a result
    /// keeps its lines of the existing page.
    #[arg(long, value_name = "PATH")]
    pub(crate) page: Option<PathBuf>,

    /// Folder of results, a file per row.
    #[arg(
        long,
        value_name = "DIR",
        default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/survey/target/results")
    )]
    pub(crate) store: PathBuf,

    /// The crate that is built for each row.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/survey"))]
    pub(crate) sources: PathBuf,

    /// Time limit without output before a host counts as hung, and is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,

    /// Injects a fault, to check that it is detected.
    #[arg(long = "sabotage", value_name = "HARM", hide = true)]
    pub(crate) injected_fault: Option<InjectedFault>,

    /// Run as the host of this plan.
    #[arg(long, value_name = "PLAN", hide = true)]
    pub(crate) child: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::{CommandFactory, Parser};

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn rows_are_named_with_commas() {
        let args = Args::try_parse_from(["x", "--rows", "rand,smol", "--reloads", "20"]).expect("a command line");
        assert_eq!((args.rows, args.reloads), (vec!["rand".to_owned(), "smol".to_owned()], 20));
    }
}
