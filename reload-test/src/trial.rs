//! The host under test: objects of the subjects, their expected state after a reload, and the checks. All memory of the test is allocated
//! before the first reload, so later growth is caused by the runtime.
#![expect(unsafe_code, reason = "closes descriptors that plugins leave open")]

use crate::checks::{Expected, faults};
use crate::counters::Counters;
use crate::findings::Findings;
use crate::plan::{Build, Counted, InjectedFault, Line, Plan, Reading, ReloadResult};
use crate::subject::{Habits, Subject, subjects};
use crate::values::{sample, value};
use alcedo_runtime::Canary;
use alcedo_runtime::{Budget, ObjectHandle, Phase, ReferenceSearch, ReloadReport, Runtime, Value, process};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

/// Number of objects whose value is read and rewritten in each reload.
const VALUES: usize = 1000;
/// Number of objects called in each reload.
const CALLS: usize = 32;
/// Number of objects whose values are compared before and after a tick.
const TICKED: usize = 8;
/// Time limit for the unload of the previous generation.
const UNLOAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Reload at which a fault is injected.
const INJECT_AT: u64 = 2;

/// An object of a subject, with its expected state.
struct TestObject {
    handle: ObjectHandle,
    subject: &'static Subject,
    /// Number of the reload in which the property was last written. Determines the expected value.
    round: u64,
    calls: u32,
    lost: bool,
}

impl TestObject {
    /// Returns the names of the property and the object, for findings.
    fn property(&self) -> String {
        format!("{} of {}", self.subject.property, self.handle)
    }
}

/// A host with a Master and its objects.
pub(crate) struct Trial<'p> {
    plan: &'p Plan,
    runtime: Runtime,
    subjects: Vec<&'static Subject>,
    objects: Vec<TestObject>,
    /// Handles of all objects, including subobjects, in the order of creation.
    population: Vec<ObjectHandle>,
    ticks: u32,
    /// Counts of destructors and handlers. `None` if no subject counts these.
    counters: Option<Counters>,
    /// Set if a generation was not unloaded in time. The test then no longer waits until generations are unloaded.
    is_stuck: bool,
    /// Resources that an injected fault leaks in the host.
    leaks: (Vec<File>, Vec<Vec<u8>>),
}

impl<'p> Trial<'p> {
    /// Loads the first build of `plan` and creates the objects.
    pub(crate) fn start(plan: &'p Plan) -> Result<Self> {
        let subjects = subjects(&plan.plugins)?;
        let builder = Runtime::builder().natives(alcedo_engine::natives()).require_seal(true).package("Game");
        let habits = subjects.iter().any(|subject| subject.habits.is_some());
        let args = if habits { module_args(plan) } else { Vec::new() };
        let builder = builder.module_args(&args.iter().map(String::as_str).collect::<Vec<_>>());
        // Makes the host close files that plugins leave open.
        let builder = builder.unloads(|policy| {
            policy.search_references = ReferenceSearch::Always;
            // SAFETY: neither this host nor its plugins pass descriptors to each other.
            unsafe { policy.close_fds(true) };
        });
        let builder = if plan.canary { builder } else { builder.canary(Canary::Off) };
        let runtime = builder.build().context("could not make a runtime")?;
        runtime.create_master(&plan.build(0).libraries).context("could not load the first build")?;

        let counters =
            habits.then(|| Counters::open(&plan.counters)).transpose().context("could not read the tally")?;
        let mut trial = Self {
            plan,
            runtime,
            subjects,
            objects: Vec::new(),
            population: Vec::new(),
            ticks: 0,
            counters,
            is_stuck: false,
            leaks: Default::default(),
        };
        trial.spawn().context("could not make the objects")?;
        // Runs the first tick, because the call of `begin play` in this tick must precede the first reload.
        trial.tick();
        trial.population = trial.runtime.objects().iter().collect();
        let mut findings = Findings::default();
        trial.check_code(plan.build(0).tag, &mut findings);
        trial.check_values(0, &mut findings);
        trial.check_habits(&mut findings);
        // Checks the measurement itself, because a measurement that misses loaded images would also miss stale images.
        let (mapped, loaded) = (trial.mapped(), plan.build(0).libraries.len() as u64);
        if mapped != loaded {
            findings.wrong(|| format!("{mapped} staged files are mapped, not the {loaded} that are loaded"));
        }
        ensure!(findings.messages.is_empty(), "wrong before the first reload: {}", findings.messages.join("; "));
        Ok(trial)
    }

