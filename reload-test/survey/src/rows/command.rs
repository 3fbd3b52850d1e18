//! Runs a child process: writes to its input, reads its output, and waits for its end.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::local::report;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(conversation())
}

fn conversation() -> io::Result<bool> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", "while read line; do echo \"hello $line\"; done; echo late >&2; exit 3"])
        .env("SURVEYED", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut output = BufReader::new(child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?);
    let mut is_right = true;
    for name in ["one", "two"] {
        writeln!(input, "{name}")?;
        let mut line = String::new();
        output.read_line(&mut line)?;
        is_right &= line == format!("hello {name}\n");
    }
    drop(input);
    let ended = child.wait_with_output()?;
    Ok(is_right && ended.status.code() == Some(3) && ended.stderr == b"late\n")
}

pub(crate) fn end() {}
