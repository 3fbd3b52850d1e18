//! Modules on their way out: what is left to do once the game thread has done its part, in an order that leaves nothing
//! pointing into an image when it goes. None of it needs the game thread, so whoever holds the ticket may drive it.
#![expect(unsafe_code, reason = "ends images whose modules nobody uses any more")]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alcedo_sys::process::{this_thread_in_words, thread_in_words};
use alcedo_sys::{EndPolicy, EndReport, EndState, Ending, Holder, HolderKind, Image, Ledger, Unmapped};

use crate::conjugate::finalizer::Barrier;
use crate::lease::{Blocker, Lease, LeaseKind, Leases};
use crate::load::policy::UnloadPolicy;
use crate::load::ticket::{Departed, Departure, ModuleEnd, ParkedImage, Progress};

/// What a module that leaves takes with it.
pub(crate) struct Luggage {
    /// Its name.
    pub name: String,
    /// Why its code must stay, sealed.
    pub leases: Arc<Leases>,
    /// What it holds of others: they go after it.
    pub keeps: Vec<Lease>,
    /// Calls that have not returned: a host that ends inside a call leaves the image mapped.
    pub calls: u32,
    /// Called last: the module forgets its host.
    pub detach: extern "C" fn(),
    /// Tells how many bytes of its own heap are in use; an older module cannot.
    pub heap_bytes: Option<extern "C" fn() -> u64>,
    /// Why its image stays mapped whatever happens; none as a rule.
    pub will_park: Option<String>,
    /// Why others may free what it took of the C heap, so that nobody else does; none where they cannot.
    pub gives_blocks_away: Option<String>,
    /// Its image.
    pub image: Image,
    /// Called once the image is gone.
    pub forget: Box<dyn FnOnce() + Send>,
}

/// A module that takes no calls any more and waits for its leases to end.
pub(crate) struct LeavingModule {
    name: String,
    leases: Arc<Leases>,
    keeps: Vec<Lease>,
    calls: u32,
    detach: extern "C" fn(),
    forget: Option<Box<dyn FnOnce() + Send>>,
    will_park: Option<String>,
    ledger: Option<Arc<Ledger>>,
    begun: Instant,
    /// The thread on which it began to go.
    begun_on: String,
    evict_after: Option<Duration>,
    policy: EndPolicy,
    /// Why blocks of the C heap are kept, if any are.
    blocks_kept_for: String,
    stage: Stage,
}

enum Stage {
    /// Somebody whom the host has let in is still there, or a thread of the module that may have something to say.
    Mapped(Box<Image>),
    /// The image has only itself to end.
    Ending(Box<Ending>),
    Over,
}

/// How far one module has come.
enum Step {
    Waiting(Vec<Blocker>),
    Gone(Box<ModuleEnd>),
    Parked(ParkedImage),
}

