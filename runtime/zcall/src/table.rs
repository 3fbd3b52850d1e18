//! Handles of calls: a name is resolved once and called by number from then on. A number is never used twice, so a
//! caller that kept one past the end of its module gets an error that says so, and never another function.
//!
//! Resolvers and dispatchers may call functions of this file while they run, so nothing is borrowed then.

use std::collections::HashMap;
use std::rc::{Rc, Weak};

use alcedo_abi::zcall::ZCallStatus;

use super::black_code::BlackCode;
use super::buffer::BufferMut;
use super::call::{Call, Callee, Implementer, Resolved};
use super::chain::ResolverChain;
use super::module_status::{ModuleStatus, ModuleStatuses};
use super::name::ZCallName;
use super::observe::{CallTimes, Observed, Observer};
use super::rows::{Found, Row};
use super::signature::CallSignature;
use crate::border::{CallError, trap};
use crate::cells::RefCell;
use crate::game_thread::GameThread;
use crate::handles::{ModuleId, ZCallHandle};
use crate::stamp::Stamp;

/// Every handle given out, and what it calls. Game thread only.
#[derive(Default)]
pub struct ZCallTable {
    state: RefCell<State>,
    /// Changes when a handle may stand for something else than before, or for nothing. Shut while calls are watched, so that whoever
    /// compares pays nothing more for that.
    stamp: Rc<Stamp>,
    observer: Observer,
}

/// A handle with what it stood for when it was last looked at, for callers that keep it: no look while nothing has changed. It keeps
/// nothing alive.
#[derive(Clone, Debug)]
pub struct KeptHandle {
    handle: ZCallHandle,
    callee: Weak<Callee>,
    looked: u64,
}

impl KeptHandle {
    /// The handle.
    #[must_use]
    pub fn handle(&self) -> ZCallHandle {
        self.handle
    }
}

/// How many handles there were at some time.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    host: u64,
    module: u64,
}

#[derive(Default)]
struct State {
    /// Handles 1, 2, …: the host implements them.
    host: Row,
    /// Handles -1, -2, …: a module implements them.
    module: Row,
    /// Oldest first. A name has a second handle only while the module of its first is suspended.
    names: HashMap<ZCallName, Vec<ZCallHandle>>,
    statuses: ModuleStatuses,
}

impl ZCallTable {
    /// A table without handles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with this stamp.
    #[must_use]
    pub fn with_stamp(stamp: Rc<Stamp>) -> Self {
        Self { stamp, ..Self::default() }
    }

    /// The handle of `name`: the one it has, or a new one for what the chain finds. `fingerprint` is that of the
    /// signature the caller was built for: the caller follows the addresses in slots as that signature says. Zero is
    /// that of a caller which checks each value; only such callers can call a callee without a signature.
    ///
    /// # Errors
    /// [`CallError::NotFound`] when the text is no name or leads nowhere; [`CallError::Signature`];
    /// [`CallError::Unavailable`] when the chain answers with something of a module that is suspended or over.
    #[inline]
    pub fn resolve(&self, chain: &ResolverChain, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
        let name = chain.read(name)?;
        if let Some(known) = self.known(&name, fingerprint) {
            return known;
        }
        let resolved = chain.resolve(&name)?;
        // The resolver may have looked up the same name itself: then it is registered, and stays so, once.
        if let Some(known) = self.known(&name, fingerprint) {
            return known;
        }
        agree(&name, &resolved.signature, fingerprint)?;
        let mut state = self.state.borrow_mut();
        match state.statuses.status(resolved.module) {
            ModuleStatus::Running => Ok(state.register(name, resolved)),
            ModuleStatus::Suspended | ModuleStatus::Ended => Err(CallError::Unavailable { what: format!("`{name}`") }),
        }
    }