    fn spawn(&mut self) -> Result<()> {
        self.objects.reserve_exact(self.plan.objects);
        for index in 0..self.plan.objects {
            let subject = self.subjects[index % self.subjects.len()];
            let handle = self.runtime.objects().spawn(subject.class)?;
            self.runtime.objects().set(handle, subject.property, &Value::F64(value(index, 0)))?;
            for (property, value) in subject.prepared {
                self.runtime.objects().set(handle, property, &Value::F64(*value))?;
            }
            self.objects.push(TestObject { handle, subject, round: 0, calls: 0, lost: false });
        }
        Ok(())
    }

    /// Performs reload number `reload`, counted from one, and runs all checks.
    pub(crate) fn reload(&mut self, reload: u64) -> ReloadResult {
        let build = self.plan.build(reload);
        let mut findings = Findings::default();
        let report = self.swap(build, &mut findings);
        self.inject_fault(reload);
        self.check_population(&mut findings);
        let wrong_tag = self.plan.injected_fault == Some(InjectedFault::WrongTag);
        self.check_code(build.tag + u64::from(wrong_tag), &mut findings);
        self.check_values(reload, &mut findings);
        self.check_tick(reload, &mut findings);
        self.check_calls(reload, &mut findings);
        self.write_values(reload, &mut findings);
        self.check_habits(&mut findings);
        self.check_end_of_previous(&mut findings);

        let committed = report.as_ref().filter(|report| report.is_committed());
        let rebuilt = committed.filter(|report| report.conjugates_rebuilt > 0);
        let stale_mappings = self.mapped().saturating_sub(build.libraries.len() as u64);
        ReloadResult {
            reload,
            swap_us: committed.map(|report| report.phases.swap().as_secs_f64() * 1e6),
            rebuild_ns_per_conjugate: rebuilt
                .map(|report| report.phases.get(Phase::Rebuild).as_secs_f64() * 1e9 / report.conjugates_rebuilt as f64),
            pause_ms: committed.map(|report| report.pause.total().as_secs_f64() * 1e3),
            pause_ns_per_object: committed
                .and_then(|report| report.pause.per_object())
                .map(|each| each.as_nanos() as f64),
            phases_ms: committed.map(phases).unwrap_or_default(),
            findings,
            stale_mappings,
            process: reading(),
        }
    }

    /// Unloads the Master and ends the runtime. Staged files that remain mapped count as stale, even if they are parked.
    pub(crate) fn end(mut self) -> Result<Line> {
        let stage = self.runtime.stage_dir();
        self.runtime.unload_master().context("could not unload the last build")?;
        let mut findings = Findings::default();
        self.wait_for_previous(0, &mut findings);
        let Self { runtime, counters, .. } = self;
        drop(runtime.shutdown());
        let stale_mappings = process::stale_mappings(&stage).context("could not read the mappings")?.len() as u64;
        let mut counted = Counted::default();
        if let Some(mut counters) = counters {
            let last = counters.generations()?;
            counters.check(last)?.into_iter().for_each(|fault| findings.wrong(|| fault));
            counted = counters.sum();
        }
        Ok(Line::End { stale_mappings, findings: findings.messages, counted })
    }

    /// Checks that subjects with [`Habits`] report no errors.
    fn check_habits(&self, findings: &mut Findings) {
        for Habits { complaints, panics: (panics, message), .. } in
            self.subjects.iter().flat_map(|subject| &subject.habits)
        {
            if self.plan.panic_each {
                match self.runtime.calls().call(panics, &[]) {
                    Err(error) if error.to_string().contains(message) => {}
                    other => findings.wrong(|| format!("{panics} should panic, but returned {other:?}")),
                }
            }
            match self.runtime.calls().call(complaints, &[]) {
                Ok(Some(Value::Text(text))) if text.is_empty() => {}
                Ok(Some(Value::Text(text))) => findings.wrong(|| format!("the plugin complains: {text}")),
                other => findings.wrong(|| format!("{complaints} gives {other:?}")),
            }
        }
    }

