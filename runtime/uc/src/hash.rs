//! Fast maps and sets without protection against hash collisions. Protection is unnecessary: a plugin author gains nothing from colliding
//! names, because the author's package runs in the host anyway.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
