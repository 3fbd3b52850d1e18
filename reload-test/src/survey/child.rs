//! The host process for one row of the survey's table. In each reload, loads the next build of the row's plugin, calls the plugin's
//! function that uses the surveyed crate, and waits until the previous generation is unmapped or parked. Reports each step to the parent
//! process.
#![expect(unsafe_code, reason = "evicts threads, closes leftover descriptors, and harms this process on request")]

use super::freed::{Freed, freed, range};
use super::holders::holders;
use super::plan::{InjectedFault, Message, Plan, Step};
use super::rows::ImageState;
use crate::hosting::{self, send_line};
use crate::trial::reading;
use alcedo_runtime::{ContextState, ReferenceSearch, Runtime, Value};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::mem;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Time after which a generation is parked, if the row expects parked images.
const PARK_AFTER: Duration = Duration::from_millis(100);
/// Time after which a generation is parked, if the row expects unmapped images. This time is long, because a thread may end late on a busy
/// machine. The long time also permits further attempts to evict a thread that was not in a system call.
const PARK_AFTER_LONG: Duration = Duration::from_secs(5);
/// Time limit within which the host must park or unmap a generation.
const PARK_TIMEOUT: Duration = Duration::from_secs(30);
/// Time after which a thread is evicted, if evictions are permitted.
const EVICT_AFTER: Duration = Duration::from_millis(20);
/// Number of images that are parked although the row expects unmapped images. The run stops after this number.
const TOO_MANY: usize = 5;
/// Reload at which the fault is injected.
const INJECT_AT: u64 = 2;

pub(crate) fn run(plan: &Path) -> Result<()> {
    let plan: Plan = hosting::plan(plan)?;
    crate::log_to_stderr("error");
    let ended = host(&plan);
    send_line(&Message {
        fault: ended.err().map(|error| format!("{error:#}")),
        step: Step::Ended,
        ..Message::default()
    })
}

fn host(plan: &Plan) -> Result<()> {
    let evict = plan.mode.evicts();
    let park_after = if plan.expected_state == ImageState::Unmapped { PARK_AFTER_LONG } else { PARK_AFTER };
    let builder = Runtime::builder().park_after(park_after).parked_budget(usize::MAX);
    let builder = builder.unloads(|policy| {
        policy.search_references = ReferenceSearch::Always;
        policy.reap_children = true;
        // SAFETY: this process tests which crates lend the stacks of their threads, or pass descriptors on.
        unsafe { policy.evict_after(evict.then_some(EVICT_AFTER)) };
        // SAFETY: as above; the host itself uses no descriptor of a plugin.
        unsafe { policy.close_fds(evict) };
    });
    let runtime = builder.build().context("could not make a runtime")?;
    let mut host = Host { plan, runtime, reported: BTreeSet::new() };
    if let Err(error) = host.run() {
        // Skips the normal shutdown, which may be impossible if memory or files are corrupted, and reports the error.
        mem::forget(host);
        return Err(error);
    }
    drop(host.runtime.shutdown());
    Ok(())
}

struct Host<'a> {
    plan: &'a Plan,
    runtime: Runtime,
    /// Lines of the runtime's list of parked images that this process has already reported.
    reported: BTreeSet<String>,
}

