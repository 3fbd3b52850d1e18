//! The cells that the stores of a host lie in. They are those of std, and count in a debug build how many borrows are open
//! on this thread, because a rule rests on that: none is open while foreign code runs, and a log line runs foreign code.
//! A log listener may call back into the runtime at once, and must not meet a store that is borrowed. So no
//! store uses the cell of std (`tests/floors.rs` looks), and `tests/attacks` looks at the count in every line that is logged.
//! In a release build the guards are those of std.

use std::cell::{Cell, Ref, RefMut};
use std::ops::{Deref, DerefMut};

/// Counts a step that runs, until this is dropped.
#[derive(Debug)]
#[must_use = "the step is over when this is dropped"]
pub struct Counted<'a>(&'a Cell<u32>);

impl<'a> Counted<'a> {
    /// Adds a step.
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

/// A value that is borrowed when it is used, as in [`std::cell::RefCell`].
#[derive(Default, Clone, Debug)]
pub struct RefCell<T> {
    value: std::cell::RefCell<T>,
}

/// A borrow for reading.
pub struct Borrowed<'a, T> {
    value: Ref<'a, T>,
    _open: Open,
}

/// A borrow for writing.
pub struct BorrowedMut<'a, T> {
    value: RefMut<'a, T>,
    _open: Open,
}

impl<T> RefCell<T> {
    /// A cell with this value.
    pub const fn new(value: T) -> Self {
        Self { value: std::cell::RefCell::new(value) }
    }

    /// Borrows the value.
    #[inline]
    #[track_caller]
    pub fn borrow(&self) -> Borrowed<'_, T> {
        Borrowed { value: self.value.borrow(), _open: Open::begin() }
    }

    /// Borrows the value to change it.
    #[inline]
    #[track_caller]
    pub fn borrow_mut(&self) -> BorrowedMut<'_, T> {
        BorrowedMut { value: self.value.borrow_mut(), _open: Open::begin() }
    }

    /// Takes the value out.
    #[inline]
    #[track_caller]
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.value.take()
    }

    /// Puts another value in; the one before.
    #[inline]
    #[track_caller]
    pub fn replace(&self, value: T) -> T {
        self.value.replace(value)
    }

    /// The value, for the owner of the cell.
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

    /// How many borrows of stores are open on this thread.
    #[inline]
    pub fn open_borrows() -> u32 {
        OPEN.get()
    }

    /// One borrow, until it is dropped.
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

/// Nothing is counted in a release build.
#[cfg(not(debug_assertions))]
struct Open;

#[cfg(not(debug_assertions))]
impl Open {
    #[inline]
    fn begin() -> Self {
        Self
    }
}

/// How many borrows of stores are open on this thread; not known in a release build.
#[cfg(not(debug_assertions))]
pub fn open_borrows() -> u32 {
    0
}
