//! The listening process of the survey: it builds each row, starts its host, hears it out, and writes the table.

use super::args::Args;
use super::child::Plan;
use super::date;
use super::outcome::{Outcome, Said};
use super::rows::{Fate, Row, rows};
use super::table::{Line, page, table};
use alcedo_build::{BuildRequest, Variants};
use anyhow::{Context, Result};
use cargo_metadata::{CargoOpt, MetadataCommand};
use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The ids to build with, so that the builds differ.
const TAGS: [u64; 2] = [1, 2];

/// Does all that the command line asks for. Returns whether every row came out as it says.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let rows = rows(&args.rows)?;
    let dir = tempfile::tempdir().context("could not make a folder for the builds")?;
    let mut outcomes = Vec::new();
    let mut faults = Vec::new();
    for row in &rows {
        eprintln!("{}: building", row.name);
        let libraries = build(&args.sources, row, dir.path())?;
        let asked = host(args, row, &libraries, false, dir.path())?;
        let reloads = row.reloads(args.reloads);
        faults.extend(asked.fault(reloads, row.fate).map(|fault| format!("{}: {fault}", row.name)));
        let evicted = match row.fate {
            Fate::Unmapped => None,
            Fate::Parked => {
                let evicted = host(args, row, &libraries, true, dir.path())?;
                let fault = evicted.fault(reloads, Fate::Unmapped);
                faults.extend(fault.map(|fault| format!("{} with eviction: {fault}", row.name)));
                Some(evicted)
            }
        };
        outcomes.push((asked, evicted));
    }
    let versions = versions(&args.sources)?;
    let version = |name: &&str| versions.get(*name).map(|version| format!("{name} {version}"));
    let lines: Vec<_> = rows
        .iter()
        .zip(&outcomes)
        .map(|(row, (asked, evicted))| Line {
            row,
            versions: row.crates.iter().filter_map(version).collect(),
            asked,
            evicted: evicted.as_ref(),
        })
        .collect();
    let table = table(&lines, args.reloads);
    io::stdout().lock().write_all(table.as_bytes())?;
    for fault in &faults {
        eprintln!("{fault}");
    }
    if let Some(path) = &args.page {
        fs::write(path, page(&table, args.reloads, &date::today(), &rustc()))
            .with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(faults.is_empty())
}

fn build(sources: &Path, row: &Row, dir: &Path) -> Result<Vec<PathBuf>> {
    let manifest = sources.join("Cargo.toml");
    let variants = Variants::new(dir.join("builds"));
    let build = |tag: u64| -> Result<PathBuf> {
        let request = BuildRequest::new(&manifest).feature(row.name).env("ALCEDO_BUILD_TAG", tag.to_string());
        let library = variants.get(&request, &format!("{}-{tag}", row.name))?;
        alcedo_runtime::seal_file(&library).with_context(|| format!("could not seal {}", library.display()))?;
        Ok(library)
    };
    TAGS.into_iter().map(build).collect()
}

/// Runs the host of a row to its end, whatever that is.
fn host(args: &Args, row: &Row, libraries: &[PathBuf], evict: bool, dir: &Path) -> Result<Outcome> {
    let reloads = row.reloads(args.reloads);
    eprintln!("{}: {reloads} reloads{}", row.name, if evict { " with eviction" } else { "" });
    let plan = Plan { libraries: libraries.to_vec(), reloads, evict };
    let path = dir.join("plan.json");
    fs::write(&path, serde_json::to_vec(&plan)?).with_context(|| format!("could not write {}", path.display()))?;
    let scratch = dir.join("scratch");
    fs::create_dir_all(&scratch).with_context(|| format!("could not make {}", scratch.display()))?;

    let program = env::current_exe().context("could not find this program to start it as the host")?;
    let mut command = Command::new(program);
    command.arg("--child").arg(&path).env("TMPDIR", &scratch).stdin(Stdio::null()).stdout(Stdio::piped());
    command.env("RUST_BACKTRACE", if row.backtrace { "1" } else { "0" });
    let mut child = command.spawn().context("could not start the host")?;

    let (sender, said) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            // A crate may print too; its lines are not ours.
            let lines = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
            for said in lines.filter_map(|line| serde_json::from_slice::<Said>(&line).ok()) {
                if sender.send(said).is_err() {
                    break;
                }
            }
        });
    }
    let mut outcome = Outcome::default();
    let hangs = loop {
        match said.recv_timeout(Duration::from_secs(args.patience)) {
            Ok(said) => outcome.hear(said),
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => break true,
        }
    };
    if hangs {
        child.kill().context("could not end the host that hangs")?;
    }
    let ended = child.wait().context("could not wait for the host")?;
    let reload = outcome.reloads;
    let fault = match (hangs, ended.success()) {
        (true, _) => Some(format!("it hangs after reload {reload}")),
        (false, false) => Some(format!("it died after reload {reload}: {ended}")),
        (false, true) => None,
    };
    if fault.is_some() {
        outcome.fault = fault;
    }
    Ok(outcome)
}

/// The versions of all crates that the surveyed plugin was built with.
fn versions(sources: &Path) -> Result<BTreeMap<String, String>> {
    let mut command = MetadataCommand::new();
    command.manifest_path(sources.join("Cargo.toml")).features(CargoOpt::AllFeatures);
    let metadata = command.exec().context("could not ask cargo for the versions of the crates")?;
    // A crate may be there in several versions; the one that the plugin asks for is the one it was built with.
    let root = metadata.resolve.and_then(|resolve| {
        let root = resolve.root?;
        resolve.nodes.into_iter().find(|node| node.id == root)
    });
    let direct = root.map(|node| node.dependencies).unwrap_or_default();
    let packages = metadata.packages.into_iter().filter(|package| direct.contains(&package.id));
    Ok(packages.map(|package| (package.name.to_string(), package.version.to_string())).collect())
}

fn rustc() -> String {
    let output = Command::new("rustc").arg("--version").output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    // `rustc 1.95.0 (59807616e 2026-04-14)`: the name and the number say enough.
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}
