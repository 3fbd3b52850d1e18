//! Conjugates: pairs of a host part and a plugin part. Defines the side that creates a conjugate, the lifetime of a conjugate, and the
//! thread that drops the plugin part.

mod black_row;
pub(crate) mod build;
pub(crate) mod class_hook_table;
pub(crate) mod drops;
mod field_bytes;
pub(crate) mod file_fields;
pub(crate) mod finalizer;
pub(crate) mod gate;
pub(crate) mod hot;
mod last_part;
pub(crate) mod life;
pub(crate) mod named_fields;
pub(crate) mod owned_values;
pub(crate) mod packed;
pub(crate) mod pairs;
pub(crate) mod red;
pub(crate) mod reds;
pub(crate) mod saving;
pub(crate) mod serials;
pub(crate) mod statistics;

pub use life::Color;
pub use statistics::{BlackCount, BlackReport, SiteCount};
