//! The command line of the survey.

use super::sabotage::Sabotage;
use clap::Parser;
use std::path::PathBuf;

/// Reloads a plugin per crate, and writes down which crates let their code go.
#[derive(Debug, Parser)]
#[command(name = "alcedo-survey", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Only these rows, by name; all of them if none is named.
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,

    /// Of these rows, only those that have no sound result yet for the code and the versions that they would run with.
    #[arg(long)]
    pub(crate) missing: bool,

    /// How many reloads each.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) reloads: u64,

    /// How many rows at once. Builds take turns, since they share a folder.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) jobs: usize,

    /// File of the table, as a page of the documentation: all rows, each with its newest result. A row without one keeps its
    /// lines of the page that is there.
    #[arg(long, value_name = "PATH")]
    pub(crate) page: Option<PathBuf>,

    /// Where results are kept, a file per row.
    #[arg(
        long,
        value_name = "DIR",
        default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/survey/target/results")
    )]
    pub(crate) store: PathBuf,

    /// The crate that is built once for each row.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/survey"))]
    pub(crate) sources: PathBuf,

    /// A host that says nothing for so long hangs, and is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,

    /// Do harm, to see whether it is noticed.
    #[arg(long, value_name = "HARM", hide = true)]
    pub(crate) sabotage: Option<Sabotage>,

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
