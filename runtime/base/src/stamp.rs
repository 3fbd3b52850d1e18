//! Epoch that invalidates cached call lookups: it changes when modules are suspended, resumed or ended, or when gates close. A caller
//! stores the epoch with a cached lookup and compares it before each use.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Next epoch. Epochs are unique in the process, so a value cached for one host never matches another host.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Epoch of cached lookups. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_base::stamp::Stamp;
///
/// let stamp = Stamp::default();
/// let cached = stamp.count();
/// assert_eq!(stamp.get(), cached);
/// stamp.change();
/// assert_ne!(stamp.get(), cached);
/// ```
pub struct Stamp {
    /// Value that callers compare.
    compared: Cell<u64>,
    /// Current epoch.
    count: Cell<u64>,
    /// Number of reasons that disable the fast paths.
    shut: Cell<u32>,
    /// `true` while calls are observed, which disables the fast paths as well.
    observed: Cell<bool>,
    /// Called after each change, with `true` if calls are observed.
    listener: OnceCell<Box<dyn Fn(bool)>>,
}

impl Default for Stamp {
    fn default() -> Self {
        let count = NEXT.fetch_add(1, Ordering::Relaxed);
        let (compared, count) = (Cell::new(count), Cell::new(count));
        Self { compared, count, shut: Cell::new(0), observed: Cell::new(false), listener: OnceCell::new() }
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, shut, observed, .. } = self;
        let mut debug = f.debug_struct("Stamp");
        debug.field("count", count).field("shut", shut).field("observed", observed).finish_non_exhaustive()
    }
}

impl Stamp {
    /// Value of [`Stamp::get`] while the fast paths are disabled. No epoch reaches it.
    pub const SHUT: u64 = u64::MAX;
    /// Initial cached value of a caller without a lookup.
    pub const NEVER: u64 = u64::MAX - 1;

    /// Returns the value to compare a cached epoch with. No cached epoch matches while the fast paths are disabled.
    #[inline]
    pub fn get(&self) -> u64 {
        self.compared.get()
    }

    /// Returns the epoch to store with a new lookup.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.get()
    }

    /// Invalidates all cached lookups.
    pub fn change(&self) {
        self.count.set(NEXT.fetch_add(1, Ordering::Relaxed));
        self.update();
    }

    /// Disables the fast paths until the matching [`Stamp::open`].
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::stamp::Stamp;
    ///
    /// let stamp = Stamp::default();
    /// let cached = stamp.count();
    /// stamp.shut();
    /// assert_eq!(stamp.get(), Stamp::SHUT);
    /// stamp.open();
    /// assert_eq!(stamp.get(), cached);
    /// ```
    pub fn shut(&self) {
        self.shut.set(self.shut.get() + 1);
        self.update();
    }

    /// Reverts one [`Stamp::shut`].
    pub fn open(&self) {
        self.shut.set(self.shut.get().saturating_sub(1));
        self.update();
    }

    /// Sets if calls are observed. Observation disables the fast paths; the slow path records the calls.
    pub fn observe(&self, is_observed: bool) {
        if self.observed.replace(is_observed) != is_observed {
            self.update();
        }
    }

    /// Sets the listener that is called after each change and when the fast paths are disabled or enabled, with `true` if calls are
    /// observed. Only the first listener is used.
    pub fn on_change(&self, listener: impl Fn(bool) + 'static) {
        let _later = self.listener.set(Box::new(listener));
    }

    fn update(&self) {
        let is_open = self.shut.get() == 0 && !self.observed.get();
        self.compared.set(if is_open { self.count.get() } else { Self::SHUT });
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
    fn a_cached_epoch_is_stale_after_a_change_and_while_watched() {
        let stamp = Stamp::default();
        let cached = stamp.count();
        assert_eq!(stamp.get(), cached);
        assert_ne!(stamp.get(), Stamp::NEVER);
        stamp.shut();
        stamp.shut();
        stamp.open();
        assert_eq!((stamp.get(), stamp.count()), (Stamp::SHUT, cached));
        stamp.open();
        assert_eq!(stamp.get(), cached, "nothing has changed");
        stamp.shut();
        stamp.change();
        assert_eq!(stamp.get(), Stamp::SHUT);
        stamp.open();
        assert_ne!(stamp.get(), cached);
    }

    #[test]
    fn an_epoch_of_one_host_is_stale_for_another() {
        let (one, other) = (Stamp::default(), Stamp::default());
        assert_ne!(one.count(), other.count());
        let cached = one.count();
        other.change();
        other.change();
        assert_ne!(other.get(), cached);
        assert_eq!(one.get(), cached);
    }

    #[test]
    fn watching_closes_fast_paths_and_notifies_the_listener_at_start_and_end() {
        let (stamp, changes) = (Stamp::default(), Rc::new(RefCell::new(Vec::new())));
        let (cached, lines) = (stamp.count(), Rc::clone(&changes));
        stamp.on_change(move |is_observed| lines.borrow_mut().push(is_observed));
        stamp.observe(true);
        stamp.observe(true);
        assert_eq!(stamp.get(), Stamp::SHUT);
        stamp.shut();
        stamp.observe(false);
        stamp.observe(false);
        assert_eq!(stamp.get(), Stamp::SHUT, "something else keeps it shut");
        stamp.open();
        assert_eq!((stamp.get(), &**changes.borrow()), (cached, &[true, true, false, false][..]));
    }
}
