//! One number that changes whenever something kept about calls may be wrong: modules set aside, taken back or over, gates shut. A
//! caller that has looked something up keeps the number beside it, and compares before each use.

use std::cell::{Cell, OnceCell};
use std::fmt;

/// The number. Game thread only.
#[derive(Default)]
pub struct Stamp {
    /// What callers compare with.
    word: Cell<u64>,
    /// How often it has changed.
    count: Cell<u64>,
    /// What has shut the short ways: they are open when none has.
    shut: Cell<u32>,
    /// Called after each change.
    listener: OnceCell<Box<dyn Fn()>>,
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamp").field("count", &self.count).field("shut", &self.shut).finish_non_exhaustive()
    }
}

impl Stamp {
    /// What [`Stamp::get`] says while the short ways are shut. No count ever is as high.
    pub const SHUT: u64 = u64::MAX;
    /// What a caller keeps that has looked nothing up.
    pub const NEVER: u64 = u64::MAX - 1;

    /// The number, to compare a kept one with. Nothing that was kept equals it while the short ways are shut.
    #[inline]
    pub fn get(&self) -> u64 {
        self.word.get()
    }

    /// The number to keep beside what is looked up now.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// What was kept so far may be wrong.
    pub fn change(&self) {
        self.count.set(self.count.get() + 1);
        self.show();
    }

    /// Until it is opened as often, no kept number equals this: all calls go the long way, where they are observed.
    pub fn shut(&self) {
        self.shut.set(self.shut.get() + 1);
        self.show();
    }

    /// Takes one [`Stamp::shut`] back.
    pub fn open(&self) {
        self.shut.set(self.shut.get().saturating_sub(1));
        self.show();
    }

    /// Has `listener` called after each change, and when the short ways are shut or opened. There is one at most: the first.
    pub fn on_change(&self, listener: impl Fn() + 'static) {
        let _later = self.listener.set(Box::new(listener));
    }

    fn show(&self) {
        self.word.set(if self.shut.get() == 0 { self.count.get() } else { Self::SHUT });
        if let Some(listener) = self.listener.get() {
            listener();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stamp;

    #[test]
    fn a_kept_number_is_wrong_after_a_change_and_while_the_short_ways_are_shut() {
        let stamp = Stamp::default();
        let kept = stamp.count();
        assert_eq!(stamp.get(), kept);
        assert_ne!(stamp.get(), Stamp::NEVER);
        stamp.shut();
        stamp.shut();
        stamp.open();
        assert_eq!((stamp.get(), stamp.count()), (Stamp::SHUT, kept));
        stamp.open();
        assert_eq!(stamp.get(), kept, "nothing has changed meanwhile");
        stamp.shut();
        stamp.change();
        assert_eq!(stamp.get(), Stamp::SHUT);
        stamp.open();
        assert_ne!(stamp.get(), kept);
    }
}
