//! The host process: it does what the plan says and speaks one line per reload on its standard output.

use crate::plan::{Line, Plan, Sabotage};
use crate::trial::{Trial, reading};
use anyhow::{Context, Result};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process;
use std::thread;

/// After which reload a sabotage of the process itself strikes.
const LAST: u64 = 2;

/// Does what the plan in the file `plan` says. What goes wrong on the way is said as a line: the exit code tells only
/// whether the child came to its own end.
pub(crate) fn run(plan: &Path) -> Result<()> {
    let text = fs::read(plan).with_context(|| format!("could not read the plan {}", plan.display()))?;
    let plan: Plan = serde_json::from_slice(&text).context("the plan is of another version of this program")?;
    // What plugins log is part of their work, but goes past the lines, and by default only where it warns.
    crate::log_to_stderr("warn");
    match host(&plan) {
        Ok(end) => say(&end),
        Err(error) => say(&Line::Failed { error: format!("{error:#}") }),
    }
}

fn host(plan: &Plan) -> Result<Line> {
    let mut trial = Trial::start(plan)?;
    say(&Line::Ready { process: reading() })?;
    for reload in 1..=plan.reloads {
        say(&Line::Reload(Box::new(trial.reload(reload))))?;
        match plan.sabotage {
            Some(Sabotage::Abort) if reload == LAST => process::abort(),
            Some(Sabotage::Hang) if reload == LAST => loop {
                thread::park();
            },
            _ => {}
        }
    }
    trial.end()
}

/// A line goes out whole and at once: the next step may be the last.
fn say(line: &Line) -> Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).context("the reader is gone")
}
