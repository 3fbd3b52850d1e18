//! Worlds that run the code of a session. `local.rs` is a world in this process, for the demo and for debuggers. `remote.rs` is a world in
//! a separate process, whose crashes and hangs do not affect the session. `sample.rs` is the default program of the separate process. The
//! session sends requests to a world, and receives the outcomes as [`WorldEvent`].

mod local;
mod population;
mod remote;
mod sample;
mod user_code;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use alcedo_runtime::development::link::{FromHost, Status, ToHost};
use crossbeam_channel::Receiver;

use crate::error::Error;
use crate::guard::{End, Panic};

pub(crate) use local::Local;
pub(crate) use population::Population;
pub(crate) use remote::{HostProgram, Remote};
pub(crate) use sample::{Args as SampleArgs, run as run_sample};

/// A world of a session. No method blocks.
pub(crate) trait World {
    /// Sends a request to the world. After a request to load, the event `Started`, `Reloaded` or `Refused` follows, unless the world ends
    /// first.
    fn request(&mut self, request: ToHost);

    fn events(&self) -> &Receiver<WorldEvent>;

    /// Returns the channel of printed lines. The channel is bounded and separate from the channel of events, so a full channel blocks only
    /// the thread that prints.
    fn printed(&self) -> &Receiver<Printed>;

    /// Returns the time until [`World::attend`] is due.
    fn rest(&self) -> Duration;

    /// Runs the next tick of a world in this process. Does nothing for a world in another process, which runs its own ticks.
    fn attend(&mut self);

    /// Returns the last known status.
    fn status(&mut self) -> Status;

    /// Kills a hanging world. Returns true if the world was killed. The event `Ended` then follows.
    fn kill(&mut self) -> bool;

    /// Returns true if the world has ended, and the event `Ended` or `Done` follows.
    fn has_ended(&self) -> bool {
        false
    }

    /// Restarts a world that has ended. If `saved` is true, restores the last saved world, if any, as soon as plugins are loaded. The event
    /// `Restored` or `NotRestored` reports the result. Otherwise, sets the saved world aside.
    ///
    /// # Errors
    /// Fails if the program cannot be started.
    fn restart(&mut self, saved: bool) -> Result<(), Error>;

    /// Sets the program that the next restart runs. Does nothing for a world in this process.
    fn set_program(&mut self, _program: &Path) {}

    /// Ends the world normally. Passes its remaining output to `print`.
    fn shutdown(self, print: &mut dyn FnMut(&Printed)) -> Shutdown;
}

/// Result of [`World::shutdown`].
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    /// A line for each image, context or process that did not end.
    pub(crate) left: Vec<String>,
    /// Crash of the host after the request to end.
    pub(crate) crash: Option<End>,
}

#[derive(Debug)]
pub(crate) enum WorldEvent {
    /// A message from the host, with the time of arrival. The greeting and the announcement of a normal end do not become events.
    Host(FromHost, Instant),
    /// Objects were created.
    Populated(Population),
    /// The host's process runs, but has not connected to `alcedo`. The string contains the reason and a hint.
    NotJoined(String),
    /// The process sent an unreadable message.
    Unreadable(String),
    /// Plugin code has panicked. The world continues.
    Panicked(Panic),
    /// The world's process has exited normally.
    Done,
    /// The world's process has ended unexpectedly.
    Ended(End),
}

/// A line that the world's process printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The line, without its line feed.
    pub(crate) line: String,
    /// Set for a line of standard error, to which logs are also printed.
    pub(crate) is_error: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct HostOptions {
    /// Packages for types of plugins, in addition to `Game`.
    pub(crate) packages: Vec<String>,
    /// Arguments that the `main` function of every module receives.
    pub(crate) args: Vec<String>,
    /// Number of objects of each actor class.
    pub(crate) objects: u64,
    pub(crate) user_code: Option<PathBuf>,
    /// Injects a fault: the host runs a class constructor again in each reload.
    pub(crate) planted_rerun: bool,
}
