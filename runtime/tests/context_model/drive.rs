//! Executes the steps of a program on real contexts and returns their outcomes. The caller compares these outcomes with those of the model.

use std::fs::File;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use alcedo_runtime::{
    Blocker, BlockerReport, ContextError, ContextFunction, ContextId, ContextInfo, ContextKind, ContextScope,
    ContextState, Contexts, FoundModule, FunctionPointer, LeaseKind, LoadContext, LoadError, ModuleRequest,
    ModuleSummary, ResolverFailure, Scoped, UnloadTicket, Value, VersionReq,
};

use crate::libraries::Libraries;
use crate::model::Model;
use crate::outcome::{Id, Listed, Named, Outcome, Refusal, UnloadOutcome, is_possible};
use crate::program::{Answer, How, LETTERS, Lib, Module, Op};

/// State that all threads of a program share. A resolver holds a weak reference to this state, because a strong reference would form a
/// cycle.
pub(crate) struct Shared {
    pub(crate) contexts: Contexts,
    pub(crate) libraries: Arc<Libraries>,
    /// Longest wait for an event that must occur.
    pub(crate) patience: Duration,
    /// All tickets issued so far. The report about a hang lists the holders of these tickets.
    tickets: Mutex<Vec<UnloadTicket>>,
    /// Folder for the files of running calls. A call returns as soon as its file exists.
    pub(crate) folder: PathBuf,
}

impl Shared {
    pub(crate) fn new(
        contexts: Contexts,
        libraries: &Arc<Libraries>,
        patience: Duration,
        folder: PathBuf,
    ) -> Arc<Self> {
        Arc::new(Self { contexts, libraries: Arc::clone(libraries), patience, tickets: Mutex::default(), folder })
    }

    pub(crate) fn listed(&self) -> Vec<Listed> {
        let lib = |module: &ModuleSummary| self.libraries.lib(module.build_id);
        let all = self.contexts.all().into_iter().map(|info| Listed {
            id: id(info.id),
            name: info.name,
            is_alive: info.state == ContextState::Alive,
            is_parked: info.state == ContextState::Parked,
            modules: info.modules.iter().map(lib).collect(),
        });
        all.collect()
    }

    /// Checks that the report of each living or parked context has the state that the host lists. A living context must not have a ticket.
    ///
    /// # Errors
    /// Returns a description of the difference.
    fn expect_reports(&self) -> Result<(), String> {
        let is_listed = |info: &ContextInfo| matches!(info.state, ContextState::Alive | ContextState::Parked);
        for info in self.contexts.all().iter().filter(|info| is_listed(info)) {
            let reported = self.contexts.report(info.id).map(|report| report.state);
            let ticket = self.contexts.unload_of(info.id).map(|ticket| ticket.state());
            let expected = (info.state == ContextState::Parked).then_some(info.state);
            let is_named = self.contexts.unloads_of(&info.name).len() >= expected.iter().len();
            if reported != Some(info.state) || ticket != expected || !is_named {
                return Err(format!("{info} is reported as {reported:?}, but its ticket reports {ticket:?}"));
            }
        }
        Ok(())
    }

    /// Describes all holders, for the report about a hang.
    pub(crate) fn holders(&self) -> String {
        let mut lines = String::new();
        for info in self.contexts.all() {
            lines.push_str(&format!("{info}\n"));
        }
        for name in LETTERS {
            if let Some(context) = self.contexts.slim(name) {
                context.held_by().iter().for_each(|by| lines.push_str(&format!("  {name} is held by {by}\n")));
                std::mem::forget(context);
            }
        }
        let tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for ticket in tickets.iter().filter(|ticket| ticket.state() != ContextState::Dead) {
            lines.push_str(&format!("{}\n", ticket.report()));
        }
        lines
    }

    fn keep(&self, ticket: &UnloadTicket) {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner).push(ticket.clone());
    }
}

fn id(id: ContextId) -> Id {
    (id.index, id.generation)
}

/// Handle to a context. `has_left` becomes true when the context is observed in any state except alive.
struct Handle {
    name: usize,
    context: LoadContext,
    has_left: bool,
}

/// Call that runs on its own thread. The call returns as soon as `file` exists.
struct Running {
    file: PathBuf,
    thread: Option<JoinHandle<Result<Option<Value>, ContextError>>>,
}

