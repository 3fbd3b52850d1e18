//! A child process whose output is read and that is waited for.

use std::process::Command;

use crate::local::told;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let output = Command::new("/bin/sh").args(["-c", "read line; echo hello"]).output();
    told(output.map(|output| output.stdout == b"hello\n"))
}

pub(crate) fn end() {}
