//! Runs code in an initializer of the library, when the library is mapped. The code uses a thread-local with a destructor.

use std::cell::RefCell;

thread_local! {
    static EARLY: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[ctor::ctor]
fn before_everything() {
    EARLY.with_borrow_mut(|early| early.push("before everything".to_owned()));
}

#[ctor::dtor]
fn after_everything() {
    let _gone = EARLY.try_with(|early| early.borrow_mut().clear());
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let early = EARLY.with_borrow(Vec::len);
    if early == 1 { "ok".to_owned() } else { format!("{early}") }
}

pub(crate) fn end() {}
