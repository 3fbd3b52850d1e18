//! Functions that plugins may call, listed in `alcedo_abi::list`. For each line, [`trampolines`] defines the table function, which calls the
//! body of the same name in one of the files here. A body is a plain function: it takes the stores or the host context, the number of
//! the calling module if its line has one, and the parameters converted by [`arguments`]. It returns the results of its line.

mod answer;
mod arguments;
mod calls;
mod conjugates;
mod containers;
mod delegates;
mod each;
mod frames;
mod host_context;
mod jobs;
mod links;
mod logging;
mod objects;
mod owned_values;
mod plain;
mod strings;
mod trampolines;

pub(crate) use host_context::{HostContext, LastingContext, SharedHostContext};
use trampolines::{table, values};

#[cfg(test)]
mod conjugate_tests;
#[cfg(test)]
mod link_tests;
#[cfg(test)]
mod value_tests;
