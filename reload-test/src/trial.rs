//! The host under trial: objects of the subjects, what each of them must still know after a reload, and the looks
//! that find out. All memory it needs is taken before the first reload, so that growth is the runtime's.

use crate::checks::{Expected, faults};
use crate::findings::Findings;
use crate::plan::{Build, Plan, Reading, Sabotage, Seen};
use crate::subject::{Subject, subjects};
use crate::values::{sample, value};
use alcedo_runtime::{Budget, ObjectHandle, Phase, Reload, Runtime, Value, process};
use anyhow::{Context, Result, ensure};

/// How many objects have their value read and written anew in each reload.
const VALUES: usize = 1000;
/// How many are called in each reload.
const CALLS: usize = 32;
/// How many are watched over a tick.
const TICKED: usize = 8;
/// The reload that a sabotage waits for.
const SABOTAGED: u64 = 2;

/// An object of a subject, and what it must still know.
struct Thing {
    handle: ObjectHandle,
    subject: &'static Subject,
    /// The round whose value it has.
    round: u64,
    /// How often it was called.
    calls: u32,
    lost: bool,
}

impl Thing {
    /// Its property, for findings.
    fn property(&self) -> String {
        format!("{} of {}", self.subject.property, self.handle)
    }
}

/// A host with a Master and its objects.
pub(crate) struct Trial<'p> {
    plan: &'p Plan,
    runtime: Runtime,
    subjects: Vec<&'static Subject>,
    things: Vec<Thing>,
    /// Every living object, subobjects included, in the order of creation.
    population: Vec<ObjectHandle>,
    ticks: u32,
}

impl<'p> Trial<'p> {
    /// Loads the first build of `plan` and gives life to the objects.
    pub(crate) fn start(plan: &'p Plan) -> Result<Self> {
        let subjects = subjects(&plan.plugins)?;
        let mut builder = Runtime::builder().natives(alcedo_engine::natives()).require_seal(true);
        for (at, subject) in subjects.iter().enumerate() {
            if subjects[..at].iter().all(|other| other.package != subject.package) {
                builder = builder.package(subject.package);
            }
        }
        let runtime = builder.build().context("could not make a runtime")?;
        runtime.create_master(&plan.build(0).libraries).context("could not load the first build")?;

        let mut trial = Self { plan, runtime, subjects, things: Vec::new(), population: Vec::new(), ticks: 0 };
        trial.spawn().context("could not make the objects")?;
        // Begin play belongs to the start: it happens once, and not in a reload.
        trial.tick();
        trial.population = trial.runtime.objects();
        let mut findings = Findings::default();
        trial.look_at_code(plan.build(0).tag, &mut findings);
        trial.look_at_values(0, &mut findings);
        // A gauge that does not see the images that are there would not see those that stay, either.
        let (mapped, loaded) = (trial.mapped(), plan.build(0).libraries.len() as u64);
        if mapped != loaded {
            findings.wrong(|| format!("{mapped} staged files are mapped, not the {loaded} that are loaded"));
        }
        ensure!(findings.words.is_empty(), "wrong before the first reload: {}", findings.words.join("; "));
        Ok(trial)
    }

    fn spawn(&mut self) -> Result<()> {
        self.things.reserve_exact(self.plan.objects);
        for index in 0..self.plan.objects {
            let subject = self.subjects[index % self.subjects.len()];
            let handle = self.runtime.spawn(subject.class)?;
            self.runtime.set(handle, subject.property, &Value::F64(value(index, 0)))?;
            for (property, value) in subject.prepared {
                self.runtime.set(handle, property, &Value::F64(*value))?;
            }
            self.things.push(Thing { handle, subject, round: 0, calls: 0, lost: false });
        }
        Ok(())
    }

