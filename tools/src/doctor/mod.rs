//! `alcedo doctor`: checks if a folder and this machine fulfill the requirements of plugins and hosts, and prints fixes. `rules.rs` checks
//! manifests. This file queries the system and prints.

mod rules;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use alcedo_build::{find_host, has_folder, manifest_of};
use alcedo_runtime::{Runtime, Version, printable};
use rustix::fs::{StatVfsMountFlags, statvfs};
use serde::Serialize;

use crate::described::{described, hosts, read_text};
use crate::figures::resolved;
use crate::guard::is_stage;
use crate::install::{installing, is_in_path};
use crate::modules::subfolders;
use crate::new::enclosing_workspace;
use crate::screen::print_result;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// The check passed.
    Fine,
    /// A hint that requires no action.
    Note,
    /// A problem that makes a build, a host or a command fail.
    Wrong,
}

#[derive(Debug, Serialize)]
struct Finding {
    state: State,
    what: String,
    /// Lines to copy into a manifest or a shell. May be empty.
    copy: String,
}

impl Finding {
    fn fine(what: String) -> Self {
        Self { state: State::Fine, what, copy: String::new() }
    }

    fn note(what: String, copy: &str) -> Self {
        Self { state: State::Note, what, copy: copy.to_owned() }
    }

    fn wrong(what: String, copy: &str) -> Self {
        Self { state: State::Wrong, what, copy: copy.to_owned() }
    }
}

/// Checks a workspace and this machine, and prints fixes.
///
/// Exits with 0 if nothing is wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of a plugin, a host, or a workspace.
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Print one JSON object per line.
    #[arg(long)]
    json: bool,
}

