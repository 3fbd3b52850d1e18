//! The host mode word. Plugins read it before every write; the host's own writes ask here.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use alcedo_abi::host::mode;

use crate::border::CallError;
use crate::handles::ObjectHandle;

/// What the host does at the moment: one of [`alcedo_abi::host::mode`]. Clones are the same word.
#[derive(Clone, Debug)]
pub struct ModeWord {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Its address is given to plugins, so it never moves: it lives in this `Rc`.
    word: AtomicU32,
    /// The object whose plugin half is being rebuilt: it may be written to.
    rebuilt: Cell<ObjectHandle>,
}

/// Sets the word back when it goes.
#[derive(Debug)]
#[must_use = "the mode ends when this is dropped"]
pub(crate) struct ModeGuard {
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
        Self { shared: Rc::new(Shared { word, rebuilt }) }
    }

    /// The mode.
    pub fn get(&self) -> u32 {
        self.shared.word.load(Ordering::Relaxed)
    }

    /// Another mode.
    pub(crate) fn set(&self, mode: u32) {
        self.shared.word.store(mode, Ordering::Relaxed);
    }

    /// Another mode until the guard goes.
    pub(crate) fn enter(&self, mode: u32) -> ModeGuard {
        let before = self.get();
        self.set(mode);
        ModeGuard { word: self.clone(), before }
    }

    /// The word's address, for plugins. Valid as long as a clone lives.
    pub fn address(&self) -> *const AtomicU32 {
        &raw const self.shared.word
    }

    /// From now on `object` is the one that may be written to while conjugates are rebuilt; none for nobody. The one
    /// before, to be set back: rebuilding one object may ask for another first.
    pub(crate) fn rebuild_turn(&self, object: ObjectHandle) -> ObjectHandle {
        self.shared.rebuilt.replace(object)
    }

    /// Whether a property of `object` may be written now. `is_staged` says whether what is written would be gone after a
    /// rollback; it is asked only where that matters.
    ///
    /// # Errors
    /// [`CallError::DuringRebuild`] when conjugates are rebuilt and it is not this object's turn, and when new modules
    /// come up and the object is none of theirs.
    pub(super) fn may_write(&self, object: ObjectHandle, is_staged: impl FnOnce() -> bool) -> Result<(), CallError> {
        if may_write(self.get(), self.shared.rebuilt.get() == object, is_staged) {
            return Ok(());
        }
        Err(CallError::DuringRebuild { action: format!("writing to {object}") })
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

#[cfg(test)]
mod tests {
    use alcedo_abi::host::mode;

    use super::{ModeWord, may_write};
    use crate::handles::ObjectHandle;

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
    fn a_mode_ends_with_its_guard_and_all_clones_see_it() {
        let word = ModeWord::new();
        let (seen, address) = (word.clone(), word.address());
        {
            let _rebuilding = word.enter(mode::REBUILDING);
            assert_eq!(seen.get(), mode::REBUILDING);
            let before = seen.rebuild_turn(ObjectHandle::new(1, 1));
            assert!(word.may_write(ObjectHandle::new(1, 1), || false).is_ok());
            assert_eq!(
                word.may_write(ObjectHandle::new(2, 1), || false).unwrap_err().to_string(),
                "writing to #2.1 is refused while a reload is under way: \
                 new code may read anything, and write only what it is building"
            );
            seen.rebuild_turn(before);
        }
        assert_eq!((seen.get(), seen.address()), (mode::NORMAL, address));
    }
}
