//! Tasks, timers and posted closures of modules: *jobs* that run later on the game thread. A job belongs to the generation of its module.
//! The job is suspended and resumed together with this generation, and dropped when this generation ends. A job of an old generation
//! therefore never runs in a new generation.
//!
//! A tick first runs due timers, ordered by due time, and then runs each woken task once, in the order of waking. The safe point runs
//! posted closures, in the order of posting. Jobs requested during a tick wait for the next tick. Each job runs in a separate red frame. No
//! reload or unload happens while a job runs.

mod code;
mod inbox;
mod info;
mod schedule;
mod store;
pub(crate) mod waking;

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alcedo_abi::task::{Job, JobId, JobKind};
use alcedo_base::repeats::{Repeats, times};
use crossbeam_channel::{Receiver, Select};

use crate::boundary::{CallError, catch_panics};
use crate::cells::{Counted, RefCell};
use crate::conjugate::gate::{Gate, ModuleTag};
use crate::conjugate::red::RedStack;
use crate::deadline;
use crate::handles::ModuleId;
use crate::lease::{LeaseKind, Leases};
use crate::logs;
use crate::object::World;
use crate::unheard;

use inbox::Message;
use store::{Begin, Entry, JobKey, State, Store, Turn, Waiting};
use waking::Waking;

pub(crate) use code::Code;
pub(crate) use inbox::{HostJob, Inbox};
pub use info::{JobCount, JobInfo};

/// Maximum depth of nested calls of [`Tasks::pump_posted`].
const MOST_PUMPS: u32 = 8;

/// Store of all jobs. Game thread only, except for [`Tasks::inbox`].
pub(crate) struct Tasks {
    /// Any thread may use the inbox.
    pub(crate) inbox: Arc<Inbox>,
    messages: Receiver<Message>,
    store: RefCell<Store>,
    gates: RefCell<BTreeMap<ModuleId, Rc<Gate>>>,
    /// Current depth of nested calls of [`Tasks::pump_posted`].
    pumps: Cell<u32>,
    /// Number of guards that [`Tasks::hold_posted`] has returned.
    holds: Cell<u32>,
    /// Set while posted closures run in a wait of an exclusive operation. These closures may create objects.
    pub(crate) runs_in_wait: Cell<bool>,
    /// Counts repeated failures in the log.
    failures: Repeats,
    /// Runs a closure that the host has posted. Set by `Runtime`.
    pub(crate) run_for_host: OnceCell<Box<dyn Fn(HostJob)>>,
}

impl Default for Tasks {
    fn default() -> Self {
        let (inbox, messages) = Inbox::new();
        Self {
            inbox,
            messages,
            store: RefCell::default(),
            gates: RefCell::default(),
            pumps: Cell::default(),
            holds: Cell::default(),
            runs_in_wait: Cell::default(),
            failures: Repeats::new(),
            run_for_host: OnceCell::default(),
        }
    }
}

impl Tasks {
    pub(crate) fn admit(&self, gate: &Rc<Gate>, leases: Arc<Leases>) {
        let module = gate.tag().id;
        self.gates.borrow_mut().insert(module, Rc::clone(gate));
        self.inbox.admit(module, leases);
    }

    /// Returns the game time since the creation of the host.
    pub(crate) fn now(&self) -> Duration {
        self.store.borrow().schedule.now()
    }

    /// Adds a task or a timer. After success, the host owns `code`. Returns an error if the module has ended or is unloading, or if the
    /// object is destroyed.
    pub(crate) fn take(
        &self,
        (world, red): (&World, &RedStack),
        module: ModuleId,
        job: &Job<'_>,
        code: Code,
    ) -> Result<JobId, CallError> {
        let kind = match job.kind {
            JobKind::TASK => LeaseKind::Task,
            JobKind::AFTER | JobKind::EVERY => LeaseKind::Timer,
            other => return Err(CallError::other(format!("a job of the unknown kind {}", other.0))),
        };
        let place = location_text(job);
        let owner = store::owner_of(&world.objects, job.object, module)?;
        let lease = self.inbox.lease(module, kind, &place)?;
        let gate = self.gate(module)?;
        if world.objects.is_template(job.object) {
            // Class default objects run no jobs. A red constructor that schedules jobs for instances also runs for the class default
            // object.
            let what = what(kind, gate.tag(), &place);
            if !red.hot().stack().is_here() {
                return Err(CallError::WrongStack { action: format!("dropping a {what}") });
            }
            if let Err(error) = code.end(red, &gate, &what) {
                DropFailed { gate, what, error }.log();
            }
            return Ok(JobId::NONE);
        }
        let mut store = self.store.borrow_mut();
        let (now, made) = (store.schedule.now(), store.next_number());
        let (delay, period) = (Duration::from_nanos(job.delay), Duration::from_nanos(job.period));
        let sender = self.inbox.sender();
        let key = store.entries.insert_with_key(|key| {
            let (waking, lease) = match kind {
                LeaseKind::Task => (Some(Waking::new(store::id_of(key), sender, lease)), None),
                _ => (None, Some(lease)),
            };
            Entry {
                what: what(kind, gate.tag(), &place),
                gate,
                kind,
                repeats: (job.kind == JobKind::EVERY).then_some(period),
                due: (kind == LeaseKind::Timer).then(|| now.saturating_add(delay)),
                place,
                owner,
                code,
                made,
                waking,
                state: State::Waiting,
                // Applies to all modules, because code of modules that the reload keeps may also run before the commit. Such code runs for
                // plugin parts of derived classes.
                is_staged: world.mode.is_before_commit(),
                ran_in: 0,
                _lease: lease,
            }
        });
        match store.entries[key].due {
            Some(due) => store.schedule.put(due, made, key),
            None => store.ready.push_back(key),
        }
        // During a tick, a new job is scheduled for the next tick. Otherwise a tick might never return.
        if store.is_running {
            store.entries[key].ran_in = store.tick;
        }
        Ok(store::id_of(key))
    }