impl Running {
    fn end(&mut self) -> Option<Result<Option<Value>, ContextError>> {
        std::fs::write(&self.file, "").expect("the folder is there");
        let thread = self.thread.take()?;
        Some(thread.join().expect("a call does not panic here"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _answer = self.end();
    }
}

type Seen = Arc<Mutex<Option<Id>>>;
type TaskFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

enum Held {
    Scope {
        _scope: ContextScope,
    },
    Task {
        task: Box<Scoped<TaskFuture>>,
        seen: Seen,
    },
    /// Function pointer and the answer of its first call. Later calls must return an equal answer.
    Pointer {
        pointer: FunctionPointer,
        tag: Option<u64>,
    },
    Call(Running),
}

pub(crate) struct Worker<'a> {
    shared: &'a Arc<Shared>,
    number: usize,
    is_race: bool,
    handles: Vec<Handle>,
    functions: Vec<ContextFunction>,
    held: Vec<Held>,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(shared: &'a Arc<Shared>, number: usize, is_race: bool) -> Self {
        Self { shared, number, is_race, handles: Vec::new(), functions: Vec::new(), held: Vec::new() }
    }

    /// Executes a step while no other thread executes a step.
    ///
    /// # Errors
    /// Returns a description of the difference from the model.
    pub(crate) fn step(&mut self, model: &mut Model, op: Op) -> Result<(), String> {
        for needed in self.to_get_a_handle(op) {
            if op.name().is_some_and(|name| !model.has_handle(self.number, name)) {
                let outcome = self.act(needed)?;
                model.check(self.number, needed, &outcome)?;
            }
        }
        if op.name().is_some_and(|name| !model.has_handle(self.number, name)) || model.is_left_out(self.number, op) {
            return Ok(());
        }
        let outcome = self.act(op)?;
        model.check(self.number, op, &outcome)?;
        if let Op::Wait(name) = op {
            self.wait(name, &model.unload_outcomes(self.number, name))?;
        }
        self.shared.expect_reports()?;
        let listed = self.shared.listed();
        if let Op::Park(name) = op {
            model.was_parked(self.number, name, &listed)?;
        }
        model.compare(&listed)
    }

    /// Executes a step while other threads also execute steps.
    ///
    /// # Errors
    /// Returns a description of an outcome that no step of another thread can explain.
    pub(crate) fn race(&mut self, op: Op) -> Result<(), String> {
        for needed in self.to_get_a_handle(op) {
            if op.name().is_some_and(|name| self.handle_index(name).is_none()) {
                self.act(needed)?;
            }
        }
        if op.name().is_some_and(|name| self.handle_index(name).is_none()) {
            return Ok(());
        }
        let outcome = self.act(op)?;
        if !is_possible(op, &outcome) {
            return Err(format!("{op:?} of thread {} came to {outcome:?}", self.number));
        }
        let listed = self.shared.listed();
        for name in LETTERS {
            let living: Vec<_> = listed.iter().filter(|listed| listed.is_alive && listed.name == name).collect();
            if living.iter().any(|other| other.id.0 != living[0].id.0) {
                return Err(format!("two contexts live under one name: {living:?}"));
            }
        }
        for handle in &mut self.handles {
            let is_alive = handle.context.state() == ContextState::Alive;
            if is_alive && handle.has_left {
                return Err(format!("{} is alive again", handle.context));
            }
            handle.has_left |= !is_alive;
        }
        Ok(())
    }

    /// Releases all holders of this thread.
    ///
    /// # Errors
    /// Returns a description of a call that did not complete.
    pub(crate) fn release(&mut self) -> Result<(), String> {
        while !self.held.is_empty() {
            self.act(Op::Release(0))?;
        }
        Ok(())
    }

    fn to_get_a_handle(&self, op: Op) -> Vec<Op> {
        op.name().map(|name| vec![Op::Find(name), Op::Create(name)]).unwrap_or_default()
    }

    fn handle_index(&self, name: usize) -> Option<usize> {
        self.handles.iter().rposition(|handle| handle.name == name)
    }

    fn context(&self, name: usize) -> &LoadContext {
        &self.handles[self.handle_index(name).expect("a step is taken with a handle")].context
    }

    fn act(&mut self, op: Op) -> Result<Outcome, String> {
        let done = match op {
            Op::Create(name) => self.shared.contexts.create_slim(LETTERS[name]).map(|context| self.take(name, context)),
            Op::Find(name) => Ok(match self.shared.contexts.slim(LETTERS[name]) {
                Some(context) => self.take(name, context),
                None => Outcome::Missing,
            }),
            Op::Drop(name) => {
                let handle_index = self.handle_index(name).expect("a step is taken with a handle");
                drop(self.handles.remove(handle_index));
                Ok(Outcome::Done)
            }
            Op::Load(name, lib, how) => self.load(name, lib, how).map(|module| self.loaded(&module)),
            Op::LoadName(name, module) => {
                let loaded = self.context(name).load_name(name_of(module), &VersionReq::STAR);
                loaded.map(|module| self.loaded(&module))
            }
            Op::LoadDefault(lib) => {
                let default = self.shared.contexts.default_context();
                default.load_path(self.shared.libraries.path(lib)).map(|module| self.loaded(&module))
            }
            Op::SetResolver(name, answer) => {
                self.context(name).set_resolver(self.resolver(answer));
                Ok(Outcome::Done)
            }
            Op::AddHandler(name, answer) => {
                self.context(name).on_resolving(self.resolver(answer));
                Ok(Outcome::Done)
            }
            Op::Function(name, module) => {
                self.context(name).function(type_of(module), "build_tag", "-> u64").map(|function| {
                    self.functions.push(function);
                    Outcome::Done
                })
            }
            Op::Call(at) => match self.functions.len() {
                0 => Ok(Outcome::Skipped),
                count => self.functions[at % count].call(&[]).map(number),
            },
            Op::Pointer(name, module) => {
                let pointer = self.context(name).get_function_pointer(type_of(module), "build_tag", "-> u64");
                pointer.map(|pointer| self.hold(Held::Pointer { pointer, tag: None }))
            }
            Op::Enter(name) => self.context(name).enter().map(|scope| self.hold(Held::Scope { _scope: scope })),
            Op::Task(name) => {
                let seen = Seen::default();
                let reported = Arc::clone(&seen);
                let task_future: TaskFuture = Box::pin(std::future::poll_fn(move |_context| {
                    *reported.lock().expect("not poisoned") = Contexts::current().map(|info| id(info.id));
                    Poll::Pending
                }));
                let task = self.context(name).scope(task_future);
                task.map(|task| self.hold(Held::Task { task: Box::new(task), seen }))
            }
            Op::BeginCall(name) => self.begin_call(name),
            Op::Use(at) => return self.make_use(at),
            Op::Release(at) => return self.release_one(at),
            Op::Unload(name) => self.context(name).begin_unload().map(|ticket| {
                self.shared.keep(&ticket);
                Outcome::Done
            }),
            Op::Replace(name, lib) => self.context(name).replace(self.shared.libraries.path(lib)).map(|ticket| {
                self.shared.keep(&ticket);
                Outcome::Done
            }),
            Op::Park(name) => {
                self.context(name).park();
                Ok(Outcome::Done)
            }
            Op::Poll(name) | Op::Wait(name) => {
                for ticket in self.context(name).unloads() {
                    let before = ticket.state();
                    let after = ticket.poll();
                    let is_over = matches!(before, ContextState::Dead | ContextState::Parked);
                    if after == ContextState::Alive || is_over && before != after {
                        return Err(format!("{} went from {before} to {after}", ticket.subject()));
                    }
                }
                Ok(Outcome::Done)
            }
        };
        done.or_else(refused)
    }

    fn take(&mut self, name: usize, context: LoadContext) -> Outcome {
        // If another thread has unloaded the context, the context has no id.
        let index = context.id().map_or(0, |id| id.index);
        self.handles.push(Handle { name, context, has_left: false });
        Outcome::Handle(index)
    }

    fn load(&self, name: usize, lib: Lib, how: How) -> Result<ModuleSummary, ContextError> {
        match how {
            How::Path => self.context(name).load_path(self.shared.libraries.path(lib)),
            How::Reader => {
                let file = File::open(self.shared.libraries.path(lib)).expect("it was built");
                self.context(name).load_reader(&format!("{lib:?}"), file, None)
            }
            How::Bytes => self.context(name).load_bytes(&format!("{lib:?}"), &self.shared.libraries.bytes(lib), None),
        }
    }

    fn loaded(&self, module: &ModuleSummary) -> Outcome {
        Outcome::Loaded { owner: id(module.context), lib: self.shared.libraries.lib(module.build_id) }
    }

    fn hold(&mut self, held: Held) -> Outcome {
        self.held.push(held);
        Outcome::Done
    }

    fn begin_call(&mut self, name: usize) -> Result<Outcome, ContextError> {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let wait = self.context(name).function("Report", "wait_for", "String -> bool")?;
        let call = format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        let file = self.shared.folder.join(&call);
        let path = Value::Text(file.to_string_lossy().into_owned());
        let caller = thread::Builder::new().name(call.clone()).spawn(move || wait.call(&[path]));
        let thread = caller.expect("a thread can be started");
        if !self.is_race {
            // The report of a context names a thread as `"name" (number)`. Any context may hold the called module, so any report may list
            // the call.
            let call = format!("{call:?} (");
            let contexts = &self.shared.contexts;
            let has_call = |report: BlockerReport| report.blockers.iter().any(|by| by.thread.starts_with(&call));
            let keeps = |info: &ContextInfo| contexts.report(info.id).is_some_and(has_call);
            let is_inside = || contexts.all().iter().any(keeps);
            let until = Instant::now() + self.shared.patience;
            while !is_inside() {
                assert!(!thread.is_finished() && Instant::now() < until, "a call that begins is reported");
                thread::sleep(Duration::from_micros(200));
            }
        }
        Ok(self.hold(Held::Call(Running { file, thread: Some(thread) })))
    }

    fn make_use(&mut self, at: usize) -> Result<Outcome, String> {
        let count = self.held.len();
        if count == 0 {
            return Ok(Outcome::Skipped);
        }
        match &mut self.held[at % count] {
            Held::Scope { .. } => Ok(Outcome::Here(Contexts::current().map(|info| id(info.id)))),
            Held::Task { task, seen } => {
                let _pending = Pin::new(&mut **task).poll(&mut Context::from_waker(Waker::noop()));
                let seen = *seen.lock().expect("not poisoned");
                seen.is_some().then_some(Outcome::Here(seen)).ok_or_else(|| "a task was nowhere".to_owned())
            }
            Held::Pointer { pointer, tag } => {
                let answer =
                    pointer.call(&[]).map_err(|error| format!("what a lease keeps does not answer: {error}"))?;
                let Outcome::Number(answer) = number(answer) else { unreachable!("it is a number") };
                match *tag.get_or_insert(answer) {
                    before if before == answer => Ok(Outcome::Number(answer)),
                    before => Err(format!("an address answered {before}, and then {answer}")),
                }
            }
            Held::Call(_) => Ok(Outcome::Done),
        }
    }

    fn release_one(&mut self, at: usize) -> Result<Outcome, String> {
        let count = self.held.len();
        if count == 0 {
            return Ok(Outcome::Skipped);
        }
        let Held::Call(mut running) = self.held.remove(at % count) else { return Ok(Outcome::Done) };
        match running.end() {
            Some(Ok(Some(Value::Bool(true)))) => Ok(Outcome::Done),
            Some(Err(error)) if self.is_race => refused(error),
            other => Err(format!("a call that had begun came to {other:?}")),
        }
    }

    /// Waits until the unloading generations of the context have the outcomes that the model predicts.
    fn wait(&self, name: usize, unload_outcomes: &[(u64, UnloadOutcome)]) -> Result<(), String> {
        let context = self.context(name);
        for (generation, expected) in unload_outcomes {
            let subject = context.unloads().into_iter().find(|ticket| is_of(ticket, *generation, unload_outcomes));
            match (expected, subject) {
                (UnloadOutcome::Ends, None) | (UnloadOutcome::Open, _) => {}
                (UnloadOutcome::Ends, Some(ticket)) => {
                    ticket
                        .wait(self.shared.patience)
                        .map(drop)
                        .map_err(|report| format!("it does not end: {report}"))?;
                }
                (UnloadOutcome::Held(_), None) => {
                    return Err(format!("generation {generation} of {context} is held and gone"));
                }
                (UnloadOutcome::Held(named), Some(ticket)) => self.expect_held(&ticket, named)?,
            }
        }
        Ok(())
    }

    fn expect_held(&self, ticket: &UnloadTicket, named: &Named) -> Result<(), String> {
        let until = Instant::now() + self.shared.patience;
        loop {
            match ticket.wait(Duration::ZERO) {
                Ok(end) => return Err(format!("it is held by {named:?} but has ended: {end}")),
                Err(report) if names(&report, named) => return Ok(()),
                Err(report) if Instant::now() >= until => {
                    return Err(format!("it is held by {named:?}, but its report is: {report}"));
                }
                Err(_report) => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn resolver(
        &self,
        answer: Answer,
    ) -> impl Fn(&ModuleRequest) -> Result<Option<FoundModule>, ResolverFailure> + Send + Sync + 'static {
        let shared = Arc::downgrade(self.shared);
        let kept = match answer {
            Answer::OfferKept(lender) => modules_of(self.shared, lender),
            _ => Vec::new(),
        };
        move |request| resolve(&shared, answer, &kept, request)
    }
}

fn resolve(
    shared: &Weak<Shared>,
    answer: Answer,
    kept: &[ModuleSummary],
    request: &ModuleRequest,
) -> Result<Option<FoundModule>, ResolverFailure> {
    let Some(shared) = shared.upgrade() else { return Ok(None) };
    let module = if request.name == "reports" { Module::Reports } else { Module::Figures };
    let loaded = |modules: &[ModuleSummary]| {
        modules.iter().find(|known| known.name == request.name).cloned().map(FoundModule::Loaded)
    };
    match answer {
        Answer::Nothing => Ok(None),
        Answer::File(build) => Ok(Some(FoundModule::File(shared.libraries.path(Lib::of(module, build))))),
        Answer::WrongName => {
            let other = if module == Module::Reports { Lib::Figures1 } else { Lib::Reports1 };
            Ok(Some(FoundModule::File(shared.libraries.path(other))))
        }
        Answer::Fails => Err("fails on purpose".into()),
        Answer::Panics => panic!("panics on purpose"),
        Answer::Offer(lender) => Ok(loaded(&modules_of(&shared, lender))),
        Answer::OfferKept(_) => Ok(loaded(kept)),
        Answer::LoadFrom(other) => match shared.contexts.slim(LETTERS[other]) {
            Some(context) => Ok(Some(FoundModule::Loaded(context.load_name(&request.name, &request.range)?))),
            None => Ok(None),
        },
    }
}

fn modules_of(shared: &Shared, name: usize) -> Vec<ModuleSummary> {
    shared.contexts.slim(LETTERS[name]).map(|context| context.modules()).unwrap_or_default()
}

/// Returns true if the ticket belongs to this generation. The ticket of a replaced generation names that generation. The ticket of an
/// unloaded context belongs to the last generation of the context.
fn is_of(ticket: &UnloadTicket, generation: u64, unload_outcomes: &[(u64, UnloadOutcome)]) -> bool {
    let is_last = unload_outcomes.iter().all(|(other, _)| *other <= generation);
    match ticket.subject().split_once(" generation ") {
        Some((_, number)) => number == generation.to_string(),
        None => is_last,
    }
}

fn names(report: &BlockerReport, named: &Named) -> bool {
    let count = |kind: LeaseKind| report.blockers.iter().filter(|by| by.kind == kind).count();
    let depends = |by: &&Blocker, title: &str| by.kind == LeaseKind::Dependent && by.owner.contains(title);
    count(LeaseKind::Scope) >= named.scopes
        && count(LeaseKind::Borrow) >= named.borrows
        && count(LeaseKind::Call) >= named.calls
        && named.dependents.iter().all(|title| report.blockers.iter().any(|by| depends(&by, title)))
}

fn name_of(module: Module) -> &'static str {
    match module {
        Module::Reports => "reports",
        Module::Figures => "figures",
    }
}

fn type_of(module: Module) -> &'static str {
    match module {
        Module::Reports => "Report",
        Module::Figures => "Sum",
    }
}

fn number(answer: Option<Value>) -> Outcome {
    match answer {
        Some(Value::U64(number)) => Outcome::Number(number),
        other => panic!("{other:?} is not a number"),
    }
}

fn refused(error: ContextError) -> Result<Outcome, String> {
    Ok(Outcome::Refused(match error {
        ContextError::Name { .. } => Refusal::Name,
        ContextError::ContextUnloading { .. } => Refusal::Unloading,
        ContextError::NotFound { .. } => Refusal::NotFound,
        ContextError::ModuleNameOccupied { .. } => Refusal::Occupied,
        ContextError::ResolverWrongName { .. } => Refusal::WrongName,
        ContextError::ResolverError { .. } => Refusal::Resolver,
        ContextError::ForeignModule { .. } => Refusal::Foreign,
        ContextError::PinnedDependsOnCollectible { .. } => Refusal::Pinned,
        ContextError::NoSuchFunction { .. } => Refusal::NoFunction,
        ContextError::LoadCycle { .. } => Refusal::Cycle,
        ContextError::Load(LoadError::Order(_)) => Refusal::Order,
        ContextError::Load(LoadError::Main { .. }) => Refusal::Main,
        other => return Err(format!("an error that no step should come to: {other}")),
    }))
}

/// Checks if the host lists only the Default context and parked contexts.
pub(crate) fn is_quiet(shared: &Shared) -> bool {
    let is_over = |kind, state| kind == ContextKind::Default || state == ContextState::Parked;
    shared.contexts.all().iter().all(|info| is_over(info.kind, info.state))
}
