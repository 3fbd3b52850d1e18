//! Ensures that the panic hook of the module runs first, even if the author's code sets or takes hooks.
//!
//! The module has its own copy of the standard library. With `set_hook`, the author's code can replace the module's hook, for example
//! through color-eyre or human-panic, and the locations of panics would be lost. However, `set_hook` drops the replaced hook after it has
//! released the lock of std. The destructor of the module's hook therefore takes the new hook, and sets a link: a hook that records the
//! panic and calls the new hook. Calls without panics have no additional cost, and the location of every panic is recorded, including the
//! first.
//!
//! A hook that the author's code takes with `take_hook` and stores is not dropped. The next hook that the author sets usually calls the
//! stored hook. If not, [`ensure`] detects the missing link, after the main function of the module and after a panic without a location.
//!
//! [`ensure`] calls `take_hook` and then `set_hook`, and this pair of calls is not atomic. If a second thread panics between the two calls,
//! std prints the panic, and the host does not receive its location. If a second thread sets a hook between them, its hook is lost. Both
//! cases are rare and accepted, because [`ensure`] almost always runs inside of a `set_hook` call, and the order of concurrent calls is
//! undefined in any case.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync + 'static>;

/// Number of the link that was set most recently; zero while the module has no host.
static FIRST: AtomicU64 = AtomicU64::new(0);

static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Address and number of each existing link. The result of `take_hook` is a link if this list contains its address.
static LINKS: Mutex<Vec<(usize, u64)>> = Mutex::new(Vec::new());

/// True while a thread checks the hook. A second thread that requests a check at this time does not wait, because the checking thread then
/// repeats the check.
static IS_CHECKING: AtomicBool = AtomicBool::new(false);

/// True if a check was requested and no thread has begun it.
static IS_REQUESTED: AtomicBool = AtomicBool::new(false);

/// True if a link was dropped on a panicking thread. The link cannot be restored there, because `set_hook` panics on a panicking thread.
static WAS_LOST: AtomicBool = AtomicBool::new(false);

thread_local! {
    // True after a link has recorded the current panic. A link may run inside another link, because an author's hook may call the hook
    // that it replaced.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
}

/// Hook of the module. Runs before the author's hook.
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
        // If `FIRST` has a different number, this link was called by an author's hook, and the current hook of the process is unchanged.
        if FIRST.load(Ordering::Acquire) == self.number {
            ensure(self.note);
        }
    }
}

/// Installs `note`, which is called for each panic of the module, before hooks that initializers or the author have set.
pub(crate) fn install(note: fn(&PanicHookInfo<'_>)) {
    let (found, default) = (take_hook(), take_hook());
    // The default hook of std prints, and its backtrace allocates a permanent cache. The link therefore calls the previous hook only if it
    // is not the default hook.
    let is_default = std::ptr::eq(&raw const *found, &raw const *default);
    put(note, (!is_default).then_some(found));
}

/// Restores the default hook of std, so that no link is called any more.
pub(crate) fn remove() {
    FIRST.store(0, Ordering::Release);
    // Also drops the author's hook, whose destructor may panic.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(take_hook()))) {
        std::mem::forget(payload);
    }
}

/// Returns true if a link was dropped on a panicking thread, where it could not be restored.
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
        // `set_hook` panics on a panicking thread. The panic guard that catches the current panic requests a new check.
        WAS_LOST.store(true, Ordering::Relaxed);
        return;
    }
    // A check may set a new link, which replaces and drops an older link. The destructor of the older link requests another check, and the
    // loop repeats the check.
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

/// Returns the address of a hook. The address of a link is unique, because a link is not zero-sized.
fn address_of(hook: &Hook) -> usize {
    (&raw const **hook).cast::<()>().addr()
}

fn links() -> MutexGuard<'static, Vec<(usize, u64)>> {
    LINKS.lock().unwrap_or_else(PoisonError::into_inner)
}
