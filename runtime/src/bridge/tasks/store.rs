//! The entries behind [`super::Tasks`], and what may happen to each: waiting, running, cancelled while it ran. Nothing
//! here runs code of a module: what has to be dropped there is handed out.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use alcedo_abi::task::JobId;
use slotmap::{Key, KeyData, SlotMap, new_key_type};

use super::code::Code;
use super::inbox::{HostJob, Posted, Timing};
use super::schedule::{Schedule, next_due};
use super::waking::Waking;
use super::{JobInfo, what};
use crate::border::CallError;
use crate::conjugate::gate::Gate;
use crate::handles::{ModuleId, ObjectHandle};
use crate::lease::{Lease, LeaseKind};
use crate::object::World;
use crate::object::objects::Objects;

new_key_type! {
    /// A job. Stale once it ended; never another one.
    pub(super) struct JobKey;
}

/// The number of a job as it crosses the border.
pub(super) fn id_of(key: JobKey) -> JobId {
    JobId(key.data().as_ffi())
}

/// Back from the number. One that was never given out is the key of nothing.
pub(super) fn key_of(job: JobId) -> JobKey {
    KeyData::from_ffi(job.0).into()
}

/// What a job lives with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JobOwner {
    /// Its module.
    Module,
    /// An object, as long as it has the very plugin part that it had when the job was asked for.
    Object(ObjectHandle, u64),
}

impl JobOwner {
    /// The life of this object; of the module for none.
    ///
    /// # Errors
    /// When the object is gone.
    pub(super) fn of(objects: &Objects, object: ObjectHandle) -> Result<Self, CallError> {
        if object.is_none() {
            return Ok(Self::Module);
        }
        let conjugate = objects.conjugate(object).ok_or(CallError::Stale { handle: object })?;
        Ok(Self::Object(object, conjugate))
    }

    fn is_over(self, objects: &Objects) -> bool {
        match self {
            Self::Module => false,
            Self::Object(object, conjugate) => objects.conjugate(object) != Some(conjugate),
        }
    }
}

/// Where a job is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It is not on the stack.
    Waiting,
    /// It is.
    Running,
    /// It is, and ends when it returns.
    Cancelled,
}

/// One job.
pub(super) struct Entry {
    pub gate: Rc<Gate>,
    pub kind: LeaseKind,
    pub what: Rc<str>,
    pub place: Arc<str>,
    pub life: JobOwner,
    pub code: Code,
    /// The how-manieth job it is.
    pub made: u64,
    /// For a timer, when it is due.
    pub due: Option<Duration>,
    /// For a timer that repeats, how often.
    pub repeats: Option<Duration>,
    /// For a task, its wakers; they keep its lease.
    pub waking: Option<Arc<Waking>>,
    pub state: State,
    /// Whether it waits for a commit.
    pub timing: Timing,
    /// The tick it had its turn in.
    pub ran_in: u64,
    /// For all but a task.
    pub _lease: Option<Lease>,
}

/// What waits for a safe point.
pub(super) enum Waiting {
    /// A closure of a module.
    Module(JobKey),
    /// A closure of the host's.
    Host(HostJob),
}

/// What is needed to run a job while the store is not borrowed.
pub(super) struct Turn {
    pub code: Code,
    pub gate: Rc<Gate>,
    pub what: Rc<str>,
    pub waking: Option<Arc<Waking>>,
}

/// Whether a job may run.
pub(super) enum Begin {
    Run(Turn),
    /// It ended meanwhile.
    Gone,
    /// It had its turn in this tick, is on the stack, or its generation is set aside or not committed.
    NotNow,
    /// Its object is gone.
    Expired(Box<Entry>),
}

/// All jobs of a host.
pub(super) struct Store {
    pub entries: SlotMap<JobKey, Entry>,
    pub schedule: Schedule<JobKey>,
    /// Tasks that were woken, in that order.
    pub ready: VecDeque<JobKey>,
    pub posted: VecDeque<Waiting>,
    pub tick: u64,
    /// Whether timers and tasks are being run.
    pub is_running: bool,
    made: u64,
    deaths_seen: u64,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            entries: SlotMap::with_key(),
            schedule: Schedule::new(),
            ready: VecDeque::new(),
            posted: VecDeque::new(),
            tick: 0,
            is_running: false,
            made: 0,
            deaths_seen: 0,
        }
    }
}

