//! The root module of a plugin: what `module!` makes of its hooks.
#![expect(unsafe_code, reason = "makes the erased root module that the loader reads")]

use core::fmt::Display;
use core::marker::PhantomData;

use alcedo_abi::abi_stable::library::{CheckTypeLayout, RootModuleResult};
use alcedo_abi::abi_stable::marker_type::ErasedPrefix;
use alcedo_abi::abi_stable::prefix_type::{PrefixRefTrait, WithMetadata};
use alcedo_abi::abi_stable::staticref;
use alcedo_abi::abi_stable::std_types::RResult;
use alcedo_abi::call::FailureKind;
use alcedo_abi::list::prelude::*;
use alcedo_abi::module::{Module, ModuleRef};
use alcedo_rt::{CallError, keep_hook, trap};

use super::registry;
use crate::dispose::dispose_all;

pub use alcedo_abi::abi_stable::library::LibHeader;

/// What an author gives to `module!`.
pub trait ModuleHooks: 'static {
    /// The main of the module.
    fn main(args: &[&str]);
    /// The exit hook.
    fn exit();
    /// Whether it has the two that follow.
    const SUSPENDS: bool;
    /// Gives up what the next generation needs.
    ///
    /// # Errors
    /// What the author's own says.
    fn suspend() -> Result<(), CallError>;
    /// Takes it again.
    ///
    /// # Errors
    /// What the author's own says.
    fn resume() -> Result<(), CallError>;
}

/// What a `suspend` or a `resume` may give back: nothing, or a result with an error that has words.
#[diagnostic::on_unimplemented(
    message = "`suspend` and `resume` of a module are `fn()` or `fn() -> Result<(), E>`, where `E` is `Display`",
    label = "this gives back something else"
)]
pub trait Outcome {
    /// The same in the words of the border.
    ///
    /// # Errors
    /// The author's error, as text.
    fn told(self) -> Result<(), CallError>;
}

impl Outcome for () {
    fn told(self) -> Result<(), CallError> {
        Ok(())
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn told(self) -> Result<(), CallError> {
        self.map_err(|error| CallError::new(FailureKind::OTHER, error.to_string()))
    }
}

/// Calls a `suspend` or a `resume`.
///
/// # Errors
/// Its own.
pub fn run_hook<R: Outcome>(hook: impl FnOnce() -> R) -> Result<(), CallError> {
    hook().told()
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

/// Fills the table with the function of the same name, for each line of the list.
macro_rules! fill {
    (
        $(#[doc = $about:tt])*
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

/// What the host calls, under the names of the list.
impl<M: ModuleHooks> Root<M> {
    extern "C" fn structs() -> RSlice<'static, &'static StructDesc> {
        registry::structs()
    }

    extern "C" fn classes() -> RSlice<'static, &'static ClassDesc> {
        registry::classes()
    }

    extern "C" fn interfaces() -> RSlice<'static, &'static InterfaceDesc> {
        registry::interfaces()
    }

    extern "C" fn imports() -> RSlice<'static, &'static ImportDesc> {
        registry::imports()
    }

    extern "C" fn exports() -> RSlice<'static, &'static ExportDesc> {
        registry::exports()
    }

    unsafe extern "C" fn attach(context: &ModuleContext, failure: &mut Failure) -> Status {
        alcedo_rt::attach(context, failure)
    }

    extern "C" fn detach() {
        // A host that is older than `dispose` may not have asked for it.
        let _told = dispose_all(&mut Failure::none());
        alcedo_rt::detach();
    }

    unsafe extern "C" fn dispose(failure: &mut Failure) -> Status {
        dispose_all(failure)
    }

    extern "C" fn heap_bytes() -> u64 {
        alcedo_rt::live_bytes()
    }

    unsafe extern "C" fn main(args: RSlice<'_, RStr<'_>>, failure: &mut Failure) -> Status {
        let status = trap(failure, || {
            let args: Vec<&str> = args.as_slice().iter().map(RStr::as_str).collect();
            M::main(&args);
            Ok(())
        });
        // A main is where panic hooks are set as a rule.
        keep_hook();
        status
    }

    extern "C" fn suspends() -> u8 {
        M::SUSPENDS.into()
    }

    unsafe extern "C" fn suspend(failure: &mut Failure) -> Status {
        trap(failure, M::suspend)
    }

    unsafe extern "C" fn resume(failure: &mut Failure) -> Status {
        trap(failure, M::resume)
    }

    unsafe extern "C" fn exit(failure: &mut Failure) -> Status {
        let exited = trap(failure, || {
            M::exit();
            Ok(())
        });
        let disposed = dispose_all(failure);
        if exited == Status::OK { disposed } else { exited }
    }
}
