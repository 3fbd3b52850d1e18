//! Signals of images. The real handler is always the host's: it calls the handlers of the images that have one, the
//! latest first, and then the one that the process had before. No image ever sees another's, so none can call into an
//! image that is gone by way of "the handler before".
//!
//! What each signal leads to is kept in tables of their own; see [`super::signal_tables`].
#![expect(unsafe_code, reason = "sets signal handlers, and calls those of modules")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::kernel::{errno, set_errno};
use super::c::signals::{self, COUNT, bit, is_in, is_ours, nothing, wish};
use super::handlers::{self, Frame, JumpBuffer, Running, Taken};
use super::signal_tables::{Entry, InUse, Table, Tables, let_go};
use super::{lent, onstack};
use crate::ledger::disposition::{Effect, Wish};

thread_local! {
    /// The signals whose original handler was called by a handler that runs on this thread now: one bit each.
    static PASSED_ON: Cell<u64> = const { Cell::new(0) };
}

/// The same for the dispatcher: until it returns, or until the handlers called from it were left by a jump.
struct Reading {
    table: Option<InUse>,
    run: Option<Taken>,
    frame: Frame,
}

/// `sigaction` for one image: sets what is asked, and returns what this image had set before or what the process has.
/// The error is that of the C function.
pub(super) fn set(owner: usize, signal: c_int, action: Option<&libc::sigaction>) -> Result<libc::sigaction, c_int> {
    if !is_ours(signal) {
        return Err(libc::EINVAL);
    }
    let mut tables = Tables::lock();
    let current = tables.current(signal);
    let original = original(signal, current)?;
    let own = current.and_then(|table| table.entries().iter().find(|entry| entry.owner == owner));
    let old = own.map_or_else(|| seen_by_images(&original), |entry| entry.seen());
    if let Some(action) = action {
        let others = current.into_iter().flat_map(Table::entries).filter(|entry| entry.owner != owner);
        // An image that puts back what the process had has no entry any more.
        let own = (action.sa_sigaction != pass_on as *const () as usize).then(|| Entry {
            owner,
            action: *action,
            is_spent: AtomicBool::new(false),
        });
        let entries: [&mut dyn Iterator<Item = Entry>; 2] = [&mut others.map(Entry::again), &mut own.into_iter()];
        swap(&mut tables, signal, original, entries, Fate::Its)?;
    }
    tables.collect();
    Ok(old)
}

/// `signal` for one image, with the meaning it has in glibc.
pub(super) fn set_simply(owner: usize, signal: c_int, handler: usize) -> Result<usize, c_int> {
    let mut action = nothing();
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    if is_ours(signal) {
        signals::add(&mut action.sa_mask, signal);
    }
    set(owner, signal, Some(&action)).map(|old| old.sa_sigaction)
}

/// Takes the image out of every signal; returns of how many. Signals that something of the image has raised (one bit
/// each) and that are not delivered yet are dropped: what they would do by themselves is most often the end of the
/// process. Those that may still come `late` are ignored from now on, unless other code has set another action.
pub(super) fn release(owner: usize, raised: u64, late: u64) -> u64 {
    let mut count = 0;
    for signal in 1..COUNT as c_int {
        let mut tables = Tables::lock();
        let Some(table) = tables.current(signal).filter(|table| table.has(owner)) else { continue };
        let Ok(original) = original(signal, Some(table)) else { continue };
        let others = table.entries().iter().filter(|entry| entry.owner != owner);
        let entries: [&mut dyn Iterator<Item = Entry>; 2] = [&mut others.map(Entry::again), &mut std::iter::empty()];
        let fate = Fate::of(signal, raised, late);
        if swap(&mut tables, signal, original, entries, fate).is_ok() {
            count += 1;
        }
        tables.collect();
    }
    drop_pending(raised, late);
    count
}

/// What becomes of a signal that was raised and that has no handler any more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// What the system does with it by itself.
    Its,
    /// It is dropped if it has been raised already.
    Dropped,
    /// It is ignored from now on.
    Ignored,
}

impl Fate {
    fn of(signal: c_int, raised: u64, late: u64) -> Self {
        match (late & bit(signal) != 0, raised & bit(signal) != 0) {
            (true, _) => Self::Ignored,
            (false, true) => Self::Dropped,
            (false, false) => Self::Its,
        }
    }
}

