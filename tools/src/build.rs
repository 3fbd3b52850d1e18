//! `alcedo build`: libraries as a host wants them, with a seal behind their end.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;

use alcedo_build::{BuildRequest, build, find_plugins};

use crate::cli::Plugins;
use crate::error::Error;
use crate::telling::millis;

/// Builds and seals the plugins; the first folder that does not build ends it.
pub(crate) fn run(plugins: &Plugins) -> Result<ExitCode, Error> {
    for dir in &plugins.dirs {
        // Asked first, because cargo's own words about a folder without plugins do not help an author.
        find_plugins(std::slice::from_ref(dir))?;
        let manifest = if dir.is_file() { dir.clone() } else { dir.join("Cargo.toml") };
        let request = BuildRequest::new(&manifest).release(plugins.release).color(stderr().is_terminal());
        let outcome = build(&request)?;
        let _ = write!(stderr(), "{}", outcome.warnings);
        for artifact in &outcome.artifacts {
            // In place: this is the path an author gives to a host. It makes the file younger, never older, so cargo
            // still knows it for its own.
            alcedo_runtime::seal_file(&artifact.path).map_err(Error::file("seal", &artifact.path))?;
            let what = if artifact.fresh { "as it was" } else { "built" };
            let _ = writeln!(stdout(), "{}  {what}, sealed  {}", artifact.package, artifact.path.display());
        }
        let _ = writeln!(stdout(), "  {}", millis(outcome.millis));
    }
    Ok(ExitCode::SUCCESS)
}
