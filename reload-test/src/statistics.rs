//! Statistical functions on numbers.

use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Computes the spread of unsorted `values`. All fields are zero if `values` is empty.
    pub(crate) fn of(values: &[f64]) -> Self {
        let [p50, p95, max] = percentiles(values, [50, 95, 100]);
        Self { p50, p95, max }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

impl Range {
    /// Computes the range of unsorted `values`. All fields are zero if `values` is empty.
    pub(crate) fn of(values: &[f64]) -> Self {
        let [min, median, max] = percentiles(values, [0, 50, 100]);
        Self { min, median, max }
    }
}

/// Returns percentiles of unsorted values by nearest rank, so each result is one of the values.
fn percentiles<const N: usize>(values: &[f64], percents: [usize; N]) -> [f64; N] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = |percent: usize| (sorted.len() * percent).div_ceil(100);
    percents.map(|percent| sorted.get(rank(percent).saturating_sub(1)).copied().unwrap_or(0.0))
}

/// Returns the slope of `values` per step, by least squares. Returns zero for fewer than two values.
pub(crate) fn slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let (mut together, mut alone) = (0.0, 0.0);
    for (at, value) in values.iter().enumerate() {
        let across = at as f64 - middle;
        together += across * (value - mean);
        alone += across * across;
    }
    if alone == 0.0 { 0.0 } else { together / alone }
}

/// Returns the last half of the values, including the middle value, because the first half contains the start-up growth of a process.
pub(crate) fn last_half<T>(values: &[T]) -> &[T] {
    &values[values.len() / 2..]
}

/// Reduces the values to at most `points` means of adjacent values, which preserve the shape of the curve.
pub(crate) fn curve(values: &[f64], points: usize) -> Vec<f64> {
    let points = points.min(values.len());
    let edge = |point: usize| point * values.len() / points;
    (0..points)
        .map(|point| &values[edge(point)..edge(point + 1)])
        .map(|part| part.iter().sum::<f64>() / part.len() as f64)
        .collect()
}

/// Returns one block character per value, scaled between minimum and maximum.
pub(crate) fn sparkline(values: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
    let height = |value: f64| if range > 0.0 { (value - least) / range * (BLOCKS.len() - 1) as f64 } else { 0.0 };
    values.iter().map(|&value| BLOCKS[height(value).round() as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::{Range, Spread, curve, last_half, slope, sparkline};

    #[test]
    fn a_percentile_is_a_value_that_was_measured() {
        let check = |values: &[f64], p50, p95, max| assert_eq!(Spread::of(values), Spread { p50, p95, max });
        check(&[], 0.0, 0.0, 0.0);
        check(&[7.0], 7.0, 7.0, 7.0);
        check(&[3.0, 1.0], 1.0, 3.0, 3.0);
        check(&[4.0, 2.0, 3.0, 1.0], 2.0, 4.0, 4.0);
        let hundred: Vec<_> = (1..=100).rev().map(f64::from).collect();
        check(&hundred, 50.0, 95.0, 100.0);
    }

    #[test]
    fn a_range_has_measured_values() {
        let check = |values: &[f64], min, median, max| assert_eq!(Range::of(values), Range { min, median, max });
        check(&[], 0.0, 0.0, 0.0);
        check(&[7.0], 7.0, 7.0, 7.0);
        check(&[4.0, 2.0, 3.0, 1.0], 1.0, 2.0, 4.0);
    }

    #[test]
    fn a_slope_is_growth_per_step() {
        assert_eq!(slope(&[]), 0.0);
        assert_eq!(slope(&[9.0]), 0.0);
        assert_eq!(slope(&[5.0, 5.0, 5.0]), 0.0);
        assert_eq!(slope(&[1.0, 3.0, 5.0, 7.0]), 2.0);
        assert_eq!(slope(&[4.0, 3.0]), -1.0);
        assert_eq!(slope(&[0.0, 1.0, 0.0, 3.0]), 0.8);
    }

    #[test]
    fn the_last_half_of_an_odd_number_is_the_larger() {
        assert_eq!(last_half(&[1, 2, 3, 4]), [3, 4]);
        assert_eq!(last_half(&[1, 2, 3]), [2, 3]);
        assert_eq!(last_half::<u8>(&[]), [0; 0]);
    }

    #[test]
    fn a_curve_has_no_more_points_than_values() {
        assert_eq!(curve(&[1.0, 3.0, 5.0, 7.0], 2), [2.0, 6.0]);
        assert_eq!(curve(&[1.0, 2.0], 10), [1.0, 2.0]);
        assert_eq!(curve(&[1.0, 2.0, 3.0, 4.0, 5.0], 2), [1.5, 4.0]);
        assert!(curve(&[], 10).is_empty());
    }

    #[test]
    fn a_sparkline_rises_from_the_least_to_the_greatest() {
        assert_eq!(sparkline(&[1.0, 2.0, 8.0]), "▁▂█");
        assert_eq!(sparkline(&[5.0, 5.0]), "▁▁");
        assert_eq!(sparkline(&[]), "");
    }
}
