//! Where the contexts of one runtime meet that belong to no thread: the Default, every Slim, and a picture of the
//! Master for threads that may not look at it. A value that its runtime and all handles share; no static holds it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use alcedo_abi::names::{Excerpt, shows_itself};
use alcedo_sys::StageDir;

use crate::bridge::core::Core;
use crate::callback::{HostId, let_go};
use crate::handles::{Generation, ModuleId};
use crate::host_api::SharedHostContext;
use crate::lease::Blocker;
use crate::load::canary::Rehearsal;
use crate::load::context::event::{ContextEvent, ContextEventKind, Listeners, tell};
use crate::load::context::free_context::FreeContext;
use crate::load::context::free_generation::FreeGeneration;
use crate::load::context::free_module::FreeModule;
use crate::load::context::home::{Home, behind};
use crate::load::context::host_functions::HostFunctions;
use crate::load::context::info::{ContextInfo, ModuleSummary};
use crate::load::context::native_libs::RetainedNative;
use crate::load::context_id::{ContextId, ContextKind, title};
use crate::load::error::LoadError;
use crate::load::error::context::ContextError;
use crate::load::module::info::ModuleInfo;
use crate::load::stays::Told;
use crate::load::tables::HostTables;
use crate::logs::Logs;
use crate::unload::policy::UnloadPolicy;
use crate::unload::reaper::Reaper;
use crate::unload::report::BlockerReport;
use crate::unload::state::ContextState;
use crate::unload::ticket::UnloadTicket;
use crate::unload::work::UnloadWork;

/// How long an unload counts as under way before it is called blocked. The grace of the policy is another thing: that is
/// how long a game thread waits.
const PATIENCE: Duration = Duration::from_millis(50);

/// Names that no other context can have.
const RESERVED: [&str; 2] = ["Default", "Master"];

/// The most bytes of a name.
const LONGEST_NAME: usize = 255;

const NAME: &str = "a name is 1 to 255 bytes of letters that show themselves, without `:` and `/`";

/// Whether a context may have that name: it stands in calls, errors, logs and lines of a console.
fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(|c| shows_itself(c) && c != ':' && c != '/')
}

/// The contexts of one runtime. Any thread.
pub(crate) struct ContextRegistry {
    own: Weak<Self>,
    /// What modules of these contexts get as their host, but for the calls that each of them makes.
    pub(super) host_context: Arc<SharedHostContext>,
    /// Where they log.
    pub(super) logs: Arc<Logs>,
    /// Private copies of libraries.
    pub(super) stage_dir: Arc<StageDir>,
    /// Arguments of their mains.
    pub(super) args: Vec<String>,
    /// Whether unsealed libraries are refused.
    pub(super) require_seal: bool,
    /// Which process loads new modules first, also those of the Master.
    pub(crate) rehearsal: Rehearsal,
    /// The listeners to all of them.
    pub(super) listeners: Listeners,
    /// Functions of the host that their modules call.
    pub(crate) functions: HostFunctions,
    /// Tables of functions that the host offers and expects.
    pub(crate) tables: HostTables,
    /// Watches the unloads that are under way.
    pub(super) reaper: Arc<Reaper>,
    policy: Mutex<UnloadPolicy>,
    last_module: Arc<AtomicU64>,
    /// The Default.
    pub(super) default: Arc<FreeContext>,
    slims: Mutex<Slims>,
    master: Mutex<BTreeMap<Generation, Picture>>,
    retained: Mutex<Vec<RetainedNative>>,
    /// Images that stay, one line each.
    parked: Mutex<Vec<String>>,
    /// What the log has said of images that will stay.
    told: Told,
    /// Whether the runtime has ended: what was waited for once is not waited for again.
    pub(super) has_closed: AtomicBool,
}

/// So many unloads may be driven one inside the other on one thread.
const DEEPEST: u32 = 16;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// One of them, until this is dropped.
struct Inside;

