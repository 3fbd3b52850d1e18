//! Records of the Master's generations. A record exists until the images of the generation are unmapped. The record contains the modules,
//! the unload ticket, and problems that were noted before the ticket existed. Any thread may read the modules and the tickets.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Mutex;

use crate::bridge::tasks::JobCount;
use crate::handles::{Generation, ModuleId};
use crate::load::context::info::{ContextInfo, ModuleSummary};
use crate::load::context_id::{ContextId, ContextKind};
use crate::sync::lock;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;

/// Maximum number of problems that are kept for a generation without a ticket.
const MOST_PROBLEMS: usize = 32;

/// Record of a generation that is not dead.
#[derive(Default)]
struct Record {
    modules: Vec<(ModuleId, ModuleSummary)>,
    /// Set when the unload begins.
    is_sealed: bool,
    /// `None` while the generation is alive, and during the first steps of its unload.
    ticket: Option<UnloadTicket>,
    /// Problems noted before the generation had a ticket.
    problems: Vec<String>,
    /// Counts of tasks, timers and posted closures that were dropped before the generation had a ticket.
    jobs: Vec<JobCount>,
}

impl Record {
    fn state(&self) -> ContextState {
        match &self.ticket {
            Some(ticket) => ticket.state(),
            None if self.is_sealed => ContextState::Unloading,
            None => ContextState::Alive,
        }
    }
}

#[derive(Default)]
pub(crate) struct Masters(Mutex<BTreeMap<Generation, Record>>);

impl Masters {
    pub(crate) fn begin(&self, generation: Generation) {
        lock(&self.0).insert(generation, Record::default());
    }

    /// Removes the record of a generation. Called if the libraries were rejected before mapping, or if the images are unmapped. The unload
    /// ticket still provides the report.
    pub(crate) fn forget(&self, generation: Generation) {
        let ended = lock(&self.0).remove(&generation);
        // Drops the record outside of the lock, because the record may contain the last clone of the ticket.
        drop(ended);
    }

    /// Checks if the generation is alive, unloading or parked.
    pub(crate) fn is_known(&self, generation: Generation) -> bool {
        lock(&self.0).contains_key(&generation)
    }

    pub(crate) fn set_modules(&self, generation: Generation, modules: Vec<(ModuleId, ModuleSummary)>) {
        if let Some(record) = lock(&self.0).get_mut(&generation) {
            record.modules = modules;
        }
    }

    /// Records that the unload of a generation has begun. The ticket of the unload is recorded later.
    pub(crate) fn seal(&self, generation: Generation) {
        if let Some(record) = lock(&self.0).get_mut(&generation) {
            record.is_sealed = true;
        }
    }

    /// Returns a snapshot of every generation that is not dead.
    pub(super) fn infos(&self) -> Vec<ContextInfo> {
        let info = |(generation, record): (&Generation, &Record)| ContextInfo {
            id: ContextId::master(generation.0),
            kind: ContextKind::Master,
            name: "Master".into(),
            state: record.state(),
            modules: record.modules.iter().map(|(_, summary)| summary.clone()).collect(),
        };
        let infos: Vec<_> = lock(&self.0).iter().map(info).collect();
        infos.into_iter().filter(|info| info.state != ContextState::Dead).collect()
    }

    /// Returns every generation that is not dead, with its state.
    pub(crate) fn states(&self) -> Vec<(Generation, ContextState)> {
        let records = lock(&self.0);
        let states = records.iter().map(|(generation, record)| (*generation, record.state()));
        states.filter(|(_, state)| *state != ContextState::Dead).collect()
    }

    /// Returns the tickets of unloading generations that are not dead, oldest first.
    pub(crate) fn unloads(&self) -> Vec<(ContextId, UnloadTicket)> {
        let of = |(generation, record): (&Generation, &Record)| {
            Some((ContextId::master(generation.0), record.ticket.clone()?))
        };
        let tickets: Vec<_> = lock(&self.0).iter().filter_map(of).collect();
        tickets.into_iter().filter(|(_, ticket)| ticket.state() != ContextState::Dead).collect()
    }

    /// Checks if a summary describes a module of the Master.
    pub(super) fn has(&self, summary: &ModuleSummary) -> bool {
        let records = lock(&self.0);
        let mut modules = records.values().flat_map(|record| &record.modules);
        modules.any(|(_, known)| known.name == summary.name && known.image == summary.image)
    }

    /// Returns the generation that contains a module. If a reload keeps a module, two generations contain the module until the old
    /// generation is unmapped. `living` is the generation of the living Master. Returns `living` if that generation contains the module.
    /// Otherwise returns the latest generation with the module.
    pub(crate) fn with(&self, module: ModuleId, living: Option<Generation>) -> Option<Generation> {
        let records = lock(&self.0);
        let mut having = records.iter().rev().filter(|(_, record)| record.modules.iter().any(|(id, _)| *id == module));
        let latest = having.clone().next();
        having.find(|(generation, _)| Some(**generation) == living).or(latest).map(|(generation, _)| *generation)
    }

    /// Records a non-fatal problem of a generation. Does nothing for a dead generation, whose problems appear only in the log. A module
    /// that a reload has kept may outlive the generation that mapped it.
    pub(crate) fn note(&self, generation: Generation, problem: String) {
        let mut records = lock(&self.0);
        let Some(record) = records.get_mut(&generation) else { return };
        match &record.ticket {
            Some(ticket) => ticket.note(problem),
            // Limits the number of problems, because the drop of a plugin part may fail in every frame. The log contains all problems.
            None if record.problems.len() < MOST_PROBLEMS => record.problems.push(problem),
            None => {}
        }
    }

    pub(crate) fn note_jobs(&self, generation: Generation, ended: Vec<JobCount>) {
        lock(&self.0).entry(generation).or_default().jobs.extend(ended);
    }

    /// Removes and returns the problems that were noted before the generation had a ticket.
    pub(crate) fn take_problems(&self, generation: Generation) -> Vec<String> {
        let mut records = lock(&self.0);
        records.get_mut(&generation).map(|record| mem::take(&mut record.problems)).unwrap_or_default()
    }

    /// Records the ticket of the unload of a generation, and moves the noted problems and jobs to the ticket.
    pub(crate) fn begin_unload(&self, generation: Generation, ticket: &UnloadTicket) {
        let mut records = lock(&self.0);
        let record = records.entry(generation).or_default();
        mem::take(&mut record.problems).into_iter().for_each(|problem| ticket.note(problem));
        ticket.note_jobs(mem::take(&mut record.jobs));
        record.ticket = Some(ticket.clone());
    }
}
