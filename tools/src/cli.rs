//! The commands, and what runs them. The texts here are what `alcedo help` shows.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::args::{Plugins, World};
use crate::command::HELP;
use crate::error::Error;
#[cfg(not(feature = "bindgen"))]
use crate::install::installing;
use crate::world::HostOptions;
use crate::{build, check, demo, dev, doctor, glue, guard, inspect, new, repl};

/// Builds Alcedo plugins, and swaps their code in a running world while its objects live on.
#[derive(Parser)]
#[command(name = "alcedo", version)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Writes a plugin, a host, or a workspace of both that builds, runs under `alcedo dev`, and passes its own tests.
    New {
        /// What to write.
        kind: new::Kind,
        /// How it is called: its folder here, its packages and its modules.
        #[arg(value_name = "NAME", allow_hyphen_values = true)]
        name: String,
        /// The checkout of Alcedo that it uses, instead of ALCEDO_CHECKOUT or the one that this program was built from.
        #[arg(long, value_name = "DIR")]
        alcedo: Option<PathBuf>,
        /// The repository of Alcedo that it uses, instead of a checkout on this machine.
        #[arg(long, value_name = "URL", conflicts_with = "alcedo")]
        git: Option<String>,
    },
    /// Says what of a workspace and of this machine is not as plugins and hosts need it, and which lines to copy.
    ///
    /// Ends with 0 if nothing is wrong.
    Doctor {
        /// The folder of a plugin, a host, or a workspace.
        #[arg(value_name = "DIR", default_value = ".")]
        dir: PathBuf,
        /// One JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Builds plugins and seals their libraries, so that a host can detect a damaged file.
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
    /// Prints what the library of a plugin says of itself and declares. None of its code runs.
    ///
    /// Types with their members, functions that are called by name, and what it uses of others; compiler, ABI, build and
    /// seal. Ends with 1 if the file is no library that a host of this version could load, and says why.
    Inspect {
        /// The library: `target/debug/libmy_plugin.so`; or the folder of a package of scripts.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// What a package of scripts builds on: other packages, folders of plugin crates, built libraries; may be given several times.
        #[arg(long, value_name = "PATH")]
        with: Vec<PathBuf>,
        /// The host whose types a package of scripts builds on, instead of the sample engine: a package, a folder, or a program.
        #[arg(long, value_name = "PACKAGE|PATH")]
        host: Option<String>,
        /// One JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Checks packages of scripts, and prints what is wrong with them, with the place of each mistake. Nothing of them runs.
    ///
    /// They are checked against each other, against the plugins beside them, and against the sample engine or the native types of a host, which
    /// is started and asked. Without a path all packages and plugins in and below this folder are taken. Plugins that are crates are built,
    /// their libraries are read, and none of their code runs. Ends with 1 if there are errors.
    Check(check::Wish),
    /// Writes the Rust source by which plugins use the types of a host, or of another module.
    ///
    /// Without a library and a host, all such sources of the workspace are written again: those with the types of its host and its plugins.
    ///
    /// Those of a module are read from its library, and none of its code runs; a host is started and asked. Put the source into a crate of
    /// its own or into a module of the plugin: `mod lamps;`. What it says is compared while the plugin is loaded; after a change write it
    /// again. The same declarations give the same bytes, and a file that has them is left alone. The crate `alcedo-glue` does the same in a
    /// `build.rs`.
    Glue(glue::Wish),
    /// Writes the Rust source by which plugins call a C library, from its header.
    ///
    /// Functions become those of a class that is bound to the library, structs become reflected structs. What C cannot be told of by a
    /// declaration is left out, and stands at the end with the reason. The header is read by libclang.
    #[cfg(feature = "bindgen")]
    Bindgen {
        /// The header.
        #[arg(value_name = "FILE")]
        header: PathBuf,
        /// The library, without path and extension, instead of the name of the header.
        #[arg(long, value_name = "NAME")]
        library: Option<String>,
        /// The package of the class and the structs.
        #[arg(long, value_name = "NAME", default_value = "Game")]
        package: String,
        /// Where it goes, instead of standard output.
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// For the compiler: `-Iinclude -DNAME=1`.
        #[arg(last = true, value_name = "ARGS")]
        arguments: Vec<String>,
    },
    /// Writes the Rust source by which plugins call a C library. This build of `alcedo` is without it: install the feature `bindgen`.
    #[cfg(not(feature = "bindgen"))]
    Bindgen {
        /// Arguments of the command.
        #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Builds plugins, runs them in a world, and swaps their code in whenever a source file is saved.
    ///
    /// A folder of `.uc` files is a package of scripts, called as the folder: it is checked and loaded beside the plugins, and a file of it
    /// that is saved is reloaded likewise. Packages below a folder of plugins are found.
    #[command(after_help = HELP)]
    Dev {
        #[command(flatten)]
        plugins: Plugins,
        #[command(flatten)]
        world: World,
        /// An argument for the main of every module; may be given several times.
        #[arg(long = "arg", value_name = "TEXT", allow_hyphen_values = true)]
        args: Vec<String>,
        /// The author's own host instead of the sample engine: a package, a folder, or a program that is built already.
        ///
        /// Without it, `host = "…"` in `[package.metadata.alcedo]` or `[workspace.metadata.alcedo]` of the plugins is taken.
        /// The host needs the line `.development()` in its builder.
        #[arg(long, value_name = "PACKAGE|PATH")]
        host: Option<String>,
        /// An argument for the host; may be given several times.
        #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true)]
        host_args: Vec<String>,
        /// Build the host and restart it whenever its sources change, with the world as it was saved; without this, key k does.
        #[arg(long)]
        restart_host: bool,
        /// Run the sample world in this process, for a debugger's sake; a crash or a hang of a plugin is then the end.
        ///
        /// Usually the world has a process of its own. When that crashes or hangs, the place is reported, and the world
        /// begins anew with the last good build and its objects as they were a few seconds before.
        #[arg(long, conflicts_with = "host")]
        no_guard: bool,
    },
    /// Evaluates expressions and statements of the language of scripts in a running world, and completes names.
    ///
    /// `Hero'Hero_1'.Health + 1` is an expression about an object; `Hero'Hero_1'.Health = 5;` is a statement. A line that begins with `:` is
    /// a command of the world's console: `:help` lists them.
    Repl(repl::Wish),
    /// The sample world in a process of its own.
    #[command(hide = true)]
    DevWorld {
        #[command(flatten)]
        world: World,
        #[arg(long = "arg", allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Runs any host, and reports in which module and function it crashed if it does.
    ///
    /// The host has to call `alcedo_runtime::crash_guard::arm_if_supervised()`. With ALCEDO_BACKTRACE=1 the calls of each panic
    /// in plugin code are reported as well.
    Guard {
        /// The host.
        #[arg(value_name = "PROGRAM")]
        program: PathBuf,
        /// What it is called with.
        #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Edits a scratch copy of an example plugin four times, and shows what becomes of a living world.
    ///
    /// Ends with 0 only if every step did what it should.
    Demo {
        /// How many objects live through the edits.
        #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(4..=1_000_000))]
        objects: u64,
        /// One JSON object a line on standard output, and nothing else there.
        #[arg(long)]
        json: bool,
        /// For tests of the demo: a host that reruns a class constructor in each reload, which the demo must notice.
        #[arg(long, hide = true)]
        planted_rerun: bool,
    },
}

/// The command is built without the feature.
#[cfg(not(feature = "bindgen"))]
#[derive(Debug, thiserror::Error)]
#[error(
    "this build of `alcedo` is without the feature `bindgen`, which reads C headers by libclang: {}, then `alcedo bindgen{}` again",
    installing(&["bindgen"]),
    arguments.iter().map(|argument| format!(" {}", argument.display())).collect::<String>()
)]
struct NoBindgen {
    /// Arguments of the command.
    arguments: Vec<OsString>,
}

pub(crate) fn run() -> ExitCode {
    let ended = match Cli::parse().verb {
        Verb::New { kind, name, alcedo, git } => new::run(kind, &name, alcedo, git).map_err(Error::part),
        Verb::Doctor { dir, json } => Ok(doctor::run(&dir, json)),
        Verb::Build { plugins, sign } => build::run(&plugins, sign.as_deref()),
        Verb::Keygen { path } => build::keygen(&path),
        Verb::Glue(wish) => glue::run(&wish),
        #[cfg(feature = "bindgen")]
        Verb::Bindgen { header, library, package, out, arguments } => crate::bindgen::run(&crate::bindgen::Wish {
            header: &header,
            library: library.as_deref(),
            package: &package,
            out: out.as_deref(),
            arguments: &arguments,
        }),
        #[cfg(not(feature = "bindgen"))]
        Verb::Bindgen { arguments } => Err(Error::part(NoBindgen { arguments })),
        Verb::Repl(wish) => repl::run(&wish),
        Verb::Check(wish) => check::run(&wish),
        Verb::Inspect { file, with, host, json } => inspect::run(&file, &with, host.as_deref(), json),
        Verb::Dev { plugins, world, args, host, host_args, restart_host, no_guard } => {
            dev::run(dev::Wish { plugins, world, args, host, host_args, restart_host, no_guard })
        }
        Verb::DevWorld { world: World { objects, packages, code }, args } => {
            let user_code = code.user_code;
            crate::world::run_sample(&HostOptions { packages, args, objects, user_code, planted_rerun: false })
        }
        Verb::Guard { program, args } => guard::run(&program, &args),
        Verb::Demo { objects, json, planted_rerun } => demo::run(objects, json, planted_rerun),
    };
    ended.unwrap_or_else(|error| {
        // The error stream may be closed: there is nothing to report to.
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
