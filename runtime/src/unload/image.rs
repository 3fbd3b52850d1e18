//! Unloads the image of a module. The order of the steps ensures that no pointer into the image remains.
#![expect(unsafe_code, reason = "ends images of unused modules, by options that are sound for some modules only")]

use std::marker::PhantomData;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use alcedo_sys::{EndPolicy, EndReport, EndState, Ending, Holder, HolderKind, Image, Ledger, Unmapped};

use crate::lease::Blocker;
use crate::unload::blockers::blockers_of;
use crate::unload::job::{CodeStep, CodeUnload};
use crate::unload::policy::UnloadPolicy;
use crate::unload::report::{ModuleEnd, OpenFile, ParkedImage, UnwaitedProcess};

/// Promise that the code of a module is unused once all leases of the module have ended.
pub(crate) struct Unused<'c> {
    code: *const (),
    of: PhantomData<&'c ()>,
}

impl<'c> Unused<'c> {
    /// Creates the promise for `code`.
    ///
    /// # Safety
    /// The leases of the module must be sealed. After the last lease has ended and the finalizers queued before the unload have run, no
    /// code that the host calls may use the module's code. Plugin parts, conjugates, thunks and records count as the module's code.
    pub(crate) unsafe fn of<C: ?Sized>(code: &'c C) -> Self {
        Self { code: ptr::from_ref(code).cast(), of: PhantomData }
    }

    /// Checks if the promise was made for `code`.
    pub(crate) fn is_of<C>(&self, code: &C) -> bool {
        ptr::addr_eq(self.code, code)
    }
}

/// Options that are sound only for some modules.
impl UnloadPolicy {
    /// Sets the time after which the host forcibly ends (evicts) threads of a module that are blocked in a system call. Default: never. An
    /// evicted thread drops neither the values on its stack nor its thread-locals. Intended for plugins with threads that cannot be stopped
    /// in a different way. A thread cannot be evicted if the thread blocks all signals or waits for a condition variable of the C library.
    /// The image then stays mapped.
    ///
    /// # Safety
    ///
    /// No address in the stack of an evicted thread may be used after the eviction. For example, a thread that waits in
    /// [`std::thread::scope`] shares its stack with the scoped threads.
    pub unsafe fn evict_after(&mut self, after: Option<Duration>) {
        self.evict_after = after;
    }

    /// Enables or disables the closing of file descriptors that a module has left open. By default the descriptors are only reported.
    ///
    /// # Safety
    ///
    /// At the unload, the module must own all its open descriptors. For example, the module must not have passed a descriptor to the host
    /// or to a second module.
    pub unsafe fn close_fds(&mut self, closes: bool) {
        self.close_fds = closes;
    }
}

/// Names, functions and check results of an image, as inputs for its unload.
#[derive(Clone)]
pub(crate) struct ImageFacts {
    pub module: String,
    /// Function that clears the module's pointer to the host. This call is the last call into the module.
    pub detach: extern "C" fn(),
    /// Function that returns the bytes in use on the module's own heap. `None` if the module was built with an older plugin API.
    pub heap_bytes: Option<extern "C" fn() -> u64>,
    /// Reason why the image must stay mapped, if any.
    pub will_park: Option<String>,
    /// Reason why the host must not free the C heap blocks that the module has left. `None` if no library can still use or free these
    /// blocks.
    pub c_heap_shared: Option<String>,
}

pub(crate) struct ImageUnload {
    facts: ImageFacts,
    ledger: Option<Arc<Ledger>>,
    /// Time at which the last lease ended, including leases of delayed exit hooks.
    unused: OnceLock<Instant>,
    evict_after: Option<Duration>,
    policy: EndPolicy,
    /// Reason that the report states if the host keeps C heap blocks of the module.
    blocks_kept_for: String,
    stage: Stage,
}

enum Stage {
    /// If the module is detached from the host, contains the reason why the image will be parked.
    Mapped(Box<Image>, Option<String>),
    Ending(Box<Ending>),
    Over,
}

impl ImageUnload {
    /// Creates the unload of a mapped image.
    ///
    /// # Safety
    /// After the last lease of the module has ended and all queued finalizers have run, no code that the host calls may use the image.
    /// Plugin parts, conjugates, thunks and records of the module are part of the image.
    pub(crate) unsafe fn new(image: Image, facts: ImageFacts, policy: &UnloadPolicy) -> Self {
        Self {
            ledger: image.ledger().cloned(),
            unused: OnceLock::new(),
            evict_after: policy.evict_after,
            policy: EndPolicy {
                close_fds: policy.close_fds,
                free_c_heap: policy.free_c_heap && facts.c_heap_shared.is_none(),
                search: policy.search_references,
                evict: policy.evict_after.map(|_| Duration::ZERO),
                reap_children: policy.reap_children,
                live_heap: facts.heap_bytes,
            },
            blocks_kept_for: match &facts.c_heap_shared {
                _ if !policy.free_c_heap => "the host frees none".to_owned(),
                Some(reason) => reason.clone(),
                None => "a library still refers to them".to_owned(),
            },
            facts,
            stage: Stage::Mapped(Box::new(image), None),
        }
    }

