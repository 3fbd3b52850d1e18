//! Protocol between `alcedo dev` and the host process that `alcedo dev` runs. The environment variable [`SOCKET`] contains the path of the
//! socket. Each message is a length followed by CBOR. Both sides must be built from one checkout. A comparison of [`VERSION`] detects a
//! mismatch.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::reload::report::ReloadReport;

#[cfg(unix)]
pub use super::stream::is_of_this_user;

/// Environment variable with the path of the socket of `alcedo dev`.
pub const SOCKET: &str = "ALCEDO_DEV_SOCKET";

/// Version of the protocol, incremented whenever a message changes.
pub const VERSION: u32 = 4;

/// Maximum length of a message in bytes. A longer message is invalid.
const LONGEST: u32 = 64 << 20;

/// Request from `alcedo dev` to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToHost {
    /// First message from `alcedo dev`: the settings of the session.
    Settings {
        /// File to which the host saves the world after each commit and every few seconds. `None` disables these saves.
        autosave: Option<PathBuf>,
    },
    /// Loads these libraries as the Master. If a Master exists, replaces its modules by a reload. Only one load may be in progress at a
    /// time.
    Load {
        /// Paths of the libraries.
        libraries: Vec<PathBuf>,
    },
    /// Replaces the world by a saved world, as soon as plugins are loaded.
    Restore {
        /// Path of the world file.
        world: PathBuf,
    },
    /// Saves the world now to the file of [`ToHost::Settings`].
    Save,
    /// Runs a console line.
    Line {
        /// Console line, without its colon prefix.
        line: String,
    },
    /// Completes a console line.
    Complete {
        /// Beginning of the line.
        line: String,
    },
    /// Shuts the host down.
    End,
}

/// Message from the host to `alcedo dev`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromHost {
    /// First message from the host.
    Hello {
        /// [`VERSION`] of the host.
        version: u32,
        /// Version of the host's runtime.
        runtime: String,
    },
    /// The first generation is live.
    Started {
        /// Number of the generation.
        generation: u64,
        /// Build ids by module name; see [`running_builds`](crate::development::running_builds).
        builds: BTreeMap<String, String>,
    },
    /// A reload was committed or rolled back.
    Reloaded {
        /// Report of the reload.
        report: Box<ReloadReport>,
        /// Time since the new generation started to run.
        since_live: Duration,
        /// Build ids by module name; see [`running_builds`](crate::development::running_builds).
        builds: BTreeMap<String, String>,
    },
    /// A load request has failed: the libraries were not loaded, or the reload was not started. The previous code continues to run.
    Refused {
        /// Reason why the request was rejected.
        error: String,
        /// True if a plugin uses a type that the host does not declare. The plugin may have been built for a different host.
        lacks_type: bool,
    },
    /// Status of the world. The host sends the status several times a second, at its safe points.
    Status(Status),
    /// The watchdog has detected a hang.
    Hang {
        /// Description of the hang: thread, function, module and duration.
        text: String,
        /// Kind of the hang.
        of: HangOf,
    },
    /// The world was replaced by a saved world.
    Restored {
        /// Number of objects in the saved world.
        objects: u64,
        /// Age of the saved world.
        age: Duration,
        /// Report of the restore. Lists the values whose declaration has changed since the save.
        text: String,
    },
    /// The world was not replaced by the saved world, and is unchanged.
    NotRestored {
        /// Reason why the world was not replaced.
        error: String,
    },
    /// A save requested by [`ToHost::Save`] has finished.
    Saved,
    /// The world could not be saved. If consecutive saves fail, only the first failure is reported.
    NotSaved {
        /// Reason why the world could not be saved.
        error: String,
    },
    /// Answer of the console to [`ToHost::Line`].
    Answer {
        /// Output of one or more lines.
        text: String,
    },
    /// Answer to [`ToHost::Complete`].
    Completions {
        /// Line to complete.
        line: String,
        /// Completed lines.
        lines: Vec<String>,
    },
    /// The host has shut its runtime down.
    Ended {
        /// Descriptions of the contexts and images that could not be unloaded.
        left: Vec<String>,
    },
}

