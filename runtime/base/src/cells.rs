//! Cells for the stores of a host, such as the store of objects. Each cell wraps a cell of std. In debug builds, the cells also count the
//! open borrows of each thread, because no borrow may be open while foreign code runs. Even a log statement runs foreign code: a log
//! listener may call the runtime, and this call fails if a store is borrowed. All stores must use these cells instead of the cells of std.
//! `tests/floors.rs` checks this rule. `tests/attacks` checks the count at every log line. Release builds do not count borrows.

use std::cell::{Cell, Ref, RefMut};
use std::ops::{Deref, DerefMut};

/// Guard of an incremented count. Dropping the guard decrements the count.
///
/// # Examples
/// ```
/// use std::cell::Cell;
///
/// use alcedo_base::cells::Counted;
///
/// let open_menus = Cell::new(0);
/// {
///     let _menu = Counted::in_cell(&open_menus);
///     assert_eq!(open_menus.get(), 1);
/// }
/// assert_eq!(open_menus.get(), 0);
/// ```
#[derive(Debug)]
#[must_use = "the step ends when this is dropped"]
pub struct Counted<'a>(&'a Cell<u32>);

impl<'a> Counted<'a> {
    /// Increments `count` until the returned guard is dropped.
    #[inline]
    pub fn in_cell(count: &'a Cell<u32>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Guard of a replaced value. Dropping the guard restores the previous value of the cell.
///
/// # Examples
/// ```
/// use std::cell::Cell;
///
/// use alcedo_base::cells::Restore;
///
/// let mode = Cell::new("edit");
/// {
///     let _playing = Restore::in_cell(&mode, "play");
///     assert_eq!(mode.get(), "play");
/// }
/// assert_eq!(mode.get(), "edit");
/// ```
#[derive(Debug)]
#[must_use = "the previous value is restored when this is dropped"]
pub struct Restore<'a, T: Copy>(&'a Cell<T>, T);

impl<'a, T: Copy> Restore<'a, T> {
    /// Sets the cell to `value` until the returned guard is dropped.
    #[inline]
    pub fn in_cell(cell: &'a Cell<T>, value: T) -> Self {
        Self(cell, cell.replace(value))
    }
}

impl<T: Copy> Drop for Restore<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// List of calls in progress, oldest first. Each entry has a guard that removes the entry. Guards may be dropped in any order. For example,
/// a call in a coroutine can return later than the call that started the coroutine.
///
/// # Examples
/// ```
/// use alcedo_base::cells::InProgress;
///
/// let calls = InProgress::default();
/// let (first, second) = (calls.enter("load"), calls.enter("save"));
/// drop(first);
/// assert_eq!(calls.len(), 1);
/// assert_eq!(calls.with(second.number(), |name| *name), Some("save"));
/// ```
#[derive(Debug)]
pub struct InProgress<T> {
    /// Entries with their numbers, in ascending order.
    entries: RefCell<Vec<(u64, T)>>,
    last: Cell<u64>,
}

/// Guard of an entry of [`InProgress`].
#[derive(Debug)]
#[must_use = "the entry is removed when this is dropped"]
pub struct Entered<'a, T> {
    list: &'a InProgress<T>,
    number: u64,
}

impl<T> Default for InProgress<T> {
    fn default() -> Self {
        Self { entries: RefCell::default(), last: Cell::default() }
    }
}

impl<T> InProgress<T> {
    /// Appends `entry` to the list. Dropping the returned guard removes the entry.
    pub fn enter(&self, entry: T) -> Entered<'_, T> {
        let number = self.last.get() + 1;
        self.last.set(number);
        self.entries.borrow_mut().push((number, entry));
        Entered { list: self, number }
    }

    /// Returns the number of entries.
    #[expect(clippy::len_without_is_empty, reason = "the number is compared with a limit")]
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Passes the entry with this number to `code`, which must not use the list. Returns `None` if the entry was removed.
    pub fn with<R>(&self, number: u64, code: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut entries = self.entries.borrow_mut();
        let at = entries.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(code(&mut entries[at].1))
    }

    /// Passes all entries to `code`, oldest first. `code` must not use the list.
    pub fn with_all<R>(&self, code: impl FnOnce(&mut dyn Iterator<Item = &mut T>) -> R) -> R {
        code(&mut self.entries.borrow_mut().iter_mut().map(|(_, entry)| entry))
    }
}

impl<T> Entered<'_, T> {
    /// Returns the number of the entry. No later entry of the list has this number.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl<T> Drop for Entered<'_, T> {
    fn drop(&mut self) {
        let mut entries = self.list.entries.borrow_mut();
        let at = entries.binary_search_by_key(&self.number, |(number, _)| *number);
        let entry = at.map(|at| entries.remove(at));
        // Ends the borrow first, because dropping the entry may run code that uses the list.
        drop(entries);
        drop(entry);
    }
}

/// Dynamically borrowed value, like [`std::cell::RefCell`].
///
/// # Examples
/// ```
/// use alcedo_base::cells::RefCell;
///
/// let scores = RefCell::new(vec![3]);
/// scores.borrow_mut().push(5);
/// assert_eq!(*scores.borrow(), [3, 5]);
/// assert_eq!(scores.take(), [3, 5]);
/// assert!(scores.borrow().is_empty());
/// ```
#[derive(Default, Clone, Debug)]
pub struct RefCell<T> {
    value: std::cell::RefCell<T>,
}

/// Guard of a shared borrow.
pub struct Borrowed<'a, T> {
    value: Ref<'a, T>,
    _open: Open,
}

/// Guard of a mutable borrow.
pub struct BorrowedMut<'a, T> {
    value: RefMut<'a, T>,
    _open: Open,
}

impl<T> RefCell<T> {
    /// Creates a cell with the value `value`.
    pub const fn new(value: T) -> Self {
        Self { value: std::cell::RefCell::new(value) }
    }

    /// Borrows the value.
    #[inline]
    #[track_caller]
    pub fn borrow(&self) -> Borrowed<'_, T> {
        Borrowed { value: self.value.borrow(), _open: Open::begin() }
    }

    /// Borrows the value mutably.
    #[inline]
    #[track_caller]
    pub fn borrow_mut(&self) -> BorrowedMut<'_, T> {
        BorrowedMut { value: self.value.borrow_mut(), _open: Open::begin() }
    }

    /// Takes the value and stores the default value.
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.value.take()
    }

    /// Replaces the value and returns the previous value.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.value.replace(value)
    }

    /// Returns a mutable reference to the value. Needs no run-time check, because `self` is borrowed mutably.
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Deref for BorrowedMut<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for BorrowedMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

thread_local! {
    static OPEN: Cell<u32> = const { Cell::new(0) };
}

/// Returns the number of open borrows of stores on this thread. Returns 0 in release builds, which do not count borrows.
#[inline]
pub fn open_borrows() -> u32 {
    if cfg!(debug_assertions) { OPEN.get() } else { 0 }
}

/// Entry of an open borrow in the count of this thread.
struct Open;

impl Open {
    #[inline]
    fn begin() -> Self {
        if cfg!(debug_assertions) {
            OPEN.set(OPEN.get() + 1);
        }
        Self
    }
}

impl Drop for Open {
    #[inline]
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            OPEN.set(OPEN.get() - 1);
        }
    }
}
