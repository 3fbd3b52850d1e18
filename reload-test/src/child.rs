//! The host process. Executes the plan that the parent has written, and writes one line per reload to standard output.

use crate::hosting::{self, send_line};
use crate::plan::{InjectedFault, Line, Plan};
use crate::trial::{Trial, reading};
use anyhow::Result;
use std::path::Path;
use std::process;
use std::thread;

/// Number of the reload after which the host aborts or hangs, if this fault is injected.
const INJECT_AFTER: u64 = 2;

/// Runs the plan in the file `plan`. Writes an error as a line, because the exit code only states if the child exited normally.
pub(crate) fn run(plan: &Path) -> Result<()> {
    let plan: Plan = hosting::plan(plan)?;
    // Writes logs of plugins to standard error, by default only warnings and errors.
    crate::log_to_stderr("warn");
    match host(&plan) {
        Ok(end) => send_line(&end),
        Err(error) => send_line(&Line::Failed { error: format!("{error:#}") }),
    }
}

fn host(plan: &Plan) -> Result<Line> {
    let mut trial = Trial::start(plan)?;
    send_line(&Line::Ready { process: reading() })?;
    for reload in 1..=plan.reloads {
        send_line(&Line::Reload(Box::new(trial.reload(reload))))?;
        match plan.injected_fault {
            Some(InjectedFault::Abort) if reload == INJECT_AFTER => process::abort(),
            Some(InjectedFault::Hang) if reload == INJECT_AFTER => loop {
                thread::park();
            },
            _ => {}
        }
    }
    trial.end()
}
