//! Uses the global thread pool of rayon, which cannot be shut down.

use rayon::prelude::*;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let sum = (0..1000_u64).into_par_iter().sum::<u64>();
    if sum == 499_500 { "ok".to_owned() } else { format!("{sum}") }
}

pub(crate) fn end() {}
