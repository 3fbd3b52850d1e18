//! Solves a system of equations.

use nalgebra::{DMatrix, DVector};

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    let matrix = DMatrix::from_fn(20, 20, |row, column| if row == column { 21.0 } else { 1.0 / (1.0 + row as f64) });
    let right = DVector::from_element(20, 1.0);
    let Some(found) = matrix.clone().lu().solve(&right) else { return "no solution".to_owned() };
    let error = (matrix * found - right).norm();
    if error < 1e-9 { "ok".to_owned() } else { format!("{error}") }
}

pub(crate) fn end() {}
