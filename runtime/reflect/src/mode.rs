//! The host mode word. Plugins read it before every write; the host's own writes ask here, and so do all calls.
//!
//! Between the start of a generation and its commit, its code may do nothing that a rollback could not take back: this
//! file decides what that is. What is called in that time is written down, for the report of a rollback.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use alcedo_abi::black_direct::CLOSED;
use alcedo_abi::host::mode;
use alcedo_base::border::CallError;
use alcedo_base::cells::RefCell;
use alcedo_base::handles::{ModuleId, ObjectHandle};

/// What the host does at the moment: one of [`alcedo_abi::host::mode`]. Clones are the same word.
#[derive(Clone, Debug)]
pub struct ModeWord {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Its address is given to plugins, so it never moves: it lies in this `Rc`.
    word: AtomicU32,
    /// The object whose plugin part is being rebuilt: it may be written to.
    rebuilt: Cell<ObjectHandle>,
    /// The first of the modules that come up; none while no module does.
    first_new: Cell<Option<ModuleId>>,
    /// What plugins look at before each direct call: the version of what they were given, or that none may be made. Its address is
    /// given to them as well.
    direct: AtomicU64,
    /// The version.
    version: Cell<u64>,
    /// No direct call may be made any more.
    closed: Cell<bool>,
    /// Whether calls are watched: direct ones would be seen by nobody.
    observed: Cell<bool>,
    /// What was called before the commit, and went beyond what comes up, by name.
    calls: RefCell<BTreeMap<String, CallCount>>,
}

/// How often something was called before a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallCount {
    /// It ran: it is declared pure.
    pub allowed: u64,
    /// It was refused.
    pub refused: u64,
}

/// What a call would run, as far as it matters before a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// What is declared to change nothing.
    Pure,
    /// Code of the host.
    Host,
    /// Code of a module, without an object.
    Static(ModuleId),
    /// Code of a module on the plugin part of an object: a new plugin part, where the object is staged.
    PluginPart(ModuleId, IsStaged),
}

/// Whether an object, as it is seen now, is gone after a rollback: it was born in the shadow, or has a body there.
pub(crate) type IsStaged = bool;

/// Modules come up until this is dropped.
#[derive(Debug)]
#[must_use = "the modules have come up when this is dropped"]
pub struct ComingUp(ModeWord);

impl Drop for ComingUp {
    fn drop(&mut self) {
        self.0.shared.first_new.set(None);
    }
}

/// Sets the word back when it goes.
#[derive(Debug)]
#[must_use = "the mode ends when this is dropped"]
pub struct ModeGuard {
    word: ModeWord,
    before: u32,
}

impl Default for ModeWord {
    fn default() -> Self {
        Self::new()
    }
}

impl ModeWord {
    /// A word that says normal.
    pub fn new() -> Self {
        let (word, rebuilt) = (AtomicU32::new(mode::NORMAL), Cell::new(ObjectHandle::NONE));
        let (direct, version) = (AtomicU64::new(CLOSED + 1), Cell::new(CLOSED + 1));
        let (first_new, closed, observed, calls) = Default::default();
        Self { shared: Rc::new(Shared { word, rebuilt, first_new, direct, version, closed, observed, calls }) }
    }

    /// The mode.
    #[inline]
    pub fn get(&self) -> u32 {
        self.shared.word.load(Ordering::Relaxed)
    }

    /// Another mode.
    #[inline]
    pub fn set(&self, mode: u32) {
        let was_before_commit = self.is_before_commit();
        self.shared.word.store(mode, Ordering::Relaxed);
        if was_before_commit != self.is_before_commit() {
            self.renew_direct();
        }
    }

    /// The version under which functions may be called directly, or [`CLOSED`] while none may be: before a commit, where each call is
    /// looked at, and once they are closed.
    #[inline]
    pub fn direct_version(&self) -> u64 {
        self.shared.direct.load(Ordering::Relaxed)
    }

