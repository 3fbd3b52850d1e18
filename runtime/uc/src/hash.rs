//! Fast maps and sets without protection against hash collisions. A package runs in the host anyway, so its author gains nothing from names
//! with equal hashes.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
