//! One number that changes whenever something kept about calls may be wrong: modules set aside, taken back or over, gates shut. A
//! caller that has looked something up keeps the number beside it, and compares before each use.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The count that is given next. No two stamps of a process ever have the same one, so what was kept for one host is wrong for another.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The number. Game thread only.
pub struct Stamp {
    /// What callers compare with.
    word: Cell<u64>,
    /// Another one after each change.
    count: Cell<u64>,
    /// What has shut the short ways: they are open when none has.
    shut: Cell<u32>,
    /// Whether calls are watched, which shuts them as well.
    observed: Cell<bool>,
    /// Called after each change, with whether calls are watched.
    listener: OnceCell<Box<dyn Fn(bool)>>,
}

impl Default for Stamp {
    fn default() -> Self {
        let count = NEXT.fetch_add(1, Ordering::Relaxed);
        let (word, count) = (Cell::new(count), Cell::new(count));
        Self { word, count, shut: Cell::new(0), observed: Cell::new(false), listener: OnceCell::new() }
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, shut, observed, .. } = self;
        let mut shown = f.debug_struct("Stamp");
        shown.field("count", count).field("shut", shut).field("observed", observed).finish_non_exhaustive()
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
        self.count.set(NEXT.fetch_add(1, Ordering::Relaxed));
        self.show();
    }

    /// Until it is opened as often, no kept number equals this: all calls go the long way.
    pub fn shut(&self) {
        self.shut.set(self.shut.get() + 1);
        self.show();
    }

    /// Takes one [`Stamp::shut`] back.
    pub fn open(&self) {
        self.shut.set(self.shut.get().saturating_sub(1));
        self.show();
    }

    /// Calls are watched from now on, or are not any more. While they are, no kept number equals this: all calls go the long way, which
    /// notes them.
    pub fn observe(&self, is_observed: bool) {
        if self.observed.replace(is_observed) != is_observed {
            self.show();
        }
    }

    /// Has `listener` called after each change, and when the short ways are shut or opened: with whether calls are watched. There is one
    /// at most: the first.
    pub fn on_change(&self, listener: impl Fn(bool) + 'static) {
        let _later = self.listener.set(Box::new(listener));
    }

    fn show(&self) {
        let is_open = self.shut.get() == 0 && !self.observed.get();
        self.word.set(if is_open { self.count.get() } else { Self::SHUT });
        if let Some(listener) = self.listener.get() {
            listener(self.observed.get());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

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

    #[test]
    fn what_is_kept_of_one_host_is_wrong_for_another() {
        let (one, other) = (Stamp::default(), Stamp::default());
        assert_ne!(one.count(), other.count());
        let kept = one.count();
        other.change();
        other.change();
        assert_ne!(other.get(), kept);
        assert_eq!(one.get(), kept);
    }

    #[test]
    fn while_calls_are_watched_the_short_ways_are_shut_and_the_listener_hears_of_the_beginning_and_the_end_once() {
        let (stamp, heard) = (Stamp::default(), Rc::new(RefCell::new(Vec::new())));
        let (kept, lines) = (stamp.count(), Rc::clone(&heard));
        stamp.on_change(move |is_observed| lines.borrow_mut().push(is_observed));
        stamp.observe(true);
        stamp.observe(true);
        assert_eq!(stamp.get(), Stamp::SHUT);
        stamp.shut();
        stamp.observe(false);
        stamp.observe(false);
        assert_eq!(stamp.get(), Stamp::SHUT, "something else keeps it shut");
        stamp.open();
        assert_eq!((stamp.get(), &**heard.borrow()), (kept, &[true, true, false, false][..]));
    }
}
