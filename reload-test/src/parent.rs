//! The listening process: it builds, starts the host, hears it out, and writes down how it went. Whatever becomes of
//! the host, there is a report.

use crate::args::Args;
use crate::builds::{Profile, prebuild};
use crate::plan::{Line, Plan};
use crate::progress::Progress;
use crate::report::Tally;
use crate::subject::{libraries, subjects};
use crate::summary;
use crate::tally;
use anyhow::{Context, Result};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Does all that the command line asks for. Returns whether every reload was sound.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut tally = Tally::new(args.plugins.join(", "), args.reloads, args.objects as u64, args.max_growth);
    if let Err(error) = try_run(args, &mut tally) {
        tally.fail(format!("{error:#}"));
    }
    let report = tally.report();
    if let Some(path) = &args.json {
        let mut text = serde_json::to_vec_pretty(&report)?;
        text.push(b'\n');
        fs::write(path, text).with_context(|| format!("could not write the report {}", path.display()))?;
    }
    summary::print(&report, tally.memory())?;
    Ok(report.ok)
}

fn try_run(args: &Args, tally: &mut Tally) -> Result<()> {
    let dir = tempfile::tempdir().context("could not make a folder for the builds")?;
    let subjects = subjects(&args.plugins)?;
    tally.expect_words(subjects.iter().filter_map(|subject| subject.habits.as_ref()).map(|habits| habits.last_words));
    let counts = dir.path().join("tally");
    tally::create(&counts).with_context(|| format!("could not make {}", counts.display()))?;
    let profile = Profile { features: &args.features, release: args.release_plugins };
    let progress = Progress::new(args.reloads);
    progress.say("building");
    let plan = Plan {
        plugins: args.plugins.clone(),
        builds: prebuild(&args.sources, &libraries(&subjects), &profile, &dir.path().join("builds"))?,
        reloads: args.reloads,
        objects: args.objects,
        seed: args.seed,
        tally: counts,
        // What runs the host cannot be told to run the other process, too.
        canary: args.under.is_empty(),
        panic_each: args.panic_each,
        sabotage: args.sabotage,
    };
    let path = dir.path().join("plan.json");
    fs::write(&path, serde_json::to_vec(&plan)?).with_context(|| format!("could not write {}", path.display()))?;
    progress.say("starting the host");
    let mut child = start(&path, args)?;
    let heard = listen(&mut child, Duration::from_secs(args.patience), &progress, tally);
    progress.finish();
    let reloads = tally.reloads();
    if let Heard::Nothing { patience } = heard {
        tally.fail(format!("the host hangs: it said nothing for {} s after reload {reloads}", patience.as_secs()));
        child.kill().context("could not end the host that hangs")?;
    }
    let ended = child.wait().context("could not wait for the host")?;
    if matches!(heard, Heard::All) && !ended.success() {
        tally.fail(format!("the host died after reload {reloads}: {ended}"));
    }
    Ok(())
}

/// Why there is no more to hear.
enum Heard {
    /// The host has closed its stream, which it does by ending.
    All,
    /// It said nothing for too long.
    Nothing { patience: Duration },
}

fn start(plan: &Path, args: &Args) -> Result<Child> {
    let program = env::current_exe().context("could not find this program to start it as the host")?;
    let mut words = args.under.split_whitespace().map(OsString::from).chain([program.into_os_string()]);
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    if args.panic_each {
        command.env("RUST_BACKTRACE", "1");
    }
    command.arg("--child").arg(plan).stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().context("could not start the host")
}

/// Hears the child until it has nothing more to say, or says nothing for too long.
fn listen(child: &mut Child, patience: Duration, progress: &Progress, tally: &mut Tally) -> Heard {
    let lines = lines(child);
    loop {
        let text = match lines.recv_timeout(patience) {
            Ok(text) => text,
            Err(RecvTimeoutError::Disconnected) => return Heard::All,
            Err(RecvTimeoutError::Timeout) => return Heard::Nothing { patience },
        };
        let (others, line) = Line::parse(&text);
        if let Some(line) = line {
            tally.hear(line);
        }
        // A plugin shares the stream and may print: somebody wants to read it, but not ten thousand times.
        if !others.is_empty() && tally.hear_others(others) {
            progress.say(others);
        }
        progress.reached(tally.reloads());
    }
}

/// The lines of the child, read by a thread, so that waiting for them can have an end.
fn lines(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
    }
    lines
}
