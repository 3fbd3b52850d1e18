//! Why a module was not loaded. Each text says what was tried, on what, and the way out.

use std::path::PathBuf;

use alcedo_abi::manifest::ManifestError;

use crate::border::CallError;
use crate::emit::error::EmitError;
use crate::load::order::OrderError;
use crate::object::birth::BirthFailed;

/// Why a module was not loaded. The host goes on with what it had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file is no complete library of this platform.
    #[error(transparent)]
    Image(#[from] alcedo_sys::ImageError),
    /// The file has no manifest section.
    #[error(
        "{path} is a library, but no Alcedo module: it has no manifest section; write `module! {{ name: … }}` in its lib.rs"
    )]
    NoManifest {
        /// The file.
        path: PathBuf,
    },
    /// The manifest section is damaged or of another format.
    #[error("the manifest section of {path} cannot be read: {source}; build the plugin again")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// Another border.
    #[error("{module} speaks ABI {found}, this host speaks {wanted}: rebuild it with this host's alcedo-plugin-api")]
    Abi {
        /// The module.
        module: String,
        /// Its number.
        found: u32,
        /// The host's.
        wanted: u32,
    },
    /// No common API.
    #[error("{module} needs host API {} to {}, this host offers {} to {}: rebuild the module or update the host", found.0, found.1, wanted.0, wanted.1)]
    Api {
        /// The module.
        module: String,
        /// Oldest and newest it can live with.
        found: (u32, u32),
        /// Oldest and newest the host offers.
        wanted: (u32, u32),
    },
    /// Built for a host with more functions.
    #[error("{module} was built for host API {found}, this host offers up to {offered}: update the host")]
    Newer {
        /// The module.
        module: String,
        /// What it was built for.
        found: u32,
        /// What there is.
        offered: u32,
    },
    /// One side carries the type byte of slots, the other does not.
    #[error("{module} was built {} the feature slot-types, this host is the other way round: build both alike", if *found { "with" } else { "without" })]
    SlotTypes {
        /// The module.
        module: String,
        /// Whether the module has them.
        found: bool,
    },
    /// Other layouts of what crosses by value.
    #[error(
        "{module} has layout {found:#018x} for what crosses the border, this host has {wanted:#018x}: build both with the same alcedo-abi"
    )]
    Layout {
        /// The module.
        module: String,
        /// Its hash.
        found: u64,
        /// The host's.
        wanted: u64,
    },
    /// A panic in it would end the host.
    #[error(
        "{module} was built with panic = \"abort\", so a panic in it would end the host: remove that from the plugin's profile"
    )]
    PanicAborts {
        /// The module.
        module: String,
    },
    /// Its thread-locals would belong to a library that stays.
    #[error(
        "{module} links {library} dynamically, so thread exit would run code that is gone: build without -C prefer-dynamic"
    )]
    DynamicStd {
        /// The module.
        module: String,
        /// The libstd it needs.
        library: String,
    },
    /// No seal where the host demands one.
    #[error("{path} has no seal, and this host takes sealed libraries only: build it with `alcedo build`")]
    NotSealed {
        /// The file.
        path: PathBuf,
    },
    /// The private copy could not be made.
    #[error(transparent)]
    Stage(#[from] alcedo_sys::StageError),
    /// The dynamic linker refused.
    #[error(transparent)]
    Map(#[from] alcedo_sys::MapError),
    /// `abi_stable` found a difference in the root module.
    #[error(
        "{module} does not have the root module this host knows: {difference}; build it with this host's alcedo-plugin-api"
    )]
    RootModule {
        /// The module.
        module: String,
        /// The checker's words.
        difference: String,
    },
    /// Names, versions or dependencies do not add up.
    #[error(transparent)]
    Order(#[from] OrderError),
    /// A name that is no version or version range.
    #[error("{module}: \"{text}\" is no {what} as Cargo writes them: {reason}")]
    Version {
        /// The module.
        module: String,
        /// What it says.
        text: String,
        /// `version` or `version range of …`.
        what: String,
        /// The parser's words.
        reason: String,
    },
    /// The module did not take its host.
    #[error("{module} could not be attached: {error}")]
    Attach {
        /// The module.
        module: String,
        /// What it said.
        error: CallError,
    },
    /// A declaration breaks a rule, or something a module uses is not there.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The main failed.
    #[error("main of {module} {error}")]
    Main {
        /// The module.
        module: String,
        /// Its panic.
        error: CallError,
    },
    /// A field marked to be kept could not be saved.
    #[error("a kept field of object {object} could not be saved: {error}")]
    Keep {
        /// The object.
        object: crate::handles::ObjectHandle,
        /// What the field said.
        error: CallError,
    },
    /// The new modules lack a class that has living objects.
    #[error(
        "{class} has {objects} living objects, and the new modules do not declare it: destroy them first, or leave the class"
    )]
    ClassGone {
        /// The class.
        class: String,
        /// How many objects it has.
        objects: u64,
    },
    /// A class would sit on another native class, while it has living objects.
    #[error("{class} has {objects} living objects and would move from {from} to {to}: destroy them first")]
    NativeBaseChanged {
        /// The class.
        class: String,
        /// How many objects it has.
        objects: u64,
        /// The native class it extends now.
        from: String,
        /// The one it would extend.
        to: String,
    },
    /// A plugin half could not be built anew.
    #[error("{error}")]
    Rebuild {
        /// The red constructor, its object, and what it said.
        error: CallError,
    },
    /// A value could not be carried over.
    #[error("carrying the values over: {0}")]
    Carry(#[from] CallError),
    /// A class default object could not be born.
    #[error(transparent)]
    Birth(#[from] BirthFailed),
    /// There is a Master load context already.
    #[error("the Master load context is alive with generation {generation}: reload it, or unload it first")]
    MasterAlive {
        /// Its generation.
        generation: u64,
    },
    /// There is no Master load context.
    #[error("there is no Master load context: create it with `create_master`")]
    NoMaster,
}
