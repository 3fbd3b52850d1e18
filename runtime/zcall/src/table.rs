//! Call table: handles to which names were resolved. A name is resolved once, and its function is then called by handle. Handles are never
//! reused. After the module of a function has ended, calls of the function's handle return an error.
//!
//! Resolvers and dispatchers may call the table. The table holds no borrow while a resolver or dispatcher runs.

use std::collections::HashMap;
use std::rc::{Rc, Weak};

use alcedo_abi::call::FailureKind;
use alcedo_abi::zcall::ZCallStatus;

use super::black_code::BlackCode;
use super::buffer::BufferMut;
use super::call::{Call, Callee, Implementer, Resolved};
use super::chain::ResolverChain;
use super::entry_table::{EntryTable, Found};
use super::module_status::ModuleStatuses;
use super::name::ZCallName;
use super::observe::{CallTimes, Observed, Observer};
use super::signature::CallSignature;
use crate::boundary::{CallError, catch_panics, not_found};
use crate::cells::RefCell;
use crate::epoch::Epoch;
use crate::game_thread::GameThread;
use crate::handles::{ModuleId, ZCallHandle};

/// All assigned handles and their callees. Game thread only.
///
/// # Examples
/// ```
/// # use std::rc::Rc;
/// # use alcedo_base::game_thread::GameThreadId;
/// # use alcedo_zcall::call::{Call, Resolved};
/// # use alcedo_zcall::chain::{Origin, ResolverChain};
/// # use alcedo_zcall::explicit::{Ex, Explicit};
/// # use alcedo_zcall::owned::DynBuffer;
/// # use alcedo_zcall::signature::CallSignature;
/// # use alcedo_zcall::table::ZCallTable;
/// # let (chain, functions) = (ResolverChain::new(), Rc::new(Explicit::default()));
/// # chain.add_protocol(Rc::new(Ex), Origin::BuiltIn)?;
/// # chain.add("ex", Origin::BuiltIn, 0, "registered", functions.clone())?;
/// # let score = |call: Call<'_>| call.into_buffer().set(0, 7_u64);
/// # functions.register("score", Resolved::new(CallSignature::new("-> u64".into(), 0, ()), score))?;
/// # let (table, id) = (ZCallTable::new(), GameThreadId::here());
/// # let game_thread = id.prove().expect("the thread of the id");
/// let handle = table.resolve(&chain, "ex:/score", 0)?;
/// let mut buffer = DynBuffer::with_len(1);
/// let (_, called) = table.dispatch(game_thread, handle, buffer.as_buffer_mut());
/// called?;
/// assert_eq!(buffer.get::<u64>(0)?, 7);
/// # Ok::<(), alcedo_base::boundary::CallError>(())
/// ```
#[derive(Default)]
pub struct ZCallTable {
    state: RefCell<State>,
    /// Epoch that changes when a handle may refer to a different function or to no function. The fast paths are also disabled while calls
    /// are observed. One comparison of the epoch therefore detects both a changed table and an observer.
    epoch: Rc<Epoch>,
    observer: Observer,
}

/// Cached handle with a weak reference to its callee. While the table is unchanged, a call needs no lookup.
#[derive(Clone, Debug)]
pub struct KeptHandle {
    handle: ZCallHandle,
    callee: Weak<Callee>,
    cached_at: u64,
}

impl KeptHandle {
    /// Returns the handle.
    #[must_use]
    pub fn handle(&self) -> ZCallHandle {
        self.handle
    }
}

/// Number of handles that were assigned before a point in time, counted separately for functions of the host and of modules.
#[derive(Clone, Copy, Debug)]
pub struct Issued {
    host: u64,
    module: u64,
}

#[derive(Default)]
struct State {
    /// Callees of the handles 1, 2, … for functions of the host.
    host: EntryTable,
    /// Callees of the handles -1, -2, … for functions of modules.
    module: EntryTable,
    /// Handles by name, oldest first. A name has two handles only while the module of the first handle is suspended.
    names: HashMap<ZCallName, Vec<ZCallHandle>>,
    statuses: Rc<ModuleStatuses>,
}

impl ZCallTable {
    /// Creates a table without handles.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty table that uses the epoch `epoch`. `statuses` is the list of module statuses that the resolver chain uses.
    #[must_use]
    pub fn with_epoch(epoch: Rc<Epoch>, statuses: Rc<ModuleStatuses>) -> Self {
        Self { state: RefCell::new(State { statuses, ..State::default() }), epoch, ..Self::default() }
    }

