//! Fast maps and sets without protection against hash collisions. Protection is unnecessary: a plugin author, whose package
//! runs in the host anyway, gains nothing from colliding names.

pub(crate) use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
