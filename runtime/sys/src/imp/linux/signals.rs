//! Signal handlers of images. The handler that is installed in the kernel (the dispatcher) always belongs to the host. The dispatcher calls
//! the handlers of the images, latest first, and then the original handler of the process. An image that queries its previous handler never
//! receives a handler of a different image. Therefore no image can call an unmapped image.
//!
//! The handlers of each signal are stored in [`super::signal_tables`].
#![expect(unsafe_code, reason = "sets signal handlers, and calls those of modules")]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use super::c::kernel::{errno, set_errno};
use super::c::signals::{self, COUNT, bit, disposition, is_in, is_ours, nothing};
use super::handlers::{self, Frame, RunGuard, Running};
use super::signal_tables::{Entry, InUse, Table, Tables};
use super::{handler_arguments, onstack};
use crate::ledger::disposition::{Disposition, Effect};

thread_local! {
    /// Signals, one bit each, whose original handler was called during the running call of the dispatcher on this thread.
    static PASSED_ON: Cell<u64> = const { Cell::new(0) };
}

/// Table and run of one dispatcher call. Used until the dispatcher returns or a jump leaves its handlers.
struct Reading {
    table: Option<InUse>,
    run: Option<RunGuard>,
    frame: Frame,
    /// Address of the fault that caused the signal, if any.
    fault: usize,
}

/// Executes `sigaction` for one image: sets the action, and returns the previous action of this image. If this image had no action, returns
/// the action of the process. The error is the error number of the C function.
pub(super) fn set(owner: usize, signal: c_int, action: Option<&libc::sigaction>) -> Result<libc::sigaction, c_int> {
    if !is_ours(signal) {
        return Err(libc::EINVAL);
    }
    let mut tables = Tables::lock();
    let current = tables.current(signal);
    let original = original(signal, current)?;
    let own = current.and_then(|table| table.entries().iter().find(|entry| entry.owner == owner));
    let old = own.map_or_else(|| for_images(&original), |entry| entry.seen());
    if let Some(action) = action {
        let others = current.into_iter().flat_map(Table::entries).filter(|entry| entry.owner != owner);
        // Creates no entry if the image restores the action of the process, which images receive as `pass_on`.
        let own = (action.sa_sigaction != pass_on as *const () as usize).then(|| Entry {
            owner,
            action: *action,
            is_spent: AtomicBool::new(false),
        });
        let entries: [&mut dyn Iterator<Item = Entry>; 2] = [&mut others.map(Entry::again), &mut own.into_iter()];
        swap(&mut tables, signal, original, entries, Treatment::Default)?;
    }
    tables.collect();
    Ok(old)
}

/// Executes `signal` for one image, with glibc semantics.
pub(super) fn set_simply(owner: usize, signal: c_int, handler: usize) -> Result<usize, c_int> {
    let mut action = nothing();
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART;
    if is_ours(signal) {
        signals::add(&mut action.sa_mask, signal);
    }
    set(owner, signal, Some(&action)).map(|old| old.sa_sigaction)
}

/// Removes the image's handlers from all signals, and returns the number of these signals. `raised` and `late` contain signals, one bit
/// each. Drops the pending `raised` signals, which resources of the image have raised, because their default action usually terminates the
/// process. Ignores the `late` signals from now on, unless other code has set an action for them.
pub(super) fn release(owner: usize, raised: u64, late: u64) -> u64 {
    let mut count = 0;
    for signal in 1..COUNT as c_int {
        let mut tables = Tables::lock();
        let Some(table) = tables.current(signal).filter(|table| table.has(owner)) else { continue };
        let Ok(original) = original(signal, Some(table)) else { continue };
        let others = table.entries().iter().filter(|entry| entry.owner != owner);
        let entries: [&mut dyn Iterator<Item = Entry>; 2] = [&mut others.map(Entry::again), &mut std::iter::empty()];
        let treatment = Treatment::of(signal, raised, late);
        if swap(&mut tables, signal, original, entries, treatment).is_ok() {
            count += 1;
        }
        tables.collect();
    }
    drop_pending(raised, late);
    count
}

/// Treatment of a signal that resources of the image may have raised and that has no handler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treatment {
    /// Default action of the system.
    Default,
    /// The signal is discarded once, if it is pending.
    Dropped,
    /// The signal is ignored permanently.
    Ignored,
}