    /// Returns the handle of `name`. For a new name, assigns a handle to the function that `chain` returns. `fingerprint` identifies the
    /// signature according to which the caller stores addresses in slots. Callers that check each value themselves pass zero. Only such
    /// callers can call a function whose fingerprint is zero.
    ///
    /// # Errors
    /// Returns [`CallError::NotFound`] if the string is not a valid name or does not resolve. Returns [`CallError::Signature`] if the
    /// fingerprints differ. Returns [`CallError::Unavailable`] if the function belongs to a module that is suspended or has ended.
    ///
    /// # Examples
    /// ```
    /// # use std::rc::Rc;
    /// # use alcedo_base::game_thread::GameThreadId;
    /// # use alcedo_zcall::call::{Call, Resolved};
    /// # use alcedo_zcall::chain::{Origin, ResolverChain};
    /// # use alcedo_zcall::explicit::{Ex, Explicit};
    /// # use alcedo_zcall::owned::DynBuffer;
    /// # use alcedo_zcall::signature::CallSignature;
    /// # use alcedo_zcall::table::ZCallTable;
    /// # let (chain, functions) = (ResolverChain::new(), Rc::new(Explicit::default()));
    /// # chain.add_protocol(Rc::new(Ex), Origin::BuiltIn)?;
    /// # chain.add("ex", Origin::BuiltIn, 0, "registered", functions.clone())?;
    /// # let score = |call: Call<'_>| call.into_buffer().set(0, 7_u64);
    /// # functions.register("score", Resolved::new(CallSignature::new("-> u64".into(), 0, ()), score))?;
    /// # let (table, id) = (ZCallTable::new(), GameThreadId::here());
    /// # let game_thread = id.prove().expect("the thread of the id");
    /// let handle = table.resolve(&chain, "ex:/score", 0)?;
    /// assert_eq!(table.resolve(&chain, "ex:/score", 0)?, handle);
    /// let error = table.resolve(&chain, "ex:/lives", 0).expect_err("not registered");
    /// assert!(error.to_string().contains("register a function of that name first"));
    /// # let _ = game_thread;
    /// # Ok::<(), alcedo_base::boundary::CallError>(())
    /// ```
    #[inline]
    pub fn resolve(&self, chain: &ResolverChain, name: &str, fingerprint: u64) -> Result<ZCallHandle, CallError> {
        let name = chain.read(name)?;
        if let Some(known) = self.resolved_before(&name, fingerprint) {
            return known;
        }
        let resolved = chain.resolve(&name)?;
        // If the resolver itself has looked up this name through the table, returns the handle of that lookup.
        if let Some(known) = self.resolved_before(&name, fingerprint) {
            return known;
        }
        agree(&name, &resolved.signature, fingerprint)?;
        let mut state = self.state.borrow_mut();
        match state.statuses.is_running(resolved.module) {
            true => Ok(state.register(name, resolved)),
            false => Err(CallError::Unavailable { what: format!("`{name}`") }),
        }
    }

    /// Calls the function of `handle`. Catches panics of host code. A module catches its own panics.
    ///
    /// If the call fails, returns the error with its ABI status. The slots are unchanged if the call fails before the dispatcher runs.
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

    /// Creates a cached handle. The module of the function must accept calls.
    ///
    /// # Errors
    /// Returns the error that a call of the handle would return.
    pub fn keep(&self, handle: ZCallHandle) -> Result<KeptHandle, CallError> {
        let callee = self.running(handle).map_err(|(_, error)| error)?;
        Ok(KeptHandle { handle, callee: Rc::downgrade(&callee), cached_at: self.epoch.count() })
    }

    /// Returns the callee of a cached handle. Returns `None` if the table has changed since [`Self::keep`] created the cached handle.
    #[inline]
    pub fn fresh(&self, kept: &KeptHandle) -> Option<Rc<Callee>> {
        if kept.cached_at == self.epoch.count() { kept.callee.upgrade() } else { None }
    }

    /// Calls a callee that [`Self::fresh`] has just returned, with the behavior of [`Self::dispatch`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::dispatch`].
    #[inline]
    pub fn dispatch_fresh(
        &self,
        _gt: GameThread<'_>,
        callee: &Rc<Callee>,
        buffer: BufferMut<'_>,
    ) -> Result<(), CallError> {
        let call = || {
            catch_panics(|| callee.function.dispatcher.call(Call::new(callee, buffer)))
                .map_err(|error| with_name(callee, error))
        };
        match self.is_observed() {
            true => self.observer.around(callee.name.protocol(), &callee.name.to_string(), call),
            false => call(),
        }
    }

    /// Returns the epoch. The epoch changes when a handle may refer to a different function.
    #[inline]
    pub fn epoch(&self) -> &Rc<Epoch> {
        &self.epoch
    }

