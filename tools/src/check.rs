//! `alcedo check`: whether packages of scripts mean something, and what is wrong with them, as the compiler of Rust says it. Nothing
//! of them runs.

use std::collections::BTreeSet;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use alcedo_runtime::{Runtime, ScriptCheck, printable};

use crate::ask::ask_scripts;
use crate::error::Error;
use crate::host_program::{Chosen, choose};
use crate::session::BuildOptions;
use crate::world::HostProgram;

/// Which packages, and in which host.
#[derive(Debug, clap::Args)]
pub(crate) struct Wish {
    /// Folders of `.uc` files, each called as its package.
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// The author's own host instead of the sample engine: a package, a folder, or a program that is built already.
    #[arg(long, value_name = "PACKAGE|PATH")]
    host: Option<String>,
    /// An argument for the host; may be given several times.
    #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true, requires = "host")]
    host_args: Vec<String>,
    /// How many seconds the host has for its answer.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

/// Prints what is wrong, and ends with 1 if anything is.
///
/// # Errors
/// When the host gives no answer.
pub(crate) fn run(wish: &Wish) -> Result<ExitCode, Error> {
    let checked = check(&wish.folders, wish.host.as_deref(), &wish.host_args, wish.patience)?;
    let (mut out, mut wrong, mut names) = (String::new(), 0, BTreeSet::new());
    for found in &checked {
        let warnings = if found.warnings.is_empty() { String::new() } else { format!("{}\n\n", found.warnings) };
        out.push_str(&warnings);
        match &found.declared {
            Ok(_) => names.extend([found.package.clone()]),
            Err(text) => {
                wrong += 1;
                out.push_str(&format!("{text}\n\n"));
            }
        }
    }
    let files: usize = checked.iter().map(|found| found.files).sum();
    let names: Vec<_> = names.iter().map(|name| printable(name).to_string()).collect();
    out.push_str(&match (wrong, names.len()) {
        (0, _) => format!("{} checked, {}: no errors", names.join(", "), counted(files)),
        (1, 0) => "1 package has errors".to_owned(),
        (wrong, _) => format!("{wrong} of {} packages have errors", checked.len()),
    });
    // The reader has closed the output: there is nothing to report to.
    let _ = writeln!(stdout(), "{}", out.trim_end());
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// So many files.
pub(crate) fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// What is found in packages, in the sample engine or in an author's host.
///
/// # Errors
/// When the host gives no answer.
pub(crate) fn check(
    folders: &[PathBuf],
    host: Option<&str>,
    host_args: &[String],
    patience: u64,
) -> Result<Vec<ScriptCheck>, Error> {
    let whole = |folder: &PathBuf| std::path::absolute(folder).map_err(Error::file("find", folder));
    let folders = folders.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
    let Some(named) = host else {
        return Ok(Runtime::builder().natives(alcedo_engine::natives()).check_scripts(&folders)?);
    };
    let chosen = choose(Some(named), &[])?.unwrap_or_else(|| Chosen::Program(PathBuf::from(named)));
    let say = |line: &str| drop(writeln!(std::io::stderr(), "{}", printable(line)));
    let HostProgram { program, args } = chosen.build(&BuildOptions::default(), host_args, say)?;
    Ok(ask_scripts(&program, &args, &folders, Duration::from_secs(patience))?)
}