impl Host<'_> {
    fn run(&mut self) -> Result<()> {
        let plan = self.plan;
        let library = |reload: u64| &plan.libraries[(reload % plan.libraries.len() as u64) as usize];
        self.runtime.create_master(&[library(0)]).context("could not load the plugin")?;
        self.work()?;
        self.send(0, Step::Done, Vec::new())?;
        for reload in 1..=plan.reloads {
            match plan.mode.alternates() {
                true => self.alternate(reload, library(reload))?,
                false => self.reload_onto_itself(reload, library(reload))?,
            }
        }
        self.runtime.unload_master().context("could not unload the last generation")?;
        self.wait_for_previous(0).map(drop)
    }

    fn reload_onto_itself(&mut self, reload: u64, library: &Path) -> Result<()> {
        let before = mappings()?;
        self.swap(library)?;
        self.work()?;
        let names = self.wait_for_previous(1)?;
        self.inject_if_due(reload, &before, lowest_free_descriptor()?)?;
        self.send(reload, Step::Done, names)
    }

    /// Replaces the plugin by the neighbor, runs the neighbor at the freed addresses for a while, and then loads the next build of the
    /// plugin.
    fn alternate(&mut self, reload: u64, library: &Path) -> Result<()> {
        let before = mappings()?;
        self.swap(&self.plan.neighbor)?;
        let names = self.wait_for_previous(1)?;
        self.send(reload - 1, Step::Away, names)?;
        let free = freed(&before, &mappings()?);
        let free: String = free.iter().map(Freed::line).collect();
        let descriptor = lowest_free_descriptor()?;
        self.neighbor("reuse", &[Value::Text(free)])?;
        self.inject_if_due(reload, &before, descriptor)?;
        let lives_until = Instant::now() + Duration::from_millis(self.plan.strikes_after_ms);
        loop {
            self.neighbor("work", &[])?;
            self.runtime.safe_point();
            let left = lives_until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(Duration::from_millis(5)));
        }
        self.neighbor("check", &[])?;
        self.swap(library)?;
        self.work()?;
        let names = self.wait_for_previous(1)?;
        ensure!(names.is_empty(), "the neighbor stays: {}", names.join("; "));
        self.send(reload, Step::Done, names)
    }

    fn swap(&self, library: &Path) -> Result<()> {
        let report = self.runtime.reload(&[library])?;
        ensure!(report.is_committed(), "a reload was rolled back: {:?}", report.outcome);
        Ok(())
    }

    /// Calls the plugin function that uses the crate, and checks its result.
    fn work(&self) -> Result<()> {
        match self.runtime.calls().call("ex:/surveyed.work", &[])? {
            Some(Value::Text(text)) if text.ends_with(" ok") => Ok(()),
            other => bail!("the crate does not work: {other:?}"),
        }
    }

    /// Calls a function of the neighbor, and checks that the neighbor has found no damage.
    fn neighbor(&self, verb: &str, arguments: &[Value]) -> Result<()> {
        match self.runtime.calls().call(&format!("ex:/neighbor.{verb}"), arguments)? {
            Some(Value::Text(text)) if text == "ok" => Ok(()),
            Some(Value::Text(text)) => bail!("the neighbor found: {text}"),
            other => bail!("the neighbor returned {other:?}"),
        }
    }

    fn inject_if_due(&self, reload: u64, before: &str, descriptor: i32) -> Result<()> {
        let Some(fault) = self.plan.injected_fault.filter(|_| reload == INJECT_AT) else { return Ok(()) };
        // Uses the largest mapping of the image, because this mapping contains the code.
        let image = image_of(before, &self.runtime.stage_dir()).context("the image was not among the mappings")?;
        match fault {
            InjectedFault::LateWrite => {
                let (reader, mut writer) = std::io::pipe().context("could not make a pipe")?;
                writer.write_all(b"too late").context("could not write to a pipe")?;
                let address = std::ptr::with_exposed_provenance_mut(image);
                // SAFETY: none, on purpose; for unmapped memory, the kernel returns an error and writes no byte.
                unsafe { libc::read(reader.as_raw_fd(), address, 8) };
            }
            InjectedFault::LateSignal => {
                // SAFETY: raises a signal on this thread only. Without a handler, the signal ends the process, as the fault requires.
                unsafe { libc::raise(libc::SIGUSR1) };
            }
            InjectedFault::LateClose => {
                // SAFETY: none: the current owner of the descriptor is unknown.
                unsafe { libc::close(descriptor) };
            }
            InjectedFault::Hang => loop {
                thread::sleep(Duration::from_secs(3600));
            },
        }
        Ok(())
    }

    /// Waits until each previous generation is unmapped or parked. Returns the reasons that keep newly parked generations mapped. Checks
    /// that at most `living` images are mapped in addition to the parked images.
    fn wait_for_previous(&mut self, living: usize) -> Result<Vec<String>> {
        let deadline = Instant::now() + PARK_TIMEOUT;
        let is_pending = |state: &ContextState| matches!(state, ContextState::Unloading | ContextState::Blocked);
        while self.runtime.unloads().generations().iter().any(|(_generation, state)| is_pending(state)) {
            if Instant::now() > deadline {
                bail!("a generation is neither unmapped nor parked: {:?}", self.runtime.unloads().generations());
            }
            self.runtime.safe_point();
            thread::sleep(Duration::from_millis(1));
        }
        let new: Vec<_> =
            self.runtime.unloads().parked().into_iter().filter(|line| self.reported.insert(line.clone())).collect();
        let names: Vec<_> = new.iter().flat_map(|parked| holders(parked)).collect();
        if self.plan.expected_state == ImageState::Unmapped && self.reported.len() >= TOO_MANY {
            bail!("{} images stay: {}", self.reported.len(), names.join("; "));
        }
        let mapped = images(&mappings()?, &self.runtime.stage_dir());
        if mapped.len() > living + self.reported.len() {
            bail!("an image is still mapped, but was reported as unmapped: one of {mapped:?}");
        }
        Ok(names)
    }

    fn send(&self, reload: u64, step: Step, parked: Vec<String>) -> Result<()> {
        send_line(&Message { reload, step, process: reading(), parked, fault: None })
    }
}