/// Drops those of these signals (one bit each) that wait to be delivered and have no handler: a timer may have been
/// set for a signal that its image has never handled.
fn drop_pending(raised: u64, late: u64) {
    for signal in (1..COUNT as c_int).filter(|signal| (raised | late) & bit(*signal) != 0 && is_ours(*signal)) {
        let _tables = Tables::lock();
        if let Ok(now) = signals::action(signal) {
            // Nothing can be done about an error here.
            let _set = put(signal, &now, Fate::of(signal, raised, late));
        }
    }
}

/// Makes a signal do this, and where that is what the system does by itself, what its fate is.
fn put(signal: c_int, action: &libc::sigaction, fate: Fate) -> Result<(), c_int> {
    let mut ignore = nothing();
    ignore.sa_sigaction = libc::SIG_IGN;
    let is_changed = fate != Fate::Its && wish(action) == Wish::Default;
    // A signal that comes to be ignored is forgotten, also where it was blocked.
    if is_changed {
        // SAFETY: the action has no handler.
        unsafe { signals::act(signal, &ignore) }?;
    }
    if is_changed && fate == Fate::Ignored {
        return Ok(());
    }
    // SAFETY: the action has no handler, or `dispatch`, or the one that the process has set itself.
    unsafe { signals::act(signal, action) }
}

/// Whether the image has asked for anything about this signal.
pub(super) fn has(owner: usize, signal: c_int) -> bool {
    Tables::lock().current(signal).is_some_and(|table| table.has(owner))
}

/// Signals that an image handles, one bit each.
#[derive(Clone, Copy)]
pub(super) struct Handled {
    pub(super) all: u64,
    /// Those of which nothing but what the system does by itself would remain without it.
    pub(super) alone: u64,
}

/// What the image handles now.
pub(super) fn handled(owner: usize) -> Handled {
    let mut handled = Handled { all: 0, alone: 0 };
    let tables = Tables::lock();
    for signal in 1..COUNT as c_int {
        let Some(table) = tables.current(signal) else { continue };
        let own = |entry: &&Entry| entry.owner == owner;
        if !table.entries().iter().filter(own).any(|entry| entry.wish() == Wish::Handle) {
            continue;
        }
        handled.all |= bit(signal);
        let Ok(original) = original(signal, Some(table)) else { continue };
        let original = wish(&original);
        let others = table.entries().iter().filter(|entry| !own(entry)).map(Entry::wish);
        let is_alone = match Effect::of(original, others) {
            Effect::Original => original == Wish::Default,
            Effect::Default => true,
            Effect::Ignore | Effect::Dispatch => false,
        };
        handled.alone |= if is_alone { bit(signal) } else { 0 };
    }
    handled
}

/// Whether to set this is to have a function called that may be gone soon: not what the process had, and nothing that the
/// system does by itself.
pub(super) fn is_handler(handler: usize) -> bool {
    ![libc::SIG_DFL, libc::SIG_IGN, pass_on as *const () as usize].contains(&handler)
}

/// How many signals lead to the image, or are set as it has asked.
pub(super) fn held(owner: usize) -> u64 {
    let tables = Tables::lock();
    (1..COUNT as c_int).filter_map(|signal| tables.current(signal)).filter(|table| table.has(owner)).count() as u64
}

/// Whether a handler of an image that was released may still be running.
pub(super) fn may_run(owner: usize) -> bool {
    visit_kept(|table| table.has(owner).then_some(())).is_some()
}

/// The handlers for which an image that was released waits: those of its own, and of others that were called from the
/// same tables. Empty where none is known by name.
pub(super) fn running(owner: usize) -> Vec<Running> {
    let mut found = Vec::new();
    let _all: Option<()> = visit_kept(|table| {
        if table.has(owner) {
            found.extend(handlers::reading(ptr::from_ref(table).addr()));
        }
        None
    });
    found
}

/// The calling thread is about to jump to where this buffer says: handlers that it leaves have ended.
pub(super) fn jumps(buffer: &JumpBuffer) {
    if handlers::is_any() {
        handlers::target_of(buffer).into_iter().for_each(|target| handlers::jumps(target, let_go));
    }
}

