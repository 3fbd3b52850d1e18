//! The functions that plugins may call. They are listed in `alcedo_abi::list`; [`shells`] makes of each line the function that
//! stands in the table, which calls the body of the same name in one of the files here. A body is a plain function of what
//! its line says: the stores or the host context, the number of the asking module where the line has one, and the parameters
//! as [`given`] makes them the host's own. It gives what the line has as results.

mod answer;
mod blacks;
mod calls;
mod conjugates;
mod containers;
mod delegates;
mod each;
mod frames;
mod given;
mod host_context;
mod jobs;
mod links;
mod logging;
mod objects;
mod plain;
mod shells;
mod texts;

pub(crate) use host_context::{HostContext, LastingContext, SharedHostContext};
use shells::{table, values};

#[cfg(test)]
mod conjugate_tests;
#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod value_tests;
