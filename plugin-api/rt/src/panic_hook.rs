//! Keeps the panic hook of the module first in the chain, even if the author's code sets or takes hooks.
//!
//! Standard library and panic hook belong to the module, so a call of `set_hook` (color-eyre, human-panic, an author's hook)
//! replaces our hook, and locations of panics would be lost. But std drops the replaced hook after releasing its lock and still
//! inside `set_hook`: so the drop of our hook takes the new hook out and sets a new link that calls it. Normal calls have no
//! cost, and the first panic already has its location.
//!
//! A hook that was taken with `take_hook` and stored is not dropped. The hook that is set instead usually calls it. Otherwise
//! [`ensure`] detects this: after the main of the module, and after a panic without a location.
//!
//! Two calls of std are not atomic. Between them, a panic of another thread is printed by std without a location, and a hook
//! set by another thread is lost. During a concurrent `set_hook` both may happen, because the order of the two is undefined
//! before it returns. Calls of [`ensure`] outside of `set_hook` are so rare that this is accepted.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync + 'static>;

/// Number of the link that was set last; zero while the module has no host.
static FIRST: AtomicU64 = AtomicU64::new(0);

static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Address and number of each existing link: identifies hooks returned by std as links by their address.
static LINKS: Mutex<Vec<(usize, u64)>> = Mutex::new(Vec::new());

/// True while a thread checks the hook. No thread waits for the check; a request during a check repeats it.
static IS_CHECKING: AtomicBool = AtomicBool::new(false);

/// True for a requested check that has not begun.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// True if a link was dropped on a panicking thread, which may not change the hook.
static WAS_LOST: AtomicBool = AtomicBool::new(false);

thread_local! {
    // Links are nested if the author's hook calls the hook that it took.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
}

/// The module's hook, which runs before the author's.
struct Link {
    number: u64,
    note: fn(&PanicHookInfo<'_>),
    next: Option<Hook>,
}

impl Link {
    fn run(&self, info: &PanicHookInfo<'_>) {
        let _noted = (!IS_NOTED.replace(true)).then(|| {
            (self.note)(info);
            Noted
        });
        if let Some(next) = &self.next {
            next(info);
        }
    }
}

/// Marks the panic as recorded until this value is dropped.
struct Noted;

impl Drop for Noted {
    fn drop(&mut self) {
        IS_NOTED.set(false);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let mut links = links();
        links.retain(|(_, number)| *number != self.number);
        if links.is_empty() {
            *links = Vec::new();
        }
        drop(links);
        // If another link, or none, was set since, this link was part of an author's hook.
        if FIRST.load(Ordering::Acquire) == self.number {
            ensure(self.note);
        }
    }
}

/// Installs `note`, which is called for each panic of the module, before hooks set by initializers or by the author.
pub(crate) fn install(note: fn(&PanicHookInfo<'_>)) {
    let (found, default) = (take_hook(), take_hook());
    // The hook of std prints, and its backtrace keeps a cache: unless the author set a hook, none is called.
    let is_default = std::ptr::eq(&raw const *found, &raw const *default);
    put(note, (!is_default).then_some(found));
}

/// Restores the hook of std: links are not called any more.
pub(crate) fn remove() {
    FIRST.store(0, Ordering::Release);
    // The author's hook is dropped too, and its drop may panic.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(take_hook()))) {
        std::mem::forget(payload);
    }
}

/// Returns true if a link was dropped where it could not be restored.
pub(crate) fn was_lost() -> bool {
    WAS_LOST.load(Ordering::Relaxed)
}

/// Sets a link in front of the current hook, unless the current hook is a link.
#[cold]
pub(crate) fn ensure(note: fn(&PanicHookInfo<'_>)) {
    if FIRST.load(Ordering::Acquire) == 0 {
        return;
    }
    if std::thread::panicking() {
        // std would panic. The panic guard that catches this panic checks again.
        WAS_LOST.store(true, Ordering::Relaxed);
        return;
    }
    // Setting a link may drop another link, which then requests a check.
    IS_REQUESTED.store(true, Ordering::SeqCst);
    while IS_REQUESTED.load(Ordering::SeqCst) && !IS_CHECKING.swap(true, Ordering::SeqCst) {
        while IS_REQUESTED.swap(false, Ordering::SeqCst) {
            check(note);
        }
        IS_CHECKING.store(false, Ordering::SeqCst);
    }
}

fn check(note: fn(&PanicHookInfo<'_>)) {
    WAS_LOST.store(false, Ordering::Relaxed);
    let found = take_hook();
    let number = links().iter().find(|(address, _)| *address == address_of(&found)).map(|(_, number)| *number);
    match number {
        Some(number) => {
            FIRST.store(number, Ordering::Release);
            set_hook(found);
        }
        None => put(note, Some(found)),
    }
}

fn put(note: fn(&PanicHookInfo<'_>), next: Option<Hook>) {
    let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
    let link = Link { number, note, next };
    let hook: Hook = Box::new(move |info| link.run(info));
    links().push((address_of(&hook), number));
    FIRST.store(number, Ordering::Release);
    set_hook(hook);
}

/// Returns the address of a hook. A link has a size, so its address is unique; hooks without a size have a dangling address.
fn address_of(hook: &Hook) -> usize {
    (&raw const **hook).cast::<()>().addr()
}

fn links() -> MutexGuard<'static, Vec<(usize, u64)>> {
    LINKS.lock().unwrap_or_else(PoisonError::into_inner)
}
