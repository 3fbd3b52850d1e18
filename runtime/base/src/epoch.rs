//! Epoch that invalidates cached call lookups. The epoch changes when modules are suspended, resumed or ended, and when gates close. A
//! caller stores the epoch with a cached lookup. Before each use of the cached lookup, the caller compares the stored epoch with the
//! current epoch.

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Next epoch. Epochs are unique in the process, so that an epoch that was cached for one host never matches the epoch of a different host.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Epoch that invalidates cached lookups. Game thread only.
///
/// # Examples
/// ```
/// use alcedo_base::epoch::Epoch;
///
/// let epoch = Epoch::default();
/// let cached = epoch.count();
/// assert_eq!(epoch.get(), cached);
/// epoch.change();
/// assert_ne!(epoch.get(), cached);
/// ```
pub struct Epoch {
    /// Value that callers compare with their cached epoch.
    compared: Cell<u64>,
    /// Current epoch.
    count: Cell<u64>,
    /// Number of calls of [`Epoch::shut`] without a matching [`Epoch::open`].
    shut: Cell<u32>,
    /// `true` while calls are observed. Observation disables the fast paths.
    observed: Cell<bool>,
    /// Listener that [`Epoch::on_change`] has set.
    listener: OnceCell<Box<dyn Fn(bool)>>,
}

impl Default for Epoch {
    fn default() -> Self {
        let count = NEXT.fetch_add(1, Ordering::Relaxed);
        let (compared, count) = (Cell::new(count), Cell::new(count));
        Self { compared, count, shut: Cell::new(0), observed: Cell::new(false), listener: OnceCell::new() }
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, shut, observed, .. } = self;
        let mut debug = f.debug_struct("Epoch");
        debug.field("count", count).field("shut", shut).field("observed", observed).finish_non_exhaustive()
    }
}

impl Epoch {
    /// Value of [`Epoch::get`] while the fast paths are disabled. [`Epoch::count`] never returns this value.
    pub const SHUT: u64 = u64::MAX;
    /// Value that a caller stores before its first lookup. No epoch ever has this value.
    pub const NEVER: u64 = u64::MAX - 1;

    /// Returns the value to compare with a cached epoch. While the fast paths are disabled, this value differs from every cached epoch.
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

    /// Disables the fast paths until the matching [`Epoch::open`].
    ///
    /// # Examples
    /// ```
    /// use alcedo_base::epoch::Epoch;
    ///
    /// let epoch = Epoch::default();
    /// let cached = epoch.count();
    /// epoch.shut();
    /// assert_eq!(epoch.get(), Epoch::SHUT);
    /// epoch.open();
    /// assert_eq!(epoch.get(), cached);
    /// ```
    pub fn shut(&self) {
        self.shut.set(self.shut.get() + 1);
        self.update();
    }

    /// Reverts one call of [`Epoch::shut`]. The fast paths are enabled again once all calls of `shut` are reverted.
    pub fn open(&self) {
        self.shut.set(self.shut.get().saturating_sub(1));
        self.update();
    }

    /// Enables or disables the observation of calls. Observation disables the fast paths, because only the slow path records calls.
    pub fn observe(&self, is_observed: bool) {
        if self.observed.replace(is_observed) != is_observed {
            self.update();
        }
    }

    /// Sets the listener. The listener is called after each change of the epoch, and after the fast paths are disabled or enabled. The
    /// argument of the listener is `true` if calls are observed. Only the first call of `on_change` has an effect.
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

    use super::Epoch;

    #[test]
    fn a_cached_epoch_is_stale_after_a_change_and_while_watched() {
        let epoch = Epoch::default();
        let cached = epoch.count();
        assert_eq!(epoch.get(), cached);
        assert_ne!(epoch.get(), Epoch::NEVER);
        epoch.shut();
        epoch.shut();
        epoch.open();
        assert_eq!((epoch.get(), epoch.count()), (Epoch::SHUT, cached));
        epoch.open();
        assert_eq!(epoch.get(), cached, "nothing has changed");
        epoch.shut();
        epoch.change();
        assert_eq!(epoch.get(), Epoch::SHUT);
        epoch.open();
        assert_ne!(epoch.get(), cached);
    }

    #[test]
    fn an_epoch_of_one_host_is_stale_for_another() {
        let (one, other) = (Epoch::default(), Epoch::default());
        assert_ne!(one.count(), other.count());
        let cached = one.count();
        other.change();
        other.change();
        assert_ne!(other.get(), cached);
        assert_eq!(one.get(), cached);
    }

    #[test]
    fn watching_closes_fast_paths_and_notifies_the_listener_at_start_and_end() {
        let (epoch, changes) = (Epoch::default(), Rc::new(RefCell::new(Vec::new())));
        let (cached, lines) = (epoch.count(), Rc::clone(&changes));
        epoch.on_change(move |is_observed| lines.borrow_mut().push(is_observed));
        epoch.observe(true);
        epoch.observe(true);
        assert_eq!(epoch.get(), Epoch::SHUT);
        epoch.shut();
        epoch.observe(false);
        epoch.observe(false);
        assert_eq!(epoch.get(), Epoch::SHUT, "something else keeps it shut");
        epoch.open();
        assert_eq!((epoch.get(), &**changes.borrow()), (cached, &[true, true, false, false][..]));
    }
}
