//! Host side of Alcedo, which manages reflected objects and can replace their code while the objects stay alive.
//!
//! A host builds a [`Runtime`] with its packages and native classes. It then loads plugins into the Master load context. The main loop of
//! the host calls [`Runtime::tick`]. When the libraries change, a reload replaces the code and keeps the objects. If the new code fails to
//! start, the reload is rolled back, and the old code continues.
//!
//! The thread that builds the runtime is the game thread. The compiler prevents moving the runtime to another thread. Plugins are native
//! code. The ABI boundary limits the effects of mistakes in plugins, but does not protect against malicious plugins.

#[macro_use(log)]
extern crate alcedo_base;

// Modules of the lower-level crates, under the names that this crate uses.
use alcedo_base::{boundary, cells, epoch, escape, game_thread, handles, id_table, panic_guard};
use alcedo_reflect as object;

/// Declares an enum without data, and the list of its variants.
macro_rules! listed {
    ($(#[$attr:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident,)* }) => {
        $(#[$attr])*
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All variants, in order.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];
        }
    };
}

#[macro_use]
mod named;

#[doc(hidden)]
pub mod bench;
mod bridge;
mod builder;
mod callback;
mod conjugate;
mod console;
mod counters;
pub mod crash_guard;
mod deadline;
#[doc(hidden)]
pub mod development;
mod emit;
mod entry_gate;
mod error;
#[doc(hidden)]
pub mod faults;
pub mod host;
mod host_api;
mod lease;
mod load;
mod logs;
pub mod native;
mod poster;
mod reload;
mod runtime;
#[cfg(feature = "script")]
mod script;
mod signature;
mod slim_watch;
mod sync;
mod thread_stack;
mod unheard;
mod unload;
mod watchdog;
mod world;

pub use alcedo_abi::permissions::Permission;
pub use alcedo_reflect::{host_struct, plain_struct};
pub use alcedo_sys::{
    ImageError, KeyError, PublicKey, ReferenceSearch, SecretKey, SignatureFound, checkpoint, process, seal_file,
    sign_file,
};

/// Limits for scripts; see [`Builder::script_limits`].
#[cfg(feature = "script")]
pub use alcedo_script::Limits as ScriptLimits;
pub use boundary::{CallError, SourcePlace};
pub use bridge::tasks::{JobCount, JobInfo};
pub use builder::Builder;
pub use callback::{LocalRegistration, Registration, RegistrationGuard};
pub use conjugate::{BlackCount, BlackReport, Color, SiteCount};
pub use counters::Counters;
pub use development::siblings::sibling_libraries;
pub use emit::error::EmitError;
pub use error::Error;
pub use escape::printable;
pub use handles::{Name, ObjectHandle, ZCallHandle};
pub use lease::{Blocker, Lease, LeaseKind, ModuleBlocker, Sealed};
pub use load::canary::Canary;
pub use load::context::event::{ContextEvent, ContextEventKind};
pub use load::context::function::{ContextFunction, FunctionPointer};
pub use load::context::handle::{Contexts, LoadContext, WeakContexts, WeakLoadContext};
pub use load::context::identity::{CastError, TypeRef};
pub use load::context::info::{ContextInfo, MasterModuleInfo, ModuleSummary};
pub use load::context::native_libs::{NativeLibrary, RetainedNative};
pub use load::context::resolvers::{FoundModule, ModuleRequest, ModuleResolver, NativeResolver, ResolverFailure};
pub use load::context::scope::{ContextScope, Scoped};
pub use load::context_id::{ContextId, ContextKind};
pub use load::declared::{
    Declared, DeclaredClass, DeclaredDelegate, DeclaredEntry, DeclaredEnum, DeclaredExport, DeclaredFunction,
    DeclaredImport, DeclaredInterface, DeclaredProperty, DeclaredStruct, ScriptCheck,
};
pub use load::error::LoadError;
pub use load::error::canary::CanaryStep;
pub use load::error::context::{Attempt, ContextError, LoadRequest, LoadStep};
pub use load::master::Unload;
pub use load::module::info::ManifestInfo;
pub use load::permissions::PermissionPolicy;
pub use load::record::{Named, Remainder};
pub use object::construction::{ConstructionFailed, ConstructionStep};
pub use object::enums::EnumValue;
pub use object::member::{FunctionKey, FunctionRef, PropertyKey, PropertyRef};
pub use object::natives::World;
pub use object::objects::RenameError;
pub use object::thunk::Frame;
pub use object::typed::{PlainField, PlainStruct};
pub use object::typed_values::words::*;
pub use object::typed_values::{AnsiString, MulticastDelegate, SparseDelegate, Utf8String};
pub use object::value::{Binding, LocalText, Value};
pub use poster::Poster;
pub use reload::changes::{ClassChange, Pause, Phase, Phases, PropertyChange, ValueCounts};
pub use reload::digest::WorldDigest;
pub use reload::health::{HostStatus, ModuleState, ModuleStatus, Rejected, RejectedBy};
pub use reload::report::{Outcome, ReloadReport};
pub use reload::requests::ReloadScope;
pub use runtime::{
    AnyConjugate, Budget, Calls, ClassKey, ClassRef, Collected, Collection, ConjugateInfo, Conjugates, Declined,
    Drained, HealthWatch, Links, NetNames, Objects, Runtime, ShutdownReport, Tables, Types, Unloads, WeakRuntime,
    Worlds, ZCallFunction, ZCallResolver,
};
pub use semver::{Version, VersionReq};
pub use signature::Signature;
pub use slim_watch::SlimWatch;
pub use unload::policy::UnloadPolicy;
pub use unload::report::{BlockerReport, ModuleEnd, OpenFile, ParkedImage, UnloadReport, UnwaitedProcess};
pub use unload::state::ContextState;
pub use unload::ticket::UnloadTicket;
pub use watchdog::Hang;
pub use world::{FormatError, WorldError, WorldLoadReport};