    /// Does reload number `reload`, counted from one, and looks at everything it might have broken.
    pub(crate) fn reload(&mut self, reload: u64) -> Seen {
        let build = self.plan.build(reload);
        let mut findings = Findings::default();
        let report = self.swap(build, &mut findings);
        self.sabotage(reload);
        self.look_at_population(&mut findings);
        let misled = self.plan.sabotage == Some(Sabotage::WrongTag);
        self.look_at_code(build.tag + u64::from(misled), &mut findings);
        self.look_at_values(reload, &mut findings);
        self.look_at_tick(reload, &mut findings);
        self.look_at_calls(reload, &mut findings);
        self.write_values(reload, &mut findings);

        let committed = report.as_ref().filter(|report| report.is_committed());
        let rebuilt = committed.filter(|report| report.conjugates_rebuilt > 0);
        let stale_mappings = self.mapped().saturating_sub(build.libraries.len() as u64);
        Seen {
            reload,
            swap_us: committed.map(|report| report.phases.swap_ms() * 1e3),
            rebuild_ns_per_conjugate: rebuilt
                .map(|report| report.phases.get(Phase::Rebuild) * 1e6 / report.conjugates_rebuilt as f64),
            lost_objects: findings.lost_objects,
            wrong_answers: findings.wrong_answers,
            findings: findings.words,
            stale_mappings,
            process: reading(),
        }
    }

    /// Ends the Master and the runtime. Returns how many staged files are still mapped, parked ones among them.
    pub(crate) fn end(self) -> Result<u64> {
        let stage = self.runtime.stage_dir();
        self.runtime.unload_master().context("could not unload the last build")?;
        drop(self.runtime.shutdown());
        Ok(process::stale_mappings(&stage).context("could not read the mappings")?.len() as u64)
    }

    fn swap(&self, build: &Build, findings: &mut Findings) -> Option<Reload> {
        self.runtime.request_reload(build.libraries.clone());
        self.runtime.safe_point();
        let mut reports = self.runtime.take_reloads();
        if reports.len() != 1 {
            findings.wrong(|| format!("{} reports of one reload", reports.len()));
        }
        let report = reports.pop()?;
        let living = self.things.iter().filter(|thing| !thing.lost);
        let expected = Expected {
            objects: self.population.len() as u64,
            conjugates: living.clone().count() as u64,
            kept_fields: living.map(|thing| thing.subject.kept_fields).sum(),
        };
        for fault in faults(&report, expected) {
            findings.wrong(|| fault);
        }
        Some(report)
    }

    fn sabotage(&self, reload: u64) {
        let Some(sabotage) = self.plan.sabotage.filter(|_| reload == SABOTAGED) else { return };
        let Some(victim) = self.things.last() else { return };
        match sabotage {
            Sabotage::LoseObject => self.runtime.destroy(victim.handle),
            Sabotage::ChangeValue => drop(self.runtime.set(victim.handle, victim.subject.property, &Value::F64(-1.0))),
            Sabotage::WrongTag | Sabotage::Abort | Sabotage::Hang => {}
        }
    }

    /// Every object must live on under its handle, and none may have come.
    fn look_at_population(&mut self, findings: &mut Findings) {
        for thing in self.things.iter_mut().filter(|thing| !thing.lost) {
            if !self.runtime.is_alive(thing.handle) {
                thing.lost = true;
                findings.lost(|| format!("{} {} is lost", thing.subject.class, thing.handle));
            }
        }
        let population = self.runtime.objects();
        if population != self.population {
            let (found, wanted) = (population.len(), self.population.len());
            findings.wrong(|| format!("{found} objects live, not the {wanted} that lived before"));
            self.population = population;
        }
    }

    /// The code that runs must be that of the build with this id.
    fn look_at_code(&self, tag: u64, findings: &mut Findings) {
        let wanted = Value::U64(tag);
        for name in self.subjects.iter().flat_map(|subject| subject.build_tags) {
            match self.runtime.zcall(name, &[]) {
                Ok(Some(found)) if found == wanted => {}
                Ok(found) => findings.wrong(|| format!("stale code: {name} answers {found:?}, not {wanted:?}")),
                Err(error) => findings.wrong(|| format!("{name}: {error}")),
            }
        }
    }

