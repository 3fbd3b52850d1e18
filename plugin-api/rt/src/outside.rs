//! Data that Rust code does not create: addresses that a host writes for the module, and the register that identifies threads. Only this
//! file dereferences these addresses.
#![expect(
    unsafe_code,
    reason = "names a linker section, follows the pointers that the host wrote, reads the thread pointer"
)]

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
use core::arch::asm;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use alcedo_abi::hooks::{HookContext, HookSlot};
use alcedo_abi::host::{ModuleContext, Slices};
use alcedo_abi::host_direct::CLOSED;

/// Slot for the context. The host writes the context into the slot in its private copy of the file, before it maps the copy. The module
/// never writes the slot. The linker keeps the section, because code refers to the static.
#[used]
#[unsafe(link_section = alcedo_abi::__alcedo_section!(hooks))]
static SLOT: HookSlot = HookSlot::new();

/// Returns the context that the host has written, or `None` without a host. The result is constant while the module is mapped.
#[inline]
pub(crate) fn hook_context() -> Option<&'static HookContext> {
    let context = SLOT.context.load(Ordering::Relaxed);
    // SAFETY: the pointer is null, or refers to the context that the host wrote before the module was mapped.
    // The host promises to keep the context longer than the image.
    unsafe { context.as_ref() }
}

/// Returns the word that the host sets to request that the module's threads stop.
pub(crate) fn stop_word() -> Option<&'static AtomicU32> {
    let context = hook_context()?;
    // SAFETY: the pointer is null, or refers to a word that the host promises to keep while the image is mapped.
    unsafe { context.stop.as_ref() }
}

/// Sleeps for at most `limit` while the word is zero. May return early.
#[cfg(target_os = "linux")]
pub(crate) fn sleep_on(word: &AtomicU32, limit: Duration) {
    let limit = libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time are live during the call. The result is ignored, because the caller checks the word afterwards.
    let _woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 0, &raw const limit) };
}

/// Sleeps for `limit`, even if the word changes.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleep_on(_word: &AtomicU32, limit: Duration) {
    std::thread::sleep(limit);
}

/// State before the module is attached. The context is not initialized.
const ALONE: u8 = 0;
const ATTACHING: u8 = 1;
/// State while the module is attached. The context is initialized.
const ATTACHED: u8 = 2;
/// State after the module was detached. The context remains initialized.
const DETACHED: u8 = 3;

/// Mode word for a module without a host. The number is not a valid mode, so code that writes a property calls the host, and this call
/// returns an error.
static NO_MODE: AtomicU32 = AtomicU32::new(u32::MAX);

/// Version word for a module without a host: direct calls are closed.
static NO_DIRECT: AtomicU64 = AtomicU64::new(CLOSED);

/// Data of the host to which the module is attached. The data is written once and may then be read on any thread.
struct Attachment {
    state: AtomicU8,
    context: UnsafeCell<MaybeUninit<ModuleContext>>,
    /// Address of the host's mode word while the module is attached, otherwise of `NO_MODE`. The address is always valid, because each
    /// write of a property reads the mode word without a check.
    mode: AtomicPtr<AtomicU32>,
    /// Address of the host's version word for direct calls while the module is attached, otherwise of `NO_DIRECT`.
    direct: AtomicPtr<AtomicU64>,
}

// SAFETY: only the thread that changed the state from ALONE to ATTACHING writes the context, once.
// The thread then stores ATTACHED with release ordering.
// Other threads read the context only after they have loaded ATTACHED with acquire ordering.
unsafe impl Sync for Attachment {}

static ATTACHMENT: Attachment = Attachment {
    state: AtomicU8::new(ALONE),
    context: UnsafeCell::new(MaybeUninit::uninit()),
    mode: AtomicPtr::new((&raw const NO_MODE).cast_mut()),
    direct: AtomicPtr::new((&raw const NO_DIRECT).cast_mut()),
};

