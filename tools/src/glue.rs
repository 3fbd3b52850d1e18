//! `alcedo glue`: writes the Rust source through which plugins use types of another module or of a host. The types of a module are read
//! from its library file, without mapping the file. To read the types of a host, the host program is started and reports its types. The
//! crate `alcedo-glue` generates the source. Equal declarations produce equal bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use alcedo_build::{BuildRequest, SourceCrate, metadata};
use alcedo_glue::{Elsewhere, Glue, Origin};
use alcedo_runtime::{Declared, ManifestInfo};
use anyhow::anyhow;
use cargo_metadata::Metadata;

use crate::args::HostArgs;
use crate::check::{check, package_with};
use crate::described::{hosts, manifest_above, read_text};
use crate::error::{Error, file};
use crate::figures::stem;
use crate::host_program::{Chosen, check_options, check_options_of_library, choose};
use crate::host_query::declarations_of_host;
use crate::modules::{self, BuildOptions, build};
use crate::screen::{print_progress, print_result};
use crate::scripts;
use crate::world::HostProgram;

/// Writes the Rust source by which plugins use the types of a host or another module.
///
/// Without a library and a host, rewrites all glue of the workspace: for the types of its host and its plugins.
///
/// Types of a module are read from its library without running its code; a host is started and queried. Put the source
/// into a separate crate or a module of the plugin: `mod lamps;`. Each load of the plugin compares the glue with the
/// declarations; rewrite the glue after a change. Equal declarations produce equal bytes, and an up-to-date file is not
/// touched. The crate `alcedo-glue` does the same in a `build.rs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The library: `target/debug/libmy_plugin.so`.
    #[arg(value_name = "FILE", group = "origin", conflicts_with = "host")]
    file: Option<PathBuf>,
    /// Modules that a package of scripts uses in addition to the sample engine: other packages, folders of plugin
    /// crates, built libraries; may be repeated.
    #[arg(long, value_name = "PATH", requires = "file")]
    with: Vec<PathBuf>,
    /// A host instead of a library: a package, its folder, or an existing program.
    ///
    /// The host is started, reports its declarations, and exits before it constructs or loads anything.
    #[arg(long, value_name = "PACKAGE|PATH", group = "origin")]
    host: Option<String>,
    /// An argument for the host; may be repeated.
    #[arg(long = "host-arg", value_name = "TEXT", allow_hyphen_values = true)]
    host_args: Vec<String>,
    /// Seconds to wait for the answer of the host.
    #[arg(long, value_name = "SECONDS", default_value_t = crate::args::PATIENCE, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
    /// Write the glue for a host, which uses the module's types, instead of for plugins.
    #[arg(long, requires = "file")]
    for_host: bool,
    /// Write only the types of this package; may be repeated.
    #[arg(long, value_name = "NAME", requires = "origin")]
    only: Vec<String>,
    /// Rust path of the glue of another package; may be repeated.
    #[arg(long = "package", value_name = "NAME=RUST_PATH", requires = "origin")]
    packages: Vec<Elsewhere>,
    /// Output file, instead of standard output.
    #[arg(short, long, value_name = "FILE", requires = "origin")]
    out: Option<PathBuf>,
}

