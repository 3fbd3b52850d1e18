//! `alcedo check`: compiles packages of scripts without running them. Prints their errors in the format of rustc.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use alcedo_base::figures::counted;
use alcedo_runtime::{Runtime, ScriptCheck, printable};

use anyhow::bail;

use crate::args::{HostArgs, PATIENCE};
use crate::error::{Error, file, paths};
use crate::host_program::{check_options, choose};
use crate::host_query::script_declarations;
use crate::modules::{self, BuildOptions, Found};
use crate::screen::{print_progress, print_result};

/// Checks packages of scripts and prints their errors with locations, without running them.
///
/// The packages are checked against each other, against the given plugins, and against the sample engine or the native types of a host,
/// which is started for this. Without a path, all packages and plugins in and below this folder are checked. Plugin crates are built, and
/// the libraries are read without running their code. Exits with 1 if there are errors.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Packages, which are folders of `.uc` files, and the plugins whose types they use: folders of crates, or built libraries.
    ///
    /// A parent folder selects all packages and plugins below it.
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    host: HostArgs,
    /// Seconds to wait for the answer of the host.
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

/// Prints the errors of scripts. Returns exit code 1 if a script has an error.
///
/// # Errors
/// Fails if the host does not respond.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let found = modules::find(&args.paths)?;
    if found.packages.is_empty() {
        bail!("no package of scripts in {}: name a folder of `.uc` files as well", paths(&args.paths));
    }
    let checked = check(found, &args.host, args.patience)?;
    let (text, wrong) = report(&checked);
    print_result(text.trim_end());
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Formats the warnings and errors of packages, and a summary. Also returns the number of packages with errors.
fn report(checked: &[ScriptCheck]) -> (String, usize) {
    let (mut out, mut wrong, mut names) = (String::new(), 0, BTreeSet::new());
    for found in checked {
        if !found.warnings.is_empty() {
            out.push_str(&format!("{}\n\n", printable(&found.warnings)));
        }
        match &found.declared {
            Ok(_) => names.extend([found.package.clone()]),
            Err(text) => {
                wrong += 1;
                out.push_str(&format!("{}\n\n", printable(text)));
            }
        }
    }
    let files: usize = checked.iter().map(|found| found.files).sum();
    let names: Vec<_> = names.iter().map(|name| printable(name).to_string()).collect();
    out.push_str(&match (wrong, names.len()) {
        (0, _) => format!("{} checked, {}: no errors", names.join(", "), counted(files as u64, "file")),
        (1, 0) => "1 package has errors".to_owned(),
        (wrong, _) => format!("{wrong} of {} packages have errors", checked.len()),
    });
    (out, wrong)
}

/// Finds a package, and the modules whose types this package uses.
///
/// # Errors
/// Fails if a path contains no module.
pub(crate) fn package_with(package: &Path, with: &[PathBuf]) -> Result<Found, Error> {
    let mut found = modules::find(with)?;
    let package = package.canonicalize().map_err(file("find", package))?;
    found.packages.retain(|other| *other != package);
    found.packages.insert(0, package);
    Ok(found)
}

/// Checks packages of scripts against the types of the sample engine or the author's host, and of plugins. Builds the plugin crates first,
/// and reads the types from their libraries without running any code.
///
/// # Errors
/// Fails if a plugin does not build, or if the host does not respond.
pub(crate) fn check(found: Found, host: &HostArgs, patience: u64) -> Result<Vec<ScriptCheck>, Error> {
    let chosen = choose(host.host.as_deref(), &found.host_dirs)?;
    check_options(chosen.as_ref(), &[], &[("--host-arg", !host.host_args.is_empty())])?;
    let (packages, libraries) = found.built()?;
    let modules: Vec<_> = packages.into_iter().chain(libraries).collect();
    let Some(chosen) = chosen else {
        let checked = Runtime::builder().natives(alcedo_engine::natives()).check_scripts(&modules)?;
        return Ok(causes_first(checked));
    };
    let program = chosen.build(&BuildOptions::default(), &host.host_args, print_progress)?;
    script_declarations(&program, &modules, Duration::from_secs(patience)).map(causes_first)
}

/// Moves libraries with errors, which have no source files, before the packages whose errors follow from them.
fn causes_first(mut checked: Vec<ScriptCheck>) -> Vec<ScriptCheck> {
    checked.sort_by_key(|found| found.files > 0);
    checked
}

#[cfg(test)]
mod tests {
    use super::{ScriptCheck, causes_first, report};

    fn failed(files: usize, error: &str, warning: &str) -> ScriptCheck {
        serde_json::from_value(serde_json::json!({
            "folder": "/Tale", "package": "Tale", "version": "0.0.0", "dependencies": [], "files": files,
            "declared": { "Err": error }, "warnings": warning,
        }))
        .unwrap()
    }

    #[test]
    fn the_error_of_a_library_precedes_the_errors_of_packages_that_use_it() {
        let checked =
            causes_first(vec![failed(2, "follows", ""), failed(1, "follows too", ""), failed(0, "cause", "")]);
        assert!(report(&checked).0.starts_with("cause\n\nfollows\n\nfollows too\n\n"));
    }

    #[test]
    fn warnings_and_errors_cannot_control_a_terminal() {
        let checked = failed(1, "error: \u{1b}[2J", "warning: \u{1b}[2J");
        let expected = "warning: \\u{1b}[2J\n\nerror: \\u{1b}[2J\n\n1 package has errors";
        assert_eq!(report(&[checked]), (expected.to_owned(), 1));
    }
}
