//! Implements the trait [`Peer`] for each compared library. `there` is one call from the host to the library. `back` makes the library call
//! the host in a loop, and returns the sum.

#![allow(non_local_definitions, reason = "the macro of `abi_stable` writes some")]

use std::hint::black_box;

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::prelude::TD_Opaque;
use abi_stable::std_types::RBox;
use bevy_reflect::func::{ArgList, DynamicFunction, IntoFunction};
use libffi::low::ffi_cif;
use libffi::middle::{Cif, Closure, CodePtr, Type, arg};
use mlua::{Function, Lua};
use rhai::{AST, Engine, Scope};
use wasmtime::{Engine as WasmEngine, Instance, Linker, Module, Store, TypedFunc};

/// Adds two numbers. Each measured call runs this function.
#[inline(never)]
pub extern "C" fn add(left: i32, right: i32) -> i32 {
    left.wrapping_add(right)
}

/// A library that makes calls across an ABI boundary.
pub trait Peer {
    /// Adds two numbers by one call from the host to the library.
    fn there(&mut self, left: i32, right: i32) -> i32;

    /// Makes the library call the host `times` times. Each call adds 1.
    fn back(&mut self, times: u64) -> i32;
}

/// `libffi`: a C function whose signature is known only at run time, and a closure of the host as a C function.
pub struct Libffi {
    cif: Cif,
    closure: Closure<'static>,
}

unsafe extern "C" fn added(_cif: &ffi_cif, result: &mut i32, args: *const *const std::ffi::c_void, _data: &()) {
    // SAFETY: `libffi` passes one address for each argument of the closure, and each address points to a value of the argument's type.
    let (left, right) = unsafe { (*(*args).cast::<i32>(), *(*args.add(1)).cast::<i32>()) };
    *result = left.wrapping_add(right);
}

impl Libffi {
    /// Prepares the C call and the closure.
    #[must_use]
    pub fn new() -> Self {
        let cif = || Cif::new([Type::i32(), Type::i32()], Type::i32());
        Self { cif: cif(), closure: Closure::new(cif(), added, &()) }
    }
}

impl Default for Libffi {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer for Libffi {
    fn there(&mut self, left: i32, right: i32) -> i32 {
        let code = CodePtr::from_ptr(black_box(add as extern "C" fn(i32, i32) -> i32) as *const _);
        // SAFETY: `cif` describes the parameters and the result of this function.
        unsafe { self.cif.call(code, &[arg(&left), arg(&right)]) }
    }

    fn back(&mut self, times: u64) -> i32 {
        // SAFETY: the closure was created with this signature.
        let code: extern "C" fn(i32, i32) -> i32 = unsafe { std::mem::transmute(*self.closure.code_ptr()) };
        (0..times).fold(0, |sum, _| black_box(code)(black_box(sum), 1))
    }
}

/// `bevy_reflect`: a function with reflected arguments. No call crosses an ABI boundary, so both directions use the same code.
pub struct Bevy(DynamicFunction<'static>);

impl Bevy {
    /// Prepares the calls.
    #[must_use]
    pub fn new() -> Self {
        Self((|left: i32, right: i32| left.wrapping_add(right)).into_function())
    }

    fn call(&self, left: i32, right: i32) -> i32 {
        let result = self.0.call(ArgList::new().with_owned(left).with_owned(right)).expect("a sum");
        *result.unwrap_owned().try_downcast_ref::<i32>().expect("a number")
    }
}

impl Default for Bevy {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer for Bevy {
    fn there(&mut self, left: i32, right: i32) -> i32 {
        self.call(left, right)
    }

    fn back(&mut self, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| black_box(&*self).call(black_box(sum), 1))
    }
}

/// `mlua` with LuaJIT.
pub struct LuaJit {
    _lua: Lua,
    add: Function,
    often: Function,
}

impl LuaJit {
    /// Prepares the calls.
    #[must_use]
    pub fn new() -> Self {
        let lua = Lua::new();
        let host =
            lua.create_function(|_, (left, right): (i32, i32)| Ok(left.wrapping_add(right))).expect("a function");
        lua.globals().set("host_add", host).expect("a name");
        let add = lua.load("return function(a, b) return a + b end").eval().expect("a function");
        let often =
            "local add = host_add; return function(n) local s = 0; for i = 1, n do s = add(s, 1) end; return s end";
        let often = lua.load(often).eval().expect("a function");
        Self { _lua: lua, add, often }
    }
}

impl Default for LuaJit {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer for LuaJit {
    fn there(&mut self, left: i32, right: i32) -> i32 {
        self.add.call((left, right)).expect("a sum")
    }

    fn back(&mut self, times: u64) -> i32 {
        self.often.call(times).expect("a sum")
    }
}

/// `wasmtime`: typed functions for calls into the library and back.
pub struct Wasm {
    store: Store<()>,
    add: TypedFunc<(i32, i32), i32>,
    often: TypedFunc<i64, i32>,
}

impl Wasm {
    /// Prepares the calls.
    #[must_use]
    pub fn new() -> Self {
        let engine = WasmEngine::default();
        let text = r#"(module
            (import "host" "add" (func $host (param i32 i32) (result i32)))
            (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add)
            (func (export "often") (param $n i64) (result i32) (local $sum i32)
                (block $done (loop $again
                    local.get $n i64.eqz br_if $done
                    local.get $sum i32.const 1 call $host local.set $sum
                    local.get $n i64.const 1 i64.sub local.set $n
                    br $again))
                local.get $sum))"#;
        let module = Module::new(&engine, text).expect("a module");
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "add", |left: i32, right: i32| left.wrapping_add(right)).expect("a function");
        let mut store = Store::new(&engine, ());
        let instance: Instance = linker.instantiate(&mut store, &module).expect("an instance");
        let add = instance.get_typed_func(&mut store, "add").expect("a function");
        let often = instance.get_typed_func(&mut store, "often").expect("a function");
        Self { store, add, often }
    }
}

impl Default for Wasm {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer for Wasm {
    fn there(&mut self, left: i32, right: i32) -> i32 {
        self.add.call(&mut self.store, (left, right)).expect("a sum")
    }

