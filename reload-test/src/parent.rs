//! The parent process: builds, starts the host, reads its lines, and writes the report, for any outcome of the host.

use crate::args::Args;
use crate::builds::{Profile, prebuild};
use crate::hosting::{self, End};
use crate::plan::{Line, Plan};
use crate::progress::Progress;
use crate::report::Tally;
use crate::subject::{libraries, subjects};
use crate::summary;
use crate::tally;
use anyhow::{Context, Result};
use std::fs;
use std::time::Duration;

/// Runs the command line. Returns true if every reload was sound.
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
    summary::print(&report, &tally.memory())?;
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
        // The prefix command cannot be applied to the canary process.
        canary: args.under.is_empty(),
        panic_each: args.panic_each,
        sabotage: args.sabotage,
    };
    progress.say("starting the host");
    let mut command = hosting::command(&plan, dir.path(), &args.under)?;
    if args.panic_each {
        command.env("RUST_BACKTRACE", "1");
    }
    let end = hosting::run(command, Duration::from_secs(args.patience), |text| {
        let (others, line) = Line::parse(text);
        if let Some(line) = line {
            tally.hear(line);
        }
        // A plugin shares the stream and may print: its lines are passed on, up to a limit.
        if !others.is_empty() && tally.hear_others(others) {
            progress.say(others);
        }
        progress.reached(tally.reloads());
    });
    progress.finish();
    let reloads = tally.reloads();
    match end? {
        End::Well => {}
        End::Hung(seconds) => {
            tally.fail(format!("the host hangs: no output for {seconds} s after reload {reloads}"));
        }
        End::Died(ended) => tally.fail(format!("the host crashed after reload {reloads}: {ended}")),
    }
    Ok(())
}