    fn own_holders(&self) -> Vec<Holder> {
        self.ledger.as_ref().map(|ledger| ledger.holders()).unwrap_or_default()
    }

    fn parked(&self, path: &Path, reason: String) -> ParkedImage {
        ParkedImage::new(&self.facts.module, path, reason)
    }
}

impl CodeUnload for ImageUnload {
    fn holders(&self) -> Vec<Blocker> {
        match &self.stage {
            Stage::Mapped(..) => blockers_of(self.own_holders()),
            Stage::Ending(ending) => blockers_of(ending.holders()),
            Stage::Over => Vec::new(),
        }
    }

    /// Checks if no thread of the module runs, and no host thread has thread-locals of the module. Drops the module's thread-locals
    /// of this thread. From then on, other threads drop their thread-locals of the module at their checkpoints. Threads and destructors may
    /// log through the host. The module therefore stays attached until the threads have ended, or until the threads can be evicted.
    fn is_quiet(&self) -> bool {
        if self.evict_after.is_some_and(|after| self.unused.get_or_init(Instant::now).elapsed() >= after) {
            return true;
        }
        self.ledger.iter().for_each(|ledger| {
            // Only the other threads themselves can drop their thread-locals of the module.
            ledger.run_at_checkpoints();
            ledger.run_thread_locals_here();
        });
        let may_log = |holder: &Holder| matches!(holder.kind, HolderKind::Thread | HolderKind::ThreadLocal);
        !self.own_holders().iter().any(may_log)
    }

    fn begin(&mut self) {
        let Stage::Mapped(image, _) = std::mem::replace(&mut self.stage, Stage::Over) else { return };
        // Drops the module's thread-locals of this thread before the module is detached, because a destructor may log through the host.
        if let Some(ledger) = &self.ledger {
            ledger.run_thread_locals_here();
        }
        (self.facts.detach)();
        self.stage = match self.facts.will_park.take() {
            reason @ Some(_) => Stage::Mapped(image, reason),
            None => {
                // SAFETY: the leases are sealed and none is held. The caller of `new` promised that no other code called by
                // the host uses any part of the image. The ledger records all other uses, which the image itself causes.
                let ending = unsafe { image.begin_end(self.policy) };
                Stage::Ending(Box::new(ending))
            }
        };
    }

    fn advance(&mut self) -> CodeStep {
        match &mut self.stage {
            Stage::Ending(ending) => match ending.poll() {
                EndState::Waiting(holders) => CodeStep::Waiting(blockers_of(holders)),
                EndState::Gone(report) => {
                    self.stage = Stage::Over;
                    CodeStep::Gone(Box::new(end_of(&self.facts.module, report, &self.blocks_kept_for)))
                }
                EndState::Parked { path, reason, .. } => {
                    self.stage = Stage::Over;
                    CodeStep::Parked(self.parked(&path, reason))
                }
            },
            // Leaves the image mapped if the image must stay mapped, or if `begin` was not called. Returns no blockers if the unload is
            // over.
            Stage::Mapped(..) | Stage::Over => {
                self.park().map_or_else(|| CodeStep::Waiting(Vec::new()), CodeStep::Parked)
            }
        }
    }

    fn park(&mut self) -> Option<ParkedImage> {
        self.ledger.iter().for_each(|ledger| ledger.finish_ending());
        let (path, reason) = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Mapped(image, because) => match image.park() {
                Unmapped::Parked { path, reason } => (path, because.unwrap_or(reason)),
                Unmapped::Gone => return None,
            },
            Stage::Ending(ending) => match ending.park() {
                EndState::Parked { path, reason, .. } => (path, reason),
                EndState::Waiting(_) | EndState::Gone(_) => return None,
            },
            Stage::Over => return None,
        };
        Some(self.parked(&path, reason))
    }
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
        searches: report.searches,
        search_time: report.search_time,
        maps_bytes: report.maps_bytes,
        maps_unknown: report.maps_unknown,
        maps_unknown_bytes: report.maps_unknown_bytes,
        fds_left: report.fds_left.into_iter().map(|(fd, target)| OpenFile { fd, target }).collect(),
        fds_closed: report.fds_closed.len() as u64,
        children_left: report.children_left.into_iter().map(|(pid, is)| UnwaitedProcess { pid, is }).collect(),
        children_reaped: report.children_reaped,
    }
}

#[cfg(test)]
mod tests {
    use super::Unused;

    #[test]
    fn a_promise_is_only_for_the_code_that_it_was_made_for() {
        let (one, two) = (1_u8, 2_u8);
        // SAFETY: nothing relies on the promise.
        let unused = unsafe { Unused::of(&one) };
        assert!(unused.is_of(&one) && !unused.is_of(&two));
    }
}