impl Treatment {
    fn of(signal: c_int, raised: u64, late: u64) -> Self {
        match (late & bit(signal) != 0, raised & bit(signal) != 0) {
            (true, _) => Self::Ignored,
            (false, true) => Self::Dropped,
            (false, false) => Self::Default,
        }
    }
}

/// Drops the pending signals of the set `raised` that have no handler, and ignores those of the set `late`. Includes signals that the image
/// never handled, because the image may have set a timer for such a signal.
fn drop_pending(raised: u64, late: u64) {
    for signal in (1..COUNT as c_int).filter(|signal| (raised | late) & bit(*signal) != 0 && is_ours(*signal)) {
        let _tables = Tables::lock();
        if let Ok(now) = signals::action(signal) {
            // An error is ignored, because the caller cannot handle it.
            let _set = put(signal, &now, Treatment::of(signal, raised, late));
        }
    }
}

/// Sets the action of a signal. If `action` is the default action, also applies `treatment`.
fn put(signal: c_int, action: &libc::sigaction, treatment: Treatment) -> Result<(), c_int> {
    let mut ignore = nothing();
    ignore.sa_sigaction = libc::SIG_IGN;
    let is_changed = treatment != Treatment::Default && disposition(action) == Disposition::Default;
    // Ignoring a pending signal discards the signal, even if the signal is blocked.
    if is_changed {
        // SAFETY: the action has no handler.
        unsafe { signals::act(signal, &ignore) }?;
    }
    if is_changed && treatment == Treatment::Ignored {
        return Ok(());
    }
    // SAFETY: the action has no handler, has `dispatch` as its handler, or is one that the process has set itself.
    unsafe { signals::act(signal, action) }
}

pub(super) fn has(owner: usize, signal: c_int) -> bool {
    Tables::lock().current(signal).is_some_and(|table| table.has(owner))
}

/// Signals that an image handles, one bit each.
#[derive(Clone, Copy)]
pub(super) struct Handled {
    pub(super) all: u64,
    /// Signals that would have the default action without the image.
    pub(super) alone: u64,
}

pub(super) fn handled(owner: usize) -> Handled {
    let mut handled = Handled { all: 0, alone: 0 };
    let tables = Tables::lock();
    for signal in 1..COUNT as c_int {
        let Some(table) = tables.current(signal) else { continue };
        let own = |entry: &&Entry| entry.owner == owner;
        if !table.entries().iter().filter(own).any(|entry| entry.disposition() == Disposition::Handle) {
            continue;
        }
        handled.all |= bit(signal);
        let Ok(original) = original(signal, Some(table)) else { continue };
        let original = disposition(&original);
        let others = table.entries().iter().filter(|entry| !own(entry)).map(Entry::disposition);
        let is_alone = match Effect::of(original, others) {
            Effect::Original => original == Disposition::Default,
            Effect::Default => true,
            Effect::Ignore | Effect::Dispatch => false,
        };
        handled.alone |= if is_alone { bit(signal) } else { 0 };
    }
    handled
}

/// Checks if a handler may be a function of an image. Returns `false` for the default action, for an ignored signal, and for [`pass_on`],
/// which calls the original handler of the process.
pub(super) fn is_handler(handler: usize) -> bool {
    ![libc::SIG_DFL, libc::SIG_IGN, pass_on as *const () as usize].contains(&handler)
}

pub(super) fn held(owner: usize) -> u64 {
    let tables = Tables::lock();
    (1..COUNT as c_int).filter_map(|signal| tables.current(signal)).filter(|table| table.has(owner)).count() as u64
}

/// Checks if a handler of a released image may still be running.
pub(super) fn may_run(owner: usize) -> bool {
    visit_retired(|table| table.has(owner).then_some(())).is_some()
}

/// Returns the running handlers that must return before a released image can be unmapped. These are the image's own handlers, and the
/// handlers of other images that run with the same tables. The result is empty if the table of runs lists no such handler.
pub(super) fn running(owner: usize) -> Vec<Running> {
    let mut found = Vec::new();
    let _all: Option<()> = visit_retired(|table| {
        if table.has(owner) {
            found.extend(handlers::reading(ptr::from_ref(table).addr()));
        }
        None
    });
    found
}

/// Ends abandoned runs. Then calls `see` with each replaced table that may still be read, until `see` returns a value.
fn visit_retired<T>(see: impl FnMut(&Table) -> Option<T>) -> Option<T> {
    handlers::end_abandoned();
    Tables::lock().visit_retired(see)
}

