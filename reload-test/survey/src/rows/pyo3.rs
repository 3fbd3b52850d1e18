//! Adds a function and a class to a Python module. Each generation calls the function and class of the previous generation, replaces them,
//! and collects garbage.

use crate::local::report;

use pyo3::prelude::*;
use pyo3::types::PyDict;

#[pyfunction]
fn doubled(number: u32) -> u32 {
    number * 2
}

#[pyclass]
struct Counter {
    count: u32,
}

#[pymethods]
impl Counter {
    fn next(&mut self) -> u32 {
        self.count += 1;
        self.count
    }
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(Python::attach(|python| {
        let modules = python.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
        let before = modules.get_item("surveyed")?;
        let is_right = before.as_ref().map_or(Ok(true), is_right)?;
        let module = PyModule::new(python, "surveyed")?;
        module.add_function(wrap_pyfunction!(doubled, &module)?)?;
        module.add_class::<Counter>()?;
        module.add("counter", Bound::new(python, Counter { count: 0 })?)?;
        modules.set_item("surveyed", &module)?;
        drop(before);
        python.import("gc")?.call_method0("collect")?;
        Ok::<_, PyErr>(is_right && self::is_right(&module)?)
    }))
}

/// Calls the function and class that a generation has stored in its Python module.
fn is_right(module: &Bound<'_, PyAny>) -> PyResult<bool> {
    let number: u32 = module.getattr("doubled")?.call1((21,))?.extract()?;
    let count: u32 = module.getattr("counter")?.call_method0("next")?.extract()?;
    Ok(number == 42 && count > 0)
}

pub(crate) fn end() {}
