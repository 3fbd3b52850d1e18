//! Mode word of the host. Plugins read the mode word before every write. The functions of this file check the writes of the host itself,
//! and all calls.
//!
//! Before the commit of a new generation, the new code may perform only actions that a rollback can undo. This file implements that rule,
//! and counts the calls before the commit for the rollback report.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use alcedo_abi::host::mode;
use alcedo_abi::host_direct::CLOSED;
use alcedo_base::boundary::CallError;
use alcedo_base::cells::{RefCell, Restore};
use alcedo_base::handles::{ModuleId, ObjectHandle};

/// Current mode of the host, one of [`alcedo_abi::host::mode`]. All clones share one mode word.
#[derive(Clone, Debug)]
pub struct ModeWord {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Mode word. Plugins read the mode word at its address. The address must therefore not change.
    word: AtomicU32,
    /// Object whose plugin part is being rebuilt. Writes to this object are allowed.
    rebuilt: Cell<ObjectHandle>,
    /// First module that is being loaded. All later modules are also being loaded. `None` if no module is being loaded.
    first_new: Cell<Option<ModuleId>>,
    /// Version of the addresses for direct calls, or [`CLOSED`]. Plugins read the version through its address before each direct call.
    direct: AtomicU64,
    version: Cell<u64>,
    /// True once direct calls are disabled permanently.
    closed: Cell<bool>,
    /// True while calls are observed. Direct calls would bypass the observer, and are therefore disabled during this time.
    observed: Cell<bool>,
    /// Calls that were made before the commit to code outside the new modules, by function name.
    calls: RefCell<BTreeMap<String, CallCount>>,
}

/// Calls of one function before a commit: the numbers of allowed and of rejected calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallCount {
    /// Number of calls that ran because the function is pure.
    pub allowed: u64,
    /// Number of rejected calls.
    pub refused: u64,
}

/// Category of the code that a call would run, for the check of calls before a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Function that is declared as pure: it changes no state.
    Pure,
    /// Code of the host.
    Host,
    /// Static function of a module.
    Static(ModuleId),
    /// Code of a module that runs on the plugin part of an object. The second field is true if the object is staged.
    PluginPart(ModuleId, IsStaged),
}

/// True if a rollback discards the current state of an object: the object was created in the shadow, or has a staged or kept body.
pub(crate) type IsStaged = bool;

/// Guard that marks modules as being loaded. Dropping the guard removes the mark.
#[derive(Debug)]
#[must_use = "the modules count as started when this is dropped"]
pub struct Starting(ModeWord);

impl Drop for Starting {
    fn drop(&mut self) {
        self.0.shared.first_new.set(None);
    }
}

/// Guard that restores the previous mode.
#[derive(Debug)]
#[must_use = "the previous mode is restored when this is dropped"]
pub struct ModeGuard {
    word: ModeWord,
    before: u32,
}

impl Default for ModeWord {
    /// Creates a mode word in normal mode.
    fn default() -> Self {
        let (word, rebuilt) = (AtomicU32::new(mode::NORMAL), Cell::new(ObjectHandle::NONE));
        let (direct, version) = (AtomicU64::new(CLOSED + 1), Cell::new(CLOSED + 1));
        let (first_new, closed, observed, calls) = Default::default();
        Self { shared: Rc::new(Shared { word, rebuilt, first_new, direct, version, closed, observed, calls }) }
    }
}

impl ModeWord {
    /// Returns the mode.
    #[inline]
    pub fn get(&self) -> u32 {
        self.shared.word.load(Ordering::Relaxed)
    }

    /// Sets the mode.
    #[inline]
    pub fn set(&self, mode: u32) {
        let was_before_commit = self.is_before_commit();
        self.shared.word.store(mode, Ordering::Relaxed);
        if was_before_commit != self.is_before_commit() {
            self.renew_direct();
        }
    }

    /// Returns the version of direct calls, or [`CLOSED`] if direct calls are not allowed. Direct calls are not allowed before a commit,
    /// while calls are observed, and after [`ModeWord::close_direct`].
    #[inline]
    pub fn direct_version(&self) -> u64 {
        self.shared.direct.load(Ordering::Relaxed)
    }

    /// Returns the address of the version of direct calls, for plugins. The address is valid while the `ModeWord` or a clone exists.
    #[inline]
    pub fn direct_address(&self) -> *const AtomicU64 {
        &raw const self.shared.direct
    }

    /// Invalidates the code addresses that callers have cached for direct calls. The callers look up the addresses again.
    fn renew_direct(&self) {
        let Shared { direct, version, closed, observed, .. } = &*self.shared;
        version.set(version.get() + 1);
        let is_open = !closed.get() && !observed.get() && !self.is_before_commit();
        direct.store(if is_open { version.get() } else { CLOSED }, Ordering::Relaxed);
    }