/// Hands over the tables that were swapped out and may still be read, until there is an answer.
fn visit_kept<T>(see: impl FnMut(&Table) -> Option<T>) -> Option<T> {
    if handlers::is_any() {
        handlers::look(let_go);
    }
    Tables::lock().visit_kept(see)
}

impl Reading {
    /// What the signal leads to now.
    fn of(signal: c_int, context: &libc::ucontext_t) -> Option<Self> {
        let here = 0_u8;
        let frame = Frame::of(context, ptr::from_ref(&here).addr());
        let run = handlers::enter(signal, &frame, let_go);
        match (InUse::of(signal), run) {
            (Some(table), run) => {
                if let Some(run) = &run {
                    run.reads(ptr::from_ref(table.0).expose_provenance());
                }
                Some(Self { table: Some(table), run, frame })
            }
            (None, run) => {
                let _over = run.is_some_and(|run| run.leave());
                None
            }
        }
    }

    /// Calls a handler on the stack that it has asked for; `owner` is the image's, or zero.
    ///
    /// # Safety
    ///
    /// As for [`call`].
    unsafe fn call(
        &self,
        owner: usize,
        action: &libc::sigaction,
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        // SAFETY: our caller promises a record, lent for the length of this call.
        let fault = signals::fault(unsafe { &*info });
        let wants_alternate = action.sa_flags & libc::SA_ONSTACK != 0;
        let stack = if wants_alternate { None } else { onstack::below(&self.frame, signal, fault) };
        if let Some(run) = &self.run {
            run.calls(owner, stack.is_some());
        }
        match stack {
            // SAFETY: our caller promises the call; a handler without `SA_SIGINFO` takes its one argument where the
            // other has its first. What is below the stack pointer of what was interrupted is not in use.
            Some(stack) => unsafe { onstack::call(signal, info, context, action.sa_sigaction, stack) },
            // SAFETY: our caller promises a handler that may be called with these arguments.
            None => unsafe { call(action, signal, info, context) },
        }
        if let Some(run) = &self.run {
            run.calls(0, false);
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if !self.run.as_ref().is_none_or(Taken::leave) {
            // Another thread has found that the run is over, and has released the table for it.
            mem::forget(self.table.take());
        }
    }
}

/// The real handler.
unsafe extern "C" fn dispatch(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let error = errno();
    // SAFETY: what is handed on was lent by the kernel, or is as good.
    lent::with(signal, info, context, |info, context| unsafe { deliver(signal, info, context) });
    set_errno(error);
}

/// Calls the handlers of the images, and that of the process.
///
/// # Safety
///
/// The record and the context are of this signal, and lent for the length of this call.
unsafe fn deliver(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: our caller promises a context, lent for the length of this call.
    let reading = Reading::of(signal, unsafe { &*context.cast() });
    if let Some(reading) = &reading
        && let Some(InUse(table)) = &reading.table
    {
        let outer = PASSED_ON.replace(PASSED_ON.get() & !bit(signal));
        for entry in table.entries().iter().rev().filter(|entry| entry.wish() == Wish::Handle) {
            let once = entry.action.sa_flags & libc::SA_RESETHAND != 0;
            if once && entry.is_spent.swap(true, Ordering::SeqCst) {
                continue;
            }
            // SAFETY: the image that has set the handler is not unmapped while its table is being read.
            unsafe { reading.call(entry.owner, &entry.action, signal, info, context) };
            if once {
                let mut default = entry.action;
                default.sa_sigaction = libc::SIG_DFL;
                // Nothing can be done about an error here; the entry counts as spent either way.
                let _old = set(entry.owner, signal, Some(&default));
            }
        }
        let original = &table.original;
        if wish(original) == Wish::Handle && PASSED_ON.get() & bit(signal) == 0 {
            // SAFETY: the process had set this handler, with the arguments that the kernel gave.
            unsafe { reading.call(0, original, signal, info, context) };
        }
        PASSED_ON.set(outer);
    }
}

/// What images see as the process's own handler: it calls that one, and notes that it has been called.
unsafe extern "C" fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(reading) = InUse::of(signal).filter(|_| is_ours(signal)) else { return };
    PASSED_ON.set(PASSED_ON.get() | bit(signal));
    if wish(&reading.0.original) == Wish::Handle {
        let original = &reading.0.original;
        // SAFETY: an image calls what it saw as the handler before; what is handed on was lent by the kernel, or is as good.
        lent::with(signal, info, context, |info, context| unsafe { call(original, signal, info, context) });
    }
}