    /// Where that stands, for plugins. Valid as long as a clone lives.
    #[inline]
    pub fn direct_address(&self) -> *const AtomicU64 {
        &raw const self.shared.direct
    }

    /// From now on whatever was given out for direct calls is looked up anew: it may stand for something else.
    pub fn renew_direct(&self) {
        let Shared { direct, version, closed, observed, .. } = &*self.shared;
        version.set(version.get() + 1);
        let is_open = !closed.get() && !observed.get() && !self.is_before_commit();
        direct.store(if is_open { version.get() } else { CLOSED }, Ordering::Relaxed);
    }

    /// The same, where it is said as well whether calls are watched from now on.
    pub fn follow(&self, is_observed: bool) {
        self.shared.observed.set(is_observed);
        self.renew_direct();
    }

    /// Ends direct calls of functions for good.
    pub fn close_direct(&self) {
        self.shared.closed.set(true);
        self.renew_direct();
    }

    /// Another mode until the guard goes.
    #[inline]
    pub fn enter(&self, mode: u32) -> ModeGuard {
        let before = self.get();
        self.set(mode);
        ModeGuard { word: self.clone(), before }
    }

    /// The word's address, for plugins. Valid as long as a clone lives.
    #[inline]
    pub fn address(&self) -> *const AtomicU32 {
        &raw const self.shared.word
    }

    /// From now on `object` is the one that may be written to while conjugates are rebuilt; none for no object. The one
    /// before, to be set back: rebuilding one object may ask for another first.
    #[inline]
    pub fn rebuild_turn(&self, object: ObjectHandle) -> ObjectHandle {
        self.shared.rebuilt.replace(object)
    }

    /// The module of this number and all later ones come up, until the guard goes: they may not last.
    #[inline]
    pub fn come_up(&self, first: ModuleId) -> ComingUp {
        self.shared.first_new.set(Some(first));
        ComingUp(self.clone())
    }

    /// Whether a module comes up: nothing of it runs that was left for later.
    #[inline]
    pub fn is_coming_up(&self, module: ModuleId) -> bool {
        self.shared.first_new.get().is_some_and(|first| module >= first)
    }

    /// Whether what is done now may have to be taken back.
    #[inline]
    pub fn is_before_commit(&self) -> bool {
        matches!(self.get(), mode::STAGING | mode::REBUILDING)
    }

    /// Nothing is to be taken back any more.
    #[inline]
    pub fn end_staging(&self) {
        if self.is_before_commit() {
            self.set(mode::NORMAL);
        }
    }

    /// Whether what cannot be taken back may be done now.
    ///
    /// # Errors
    /// [`CallError::DuringRebuild`] before a commit.
    #[inline]
    pub fn may_act(&self, action: &str) -> Result<(), CallError> {
        match self.is_before_commit() {
            true => Err(CallError::DuringRebuild { action: action.to_owned() }),
            false => Ok(()),
        }
    }

    /// Whether this may be called now. `reach` is called only where that matters.
    ///
    /// # Errors
    /// [`CallError::DuringRebuild`] before a commit, when what runs then is not of what comes up, and not pure.
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

    /// What was called before the commit and is not of what comes up, since the last call of this.
    #[inline]
    pub fn take_calls(&self) -> BTreeMap<String, CallCount> {
        self.shared.calls.take()
    }

    /// Whether a property of `object` may be written now: not when conjugates are rebuilt and it is not this object's turn,
    /// and not when new modules come up and the object is none of theirs. `is_staged` says whether what is written would be
    /// gone after a rollback; it is called only where that matters.
    pub(super) fn may_write(&self, object: ObjectHandle, is_staged: impl FnOnce() -> bool) -> bool {
        may_write(self.get(), self.shared.rebuilt.get() == object, is_staged)
    }
}

impl Drop for ModeGuard {
    fn drop(&mut self) {
        self.word.set(self.before);
    }
}

