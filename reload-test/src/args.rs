//! Command-line arguments of the stress program.

use crate::plan::InjectedFault;
use clap::Parser;
use std::path::PathBuf;

/// Reloads plugins under living objects, and fails on a lost object, a wrong answer, stale code or a crash.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    /// A plugin to reload, with its dependencies; repeat to reload several together.
    #[arg(long = "plugin", value_name = "NAME", default_value = "magic-cube")]
    pub(crate) plugins: Vec<String>,

    /// Number of reloads.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) reloads: u64,

    /// Number of objects.
    #[arg(long, value_name = "M", default_value_t = 1000)]
    pub(crate) objects: usize,

    /// Path of the report.
    #[arg(long, value_name = "PATH", required_unless_present = "child")]
    pub(crate) json: Option<PathBuf>,

    /// The workspace that the plugins are built from.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../example-plugins"))]
    pub(crate) sources: PathBuf,

    /// Selects the sample of objects that are checked if there are many.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Time limit without output before a host counts as hung, and is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) patience: u64,

    /// Permitted permanent memory growth per reload, in KiB: by least squares over the last half, from 200 reloads on.
    /// Below 8000 reloads, 400 KiB over that half are permitted, since a heap grows in steps.
    #[arg(long, value_name = "KIB", default_value_t = 0.1)]
    pub(crate) max_growth: f64,

    /// Makes the plugin panic after each reload, with RUST_BACKTRACE=1. The plugin must support this.
    #[arg(long)]
    pub(crate) panic_each: bool,

    /// A feature to build the plugins with; may be repeated.
    #[arg(long = "feature", value_name = "NAME")]
    pub(crate) features: Vec<String>,

    /// Builds the plugins with the release profile.
    #[arg(long)]
    pub(crate) release_plugins: bool,

    /// Command prefix that starts the host, such as `valgrind --error-exitcode=9`.
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub(crate) under: String,

    /// Injects a fault, to show that it is detected.
    #[arg(long = "sabotage", value_enum, hide = true)]
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
    fn only_the_report_has_to_be_named() {
        let args = Args::try_parse_from(["x", "--json", "r.json"]).expect("a whole command line");
        assert_eq!((args.plugins, args.reloads, args.objects), (vec!["magic-cube".to_owned()], 200, 1000));
        assert!(Args::try_parse_from(["x"]).is_err());
    }

    #[test]
    fn several_plugins_may_be_named() {
        let args = Args::try_parse_from(["x", "--plugin", "a", "--plugin", "b", "--json", "r.json"]);
        assert_eq!(args.expect("a whole command line").plugins, ["a", "b"]);
    }
}
