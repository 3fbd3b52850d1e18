//! Computes expected values and samples of objects from numbers. The values are not stored, because a faulty host could change stored
//! values.

/// Number of reloads after which the values of an object repeat.
const ROUNDS: u64 = 4096;

/// Returns the value of `object` in `round`. Values differ between objects and between consecutive rounds. Values are not whole numbers,
/// but defaults of the plugins are, so a reset to a default is detected.
pub(crate) fn value(object: usize, round: u64) -> f64 {
    let fraction = (round % ROUNDS + 1) as f64 / (2 * ROUNDS) as f64;
    (object + 1) as f64 + fraction
}

/// Returns at most `most` different indices of `all` objects. `seed` determines the selection and the order.
pub(crate) fn sample(all: usize, most: usize, seed: u64) -> impl Iterator<Item = usize> {
    let modulus = all.max(1) as u64;
    let start = mixed(seed) % modulus;
    // Increases the step until it is coprime to the number of objects, so that no index repeats.
    let mut step = mixed(!seed) % modulus;
    while common_factor(step, modulus) != 1 {
        step = (step + 1) % modulus;
    }
    (0..all.min(most) as u64)
        .map(move |count| ((u128::from(start) + u128::from(count) * u128::from(step)) % u128::from(modulus)) as usize)
}

/// Mixes the bits of a seed with the finalizer of splitmix64, so that adjacent seeds produce dissimilar numbers.
fn mixed(seed: u64) -> u64 {
    let mut word = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

fn common_factor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_factor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::{ROUNDS, sample, value};
    use std::collections::HashSet;

    #[test]
    fn no_value_is_whole_or_shared() {
        let mut seen = HashSet::new();
        for object in 0..50 {
            for round in 0..ROUNDS {
                let value = value(object, round);
                assert!(value.fract() != 0.0 && seen.insert(value.to_bits()), "{object} in {round}: {value}");
            }
        }
        assert_ne!(value(1_000_000, 1).to_bits(), value(1_000_000, 2).to_bits());
    }

    #[test]
    fn a_sample_has_each_object_once() {
        for (all, most, taken) in [(0, 10, 0), (1, 10, 1), (2, 10, 2), (12, 12, 12), (1000, 100, 100), (997, 997, 997)]
        {
            for seed in 0..20 {
                let sample: Vec<_> = sample(all, most, seed).collect();
                let different: HashSet<_> = sample.iter().collect();
                assert_eq!((sample.len(), different.len()), (taken, taken), "{taken} of {all}, seed {seed}");
                assert!(sample.iter().all(|&object| object < all));
            }
        }
    }

    #[test]
    fn seeds_give_different_samples() {
        let samples: HashSet<Vec<_>> = (0..50).map(|seed| sample(10_000, 8, seed).collect()).collect();
        assert_eq!(samples.len(), 50);
    }
}
