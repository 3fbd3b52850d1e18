//! The one attachment of a module to its host: who the host is, and which functions it offers. Written once, when
//! the module is attached; after `detach` the module is alone again, and whatever it still tries goes nowhere.
#![expect(unsafe_code, reason = "a static that is written once and then read from any thread")]

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use std::io::Write as _;

use alcedo_abi::call::{Failure, FailureKind, Status};
use alcedo_abi::host::ModuleContext;

use crate::this_thread::this_thread;
use crate::trap::trap;
use crate::{CallError, log_bridge, panic_hook, trace_bridge, trap as traps};

/// Nobody attached yet: the context is not written.
const ALONE: u8 = 0;
/// Somebody is writing the context.
const ATTACHING: u8 = 1;
/// The context is written, and the host is there.
const ATTACHED: u8 = 2;
/// The context is written, and the host has gone.
const DETACHED: u8 = 3;

struct Attachment {
    state: AtomicU8,
    context: UnsafeCell<MaybeUninit<ModuleContext>>,
}

// SAFETY: the context is written by the one thread that moved the state from ALONE to ATTACHING, before ATTACHED is
// stored with release order, and never again; it is read only after ATTACHED was loaded with acquire order.
unsafe impl Sync for Attachment {}

static ATTACHMENT: Attachment =
    Attachment { state: AtomicU8::new(ALONE), context: UnsafeCell::new(MaybeUninit::uninit()) };

/// The thread that the module was attached on; zero while it is not. A module that has to do with objects or values is
/// attached on the game thread.
static HOME: AtomicUsize = AtomicUsize::new(0);

/// What stands for the host's mode word while there is no host: no mode there is, so what reads it calls the host, and
/// fails.
static NO_MODE: AtomicU32 = AtomicU32::new(u32::MAX);

/// The host's mode word while the module is attached. Every write of a property looks at it, so there is always one.
static MODE: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const NO_MODE).cast_mut());

/// Connects the module to its host: from now on it can log, and panics are noted for the trap.
/// The host calls it once, before anything else.
pub fn attach(context: &ModuleContext, failure: &mut Failure) -> Status {
    trap(failure, || {
        if ATTACHMENT.state.compare_exchange(ALONE, ATTACHING, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Err(CallError::new(FailureKind::OTHER, "the module is attached already: load a fresh copy of it"));
        }
        // SAFETY: this thread moved the state from ALONE, so nobody else writes, and nobody reads before ATTACHED.
        unsafe { ATTACHMENT.context.get().write(MaybeUninit::new(*context)) };
        MODE.store(context.mode.cast_mut(), Ordering::Release);
        HOME.store(this_thread(), Ordering::Relaxed);
        ATTACHMENT.state.store(ATTACHED, Ordering::Release);
        // The buffer of the output is made now, since `detach` flushes it when the thread-locals of an author's own
        // allocator may have ended, and with them its way to allocate: mimalloc crashes then.
        let _made = std::io::stdout();
        traps::install_hook();
        trace_bridge::install(context.level);
        log_bridge::install(context.level);
        Ok(())
    })
}

/// The host is gone for this module: later calls and logs go nowhere. Called last, by the host.
pub fn detach() {
    // A line without its end would go with the image. It fails when the stream has no reader, and then it is not
    // missed.
    let _flushed = std::io::stdout().flush();
    ATTACHMENT.state.store(DETACHED, Ordering::Release);
    HOME.store(0, Ordering::Relaxed);
    MODE.store((&raw const NO_MODE).cast_mut(), Ordering::Release);
    panic_hook::remove();
}

/// What the module received from the host, while it is attached. Any thread may call this.
#[inline]
#[must_use]
pub fn context() -> Option<&'static ModuleContext> {
    if ATTACHMENT.state.load(Ordering::Acquire) != ATTACHED {
        return None;
    }
    let context = ATTACHMENT.context.get().cast::<ModuleContext>();
    // SAFETY: ATTACHED is stored after the context was written whole, and it is never written again.
    Some(unsafe { &*context })
}

/// Whether this is the thread that the module was attached on, which is the game thread of all that have to do with objects
/// or values. No call to the host.
#[inline]
#[must_use]
pub fn is_game_thread() -> bool {
    HOME.load(Ordering::Relaxed) == this_thread()
}

/// What the host does at the moment, one of [`alcedo_abi::host::mode`]; without a host none of them. Two looks at memory that
/// hardly ever changes. Game thread only: a host that lets go of the module does so there, and its word ends then.
#[inline]
#[must_use]
pub fn mode() -> u32 {
    // SAFETY: it leads to a static, or to the word that the host keeps as long as the module is attached.
    let mode = unsafe { &*MODE.load(Ordering::Acquire) };
    mode.load(Ordering::Relaxed)
}
