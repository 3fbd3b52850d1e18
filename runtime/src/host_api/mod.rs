//! Functions that plugins may call. `alcedo_abi::list` lists them, one line per function. For each line, [`trampolines`] defines the table
//! function, which calls the body of the same name in one of the files here. A body is a plain function. The first parameter is the core or
//! the host context. The number of the calling module follows, if the line has one. The remaining parameters are converted by
//! [`arguments`]. A body returns the results that its line declares.

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