    /// Returns `true` if calls are observed.
    #[must_use]
    #[inline]
    pub fn is_observed(&self) -> bool {
        self.observer.what.get().any()
    }

    /// Returns the enabled observations.
    #[must_use]
    pub fn observed(&self) -> Observed {
        self.observer.what.get()
    }

    /// Sets the enabled observations. Existing statistics are kept.
    pub fn observe(&self, what: Observed) {
        self.observer.what.set(what);
        self.epoch.observe(what.any());
    }

    /// Returns the statistics so far, by kind and name.
    #[must_use]
    pub fn times(&self) -> Vec<CallTimes> {
        self.observer.times()
    }

    /// Clears the statistics.
    pub fn clear_times(&self) {
        self.observer.clear();
    }

    /// Executes a call that this table does not dispatch. If observation is enabled, observes the call. `kind` is the kind of call in the
    /// statistics.
    ///
    /// # Errors
    /// Returns the errors of the call.
    #[inline]
    pub fn watched<T>(
        &self,
        kind: &str,
        name: &str,
        call: impl FnOnce() -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        if self.is_observed() { self.observer.around(kind, name, call) } else { call() }
    }

    /// Returns the callee of `handle` if its module accepts calls. A `fingerprint` other than zero must equal the callee's fingerprint.
    ///
    /// # Errors
    /// Returns the error that a call of the handle would return, or [`CallError::Signature`] if the fingerprints differ.
    pub fn callee_of(&self, handle: ZCallHandle, fingerprint: u64) -> Result<Rc<Callee>, CallError> {
        let callee = self.running(handle).map_err(|(_, error)| error)?;
        agree(&callee.name, callee.signature(), fingerprint)?;
        Ok(callee)
    }

    /// Returns the code for direct calls of `handle`. Returns `None` if the callee has no such code, or if `fingerprint` is zero or differs
    /// from the callee's fingerprint.
    ///
    /// # Errors
    /// Returns the error that a call of the handle would return.
    pub fn black_code(&self, handle: ZCallHandle, fingerprint: u64) -> Result<Option<BlackCode>, CallError> {
        let callee = self.running(handle).map_err(|(_, error)| error)?;
        let is_its = fingerprint != 0 && callee.signature().fingerprint() == fingerprint;
        Ok(callee.black_code().cloned().filter(|_| is_its))
    }

    /// Returns the callee of `handle`. The module of the callee may be suspended. Returns `None` after the module has ended.
    #[inline]
    pub fn callee(&self, handle: ZCallHandle) -> Option<Rc<Callee>> {
        match self.state.borrow().find(handle) {
            Found::Alive(entry) => Some(Rc::clone(entry)),
            Found::Dead | Found::NeverAssigned => None,
        }
    }

    /// Returns the number of handles assigned so far, for the host and for modules.
    pub fn issued(&self) -> Issued {
        let state = self.state.borrow();
        Issued { host: state.host.assigned(), module: state.module.assigned() }
    }

    /// Returns the sorted names of the live handles that were assigned after [`Self::issued`] returned `then`.
    pub fn names_since(&self, then: Issued) -> Vec<String> {
        let state = self.state.borrow();
        let names = state.host.since(then.host).chain(state.module.since(then.module));
        let mut names: Vec<_> = names.map(|entry| entry.name.to_string()).collect();
        names.sort_unstable();
        names
    }