/// Canary: a child process that loads new modules before the host loads them.
pub mod canary {
    pub use crate::load::canary_child::run_if_child;
}

/// Types for writing custom thunks. A function declared with `custom_thunk` reads the parameters of each call through a [`Frame`].
/// Parameters may have any type, and their values are not copied. See `runtime/docs/custom-thunks.md`.
pub mod thunk {
    pub use crate::object::containers::{Keyed, KeyedMut, Rows, RowsMut, array, array_ref, keyed, keyed_mut};
    pub use crate::object::property::{Property, PropertyType};
    pub use crate::object::structs::StructType;
    pub use crate::object::thunk::{AnyArray, AnyMap, AnySet, AnyStruct, AnyValue, ArgumentKind, Param};
    pub use crate::object::values::ptr::{Ptr, PtrMut};

    pub use crate::native::wildcards::{ArrayWildcard, MapWildcard, SetWildcard};
}

/// Types for hosts that add protocols for calls by name; see [`Calls::add_protocol`].
pub mod zcall {
    pub use alcedo_zcall::call::{Call, Dispatcher, Effect, Implementer, Resolved};
    pub use alcedo_zcall::chain::{Answer, Resolver};
    pub use alcedo_zcall::explain::{Explanation, Step, StepAnswer};
    pub use alcedo_zcall::name::ZCallName;
    pub use alcedo_zcall::observe::{CallTimes, Histogram, Observed};
    pub use alcedo_zcall::protocol::{PlainProtocol, Protocol};
    pub use alcedo_zcall::reader::{NameError, NameErrorKind, Reader};

    // Modules of `alcedo_zcall` that this crate uses.
    pub(crate) use alcedo_zcall::{
        black_code, buffer, call, chain, explain, explicit, free, module_status, name, observe, owned, protocol,
        reader, signature, table,
    };
}

/// Function tables that a host and its modules exchange when a module is loaded; see [`entry_table!`].
pub mod tables {
    pub use crate::load::tables::TableError;
    pub use crate::runtime::tables::{ContextEntry, HostEntries, ModuleEntries, OfContext, OfMaster, TableContext};
    #[doc(hidden)]
    pub use crate::runtime::tables::{Offering, signature};
}

/// Types for C functions, which are called according to their declarations; see [`native::NativeClass::dll_bind`] and
/// `runtime/docs/dll-bind.md`.
#[cfg(feature = "dll-bind")]
pub mod dll_bind {
    pub use alcedo_dll_bind::{
        BindError, BoolWidth, Breach, Broken, Import, Imported, Layouts, Library, Outcome, RED_ZONE, Route, UserCode,
    };

    pub use crate::native::dll::{DllClass, DllImport};
    pub use crate::object::property::PropertyType;
}

/// Items that the macros of this crate expand to. Not public API.
#[doc(hidden)]
pub mod __private {
    pub use alcedo_reflect::__private::{PlainField, PlainStruct, PropertyKind, add_field, start_fields};
}

pub use alcedo_abi::kinds;

/// Compiles the examples of `load-contexts.md`.
#[cfg(doctest)]
#[doc = include_str!("../docs/load-contexts.md")]
struct LoadContexts;
