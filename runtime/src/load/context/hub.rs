//! Where the contexts of one runtime meet that belong to no thread: the Default, every Slim, and a picture of the
//! Master for those who may not look at it. A value that its runtime and all handles share; no static holds it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use alcedo_sys::StageDir;

use crate::bridge::core::Core;
use crate::handles::{Generation, ModuleId};
use crate::host_table::SharedWord;
use crate::load::canary::Rehearsal;
use crate::load::context::departing;
use crate::load::context::error::ContextError;
use crate::load::context::free_module::FreeModule;
use crate::load::context::id::{ContextId, ContextInfo, ContextKind, ModuleSummary};
use crate::load::context::line::Line;
use crate::load::context::native_libs::RetainedNative;
use crate::load::context::notice::{ContextHappening, ContextNotice, Listeners};
use crate::load::context::reaper::Reaper;
use crate::load::context::space::Space;
use crate::load::error::LoadError;
use crate::load::policy::UnloadPolicy;
use crate::load::state::ContextState;
use crate::load::ticket::{Departure, UnloadTicket};
use crate::logs::Logs;

/// How long an unload counts as under way before it is called blocked. The grace of the policy is another thing: that is
/// how long a game thread waits.
const PATIENCE: Duration = Duration::from_millis(50);

/// Names that no Slim can have.
const RESERVED: [&str; 2] = ["Default", "Master"];

/// The contexts of one runtime. Any thread.
pub(crate) struct Hub {
    own: Weak<Self>,
    /// What modules of these contexts get as their host.
    pub(super) word: Arc<SharedWord>,
    /// Where they log.
    pub(super) logs: Arc<Logs>,
    /// Private copies of libraries.
    pub(super) stage_dir: Arc<StageDir>,
    /// Arguments of their mains.
    pub(super) args: Vec<String>,
    /// Whether unsealed libraries are refused.
    pub(super) require_seal: bool,
    /// Who loads new modules first, also those of the Master.
    pub(crate) rehearsal: Rehearsal,
    /// Who hears of all of them.
    pub(super) listeners: Listeners,
    reaper: Arc<Reaper>,
    policy: Mutex<UnloadPolicy>,
    last_module: Arc<AtomicU64>,
    default: Arc<Line>,
    slims: Mutex<Slims>,
    master: Mutex<BTreeMap<Generation, Picture>>,
    retained: Mutex<Vec<RetainedNative>>,
    /// Images that stay, one line each.
    parked: Mutex<Vec<String>>,
}

#[derive(Default)]
struct Slims {
    last: u64,
    lines: BTreeMap<u64, Arc<Line>>,
}

/// What is known of a generation of the Master outside the game thread.
#[derive(Default)]
struct Picture {
    modules: Vec<ModuleSummary>,
    /// Its unload, once that has begun.
    ticket: Option<UnloadTicket>,
}

impl Picture {
    fn state(&self) -> ContextState {
        self.ticket.as_ref().map_or(ContextState::Alive, UnloadTicket::state)
    }
}

