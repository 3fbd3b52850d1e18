//! Hooks that the plugin author passes to `module!`, and the root module that the host loads.
#![expect(unsafe_code, reason = "passes the table of the module to the loader")]

use core::fmt::Display;
use core::marker::PhantomData;

use alcedo_abi::abi_stable::library::{
    CheckTypeLayout, LibHeader, RootModule as _, RootModuleConsts, RootModuleResult,
};
use alcedo_abi::abi_stable::marker_type::ErasedPrefix;
use alcedo_abi::abi_stable::prefix_type::{PrefixRefTrait, WithMetadata};
use alcedo_abi::abi_stable::staticref;
use alcedo_abi::abi_stable::std_types::RResult;
use alcedo_abi::list::prelude::*;
use alcedo_abi::module::{Module, ModuleRef};
use alcedo_rt::{CallError, catch_panics, format_value, keep_hook};

use super::registry;
use super::trampolines::bare;
use crate::dispose::dispose_all;
use crate::registered;

/// Hooks and settings that an author passes to `module!`.
pub trait ModuleHooks: 'static {
    /// Runs the main function of the module.
    fn main(args: &[&str]);
    /// Runs the exit hook.
    fn exit();
    /// Function tables of the entry method.
    const TABLES: EntryTables;
    /// Calls the entry method.
    ///
    /// # Errors
    /// Fails if an entry of the host's table cannot be bound.
    fn entry() -> Result<(), CallError>;
    /// True if the main function installs its own loggers.
    const OWN_LOGGER: bool;
    /// True if the author has defined `suspend` and `resume`.
    const SUSPENDS: bool;
    /// Build id of the manifest, in little-endian order.
    const BUILD_ID: &'static [u8; 16];
    /// Releases resources that the next generation needs to start.
    fn suspend() -> Result<(), CallError>;
    /// Reacquires the resources that `suspend` has released.
    fn resume() -> Result<(), CallError>;
}

/// Return type of `suspend` and `resume`: `()`, or a `Result` whose error implements `Display`.
#[diagnostic::on_unimplemented(
    message = "`suspend` and `resume` of a module are `fn()` or `fn() -> Result<(), E>`, where `E` is `Display`",
    label = "this returns another type"
)]
pub trait Outcome {
    /// Converts the value into the result type of the ABI.
    ///
    /// # Errors
    /// Returns the author's error as a string.
    fn into_result(self) -> Result<(), CallError>;
}

impl Outcome for () {
    fn into_result(self) -> Result<(), CallError> {
        Ok(())
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn into_result(self) -> Result<(), CallError> {
        self.map_err(|error| format_value(error).map_or_else(|panic| panic, CallError::other))
    }
}

/// Calls a `suspend` or `resume` hook.
pub fn run_hook<R: Outcome>(hook: impl FnOnce() -> R) -> Result<(), CallError> {
    hook().into_result()
}

/// Function that can be the main function of a module: `fn(&[&str])` or `fn()`.
#[diagnostic::on_unimplemented(
    message = "the main of a module is `fn(&[&str])` or `fn()`",
    label = "this is neither",
    note = "to reject the load, a main panics"
)]
pub trait MainFn<Shape> {
    /// Calls the main function. A main function of the type `fn(&[&str])` receives the arguments.
    fn run(self, args: &[&str]);
}

/// Marker for a main function of the type `fn(&[&str])`.
#[derive(Debug)]
pub enum WithArgs {}

/// Marker for a main function of the type `fn()`.
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

/// Calls a main function with or without arguments.
pub fn run_main<Shape>(main: impl MainFn<Shape>, args: &[&str]) {
    main.run(args);
}

struct Root<M>(PhantomData<M>);

