//! The host process: it does what the plan says and speaks one line per reload on its standard output.

use crate::hosting::{self, say};
use crate::plan::{Line, Plan, Sabotage};
use crate::trial::{Trial, reading};
use anyhow::Result;
use std::path::Path;
use std::process;
use std::thread;

/// After which reload a sabotage of the process itself strikes.
const LAST: u64 = 2;

/// Does what the plan in the file `plan` says. What goes wrong on the way is said as a line: the exit code tells only
/// whether the child came to its own end.
pub(crate) fn run(plan: &Path) -> Result<()> {
    let plan: Plan = hosting::plan(plan)?;
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
