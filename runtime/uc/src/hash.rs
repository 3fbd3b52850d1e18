//! Fast maps and sets. A package that is checked is run as well, so its author gains nothing by names of equal hashes.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