/// Sets each field of the module table to the function with the field's name.
macro_rules! fill {
    (
        $(#[doc = $docs:tt])*
        $table:ident, $reference:ident;
        $(
            $(#[doc = $doc:tt])*
            $(#[sabi($($mark:tt)+)])?
            $since:ident($($safety:tt)?)
            fn $name:ident($($param:ident: $ty:ty),* $(; or $failure:ident)?) $(-> $result:ty)?;
        )*
    ) => {
        impl<M: ModuleHooks> Root<M> {
            staticref!(const MODULE: WithMetadata<$table> = WithMetadata::new($table { $($name: Self::$name),* }));
        }
    };
}

alcedo_abi::module_functions!(fill);

/// Description of the module table. No code uses this static. Because of this static, the thousand functions for type layouts are compiled
/// in this crate, and not again in each build of a plugin without optimization.
pub static COMPILED_ONCE: RootModuleConsts = ModuleRef::CONSTANTS;

/// Returns the header that the library exports under the root symbol.
#[must_use]
pub const fn lib_header<M: ModuleHooks>() -> LibHeader {
    // SAFETY: `constructor` returns an erased prefix reference of `ModuleRef`.
    unsafe { LibHeader::from_constructor::<ModuleRef>(constructor::<M>, CheckTypeLayout::Yes) }
}

extern "C" fn constructor<M: ModuleHooks>() -> RootModuleResult {
    let module = ModuleRef(Root::<M>::MODULE.as_prefix()).to_prefix_ref();
    // SAFETY: the loader converts the erased prefix back to the type that the header names.
    RResult::ROk(unsafe { module.cast::<ErasedPrefix>() })
}

/// Defines a function of the module table for each list of descriptions. The bodies are not generic, so they are compiled only once, in
/// this crate.
macro_rules! declarations {
    ($($name:ident: $desc:ty = $slice:ident;)*) => {
        struct Lists;

        impl Lists {$(
            fn $name() -> RSlice<'static, &'static $desc> {
                RSlice::from_slice(bare(registry::$slice.static_slice()))
            }
        )*}

        impl<M: ModuleHooks> Root<M> {$(
            extern "C" fn $name() -> RSlice<'static, &'static $desc> {
                Lists::$name()
            }
        )*}
    };
}
declarations! {
    structs: StructDesc = STRUCTS;
    enums: EnumDesc = ENUMS;
    delegates: DelegateDesc = DELEGATES;
    classes: ClassDesc = CLASSES;
    interfaces: InterfaceDesc = INTERFACES;
    imports: ImportDesc = IMPORTS;
    exports: ExportDesc = EXPORTS;
    earlier_names: MetaDesc = EARLIER_NAMES;
}

/// Functions in the module table, which the host calls.
impl<M: ModuleHooks> Root<M> {
    unsafe extern "C" fn attach(context: &ModuleContext, failure: &mut Failure) -> Status {
        alcedo_rt::attach(context, M::OWN_LOGGER, failure)
    }

    extern "C" fn detach() {
        // A host that was built before `dispose` existed does not call `dispose`, so the resources are dropped here.
        let _result = dispose_all(&mut Failure::none());
        alcedo_rt::detach();
    }

    unsafe extern "C" fn dispose(failure: &mut Failure) -> Status {
        let ended = end_registered(failure);
        let disposed = dispose_all(failure);
        if ended == Status::OK { disposed } else { ended }
    }

    extern "C" fn heap_bytes() -> u64 {
        alcedo_rt::live_bytes()
    }

    unsafe extern "C" fn main(args: RSlice<'_, RStr<'_>>, failure: &mut Failure) -> Status {
        start(args, failure, M::entry, M::main)
    }

    extern "C" fn entry_tables() -> EntryTables {
        M::TABLES
    }

    extern "C" fn build_id() -> RSlice<'static, u8> {
        RSlice::from_slice(M::BUILD_ID)
    }

    extern "C" fn suspends() -> u8 {
        M::SUSPENDS.into()
    }

    unsafe extern "C" fn suspend(failure: &mut Failure) -> Status {
        guarded(failure, M::suspend)
    }

    unsafe extern "C" fn resume(failure: &mut Failure) -> Status {
        guarded(failure, M::resume)
    }

    unsafe extern "C" fn exit(failure: &mut Failure) -> Status {
        end(failure, M::exit)
    }
}

/// Calls the entry method and the main function of a module. Like the functions below, this function is compiled once, in this crate.
fn start(
    args: RSlice<'_, RStr<'_>>,
    failure: &mut Failure,
    entry: fn() -> Result<(), CallError>,
    main: fn(&[&str]),
) -> Status {
    let status = catch_panics(failure, || {
        entry()?;
        let args: Vec<&str> = args.as_slice().iter().map(RStr::as_str).collect();
        alcedo_rt::with_loggers(|| main(&args));
        Ok(())
    });
    // Reinstalls the panic hook of the module, because the main function may have replaced the hook.
    keep_hook();
    status
}

/// Calls a hook of a module in a panic guard.
fn guarded(failure: &mut Failure, hook: fn() -> Result<(), CallError>) -> Status {
    catch_panics(failure, hook)
}

/// Calls the exit hook of a module, and drops the protocols and resolvers of the module.
fn end(failure: &mut Failure, exit: fn()) -> Status {
    let ended = end_registered(failure);
    let exited = catch_panics(failure, || {
        exit();
        Ok(())
    });
    let disposed = dispose_all(failure);
    [ended, exited, disposed].into_iter().find(|status| *status != Status::OK).unwrap_or(Status::OK)
}

/// Drops the protocols and resolvers of the module. The host then no longer resolves their names.
fn end_registered(failure: &mut Failure) -> Status {
    catch_panics(failure, || {
        registered::drop_all();
        Ok(())
    })
}