impl LeavingModule {
    /// A module whose leases are sealed.
    ///
    /// # Safety
    /// Once the last of its leases has ended, and the finalizers it is driven behind have run, nothing of the image is used
    /// by anybody whom the host has let in: no plugin half, conjugate, thunk or record of it.
    pub(crate) unsafe fn new(luggage: Luggage, policy: &UnloadPolicy) -> Self {
        let Luggage { name, leases, keeps, calls, detach, heap_bytes, will_park, gives_blocks_away, image, forget } =
            luggage;
        let policy_of_image = policy.of_an_image();
        debug_assert!(leases.is_sealed(), "a lease taken now would come too late");
        Self {
            name,
            leases,
            keeps,
            calls,
            detach,
            forget: Some(forget),
            ledger: image.ledger().cloned(),
            begun: Instant::now(),
            begun_on: this_thread_in_words(),
            evict_after: policy.evict_after,
            policy: EndPolicy {
                live_heap: heap_bytes,
                free_c_heap: policy_of_image.free_c_heap && gives_blocks_away.is_none(),
                ..policy_of_image
            },
            blocks_kept_for: match gives_blocks_away {
                _ if !policy_of_image.free_c_heap => "the host frees none".to_owned(),
                Some(reason) => reason,
                None => "a library still leads to them".to_owned(),
            },
            will_park,
            stage: Stage::Mapped(Box::new(image)),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Everybody who keeps it.
    fn blockers(&self) -> Vec<Blocker> {
        match &self.stage {
            Stage::Mapped(_) => {
                let held = self.leases.report().into_iter().chain(told(self.holders()));
                held.chain((self.calls != 0).then(|| self.call_under_way())).collect()
            }
            Stage::Ending(ending) => told(ending.holders()),
            Stage::Over => Vec::new(),
        }
    }

    fn call_under_way(&self) -> Blocker {
        let owner = format!("into {}, in which the host ended", self.name);
        let thread = self.begun_on.clone();
        Blocker { kind: LeaseKind::Call, owner, thread, age: self.begun.elapsed(), place: None }
    }

    fn holders(&self) -> Vec<Holder> {
        self.ledger.as_ref().map(|ledger| ledger.holders()).unwrap_or_default()
    }

    /// Whether the module's own threads are still waited for: they may log until they end, so the module keeps its host
    /// until then, or until they are to be led out by force.
    fn waits_for_threads(&self) -> bool {
        self.evict_after.is_none_or(|after| self.begun.elapsed() < after)
            && self.holders().iter().any(|holder| holder.kind == HolderKind::Thread)
    }

    /// Goes on; none for a module that has ended before.
    fn advance(&mut self) -> Option<Step> {
        if let Stage::Mapped(_) = &self.stage {
            if self.calls != 0 || self.leases.count() != 0 || self.waits_for_threads() {
                return Some(Step::Waiting(self.blockers()));
            }
            if let Some(reason) = self.will_park.take() {
                self.let_go_of_host();
                return self.park(&[]).map(|image| Step::Parked(ParkedImage { reason, ..image }));
            }
            self.begin_end();
        }
        let Stage::Ending(ending) = &mut self.stage else { return None };
        match ending.poll() {
            EndState::Waiting(holders) => Some(Step::Waiting(told(holders))),
            EndState::Gone(report) => {
                self.stage = Stage::Over;
                self.keeps.clear();
                if let Some(forget) = self.forget.take() {
                    forget();
                }
                Some(Step::Gone(Box::new(end_of(&self.name, report, &self.blocks_kept_for))))
            }
            EndState::Parked { path, reason, .. } => Some(Step::Parked(self.stays(&path, reason))),
        }
    }

    fn begin_end(&mut self) {
        let Stage::Mapped(image) = std::mem::replace(&mut self.stage, Stage::Over) else { return };
        self.let_go_of_host();
        // SAFETY: the leases are sealed and none is held; who made this value promises that nobody else whom the host
        // let in uses anything of the image; and what the image does by itself is in its ledger.
        let ending = unsafe { image.begin_end(self.policy) };
        self.stage = Stage::Ending(Box::new(ending));
    }

    /// What this thread's thread-locals drop may log, so they go while the module still knows its host.
    fn let_go_of_host(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.run_thread_locals_here();
        }
        (self.detach)();
    }

    /// Leaves the image mapped; none for a module that has ended before. `above` are those it waits for with others.
    fn park(&mut self, above: &[Blocker]) -> Option<ParkedImage> {
        let blockers: Vec<_> = above.iter().cloned().chain(self.blockers()).collect();
        let (path, reason) = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Mapped(image) => match image.park() {
                Unmapped::Parked { path, reason } => (path, reason),
                Unmapped::Gone => return None,
            },
            Stage::Ending(ending) => match ending.park() {
                EndState::Parked { path, reason, .. } => (path, reason),
                EndState::Waiting(_) | EndState::Gone(_) => return None,
            },
            Stage::Over => return None,
        };
        let reason = if blockers.is_empty() { reason } else { kept_by(&blockers) };
        Some(self.stays(&path, reason))
    }

    /// The image stays, and so does what it may reach.
    fn stays(&mut self, path: &Path, reason: String) -> ParkedImage {
        self.stage = Stage::Over;
        std::mem::forget(std::mem::take(&mut self.keeps));
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        ParkedImage { module: self.name.clone(), file, reason }
    }
}

/// The holders as blockers. A thread that runs is told once, and not again for the thread-locals that it will end itself.
fn told(holders: Vec<Holder>) -> Vec<Blocker> {
    let threads: Vec<_> = holders.iter().filter(|holder| holder.kind == HolderKind::Thread).cloned().collect();
    let is_of_a_thread = |holder: &Holder| threads.iter().any(|thread| thread.thread == holder.thread);
    let told = holders.into_iter().filter(|holder| holder.kind != HolderKind::ThreadLocal || !is_of_a_thread(holder));
    told.map(blocker).collect()
}

fn blocker(holder: Holder) -> Blocker {
    let kind = match holder.kind {
        HolderKind::Thread => LeaseKind::Thread,
        HolderKind::ThreadLocal => LeaseKind::ThreadLocal,
        HolderKind::Stream => LeaseKind::Stream,
        HolderKind::Reference => LeaseKind::Reference,
        HolderKind::Ring => LeaseKind::Ring,
        HolderKind::SignalStack => LeaseKind::SignalStack,
        HolderKind::Request => LeaseKind::Request,
        _ => LeaseKind::Handler,
    };
    let own = ["thread ", "io_uring ", "the handler "].iter().find_map(|kind| holder.name.strip_prefix(kind));
    let owner = own.map(str::to_owned).unwrap_or(holder.name);
    let thread = if holder.thread.is_empty() { thread_in_words(None, None) } else { holder.thread };
    Blocker { kind, owner, thread, age: holder.since.elapsed(), place: None }
}

