//! The host context that a module hands back with every call. It leads to a [`HostContext`], of which foreign threads read only the parts
//! that are meant for every thread.
#![expect(unsafe_code, reason = "follows the host_context that a module hands back")]

use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use alcedo_abi::black_direct::CLOSED;
use alcedo_abi::host::{HostRef, ModuleContext, mode};
use alcedo_abi::stack::StackSpan;

use super::given::Given;
use crate::border::CallError;
use crate::bridge::core::{Core, alive};
use crate::bridge::tasks::Inbox;
use crate::conjugate::drops::Drops;
use crate::game_thread::GameThreadId;
use crate::handles::{Generation, ModuleId};
use crate::logs::Logs;
use crate::zcall::free::FreeCalls;

/// What a [`HostRef`] points to, as far as every thread may read it. Modules of contexts that belong to no thread get
/// one that stands alone; it lives as long as any of them.
#[repr(C)]
pub(crate) struct SharedHostContext {
    game_thread: GameThreadId,
    /// Who listens to what modules log.
    pub(super) logs: Arc<Logs>,
    /// Where foreign threads leave wakes and posted closures.
    pub(super) inbox: Arc<Inbox>,
    /// Where foreign threads leave the values that they have dropped.
    pub(super) drops: Drops,
    /// What a module without objects reaches by name; none in the host contexts of the Master and of a whole runtime.
    pub(super) calls: Option<Arc<dyn FreeCalls>>,
    /// Whether this is the first part of a [`HostContext`].
    has_core: bool,
}

/// The host context of the Master's modules. It lives as long as the runtime, and so longer than any of them.
#[repr(C)]
pub(crate) struct HostContext {
    shared: SharedHostContext,
    /// Followed on the game thread only.
    core: Weak<Core>,
}

impl HostContext {
    /// The host context of a runtime.
    ///
    /// # Safety
    /// It and the core stay as long as any module that is attached with it is mapped.
    pub(crate) unsafe fn new(core: &Rc<Core>) -> Box<Self> {
        let shared = SharedHostContext {
            game_thread: core.game_thread,
            logs: Arc::clone(&core.logs),
            inbox: Arc::clone(core.tasks.inbox()),
            drops: core.blacks.drops().clone(),
            calls: None,
            has_core: true,
        };
        Box::new(Self { shared, core: Rc::downgrade(core) })
    }

    /// What a module of the Master is attached with.
    ///
    /// # Panics
    /// When it is the host context of another core.
    pub(crate) fn lasting(&self, core: &Core, module: ModuleId, generation: Generation) -> LastingContext {
        assert!(std::ptr::eq(self.core.as_ptr(), core), "a host context is that of one core");
        let context = ModuleContext {
            host: self.to_ref(),
            table: super::table(),
            values: super::values(),
            module: module.0,
            generation: generation.0,
            mode: core.world.mode.address(),
            directory: core.world.objects.directory(),
            slices: core.world.slices.address(),
            blacks: core.blacks.directory(),
            direct: core.world.mode.direct_address(),
            stack: core.red.hot().stack(),
            level: crate::logs::loudest(),
        };
        LastingContext { context, kept: None }
    }

    /// As it crosses the border.
    pub(crate) fn to_ref(&self) -> HostRef {
        HostRef(std::ptr::from_ref(self).cast())
    }
}

impl SharedHostContext {
    /// The host context for modules that have no objects: logs on any thread, and what [`SharedHostContext::with_calls`] adds. Whatever they
    /// post is refused, since the inbox does not know them.
    pub(crate) fn without_core(core: &Core) -> Arc<Self> {
        let (logs, inbox) = (Arc::clone(&core.logs), Arc::clone(core.tasks.inbox()));
        let drops = core.blacks.drops().clone();
        Arc::new(Self { game_thread: core.game_thread, logs, inbox, drops, calls: None, has_core: false })
    }

