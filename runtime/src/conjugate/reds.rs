//! Host values that plugin code borrows by handle, in calls without static types. A borrow ends when its frame closes. Frames are nested,
//! and only the innermost frame adds borrows, so the borrows form a stack. Each frame stores the height that this stack had when the frame
//! was opened.
//!
//! Views with static types need no handle, because Rust limits their lifetime to the frame.

use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::handles::ConjugateHandle;

use crate::cells::RefCell;
use crate::conjugate::hot::HotFrames;
use crate::conjugate::owned_values::Opened;
use crate::conjugate::serials::{Facts, Serials};
use crate::handles::last_serial;

/// First slot index of red conjugates. Smaller indexes belong to owned values.
pub(super) const FIRST: u32 = 1 << 31;

/// Borrowed values. Game thread only.
#[derive(Debug)]
pub(crate) struct Reds {
    values: RefCell<Serials<Opened>>,
    /// Borrowed values, oldest first.
    row: RefCell<Vec<ConjugateHandle>>,
    /// Frame counters. The counters also contain the height of this stack, because every call reads the height.
    hot: Rc<HotFrames>,
}

impl Reds {
    /// Creates an empty stack. `hot` stores the height of the stack.
    pub(super) fn new(hot: Rc<HotFrames>) -> Self {
        let values = RefCell::new(Serials::new(FIRST, last_serial()));
        Self { values, row: RefCell::default(), hot }
    }

    #[inline]
    pub(super) fn height(&self) -> usize {
        self.hot.height()
    }

    /// Borrows a value. The borrow ends when [`Reds::cut`] is called with a smaller height.
    pub(super) fn borrow_red(&self, value: Opened, now: Instant) -> ConjugateHandle {
        let handle = self.values.borrow_mut().insert(value.ty.kind(), now, value);
        self.row.borrow_mut().push(handle);
        self.hot.set_height(self.hot.height() + 1);
        handle
    }

    /// Ends the borrows above `height` in the stack of borrows.
    #[inline]
    pub(super) fn cut(&self, height: usize) {
        if self.height() > height {
            self.end_above(height);
        }
    }

    #[cold]
    fn end_above(&self, height: usize) {
        let ended = self.row.borrow_mut().split_off(height);
        self.hot.set_height(height);
        let mut values = self.values.borrow_mut();
        ended.into_iter().rev().for_each(|handle| drop(values.remove(handle)));
    }

    pub(crate) fn open(&self, handle: ConjugateHandle) -> Option<Opened> {
        self.values.borrow().get(handle).cloned()
    }

    /// Returns kind and age of a red conjugate. Returns `None` for a handle that was never assigned.
    pub(crate) fn facts(&self, handle: ConjugateHandle, now: Instant) -> Option<Facts> {
        self.values.borrow().facts(handle, now)
    }
}