/// # Safety
///
/// The action has a handler, which may be called for this signal with these arguments.
unsafe fn call(action: &libc::sigaction, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let handler = ptr::with_exposed_provenance::<()>(action.sa_sigaction);
    // SAFETY: a handler is of the type that the flags of its action say, and our caller promises that it may be called.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            mem::transmute::<*const (), Handler>(handler)(signal, info, context);
        } else {
            mem::transmute::<*const (), unsafe extern "C" fn(c_int)>(handler)(signal);
        }
    }
}

/// Puts a new table in place of the one that is there, and makes the signal do what it says. Under the lock.
fn swap(
    tables: &mut Tables,
    signal: c_int,
    original: libc::sigaction,
    entries: [&mut dyn Iterator<Item = Entry>; 2],
    fate: Fate,
) -> Result<(), c_int> {
    let before = tables.current(signal);
    let table = Table::make(original, before.map_or(0, |table| table.len) + 1, entries)?;
    table.effect = Effect::of(wish(&original), table.entries().iter().map(Entry::wish));
    let action = real(table, signal);
    // The table must be there before the dispatcher can be called, and the dispatcher gone before a table without
    // handlers would be: a dispatcher that finds no handler calls the original, so both orders do.
    tables.lead(signal, table);
    put(signal, &action, fate)?;
    if let Some(before) = before {
        tables.retire(before);
    }
    Ok(())
}

/// What is really to be set for this table.
fn real(table: &Table, signal: c_int) -> libc::sigaction {
    let mut action = nothing();
    match table.effect {
        Effect::Original => return table.original,
        Effect::Default => action.sa_sigaction = libc::SIG_DFL,
        Effect::Ignore => action.sa_sigaction = libc::SIG_IGN,
        Effect::Dispatch => {
            action.sa_sigaction = dispatch as *const () as usize;
            // What one of them cannot stand is not done; what one wants blocked is.
            let handlers = || {
                let images = table.entries().iter().filter(|entry| entry.wish() == Wish::Handle);
                let original = Some(&table.original).filter(|original| wish(original) == Wish::Handle);
                images.map(|entry| &entry.action).chain(original)
            };
            // The alternate stack is for those who have asked for it: who needs it could not be called without it, and for
            // the others the dispatcher goes back to where the signal has come.
            let alternate = handlers().fold(0, |flags, action| flags | action.sa_flags & libc::SA_ONSTACK);
            let common = libc::SA_RESTART | libc::SA_NODEFER | libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT;
            let shared = handlers().fold(common, |flags, action| flags & action.sa_flags);
            action.sa_flags = shared | libc::SA_SIGINFO | alternate;
            for blocked in (1..COUNT as c_int).filter(|other| *other != signal) {
                if handlers().any(|action| is_in(&action.sa_mask, blocked)) {
                    signals::add(&mut action.sa_mask, blocked);
                }
            }
        }
    }
    action
}

/// What the C library tells of an action, without what it does not set: it copies the part of the mask that the kernel does
/// not know from its stack, with whatever addresses stand there.
fn told_whole(told: &libc::sigaction) -> libc::sigaction {
    let mut action = nothing();
    (action.sa_sigaction, action.sa_flags) = (told.sa_sigaction, told.sa_flags);
    action.sa_restorer = told.sa_restorer;
    for signal in (1..COUNT as c_int).filter(|signal| is_in(&told.sa_mask, *signal)) {
        signals::add(&mut action.sa_mask, signal);
    }
    action
}

/// What the process had before any image, or has set since behind the tables' back.
fn original(signal: c_int, table: Option<&'static Table>) -> Result<libc::sigaction, c_int> {
    let now = told_whole(&signals::action(signal)?);
    Ok(match table {
        // A table that leaves things as they were says nothing of what the process does about them meanwhile.
        Some(table) if table.effect != Effect::Original && now.sa_sigaction == real(table, signal).sa_sigaction => {
            table.original
        }
        _ => now,
    })
}

/// What an image is told that the process has.
fn seen_by_images(original: &libc::sigaction) -> libc::sigaction {
    let mut seen = *original;
    if wish(original) == Wish::Handle {
        seen.sa_sigaction = pass_on as *const () as usize;
    }
    seen
}
