//! The events of a session.

use std::path::PathBuf;

use alcedo_build::BuildError;
use alcedo_runtime::Reload;
use alcedo_runtime::development::link;

use super::Mode;
use crate::guard::End;
use crate::input::Heard;
use crate::world::{News, Population, Printed};

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A build was begun, after these files had changed.
    Building(Vec<PathBuf>),
    /// The sources changed again, so the build that ran is no longer needed.
    Canceled,
    /// All is built.
    Built {
        /// Milliseconds of cargo.
        millis: f64,
        /// What the compiler warned of, as it says it.
        warnings: String,
    },
    /// It does not build. The code that runs goes on.
    NotBuilt(BuildError),
    /// The build made what runs already.
    Unchanged,
    /// Files changed, which is only noted while paused.
    Noted(Vec<PathBuf>),
    /// Sources of the host changed, whose older program runs.
    HostChanged(Vec<PathBuf>),
    /// Glue was written again in these files, because its host or its module declares other types now.
    GlueWritten(Vec<PathBuf>),
    /// The first generation is live.
    Started {
        /// Its number.
        generation: u64,
        /// Milliseconds of cargo.
        build_ms: f64,
    },
    /// The world has begun anew with an earlier build; none if there was no good one.
    Restarted(Option<u64>),
    /// The saved world was not brought back: the last ones ended right after it was.
    LeftOut,
    /// A build was not loaded.
    Refused {
        /// Why.
        error: String,
        /// Whether a type of the host's is missing: the plugin may be made for another host.
        lacks_type: bool,
        /// Set if the host's sources changed since its running program was built.
        host_is_older: bool,
        /// Whether there is older code that goes on.
        runs: bool,
    },
    /// A reload came to its end.
    Reloaded(Box<Live>),
    /// Objects were born.
    Populated(Population),
    /// Something does not return.
    Hang {
        /// Thread, function, module and since when.
        text: String,
        /// What it is that does not.
        of: link::HangOf,
    },
    /// What hung has returned.
    HangOver,
    /// The world that hung was ended.
    HangEnded,
    /// The world was ended by force: at the user's request, or because it sent what cannot be read.
    Stopped,
    /// The host has ended in order.
    HostDone,
    /// The world's process has ended otherwise, unasked.
    WorldEnded(End),
    /// The world's process, or one that it started, printed a line.
    Printed(Printed),
    /// What else the world reported.
    World(News),
    /// Something else failed, and the world goes on.
    Failed(String),
    /// There is nothing more to do.
    Over {
        /// Whether the host cannot run at all.
        failed: bool,
    },
}

/// A reload, with what came before it.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    /// The host's report.
    pub(crate) report: Reload,
    /// From the first change of a file to the moment the new code was live; none if it never was, or no file was saved.
    pub(crate) edit_to_live_ms: Option<f64>,
    /// Milliseconds of cargo; none when the libraries were there already.
    pub(crate) build_ms: Option<f64>,
    /// The earlier generation whose code this is.
    pub(crate) code_of: Option<u64>,
}

/// Why [`Session::wait`](super::Session::wait) returned.
#[derive(Debug)]
pub(crate) enum Step {
    /// Something happened.
    Event(Event),
    /// A command of the user.
    Heard(Heard),
    /// Time went by.
    Tick,
}

/// How things are.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) world: link::Status,
    pub(crate) mode: Mode,
    pub(crate) building: bool,
    pub(crate) running: bool,
    /// What does not return.
    pub(crate) hang: Option<String>,
}