/// A collection is over before anybody runs, so only a reload keeps writes away: while it rebuilds, from all but the
/// object that is rebuilt; before that, from what a rollback could not put back.
fn may_write(mode: u32, is_its_turn: bool, is_staged: impl FnOnce() -> bool) -> bool {
    match mode {
        mode::REBUILDING => is_its_turn,
        mode::STAGING => is_staged(),
        _ => true,
    }
}

/// Before a commit a call may run what comes up with it, and what changes nothing. Where modules come up that is their
/// code, as far as it works on what is new; where only objects do, as when a world is loaded, the plugin parts of these.
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
    use alcedo_abi::black_direct::CLOSED;
    use alcedo_abi::host::mode;
    use alcedo_base::handles::{ModuleId, ObjectHandle};

    use super::{CallCount, ModeWord, Reach, may_call, may_write};

    #[test]
    fn what_may_be_called_before_a_commit_depends_on_what_comes_up() {
        let (old, new) = (ModuleId(3), ModuleId(4));
        // In the order: modules come up from the fourth on; only objects do.
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
    fn calls_are_refused_before_a_commit_only_and_those_that_go_out_are_counted() {
        let word = ModeWord::new();
        let call = |name, reach| word.may_call(name, || reach).map_err(|error| error.to_string());
        assert_eq!(call("ex:/tell", Reach::Host), Ok(()));
        {
            let (_staging, _new) = (word.enter(mode::STAGING), word.come_up(ModuleId(2)));
            assert!(word.is_coming_up(ModuleId(2)) && !word.is_coming_up(ModuleId(1)));
            assert!(call("ex:/tell", Reach::Host).unwrap_err().starts_with("calling ex:/tell is refused before"));
            assert_eq!(call("ex:/now", Reach::Pure), Ok(()));
            assert_eq!(call("ex:/own", Reach::Static(ModuleId(2))), Ok(()));
            assert!(word.may_act("spawning").is_err());
        }
        assert!(!word.is_coming_up(ModuleId(2)) && word.may_act("spawning").is_ok());
        let (now, tell) = (CallCount { allowed: 1, refused: 0 }, CallCount { allowed: 0, refused: 1 });
        let told = [("ex:/now".to_owned(), now), ("ex:/tell".to_owned(), tell)];
        assert_eq!(word.take_calls(), told.into());
        assert!(word.take_calls().is_empty());
    }

    #[test]
    fn who_may_be_written_to_depends_on_the_mode() {
        // In the order: neither, its turn, staged, both.
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
    fn direct_calls_are_closed_before_a_commit_and_their_version_is_another_after_it() {
        let word = ModeWord::new();
        let seen = || word.direct_version();
        let first = seen();
        assert_ne!(first, CLOSED);
        {
            let _marking = word.enter(mode::MARKING);
            assert_eq!(seen(), first, "a collection does not matter to calls");
        }
        {
            let _staging = word.enter(mode::STAGING);
            assert_eq!(seen(), CLOSED);
            let _rebuilding = word.enter(mode::REBUILDING);
            word.renew_direct();
            assert_eq!(seen(), CLOSED);
        }
        let second = seen();
        assert!(second > first);
        word.close_direct();
        assert_eq!(seen(), CLOSED);
        word.renew_direct();
        assert_eq!(seen(), CLOSED, "it stays closed");
    }

    #[test]
    fn a_mode_ends_with_its_guard_and_all_clones_see_it() {
        let word = ModeWord::new();
        let (seen, address) = (word.clone(), word.address());
        {
            let _rebuilding = word.enter(mode::REBUILDING);
            assert_eq!(seen.get(), mode::REBUILDING);
            let before = seen.rebuild_turn(ObjectHandle::new(1, 1));
            assert!(word.may_write(ObjectHandle::new(1, 1), || false));
            assert!(!word.may_write(ObjectHandle::new(2, 1), || false));
            seen.rebuild_turn(before);
        }
        assert_eq!((seen.get(), seen.address()), (mode::NORMAL, address));
    }
}
