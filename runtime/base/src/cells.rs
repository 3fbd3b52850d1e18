//! Cells for the stores of a host. Each cell wraps a cell of std. In debug builds, the cells also count the open borrows of each thread,
//! because no borrow may be open while foreign code runs. Even a log statement runs foreign code: a log listener may call the runtime, and
//! this call fails if a store is borrowed. All stores must use these cells instead of the cells of std. `tests/floors.rs` checks this rule.
//! `tests/attacks` checks the count at every log line. Release builds do not count borrows.

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

/// Guard of an entry in a list. Dropping the guard removes the entry. Guards may be dropped in any order. For example, a call in a coroutine
/// can return later than the call that started the coroutine.
///
/// # Examples
/// ```
/// use alcedo_base::cells::{Pushed, RefCell};
///
/// let open_menus = RefCell::new(Vec::new());
/// {
///     let menu = Pushed::onto(&open_menus, "inventory");
///     assert_eq!(open_menus.borrow()[menu.at()], Some("inventory"));
/// }
/// assert!(open_menus.borrow().is_empty());
/// ```
#[must_use = "the entry is removed when this is dropped"]
pub struct Pushed<'a, T> {
    list: &'a RefCell<Vec<Option<T>>>,
    at: usize,
}

impl<'a, T> Pushed<'a, T> {
    /// Appends `entry` to `list` until the returned guard is dropped.
    pub fn onto(list: &'a RefCell<Vec<Option<T>>>, entry: T) -> Self {
        let mut entries = list.borrow_mut();
        entries.push(Some(entry));
        Self { list, at: entries.len() - 1 }
    }

    /// Returns the index of the entry, which does not change until the guard is dropped.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl<T> Drop for Pushed<'_, T> {
    fn drop(&mut self) {
        let mut entries = self.list.borrow_mut();
        let entry = entries[self.at].take();
        while entries.pop_if(|last| last.is_none()).is_some() {}
        // Dropping the entry may run code that uses the list, so no borrow is held then.
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

#[cfg(debug_assertions)]
use counting::Open;
#[cfg(debug_assertions)]
pub use counting::open_borrows;

#[cfg(debug_assertions)]
mod counting {
    use std::cell::Cell;

    thread_local! {
        static OPEN: Cell<u32> = const { Cell::new(0) };
    }

    /// Returns the number of open borrows of stores on this thread.
    #[inline]
    pub fn open_borrows() -> u32 {
        OPEN.get()
    }

    pub(super) struct Open;

    impl Open {
        pub(super) fn begin() -> Self {
            OPEN.set(OPEN.get() + 1);
            Self
        }
    }

    impl Drop for Open {
        fn drop(&mut self) {
            OPEN.set(OPEN.get() - 1);
        }
    }
}

#[cfg(not(debug_assertions))]
struct Open;

#[cfg(not(debug_assertions))]
impl Open {
    #[inline]
    fn begin() -> Self {
        Self
    }
}

/// Returns 0, because release builds do not count borrows.
#[cfg(not(debug_assertions))]
pub fn open_borrows() -> u32 {
    0
}
