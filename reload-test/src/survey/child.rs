//! The host of a row: it reloads, lets the plugin use its crate, waits until the generation before is gone or given up,
//! and says a line.
#![expect(unsafe_code, reason = "leads threads out of their sleep by force, and closes what was left open")]

use super::outcome::Said;
use crate::trial::reading;
use alcedo_runtime::{ContextState, Runtime, Value};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use tracing_subscriber::EnvFilter;

/// How long a generation may take to go before it is given up.
const PARK_AFTER: Duration = Duration::from_millis(100);
/// The same where its threads may be evicted: one that is not in a system call just then is tried again.
const PARK_AFTER_EVICTION: Duration = Duration::from_secs(10);
/// How long a host may take to give it up.
const TO_BE_DECIDED: Duration = Duration::from_secs(30);
/// After how long a thread is evicted, where that is allowed.
const EVICT_AFTER: Duration = Duration::from_millis(20);

/// What the host of a row is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Builds to swap between.
    pub(crate) libraries: Vec<PathBuf>,
    /// How many reloads.
    pub(crate) reloads: u64,
    /// Whether threads may be evicted, and files closed.
    pub(crate) evict: bool,
}

/// Does what the plan in the file `plan` says.
pub(crate) fn run(plan: &Path) -> Result<()> {
    let text = fs::read(plan).with_context(|| format!("could not read the plan {}", plan.display()))?;
    let plan: Plan = serde_json::from_slice(&text).context("the plan is of another version of this program")?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    host(&plan).or_else(|error| say(&Said { fault: Some(format!("{error:#}")), ..Said::default() }))
}

fn host(plan: &Plan) -> Result<()> {
    let park_after = if plan.evict { PARK_AFTER_EVICTION } else { PARK_AFTER };
    let builder = Runtime::builder().park_after(park_after).parked_budget(usize::MAX);
    let evict = plan.evict.then_some(EVICT_AFTER);
    let builder = builder.unloads(|policy| {
        policy.look_for_references = true;
        // SAFETY: which crates lend the stacks of their threads, or give descriptors away, is what this process is for.
        unsafe { policy.evict_after(evict) };
        // SAFETY: as above; the host itself takes no descriptor of a plugin.
        unsafe { policy.close_fds(plan.evict) };
    });
    let runtime = builder.build().context("could not make a runtime")?;
    let library = |reload: u64| &plan.libraries[(reload % plan.libraries.len() as u64) as usize];
    runtime.create_master(&[library(0)]).context("could not load the plugin")?;
    work(&runtime)?;
    say(&Said { process: reading(), ..Said::default() })?;
    let mut known = BTreeSet::new();
    for reload in 1..=plan.reloads {
        let report = runtime.reload(&[library(reload)])?;
        if !report.is_committed() {
            bail!("reload {reload} was rolled back: {:?}", report.outcome);
        }
        work(&runtime).with_context(|| format!("after reload {reload}"))?;
        let parked = wait_for_the_old(&runtime, &mut known)?;
        say(&Said { reload, process: reading(), parked, fault: None })?;
    }
    runtime.unload_master().context("could not unload the last generation")?;
    wait_for_the_old(&runtime, &mut known)?;
    drop(runtime.shutdown());
    Ok(())
}

/// The plugin uses its crate, which must do what it is for.
fn work(runtime: &Runtime) -> Result<()> {
    match runtime.zcall("ex:/surveyed.work", &[])? {
        Some(Value::Text(text)) if text.ends_with(" ok") => Ok(()),
        other => bail!("the crate does not work: {other:?}"),
    }
}

/// Waits until every generation but the living one is gone or given up; returns who keeps those that were given up
/// since the last time.
fn wait_for_the_old(runtime: &Runtime, known: &mut BTreeSet<String>) -> Result<Vec<String>> {
    let deadline = Instant::now() + TO_BE_DECIDED;
    while runtime.contexts().iter().any(|(_, state)| matches!(state, ContextState::Unloading | ContextState::Blocked)) {
        if Instant::now() > deadline {
            bail!("a generation is neither gone nor given up: {:?}", runtime.contexts());
        }
        runtime.safe_point();
        thread::sleep(Duration::from_millis(1));
    }
    let new = runtime.parked().into_iter().filter(|parked| known.insert(parked.clone()));
    Ok(new.flat_map(|parked| who(&parked)).collect())
}

/// Who keeps an image, out of the line that says why it stays: `thread smol-1` out of `… stays mapped (x.so): kept by
/// thread smol-1   thread smol-1, 0.1 s; …`. Ages and numbers differ from one generation to the next and say nothing.
fn who(parked: &str) -> BTreeSet<String> {
    let reason = parked.rsplit_once("): ").map_or(parked, |(_, reason)| reason);
    let Some(keepers) = reason.strip_prefix("kept by ") else { return BTreeSet::from([reason.to_owned()]) };
    let name = |keeper: &str| keeper.split("   ").next().unwrap_or(keeper).trim().to_owned();
    let names: BTreeSet<_> = keepers.split("; ").map(name).map(|name| unnamed(&name).unwrap_or(name)).collect();
    // The thread-locals of a thread that never ends never end either: it says enough to name the thread.
    let is_thread = |name: &&String| name.starts_with("thread ");
    match names.iter().any(|name| is_thread(&name)) {
        true => names.iter().filter(is_thread).cloned().collect(),
        false => names,
    }
}

/// A thread that nobody named has the name of the program, which would tell nobody anything.
fn unnamed(name: &str) -> Option<String> {
    let program = std::env::current_exe().ok()?;
    // The system cuts names of threads off.
    let program: String = program.file_name()?.to_str()?.chars().take(15).collect();
    (name == format!("thread \"{program}\"")).then(|| "thread without a name".to_owned())
}

fn say(said: &Said) -> Result<()> {
    let mut text = serde_json::to_vec(said)?;
    text.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&text).and_then(|()| out.flush()).context("nobody listens any more")
}

#[cfg(test)]
mod tests {
    use super::who;

    #[test]
    fn who_keeps_an_image_is_told_without_ages() {
        let check = |line: &str, wanted: &[&str]| assert_eq!(who(line).into_iter().collect::<Vec<_>>(), wanted);
        check(
            "m of generation 3 stays mapped (m.so): kept by thread smol-1   thread smol-1, 0.1 s; thread async-io   \
             thread async-io, 0.1 s",
            &["thread async-io", "thread smol-1"],
        );
        check(
            "m of generation 3 stays mapped (m.so): kept by thread x   thread x, 0.1 s; thread-local destructor 3   f",
            &["thread x"],
        );
        check(
            "m of generation 3 stays mapped (m.so): the loader still counts uses of it",
            &["the loader still counts uses of it"],
        );
    }
}
