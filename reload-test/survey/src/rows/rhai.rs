//! Runs a script that calls a Rust function, and a script that fails.

use crate::local::report;

use rhai::{Engine, EvalAltResult};

fn run() -> Result<bool, Box<EvalAltResult>> {
    let mut engine = Engine::new();
    engine.register_fn("double", |number: i64| number * 2);
    let sum = engine.eval::<i64>("let sum = 0; for i in 0..10 { sum += double(i); } sum")?;
    Ok(sum == 90 && engine.eval::<i64>("throw \"no\"").is_err())
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(run().map_err(|error| error.to_string()))
}

pub(crate) fn end() {}
