//! Thread-locals with destructors, for which glibc would keep the image in memory.

use std::cell::{Cell, RefCell};
use std::thread;

use crate::counters::{Counted, Kind};

thread_local! {
    static PLAIN: Counted = Counted::new(Kind::Local);
    static OWNING: RefCell<(Counted, Vec<String>)> = RefCell::new((Counted::new(Kind::Owning), Vec::new()));
    static LATE: Counted = Counted::new(Kind::Late);
    static CHAINED: Chained = Chained(Counted::new(Kind::Chained));
    static TOUCHES: Cell<u64> = const { Cell::new(0) };
}

/// Value whose destructor is the first code to use a second thread-local, so that a destructor is registered while destructors run.
struct Chained(Counted);

impl Drop for Chained {
    fn drop(&mut self) {
        LATE.with(Counted::touch);
    }
}

/// Uses every thread-local of this module on the calling thread.
pub(crate) fn touch() {
    TOUCHES.set(TOUCHES.get() + 1);
    if TOUCHES.get() > 1 {
        return;
    }
    PLAIN.with(Counted::touch);
    CHAINED.with(|chained| chained.0.touch());
    OWNING.with_borrow_mut(|(_, lines)| lines.push(format!("{:?}", thread::current().id())));
}