/// Writes the glue to a file or to standard output. Without a library and a host, rewrites all glue of the workspace. An up-to-date file is
/// not touched.
///
/// # Errors
/// Fails if the library cannot be read, the host does not respond, the glue of a used package is unknown, or the workspace has no glue.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let (origin, declared) = match (&args.file, &args.host) {
        (Some(library), _) => of_library(library, args)?,
        (None, Some(host)) => of_host(host, args)?,
        (None, None) => return of_workspace(args),
    };
    let glue = args.packages.iter().cloned().fold(Glue::default(), Glue::package);
    let glue = args.only.iter().fold(glue, |glue, package| glue.only(package));
    let source = if args.for_host { glue.for_host(&origin, &declared)? } else { glue.for_plugins(&origin, &declared)? };
    match &args.out {
        None => print_result(source.trim_end()),
        Some(out) => {
            alcedo_glue::write(out, &source).map_err(file("write", out))?;
            print_progress(&format!("the glue is in {}", out.display()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn of_library(library: &Path, args: &Args) -> Result<(Origin, Declared), Error> {
    let library = std::path::absolute(library).map_err(file("find", library))?;
    if library.is_dir() {
        let folder = library.canonicalize().map_err(file("find", &library))?;
        return of_scripts(&folder, args);
    }
    let module = of_module(&library)?;
    let of_scripts = [("--with", !args.with.is_empty()), ("--host-arg", !args.host_args.is_empty())];
    check_options_of_library(&library, &of_scripts)?;
    Ok(module)
}

/// Reads the module and the types of a library.
///
/// # Errors
/// Fails if the library cannot be read.
pub(crate) fn of_module(library: &Path) -> Result<(Origin, Declared), Error> {
    let (manifest, declared) = ManifestInfo::peek_declared(library)?;
    Ok((Origin::module(&manifest.name, &manifest.version.to_string()), declared))
}

/// Returns the origin and the declarations of a package of scripts. The scripts may use types of the modules in `with`, and of the host
/// that these modules name. Without such a host, they may use types of the sample engine.
fn of_scripts(folder: &Path, args: &Args) -> Result<(Origin, Declared), Error> {
    let (mut version, mut all) = (String::new(), Declared::default());
    let host = HostArgs { host: None, host_args: args.host_args.clone() };
    for found in check(package_with(folder, &args.with)?, &host, args.patience)? {
        let declared = found.declared.map_err(Error::msg)?;
        if found.folder == folder {
            (version, all) = (found.version.to_string(), declared);
        }
    }
    Ok((Origin::module(&scripts::name(folder), &version), all))
}

fn of_host(named: &str, args: &Args) -> Result<(Origin, Declared), Error> {
    let chosen = choose(Some(named), &[])?.unwrap_or_else(|| Chosen::Program(PathBuf::from(named)));
    let host = chosen.build(&BuildOptions::default(), &args.host_args, print_progress)?;
    let declared = declarations_of_host(&host, Duration::from_secs(args.patience))?;
    Ok((host_origin(&host), declared))
}

/// Rewrites the glue in the workspace of the working directory, and prints the changed files, also if an error occurs.
///
/// # Errors
/// Returns the errors of [`rewrite_workspace`].
fn of_workspace(args: &Args) -> Result<ExitCode, Error> {
    let mut written = Vec::new();
    let outcome = rewrite_workspace(args, &mut written);
    written.iter().for_each(|path| print_progress(&format!("glue written again: {}", path.display())));
    outcome
}

/// Rewrites the glue in the workspace of the working directory: first the glue for types of its host, then the glue for types of its
/// plugins. Adds the changed files to `written`.
///
/// # Errors
/// Fails if the workspace contains no glue for its host or its plugins. Also returns the errors of builds, of the host and of
/// [`write_again`].
fn rewrite_workspace(args: &Args, written: &mut Vec<PathBuf>) -> Result<ExitCode, Error> {
    let here = std::env::current_dir().map_err(file("find", Path::new(".")))?;
    let Some(manifest) = manifest_above(&here) else { return Err(no_glue(&here, None, None)) };
    let metadata = metadata(&BuildRequest::new(&manifest))?;
    let root = metadata.workspace_root.clone().into_std_path_buf();
    let sources = source_folders(&metadata);
    let only_host = match hosts(&metadata).as_slice() {
        [only] => Some(only.name.to_string()),
        _ => None,
    };
    let dirs = [root.clone()];
    let chosen = choose(None, &dirs)?.map_or_else(|| choose(only_host.as_deref(), &dirs), |found| Ok(Some(found)))?;
    check_options(chosen.as_ref(), &[], &[("--host-arg", !args.host_args.is_empty())])?;
    let patience = Duration::from_secs(args.patience);
    let (mut is_found, mut host) = (false, None);
    if let Some(chosen) = chosen {
        let program = chosen.build(&BuildOptions::default(), &args.host_args, print_progress)?;
        let origin = host_origin(&program);
        let glue = glue_of(&sources, &origin);
        is_found = !glue.is_empty();
        if is_found {
            write_again(&glue, &origin, &declarations_of_host(&program, patience)?, written)?;
        }
        host = Some(stem(&program.program));
    }
    let folder = modules::plugins(&root)?;
    let plugins = folder.map_or_else(Vec::new, |folder| [folder.plugins, folder.left_out].concat());
    for plugin in in_build_order(&plugins, &described_modules(&sources)) {
        print_progress(&format!("building the plugin `{}`", plugin.name));
        for artifact in build(&plugin.request())?.artifacts.iter().filter(|artifact| artifact.package == plugin.name) {
            let (origin, declared) = of_module(&artifact.path)?;
            // Reads the sources again, because they may have changed during the build.
            let glue = glue_of(&sources, &origin);
            is_found |= !glue.is_empty();
            write_again(&glue, &origin, &declared, written)?;
        }
    }
    if !is_found {
        let plugin = plugins.first().map(|plugin| plugin.name.replace('-', "_"));
        return Err(no_glue(&root, host.or(only_host).as_deref(), plugin.as_deref()));
    }
    if written.is_empty() {
        print_progress("all glue is up to date");
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the folders with the sources of libraries and programs. Excludes folders inside these folders.
fn source_folders(metadata: &Metadata) -> Vec<PathBuf> {
    let targets = metadata.packages.iter().flat_map(|package| &package.targets);
    let built = targets.filter(|of| !(of.is_custom_build() || of.is_test() || of.is_example() || of.is_bench()));
    let all: BTreeSet<PathBuf> = built.filter_map(|of| of.src_path.parent()).map(PathBuf::from).collect();
    let is_inner = |dir: &PathBuf| all.iter().any(|other| dir != other && dir.starts_with(other));
    all.iter().filter(|dir| !is_inner(dir)).cloned().collect()
}

/// Returns the names of the modules whose types are described by glue below `dirs`.
fn described_modules(dirs: &[PathBuf]) -> BTreeSet<String> {
    let module = |path: PathBuf| {
        let source = read_text(&path).ok()?;
        let (name, _) = source.lines().next()?.split_once("the module `")?.1.split_once('`')?;
        alcedo_glue::describes(&source, &Origin::module(name, "")).then(|| name.to_owned())
    };
    rust_sources(dirs).into_iter().filter_map(module).collect()
}

/// Returns the plugins to build for the glue of `modules`. Plugins with the names of these modules are first, because the remaining plugins
/// may not build with the old glue. If a module has another name than all packages, returns all plugins, because one of them may contain
/// the module.
fn in_build_order<'a>(plugins: &'a [SourceCrate], modules: &BTreeSet<String>) -> Vec<&'a SourceCrate> {
    let name = |plugin: &SourceCrate| plugin.name.replace('-', "_");
    let (mut order, others): (Vec<_>, Vec<_>) = plugins.iter().partition(|plugin| modules.contains(&name(plugin)));
    if modules.iter().any(|module| plugins.iter().all(|plugin| name(plugin) != *module)) {
        order.extend(others);
    }
    order
}

fn no_glue(workspace: &Path, host: Option<&str>, plugin: Option<&str>) -> Error {
    anyhow!(
        "no file of {} has glue that could be written again; write that of a host with \
         `alcedo glue --host {} -o glue/src/host.rs`, that of a plugin with `alcedo build` and \
         `alcedo glue target/debug/lib{}.so -o src/{}.rs`",
        workspace.display(),
        host.unwrap_or("HOST"),
        plugin.unwrap_or("PLUGIN"),
        plugin.unwrap_or("plugin")
    )
}

/// Maximum time for which a session waits for the types of a host. The response usually takes a few milliseconds.
const OF_SESSION: Duration = Duration::from_secs(3);

/// Rewrites the files in `glue` if the declarations have changed. Each of these files contains glue for types of `origin`. Adds the changed
/// files to `written`, also if an error occurs for another file.
///
/// # Errors
/// Fails if the glue cannot be generated or written.
pub(crate) fn write_again(
    glue: &[(String, PathBuf)],
    origin: &Origin,
    declared: &Declared,
    written: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let mut rewrite = |source: &String, path: &Path| -> Result<(), Error> {
        let now = alcedo_glue::rewritten(source, origin, declared);
        let now = now.map_err(|error| anyhow!("the glue in {} is out of date: {error}", path.display()))?;
        if let Some(now) = now.filter(|now| now != source) {
            alcedo_glue::write(path, &now).map_err(file("write", path))?;
            written.push(path.to_owned());
        }
        Ok(())
    };
    // Continues after an error, because the remaining files would keep old declarations.
    glue.iter().map(|(source, path)| rewrite(source, path)).fold(Ok(()), Result::and)
}

/// Returns the origin of a host, by the name of its program.
pub(crate) fn host_origin(host: &HostProgram) -> Origin {
    Origin::host(&stem(&host.program))
}

/// Returns the sources below `dirs` that contain glue for types of `origin`, each with its path.
pub(crate) fn glue_of(dirs: &[PathBuf], origin: &Origin) -> Vec<(String, PathBuf)> {
    let read = rust_sources(dirs).into_iter().filter_map(|path| Some((read_text(&path).ok()?, path)));
    read.filter(|(source, _)| alcedo_glue::describes(source, origin)).collect()
}

/// Starts a host and returns its types.
///
/// # Errors
/// Fails if the host does not respond.
pub(crate) fn host_types(host: &HostProgram) -> Result<Declared, Error> {
    declarations_of_host(host, OF_SESSION)
}

/// Returns the Rust sources below folders, without following links. Skips target folders of cargo.
fn rust_sources(dirs: &[PathBuf]) -> Vec<PathBuf> {
    let sources = |entry: fs::DirEntry| {
        let (path, kind) = (entry.path(), entry.file_type());
        match kind {
            Ok(kind) if kind.is_dir() && !path.join("CACHEDIR.TAG").is_file() => rust_sources(&[path]),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rs") => vec![path],
            _ => Vec::new(),
        }
    };
    dirs.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten()).flat_map(sources).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::time::{Duration, Instant};

    use alcedo_build::{BuildRequest, SourceCrate, metadata};
    use alcedo_glue::Origin;
    use alcedo_runtime::Declared;

    use super::{described_modules, glue_of, host_types, in_build_order, read_text, source_folders, write_again};
    use crate::world::HostProgram;

    #[test]
    fn glue_that_cannot_be_generated_is_named_and_does_not_stop_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let (dirs, origin) = ([dir.path().to_owned()], Origin::host("rig"));
        let head = |package: &str| {
            format!("// Declarations of the host `rig`{package} for plugins, written by `alcedo glue`.\n")
        };
        for (name, package) in [("a.rs", " in package `Gone`"), ("b.rs", ""), ("c.rs", " in package `Gone`")] {
            fs::write(dir.path().join(name), head(package)).unwrap();
        }
        let (glue, mut written) = (glue_of(&dirs, &origin), Vec::new());
        assert_eq!(glue.len(), 3);
        let error = write_again(&glue, &origin, &Declared::default(), &mut written).unwrap_err().to_string();
        assert_eq!(written, [dir.path().join("b.rs")]);
        assert!(error.contains(".rs is out of date: package `Gone` has no types"), "{error}");
        assert!(read_text(&dir.path().join("b.rs")).unwrap().contains("use alcedo_plugin_api::prelude::*;"));
    }

    #[test]
    fn glue_in_any_source_folder_names_its_module() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let glue = |module: &str| {
            format!("// Declarations of the module `{module}` 0.1.0 for plugins, written by `alcedo glue`.\n")
        };
        let program = "[[bin]]\nname = \"tool\"\npath = \"code/tools/main.rs\"\n";
        let library = "[lib]\npath = \"code/lib.rs\"\n";
        let package = "[package]\nname = \"rig\"\nedition = \"2024\"\n[workspace]\n";
        write("Cargo.toml", &format!("{package}{library}{program}"));
        write("code/lib.rs", "// the module `none` is not described\n");
        write("code/tools/main.rs", &glue("figurines"));
        write("code/out/CACHEDIR.TAG", "");
        write("code/out/package/lib.rs", &glue("generated"));
        write("tests/tests.rs", &glue("tested"));
        let folders = source_folders(&metadata(&BuildRequest::new(&root.join("Cargo.toml"))).unwrap());
        assert_eq!(folders, [root.join("code")]);
        assert_eq!(described_modules(&folders), ["figurines".to_owned()].into());
    }

    #[test]
    fn plugins_with_outdated_glue_are_built_last() {
        let plugins = ["a-user", "cubes"].map(|name| SourceCrate {
            name: name.to_owned(),
            manifest: format!("/w/{name}/Cargo.toml").into(),
            source_dirs: Vec::new(),
            default_run: None,
        });
        let order = |modules: &[&str]| {
            let modules = modules.iter().map(|&module| module.to_owned()).collect();
            in_build_order(&plugins, &modules).iter().map(|plugin| plugin.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(order(&["cubes"]), ["cubes"]);
        // `Tale` may be a module of a plugin, or a package of scripts.
        assert_eq!(order(&["Tale", "cubes"]), ["cubes", "a-user"]);
        assert_eq!(order(&["a_user"]), ["a-user"]);
        assert_eq!(order(&[]), [""; 0]);
    }

    #[test]
    fn a_session_waits_some_seconds_for_a_host_that_hangs() {
        let host = HostProgram { program: "/bin/sleep".into(), args: vec!["1000".into()] };
        let begun = Instant::now();
        let error = host_types(&host).expect_err("the program is not a host").to_string();
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        let expected = ["/bin/sleep", "after 3 s", "was ended", ".answer_glue()", "`alcedo glue --host`", "--patience"];
        expected.iter().for_each(|part| assert!(error.contains(part), "{part} in\n{error}"));
    }
}
