//! `alcedo check-abi`: compares two builds of a library, and prints the changes that affect a host, other plugins or scripts. Neither file
//! is mapped, and none of their code runs. `compare.rs` contains the comparison.

mod compare;
mod names;

use std::fmt::{self, Display};
use std::path::PathBuf;
use std::process::ExitCode;

use alcedo_runtime::{ContextError, LoadError, ManifestInfo};
use anyhow::anyhow;
use serde::Serialize;

use crate::error::{Error, file, one_line};
use crate::inspect::Inspected;
use crate::screen::{print_progress, print_result};

use compare::{Effect, Finding, Findings, compare};

/// Compares two builds of a library, without running their code, and prints the changes that break a host, other plugins or scripts.
///
/// The first group has the changes that a host notices when NEW replaces OLD: the manifest, types, members, and the values of living
/// objects. The second group has the changes that packages of scripts notice, and plugins whose glue was written for OLD. Kept fields are
/// not compared, since a library does not list their types. Exits with 0 if nothing breaks, with 1 if a change breaks something, and with 2
/// if a file cannot be read.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The library that a host has loaded: `old/libmy_plugin.so`.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The library that replaces OLD: `target/debug/libmy_plugin.so`.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Exit code for a file that cannot be read.
const UNREADABLE: u8 = 2;

/// Compares the libraries and prints the changes. Returns exit code 1 if a change breaks a host or a plugin, and 2 if a file cannot be
/// read.
pub(crate) fn run(args: &Args) -> ExitCode {
    let found = match findings(args) {
        Ok(found) => found,
        Err(error) => {
            print_progress(&format!("alcedo: {}", one_line(&error.to_string())));
            return ExitCode::from(UNREADABLE);
        }
    };
    let breaking = found.breaking();
    let text = if args.json {
        // The value contains only strings and numbers, so its serialization cannot fail.
        serde_json::to_string_pretty(&Compared { breaking, found: &found }).unwrap_or_default()
    } else {
        found.to_string()
    };
    print_result(&text);
    if breaking == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn findings(args: &Args) -> Result<Findings, Error> {
    let (old, new) = (&args.old, &args.new);
    let old = std::path::absolute(old).map_err(file("find", old))?;
    let new = std::path::absolute(new).map_err(file("find", new))?;
    let (manifest, declared) = ManifestInfo::peek_declared(&old)
        .map_err(|error| anyhow!("could not read OLD: {error}; if a host loads it, use the `alcedo` of that host"))?;
    let before = Inspected::of(&old, &manifest, &declared);
    match ManifestInfo::peek_declared(&new) {
        Ok((manifest, declared)) => Ok(compare(&before, &Inspected::of(&new, &manifest, &declared))),
        Err(error) if is_refusal(&error) => Ok(Findings::refused(before.name, &error.to_string())),
        Err(error) => Err(anyhow!("could not read NEW: {error}")),
    }
}

/// Checks if the error means that hosts reject the new build, although the file is readable. The old build has the ABI of this `alcedo`, so
/// each host that loads the old build rejects the new build.
fn is_refusal(error: &ContextError) -> bool {
    let ContextError::Load(error) = error else { return false };
    matches!(
        error,
        LoadError::Abi { .. }
            | LoadError::Api { .. }
            | LoadError::Newer { .. }
            | LoadError::SlotTypes { .. }
            | LoadError::Layout { .. }
            | LoadError::PanicAborts { .. }
            | LoadError::DynamicStd { .. }
            | LoadError::HookSlot { .. }
    )
}

/// JSON form of the comparison. The names of its fields are stable. Later versions may add fields.
#[derive(Serialize)]
struct Compared<'a> {
    breaking: usize,
    #[serde(flatten)]
    found: &'a Findings,
}

impl Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (title, findings) in [("host", &self.host), ("other plugins and scripts", &self.plugins)] {
            writeln!(f, "{title}")?;
            if findings.is_empty() {
                writeln!(f, "  no changes")?;
            }
            for Finding { effect, item, change, consequence } in findings {
                let effect = match effect {
                    Effect::Breaks => "breaks    ",
                    Effect::Compatible => "compatible",
                };
                writeln!(f, "  {effect}  {}", one_line(&format!("{item}: {change}; {consequence}")))?;
            }
        }
        match self.breaking() {
            0 => write!(f, "nothing breaks"),
            1 => write!(f, "1 change breaks a host, other plugins or scripts"),
            count => write!(f, "{count} changes break a host, other plugins or scripts"),
        }
    }
}
