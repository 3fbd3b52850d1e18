//! Computes the product of two matrices.

use ndarray::Array2;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let one = Array2::<f64>::eye(50) * 2.0;
    let other = Array2::from_shape_fn((50, 50), |(row, column)| (row * column) as f64);
    let product = one.dot(&other);
    if product[[7, 9]] == 126.0 { "ok".to_owned() } else { format!("{}", product[[7, 9]]) }
}

pub(crate) fn end() {}