fn mappings() -> Result<String> {
    fs::read_to_string("/proc/self/maps").context("could not read the mappings of this process")
}

/// Returns the number that the next opened descriptor will have.
fn lowest_free_descriptor() -> Result<i32> {
    Ok(File::open("/dev/null").context("could not open a file")?.as_raw_fd())
}

/// Returns the lines of `mappings` that describe staged files.
fn staged<'m>(mappings: &'m str, stage: &Path) -> Vec<&'m str> {
    let stage = fs::canonicalize(stage).unwrap_or_else(|_| PathBuf::from(stage));
    mappings.lines().filter(|line| line.contains(&*stage.to_string_lossy())).collect()
}

/// Returns the staged files with executable mappings. Other mappings are ignored, because crates that resolve symbols also map these files.
fn images(mappings: &str, stage: &Path) -> BTreeSet<String> {
    let fields = staged(mappings, stage).into_iter().map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields.filter(|fields| fields[1].contains('x')).filter_map(|fields| Some((*fields.get(5)?).to_owned())).collect()
}

/// Returns an address in the middle of the largest mapping of any staged file.
fn image_of(mappings: &str, stage: &Path) -> Option<usize> {
    let ranges = staged(mappings, stage).into_iter().filter_map(range);
    let (start, end) = ranges.max_by_key(|(start, end)| end - start)?;
    Some(start + (end - start) / 16 * 8)
}

#[cfg(test)]
mod tests {
    use super::images;
    use std::path::Path;

    #[test]
    fn a_file_that_is_mapped_to_be_read_is_not_an_image() {
        let mappings = "7f0000000000-7f0000001000 r--p 00000000 08:01 12 /none/stage/surveyed.1.so\n\
                        7f0000001000-7f0000002000 r-xp 00001000 08:01 12 /none/stage/surveyed.2.so\n\
                        7f0000002000-7f0000003000 rw-p 00002000 08:01 12 /none/stage/surveyed.2.so\n\
                        7f0000003000-7f0000004000 r-xp 00000000 08:01 13 /none/other.so\n\
                        7f0000004000-7f0000005000 rw-p 00000000 00:00 0\n";
        let images: Vec<_> = images(mappings, Path::new("/none/stage")).into_iter().collect();
        assert_eq!(images, ["/none/stage/surveyed.2.so"]);
    }
}
