//! Where the code of a session runs. `local.rs` is a world in this process, for the demo and for debuggers; `remote.rs` one
//! in a process of its own, which may crash or hang without harm to the session; `sample.rs` is the program of such a
//! process where the author names no host. The session sends requests, and gets the outcomes as [`News`].

mod local;
mod population;
mod remote;
mod sample;
mod user_code;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use alcedo_runtime::development::link::{FromHost, Status, ToHost};
use crossbeam_channel::Receiver;

use crate::error::Error;
use crate::guard::{End, Panic};

pub(crate) use local::Local;
pub(crate) use population::Population;
pub(crate) use remote::{HostProgram, Remote};
pub(crate) use sample::{Wish as SampleWish, run as run_sample};

/// A world, as the session sees it. Every method returns at once.
pub(crate) trait World {
    /// Sends a request, which news answer: a load by `Started`, `Reloaded` or `Refused`, unless the world ends before.
    fn ask(&mut self, request: ToHost);

    /// What has happened.
    fn news(&self) -> &Receiver<News>;

    /// What is printed. The printing thread waits for the reader of this, so that news do not have to wait.
    fn printed(&self) -> &Receiver<Printed>;

    /// How long until [`World::attend`] is due.
    fn rest(&self) -> Duration;

    /// Does what is due.
    fn attend(&mut self);

    /// How it is, as far as is known.
    fn status(&mut self) -> Status;

    /// Ends a world that hangs, whatever it does. `Ended` will come.
    fn kill(&mut self);

    /// Begins anew after the world has ended; `saved` says whether the world that was saved last is kept for
    /// [`World::restore`], or put aside.
    ///
    /// # Errors
    /// When the program cannot be started.
    fn restart(&mut self, saved: bool) -> Result<(), Error>;

    /// Brings the world back that was saved last, if there is one, as soon as what was requested before is done. One of
    /// `Restored` and `NotRestored` will come then.
    fn restore(&mut self);

    /// Ends it in order, and passes on what is printed until the end. Returns what could not be ended.
    fn shutdown(self, print: &mut dyn FnMut(&Printed)) -> Vec<String>;
}

/// What happened in a world.
#[derive(Debug)]
pub(crate) enum News {
    /// The host sent this then. A greeting and an orderly end are not passed on.
    Host(FromHost, Instant),
    /// Objects were born.
    Populated(Population),
    /// The process runs but takes no part: why, and the way out.
    NotJoined(String),
    /// The process said what cannot be read.
    Unreadable(String),
    /// Plugin code has panicked, and goes on.
    Panicked(Panic),
    /// The world's process has ended in order.
    Done,
    /// The world's process has ended otherwise, unasked.
    Ended(End),
}

/// A line that the world's process printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Printed {
    /// The line, without its end.
    pub(crate) line: String,
    /// Whether it came by the stream for errors, as logs do.
    pub(crate) is_error: bool,
}

/// What the sample world is made of.
#[derive(Clone, Debug)]
pub(crate) struct HostOptions {
    /// Packages besides `Game`.
    pub(crate) packages: Vec<String>,
    /// Arguments for the main of every module.
    pub(crate) args: Vec<String>,
    /// How many objects of each class of actor.
    pub(crate) objects: u64,
    /// The folder with C libraries.
    pub(crate) user_code: Option<PathBuf>,
    /// A host that is broken on purpose: it reruns a class constructor in each reload.
    pub(crate) planted_rerun: bool,
}
