//! Evaluates an expression in Python. The interpreter keeps no references to the plugin.

use crate::local::report;

use pyo3::prelude::*;

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(Python::attach(|python| {
        let number: u64 = python.eval(c"sum(number ** 2 for number in range(10))", None, None)?.extract()?;
        Ok::<_, PyErr>(number == 285)
    }))
}

pub(crate) fn end() {}
