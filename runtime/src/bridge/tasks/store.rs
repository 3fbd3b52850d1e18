//! Jobs of [`super::Tasks`] and their state transitions. Runs no module code, because the caller, not the store, drops the returned
//! entries.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use alcedo_abi::task::JobId;
use slotmap::{Key, KeyData, SlotMap, new_key_type};

use super::code::Code;
use super::inbox::{HostJob, Message, Posted};
use super::schedule::{Schedule, next_due};
use super::waking::Waking;
use super::{JobInfo, what};
use crate::boundary::CallError;
use crate::conjugate::gate::Gate;
use crate::handles::{ModuleId, ObjectHandle};
use crate::lease::{Lease, LeaseKind};
use crate::object::World;
use crate::object::objects::Objects;

new_key_type! {
    /// Key of a job. Invalid after the job has ended, and never reused.
    pub(super) struct JobKey;
}

/// Converts a key to the id that crosses the ABI boundary.
pub(super) fn id_of(key: JobKey) -> JobId {
    JobId(key.data().as_ffi())
}

/// Converts an id to a key. An id that was never assigned becomes a key without an entry.
pub(super) fn key_of(job: JobId) -> JobKey {
    KeyData::from_ffi(job.0).into()
}

/// Object that owns a job, and the key of the plugin part that the object had when the job was requested. The job ends if the object loses
/// this plugin part. The key is zero if the object had no plugin part, or if the module has declared no class of the object. `None` if the
/// module owns the job.
pub(super) type JobOwner = Option<(ObjectHandle, u64)>;

/// Returns the owner of a job of `module`: `object`, or the module if `object` is `NONE`. Returns an error if the object is destroyed.
pub(super) fn owner_of(objects: &Objects, object: ObjectHandle, module: ModuleId) -> Result<JobOwner, CallError> {
    if object.is_none() {
        return Ok(None);
    }
    let conjugate = objects.conjugate(object).ok_or(CallError::Stale { handle: object })?;
    // A reload may keep the module and replace the plugin part that another module has created for the object.
    let has_part = objects.class(object).is_some_and(|class| class.lineage().any(|class| class.tag == module.0));
    Ok(Some((object, if has_part { conjugate } else { 0 })))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Waiting,
    Running,
    /// The job was cancelled while its code was running. The job ends when its code returns.
    Cancelled,
}

pub(super) struct Entry {
    pub gate: Rc<Gate>,
    pub kind: LeaseKind,
    pub what: Rc<str>,
    pub place: Arc<str>,
    pub owner: JobOwner,
    pub code: Code,
    /// Number of the job, in order of creation.
    pub made: u64,
    /// Due time of a timer.
    pub due: Option<Duration>,
    /// Period, for a repeating timer.
    pub repeats: Option<Duration>,
    /// State that all wakers of a task share. This state contains the lease of the task.
    pub waking: Option<Arc<Waking>>,
    pub state: State,
    /// Set if the job was requested before the commit of a reload. The job runs after the commit, and a rollback ends the job.
    pub is_staged: bool,
    /// Last tick in which the job ran.
    pub ran_in: u64,
    /// Lease on the module; `None` for a task, whose wakers hold the lease.
    pub _lease: Option<Lease>,
}

/// Closure that waits for a safe point.
pub(super) enum Waiting {
    Module(JobKey),
    Host(HostJob),
}

/// Copy of the job fields that a run of the job needs. The store is not borrowed during the run.
pub(super) struct Turn {
    pub code: Code,
    pub gate: Rc<Gate>,
    pub what: Rc<str>,
    pub waking: Option<Arc<Waking>>,
}

/// Result of starting a job.
pub(super) enum Begin {
    Run(Turn),
    /// The job has ended.
    Gone,
    /// The job has already run in this tick, is running, or belongs to a generation that is suspended or not committed.
    NotNow,
    Expired(Box<Entry>),
}

#[derive(Default)]
pub(super) struct Store {
    pub entries: SlotMap<JobKey, Entry>,
    pub schedule: Schedule<JobKey>,
    /// Woken tasks, in the order of their wakes.
    pub ready: VecDeque<JobKey>,
    pub posted: VecDeque<Waiting>,
    /// Messages that [`super::Tasks::receive`] has left for its next call.
    pub unreceived: VecDeque<Message>,
    pub tick: u64,
    /// Set while a tick runs timers and tasks.
    pub is_running: bool,
    made: u64,
    deaths_seen: u64,
}

impl Store {
    pub(super) fn next_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// Adds a closure that a module has posted. If the object of the closure is destroyed, the closure never runs, and is dropped.
    pub(super) fn take_post(&mut self, gate: Rc<Gate>, posted: Posted, world: &World) {
        let Posted { object, place, code, is_staged, lease, .. } = posted;
        // Uses the current conjugate of the object, because a thread that posts cannot look up the conjugate. Class default objects run no
        // jobs.
        let owner = match owner_of(&world.objects, object, gate.tag().id) {
            Ok(owner) if !world.objects.is_template(object) => owner,
            // Ends the job before it runs, because no plugin part has this key.
            _ => Some((object, u64::MAX)),
        };
        let made = self.next_number();
        // A rollback first receives all sent messages. A message that is received after a reload therefore belongs to a committed reload.
        let is_staged = is_staged && world.mode.is_before_commit();
        let entry = Entry {
            what: what(LeaseKind::Posted, gate.tag(), &place),
            gate,
            kind: LeaseKind::Posted,
            place,
            owner,
            code,
            made,
            due: None,
            repeats: None,
            waking: None,
            state: State::Waiting,
            is_staged,
            ran_in: 0,
            _lease: Some(lease),
        };
        let key = self.entries.insert(entry);
        self.posted.push_back(Waiting::Module(key));
    }

