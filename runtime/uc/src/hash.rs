//! Fast maps and sets without protection against hash collisions. A plugin author whose package runs anyway gains nothing from
//! colliding names.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
