//! What `alcedo dev` and the host it runs say to each other, over a socket whose path stands in the variable [`SOCKET`]:
//! frames of a length and CBOR. Both sides come from one checkout; [`VERSION`] shows when they do not.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::reload::report::Reload;

#[cfg(unix)]
pub use super::stream::is_of_this_user;

/// The variable with the path of the tool's socket.
pub const SOCKET: &str = "ALCEDO_DEV_SOCKET";

/// Counted up whenever a message changes.
pub const VERSION: u32 = 2;

/// No message is longer, in bytes. A longer one is none of ours.
const LONGEST: u32 = 64 << 20;

/// The tool's requests to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToHost {
    /// The first message: how this session goes.
    Settings {
        /// Where the world is saved, after each commit and every few seconds; none for not at all.
        autosave: Option<PathBuf>,
    },
    /// Make these libraries the Master's: the first ones, or by a reload. One order is under way at a time.
    Load {
        /// The libraries.
        libraries: Vec<PathBuf>,
    },
    /// Replace the world by a saved one.
    Restore {
        /// The file.
        world: PathBuf,
    },
    /// Save the world now, into the file of [`ToHost::Settings`].
    Save,
    /// A line for the console.
    Line {
        /// The line, without the colon it was typed behind.
        line: String,
    },
    /// How a line for the console could go on.
    Complete {
        /// What there is of it.
        line: String,
    },
    /// End in order.
    End,
}

/// The host's messages to the tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromHost {
    /// The first message.
    Hello {
        /// Its [`VERSION`].
        version: u32,
        /// The version of its runtime.
        runtime: String,
    },
    /// The first generation is live.
    Started {
        /// Its number.
        generation: u64,
    },
    /// A reload came to its end, committed or rolled back.
    Reloaded {
        /// All of it.
        report: Box<Reload>,
        /// How long ago the new generation went live.
        since_live: Duration,
    },
    /// The libraries were not loaded, or no reload was begun. What ran before goes on.
    Refused {
        /// Why.
        error: String,
        /// Whether a type of the host's is missing that a plugin is built on: it may be made for another host.
        lacks_type: bool,
    },
    /// How things are, several times a second as long as the host comes to its safe points.
    Status(Status),
    /// The watchdog has noticed that something does not return.
    Hang {
        /// Thread, function, module and since when, as a sentence.
        text: String,
        /// What it is that does not.
        of: HangOf,
    },
    /// The world was replaced by a saved one.
    Restored {
        /// How many objects it has.
        objects: u64,
        /// How old it was.
        age: Duration,
        /// What became of values whose declaration has changed since.
        text: String,
    },
    /// It was not, and is as it was.
    NotRestored {
        /// Why.
        error: String,
    },
    /// A save that [`ToHost::Save`] requested has ended.
    Saved,
    /// The world could not be saved. Sent once until it can be again.
    NotSaved {
        /// Why.
        error: String,
    },
    /// What the console answers to a line.
    Answer {
        /// One or more lines.
        text: String,
    },
    /// How a line could go on.
    Completions {
        /// The line they are for.
        line: String,
        /// Whole lines.
        lines: Vec<String>,
    },
    /// The world has ended in order.
    Ended {
        /// What could not be ended.
        left: Vec<String>,
    },
}

/// What does not return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HangOf {
    /// A call into a module, on the game thread: the world stands still.
    Call,
    /// Work of the host's own, on the game thread. In a large world a reload may well take so long.
    Work,
    /// A `Drop` of a module's, on the finalizer thread: the world goes on.
    Finalizer,
}

/// How a world is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The generation of the Master; zero for none.
    pub generation: u64,
    /// Living objects.
    pub objects: u64,
    /// Ticks in the second that has passed.
    pub ticks: u64,
}

/// Writes one message.
///
/// # Errors
/// When the other side is closed, or a path in it is not UTF-8.
pub fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; size_of::<u32>()];
    ciborium::into_writer(message, &mut frame).map_err(|error| strange(&error))?;
    let len = u32::try_from(frame.len() - size_of::<u32>()).ok().filter(|len| *len <= LONGEST);
    let len = len.ok_or_else(|| strange(&format!("a message of {} bytes is too long", frame.len())))?;
    frame[..size_of::<u32>()].copy_from_slice(&len.to_le_bytes());
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one message; none when the other side has closed its end.
///
/// # Errors
/// When the end comes within a message, or it is none of ours.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut len = [0; size_of::<u32>()];
    // Only an end before the first byte is an orderly one.
    if from.read(&mut len[..1])? == 0 {
        return Ok(None);
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
    use std::io::ErrorKind;
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
