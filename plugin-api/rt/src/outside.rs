//! What comes to the module from outside of Rust: the words that a host writes for it, and the register that tells threads
//! apart. The addresses among the words are followed here and nowhere else.
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

use alcedo_abi::black_direct::CLOSED;
use alcedo_abi::hooks::{HookContext, HookSlot};
use alcedo_abi::host::ModuleContext;

/// What a host writes into its private copy of the module before it is mapped. Never written by the module itself. Whoever
/// asks for the context refers to it, so the linker keeps the section.
#[used]
#[unsafe(link_section = ".alcedo.hooks")]
static SLOT: HookSlot = HookSlot::new();

/// What the host wrote; without a host, none. The same answer for as long as the module is mapped.
#[inline]
pub(crate) fn hook_context() -> Option<&'static HookContext> {
    let context = SLOT.context.load(Ordering::Relaxed);
    // SAFETY: null, or what the host wrote before the module was mapped: it promises a context that outlives the image.
    unsafe { context.as_ref() }
}

/// The word that says whether the module's threads are asked to end.
pub(crate) fn stop_word() -> Option<&'static AtomicU32> {
    let context = hook_context()?;
    // SAFETY: null, or a word of which the host promises that it stays for as long as the image is mapped.
    unsafe { context.stop.as_ref() }
}

/// Sleeps while the word is zero; may wake too early.
#[cfg(target_os = "linux")]
pub(crate) fn sleep_on(word: &AtomicU32, limit: Duration) {
    let limit = libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the time live through the call; whatever it answers, the caller looks at the word itself.
    let _woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 0, &raw const limit) };
}

/// Sleeps; nothing wakes it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn sleep_on(_word: &AtomicU32, limit: Duration) {
    std::thread::sleep(limit);
}

/// No host yet: the context is not written.
const ALONE: u8 = 0;
/// A thread is writing the context.
const ATTACHING: u8 = 1;
/// The context is written, and the host is there.
const ATTACHED: u8 = 2;
/// The context is written, and the host has gone.
const DETACHED: u8 = 3;

/// What stands for the host's mode word while there is no host: no mode there is, so whoever looks asks, and learns why.
static NO_MODE: AtomicU32 = AtomicU32::new(u32::MAX);

/// What stands for the host's word of direct calls while there is no host: none may be made.
static NO_DIRECT: AtomicU64 = AtomicU64::new(CLOSED);

/// The words of the host that the module is attached to. Written once, and then read from any thread.
pub(crate) struct Attachment {
    state: AtomicU8,
    context: UnsafeCell<MaybeUninit<ModuleContext>>,
    /// The host's mode word while the module is attached. Every write of a property looks at it, so there is always one.
    mode: AtomicPtr<AtomicU32>,
    /// The host's word of direct calls, in the same way.
    direct: AtomicPtr<AtomicU64>,
}

// SAFETY: the context is written by the one thread that moved the state from ALONE to ATTACHING, before ATTACHED is
// stored with release order, and never again; it is read only after ATTACHED was loaded with acquire order.
unsafe impl Sync for Attachment {}

impl Attachment {
    /// Of a module that has no host.
    pub(crate) const fn alone() -> Self {
        Self {
            state: AtomicU8::new(ALONE),
            context: UnsafeCell::new(MaybeUninit::uninit()),
            mode: AtomicPtr::new((&raw const NO_MODE).cast_mut()),
            direct: AtomicPtr::new((&raw const NO_DIRECT).cast_mut()),
        }
    }

    /// Keeps the words of the host; `before` runs ahead of the first that can read them. False if there was a host before.
    pub(crate) fn attach(&self, context: &ModuleContext, before: impl FnOnce()) -> bool {
        if self.state.compare_exchange(ALONE, ATTACHING, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return false;
        }
        // SAFETY: this thread moved the state from ALONE, so no other writes, and none reads before ATTACHED.
        unsafe { self.context.get().write(MaybeUninit::new(*context)) };
        self.mode.store(context.mode.cast_mut(), Ordering::Release);
        self.direct.store(context.direct.cast_mut(), Ordering::Release);
        before();
        self.state.store(ATTACHED, Ordering::Release);
        true
    }

    /// Says that the host has gone. No other can be attached afterwards.
    pub(crate) fn detach(&self) {
        self.state.store(DETACHED, Ordering::Release);
    }

    /// Whether direct calls wait, whatever the host's word says.
    pub(crate) fn close_direct(&self, closed: bool) {
        let word = match self.context() {
            Some(context) if !closed => context.direct,
            _ => &raw const NO_DIRECT,
        };
        self.direct.store(word.cast_mut(), Ordering::Release);
    }

    /// Forgets the words that the host writes: it may end them afterwards.
    pub(crate) fn forget_words(&self) {
        self.direct.store((&raw const NO_DIRECT).cast_mut(), Ordering::Release);
        self.mode.store((&raw const NO_MODE).cast_mut(), Ordering::Release);
    }

    /// The words of the host, while it is there.
    #[inline]
    pub(crate) fn context(&self) -> Option<&ModuleContext> {
        if self.state.load(Ordering::Acquire) != ATTACHED {
            return None;
        }
        // SAFETY: `attach` alone stores ATTACHED, after it has written the context whole, and it never writes it again.
        Some(unsafe { (*self.context.get()).assume_init_ref() })
    }

    /// What the host does at the moment; without a host, no mode there is.
    #[inline]
    pub(crate) fn mode(&self) -> u32 {
        // SAFETY: it leads to a static, or to the word that the host promises to keep as long as the module is attached.
        unsafe { &*self.mode.load(Ordering::Acquire) }.load(Ordering::Relaxed)
    }

    /// The version of what is called directly; without a host, that none may be.
    #[inline]
    pub(crate) fn direct(&self) -> u64 {
        // SAFETY: as for the mode.
        unsafe { &*self.direct.load(Ordering::Acquire) }.load(Ordering::Relaxed)
    }
}

/// A number that no other living thread has. Never zero.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub(crate) fn this_thread() -> usize {
    let pointer: usize;
    // SAFETY: on x86-64 the first word of the thread's control block is its own address, as the ABI of thread-locals
    // promises; on AArch64 this reads the register that holds the thread pointer.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
        #[cfg(target_arch = "aarch64")]
        asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure));
    }
    pointer
}

/// A number that no other living thread has. Never zero.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| core::ptr::from_ref(here).addr())
}