    pub(super) fn wake(&mut self, key: JobKey) {
        if self.entries.get(key).is_some_and(|entry| entry.kind == LeaseKind::Task) {
            self.ready.push_back(key);
        }
    }

    /// Checks if a timer is still due. An earlier timer of this tick may have cancelled or postponed this timer.
    pub(super) fn is_due(&self, key: JobKey) -> bool {
        let due = self.entries.get(key).and_then(|entry| entry.due);
        due.is_some_and(|due| due <= self.schedule.now())
    }

    /// Cancels a job. Returns the entry of the job if the entry can be dropped now. The entry of a running job is dropped when the job
    /// returns.
    pub(super) fn cancel(&mut self, key: JobKey) -> Option<Entry> {
        let entry = self.entries.get_mut(key)?;
        if entry.state == State::Waiting {
            return self.remove(key);
        }
        entry.state = State::Cancelled;
        None
    }

    pub(super) fn begin(&mut self, key: JobKey, world: &World) -> Begin {
        let tick = self.tick;
        let Some(entry) = self.entries.get_mut(key) else { return Begin::Gone };
        let is_new = entry.is_staged || world.mode.is_starting(entry.gate.tag().id);
        if entry.state != State::Waiting || is_new || !entry.gate.is_open() {
            return Begin::NotNow;
        }
        if entry.is_over(&world.objects) {
            return self.remove(key).map_or(Begin::Gone, |entry| Begin::Expired(Box::new(entry)));
        }
        if entry.kind != LeaseKind::Posted && entry.ran_in == tick {
            return Begin::NotNow;
        }
        entry.state = State::Running;
        entry.ran_in = tick;
        if let Some(waking) = &entry.waking {
            waking.begin_run();
        }
        Begin::Run(Turn {
            code: entry.code,
            gate: Rc::clone(&entry.gate),
            what: Rc::clone(&entry.what),
            waking: entry.waking.clone(),
        })
    }

    /// Records that a run of the job has returned. Returns the entry if the job has ended.
    pub(super) fn finish(&mut self, key: JobKey, is_done: bool) -> Option<Entry> {
        let now = self.schedule.now();
        let entry = self.entries.get_mut(key)?;
        if is_done || entry.state == State::Cancelled {
            return self.remove(key);
        }
        entry.state = State::Waiting;
        if let (Some(due), Some(period)) = (entry.due, entry.repeats) {
            let next = next_due(due, period, now);
            entry.due = Some(next);
            let made = entry.made;
            self.schedule.remove(due, made);
            self.schedule.put(next, made, key);
        }
        None
    }

    /// Removes all jobs whose object is destroyed or has lost its plugin part, in order of creation. Checks the jobs only if objects were
    /// destroyed since the last call. Must not be called during a reload, because objects of a suspended generation then have new plugin
    /// parts.
    pub(super) fn take_expired(&mut self, world: &World) -> Vec<Entry> {
        let deaths = world.counters.deaths.get();
        if std::mem::replace(&mut self.deaths_seen, deaths) == deaths {
            return Vec::new();
        }
        self.take(|entry| entry.is_over(&world.objects))
    }

    /// Marks all jobs as independent of a commit.
    pub(super) fn commit(&mut self) {
        self.entries.values_mut().for_each(|entry| entry.is_staged = false);
    }

    /// Lists the jobs in order of creation.
    pub(super) fn infos(&self) -> Vec<JobInfo> {
        let mut entries: Vec<_> = self.entries.values().collect();
        entries.sort_by_key(|entry| entry.made);
        entries.into_iter().map(Entry::info).collect()
    }

    /// Removes the jobs that do not run and for which `is_meant` returns `true`, in order of creation.
    pub(super) fn take(&mut self, is_meant: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let meant = self.entries.iter().filter(|(_, entry)| entry.state == State::Waiting && is_meant(entry));
        let keys: Vec<_> = meant.map(|(key, _)| key).collect();
        let mut taken: Vec<_> = keys.into_iter().filter_map(|key| self.remove(key)).collect();
        taken.sort_by_key(|entry| entry.made);
        taken
    }

    fn remove(&mut self, key: JobKey) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        if let Some(due) = entry.due {
            self.schedule.remove(due, entry.made);
        }
        Some(entry)
    }
}

impl Entry {
    /// Checks if the object of the job is destroyed or has lost its plugin part. A job that was requested while the object had no part
    /// continues after the part is built.
    fn is_over(&self, objects: &Objects) -> bool {
        self.owner.is_some_and(|(object, requested)| {
            objects.conjugate(object).is_none_or(|conjugate| requested != 0 && conjugate != requested)
        })
    }

    fn info(&self) -> JobInfo {
        let tag = self.gate.tag();
        JobInfo {
            module: tag.name.to_string(),
            generation: tag.generation.0,
            kind: self.kind,
            place: self.place.to_string(),
            object: self.owner.map(|(object, _)| object),
            due: self.due,
        }
    }
}
