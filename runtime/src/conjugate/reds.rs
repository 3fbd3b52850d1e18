//! Values that belong to the host and are lent to plugin code by a number, for calls without static types. A frame has
//! a list of what was lent in it, and ends that when it closes. Frames nest, and only the innermost lends; so what is
//! lent is a stack, and each frame stores how high it was when it opened.
//!
//! Views with static types need none of this: they have the frame's lifetime.

use std::rc::Rc;
use std::time::Instant;

use alcedo_abi::handles::ConjugateHandle;

use crate::cells::RefCell;
use crate::conjugate::blacks::Opened;
use crate::conjugate::hot::HotFrames;
use crate::conjugate::serials::{Facts, Serials};
use crate::handles::last_serial;

/// The first index of reds: blacks have those below.
pub(super) const FIRST: u32 = 1 << 31;

/// What is lent. Game thread only.
#[derive(Debug)]
pub(crate) struct Reds {
    lent: RefCell<Serials<Opened>>,
    /// Those that have not ended, oldest first.
    row: RefCell<Vec<ConjugateHandle>>,
    /// How many there are, where every call looks.
    hot: Rc<HotFrames>,
}

impl Default for Reds {
    fn default() -> Self {
        Self::new(Rc::default())
    }
}

impl Reds {
    /// Nothing is lent; how much is, stands in `hot`.
    pub(super) fn new(hot: Rc<HotFrames>) -> Self {
        let lent = RefCell::new(Serials::new(FIRST, last_serial()));
        Self { lent, row: RefCell::default(), hot }
    }

    /// How much is lent now.
    #[inline]
    pub(super) fn height(&self) -> usize {
        self.hot.height()
    }

    /// Lends a value, until the stack is cut below it.
    pub(super) fn lend(&self, value: Opened, now: Instant) -> ConjugateHandle {
        let handle = self.lent.borrow_mut().insert(value.ty.kind(), now, value);
        self.row.borrow_mut().push(handle);
        self.hot.set_height(self.hot.height() + 1);
        handle
    }

    /// Ends what was lent above this height.
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
        let mut lent = self.lent.borrow_mut();
        ended.into_iter().rev().for_each(|handle| drop(lent.remove(handle)));
    }

    /// The value, while it is lent.
    pub(crate) fn open(&self, handle: ConjugateHandle) -> Option<Opened> {
        self.lent.borrow().get(handle).cloned()
    }

    /// What is known of a red; nothing for a number that was never given out.
    pub(crate) fn facts(&self, handle: ConjugateHandle, now: Instant) -> Option<Facts> {
        self.lent.borrow().facts(handle, now)
    }
}
