//! Host context: the pointer that a module passes to the host in each call. For modules of the Master, the pointer refers to a
//! [`HostContext`], of which threads other than the game thread read only the shared part.
#![expect(unsafe_code, reason = "dereferences the host context that a module passes back")]

use std::cell::Cell;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};

use alcedo_abi::host::{BlackDirectory, Directory, HostRef, ModuleContext, mode};
use alcedo_abi::host_direct::CLOSED;
use alcedo_abi::stack::StackSpan;

use super::arguments::IntoArgument;
use crate::boundary::CallError;
use crate::bridge::core::{Core, alive};
use crate::bridge::tasks::Inbox;
use crate::conjugate::drops::Drops;
use crate::game_thread::GameThreadId;
use crate::handles::{Generation, ModuleId};
use crate::logs::Logs;
use crate::object::mode::ModeWord;
use crate::object::slices::BorrowedSlices;
use crate::zcall::free::FreeCalls;

/// Target of a [`HostRef`]. Any thread may read this value. Modules of Slims, pinned contexts and the Default have only this shared part,
/// and no [`HostContext`]. This value outlives these modules.
#[repr(C)]
pub(crate) struct SharedHostContext {
    game_thread: GameThreadId,
    /// Receives the log records of modules.
    pub(super) logs: Arc<Logs>,
    /// Queue for wakes and posted closures of other threads.
    pub(super) inbox: Arc<Inbox>,
    /// Queue for values that other threads drop.
    pub(super) drops: Drops,
    /// Implementation of calls by name for one module without objects. `None` in the host context of the Master, and in the context from
    /// which [`Self::with_calls`] creates a copy for each module.
    pub(super) calls: Option<Arc<dyn FreeCalls>>,
    /// Set if this value is the first field of a [`HostContext`].
    has_core: bool,
}

/// Host context of the modules of the Master. Outlives these modules. Owns the memory that these modules read directly, because code of an
/// image that stays mapped may run after the end of the core.
#[repr(C)]
pub(crate) struct HostContext {
    shared: SharedHostContext,
    /// Stores of the runtime. Accessed on the game thread only.
    core: Weak<Core>,
    mode: ModeWord,
    slices: BorrowedSlices,
    /// Empty after the end of the core.
    directory: Rc<Cell<Directory>>,
    /// Empty after the end of the core.
    owned_values: Rc<Cell<BlackDirectory>>,
}

impl HostContext {
    /// Creates the host context of a runtime.
    ///
    /// # Safety
    /// The result must outlive each mapped module that is attached with the result.
    pub(crate) unsafe fn new(core: &Rc<Core>) -> Box<Self> {
        Self::of(core)
    }

    /// Leaks the host context of a core, and a reference to the core. Both outlive all modules.
    pub(crate) fn leaked(core: &Rc<Core>) -> &'static Self {
        std::mem::forget(Rc::clone(core));
        Box::leak(Self::of(core))
    }

    fn of(core: &Rc<Core>) -> Box<Self> {
        Box::new(Self {
            shared: SharedHostContext::of(core, true),
            core: Rc::downgrade(core),
            mode: core.world.mode.clone(),
            slices: core.world.slices.clone(),
            directory: Rc::clone(core.world.objects.columns().head()),
            owned_values: core.owned_values.directory(),
        })
    }

    /// Returns the context that attaches a module of the Master.
    ///
    /// # Panics
    /// Panics if this is the host context of another core.
    pub(crate) fn lasting(&self, core: &Core, module: ModuleId, generation: Generation) -> LastingContext {
        assert!(std::ptr::eq(self.core.as_ptr(), core), "a host context is that of one core");
        let context = ModuleContext {
            mode: self.mode.address(),
            directory: self.directory.as_ptr(),
            slices: self.slices.address(),
            owned_values: self.owned_values.as_ptr(),
            direct: self.mode.direct_address(),
            stack: core.red.hot().stack(),
            ..without_objects(self.to_ref(), module, generation)
        };
        LastingContext { context, kept: None }
    }

    pub(crate) fn to_ref(&self) -> HostRef {
        HostRef(std::ptr::from_ref(self).cast())
    }
}

impl SharedHostContext {
    fn of(core: &Core, has_core: bool) -> Self {
        Self {
            game_thread: core.game_thread,
            logs: Arc::clone(&core.logs),
            inbox: Arc::clone(&core.tasks.inbox),
            drops: core.owned_values.drops.clone(),
            calls: None,
            has_core,
        }
    }