    /// The same host context for one module, which calls others by name.
    pub(crate) fn with_calls(&self, calls: Arc<dyn FreeCalls>) -> Arc<Self> {
        let (logs, inbox, drops) = (Arc::clone(&self.logs), Arc::clone(&self.inbox), self.drops.clone());
        Arc::new(Self { game_thread: self.game_thread, logs, inbox, drops, calls: Some(calls), has_core: false })
    }

    /// What a module without objects is attached with.
    pub(crate) fn lasting(self: &Arc<Self>, module: ModuleId, generation: Generation) -> LastingContext {
        let context = ModuleContext {
            host: self.to_ref(),
            table: super::table(),
            values: super::values(),
            module: module.0,
            generation: generation.0,
            mode: &raw const MODE,
            directory: std::ptr::null(),
            slices: std::ptr::null(),
            blacks: std::ptr::null(),
            direct: self.calls.as_ref().map_or(&raw const CLOSED_WORD, |calls| std::ptr::from_ref(calls.direct_word())),
            stack: StackSpan::ANY,
            level: crate::logs::loudest(),
        };
        LastingContext { context, kept: Some(Arc::clone(self)) }
    }

    /// As it crosses the border.
    pub(crate) fn to_ref(&self) -> HostRef {
        HostRef(std::ptr::from_ref(self).cast())
    }
}

/// What a module without objects tests before it writes: there is nothing it could write to.
static MODE: AtomicU32 = AtomicU32::new(mode::NORMAL);

/// The word of a module that calls nothing by name.
static CLOSED_WORD: AtomicU64 = AtomicU64::new(CLOSED);

/// What one module is attached with. All that it leads to stays as long as the module is mapped, if what is to be kept is kept as
/// long.
pub(crate) struct LastingContext {
    context: ModuleContext,
    kept: Option<Arc<SharedHostContext>>,
}

impl LastingContext {
    /// As it crosses the border, and what has to be kept with the module's code.
    pub(crate) fn into_parts(self) -> (ModuleContext, Option<Arc<SharedHostContext>>) {
        (self.context, self.kept)
    }
}

/// A host context that a module handed back for a call.
#[derive(Clone, Copy)]
pub(super) struct CallerContext<'a> {
    raw: HostRef,
    shared: &'a SharedHostContext,
    /// What the call does, as errors say it.
    action: &'static str,
}

impl std::ops::Deref for CallerContext<'_> {
    type Target = SharedHostContext;

    fn deref(&self) -> &SharedHostContext {
        self.shared
    }
}

impl CallerContext<'_> {
    /// Proves the thread, then runs `code` on the stores. Whoever calls this stops its panics: the shells do.
    ///
    /// # Errors
    /// [`CallError::WrongThread`] off the game thread, another for a module without objects or when the runtime is gone, and
    /// those of `code`.
    #[inline]
    pub(super) fn enter<T, E: From<CallError>>(self, code: impl FnOnce(&Rc<Core>) -> Result<T, E>) -> Result<T, E> {
        code(&self.core()?)
    }

    fn core(self) -> Result<Rc<Core>, CallError> {
        if self.game_thread.prove().is_none() {
            return Err(CallError::WrongThread { action: self.action.to_owned() });
        }
        if !self.has_core {
            let message = format!("{} is for modules of the Master: a Slim has no objects", self.action);
            return Err(CallError::Other { message });
        }
        // SAFETY: only `HostContext::new` says so of its first part, which `repr(C)` puts at the address of the whole; the
        // runtime owns that, and this is its thread.
        let whole = unsafe { &*self.raw.0.cast::<HostContext>() };
        alive(&whole.core)
    }
}

/// What the call does is what `Host` is here.
impl<'c> Given<&'static str, CallerContext<'c>> for HostRef {
    #[inline]
    unsafe fn given(self, action: &'static str) -> CallerContext<'c> {
        // SAFETY: the caller promises the host context of a runtime that lives: a module is detached before its runtime goes. Both
        // kinds of host contexts begin with what all threads may read.
        let shared = unsafe { &*self.0.cast::<SharedHostContext>() };
        CallerContext { raw: self, shared, action }
    }
}
