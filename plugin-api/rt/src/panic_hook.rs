//! The panic hook of the module stays the first in the row, whatever hooks the author's code sets or takes.
//!
//! Standard library and panic hook are the module's own, so `set_hook` in it (color-eyre, human-panic, an author's own)
//! puts another hook in the place of ours, and the place of a panic would be lost. But std drops the hook that it replaces,
//! after it has let go of its lock and still inside `set_hook`: so the drop of ours takes the newcomer out and puts it back
//! behind a new link of ours. No call pays for that, and already the first panic has its place.
//!
//! A hook that was taken with `take_hook` and is kept drops nothing. As a rule it is called by the hook that is set instead.
//! Where it is not, [`ensure`] finds out: after the main of the module, and after a panic that left no place.
//!
//! Two calls of std cannot be one step. So in the moment between them a panic of another thread is printed by std and has no
//! place, and a hook that another thread sets in that moment is lost. In a `set_hook` both may be: its own order with that
//! other one is not settled before it has returned. What [`ensure`] does by itself is that rare that it is accepted.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync + 'static>;

/// The link that was put in last; zero while the module has no host.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// The last number of a link.
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Address and number of each link there is: by its address a hook that std gives back is known as one of ours.
static LINKS: Mutex<Vec<(usize, u64)>> = Mutex::new(Vec::new());

/// Whether a thread looks after the hook. Nobody waits for it: it looks again when it is asked for meanwhile.
static IS_LOOKING: AtomicBool = AtomicBool::new(false);

/// Whether a look was requested that has not begun.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Whether ours was dropped on a thread that panicked, which may not change the hook.
static WAS_LOST: AtomicBool = AtomicBool::new(false);

thread_local! {
    // One link runs inside another where the author's hook calls the one that it took.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
}

/// Ours, before the author's.
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

/// The panic is noted until this is dropped.
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
        // Another link, or none, was put in since: then this one lay in a hook of the author's.
        if FIRST.load(Ordering::Acquire) == self.number {
            ensure(self.note);
        }
    }
}

/// From now on `note` hears of each panic of the module, before whatever hook an initializer has set or the author will set.
pub(crate) fn install(note: fn(&PanicHookInfo<'_>)) {
    let (found, default) = (take_hook(), take_hook());
    // The one of std prints, and its backtrace keeps a cache: without a word of the author's it is left out.
    let is_default = std::ptr::eq(&raw const *found, &raw const *default);
    put(note, (!is_default).then_some(found));
}

/// Gives std its own hook back: nothing of ours is called any more.
pub(crate) fn remove() {
    FIRST.store(0, Ordering::Release);
    // The author's hook goes with it, and what that drops is the author's.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(take_hook()))) {
        std::mem::forget(payload);
    }
}

/// Whether ours was dropped where it could not be put back.
pub(crate) fn was_lost() -> bool {
    WAS_LOST.load(Ordering::Relaxed)
}

/// Puts ours before whatever hook there is, unless it is there.
#[cold]
pub(crate) fn ensure(note: fn(&PanicHookInfo<'_>)) {
    if FIRST.load(Ordering::Acquire) == 0 {
        return;
    }
    if std::thread::panicking() {
        // std would panic. The trap that this unwinds to looks again.
        WAS_LOST.store(true, Ordering::Relaxed);
        return;
    }
    // What is dropped while a link is put in may be a link as well, and requests a look then.
    IS_ASKED.store(true, Ordering::SeqCst);
    while IS_ASKED.load(Ordering::SeqCst) && !IS_LOOKING.swap(true, Ordering::SeqCst) {
        while IS_ASKED.swap(false, Ordering::SeqCst) {
            look(note);
        }
        IS_LOOKING.store(false, Ordering::SeqCst);
    }
}

fn look(note: fn(&PanicHookInfo<'_>)) {
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

/// Where a hook lies. A link has a size, so no other hook lies where it does; one without a size has the address of nothing.
fn address_of(hook: &Hook) -> usize {
    (&raw const **hook).cast::<()>().addr()
}

fn links() -> MutexGuard<'static, Vec<(usize, u64)>> {
    LINKS.lock().unwrap_or_else(PoisonError::into_inner)
}