    /// Checks that the previous generation is unmapped, and that the counted destructors and handlers of this generation have run.
    fn check_end_of_previous(&mut self, findings: &mut Findings) {
        self.wait_for_previous(1, findings);
        let Some(counters) = &mut self.counters else { return };
        let faults = counters.generations().and_then(|generations| counters.check(generations.saturating_sub(1)));
        match faults {
            Ok(faults) => faults.into_iter().for_each(|fault| findings.wrong(|| fault)),
            Err(error) => findings.wrong(|| format!("the tally cannot be read: {error}")),
        }
    }

    /// Runs safe points of the host until at most `living` generations remain.
    fn wait_for_previous(&mut self, living: usize, findings: &mut Findings) {
        let deadline = Instant::now() + UNLOAD_TIMEOUT;
        while !self.is_stuck && self.runtime.unloads().generations().len() > living {
            if Instant::now() > deadline || !self.runtime.unloads().parked().is_empty() {
                self.is_stuck = true;
                let left = self.runtime.unloads().generations();
                findings.wrong(|| {
                    format!(
                        "the previous generation is not unloaded: {left:?}; {}",
                        self.runtime.unloads().parked().join("; ")
                    )
                });
            }
            self.runtime.safe_point();
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn swap(&self, build: &Build, findings: &mut Findings) -> Option<ReloadReport> {
        self.runtime.request_reload(build.libraries.clone());
        self.runtime.safe_point();
        let mut reports = self.runtime.take_reloads();
        if reports.len() != 1 {
            findings.wrong(|| format!("{} reports of one reload", reports.len()));
        }
        let report = reports.pop()?;
        let living = self.objects.iter().filter(|object| !object.lost);
        let expected = Expected {
            objects: self.population.len() as u64,
            conjugates: living.clone().count() as u64,
            kept_fields: living.map(|object| object.subject.kept_fields).sum(),
        };
        for fault in faults(&report, expected) {
            findings.wrong(|| fault);
        }
        Some(report)
    }

    fn inject_fault(&mut self, reload: u64) {
        let victim = self.objects.last().filter(|_| reload == INJECT_AT);
        match (self.plan.injected_fault, victim) {
            (Some(InjectedFault::LeakFile), _) => self.leaks.0.extend(File::open(&self.plan.build(0).libraries[0])),
            (Some(InjectedFault::LeakMemory), _) => self.leaks.1.push(vec![1; 512 << 10]),
            (Some(InjectedFault::LoseObject), Some(victim)) => self.runtime.objects().destroy(victim.handle),
            (Some(InjectedFault::ChangeValue), Some(victim)) => {
                drop(self.runtime.objects().set(victim.handle, victim.subject.property, &Value::F64(-1.0)))
            }
            _ => {}
        }
    }

    /// Checks that every object exists under its handle, and that no further object exists.
    fn check_population(&mut self, findings: &mut Findings) {
        for object in self.objects.iter_mut().filter(|object| !object.lost) {
            if !self.runtime.objects().is_alive(object.handle) {
                object.lost = true;
                findings.lost(|| format!("{} {} is lost", object.subject.class, object.handle));
            }
        }
        let population: Vec<_> = self.runtime.objects().iter().collect();
        if population != self.population {
            let (found, expected) = (population.len(), self.population.len());
            findings.wrong(|| format!("{found} objects are alive, not {expected} as before"));
            self.population = population;
        }
    }

    /// Checks that the running code belongs to the build with this id.
    fn check_code(&self, tag: u64, findings: &mut Findings) {
        let expected = Value::U64(tag);
        for name in self.subjects.iter().flat_map(|subject| subject.build_tags) {
            match self.runtime.calls().call(name, &[]) {
                Ok(Some(found)) if found == expected => {}
                Ok(found) => findings.wrong(|| format!("stale code: {name} returns {found:?}, not {expected:?}")),
                Err(error) => findings.wrong(|| format!("{name}: {error}")),
            }
        }
    }

    /// Checks that the properties have the values that were last written.
    fn check_values(&self, reload: u64, findings: &mut Findings) {
        for index in self.sample(VALUES, reload) {
            let object = &self.objects[index];
            let expected = Value::F64(value(index, object.round));
            match self.runtime.objects().get(object.handle, object.subject.property) {
                Ok(found) if found == expected => {}
                found => findings.wrong(|| format!("{} is {found:?}, not {expected:?}", object.property())),
            }
        }
    }

    /// Writes new values, which later reloads must preserve.
    fn write_values(&mut self, reload: u64, findings: &mut Findings) {
        for index in self.sample(VALUES, reload) {
            let object = &mut self.objects[index];
            object.round = reload;
            let written =
                self.runtime.objects().set(object.handle, object.subject.property, &Value::F64(value(index, reload)));
            if let Err(error) = written {
                findings.wrong(|| format!("{}: {error}", object.property()));
            }
        }
    }

    /// Checks that a tick runs the plugin's code.
    fn check_tick(&mut self, reload: u64, findings: &mut Findings) {
        let watched = self.sample(TICKED, reload);
        let before: Vec<_> = watched.iter().map(|&index| self.ticked(index)).collect();
        self.tick();
        for (index, before) in watched.into_iter().zip(before) {
            let after = self.ticked(index);
            if after.is_none() || after == before {
                let TestObject { handle, subject, .. } = &self.objects[index];
                findings.wrong(|| format!("a tick left {} of {handle} at {before:?}", subject.ticked));
            }
        }
    }

    fn tick(&mut self) {
        self.runtime.tick(Budget::frame());
        self.ticks += 1;
    }

    /// Returns the value of the property that a tick changes. Returns `None` if the property cannot be read.
    fn ticked(&self, index: usize) -> Option<Value> {
        let object = &self.objects[index];
        self.runtime.objects().get(object.handle, object.subject.ticked).ok()
    }

    /// Checks that calls succeed, and that the counts in kept fields survive the reload.
    fn check_calls(&mut self, reload: u64, findings: &mut Findings) {
        for index in self.sample(CALLS, reload) {
            let TestObject { handle, subject, calls, .. } = &mut self.objects[index];
            *calls += 1;
            let arguments: Vec<_> = subject.arguments.iter().copied().map(Value::F64).collect();
            if let Err(error) = self.runtime.objects().call(*handle, subject.called, &arguments) {
                findings.wrong(|| format!("{} of {handle}: {error}", subject.called));
            }
            let expected = Value::U32(*calls + self.ticks * subject.answers_in_tick);
            match self.runtime.objects().call(*handle, subject.answered, &[]) {
                Ok(Some(found)) if found == expected => {}
                found => findings.wrong(|| format!("{} of {handle} is {found:?}, not {expected:?}", subject.answered)),
            }
        }
    }

    /// Returns the sample of objects for this reload, without lost objects.
    fn sample(&self, most: usize, reload: u64) -> Vec<usize> {
        let all = sample(self.objects.len(), most, self.plan.seed.wrapping_add(reload));
        all.filter(|index| !self.objects[*index].lost).collect()
    }

    /// Returns the number of mapped staged files. Returns zero if this number is unknown.
    fn mapped(&self) -> u64 {
        process::stale_mappings(&self.runtime.stage_dir()).map_or(0, |files| files.len() as u64)
    }
}

/// Returns the milliseconds of each phase, by name.
fn phases(report: &ReloadReport) -> BTreeMap<String, f64> {
    report.phases.0.iter().map(|(phase, ms)| ((*phase).to_owned(), *ms)).collect()
}

fn module_args(plan: &Plan) -> Vec<String> {
    let mut args = vec![format!("tally={}", plan.counters.display()), "leak-file".to_owned()];
    match plan.injected_fault {
        Some(InjectedFault::Uncounted) => args.push("uncounted".to_owned()),
        Some(InjectedFault::Endless) => args.push("endless".to_owned()),
        _ => {}
    }
    args
}

/// Measures this process. Unknown figures are zero.
pub(crate) fn reading() -> Reading {
    Reading {
        rss_kib: process::rss_kib().unwrap_or(0),
        open_fds: process::open_fds().map_or(0, |count| count as u64),
        threads: process::threads().map_or(0, |count| count as u64),
        keys: process::keys_in_use().map_or(0, |count| count as u64),
    }
}