    /// Calls what `handle` stands for. A panic of host code is stopped here; a module stops its own.
    ///
    /// The status is the number of the error in the ABI. No slot was touched, unless the error is one of the dispatcher
    /// itself.
    #[inline]
    pub fn dispatch(
        &self,
        gt: GameThread<'_>,
        handle: ZCallHandle,
        buffer: BufferMut<'_>,
    ) -> (ZCallStatus, Result<(), CallError>) {
        let callee = match self.running(handle) {
            Ok(callee) => callee,
            Err((status, error)) => return (status, Err(error)),
        };
        match self.dispatch_fresh(gt, &callee, buffer) {
            Ok(()) => (ZCallStatus::SUCCESS, Ok(())),
            Err(error) => (status_of(&error), Err(error)),
        }
    }

    /// A handle whose module answers calls now, to be kept.
    ///
    /// # Errors
    /// As for a call of it.
    pub fn keep(&self, handle: ZCallHandle) -> Result<KeptHandle, CallError> {
        let callee = self.running(handle).map_err(|(_, error)| error)?;
        Ok(KeptHandle { handle, callee: Rc::downgrade(&callee), looked: self.stamp.count() })
    }

    /// What a kept handle stands for, if nothing has changed in the table since it was looked at; none where something has, which may
    /// have been something else.
    #[inline]
    pub fn fresh(&self, kept: &KeptHandle) -> Option<Rc<Callee>> {
        if kept.looked == self.stamp.count() { kept.callee.upgrade() } else { None }
    }

    /// Calls what [`Self::fresh`] has just given, as [`Self::dispatch`] does.
    ///
    /// # Errors
    /// As [`Self::dispatch`].
    #[inline]
    pub fn dispatch_fresh(
        &self,
        _gt: GameThread<'_>,
        callee: &Rc<Callee>,
        buffer: BufferMut<'_>,
    ) -> Result<(), CallError> {
        let call = || trap(|| callee.dispatcher.call(Call::new(callee, buffer))).map_err(|error| placed(callee, error));
        if self.is_observed() { self.observer.around_named(&callee.name, call) } else { call() }
    }

    /// From now on kept handles are looked at again.
    fn change(&self) {
        self.stamp.change();
    }

    /// The number that changes when a handle may stand for something else than before.
    #[inline]
    pub fn stamp(&self) -> &Rc<Stamp> {
        &self.stamp
    }

    /// Whether calls are watched.
    #[must_use]
    #[inline]
    pub fn is_observed(&self) -> bool {
        self.observer.what().any()
    }

