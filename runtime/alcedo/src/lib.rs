//! The crate for hosts. Re-exports all of [`alcedo_runtime`]. A host depends on `alcedo`, and a plugin on `alcedo-plugin-api`.
//!
//! ```no_run
//! use alcedo::native::{This, uclass};
//! use alcedo::{Budget, Error, Runtime, natives};
//!
//! #[uclass(package = "Robots", blueprintable)]
//! pub struct Robot {
//!     #[uproperty(edit_anywhere, blueprint_read)]
//!     position: f64,
//! }
//!
//! #[uclass]
//! impl Robot {
//!     #[ufunction(blueprint_callable)]
//!     fn drive(&mut self, this: This<Self>, distance: f64) {
//!         this.set_position(this.position() + distance);
//!     }
//! }
//!
//! fn main() -> Result<(), Error> {
//!     alcedo::canary::run_if_child();
//!     let libraries = alcedo::sibling_libraries(&std::env::current_exe().unwrap_or_default());
//!     let runtime = Runtime::builder().package("Game").natives(natives![Robot]).development().build()?;
//!     runtime.create_master(&libraries)?;
//!     while !runtime.shutdown_requested() {
//!         runtime.tick(Budget::frame());
//!     }
//!     runtime.shutdown().into_result()
//! }
//! ```
//!
//! | feature | adds |
//! | --- | --- |
//! | `slot-types` | types of slots in calls by name; on by default; hosts and plugins must use the same setting |
//! | `script` | packages of scripts as modules |
//! | `dll-bind` | calls C functions by their declarations |
//! | `build` | `alcedo::build`, the crate `alcedo-build`, which builds plugins |
//! | `engine` | `alcedo::engine`, the crate `alcedo-engine`: worlds, actors and components as native classes |
//! | `testing` | `alcedo::testing` and `alcedo::test_world!`: headless worlds for the tests of a plugin; for dev-dependencies |

#[cfg(feature = "build")]
pub use alcedo_build as build;
#[cfg(feature = "engine")]
pub use alcedo_engine as engine;
pub use alcedo_runtime::*;

#[cfg(feature = "testing")]
pub mod testing;

/// Re-exports [`alcedo_runtime::native`]. The attributes of this module expand to paths of the crate `alcedo`.
///
/// ```
/// use alcedo::native::{This, uclass, udelegate, uenum, uinterface, ustruct};
/// use alcedo::{Error, Runtime, natives};
///
/// #[ustruct(package = "Engine", pod)]
/// #[derive(PartialEq, Debug, Default)]
/// pub struct Glow {
///     pub lumen: f64,
/// }
///
/// #[uenum(package = "Engine")]
/// #[repr(u8)]
/// #[derive(Default)]
/// pub enum Mood {
///     #[default]
///     Calm,
///     Angry,
/// }
///
/// #[udelegate(multicast, package = "Engine")]
/// pub type OnSwitched = fn(times: u32);
///
/// #[uinterface(package = "Engine")]
/// pub trait Shines {
///     fn glow(&self, at: f64) -> Glow;
/// }
///
/// #[uclass(package = "Engine", blueprintable, implements(Shines))]
/// pub struct Lamp {
///     #[uproperty]
///     lumen: f64,
///     #[uproperty]
///     mood: Mood,
///     #[uproperty]
///     on_switched: OnSwitched,
/// }
///
/// #[uclass]
/// impl Shines for Lamp {
///     fn glow(&self, this: This<Self>, at: f64) -> Glow {
///         Glow { lumen: this.lumen() * at }
///     }
/// }
///
/// fn main() -> Result<(), Error> {
///     let runtime = Runtime::builder().natives(natives![Glow, Mood, OnSwitched, Shines, Lamp]).build()?;
///     runtime.objects().spawn_as::<Lamp>()?;
///     runtime.shutdown().into_result()
/// }
/// ```
pub mod native {
    pub use alcedo_macros::{
        facade_uclass as uclass, facade_udelegate as udelegate, facade_uenum as uenum, facade_uinterface as uinterface,
        facade_ustruct as ustruct,
    };
    pub use alcedo_runtime::native::*;
}

/// Re-exports [`alcedo_runtime::host`]. The output of `alcedo glue --for-host` uses this module. The attributes of this module expand to
/// paths of the crate `alcedo`.
pub mod host {
    pub use alcedo_macros::{facade_udelegate as udelegate, facade_uenum as uenum};
    pub use alcedo_runtime::host::*;
}