    /// What was written before must be read.
    fn look_at_values(&self, reload: u64, findings: &mut Findings) {
        for (index, thing) in self.sample(VALUES, reload).map(|index| (index, &self.things[index])) {
            if thing.lost {
                continue;
            }
            let wanted = Value::F64(value(index, thing.round));
            match self.runtime.get(thing.handle, thing.subject.property) {
                Ok(found) if found == wanted => {}
                found => findings.wrong(|| format!("{} is {found:?}, not {wanted:?}", thing.property())),
            }
        }
    }

    /// The next reload has other values to carry.
    fn write_values(&mut self, reload: u64, findings: &mut Findings) {
        for index in self.sample(VALUES, reload) {
            let thing = &mut self.things[index];
            if thing.lost {
                continue;
            }
            thing.round = reload;
            let written = self.runtime.set(thing.handle, thing.subject.property, &Value::F64(value(index, reload)));
            if let Err(error) = written {
                findings.wrong(|| format!("{}: {error}", thing.property()));
            }
        }
    }

    /// A tick must reach the plugin's code.
    fn look_at_tick(&mut self, reload: u64, findings: &mut Findings) {
        let watched: Vec<_> = self.sample(TICKED, reload).filter(|&index| !self.things[index].lost).collect();
        let before: Vec<_> = watched.iter().map(|&index| self.ticked(index)).collect();
        self.tick();
        for (index, before) in watched.into_iter().zip(before) {
            let after = self.ticked(index);
            if after.is_none() || after == before {
                let Thing { handle, subject, .. } = &self.things[index];
                findings.wrong(|| format!("a tick left {} of {handle} at {before:?}", subject.ticked));
            }
        }
    }

    fn tick(&mut self) {
        self.runtime.tick(Budget::frame());
        self.ticks += 1;
    }

    /// What a tick changes of an object; none if it cannot be read.
    fn ticked(&self, index: usize) -> Option<Value> {
        let thing = &self.things[index];
        self.runtime.get(thing.handle, thing.subject.ticked).ok()
    }

    /// Calls must be answered, and kept fields must go on counting.
    fn look_at_calls(&mut self, reload: u64, findings: &mut Findings) {
        for index in self.sample(CALLS, reload) {
            let Thing { handle, subject, calls, lost, .. } = &mut self.things[index];
            if *lost {
                continue;
            }
            *calls += 1;
            let arguments: Vec<_> = subject.arguments.iter().copied().map(Value::F64).collect();
            if let Err(error) = self.runtime.call(*handle, subject.called, &arguments) {
                findings.wrong(|| format!("{} of {handle}: {error}", subject.called));
            }
            let wanted = Value::U32(*calls + self.ticks * subject.answers_in_tick);
            match self.runtime.call(*handle, subject.answered, &[]) {
                Ok(Some(found)) if found == wanted => {}
                found => findings.wrong(|| format!("{} of {handle} is {found:?}, not {wanted:?}", subject.answered)),
            }
        }
    }

    /// The objects chosen for this reload, lost ones among them.
    fn sample(&self, most: usize, reload: u64) -> impl Iterator<Item = usize> + Clone + use<> {
        sample(self.things.len(), most, self.plan.seed.wrapping_add(reload))
    }

    /// How many staged files are mapped; none if the system does not tell.
    fn mapped(&self) -> u64 {
        process::stale_mappings(&self.runtime.stage_dir()).map_or(0, |files| files.len() as u64)
    }
}

/// The process now; what the system does not tell is zero.
pub(crate) fn reading() -> Reading {
    Reading {
        rss_kib: process::rss_kib().unwrap_or(0),
        open_fds: process::open_fds().map_or(0, |count| count as u64),
        threads: process::threads().map_or(0, |count| count as u64),
    }
}