    /// Cancels a job. A running job ends when its code returns. A waiting job ends immediately. Has no effect on a job that has already
    /// ended.
    pub(crate) fn cancel(&self, red: &RedStack, job: JobId) {
        let key = store::key_of(job);
        let ended = self.store.borrow_mut().cancel(key);
        end_all(red, ended);
    }

    /// Returns `true` if the job exists and was not cancelled.
    pub(crate) fn lives(&self, job: JobId) -> bool {
        let store = self.store.borrow();
        store.entries.get(store::key_of(job)).is_some_and(|entry| entry.state != State::Cancelled)
    }

    /// Blocks until a job is ready, another thread sends a message, or `timeout` expires. Returns `true` if a job is ready or a message was
    /// received. During the wait, drops thread-locals of unloading modules on this thread.
    pub(crate) fn wait(&self, timeout: Duration) -> bool {
        let store = self.store.borrow();
        if !store.ready.is_empty() || !store.posted.is_empty() || !store.unreceived.is_empty() {
            return true;
        }
        drop(store);
        let (until, mut select) = (deadline::after(timeout), Select::new());
        select.recv(&self.messages);
        loop {
            alcedo_sys::checkpoint();
            let left = until.saturating_duration_since(Instant::now());
            let next = alcedo_sys::checkpoint_interval().map_or(left, |interval| interval.min(left));
            if select.ready_timeout(next).is_ok() {
                return true;
            }
            if next == left {
                return false;
            }
        }
    }

    pub(crate) fn advance(&self, seconds: f32) {
        self.store.borrow_mut().schedule.advance(seconds);
    }

    /// Runs the due timers and woken tasks of this tick. No code of a plugin or script may be on the stack. The caller must not be on the
    /// stack of a coroutine, where no captures of a module can be dropped.
    pub(crate) fn run(&self, world: &World, red: &RedStack) {
        self.end_expired(world, red);
        let (due, is_nested) = {
            let mut store = self.store.borrow_mut();
            store.tick += 1;
            // A log subscriber may run a tick when this function logs the failure of a job. After the nested tick, this tick continues.
            let is_nested = std::mem::replace(&mut store.is_running, true);
            (store.schedule.due(), is_nested)
        };
        for key in due {
            let is_still_due = self.store.borrow().is_due(key);
            if is_still_due {
                self.run_one(world, red, key);
            }
        }
        let mut later = Vec::new();
        loop {
            self.receive(world, red);
            let Some(key) = self.store.borrow_mut().ready.pop_front() else { break };
            if !self.run_one(world, red, key) {
                later.push(key);
            }
        }
        let mut store = self.store.borrow_mut();
        store.ready.extend(later);
        store.is_running = is_nested;
    }

