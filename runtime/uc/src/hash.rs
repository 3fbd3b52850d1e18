//! Fast maps and sets without protection against collisions: an author whose package also runs gains nothing from colliding
//! names.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