    /// Records that calls are observed or no longer observed, and invalidates all cached direct calls.
    pub fn follow(&self, is_observed: bool) {
        self.shared.observed.set(is_observed);
        self.renew_direct();
    }

    /// Disables direct calls permanently.
    pub fn close_direct(&self) {
        self.shared.closed.set(true);
        self.renew_direct();
    }

    /// Sets the mode until the guard is dropped.
    #[inline]
    pub fn enter(&self, mode: u32) -> ModeGuard {
        let before = self.get();
        self.set(mode);
        ModeGuard { word: self.clone(), before }
    }

    /// Returns the address of the mode word, for plugins. The address is valid while the `ModeWord` or a clone exists.
    #[inline]
    pub fn address(&self) -> *const AtomicU32 {
        &raw const self.shared.word
    }

    /// Sets the object that may be written to during a rebuild, until the guard is dropped. Rebuilds may be nested.
    #[inline]
    pub fn rebuild_turn(&self, object: ObjectHandle) -> Restore<'_, ObjectHandle> {
        Restore::in_cell(&self.shared.rebuilt, object)
    }

    /// Marks the module `first` and all later modules as being loaded until the guard is dropped.
    #[inline]
    pub fn mark_starting(&self, first: ModuleId) -> Starting {
        self.shared.first_new.set(Some(first));
        Starting(self.clone())
    }

    /// Checks if a module is being loaded. During this time, deferred code of the module must not run.
    #[inline]
    pub fn is_starting(&self, module: ModuleId) -> bool {
        self.shared.first_new.get().is_some_and(|first| module >= first)
    }

    /// Checks if a rollback is still possible.
    #[inline]
    pub fn is_before_commit(&self) -> bool {
        matches!(self.get(), mode::STAGING | mode::REBUILDING)
    }

    /// Sets the normal mode at a commit.
    #[inline]
    pub fn end_staging(&self) {
        if self.is_before_commit() {
            self.set(mode::NORMAL);
        }
    }

    /// Checks that an irreversible action is allowed.
    ///
    /// # Errors
    /// Returns [`CallError::DuringRebuild`] before a commit.
    #[inline]
    pub fn may_act(&self, action: &str) -> Result<(), CallError> {
        if self.is_before_commit() { Err(CallError::DuringRebuild { action: action.to_owned() }) } else { Ok(()) }
    }

    /// Checks that a call is allowed. The closure `reach` is called only before a commit.
    ///
    /// # Errors
    /// Returns [`CallError::DuringRebuild`] before a commit, if the called code is not pure and does not belong to the new modules.
    #[inline]
    pub fn may_call(&self, name: &str, reach: impl FnOnce() -> Reach) -> Result<(), CallError> {
        if self.is_before_commit() { self.may_call_before_commit(name, reach()) } else { Ok(()) }
    }

    #[cold]
    fn may_call_before_commit(&self, name: &str, reach: Reach) -> Result<(), CallError> {
        let is_new = matches!(reach, Reach::Static(_) | Reach::PluginPart(..));
        let is_allowed = may_call(reach, self.shared.first_new.get());
        if is_allowed && is_new {
            return Ok(());
        }
        let mut calls = self.shared.calls.borrow_mut();
        let count = calls.entry(name.to_owned()).or_default();
        if is_allowed {
            count.allowed += 1;
            return Ok(());
        }
        count.refused += 1;
        Err(CallError::DuringRebuild { action: format!("calling {name}") })
    }

    /// Removes and returns the counts of calls that were made before the commit to code outside the new modules.
    #[inline]
    pub fn take_calls(&self) -> BTreeMap<String, CallCount> {
        self.shared.calls.take()
    }

    /// Checks if a property of `object` may be written. During a rebuild, only writes to the rebuilt object are allowed. During staging,
    /// writes are allowed only if `is_staged` returns `true`, because a rollback then discards the writes. `is_staged` is called only
    /// during staging.
    pub(super) fn may_write(&self, object: ObjectHandle, is_staged: impl FnOnce() -> bool) -> bool {
        may_write(self.get(), self.shared.rebuilt.get() == object, is_staged)
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        self.word.set(self.before);
    }
}

/// Checks if the mode allows a write. Only a reload restricts writes; a garbage collection does not. During a rebuild, only writes to the
/// rebuilt object are allowed. During staging, only writes that a rollback discards are allowed.
fn may_write(mode: u32, is_its_turn: bool, is_staged: impl FnOnce() -> bool) -> bool {
    match mode {
        mode::REBUILDING => is_its_turn,
        mode::STAGING => is_staged(),
        _ => true,
    }
}

