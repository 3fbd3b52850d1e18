//! Opens a ring for each call, completes one request, and closes the ring.

use io_uring::{IoUring, opcode};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    answer().unwrap_or_else(|error| error.to_string())
}

fn answer() -> std::io::Result<String> {
    let mut ring = IoUring::new(4)?;
    // SAFETY: the request uses no descriptor and no memory.
    unsafe { ring.submission().push(&opcode::Nop::new().build().user_data(42)) }.map_err(std::io::Error::other)?;
    ring.submit_and_wait(1)?;
    let answer = ring.completion().next().map(|entry| entry.user_data());
    Ok(if answer == Some(42) { "ok".to_owned() } else { format!("{answer:?}") })
}

pub(crate) fn end() {}
