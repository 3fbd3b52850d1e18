//! The arguments, and who gets them. The texts here are what `alcedo help` shows.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::command::HELP;
use crate::session::Beginning;
use crate::{build, demo, dev, guard};

/// Builds Alcedo plugins, and swaps their code in a running world while its objects live on.
#[derive(Parser)]
#[command(name = "alcedo", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Builds plugins and seals their libraries, so that a host can tell a damaged file from a whole one.
    Build {
        #[command(flatten)]
        plugins: Plugins,
        /// Sign the libraries with the secret key in this file, for hosts that trust its public half.
        #[arg(long, value_name = "KEYFILE")]
        sign: Option<PathBuf>,
    },
    /// Makes a key to sign libraries with. Its public half goes beside it, with `.pub` behind the name.
    ///
    /// `openssl genpkey -algorithm ed25519` makes such keys as well.
    Keygen {
        /// Where the secret key goes; only this user may read it. A file that is there is left alone.
        #[arg(value_name = "KEYFILE")]
        path: PathBuf,
    },
    /// Builds plugins, runs them in a world, and swaps their code in whenever a source file is saved.
    #[command(after_help = HELP)]
    Dev {
        #[command(flatten)]
        plugins: Plugins,
        #[command(flatten)]
        world: World,
        /// An argument for the main of every module; may be given several times.
        #[arg(long = "arg", value_name = "TEXT", allow_hyphen_values = true)]
        args: Vec<String>,
        /// Run the world in this process, for a debugger's sake; a crash of a plugin then ends it all.
        ///
        /// Usually a second process looks after the world, tells where it crashed, and starts it again with the last
        /// good build.
        #[arg(long)]
        no_guard: bool,
        /// Where whoever looks after this process keeps builds.
        #[arg(long, value_name = "DIR", hide = true)]
        builds: Option<PathBuf>,
        /// The build to go on with after a crash.
        #[arg(long, value_name = "N|none", hide = true)]
        after_crash: Option<String>,
    },
    /// Runs any host, and tells in which module and function it crashed if it does.
    ///
    /// The host has to call `alcedo_runtime::crash_guard::arm_if_supervised()`.
    Guard {
        /// The host.
        #[arg(value_name = "PROGRAM")]
        program: PathBuf,
        /// What it is called with.
        #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Edits a scratch copy of an example plugin three times over, and shows what becomes of a living world.
    ///
    /// Ends with 0 only if every step did what it should.
    Demo {
        /// How many objects live through the edits.
        #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
        objects: u64,
        /// One JSON object a line on standard output, and nothing else there.
        #[arg(long)]
        json: bool,
    },
}

/// Which plugins, and how they are built.
#[derive(Args)]
pub(crate) struct Plugins {
    /// Folders of plugin crates, or of workspaces that hold some.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Build with the release profile.
    #[arg(long)]
    pub(crate) release: bool,
}

/// What lives in the development host.
#[derive(Args)]
pub(crate) struct World {
    /// How many objects of every class of actor that the plugins declare.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) objects: u64,
    /// A package that plugins may declare types in, besides `Game`; may be given several times.
    #[arg(long = "package", value_name = "NAME")]
    pub(crate) packages: Vec<String>,
}

pub(crate) fn run() -> ExitCode {
    let ended = match Cli::parse().verb {
        Verb::Build { plugins, sign } => build::run(&plugins, sign.as_deref()),
        Verb::Keygen { path } => build::keygen(&path),
        Verb::Dev { no_guard: false, builds: None, .. } => dev::guarded(),
        Verb::Dev { plugins, world, args, builds, after_crash, .. } => {
            let after_crash = after_crash.map(|build| build.parse().ok());
            dev::run(plugins, world, args, &Beginning { builds, after_crash })
        }
        Verb::Guard { program, args } => guard::run(&program, &args),
        Verb::Demo { objects, json } => demo::run(objects, json),
    };
    ended.unwrap_or_else(|error| {
        // Whoever closed our error stream does not want to read this.
        let _ = writeln!(std::io::stderr(), "alcedo: {error}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
