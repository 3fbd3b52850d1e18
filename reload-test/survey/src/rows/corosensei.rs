//! Runs a coroutine on a separate stack. The coroutine panics when it is resumed. In the row `corosensei-leaked`, the coroutine is left
//! suspended in a thread-local.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use corosensei::{Coroutine, CoroutineResult};

thread_local! {
    static ASLEEP: RefCell<Vec<Coroutine<u64, u64, ()>>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let mut doubling = Coroutine::new(|yielder, first: u64| {
        let second = yielder.suspend(first * 2);
        assert!(second != 0, "the row requests a panic");
        yielder.suspend(second * 2);
    });
    let first = doubling.resume(21);
    if cfg!(feature = "corosensei-leaked") {
        ASLEEP.with_borrow_mut(|asleep| asleep.push(doubling));
    } else if catch_unwind(AssertUnwindSafe(|| doubling.resume(0))).is_ok() {
        return "it did not panic".to_owned();
    }
    match first {
        CoroutineResult::Yield(42) => "ok".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(crate) fn end() {
    if cfg!(feature = "corosensei-leaked") {
        // Keeps the stack at its address after the destruction of the thread-local.
        ASLEEP.with_borrow_mut(|asleep| std::mem::forget(std::mem::take(asleep)));
    }
}