impl Hub {
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
            word: SharedWord::without_core(core),
            logs: Arc::clone(&core.logs),
            stage_dir: Arc::clone(stage_dir),
            args,
            require_seal,
            rehearsal,
            listeners: Listeners::default(),
            reaper: Arc::default(),
            policy: Mutex::default(),
            last_module: Arc::clone(last_module),
            default: Line::new(own, ContextId::DEFAULT.index, ContextKind::Default, "Default"),
            slims: Mutex::new(Slims { last: 1, lines: BTreeMap::new() }),
            master: Mutex::default(),
            retained: Mutex::default(),
            parked: Mutex::default(),
        })
    }

    /// A new Slim.
    ///
    /// # Errors
    /// When the name is taken by a living one, or is none.
    pub(super) fn create(&self, name: &str) -> Result<Arc<Line>, ContextError> {
        let refuse = |reason: String| ContextError::Name { name: name.to_owned(), reason };
        if RESERVED.contains(&name) {
            return Err(refuse("that is the name of a context of another kind".into()));
        }
        if name.is_empty() || name.contains(|c: char| c.is_control() || c == ':' || c == '/') {
            return Err(refuse("a name is not empty and has neither `:`, `/` nor control characters".into()));
        }
        let mut slims = self.slims();
        if let Some(living) = slims.lines.values().find(|line| *line.name == *name && line.has_name()) {
            let state = living.state();
            return Err(refuse(format!("one is {state} under this name: take another, or `replace` what is in it")));
        }
        slims.last += 1;
        let line = Line::new(&self.own, slims.last, ContextKind::Slim, name);
        slims.lines.insert(line.index, Arc::clone(&line));
        Ok(line)
    }

    /// The Default.
    pub(super) fn default_line(&self) -> &Arc<Line> {
        &self.default
    }

    /// The one generation of the Default.
    pub(super) fn default_space(&self) -> Arc<Space> {
        self.default.current().expect("the Default has one generation, which never ends")
    }

    /// The living Slim of that name.
    pub(super) fn slim(&self, name: &str) -> Option<Arc<Line>> {
        self.slims().lines.values().find(|line| *line.name == *name && line.is_open()).cloned()
    }

    /// Every generation of every context that is not dead.
    pub(super) fn all(&self) -> Vec<ContextInfo> {
        let mut all: Vec<_> = self.default.spaces().iter().map(|space| space.info()).collect();
        all.extend(self.masters());
        let lines: Vec<_> = self.slims().lines.values().cloned().collect();
        let spaces = lines.iter().flat_map(|line| line.spaces());
        all.extend(spaces.map(|space| space.info()).filter(|info| info.state != ContextState::Dead));
        all
    }

    fn masters(&self) -> Vec<ContextInfo> {
        let picture = |(generation, picture): (&Generation, &Picture)| ContextInfo {
            id: ContextId::master(generation.0),
            kind: ContextKind::Master,
            name: "Master".into(),
            state: picture.state(),
            modules: picture.modules.clone(),
        };
        let mut pictures = self.pictures();
        pictures.retain(|_, picture| picture.state() != ContextState::Dead);
        pictures.iter().map(picture).collect()
    }

    /// The module that a summary is of, while it lives in a context that belongs to no thread.
    pub(super) fn module(&self, summary: &ModuleSummary) -> Option<Arc<FreeModule>> {
        let space = self.space(summary.context)?;
        space
            .modules()
            .into_iter()
            .find(|module| (module.name(), module.info().build_id) == (summary.name.as_str(), summary.build_id))
    }

    /// The generation with that number.
    pub(super) fn space(&self, id: ContextId) -> Option<Arc<Space>> {
        let line = match id.index == self.default.index {
            true => Arc::clone(&self.default),
            false => Arc::clone(self.slims().lines.get(&id.index)?),
        };
        line.spaces().into_iter().find(|space| space.id == id)
    }

    /// How errors name a generation.
    pub(super) fn title_of(&self, id: ContextId) -> String {
        let known = self.space(id).map(|space| space.title());
        known.unwrap_or_else(|| if id.index == 1 { "Master".into() } else { format!("a context that is gone ({id})") })
    }

    /// The number of the next module of any context.
    pub(super) fn next_module(&self) -> ModuleId {
        ModuleId(self.last_module.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Tells everybody who listens; what goes wrong stands in the log, and on the ticket if there is one.
    pub(super) fn tell(&self, space: &Space, event: ContextHappening) {
        let notice = ContextNotice { id: space.id, kind: space.kind, name: space.name.to_string(), event };
        for problem in self.listeners.tell(&notice) {
            space.ticket().into_iter().for_each(|ticket| ticket.note(problem.clone()));
        }
    }

    /// Begins to end modules that never came into their context.
    pub(super) fn abandon(&self, space: &Space, modules: &[Arc<FreeModule>]) {
        if modules.is_empty() {
            return;
        }
        let note = |problem: String| tracing::warn!(problem, "while a load was undone");
        let work = departing::leave(modules, &self.policy(), note);
        self.drive(self.ticket(format!("what {} did not take", space.title()), work));
    }

    /// A ticket for a generation on its way out.
    pub(super) fn ticket(&self, subject: String, work: Box<dyn Departure>) -> UnloadTicket {
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
    pub(super) fn drive(&self, ticket: UnloadTicket) {
        if !matches!(ticket.poll(), ContextState::Dead | ContextState::Parked) {
            self.reaper.watch(ticket);
        }
    }

    /// From now on contexts that do not end are given up after this long; `None` waits for ever.
    pub(super) fn set_park_after(&self, after: Option<Duration>) {
        self.reaper.set_park_after(after);
    }

    /// Images of these contexts that stay mapped, and why.
    pub(crate) fn parked(&self) -> Vec<String> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the host wants to pay for another image that may stay.
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
    pub(super) fn ended(&self, space: &Arc<Space>, parked: Vec<String>) {
        self.retained().extend(space.natives.retire(space));
        self.parked.lock().unwrap_or_else(PoisonError::into_inner).extend(parked.iter().cloned());
        let line = self.slims().lines.get(&space.id.index).cloned();
        if let Some(line) = line.filter(|_| parked.is_empty())
            && line.forget(space)
        {
            self.slims().lines.remove(&line.index);
        }
        self.tell(
            space,
            match parked.is_empty() {
                true => ContextHappening::Dead,
                false => ContextHappening::Parked(parked),
            },
        );
    }

    /// Native libraries that are there, and whose contexts hold them or have gone without closing them.
    pub(super) fn natives(&self) -> Vec<RetainedNative> {
        self.retained().retain(RetainedNative::is_open);
        let mut natives = self.retained().clone();
        let lines: Vec<_> = self.slims().lines.values().cloned().chain([Arc::clone(&self.default)]).collect();
        for space in lines.iter().flat_map(|line| line.spaces()) {
            natives.extend(space.natives.list(&space));
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
    pub(crate) fn master_leaves(&self, generation: Generation, ticket: &UnloadTicket) {
        if let Some(picture) = self.pictures().get_mut(&generation) {
            picture.ticket = Some(ticket.clone());
        }
    }

    /// The modules of a generation of the Master.
    pub(crate) fn set_master_modules(&self, generation: Generation, modules: Vec<ModuleSummary>) {
        if let Some(picture) = self.pictures().get_mut(&generation) {
            picture.modules = modules;
        }
    }

    /// Ends every Slim: what is not gone until `deadline` is returned, one line each.
    pub(crate) fn close(&self, deadline: Duration) -> Vec<String> {
        let until = crate::deadline::after(deadline);
        let lines: Vec<_> = self.slims().lines.values().cloned().collect();
        let begun = lines.iter().map(|line| line.begin_unload("the host shuts down"));
        let tickets: Vec<_> = begun.filter_map(Result::ok).collect();
        let mut left = Vec::new();
        for ticket in tickets.into_iter().chain(lines.iter().flat_map(|line| line.old_tickets())) {
            if let Err(report) = ticket.wait(until.saturating_duration_since(Instant::now())) {
                left.push(report.to_string());
            }
        }
        if let Some(space) = self.default.current() {
            self.tell(&space, ContextHappening::Unloading);
        }
        left
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