    /// What is watched.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.observer.what()
    }

    /// From now on this is watched. What was counted stays.
    pub fn observe(&self, what: Observed) {
        self.observer.set(what);
        self.stamp.observe(what.any());
    }

    /// What was counted so far, by kind and name.
    #[must_use]
    pub fn times(&self) -> Vec<CallTimes> {
        self.observer.times()
    }

    /// Forgets what was counted.
    pub fn clear_times(&self) {
        self.observer.clear();
    }

    /// Does a call that is not dispatched here, and watches it where calls are watched: `kind` says what sort of call it is.
    ///
    /// # Errors
    /// Those of the call.
    #[inline]
    pub fn watched<T>(
        &self,
        kind: &str,
        name: &str,
        call: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        if self.is_observed() { self.observer.around(kind, name, call) } else { call() }
    }

    /// What `handle` stands for, if its module answers calls now and callers of that fingerprint may call it.
    ///
    /// # Errors
    /// As for a call of it, and [`CallError::Signature`].
    pub fn callee_of(&self, handle: ZCallHandle, fingerprint: u64) -> Result<Rc<Callee>, CallError> {
        let callee = self.running(handle).map_err(|(_, error)| error)?;
        agree(&callee.name, &callee.signature, fingerprint)?;
        Ok(callee)
    }

    /// How plugins call directly what `handle` stands for, if callers of that fingerprint may.
    ///
    /// # Errors
    /// As for a call of it.
    pub fn black_code(&self, handle: ZCallHandle, fingerprint: u64) -> Result<Option<BlackCode>, CallError> {
        let callee = self.running(handle).map_err(|(_, error)| error)?;
        let is_its = fingerprint != 0 && callee.signature.fingerprint() == fingerprint;
        Ok(callee.black_code.clone().filter(|_| is_its))
    }

    /// What `handle` stands for, with its signature as it was read when the name was resolved; `None` once its module
    /// is over.
    #[inline]
    pub fn callee(&self, handle: ZCallHandle) -> Option<Rc<Callee>> {
        match self.state.borrow().find(handle) {
            Found::Alive(entry) => Some(Rc::clone(entry)),
            Found::Dead | Found::NeverGiven => None,
        }
    }

    /// How many handles were given out so far, by either side.
    pub fn given(&self) -> Given {
        let state = self.state.borrow();
        Given { host: state.host.given(), module: state.module.given() }
    }

    /// The names of living handles that were given out since, in order.
    pub fn names_since(&self, then: Given) -> Vec<String> {
        let state = self.state.borrow();
        let names = state.host.since(then.host).chain(state.module.since(then.module));
        let mut names: Vec<_> = names.map(|entry| entry.name.to_string()).collect();
        names.sort_unstable();
        names
    }

    /// Number of living handles, suspended ones included.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        let state = self.state.borrow();
        state.names.values().map(Vec::len).sum()
    }

    /// Whether no handle is alive.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A line for each handle that ends with a module, in order.
    pub fn of_modules(&self) -> Vec<String> {
        let state = self.state.borrow();
        let line = |handle: &ZCallHandle| match state.find(*handle) {
            Found::Alive(entry) if entry.module != ModuleId::HOST => {
                let status = state.statuses.status(entry.module);
                Some(format!("{} {} of module {}, {status:?}", handle.0, entry.name, entry.module.0))
            }
            _ => None,
        };
        let mut lines: Vec<_> = state.names.values().flatten().filter_map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// Sets a module's handles aside: calling them gives `CONTEXT_UNAVAILABLE`, and their names are resolved by the
    /// chain again. The host's own module cannot be suspended.
    pub fn suspend(&self, module: ModuleId) {
        self.change();
        self.state.borrow_mut().statuses.suspend(module);
    }

    /// Takes a suspended module's handles back: their names lead to them again. End the module that was to
    /// replace it as well.
    pub fn resume(&self, module: ModuleId) {
        self.change();
        self.state.borrow_mut().statuses.resume(module);
    }

    /// Ends all handles of a module, suspended or not, and drops their dispatchers. A later registration for it is
    /// refused. The host's own module does not end.
    pub fn end_module(&self, module: ModuleId) {
        if module == ModuleId::HOST {
            return;
        }
        self.change();
        let ended = self.state.borrow_mut().end(module);
        // Dropping a dispatcher may run code that calls this table.
        drop(ended);
    }

    /// The modules with numbers between these two have no handles here.
    pub fn pass_over(&self, after: ModuleId, before: ModuleId) {
        self.change();
        self.state.borrow_mut().statuses.pass_over(after, before);
    }

    fn known(&self, name: &ZCallName, fingerprint: u64) -> Option<Result<ZCallHandle, CallError>> {
        let state = self.state.borrow();
        let (handle, entry) = state.lookup(name)?;
        Some(agree(name, &entry.signature, fingerprint).map(|()| handle))
    }

    #[inline]
    fn running(&self, handle: ZCallHandle) -> Result<Rc<Callee>, (ZCallStatus, CallError)> {
        let state = self.state.borrow();
        match state.find(handle) {
            Found::Alive(entry) => match state.statuses.status(entry.module) {
                ModuleStatus::Running => Ok(Rc::clone(entry)),
                ModuleStatus::Suspended | ModuleStatus::Ended => {
                    let what = format!("`{}`", entry.name);
                    Err((ZCallStatus::CONTEXT_UNAVAILABLE, CallError::Unavailable { what }))
                }
            },
            Found::Dead => {
                let message = format!("call handle {} is dead, its module is over: resolve the name again", handle.0);
                Err((ZCallStatus::DISPATCHER_NOT_FOUND, CallError::DeadHandle { message }))
            }
            Found::NeverGiven => {
                let message = format!("call handle {} was never given out: resolve a name first", handle.0);
                Err((ZCallStatus::INVALID_HANDLE, CallError::NotFound { message }))
            }
        }
    }
}