    /// Returns one line for each handle that belongs to a module. The lines are sorted.
    pub fn of_modules(&self) -> Vec<String> {
        let state = self.state.borrow();
        let line = |handle: &ZCallHandle| match state.find(*handle) {
            Found::Alive(entry) if entry.function.module != ModuleId::HOST => {
                let status = state.statuses.status(entry.function.module);
                Some(format!("{} {} of module {}, {status:?}", handle.0, entry.name, entry.function.module.0))
            }
            _ => None,
        };
        let mut lines: Vec<_> = state.names.values().flatten().filter_map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// Suspends a module in the list of statuses. Calls of its handles then return `CONTEXT_UNAVAILABLE`, and lookups of their names call
    /// the chain again. The host's own module cannot be suspended.
    pub fn suspend(&self, module: ModuleId) {
        self.epoch.change();
        self.state.borrow().statuses.suspend(module);
    }

    /// Resumes a suspended module. The names of the module's functions then resolve to their earlier handles again. If a replacement of the
    /// module was loaded, the caller must end the replacement ([`Self::end_module`]).
    pub fn resume(&self, module: ModuleId) {
        self.epoch.change();
        self.state.borrow().statuses.resume(module);
    }

    /// Ends all handles of a module and drops their dispatchers. The module may be suspended. Functions that the module registers later are
    /// rejected. Has no effect for the host's own module.
    pub fn end_module(&self, module: ModuleId) {
        if module == ModuleId::HOST {
            return;
        }
        self.epoch.change();
        let ended = self.state.borrow_mut().end(module);
        // Dropping a dispatcher may run code that calls this table, so no borrow is held at this point.
        drop(ended);
    }

    /// Records that the modules with ids between `after` and `before` have no handles, protocols, resolvers and functions.
    pub fn pass_over(&self, after: ModuleId, before: ModuleId) {
        self.epoch.change();
        self.state.borrow().statuses.pass_over(after, before);
    }

    fn resolved_before(&self, name: &ZCallName, fingerprint: u64) -> Option<Result<ZCallHandle, CallError>> {
        let state = self.state.borrow();
        let (handle, entry) = state.lookup(name)?;
        Some(agree(name, entry.signature(), fingerprint).map(|()| handle))
    }

    #[inline]
    fn running(&self, handle: ZCallHandle) -> Result<Rc<Callee>, (ZCallStatus, CallError)> {
        let state = self.state.borrow();
        match state.find(handle) {
            Found::Alive(entry) if state.statuses.is_running(entry.function.module) => Ok(Rc::clone(entry)),
            Found::Alive(entry) => {
                let what = format!("`{}`", entry.name);
                Err((ZCallStatus::CONTEXT_UNAVAILABLE, CallError::Unavailable { what }))
            }
            Found::Dead => {
                let message = format!("call handle {} is dead, its module has ended: resolve the name again", handle.0);
                Err((ZCallStatus::DISPATCHER_NOT_FOUND, CallError::DeadHandle { message }))
            }
            Found::NeverAssigned => {
                let error = not_found(format!("call handle {} was never issued: resolve a name first", handle.0));
                Err((ZCallStatus::INVALID_HANDLE, error))
            }
        }
    }
}

impl State {
    fn lookup(&self, name: &ZCallName) -> Option<(ZCallHandle, &Rc<Callee>)> {
        self.names.get(name)?.iter().find_map(|&handle| match self.find(handle) {
            Found::Alive(entry) if self.statuses.is_running(entry.function.module) => Some((handle, entry)),
            _ => None,
        })
    }

    #[inline]
    fn find(&self, handle: ZCallHandle) -> Found<'_> {
        match handle.0 {
            0 => Found::NeverAssigned,
            1.. => self.host.find(handle.0.unsigned_abs()),
            _ => self.module.find(handle.0.unsigned_abs()),
        }
    }

    fn register(&mut self, name: ZCallName, resolved: Resolved) -> ZCallHandle {
        let side = resolved.side;
        let entry = Rc::new(Callee { name: name.clone(), function: resolved });
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

/// Adds the called name to an error of a dispatcher, because such an error states only the slot.
#[cold]
fn with_name(callee: &Callee, error: CallError) -> CallError {
    match error {
        CallError::Buffer { message } => CallError::Buffer { message: format!("`{}`: {message}", callee.name) },
        error => error,
    }
}

fn agree(name: &ZCallName, signature: &CallSignature, expected: u64) -> Result<(), CallError> {
    let found = match (signature.fingerprint(), expected) {
        (_, 0) => return Ok(()),
        (0, _) => "none that can be compared: call it with values whose types are queried, as `zcall_any` does".into(),
        (found, _) if found == expected => return Ok(()),
        (found, _) => format!("{}, fingerprint {found:016x}", signature.text()),
    };
    Err(CallError::Signature { name: format!("`{name}`"), found, expected: format!("fingerprint {expected:016x}") })
}

/// Returns the ABI status of an error.
///
/// # Examples
/// ```
/// use alcedo_abi::zcall::ZCallStatus;
/// use alcedo_base::boundary::CallError;
/// use alcedo_zcall::table::status_of;
///
/// assert!(status_of(&CallError::other("no route")) == ZCallStatus::DISPATCHER_ERROR);
/// ```
pub fn status_of(error: &CallError) -> ZCallStatus {
    match error.kind() {
        FailureKind::PANIC => ZCallStatus::EXTERNAL_ERROR,
        FailureKind::BUFFER | FailureKind::SIGNATURE => ZCallStatus::BUFFER_ERROR,
        FailureKind::UNAVAILABLE => ZCallStatus::CONTEXT_UNAVAILABLE,
        FailureKind::DEAD_HANDLE => ZCallStatus::DISPATCHER_NOT_FOUND,
        _ => ZCallStatus::DISPATCHER_ERROR,
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
