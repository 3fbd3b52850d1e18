//! Borrows that outlive their call: found by the borrow checker, after all types are valid.
#![allow(unused)]
#![forbid(unsafe_code)]

mod frame_that_is_kept {
    //! A frame ends with its call.

    use std::cell::RefCell;

    use alcedo_runtime::{CallError, Frame, World};

    thread_local! {
        static KEPT: RefCell<Option<&'static mut Frame<'static>>> = const { RefCell::new(None) };
    }

    fn body(_world: &World, frame: &mut Frame<'_>) -> Result<(), CallError> {
        KEPT.with(|kept| *kept.borrow_mut() = Some(frame));
        Ok(())
    }
}

fn main() {}
