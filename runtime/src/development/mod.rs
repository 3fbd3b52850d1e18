//! A host's part in `alcedo dev`. The tool builds the plugins, watches their sources and reads the keys; the world runs in
//! a process of its own, which is the author's host or the sample engine. So a crash, a hang or an exhausted memory in
//! plugin code ends the world's process and never the tool, which starts it again with the last good build and the world
//! as it was saved last.
//!
//! A host takes part by one line in its builder, [`Builder::development`](crate::Builder::development). `link.rs` is what
//! the two say to each other, `stream.rs` the socket, `agent.rs` does in the host what the tool asks for, `autosave.rs` decides when the world is
//! saved. `answer.rs` is apart from these: it is how a host says what it declares, for `alcedo glue`. `siblings.rs` lists the libraries
//! for a host that runs without the tool.

mod agent;
pub mod answer;
mod autosave;
pub mod link;
pub(crate) mod siblings;

pub use alcedo_sys::plain_file;
mod stream;

pub(crate) use agent::{Agent, Invitation};