fn end_of(module: &str, report: EndReport, kept_for: &str) -> ModuleEnd {
    ModuleEnd {
        module: module.to_owned(),
        thread_locals_run: report.thread_locals_run,
        threads_joined: report.threads_joined,
        threads_evicted: report.threads_evicted,
        exit_handlers: report.exit_handlers,
        signals: report.signals,
        keys: report.keys,
        leaked_heap_bytes: report.leaked_heap_bytes,
        c_heap_bytes: report.c_heap_bytes,
        c_heap_blocks: report.c_heap_blocks,
        c_heap_kept_bytes: report.c_heap_kept_bytes,
        c_heap_kept_blocks: report.c_heap_kept_blocks,
        c_heap_kept_for: if report.c_heap_kept_blocks == 0 { String::new() } else { kept_for.to_owned() },
        frames: report.frames,
        addresses: report.addresses,
        put_back: report.put_back,
        looks: report.looks,
        look_took: report.look_took,
        maps_bytes: report.maps_bytes,
        maps_unknown: report.maps_unknown,
        maps_unknown_bytes: report.maps_unknown_bytes,
        fds_left: report.fds_left,
        fds_closed: report.fds_closed.len() as u64,
        children_left: report.children_left,
        children_reaped: report.children_reaped,
    }
}

/// Who keeps an image that stays, as a reason.
pub(crate) fn kept_by(blockers: &[Blocker]) -> String {
    let words: Vec<_> = blockers.iter().map(|blocker| format!("{} {}", blocker.kind, blocker.tail())).collect();
    format!("kept by {}", words.join("; "))
}

/// The modules of a context on their way out, behind their last finalizer.
pub(crate) struct Leaving {
    finalizers: Option<Barrier>,
    /// Dependents first.
    modules: Vec<LeavingModule>,
    departed: Departed,
}

impl Leaving {
    /// These modules, dependents first; `finalizers` is a mark behind their last one.
    pub(crate) fn new(modules: Vec<LeavingModule>, finalizers: Option<Barrier>) -> Box<Self> {
        Box::new(Self { finalizers, modules, departed: Departed::default() })
    }

    /// These go as well, after those that are there.
    pub(crate) fn add(&mut self, modules: impl IntoIterator<Item = LeavingModule>) {
        self.modules.extend(modules);
    }
}

impl Departure for Leaving {
    fn advance(&mut self) -> Progress {
        if let Some(barrier) = &self.finalizers {
            if barrier.is_passed() {
                // Whoever looks hears of this before any image goes.
                self.finalizers = None;
                return Progress::Waiting { blockers: Vec::new(), drained: true };
            }
            let held = self.modules.iter().flat_map(LeavingModule::blockers);
            let blockers = std::iter::once(barrier.blocker()).chain(held).collect();
            return Progress::Waiting { blockers, drained: false };
        }
        let mut blockers = Vec::new();
        for module in &mut self.modules {
            match module.advance() {
                Some(Step::Waiting(held)) => blockers.extend(held),
                Some(Step::Gone(end)) => self.departed.modules.push(*end),
                Some(Step::Parked(image)) => self.departed.parked.push(image),
                None => {}
            }
        }
        match self.modules.iter().all(LeavingModule::is_over) {
            true => Progress::Ended(std::mem::take(&mut self.departed)),
            false => Progress::Waiting { blockers, drained: true },
        }
    }

    fn park(&mut self) -> Departed {
        let above: Vec<_> = self.finalizers.as_ref().map(Barrier::blocker).into_iter().collect();
        for module in &mut self.modules {
            self.departed.parked.extend(module.park(&above));
        }
        std::mem::take(&mut self.departed)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use alcedo_sys::{Holder, HolderKind};

    use super::told;
    use crate::lease::LeaseKind;

    #[test]
    fn a_thread_is_told_once_and_thread_locals_where_no_thread_of_the_module_runs() {
        let holder = |kind, name: &str, thread: &str| Holder {
            kind,
            name: name.to_owned(),
            thread: thread.to_owned(),
            since: Instant::now(),
            place: None,
        };
        let blockers = told(vec![
            holder(HolderKind::ThreadLocal, "2 thread-local destructors", "\"exporter\" (7)"),
            holder(HolderKind::Thread, "thread \"exporter\"", "\"exporter\" (7)"),
            holder(HolderKind::ThreadLocal, "a thread-local destructor", "\"pool\" (8)"),
        ]);
        let words: Vec<_> = blockers.iter().map(|blocker| (blocker.kind, blocker.owner.as_str())).collect();
        let expected = [(LeaseKind::Thread, "\"exporter\""), (LeaseKind::ThreadLocal, "a thread-local destructor")];
        assert_eq!(words, expected);
    }
}