impl Store {
    /// The number of the next job.
    pub(super) fn next_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    /// A closure that another thread has sent. One whose object is gone ends when its turn comes.
    pub(super) fn take_post(&mut self, gate: Rc<Gate>, posted: Posted, world: &World) {
        let Posted { object, place, code, timing, lease, .. } = posted;
        // The conjugate is that of now: it was not looked up when the closure was sent, on whatever thread that was.
        let life = JobOwner::of(&world.objects, object).unwrap_or(JobOwner::Object(object, 0));
        let made = self.next_number();
        // A rollback reads the inbox, so what comes later comes after the commit.
        let timing = if world.mode.is_before_commit() { timing } else { Timing::Certain };
        let entry = Entry {
            what: what(LeaseKind::Posted, gate.tag(), &place),
            gate,
            kind: LeaseKind::Posted,
            place,
            life,
            code,
            made,
            due: None,
            repeats: None,
            waking: None,
            state: State::Waiting,
            timing,
            ran_in: 0,
            _lease: Some(lease),
        };
        let key = self.entries.insert(entry);
        self.posted.push_back(Waiting::Module(key));
    }

    /// A task is to be run again.
    pub(super) fn wake(&mut self, key: JobKey) {
        if self.entries.get(key).is_some_and(|entry| entry.kind == LeaseKind::Task) {
            self.ready.push_back(key);
        }
    }

    /// Whether a timer is due: it may have been cancelled, or put off, by one before it.
    pub(super) fn is_due(&self, key: JobKey) -> bool {
        let due = self.entries.get(key).and_then(|entry| entry.due);
        due.is_some_and(|due| due <= self.schedule.now())
    }

    /// The entry, if it can be dropped now; one that runs is dropped when it has returned.
    pub(super) fn cancel(&mut self, key: JobKey) -> Option<Entry> {
        let entry = self.entries.get_mut(key)?;
        if entry.state == State::Waiting {
            return self.remove(key);
        }
        entry.state = State::Cancelled;
        None
    }

    /// Marks it as running.
    pub(super) fn begin(&mut self, key: JobKey, world: &World) -> Begin {
        let tick = self.tick;
        let Some(entry) = self.entries.get_mut(key) else { return Begin::Gone };
        let is_new = entry.timing == Timing::Staged || world.mode.is_coming_up(entry.gate.tag().id);
        if entry.state != State::Waiting || is_new || !entry.gate.is_open() {
            return Begin::NotNow;
        }
        if entry.life.is_over(&world.objects) {
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

    /// It has returned. The entry, if that was its last turn.
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

    /// Every job whose object is gone, the first made first. They are looked for only after something died.
    pub(super) fn take_expired(&mut self, world: &World) -> Vec<Entry> {
        let deaths = world.counters.deaths.get();
        if std::mem::replace(&mut self.deaths_seen, deaths) == deaths {
            return Vec::new();
        }
        // Those of a generation that is set aside are judged when it is back: until then its objects have other plugin parts.
        self.take(|entry| entry.gate.is_open() && entry.life.is_over(&world.objects))
    }

    /// What waited for a commit waits no more.
    pub(super) fn commit(&mut self) {
        self.entries.values_mut().for_each(|entry| entry.timing = Timing::Certain);
    }

    /// Every job that waits for a commit, the first made first.
    pub(super) fn take_staged(&mut self) -> Vec<Entry> {
        self.take(|entry| entry.timing == Timing::Staged)
    }

    /// Every job of a module, the first made first.
    pub(super) fn take_module(&mut self, module: ModuleId) -> Vec<Entry> {
        self.take(|entry| entry.gate.tag().id == module)
    }

    /// What waits, in the order it was made.
    pub(super) fn infos(&self) -> Vec<JobInfo> {
        let mut entries: Vec<_> = self.entries.values().collect();
        entries.sort_by_key(|entry| entry.made);
        entries.into_iter().map(Entry::info).collect()
    }

    fn take(&mut self, is_meant: impl Fn(&Entry) -> bool) -> Vec<Entry> {
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
    fn info(&self) -> JobInfo {
        let tag = self.gate.tag();
        JobInfo {
            module: tag.name.to_string(),
            generation: tag.generation.0,
            kind: self.kind,
            place: self.place.to_string(),
            object: match self.life {
                JobOwner::Module => None,
                JobOwner::Object(object, _) => Some(object),
            },
            due: self.due,
        }
    }
}