impl State {
    fn lookup(&self, name: &ZCallName) -> Option<(ZCallHandle, &Rc<Callee>)> {
        self.names.get(name)?.iter().find_map(|&handle| match self.find(handle) {
            Found::Alive(entry) if self.statuses.status(entry.module) == ModuleStatus::Running => Some((handle, entry)),
            _ => None,
        })
    }

    #[inline]
    fn find(&self, handle: ZCallHandle) -> Found<'_> {
        match handle.0 {
            0 => Found::NeverGiven,
            1.. => self.host.find(handle.0.unsigned_abs()),
            _ => self.module.find(handle.0.unsigned_abs()),
        }
    }

    fn register(&mut self, name: ZCallName, resolved: Resolved) -> ZCallHandle {
        let side = resolved.side;
        let entry = Rc::new(Callee::new(name.clone(), resolved));
        let handle = match side {
            Implementer::Host => ZCallHandle(self.host.push(entry).cast_signed()),
            Implementer::Module(_) => ZCallHandle(-self.module.push(entry).cast_signed()),
        };
        self.names.entry(name).or_default().push(handle);
        handle
    }

    fn end(&mut self, module: ModuleId) -> Vec<Rc<Callee>> {
        self.statuses.end(module);
        let mut ended = self.host.take(module);
        ended.append(&mut self.module.take(module));
        for entry in &ended {
            if let Some(mut handles) = self.names.remove(&entry.name) {
                handles.retain(|&handle| matches!(self.find(handle), Found::Alive(_)));
                if !handles.is_empty() {
                    self.names.insert(entry.name.clone(), handles);
                }
            }
        }
        ended
    }
}

/// The error of a dispatcher names the slot that is wrong, but not the name it was called by, which is added here.
#[cold]
fn placed(callee: &Callee, error: CallError) -> CallError {
    match error {
        CallError::Buffer { message } => CallError::Buffer { message: format!("`{}`: {message}", callee.name) },
        error => error,
    }
}

fn agree(name: &ZCallName, signature: &CallSignature, wanted: u64) -> Result<(), CallError> {
    let found = match (signature.fingerprint(), wanted) {
        (_, 0) => return Ok(()),
        (0, _) => {
            "none that could be compared: call it with values whose types are asked for, as `zcall_any` does".into()
        }
        (found, _) if found == wanted => return Ok(()),
        (found, _) => format!("{}, fingerprint {found:016x}", signature.words()),
    };
    Err(CallError::Signature { name: format!("`{name}`"), found, wanted: format!("fingerprint {wanted:016x}") })
}

/// The ABI's number for an error.
pub fn status_of(error: &CallError) -> ZCallStatus {
    match error {
        CallError::Panicked { .. } => ZCallStatus::EXTERNAL_ERROR,
        CallError::InScript { error, .. } => status_of(error),
        CallError::Buffer { .. } | CallError::Signature { .. } => ZCallStatus::BUFFER_ERROR,
        CallError::Unavailable { .. } => ZCallStatus::CONTEXT_UNAVAILABLE,
        CallError::DeadHandle { .. } => ZCallStatus::DISPATCHER_NOT_FOUND,
        CallError::Returned { .. }
        | CallError::TooDeep { .. }
        | CallError::TooLarge { .. }
        | CallError::ReentrantBorrow { .. }
        | CallError::Stale { .. }
        | CallError::WrongThread { .. }
        | CallError::WrongStack { .. }
        | CallError::DuringRebuild { .. }
        | CallError::NotFound { .. }
        | CallError::NoMaster { .. }
        | CallError::WrongClass { .. }
        | CallError::Expired { .. }
        | CallError::Lent { .. }
        | CallError::Other { .. } => ZCallStatus::DISPATCHER_ERROR,
    }
}

impl std::fmt::Debug for ZCallTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.borrow();
        f.debug_map().entries(state.names.iter().map(|(name, handles)| (name.to_string(), handles))).finish()
    }
}

#[cfg(test)]
mod tests;