/// Stores the host's data. Calls `before` before other threads can read the data. Returns false if a host was attached before.
pub(crate) fn attach(context: &ModuleContext, before: impl FnOnce()) -> bool {
    if ATTACHMENT.state.compare_exchange(ALONE, ATTACHING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return false;
    }
    // SAFETY: this thread changed the state from ALONE, so no other thread writes the context.
    // No thread reads the context before the state is ATTACHED.
    unsafe { ATTACHMENT.context.get().write(MaybeUninit::new(*context)) };
    ATTACHMENT.mode.store(context.mode.cast_mut(), Ordering::Release);
    ATTACHMENT.direct.store(context.direct.cast_mut(), Ordering::Release);
    before();
    ATTACHMENT.state.store(ATTACHED, Ordering::Release);
    true
}

/// Marks the host as detached. A detached module cannot be attached to a second host.
pub(crate) fn detach() {
    ATTACHMENT.state.store(DETACHED, Ordering::Release);
}

/// Replaces the addresses of the host's mode word and version word by those of `NO_MODE` and `NO_DIRECT`.
pub(crate) fn forget_words() {
    ATTACHMENT.direct.store((&raw const NO_DIRECT).cast_mut(), Ordering::Release);
    ATTACHMENT.mode.store((&raw const NO_MODE).cast_mut(), Ordering::Release);
}

/// Returns the context of the host while the module is attached. Callable on any thread.
#[inline]
#[must_use]
pub fn context() -> Option<&'static ModuleContext> {
    if ATTACHMENT.state.load(Ordering::Acquire) != ATTACHED {
        return None;
    }
    // SAFETY: only `attach` stores ATTACHED, after it has written the whole context. The context is never written again.
    Some(unsafe { (*ATTACHMENT.context.get()).assume_init_ref() })
}

/// Returns the host's counter of borrowed slices, and the number that identifies this module. Returns `None` if no host is attached, or if
/// the host has no counter.
#[must_use]
pub fn slices() -> Option<(&'static Slices, u64)> {
    let context = context()?;
    // SAFETY: the pointer is null, or refers to a counter that the host promises to keep while the module is attached.
    // The module is attached while its code runs.
    Some((unsafe { context.slices.as_ref() }?, context.module))
}

/// Returns the mode of the host, a constant of [`alcedo_abi::host::mode`]. Without a host, returns a number that differs from all these
/// constants. Costs two reads of rarely written memory. Callable on the game thread only, because the host frees the mode word on this
/// thread after it has detached the module.
#[inline]
#[must_use]
pub fn mode() -> u32 {
    // SAFETY: the pointer refers to a static, or to the word that the host promises to keep while the module is attached.
    unsafe { &*ATTACHMENT.mode.load(Ordering::Acquire) }.load(Ordering::Relaxed)
}

/// If `closed` is true, closes direct calls, for example while a slice of host memory is borrowed. If `closed` is false, uses the version
/// word of the host again. While direct calls are closed, [`direct_version`] returns `CLOSED`. Callable on the game thread only.
pub fn close_direct_calls(closed: bool) {
    let word = match context() {
        Some(context) if !closed => context.direct,
        _ => &raw const NO_DIRECT,
    };
    ATTACHMENT.direct.store(word.cast_mut(), Ordering::Release);
}

/// Returns the version of direct calls, or [`CLOSED`]. Costs two reads, like [`mode`]. Callable only on threads for which
/// [`may_call_directly`](crate::may_call_directly) returns true. After the host has detached the module, it frees the version word on the
/// game thread, so another thread could read freed memory. For a module without objects, the host keeps the word while the module is
/// mapped.
#[inline]
#[must_use]
pub fn direct_version() -> u64 {
    // SAFETY: the pointer refers to a static, or to the word that the host promises to keep while the module is attached.
    unsafe { &*ATTACHMENT.direct.load(Ordering::Acquire) }.load(Ordering::Relaxed)
}

/// Returns a number that is unique among live threads. Never zero.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub(crate) fn this_thread() -> usize {
    let pointer: usize;
    // SAFETY: the ABI of x86-64 promises that the first word of a thread's control block contains the block's own address.
    // On AArch64, the code reads the register that contains the thread pointer.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
        #[cfg(target_arch = "aarch64")]
        asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure));
    }
    pointer
}

/// Returns a number that is unique among live threads. Never zero.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| core::ptr::from_ref(here).addr())
}
