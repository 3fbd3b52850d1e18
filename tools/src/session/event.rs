//! The events of a session.

use std::path::PathBuf;

use alcedo_build::BuildError;
use alcedo_runtime::ReloadReport;
use alcedo_runtime::development::link;
use serde::{Serialize, Serializer};

use super::Mode;
use crate::guard::End;
use crate::input::ParsedCommand;
use crate::world::{Population, Printed, WorldEvent};

/// An event of a session. The JSON form has the field `event`. `dev/json.rs` converts the skipped events.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A build has started because these files have changed.
    Building {
        #[serde(serialize_with = "lossy")]
        changed: Vec<PathBuf>,
    },
    /// The running build was canceled because a newer build replaces it: after another change, a request or new glue.
    Canceled,
    /// The build succeeded.
    Built {
        /// Run time of the build in milliseconds.
        #[serde(rename = "build_ms")]
        millis: f64,
        /// Warnings as the compiler printed them.
        warnings: String,
    },
    /// The build failed. The old code continues to run.
    #[serde(skip)]
    NotBuilt(BuildError),
    /// The build produced libraries that are equal to the running libraries.
    Unchanged,
    /// Files have changed, but are not built because builds are paused.
    Noted {
        #[serde(serialize_with = "lossy")]
        changed: Vec<PathBuf>,
    },
    /// Sources of the host have changed. The host still runs its older program.
    HostChanged {
        #[serde(serialize_with = "lossy")]
        changed: Vec<PathBuf>,
    },
    /// The glue in these files was updated, because types of a host or module have changed.
    GlueWritten {
        #[serde(serialize_with = "lossy")]
        files: Vec<PathBuf>,
    },
    /// A plugin has appeared in this folder. The session does not build this plugin.
    NewPlugin { folder: String },
    /// A package of scripts has appeared in this folder. The session does not load this package.
    NewPackage { folder: String },
    /// The first generation is live.
    #[serde(rename = "live")]
    Started {
        generation: u64,
        /// Run time of the build in milliseconds.
        build_ms: f64,
    },
    /// The world was restarted. Contains the generation whose build now runs, or `None` if no good build existed.
    Restarted { generation: Option<u64> },
    /// The saved world was not restored, because the last worlds into which it was restored ended soon afterwards.
    LeftOut,
    /// The world has ended in the first run of a host that was built from changed sources.
    HostSuspected,
    /// A build was not loaded.
    Refused {
        error: String,
        /// Set if the host lacks a type that the plugin uses. The plugin may then be for another host.
        lacks_type: bool,
        /// Set if the host's sources have changed since its running program was built.
        host_is_older: bool,
        /// Set if the code of an older build continues to run.
        runs: bool,
    },
    /// A generation was committed, but its modules did not return the build ids of the requested libraries. `problems` contains an error
    /// message per module.
    NotConfirmed { generation: u64, problems: Vec<String> },
    /// A reload has ended.
    #[serde(skip)]
    Reloaded(Box<Live>),
    /// Objects were created.
    Populated(Population),
    /// Code in the world does not return.
    #[serde(skip)]
    Hang {
        /// Thread, function, module and start time.
        text: String,
        /// Kind of the hanging code.
        of: link::HangOf,
    },
    /// The hanging code has returned.
    HangOver,
    /// The hanging world was killed.
    HangEnded,
    /// The world was killed: at the user's request, or because of an unreadable message.
    Stopped,
    /// The host has exited normally.
    HostDone,
    /// The world's process has ended unexpectedly.
    #[serde(skip)]
    WorldEnded(End),
    /// The world's process or one of its child processes printed a line.
    #[serde(skip)]
    Printed(Printed),
    /// An event of the world that the session forwards.
    #[serde(skip)]
    World(WorldEvent),
    /// An operation failed. The world continues.
    Failed { error: String },
    Over {
        /// Set if the session is over because the host cannot run.
        failed: bool,
    },
}

/// Serializes paths as strings. Replaces bytes that JSON cannot represent.
fn lossy<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// A reload, with data about the preceding build.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    /// The host's report.
    pub(crate) report: ReloadReport,
    /// Time from the first change to a file until the new code was live. `None` if the code is not live, or if no file was changed.
    pub(crate) edit_to_live_ms: Option<f64>,
    /// Milliseconds of the build. `None` if the libraries existed already.
    pub(crate) build_ms: Option<f64>,
    pub(crate) build_parts: Vec<Part>,
    /// Earlier generation with this code. Set if the user loaded the code again.
    pub(crate) code_of: Option<u64>,
}

/// A named phase between a saved file and live code, with its duration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) ms: f64,
    /// Subphases, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<Part>,
}

impl Part {
    pub(crate) fn new(name: impl Into<String>, ms: f64) -> Self {
        Self { name: name.into(), ms, parts: Vec::new() }
    }
}

/// Reason why [`Session::wait`](super::Session::wait) has returned.
#[derive(Debug)]
pub(crate) enum Step {
    /// An event occurred.
    Event(Event),
    Command(ParsedCommand),
    /// The timeout was reached.
    Tick,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Status {
    pub(crate) world: link::Status,
    pub(crate) mode: Mode,
    pub(crate) building: bool,
    pub(crate) running: bool,
    /// Description of hanging code.
    pub(crate) hang: Option<String>,
}