impl Inside {
    fn enter() -> Option<Self> {
        let depth = DEPTH.get();
        (depth < DEEPEST).then(|| {
            DEPTH.set(depth + 1);
            Self
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// What the end of the host has left of contexts that belong to no thread.
#[derive(Default)]
pub(crate) struct Unended {
    /// One line for each image that stays, and for each generation that has not come to its end.
    pub left: Vec<String>,
    /// What keeps the latter.
    pub blockers: Vec<Blocker>,
}

/// Contexts with names: Slims, and pinned ones.
#[derive(Default)]
struct Slims {
    last: u64,
    lines: BTreeMap<u64, Arc<FreeContext>>,
}

/// What is known of a generation of the Master outside the game thread.
#[derive(Default)]
struct Picture {
    modules: Vec<(ModuleId, ModuleSummary)>,
    /// Its unload, once that has begun.
    ticket: Option<UnloadTicket>,
}

impl Picture {
    fn state(&self) -> ContextState {
        self.ticket.as_ref().map_or(ContextState::Alive, UnloadTicket::state)
    }
}

impl ContextRegistry {
    /// No Slim yet, and an empty Default.
    pub(crate) fn new(
        core: &Core,
        stage_dir: &Arc<StageDir>,
        args: Vec<String>,
        require_seal: bool,
        rehearsal: Rehearsal,
        last_module: &Arc<AtomicU64>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            own: Weak::clone(own),
            host_context: SharedHostContext::without_core(core),
            logs: Arc::clone(&core.logs),
            stage_dir: Arc::clone(stage_dir),
            args,
            require_seal,
            rehearsal,
            listeners: Listeners::default(),
            functions: HostFunctions::default(),
            tables: HostTables::default(),
            reaper: Arc::default(),
            policy: Mutex::default(),
            last_module: Arc::clone(last_module),
            default: FreeContext::new(
                Weak::<Self>::clone(own),
                ContextId::DEFAULT.index,
                ContextKind::Default,
                "Default",
            ),
            slims: Mutex::new(Slims { last: 1, lines: BTreeMap::new() }),
            master: Mutex::default(),
            retained: Mutex::default(),
            parked: Mutex::default(),
            told: Told::default(),
            has_closed: AtomicBool::new(false),
        })
    }

    /// The registry of a context.
    ///
    /// # Errors
    /// When the runtime is gone.
    pub(super) fn of(line: &FreeContext) -> Result<Arc<Self>, ContextError> {
        behind(&line.resolvers.home().registry).ok_or_else(|| line.unloading("using it after its runtime"))
    }

    /// Logs the warnings of a module that is about to be mapped, unless they were logged before.
    pub(crate) fn announce(&self, info: &ModuleInfo) {
        for warning in self.told.news(&info.name, info.warnings()) {
            tracing::warn!("{} {warning}", info.name);
        }
    }

    /// A new Slim, or a pinned context: both have names, and no two of them the same.
    ///
    /// # Errors
    /// When the name is taken by a living one, or is none.
    pub(super) fn create(&self, kind: ContextKind, name: &str) -> Result<Arc<FreeContext>, ContextError> {
        let refuse = |reason: String| ContextError::Name { kind, name: name.to_owned(), reason };
        if RESERVED.contains(&name) {
            return Err(refuse("that is the name of a context of another kind".into()));
        }
        if !is_name(name) {
            return Err(ContextError::Name { kind, name: Excerpt::of(name).text().to_owned(), reason: NAME.into() });
        }
        let mut slims = self.slims();
        if let Some(living) = slims.lines.values().find(|line| *line.name == *name && line.has_name()) {
            let way_out = match living.state() {
                ContextState::Alive => "take another, or `replace` what is in it",
                _ => "take another, wait on its ticket (`Contexts::unloads_of`), or give it up (`Contexts::park`)",
            };
            return Err(refuse(format!("one is {} under this name: {way_out}", living.state())));
        }
        slims.last += 1;
        let line = FreeContext::new(self.weak(), slims.last, kind, name);
        slims.lines.insert(line.index, Arc::clone(&line));
        Ok(line)
    }

    /// The one generation of the Default.
    pub(super) fn default_generation(&self) -> Arc<FreeGeneration> {
        self.default.current().expect("the Default has one generation, which never ends")
    }

    /// The living Slim, or the pinned context, of that name.
    pub(super) fn named(&self, name: &str) -> Option<Arc<FreeContext>> {
        self.slims().lines.values().find(|line| *line.name == *name && line.is_open()).cloned()
    }

    /// Every generation of every context that is not dead.
    pub(super) fn all(&self) -> Vec<ContextInfo> {
        let mut all: Vec<_> = self.default.generations().iter().map(|generation| generation.info()).collect();
        all.extend(self.masters());
        let lines = self.lines();
        let generations = lines.iter().flat_map(|line| line.generations());
        all.extend(generations.map(|generation| generation.info()).filter(|info| info.state != ContextState::Dead));
        all
    }

    fn masters(&self) -> Vec<ContextInfo> {
        let picture = |(generation, picture): (&Generation, &Picture)| ContextInfo {
            id: ContextId::master(generation.0),
            kind: ContextKind::Master,
            name: "Master".into(),
            state: picture.state(),
            modules: picture.modules.iter().map(|(_, summary)| summary.clone()).collect(),
        };
        let mut pictures = self.pictures();
        pictures.retain(|_, picture| picture.state() != ContextState::Dead);
        pictures.iter().map(picture).collect()
    }

    /// The module that a summary is of, while it is in a context that belongs to no thread.
    pub(super) fn module(&self, summary: &ModuleSummary) -> Option<Arc<FreeModule>> {
        let generation = self.generation(summary.context)?;
        generation
            .modules()
            .into_iter()
            // Each module has a copy of its own in this process; one of another runtime may agree in all else.
            .find(|module| module.name() == summary.name && module.summary().image == summary.image)
    }

    /// Checks that a summary is of a module of the Master.
    pub(super) fn is_of_master(&self, summary: &ModuleSummary) -> bool {
        let pictures = self.pictures();
        let mut modules = pictures.values().flat_map(|picture| &picture.modules);
        modules.any(|(_, known)| known.name == summary.name && known.image == summary.image)
    }

    /// The generation with that number.
    pub(super) fn generation(&self, id: ContextId) -> Option<Arc<FreeGeneration>> {
        self.line(id)?.generations().into_iter().find(|generation| generation.id == id)
    }

    /// The context that a generation is of, if it belongs to no thread.
    pub(super) fn line(&self, id: ContextId) -> Option<Arc<FreeContext>> {
        match id.index == self.default.index {
            true => Some(Arc::clone(&self.default)),
            false => self.slims().lines.get(&id.index).cloned(),
        }
    }

    /// How errors name a generation.
    pub(super) fn title_of(&self, id: ContextId) -> String {
        let known = self.generation(id).map(|generation| generation.title());
        known.unwrap_or_else(|| if id.index == 1 { "Master".into() } else { format!("a context that is gone ({id})") })
    }

    /// The number of the next module of any context.
    pub(super) fn next_module(&self) -> ModuleId {
        ModuleId(self.last_module.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Calls every listener; what goes wrong stands in the log, and on the ticket if there is one.
    pub(super) fn tell(&self, generation: &FreeGeneration, event: ContextEventKind) {
        let home = generation.resolvers.home();
        let event =
            ContextEvent { id: generation.id, kind: generation.kind, name: generation.name.to_string(), event, home };
        for problem in tell(&self.listeners, &event) {
            generation.ticket().into_iter().for_each(|ticket| ticket.note(problem.clone()));
        }
    }

    /// Calls every listener for an event of a generation of the Master. Only on the game thread.
    pub(crate) fn tell_of_master(&self, generation: Generation, event: ContextEventKind) {
        let home = Home { registry: self.weak(), ..Home::default() };
        let (id, kind) = (ContextId::master(generation.0), ContextKind::Master);
        // What goes wrong stands in the log.
        let _problems = tell(&self.listeners, &ContextEvent { id, kind, name: kind.to_string(), event, home });
    }

    /// A ticket for a generation on its way out.
    pub(super) fn ticket(&self, subject: String, work: Box<dyn UnloadWork>) -> UnloadTicket {
        UnloadTicket::new(subject, PATIENCE, work)
    }

    /// What the host does about unloads that do not end by themselves.
    pub(super) fn policy(&self) -> UnloadPolicy {
        self.policy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets what the host does about unloads that do not end by themselves.
    pub(crate) fn set_policy(&self, policy: &UnloadPolicy) {
        *self.policy.lock().unwrap_or_else(PoisonError::into_inner) = policy.clone();
    }

    /// Takes an unload as far as it goes at once, and leaves the rest to the reaper.
    ///
    /// The end of a context drops its callbacks, and these may own the last handle to another one, which ends in here then:
    /// of a long row of these the rest is the reaper's, so that it takes no stack.
    pub(super) fn drive(&self, ticket: UnloadTicket) {
        let is_over = Inside::enter().is_some_and(|_inside| {
            let state = ticket.poll();
            matches!(state, ContextState::Dead | ContextState::Parked)
        });
        if !is_over {
            self.reaper.watch(ticket);
        }
    }

    /// Images of these contexts that stay mapped, and why.
    pub(crate) fn parked(&self) -> Vec<String> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the host's limit allows another image that may stay.
    ///
    /// # Errors
    /// When too many have stayed.
    pub(super) fn check_budget(&self) -> Result<(), LoadError> {
        let (policy, parked) = (self.policy(), self.parked());
        match policy.is_spent(parked.len()) {
            true => Err(LoadError::ParkedBudget { budget: policy.parked_budget, parked }),
            false => Ok(()),
        }
    }

    /// A generation has come to its end.
    pub(super) fn ended(&self, generation: &Arc<FreeGeneration>, parked: Vec<String>) {
        self.retained().extend(generation.natives.retire(generation.id));
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).extend(parked.iter().cloned());
        let line = self.slims().lines.get(&generation.id.index).cloned();
        if let Some(line) = line.as_ref().filter(|_| parked.is_empty())
            && line.forget(generation)
        {
            self.slims().lines.remove(&line.index);
        }
        let line = line.filter(|line| line.is_over(generation));
        self.tell(
            generation,
            match parked.is_empty() {
                true => ContextEventKind::Dead,
                false => ContextEventKind::Parked(parked),
            },
        );
        // They are not called any more. One that owns a handle to the context would keep it in memory for ever.
        line.iter().for_each(|line| line.let_go(self.id()));
    }

    /// Drops every callback, because the host has ended.
    pub(crate) fn let_go(&self) {
        self.lines().iter().chain([&self.default]).for_each(|line| line.let_go(self.id()));
        let_go(self.id(), self.listeners.take());
        self.functions.let_go(self.id());
    }

    /// The way to it that keeps nothing alive.
    pub(super) fn weak(&self) -> Weak<Self> {
        Weak::clone(&self.own)
    }

    /// Which host it is the registry of.
    pub(crate) fn id(&self) -> HostId {
        HostId::of(&self.own)
    }

    /// Native libraries that are there, and whose contexts hold them or have gone without closing them.
    pub(super) fn natives(&self) -> Vec<RetainedNative> {
        self.retained().retain(RetainedNative::is_open);
        let mut natives = self.retained().clone();
        let lines: Vec<_> = self.slims().lines.values().cloned().chain([Arc::clone(&self.default)]).collect();
        for generation in lines.iter().flat_map(|line| line.generations()) {
            natives.extend(generation.natives.list(generation.id));
        }
        natives
    }

    /// A generation of the Master has begun to live.
    pub(crate) fn master_begins(&self, generation: Generation) {
        self.pictures().insert(generation, Picture::default());
    }

    /// Nothing of a generation of the Master was mapped.
    pub(crate) fn master_never_was(&self, generation: Generation) {
        self.pictures().remove(&generation);
    }

    /// A generation of the Master is on its way out.
    pub(crate) fn master_unloads(&self, generation: Generation, ticket: &UnloadTicket) {
        if let Some(picture) = self.pictures().get_mut(&generation) {
            picture.ticket = Some(ticket.clone());
        }
    }

    /// The images of a generation of the Master have left the process: its entry here is removed. Its ticket still
    /// gives the report.
    pub(crate) fn master_is_gone(&self, generation: Generation) {
        let gone = self.pictures().remove(&generation);
        // Not under the lock: this may be the last share of the ticket.
        drop(gone);
    }

    /// The modules of a generation of the Master.
    pub(crate) fn set_master_modules(&self, generation: Generation, modules: Vec<(ModuleId, ModuleSummary)>) {
        if let Some(picture) = self.pictures().get_mut(&generation) {
            picture.modules = modules;
        }
    }

    /// The generation of the Master that a module is in. While a reload is under way, or an old generation has not gone, a
    /// module that stays is in two: `living`, the generation of the living Master, goes first, then the latest.
    pub(crate) fn master_with(&self, module: ModuleId, living: Option<Generation>) -> Option<Generation> {
        let pictures = self.pictures();
        let mut having =
            pictures.iter().rev().filter(|(_, picture)| picture.modules.iter().any(|(id, _)| *id == module));
        let latest = having.clone().next();
        having.find(|(generation, _)| Some(**generation) == living).or(latest).map(|(generation, _)| *generation)
    }

    /// Every unload that has begun and is not over, or was given up.
    pub(super) fn unloads(&self) -> Vec<(ContextId, UnloadTicket)> {
        let masters: Vec<_> = {
            let pictures = self.pictures();
            let of = |(generation, picture): (&Generation, &Picture)| {
                Some((ContextId::master(generation.0), picture.ticket.clone()?))
            };
            pictures.iter().filter_map(of).collect()
        };
        let generations = self.lines().into_iter().flat_map(|line| line.generations());
        let slims = generations.filter_map(|generation| Some((generation.id, generation.ticket()?.clone())));
        let all = masters.into_iter().chain(slims);
        all.filter(|(_, ticket)| ticket.state() != ContextState::Dead).collect()
    }

    /// The unload of one generation, as [`ContextRegistry::unloads`] has it.
    pub(super) fn unload_of(&self, id: ContextId) -> Option<UnloadTicket> {
        self.unloads().into_iter().find(|(other, _)| *other == id).map(|(_, ticket)| ticket)
    }

    /// What keeps a generation, whether it unloads or not; none for one that is dead.
    pub(super) fn report(&self, id: ContextId) -> Option<BlockerReport> {
        if let Some(ticket) = self.unload_of(id) {
            return Some(ticket.report());
        }
        let info = self.all().into_iter().find(|info| info.id == id)?;
        // Only the game thread can say what keeps the Master.
        let blockers = self.generation(id).map(|generation| generation.kept_by()).unwrap_or_default();
        Some(BlockerReport {
            subject: title(info.kind, &info.name),
            state: info.state,
            since: Duration::ZERO,
            blockers,
            parked: Vec::new(),
            problems: Vec::new(),
            jobs: Vec::new(),
        })
    }

    /// Gives up one generation that unloads: its images stay mapped.
    ///
    /// # Errors
    /// When it does not unload, or is of the Master.
    pub(super) fn park(&self, id: ContextId) -> Result<(), ContextError> {
        let refuse = |reason: &str| {
            let context = self.title_of(id);
            Err(ContextError::NotUnloading { context, id, reason: reason.to_owned() })
        };
        if id.index == ContextId::master(0).index {
            return refuse("only its game thread can, with `Unloads::park`");
        }
        match self.unload_of(id) {
            Some(ticket) => {
                ticket.park();
                Ok(())
            }
            None => match self.generation(id) {
                Some(generation) if generation.kind.is_collectible() => refuse("it is alive: begin its unload first"),
                Some(_) => refuse("it is never unloaded"),
                None => refuse("nothing of it is left"),
            },
        }
    }

    /// The process ends: calls the listeners of every context that does not unload yet. Nothing of any module runs.
    pub(super) fn tell_end(&self) {
        self.lines().iter().chain([&self.default]).for_each(|line| self.tell_context(line));
    }

    pub(super) fn tell_context(&self, line: &FreeContext) {
        line.generations().iter().for_each(|generation| self.tell_unloading(line, generation));
    }

    /// Calls every listener when a generation takes nothing new any more, or its process ends: once, whichever comes
    /// first.
    pub(super) fn tell_unloading(&self, line: &FreeContext, generation: &FreeGeneration) {
        if generation.is_told.swap(true, Ordering::AcqRel) {
            return;
        }
        self.tell(generation, ContextEventKind::Unloading);
        let event = ContextEventKind::Unloading;
        let home = line.resolvers.home();
        let event = ContextEvent { id: generation.id, kind: line.kind, name: line.name.to_string(), event, home };
        for problem in tell(&line.unloading, &event) {
            generation.ticket().into_iter().for_each(|ticket| ticket.note(problem.clone()));
        }
    }

    /// Slims and pinned contexts.
    pub(super) fn lines(&self) -> Vec<Arc<FreeContext>> {
        self.slims().lines.values().cloned().collect()
    }

    fn slims(&self) -> MutexGuard<'_, Slims> {
        self.slims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pictures(&self) -> MutexGuard<'_, BTreeMap<Generation, Picture>> {
        self.master.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn retained(&self) -> MutexGuard<'_, Vec<RetainedNative>> {
        self.retained.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
