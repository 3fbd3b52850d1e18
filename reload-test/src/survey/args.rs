//! The command line of the survey.

use clap::Parser;
use std::path::PathBuf;

/// Reloads a plugin per crate, and writes down which crates let their code go.
#[derive(Debug, Parser)]
#[command(name = "alcedo-survey", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Only these rows, by name; all of them if none is named.
    #[arg(long, value_name = "ROWS", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,

    /// How many reloads each.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) reloads: u64,

    /// Where the table goes, as a page of the documentation.
    #[arg(long, value_name = "PATH")]
    pub(crate) page: Option<PathBuf>,

    /// The crate that is built once for each row.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../survey"))]
    pub(crate) sources: PathBuf,

    /// A host that says nothing for so long hangs, and is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,

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
