//! Fast maps and sets without protection against hash collisions. Protection is unnecessary: script code runs in the host anyway, so its
//! author gains nothing from names with colliding hashes.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
