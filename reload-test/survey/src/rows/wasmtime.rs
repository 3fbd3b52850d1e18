//! Compiles and calls a WebAssembly module. In the row `wasmtime-trap`, some calls trap. The engine and the instance are dropped when the
//! module ends. In the row `wasmtime-leaked`, both are left in a static. Handlers for traps are process-wide. Only the row `wasmtime`
//! removes them.
#![allow(unsafe_code, reason = "removing the handlers is unsafe, because other engines may need them")]

use crate::local::Kept;

use wasmtime::{Engine, Error, Instance, Module, Store};

static INSTANCE: Kept<(Store<u32>, Instance)> = Kept::new();

const TEXT: &str = r#"(module
    (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
    (func (export "divide") (param i32 i32) (result i32) local.get 0 local.get 1 i32.div_s)
    (func (export "never") unreachable))"#;

fn instance() -> Result<(Store<u32>, Instance), Error> {
    let engine = Engine::default();
    let module = Module::new(&engine, TEXT)?;
    let mut store = Store::new(&engine, 0);
    let instance = Instance::new(&mut store, &module, &[])?;
    Ok((store, instance))
}

pub(crate) fn begin() {
    INSTANCE.keep(instance());
}

pub(crate) fn work() -> String {
    INSTANCE.work(|(store, instance)| {
        let add = instance.get_typed_func::<(i32, i32), i32>(&mut *store, "add")?;
        let is_right = add.call(&mut *store, (40, 2))? == 42;
        if cfg!(feature = "wasmtime-trap") {
            let divide = instance.get_typed_func::<(i32, i32), i32>(&mut *store, "divide")?;
            let never = instance.get_typed_func::<(), ()>(&mut *store, "never")?;
            let is_trapped = divide.call(&mut *store, (1, 0)).is_err() && never.call(&mut *store, ()).is_err();
            return Ok(is_right && is_trapped);
        }
        Ok::<_, Error>(is_right)
    })
}

pub(crate) fn end() {
    let Some((store, instance)) = (if cfg!(feature = "wasmtime-leaked") { None } else { INSTANCE.take() }) else {
        return;
    };
    let engine = store.engine().clone();
    drop((store, instance));
    if cfg!(feature = "wasmtime") {
        // SAFETY: this is the only engine of this copy of the crate, and none of its code is running.
        unsafe { engine.unload_process_handlers() };
    }
}