    fn back(&mut self, times: u64) -> i32 {
        self.often.call(&mut self.store, times.cast_signed()).expect("a sum")
    }
}

/// `rhai`: a script that runs as a syntax tree.
pub struct Rhai {
    engine: Engine,
    script: AST,
}

impl Rhai {
    /// Prepares the calls.
    #[must_use]
    pub fn new() -> Self {
        let mut engine = Engine::new();
        engine.register_fn("host_add", |left: i32, right: i32| left.wrapping_add(right));
        let text = "fn add(a, b) { a + b } fn often(n) { let s = 0; let i = 0; while i < n { s = host_add(s, 1); i += 1; } s }";
        let script = engine.compile(text).expect("a script");
        Self { engine, script }
    }
}

impl Default for Rhai {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer for Rhai {
    fn there(&mut self, left: i32, right: i32) -> i32 {
        self.engine.call_fn(&mut Scope::new(), &self.script, "add", (left, right)).expect("a sum")
    }

    fn back(&mut self, times: u64) -> i32 {
        let times = i32::try_from(times).expect("not so often");
        self.engine.call_fn(&mut Scope::new(), &self.script, "often", (times,)).expect("a sum")
    }
}

/// Trait from which `abi_stable` generates the trait object.
#[sabi_trait]
pub trait Adds {
    /// Adds two numbers.
    fn add(&self, left: i32, right: i32) -> i32;
}

struct Plain;

impl Adds for Plain {
    fn add(&self, left: i32, right: i32) -> i32 {
        left.wrapping_add(right)
    }
}

/// `abi_stable`: a trait object with a method table that both sides declare. Both directions use the same code.
pub struct AbiStable(Adds_TO<'static, RBox<()>>);

impl AbiStable {
    /// Prepares the calls.
    #[must_use]
    pub fn new() -> Self {
        Self(black_box(Adds_TO::from_value(Plain, TD_Opaque)))
    }
}

impl Default for AbiStable {
    fn default() -> Self {
        Self::new()
    }
}

impl Peer for AbiStable {
    fn there(&mut self, left: i32, right: i32) -> i32 {
        self.0.add(left, right)
    }

    fn back(&mut self, times: u64) -> i32 {
        (0..times).fold(0, |sum, _| black_box(&self.0).add(black_box(sum), 1))
    }
}

/// Returns all compared libraries with their ids in the benchmark.
#[must_use]
pub fn all() -> Vec<(&'static str, Box<dyn Peer>)> {
    vec![
        ("abi_stable", Box::new(AbiStable::new())),
        ("libffi", Box::new(Libffi::new())),
        ("wasmtime", Box::new(Wasm::new())),
        ("mlua", Box::new(LuaJit::new())),
        ("bevy_reflect", Box::new(Bevy::new())),
        ("rhai", Box::new(Rhai::new())),
    ]
}
