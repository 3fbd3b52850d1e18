//! Interprets a WebAssembly module. One of the calls into the module traps.

use crate::local::report;

use wasmi::{Engine, Error, Linker, Module, Store};

const TEXT: &str = r#"(module
    (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
    (func (export "never") unreachable))"#;

fn run() -> Result<bool, Error> {
    let engine = Engine::default();
    let module = Module::new(&engine, TEXT)?;
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module)?;
    let add = instance.get_typed_func::<(i32, i32), i32>(&store, "add")?;
    let never = instance.get_typed_func::<(), ()>(&store, "never")?;
    Ok(add.call(&mut store, (40, 2))? == 42 && never.call(&mut store, ()).is_err())
}

pub(crate) fn begin() {}

pub(crate) fn work() -> String {
    report(run())
}

pub(crate) fn end() {}