    /// Runs at most `most` of the closures that were posted before this call. Returns `true` if `most` closures have run. Called at safe
    /// points, and while the game thread waits. A posted closure may call this function again, up to a depth of [`MOST_PUMPS`]. The nested
    /// call runs the closures that were posted later. Closures that must wait keep their order, and do not count. Has no effect while a
    /// guard of [`Tasks::hold_posted`] exists.
    pub(crate) fn pump_posted(&self, world: &World, red: &RedStack, most: usize) -> bool {
        if self.pumps.get() == MOST_PUMPS || self.holds.get() > 0 {
            return false;
        }
        let _pumping = Counted::in_cell(&self.pumps);
        self.receive(world, red);
        // Counts the closures before the loop. Closures that are posted during the loop run at the next safe point, because the loop might
        // otherwise never end.
        let count = self.store.borrow().posted.len();
        let (mut ran, mut waiting) = (0, Vec::new());
        for _ in 0..count {
            if ran == most {
                break;
            }
            let next = self.store.borrow_mut().posted.pop_front();
            match next {
                Some(Waiting::Module(key)) if !self.run_one(world, red, key) => {
                    waiting.push(Waiting::Module(key));
                    continue;
                }
                Some(Waiting::Module(_)) => {}
                Some(Waiting::Host(job)) => self.run_host(job),
                None => break,
            }
            ran += 1;
        }
        let posted = &mut self.store.borrow_mut().posted;
        waiting.into_iter().rev().for_each(|waiting| posted.push_front(waiting));
        ran == most
    }

    /// Keeps posted closures in the queue until the guard is dropped. A closure would otherwise run inside a reload, where the runtime
    /// rejects most operations, and where a module may be suspended or its changes may be rolled back.
    ///
    /// First receives the messages that were already sent, because a message that is received before a commit counts as a message of new
    /// code, and a rollback drops such messages.
    pub(crate) fn hold_posted(&self, world: &World, red: &RedStack) -> Counted<'_> {
        self.receive(world, red);
        Counted::in_cell(&self.holds)
    }

    /// Ends each job whose object is destroyed or has lost its plugin part.
    pub(crate) fn end_expired(&self, world: &World, red: &RedStack) {
        let expired = self.store.borrow_mut().take_expired(world);
        end_all(red, expired);
    }

    /// Ends all jobs of a module, in order of creation, and rejects new jobs of this module. Returns the number of ended jobs by kind and
    /// location.
    pub(crate) fn end_module(&self, world: &World, red: &RedStack, module: ModuleId) -> Vec<JobCount> {
        self.inbox.expel(module);
        // Threads of the module may have posted closures. First moves these closures from the inbox to the store, so that they end with the
        // module's jobs.
        self.receive(world, red);
        let ended = self.store.borrow_mut().take(|entry| entry.gate.tag().id == module);
        let counts = counted(&ended);
        end_all(red, ended);
        self.gates.borrow_mut().remove(&module);
        counts
    }

    /// Makes the jobs runnable that were requested before the commit. Runs no plugin code and cannot fail.
    pub(crate) fn commit_staged(&self) {
        self.store.borrow_mut().commit();
    }

    /// Drops jobs that were requested before the commit. Called in a rollback.
    pub(crate) fn end_staged(&self, world: &World, red: &RedStack) {
        self.receive(world, red);
        let ended = self.store.borrow_mut().take(|entry| entry.is_staged);
        end_all(red, ended);
    }

    pub(crate) fn infos(&self) -> Vec<JobInfo> {
        self.store.borrow().infos()
    }

    /// Returns the gate of a module if the module can still schedule jobs. Returns an error if the module's jobs have ended.
    pub(crate) fn gate(&self, module: ModuleId) -> Result<Rc<Gate>, CallError> {
        let gates = self.gates.borrow();
        gates.get(&module).cloned().ok_or_else(|| CallError::Unavailable { what: "the calling module".into() })
    }

    /// Receives the messages that were sent before this call. Later messages remain in the inbox, because a thread that posts continuously
    /// would otherwise block the game thread. While the objects are in a shadow, leaves closures of older modules and of the host for the
    /// next call. A closure belongs to the plugin part of its object, and a rollback restores the plugin parts.
    pub(crate) fn receive(&self, world: &World, red: &RedStack) {
        let count = {
            let unreceived = &mut self.store.borrow_mut().unreceived;
            unreceived.extend(self.messages.try_iter().take(self.messages.len()));
            unreceived.len()
        };
        for _ in 0..count {
            let next = self.store.borrow_mut().unreceived.pop_front();
            let Some(message) = next else { break };
            match message {
                Message::Wake(job) => self.store.borrow_mut().wake(store::key_of(job)),
                Message::Cancel(job) => self.cancel(red, job),
                early if is_early(&early, world) => self.store.borrow_mut().unreceived.push_back(early),
                Message::Host(job) => self.store.borrow_mut().posted.push_back(Waiting::Host(job)),
                Message::Post(posted) => {
                    // Cannot fail: the module existed when the message was sent. When a module ends, the inbox is processed before the gate
                    // is removed.
                    match self.gate(posted.module) {
                        Ok(gate) => self.store.borrow_mut().take_post(gate, posted, world),
                        Err(error) => log!(ERROR, %error, place = %posted.place, "a posted closure is lost"),
                    }
                }
            }
        }
    }

    /// Runs a job that has not ended. Returns `false` if the job must wait. A job waits if its generation is suspended, if it has run
    /// in this tick, or if the stack is nearly exhausted.
    fn run_one(&self, world: &World, red: &RedStack, key: JobKey) -> bool {
        // A job that cannot enter its module would end without having run. The job opens its frame deeper than this function, so `may_open`
        // does not suffice here.
        if red.hot().may_build(&"a job").is_err() {
            return false;
        }
        let begun = self.store.borrow_mut().begin(key, world);
        let turn = match begun {
            Begin::Run(turn) => turn,
            Begin::Gone => return true,
            Begin::NotNow => return false,
            Begin::Expired(entry) => {
                end_all(red, [*entry]);
                return true;
            }
        };
        let Turn { code, gate, what, waking } = turn;
        let outcome = code.run(red, &gate, &what, waking.as_ref());
        drop(waking);
        // Ends a timer that has failed, because its next run would probably fail again.
        let is_done = outcome.as_ref().map_or(true, |is_done| *is_done);
        let ended = self.store.borrow_mut().finish(key, is_done);
        let failed = ended.and_then(|entry| end(red, entry));
        if let Err(error) = &outcome {
            let tag = gate.tag();
            if let Some(count) = self.failures.note(tag.generation.0, &(&what, logs::location(error))) {
                let times = times(count);
                log!(ERROR, module = %tag.name, generation = %tag.generation, %error, "a {what} failed and ends{times}");
                unheard::print(&format_args!("a {what} failed and ends{times}: {error}"));
            }
        }
        if let Some(failed) = failed {
            failed.log();
        }
        true
    }

    fn run_host(&self, job: HostJob) {
        let Some(run) = self.run_for_host.get() else { return };
        let ran = catch_panics(|| {
            run(job);
            Ok(())
        });
        if let Err(error) = ran {
            log!(ERROR, %error, "a closure that the host posted failed");
            unheard::print(&format_args!("a closure that the host posted failed: {error}"));
        }
    }
}

