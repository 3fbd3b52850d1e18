//! The host process: follows the plan and writes one line per reload to standard output.

use crate::hosting::{self, say};
use crate::plan::{Line, Plan, Sabotage};
use crate::trial::{Trial, reading};
use anyhow::Result;
use std::path::Path;
use std::process;
use std::thread;

/// Reload after which a fault of the process itself is injected.
const LAST: u64 = 2;

/// Runs the plan in the file `plan`. Errors are reported as a line: the exit code only states if the child exited by
/// itself.
pub(crate) fn run(plan: &Path) -> Result<()> {
    let plan: Plan = hosting::plan(plan)?;
    // Logs of plugins are written to standard error, warnings only by default.
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
