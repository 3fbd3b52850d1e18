//! The root module of a plugin: what `module!` makes of its two hooks.
#![expect(unsafe_code, reason = "makes the erased root module that the loader reads")]

use core::marker::PhantomData;

use alcedo_abi::abi_stable::library::{CheckTypeLayout, RootModuleResult};
use alcedo_abi::abi_stable::marker_type::ErasedPrefix;
use alcedo_abi::abi_stable::prefix_type::{PrefixRefTrait, WithMetadata};
use alcedo_abi::abi_stable::staticref;
use alcedo_abi::abi_stable::std_types::{RResult, RSlice, RStr};
use alcedo_abi::call::{Failure, Status};
use alcedo_abi::host::ModuleContext;
use alcedo_abi::module::{Module, ModuleRef};
use alcedo_rt::trap;

use super::registry;
use crate::dispose::dispose_all;

pub use alcedo_abi::abi_stable::library::LibHeader;

/// What an author gives to `module!`.
pub trait ModuleHooks: 'static {
    /// The main of the module.
    fn main(args: &[&str]);
    /// The exit hook.
    fn exit();
}

/// A function that can be the main of a module: `fn(&[&str])` or `fn()`.
#[diagnostic::on_unimplemented(message = "the main of a module is `fn(&[&str])` or `fn()`", label = "this is neither")]
pub trait MainFn<Shape> {
    /// Calls it.
    fn run(self, args: &[&str]);
}

/// `fn(&[&str])`.
#[derive(Debug)]
pub enum WithArgs {}

/// `fn()`.
#[derive(Debug)]
pub enum Bare {}

impl<F: FnOnce(&[&str])> MainFn<WithArgs> for F {
    fn run(self, args: &[&str]) {
        self(args);
    }
}

impl<F: FnOnce()> MainFn<Bare> for F {
    fn run(self, _args: &[&str]) {
        self();
    }
}

/// Calls a main of either shape.
pub fn run_main<Shape>(main: impl MainFn<Shape>, args: &[&str]) {
    main.run(args);
}

struct Root<M>(PhantomData<M>);

impl<M: ModuleHooks> Root<M> {
    staticref!(const MODULE: WithMetadata<Module> = WithMetadata::new(Module {
        attach,
        structs: registry::structs,
        classes: registry::classes,
        imports: registry::imports,
        exports: registry::exports,
        main: main_shell::<M>,
        exit: exit_shell::<M>,
        detach,
        heap_bytes,
        interfaces: registry::interfaces,
        dispose: dispose_shell,
    }));
}

/// What the loader finds under the root symbol.
#[must_use]
pub const fn lib_header<M: ModuleHooks>() -> LibHeader {
    // SAFETY: `constructor` erases a prefix reference of `ModuleRef`.
    unsafe { LibHeader::from_constructor::<ModuleRef>(constructor::<M>, CheckTypeLayout::Yes) }
}

extern "C" fn constructor<M: ModuleHooks>() -> RootModuleResult {
    let module = ModuleRef(Root::<M>::MODULE.as_prefix()).to_prefix_ref();
    // SAFETY: the loader turns the erased prefix back into the type that the header names.
    RResult::ROk(unsafe { module.cast::<ErasedPrefix>() })
}

unsafe extern "C" fn attach(context: &ModuleContext, failure: &mut Failure) -> Status {
    alcedo_rt::attach(context, failure)
}

extern "C" fn detach() {
    // A host that is older than `dispose` may not have asked for it.
    let _told = dispose_all(&mut Failure::none());
    alcedo_rt::detach();
}

unsafe extern "C" fn dispose_shell(failure: &mut Failure) -> Status {
    dispose_all(failure)
}

extern "C" fn heap_bytes() -> u64 {
    alcedo_rt::live_bytes()
}

unsafe extern "C" fn main_shell<M: ModuleHooks>(args: RSlice<'_, RStr<'_>>, failure: &mut Failure) -> Status {
    trap(failure, || {
        let args: Vec<&str> = args.as_slice().iter().map(RStr::as_str).collect();
        M::main(&args);
        Ok(())
    })
}

unsafe extern "C" fn exit_shell<M: ModuleHooks>(failure: &mut Failure) -> Status {
    let exited = trap(failure, || {
        M::exit();
        Ok(())
    });
    let disposed = dispose_all(failure);
    if exited == Status::OK { disposed } else { exited }
}