    /// Creates the host context for modules without objects. These modules log on any thread, and make calls by name through
    /// [`SharedHostContext::with_calls`]. These modules are not registered with the inbox, so the inbox rejects closures that they post.
    pub(crate) fn without_core(core: &Core) -> Arc<Self> {
        Arc::new(Self::of(core, false))
    }

    /// Creates a copy of the host context for one module. `calls` implements the calls by name that this module makes.
    pub(crate) fn with_calls(&self, calls: Arc<dyn FreeCalls>) -> Arc<Self> {
        let (logs, inbox, drops) = (Arc::clone(&self.logs), Arc::clone(&self.inbox), self.drops.clone());
        Arc::new(Self { game_thread: self.game_thread, logs, inbox, drops, calls: Some(calls), has_core: false })
    }

    /// Returns the context that attaches a module without objects.
    pub(crate) fn lasting(self: &Arc<Self>, module: ModuleId, generation: Generation) -> LastingContext {
        let context = without_objects(self.to_ref(), module, generation);
        let direct = self.calls.as_ref().map_or(context.direct, |calls| std::ptr::from_ref(calls.direct_word()));
        LastingContext { context: ModuleContext { direct, ..context }, kept: Some(Arc::clone(self)) }
    }

    pub(crate) fn to_ref(&self) -> HostRef {
        HostRef(std::ptr::from_ref(self).cast())
    }
}

/// Returns the context of a module without objects and without calls by name.
fn without_objects(host: HostRef, module: ModuleId, generation: Generation) -> ModuleContext {
    ModuleContext {
        host,
        table: super::table(),
        values: super::values(),
        module: module.0,
        generation: generation.0,
        mode: &raw const MODE,
        directory: std::ptr::null(),
        slices: std::ptr::null(),
        owned_values: std::ptr::null(),
        direct: &raw const CLOSED_WORD,
        stack: StackSpan::ANY,
        level: crate::logs::loudest(),
    }
}

/// Write mode for modules without objects. The mode is always normal, because these modules have no objects.
static MODE: AtomicU32 = AtomicU32::new(mode::NORMAL);

/// Version of direct calls for modules without calls by name: direct calls are not allowed.
static CLOSED_WORD: AtomicU64 = AtomicU64::new(CLOSED);

/// Context that attaches one module. The owner must keep `kept` while the module is mapped. All pointers in the context are then valid.
pub(crate) struct LastingContext {
    context: ModuleContext,
    kept: Option<Arc<SharedHostContext>>,
}

impl LastingContext {
    /// Returns the ABI context and the shared host context. The shared host context must be stored together with the code of the module.
    pub(crate) fn into_parts(self) -> (ModuleContext, Option<Arc<SharedHostContext>>) {
        (self.context, self.kept)
    }
}

/// The host context that a module passed to a host function.
#[derive(Clone, Copy)]
pub(super) struct CallerContext<'a> {
    raw: HostRef,
    shared: &'a SharedHostContext,
    /// Description of the call for errors.
    action: &'static str,
}

impl std::ops::Deref for CallerContext<'_> {
    type Target = SharedHostContext;

    fn deref(&self) -> &SharedHostContext {
        self.shared
    }
}

impl CallerContext<'_> {
    /// Checks that this is the game thread, and runs `code` on the core. The caller must catch panics, as the trampolines do.
    ///
    /// # Errors
    /// Returns [`CallError::WrongThread`] if the caller is not on the game thread. Fails if the module has no objects, or if the runtime
    /// was dropped. Returns the errors of `code`.
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
        // SAFETY: only `HostContext::new` sets `has_core`, in the first field of a `HostContext`, and `repr(C)` places this field at the
        // address of the whole value. The runtime owns the value, and this is the game thread of the runtime.
        let whole = unsafe { &*self.raw.0.cast::<HostContext>() };
        alive(&whole.core)
    }
}

/// Converts a host context. `action` describes the call in errors.
impl<'c> IntoArgument<&'static str, CallerContext<'c>> for HostRef {
    #[inline]
    unsafe fn into_argument(self, action: &'static str) -> CallerContext<'c> {
        // SAFETY: the caller promises that this is the context that the module was attached with, and that its runtime exists. A host
        // context outlives the modules that are attached with it. Both kinds of host contexts begin with the shared part.
        let shared = unsafe { &*self.0.cast::<SharedHostContext>() };
        CallerContext { raw: self, shared, action }
    }
}
