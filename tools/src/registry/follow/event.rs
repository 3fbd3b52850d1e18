//! Events of `alcedo follow`. Each event is printed as a line of text or as a JSON object.

use std::fmt;

use serde::Serialize;

use crate::error::one_line;
use crate::screen::print_result;

/// An event. The JSON form has the field `event`. Programs should ignore unknown fields and events.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// A library was fetched and checked.
    Fetched { module: &'a str, version: String, digest: &'a str },
    /// The files of a host were replaced.
    Written { host: &'a str },
    /// A host has reported that the new code is healthy.
    Healthy { host: &'a str },
    /// A host has rejected a file, was unhealthy, has exited, or did not report the files in time.
    Unhealthy { host: &'a str, reason: &'a str },
    /// A host runs its last good files again.
    Returned { host: &'a str },
    /// The last good files of a host could not be written, or the host does not report these files.
    NotReturned { host: &'a str, reason: &'a str },
    /// All hosts run the modules of the document.
    Done { hosts: usize },
    /// The desired state has failed, and is not tried again.
    Failed { host: &'a str, reason: &'a str },
    /// The document cannot be followed now, and is tried again later.
    Refused { error: &'a str },
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fetched { module, version, digest } => write!(f, "fetched   {module} {version}  {digest}"),
            Self::Written { host } => write!(f, "written   {host}"),
            Self::Healthy { host } => write!(f, "healthy   {host}"),
            Self::Unhealthy { host, reason } => write!(f, "unhealthy {host}: {reason}"),
            Self::Returned { host } => write!(f, "returned  {host}: its last good files run"),
            Self::NotReturned { host, reason } => {
                write!(f, "not back  {host}: {reason}")
            }
            Self::Done { hosts: 1 } => write!(f, "done      1 host runs the modules of the document"),
            Self::Done { hosts } => write!(f, "done      {hosts} hosts run the modules of the document"),
            Self::Failed { host, reason } => write!(
                f,
                "failed    the modules of the document are not healthy on {host}: {reason}; change the document, or pass `--retry`"
            ),
            Self::Refused { error } => write!(f, "refused   {error}"),
        }
    }
}

/// Prints events on standard output.
#[derive(Clone, Copy)]
pub(super) struct Output {
    pub(super) json: bool,
}

impl Output {
    pub(super) fn print(&self, event: &Event<'_>) {
        let line = match self.json {
            // The event contains only strings and numbers, so its serialization cannot fail.
            true => serde_json::to_string(event).unwrap_or_default(),
            false => one_line(&event.to_string()),
        };
        print_result(&line);
    }
}