/// Checks if a call is allowed before a commit. Pure functions and static functions of new modules are allowed. Code of new modules may
/// run on the plugin parts of staged objects. If no modules are being loaded, for example while a world is loaded, code of any module may
/// run on the plugin parts of staged objects.
fn may_call(reach: Reach, first_new: Option<ModuleId>) -> bool {
    let is_new = |module| first_new.is_some_and(|first| module >= first);
    match reach {
        Reach::Pure => true,
        Reach::Host => false,
        Reach::Static(module) => is_new(module),
        Reach::PluginPart(module, is_staged) => is_staged && (first_new.is_none() || is_new(module)),
    }
}

#[cfg(test)]
mod tests {
    use alcedo_abi::host::mode;
    use alcedo_abi::host_direct::CLOSED;
    use alcedo_base::handles::{ModuleId, ObjectHandle};

    use super::{CallCount, ModeWord, Reach, may_call, may_write};

    #[test]
    fn calls_allowed_before_a_commit_depend_on_new_modules_and_objects() {
        let (old, new) = (ModuleId(3), ModuleId(4));
        // First column: module 4 and later modules are being loaded. Second column: no module is being loaded.
        for (reach, allowed) in [
            (Reach::Pure, [true, true]),
            (Reach::Host, [false, false]),
            (Reach::Static(old), [false, false]),
            (Reach::Static(new), [true, false]),
            (Reach::PluginPart(old, false), [false, false]),
            (Reach::PluginPart(old, true), [false, true]),
            (Reach::PluginPart(new, false), [false, false]),
            (Reach::PluginPart(new, true), [true, true]),
        ] {
            assert_eq!([Some(new), None].map(|first| may_call(reach, first)), allowed, "{reach:?}");
        }
    }

    #[test]
    fn calls_are_refused_only_before_a_commit_and_outgoing_calls_are_counted() {
        let word = ModeWord::default();
        let call = |name, reach| word.may_call(name, || reach).map_err(|error| error.to_string());
        assert_eq!(call("ex:/tell", Reach::Host), Ok(()));
        {
            let (_staging, _new) = (word.enter(mode::STAGING), word.mark_starting(ModuleId(2)));
            assert!(word.is_starting(ModuleId(2)) && !word.is_starting(ModuleId(1)));
            assert!(call("ex:/tell", Reach::Host).unwrap_err().starts_with("calling ex:/tell is refused before"));
            assert_eq!(call("ex:/now", Reach::Pure), Ok(()));
            assert_eq!(call("ex:/own", Reach::Static(ModuleId(2))), Ok(()));
            assert!(word.may_act("spawning").is_err());
        }
        assert!(!word.is_starting(ModuleId(2)) && word.may_act("spawning").is_ok());
        let (now, refused) = (CallCount { allowed: 1, refused: 0 }, CallCount { allowed: 0, refused: 1 });
        let expected = [("ex:/now".to_owned(), now), ("ex:/tell".to_owned(), refused)];
        assert_eq!(word.take_calls(), expected.into());
        assert!(word.take_calls().is_empty());
    }

    #[test]
    fn writable_objects_depend_on_the_mode() {
        // Columns: the object is neither rebuilt nor staged, only rebuilt, only staged, both.
        for (mode, allowed) in [
            (mode::NORMAL, [true, true, true, true]),
            (mode::MARKING, [true, true, true, true]),
            (mode::REBUILDING, [false, true, false, true]),
            (mode::STAGING, [false, false, true, true]),
        ] {
            let found = [(false, false), (true, false), (false, true), (true, true)]
                .map(|(is_its_turn, is_staged)| may_write(mode, is_its_turn, || is_staged));
            assert_eq!(found, allowed, "{mode}");
        }
    }

    #[test]
    fn direct_calls_are_closed_before_a_commit_and_get_a_new_version() {
        let word = ModeWord::default();
        let version = || word.direct_version();
        let first = version();
        assert_ne!(first, CLOSED);
        {
            let _marking = word.enter(mode::MARKING);
            assert_eq!(version(), first, "a collection does not matter to calls");
        }
        {
            let _staging = word.enter(mode::STAGING);
            assert_eq!(version(), CLOSED);
            let _rebuilding = word.enter(mode::REBUILDING);
            word.renew_direct();
            assert_eq!(version(), CLOSED);
        }
        let second = version();
        assert!(second > first);
        word.close_direct();
        assert_eq!(version(), CLOSED);
        word.renew_direct();
        assert_eq!(version(), CLOSED, "it stays closed");
    }

    #[test]
    fn a_mode_ends_with_its_guard_and_all_clones_see_it() {
        let word = ModeWord::default();
        let (copy, address) = (word.clone(), word.address());
        {
            let _rebuilding = word.enter(mode::REBUILDING);
            assert_eq!(copy.get(), mode::REBUILDING);
            let _turn = copy.rebuild_turn(ObjectHandle::new(1, 1));
            assert!(word.may_write(ObjectHandle::new(1, 1), || false));
            assert!(!word.may_write(ObjectHandle::new(2, 1), || false));
        }
        assert_eq!((copy.get(), copy.address()), (mode::NORMAL, address));
    }
}