fn is_early(message: &Message, world: &World) -> bool {
    let is_of_older_code = match message {
        Message::Post(posted) => !posted.is_staged && !world.mode.is_starting(posted.module),
        Message::Host(_) => true,
        Message::Wake(_) | Message::Cancel(_) => false,
    };
    is_of_older_code && world.objects.is_in_shadow()
}

/// Panic that occurred when the values of a job were dropped.
struct DropFailed {
    gate: Rc<Gate>,
    what: Rc<str>,
    error: CallError,
}

impl DropFailed {
    fn log(&self) {
        let (tag, error, what) = (self.gate.tag(), &self.error, &self.what);
        log!(ERROR, module = %tag.name, generation = %tag.generation, %error, "values held by a {what} failed to drop");
        unheard::print(&format_args!("values held by a {what} failed to drop: {error}"));
    }
}

/// Drops the values that a job owns, and then the job's lease. If the drop fails, returns the failure. The caller must log the failure
/// later, because a log subscriber may start a reload or an unload that waits for this lease.
#[must_use]
fn end(red: &RedStack, entry: Entry) -> Option<DropFailed> {
    let Entry { code, gate, what, .. } = &entry;
    let ended = code.end(red, gate, what);
    let (gate, what) = (Rc::clone(gate), Rc::clone(what));
    drop(entry);
    ended.err().map(|error| DropFailed { gate, what, error })
}

fn counted(entries: &[Entry]) -> Vec<JobCount> {
    let mut counts: Vec<JobCount> = Vec::new();
    for Entry { kind, gate, place, .. } in entries {
        let module = &gate.tag().name;
        let same = |known: &&mut JobCount| (known.kind, &*known.module, &*known.place) == (*kind, module, place);
        match counts.iter_mut().find(same) {
            Some(known) => known.count += 1,
            None => {
                let (module, place) = (module.to_string(), place.to_string());
                counts.push(JobCount { kind: *kind, module, place, count: 1 });
            }
        }
    }
    counts
}

/// Ends jobs in order. Logs failures after all jobs have ended.
fn end_all(red: &RedStack, entries: impl IntoIterator<Item = Entry>) {
    let failed: Vec<_> = entries.into_iter().filter_map(|entry| end(red, entry)).collect();
    failed.iter().for_each(DropFailed::log);
}

fn what(kind: LeaseKind, tag: &ModuleTag, place: &str) -> Rc<str> {
    format!("{kind} of {} from {place}", tag.name).into()
}

fn location_text(job: &Job<'_>) -> Arc<str> {
    format!("{}:{}", job.file, job.line).into()
}
