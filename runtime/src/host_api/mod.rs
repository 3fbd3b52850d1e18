//! Functions that plugins call. `alcedo_abi::list` contains one line per function. For each line, [`trampolines`] defines the table
//! function. A table function calls the body of the same name in one of the files of this folder. A body is a plain function. The first
//! parameter of a body is the core or the host context. If the line requests the id of the calling module, this id is the second parameter.
//! [`arguments`] converts the remaining parameters. The body returns the results that the line declares.

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