impl Reading {
    /// Takes a reference to the table of the signal, if any, and adds a record for the run.
    fn of(signal: c_int, info: &libc::siginfo_t, frame: Frame) -> Self {
        let run = handlers::enter(signal, &frame);
        let table = InUse::of(signal);
        if let (Some(table), Some(run)) = (&table, &run) {
            run.reads(ptr::from_ref(table.0).expose_provenance());
        }
        Self { table, run, frame, fault: signals::fault(info) }
    }

    /// Calls a handler on its requested stack. `owner` is the owner id of the image, or zero for a handler of the process.
    ///
    /// # Safety
    ///
    /// The requirements of [`call`] apply.
    unsafe fn call(
        &self,
        owner: usize,
        action: &libc::sigaction,
        signal: c_int,
        info: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        let wants_alternate = action.sa_flags & libc::SA_ONSTACK != 0;
        let stack = if wants_alternate { None } else { onstack::below(&self.frame, signal, self.fault) };
        if let Some(run) = &self.run {
            run.calls(owner, stack.is_some());
        }
        match stack {
            // SAFETY: our caller promises the call; a handler without `SA_SIGINFO` receives its only argument in the position of the first
            // argument. The memory below the stack pointer of the interrupted code is unused.
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
        if !self.run.as_ref().is_none_or(RunGuard::leave) {
            // A different thread has ended this run and has released the table.
            mem::forget(self.table.take());
        }
    }
}

unsafe extern "C" fn dispatch(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let error = errno();
    handler_arguments::with(signal, info, context, |info, found| {
        // SAFETY: the kernel or an equivalent source provides the arguments.
        unsafe { deliver(signal, info, found, found != context) }
    });
    set_errno(error);
}

/// Calls the handlers of the images and of the process. `is_substitute` is `true` if the caller of the dispatcher passed no valid context.
///
/// # Safety
///
/// The record and the context belong to this signal and are live during this call.
unsafe fn deliver(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_substitute: bool) {
    // SAFETY: our caller promises a record and a context that are live during this call.
    let (record, interrupted) = unsafe { (&*info, &*context.cast::<libc::ucontext_t>()) };
    let here = 0_u8;
    let frame = Frame::of(interrupted, ptr::from_ref(&here).addr());
    // The original handler may call the dispatcher as its previous handler, with its own context or with no valid context.
    let own = (!is_substitute).then_some(&frame);
    if PASSED_ON.get() & bit(signal) != 0 && handlers::is_nested(signal, own) {
        return;
    }
    let reading = Reading::of(signal, record, frame);
    if let Some(InUse(table)) = &reading.table {
        let outer = PASSED_ON.replace(PASSED_ON.get() & !bit(signal));
        for entry in table.entries().iter().rev().filter(|entry| entry.disposition() == Disposition::Handle) {
            let once = entry.action.sa_flags & libc::SA_RESETHAND != 0;
            if once && entry.is_spent.swap(true, Ordering::SeqCst) {
                continue;
            }
            // SAFETY: the image that has set the handler is not unmapped while its table is in use.
            unsafe { reading.call(entry.owner, &entry.action, signal, info, context) };
            if once {
                let mut default = entry.action;
                default.sa_sigaction = libc::SIG_DFL;
                // An error is ignored, because the entry counts as spent in any case.
                let _old = set(entry.owner, signal, Some(&default));
            }
        }
        let original = &table.original;
        // A chained handler that is in effect has itself called the dispatcher.
        let is_caller = table.is_chained && table.effect == Effect::Original;
        if disposition(original) == Disposition::Handle && PASSED_ON.get() & bit(signal) == 0 && !is_caller {
            PASSED_ON.set(PASSED_ON.get() | bit(signal));
            // SAFETY: the process had set this handler, and the arguments come from the kernel.
            unsafe { reading.call(0, original, signal, info, context) };
        }
        PASSED_ON.set(outer);
    }
}

/// Calls the process's own handler and records the call. Images that query the handler of the process receive this function.
unsafe extern "C" fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(reading) = InUse::of(signal).filter(|_| is_ours(signal)) else { return };
    PASSED_ON.set(PASSED_ON.get() | bit(signal));
    if disposition(&reading.0.original) == Disposition::Handle {
        let original = &reading.0.original;
        // SAFETY: an image calls its previous handler; the kernel or an equivalent source provides the arguments.
        handler_arguments::with(signal, info, context, |info, context| unsafe {
            call(original, signal, info, context)
        });
    }
}