/// Kind of hang, by the activity that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HangOf {
    /// Call into a module on the game thread. A hang of this call blocks the world.
    Call,
    /// Host operation on the game thread. In a large world, a slow reload may be reported as a hang of this kind.
    Work,
    /// `Drop` of a module's value, such as a plugin part, on the finalizer thread. The world continues to run.
    Finalizer,
}

/// Status of a world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Generation of the Master; zero without a Master.
    pub generation: u64,
    /// Number of living objects.
    pub objects: u64,
    /// Ticks in the last second.
    pub ticks: u64,
}

/// Writes one message.
///
/// # Errors
/// Returns an error if the receiver has closed the connection, if the message is too long, or if a path in the message is not UTF-8.
pub fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; size_of::<u32>()];
    ciborium::into_writer(message, &mut frame).map_err(|error| strange(&error))?;
    let len = u32::try_from(frame.len() - size_of::<u32>()).ok().filter(|len| *len <= LONGEST);
    let len = len.ok_or_else(|| strange(&format!("a message of {} bytes is too long", frame.len())))?;
    frame[..size_of::<u32>()].copy_from_slice(&len.to_le_bytes());
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one message. Returns `None` if the sender has closed the connection.
///
/// # Errors
/// Returns an error if the stream ends inside a message, or if the message is invalid.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut len = [0; size_of::<u32>()];
    // A stream that ends before the first byte of a message is closed. A stream that ends inside a message is an error.
    match from.read_exact(&mut len[..1]) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    from.read_exact(&mut len[1..])?;
    let len = u32::from_le_bytes(len);
    if len > LONGEST {
        return Err(strange(&format!("a message of {len} bytes: the other side is of another version")));
    }
    let mut frame = Vec::new();
    from.take(u64::from(len)).read_to_end(&mut frame)?;
    if frame.len() as u64 != u64::from(len) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    ciborium::from_reader(frame.as_slice()).map(Some).map_err(|error| strange(&error))
}

fn strange(why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read};
    use std::path::PathBuf;

    use super::{FromHost, LONGEST, Status, ToHost, receive, send};

    #[test]
    fn messages_are_read_as_they_were_written_until_the_other_side_ends() {
        let mut bytes = Vec::new();
        let messages =
            [ToHost::Load { libraries: vec![PathBuf::from("/tmp/a b.so")] }, ToHost::Line { line: "objects".into() }];
        messages.iter().for_each(|message| send(&mut bytes, message).expect("memory"));
        let mut from = bytes.as_slice();
        for message in messages {
            assert_eq!(receive(&mut from).expect("whole"), Some(message));
        }
        assert_eq!(receive::<ToHost>(&mut from).expect("an orderly end"), None);
    }

    /// Stream in which a signal interrupts each second read.
    struct Interrupted<'a>(&'a [u8], bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(ErrorKind::Interrupted.into()) } else { self.0.read(to) }
        }
    }

    #[test]
    fn a_signal_does_not_end_the_connection() {
        let mut bytes = Vec::new();
        send(&mut bytes, &ToHost::End).expect("memory");
        let mut from = Interrupted(&bytes, false);
        assert_eq!(receive(&mut from).expect("whole"), Some(ToHost::End));
        assert_eq!(receive::<ToHost>(&mut from).expect("an orderly end"), None);
    }

    #[test]
    fn a_message_that_ends_early_or_is_too_long_is_an_error() {
        let mut bytes = Vec::new();
        send(&mut bytes, &FromHost::Status(Status::default())).expect("memory");
        for cut in 1..bytes.len() {
            let error = receive::<FromHost>(&mut &bytes[..cut]).expect_err("half a message");
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{cut}");
        }
        let long = (LONGEST + 1).to_le_bytes();
        assert_eq!(receive::<FromHost>(&mut &long[..]).expect_err("too long").kind(), ErrorKind::InvalidData);
    }
}
