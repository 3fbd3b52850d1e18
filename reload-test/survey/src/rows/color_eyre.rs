//! Installs the hooks for panics and reports. The hooks cannot be removed. Formats a report with a backtrace, and catches a panic.

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
