//! Host part of `alcedo dev`, which builds the plugins, watches their sources and handles keys. The world runs in a separate process: the
//! plugin author's host or the sample engine. A crash, a hang or exhausted memory in plugin code ends only the host process, and not
//! `alcedo dev`. `alcedo dev` then starts a new host process with the last good build and the last saved world.
//!
//! A host connects by [`Builder::development`](crate::Builder::development). `link.rs` defines the protocol. `stream.rs` opens the socket.
//! `agent.rs` executes the requests of `alcedo dev` in the host. `autosave.rs` schedules saves of the world. `builds.rs` reads the build
//! ids of the running modules. `answer.rs` writes the declarations of a host for `alcedo glue`. `siblings.rs` lists the libraries for a
//! host that runs without `alcedo dev`.

mod agent;
pub mod answer;
mod autosave;
mod builds;
pub mod link;
pub(crate) mod siblings;

mod stream;

pub use alcedo_sys::{PrivateFolder, plain_file};

pub use agent::leave_out;
pub(crate) use agent::{Agent, Invitation};
pub use builds::running_builds;