/// Checks a folder and this machine, and prints the results. Returns exit code 1 if a check fails.
pub(crate) fn run(args: &Args) -> ExitCode {
    let Args { dir, json } = args;
    let mut findings = vec![compiler(dir), linker()];
    findings.extend(temporary());
    findings.extend([debugger(), command()]);
    findings.extend(workspace(dir));
    for finding in &findings {
        print_result(&if *json { as_json(finding) } else { as_lines(finding) });
    }
    let is_wrong = findings.iter().any(|finding| finding.state == State::Wrong);
    if is_wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn as_lines(finding: &Finding) -> String {
    let mark = match finding.state {
        State::Fine => "✓",
        State::Note => "·",
        State::Wrong => "✗",
    };
    let mut text = format!("{mark} {}", printable(&finding.what));
    for line in finding.copy.lines() {
        text += &format!("\n      {}", printable(line));
    }
    text
}

fn as_json(finding: &Finding) -> String {
    serde_json::to_string(finding).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

fn workspace(dir: &Path) -> Vec<Finding> {
    let manifest = manifest_of(dir);
    if !manifest.is_file() {
        let what = format!("{} is not there: name the folder of a plugin, a host or a workspace", manifest.display());
        return vec![Finding::wrong(what, "alcedo new workspace my-game")];
    }
    let metadata = match described(&manifest) {
        Ok(metadata) => metadata,
        Err(message) => {
            let what = format!("cargo cannot read {}: {message}", manifest.display());
            // Cargo rejects a workspace if a path of a dependency contains no package.
            let whole = resolved(&manifest);
            let folder = whole.parent().unwrap_or(&whole);
            let manifests = manifests(&enclosing_workspace(folder).unwrap_or_else(|| folder.to_owned()), DEPTH);
            let paths = manifests.iter().flat_map(|path| rules::manifest_paths(path, &|path| read_text(path).ok()));
            return [Finding::wrong(what, "")].into_iter().chain(paths).collect();
        }
    };
    let root = metadata.workspace_root.join("Cargo.toml");
    let table = read_text(root.as_std_path()).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut findings = rules::findings(&metadata, &table, &|path| read_text(path).ok());
    // Reports the host that `alcedo dev` would run.
    match find_host(None, &[dir.to_owned()]) {
        Ok(Some(host)) => findings.push(Finding::fine(format!("`alcedo dev` runs the host `{}`", host.name))),
        Ok(None) => {
            let copy = match hosts(&metadata)[..] {
                [host] => format!("[workspace.metadata.alcedo]\nhost = {:?}", host.name.as_str()),
                _ => String::new(),
            };
            findings.push(Finding::note("no host is named: `alcedo dev` runs the sample engine".into(), &copy));
        }
        Err(error) => findings.push(Finding::wrong(error.to_string(), "")),
    }
    findings
}

/// Maximum depth of the search for manifests below a workspace that cargo cannot read.
const DEPTH: usize = 3;

/// Returns the manifests in a folder and its subfolders, sorted by path. Skips target folders and hidden folders.
fn manifests(dir: &Path, depth: usize) -> BTreeSet<PathBuf> {
    let mut found: BTreeSet<_> = [dir.join("Cargo.toml")].into_iter().filter(|path| path.is_file()).collect();
    if depth > 0 {
        found.extend(subfolders(dir).flat_map(|folder| manifests(&folder, depth - 1)));
    }
    found
}

/// Checks that the compiler in the folder `dir`, or in the folder of the manifest `dir`, is new enough for the plugin API.
fn compiler(dir: &Path) -> Finding {
    const NEEDED: &str = env!("CARGO_PKG_RUST_VERSION");
    let rustc = std::env::var_os("RUSTC").filter(|rustc| !rustc.is_empty()).unwrap_or_else(|| "rustc".into());
    // Resolves the path against the user's folder, as cargo does.
    let path = std::path::absolute(&rustc).ok().filter(|_| has_folder(rustc.as_ref()));
    let mut command = Command::new(path.map_or(rustc, PathBuf::into_os_string));
    let manifest = manifest_of(dir);
    if let Some(folder) = manifest.parent().filter(|folder| folder.is_dir()) {
        // Runs the compiler in the folder, because the folder may select a toolchain.
        command.current_dir(folder);
    }
    let output = command.arg("--version").output().ok().filter(|output| output.status.success());
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version =
        output.as_deref().and_then(|output| output.split(' ').nth(1)?.split('-').next()?.parse::<Version>().ok());
    let needed = format!("{NEEDED}.0").parse::<Version>().ok();
    match (output, version, needed) {
        (Some(output), Some(version), Some(needed)) if version >= needed => Finding::fine(output),
        (Some(output), ..) => {
            Finding::wrong(format!("{output}: Alcedo needs {NEEDED} or newer"), "rustup update stable")
        }
        (None, ..) => {
            Finding::wrong("rustc cannot be run: install Rust from https://rustup.rs, or set RUSTC".into(), "")
        }
    }
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Checks that rustc's default linker is installed.
fn linker() -> Finding {
    if runs("cc") {
        return Finding::fine("cc links".into());
    }
    Finding::wrong(
        "cc cannot be run, and rustc links with it: install a C compiler, or name a linker in .cargo/config.toml"
            .into(),
        "sudo apt-get install gcc",
    )
}

/// Starts a host, to check that private copies of libraries can be written to the temporary folder, and to remove leftover copies.
fn temporary() -> Vec<Finding> {
    let base = std::env::temp_dir();
    let before = stages(&base);
    let mut findings = Vec::new();
    match Runtime::builder().build() {
        Ok(runtime) => {
            let _ = runtime.shutdown().into_result();
            let what = format!("a host can keep copies of libraries in {}", base.display());
            let is_noexec = statvfs(&base).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::NOEXEC));
            findings.push(if is_noexec {
                let what = format!("{} is mounted noexec: no library can be mapped from there", base.display());
                Finding::wrong(what, "export TMPDIR=$HOME/.cache")
            } else {
                Finding::fine(what)
            });
        }
        Err(error) => findings.push(Finding::wrong(format!("no host can start here: {error}"), "")),
    }
    let left = stages(&base);
    let removed = before.iter().filter(|dir| !left.contains(dir)).count();
    if removed > 0 {
        findings.push(Finding::note(
            format!("{removed} folders of killed hosts were in {}; they are removed now", base.display()),
            "",
        ));
    }
    findings
}

/// Returns the folders in which running hosts store private copies of libraries, and folders that hosts left behind.
fn stages(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| is_stage(path)).collect()
}

/// Checks that shells find the `alcedo` command. READMEs of new workspaces use this command.
fn command() -> Finding {
    match is_in_path("alcedo") {
        true => Finding::fine("shells find `alcedo`".into()),
        false => Finding::note("shells find no `alcedo` in PATH".into(), &installing(&[])),
    }
}

/// Checks that a debugger is installed. A debugger is optional, because crash reports do not need it.
fn debugger() -> Finding {
    if !runs("gdb") {
        return Finding::note("gdb is not there; crashes are shown without it".into(), "sudo apt-get install gdb");
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "" | "0" => Finding::fine("gdb can attach to a running host".into()),
        scope => Finding::note(
            format!("gdb can start a host, but not attach to a running one (ptrace_scope is {scope})"),
            "sudo sysctl kernel.yama.ptrace_scope=0",
        ),
    }
}
