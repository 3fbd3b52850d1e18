//! Turns the descriptions of modules into classes, structs and functions of the host's reflection, all or nothing,
//! and fills the cells through which the modules reach what they declare and use. No object is touched here.

pub(crate) mod batch;
pub(crate) mod c_bodies;
pub(crate) mod conversions;
pub(crate) mod described;
pub(crate) mod diff;
pub(crate) mod error;
pub(crate) mod imports;
pub(crate) mod order;
pub(crate) mod read;
#[cfg(feature = "script")]
pub(crate) mod scripts;
pub(crate) mod strings;
