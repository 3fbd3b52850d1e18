//! The parent process: builds the plugins, starts the host, reads its lines, and always writes the report.

use crate::args::Args;
use crate::builds::prebuild;
use crate::counters;
use crate::hosting::{self, End};
use crate::plan::{Line, Plan};
use crate::progress::Progress;
use crate::report::ReportBuilder;
use crate::subject::{libraries, subjects};
use crate::summary;
use anyhow::{Context, Result};
use std::fs;
use std::time::Duration;

/// Runs the test that the command line describes. Returns true if every reload passed all checks.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut report_builder =
        ReportBuilder::new(args.plugins.join(", "), args.reloads, args.objects as u64, args.max_growth);
    if let Err(error) = try_run(args, &mut report_builder) {
        report_builder.fail(format!("{error:#}"));
    }
    let report = report_builder.report();
    let written: Result<()> = args.json.as_ref().map_or(Ok(()), |path| {
        let mut text = serde_json::to_vec_pretty(&report)?;
        text.push(b'\n');
        fs::write(path, text).with_context(|| format!("could not write the report {}", path.display()))
    });
    // Prints the results even if the report was not written.
    summary::print(&report, &report_builder.memory())?;
    written.map(|()| report.ok)
}

fn try_run(args: &Args, report_builder: &mut ReportBuilder) -> Result<()> {
    let dir = tempfile::tempdir().context("could not make a folder for the builds")?;
    let subjects = subjects(&args.plugins)?;
    report_builder
        .expect_output(subjects.iter().filter_map(|subject| subject.habits.as_ref()).map(|habits| habits.last_words));
    let counts = dir.path().join("tally");
    counters::create(&counts).with_context(|| format!("could not make {}", counts.display()))?;
    let progress = Progress::new(args.reloads);
    progress.print_line("building");
    let plan = Plan {
        plugins: args.plugins.clone(),
        builds: prebuild(args, &libraries(&subjects), &dir.path().join("builds"))?,
        reloads: args.reloads,
        objects: args.objects,
        seed: args.seed,
        counters: counts,
        // Disables the canary if a command prefix is specified, because the canary process cannot be started with this prefix.
        canary: args.under.is_empty(),
        panic_each: args.panic_each,
        injected_fault: args.injected_fault,
    };
    progress.print_line("starting the host");
    let mut command = hosting::command(&plan, dir.path(), &args.under)?;
    if args.panic_each {
        command.env("RUST_BACKTRACE", "1");
    }
    let end = hosting::run(command, Duration::from_secs(args.patience), |text| {
        let (others, line) = Line::parse(text);
        if let Some(line) = line {
            report_builder.add(line);
        }
        // Prints the output of plugins, which share the stream with the lines of the child, up to a limit.
        if !others.is_empty() && report_builder.add_output(others) {
            progress.print_line(others);
        }
        progress.reached(report_builder.reloads());
    });
    progress.finish();
    let reloads = report_builder.reloads();
    match end? {
        End::Success => {}
        End::Hung(seconds) => {
            report_builder.fail(format!("the host hangs: no output for {seconds} s after reload {reloads}"));
        }
        End::Crashed(ended) => report_builder.fail(format!("the host crashed after reload {reloads}: {ended}")),
    }
    Ok(())
}
