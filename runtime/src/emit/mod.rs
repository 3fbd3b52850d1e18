//! Converts the descriptions of modules to classes, structs and functions of the host's reflection. A load declares either all of its types
//! or none. This module also fills the cells, the static variables in which modules find their own declarations and their imports. These
//! steps change no object.

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
