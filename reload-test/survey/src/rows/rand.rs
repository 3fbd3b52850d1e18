//! Uses the random generator of the thread.

use rand::Rng as _;
use rand::seq::SliceRandom as _;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let mut numbers: Vec<u32> = (0..100).collect();
    numbers.shuffle(&mut rand::rng());
    let number = rand::rng().random_range(0..100);
    if numbers.contains(&number) { "ok".to_owned() } else { format!("{number} is gone") }
}

pub(crate) fn end() {}
