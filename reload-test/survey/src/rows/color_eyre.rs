//! The hooks for panics and for reports, which have no end, a report with a backtrace, and a panic that is caught.

use std::panic::catch_unwind;

use color_eyre::eyre::{WrapErr as _, eyre};

pub(crate) fn begin() {
    if let Err(error) = color_eyre::install() {
        eprintln!("{error:?}");
    }
}

pub(crate) fn work() -> String {
    let report = Err::<(), _>(eyre!("the cause")).wrap_err("the error").expect_err("it is one");
    let text = format!("{report:?}");
    let is_caught = catch_unwind(|| panic!("a panic")).is_err();
    if is_caught && text.contains("the cause") && text.contains("the error") { "ok".to_owned() } else { text }
}

pub(crate) fn end() {}