/// # Safety
///
/// The action has a handler that may be called for this signal with these arguments.
unsafe fn call(action: &libc::sigaction, signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let handler = ptr::with_exposed_provenance::<()>(action.sa_sigaction);
    // SAFETY: the flags of an action determine the type of its handler, and our caller promises that it may be called.
    unsafe {
        if action.sa_flags & libc::SA_SIGINFO != 0 {
            type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            mem::transmute::<*const (), Handler>(handler)(signal, info, context);
        } else {
            mem::transmute::<*const (), unsafe extern "C" fn(c_int)>(handler)(signal);
        }
    }
}

/// Replaces the current table of the signal and sets the action that results from the new table. The caller must hold the lock.
fn swap(
    tables: &mut Tables,
    signal: c_int,
    original: libc::sigaction,
    entries: [&mut dyn Iterator<Item = Entry>; 2],
    treatment: Treatment,
) -> Result<(), c_int> {
    let before = tables.current(signal);
    let table = Table::make(original, before.map_or(0, |table| table.len) + 1, entries)?;
    table.effect = Effect::of(disposition(&original), table.entries().iter().map(Entry::disposition));
    table.is_chained = before.is_some_and(|before| {
        let is_replaced = before.original.sa_sigaction != original.sa_sigaction;
        before.is_chained || before.effect == Effect::Dispatch && is_replaced
    });
    let action = real(table, signal);
    // Installs the table before the dispatcher can be called. A table without handlers may be installed while the dispatcher can still be
    // called, because the dispatcher then performs the original action.
    tables.install(signal, table);
    put(signal, &action, treatment)?;
    if let Some(before) = before {
        tables.retire(before);
    }
    Ok(())
}

/// Returns the action that the kernel must have while this table is installed.
fn real(table: &Table, signal: c_int) -> libc::sigaction {
    let mut action = nothing();
    match table.effect {
        Effect::Original => return table.original,
        Effect::Default => action.sa_sigaction = libc::SIG_DFL,
        Effect::Ignore => action.sa_sigaction = libc::SIG_IGN,
        Effect::Dispatch => {
            action.sa_sigaction = dispatch as *const () as usize;
            // A flag is set if the actions of all handlers have the flag. A signal is added to the mask if the action of any handler blocks
            // the signal.
            let handlers = || {
                let images = table.entries().iter().filter(|entry| entry.disposition() == Disposition::Handle);
                let original = Some(&table.original).filter(|original| disposition(original) == Disposition::Handle);
                images.map(|entry| &entry.action).chain(original)
            };
            // Uses the alternate stack if any handler requests it, because that handler may need it. For the remaining handlers, the
            // dispatcher switches back to the interrupted stack.
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

/// Copies an action that the C library has returned, without the uninitialized part of the action. In mask bits that the kernel does not
/// define, the C library leaves stale stack contents, including addresses.
fn without_padding(returned: &libc::sigaction) -> libc::sigaction {
    let mut action = nothing();
    (action.sa_sigaction, action.sa_flags) = (returned.sa_sigaction, returned.sa_flags);
    action.sa_restorer = returned.sa_restorer;
    for signal in (1..COUNT as c_int).filter(|signal| is_in(&returned.sa_mask, *signal)) {
        signals::add(&mut action.sa_mask, signal);
    }
    action
}

/// Returns the action that the process had before images set actions. If other code has set an action without a hook since then, returns
/// that action.
fn original(signal: c_int, table: Option<&'static Table>) -> Result<libc::sigaction, c_int> {
    let now = without_padding(&signals::action(signal)?);
    Ok(match table {
        // Uses the table's copy only while the table is in effect, because otherwise the process may have changed the action since.
        Some(table) if table.effect != Effect::Original && now.sa_sigaction == real(table, signal).sa_sigaction => {
            table.original
        }
        _ => now,
    })
}

/// Returns the action of the process as presented to images.
fn for_images(original: &libc::sigaction) -> libc::sigaction {
    let mut seen = *original;
    if disposition(original) == Disposition::Handle {
        seen.sa_sigaction = pass_on as *const () as usize;
    }
    seen
}
